"""What a live run must have beside the properties of any run: decisions, messages, clocks, safety.

Every decision is made again from what its agent measured and believed, every belief is compared
with what its sender recorded, and both with the motion of all agents on the clock of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, Ints, dots, lengths
from dwell.agents import CoverageSystem, Trajectory
from dwell.agents.segments import Segments
from dwell.cells.backend import pair_of
from dwell.errors import DensityError
from dwell.geometry import is_polygonal
from dwell.live.record import STOP, LiveRecord
from dwell.live.settings import LiveSettings, live_law
from dwell.live.table import segments_of
from dwell.verify.finding import (
    DEGRADED,
    EXPECTED,
    HOLDS,
    VIOLATED,
    Finding,
    Tell,
    Where,
    if_guaranteed,
    not_applicable,
    spread,
    violated,
    worst_of,
    yes_or_no,
)
from dwell.verify.live_apart import clearance, clocks
from dwell.verify.live_case import CLOCKS, LiveCheck
from dwell.verify.live_echoes import echoes
from dwell.verify.live_replay import decided_again, hold_errors
from dwell.verify.recorded import gaps_between
from dwell.verify.replay import measured_jumps

EXACT = 1e-12  # of the diameter: by how much a centroid may be off that counts as true
BOUNDED = 60  # samples for which the error of the centroid is bounded
ULPS = 4.0  # by which the position of an exact plant may be off

LIVE_SAYS = {
    "settings": "the settings of the fleet are those of the scenario",
    "complete": "samples of each boot are numbered without gaps, in order of time (missing ones)",
    "jump": "each commanded velocity follows from what its agent measured and believed",
    "centroid": "each recorded centroid is that of the believed cell",
    "seen": "neighbours and distances are as believed",
    "cruise": "each velocity is held for as long as the law and the margin allow",
    "counts": "cells, samples and messages are counted right",
    "hold-error": "each hold error is the change of velocity",
    "safety": "each executed velocity, and what limited it, follow from the safety limits",
    "heard": "each belief follows from a message that its sender recorded, sent before",
    "reset": "each next sample is due when the law says, by its own random draw where it has one",
    "interval": "gaps between samples lie in [T1, T2] (units in the last place of the time)",
    "belief": "each belief is within 2 k1 (age - T1) of the truth (how far beyond)",
}


def _settings(live: LiveRecord, said: Mapping[str, Any] | None) -> list[Finding]:
    """Whether a fleet ran with the settings that its scenario has; nothing without a scenario."""
    if said is None:
        return []
    expected = {**said, "margin": live.settings.get("margin") and said["margin"]}  # 0: virtual time
    names = sorted({*expected, *live.settings})
    wrong = [name for name in names if live.settings.get(name) != expected.get(name)]
    return [yes_or_no("settings", LIVE_SAYS["settings"], not wrong, ", ".join(wrong))]


def live_findings(
    run: Trajectory,
    live: LiveRecord,
    settings: Mapping[str, Any] | None,
    rounding: float,
    tell: Tell,
) -> list[Finding]:
    """The findings about a live run; `rounding` is that of centroids by other kernels."""
    law = live_law(run.system, LiveSettings.of_table(live.settings))
    check = LiveCheck(run, live, law)
    made = decided_again(law, live, run.start.segments.place, tell)
    made["reset"] = np.maximum(made["reset"], _undue(check))
    made["hold-error"] = hold_errors(live)
    made["safety"][live.samples["known"] > _known_at_most(check)] = np.inf
    made["reset"][_retimed(check)] = np.inf
    limits = dict.fromkeys(("jump", "centroid", "seen"), rounding)
    found = [_worst("complete", _missing(check), 0.0, check.where)]
    found += [_worst(name, made[name], limits.get(name, 0.0), check.where) for name in made]
    found += [_heard(check), _interval(check), _late(check), _flow(check), _belief(check)]
    found += [echoes(check), clearance(check), clocks(check)]
    return [*_settings(live, settings), *found, _centroid_bound(check)]


def uncovered_live(run: Trajectory, live: LiveRecord | None) -> str:
    """Why the theorem does not cover a live run; empty if it does, and for a simulation."""
    if live is None:
        return ""
    if (beyond_interval(run.system, live)[0] > 1.0).any():
        return "gaps between samples are longer than T2, which the theorem does not cover"
    if _off(run).max(initial=0.0) > EXACT * run.system.workspace.diameter:
        return "sampled centroids were off the true ones, which the theorem does not cover"
    return ""


def _off(run: Trajectory) -> Floats:
    """How far each sampled centroid is from the true one."""
    true = measured_jumps(run, lambda what, share: None)["error"]
    return np.nan_to_num(lengths(true - run.table.errors), nan=np.inf)


def _worst(name: str, values: Floats | Ints, limit: float, where: Where) -> Finding:
    return worst_of(name, LIVE_SAYS[name], values, limit, where)


def _missing(check: LiveCheck) -> Ints:
    """How many samples are missing before each one; also 1 where time goes back."""
    live, missing = check.live, check.live.skipped.copy()
    k = live.samples["k"]
    for p in range(check.run.system.agents):
        own = np.flatnonzero(live.samples["agent"] == p)
        later = np.lexsort((k[own], live.samples["boot"][own]))
        missing[own] += later != np.arange(len(own))
    return missing


def _undue(check: LiveCheck) -> Floats:
    """How far each due time is from what the sample before said."""
    rows, before = check.live.samples, check.live.previous
    said, leaves = rows["next_at"][before], check.run.system.departures[rows["agent"]]
    due = np.where(leaves > rows["time"][before], np.minimum(said, leaves), said)
    return np.where(check.follows, gaps_between(due, rows["due"]), 0.0)


def _known_at_most(check: LiveCheck) -> Ints:
    """How many agents each agent can have known: itself, those that had sampled lately or mustered.

    An agent musters before the first sample of a boot, and announces itself meanwhile.
    """
    live, agents = check.live, check.live.samples["agent"]
    slack = CLOCKS * live.uncertainty + ULPS * np.spacing(np.maximum(live.times, 1e-300))
    known = np.ones(len(agents), dtype=np.int64)
    for q in range(check.run.system.agents):
        own = np.flatnonzero(agents == q)
        if not len(own):
            continue
        times, firsts = live.times[own], np.append(live.previous[own] < 0, False)
        made = np.searchsorted(times, live.times + slack, side="right")
        lately = live.times - times[np.maximum(made - 1, 0)] <= check.law.silence + slack
        known += (agents != q) & ((made > 0) & lately | firsts[made])
    return known


def _retimed(check: LiveCheck) -> np.ndarray:
    """Whether the event table has other times than the sample that it is made of."""
    live, table = check.live, check.run.table
    later, other = live.times > 0.0, np.zeros(len(live.samples), dtype=bool)
    due = live.samples["next_at"][later] + live.shifts[later]
    other[later] = (table.time != live.times[later]) | (table.next_at != due)
    return other


def _heard(check: LiveCheck) -> Finding:
    """The distance of each belief from what its sender announced; inf if that is no record."""
    live, senders = check.live, check.senders
    beliefs, rows, stands = live.beliefs, live.samples, check.stands
    source = np.where(stands, check.first, senders)
    if not len(rows):
        return _worst("heard", np.zeros(0), 0.0, check.where_believed)
    said, age = rows[source], beliefs["age"]
    hold = np.where(stands[:, None], 0.0, said["hold"])
    never, fade = np.full(len(said), np.inf), check.law.system.traits.fade
    segments = Segments(np.zeros(len(said)), said["position"], hold, never, said["cruise"], fade)
    apart = lengths(segments.at(age) - beliefs["position"])
    if not live.exact:
        apart = np.where(stands, 0.0, apart)  # where a robot stood is measured more than once
    apart = np.maximum(apart, lengths(segments.velocity_at(age) - beliefs["velocity"]))
    since = check.when - live.times[source]
    slack = CLOCKS * live.uncertainty + ULPS * np.spacing(np.maximum(check.when, 1e-300))
    another_age = ~stands & ((since < -slack) | (np.abs(since - age) > slack))
    unrecorded = source < 0
    lost = unrecorded & ~stands & check.excused
    # A robot that stands has no sample yet.
    right = unrecorded & (stands | lost)
    apart = np.select([right, unrecorded | another_age], [0.0, np.inf], apart)
    found = _worst("heard", apart, 0.0, check.where_believed)
    if found.status == VIOLATED:
        found = replace(found, where=f"{found.where}{_late_record(check, apart)}")
    if not lost.any():
        return found
    note = f"; {lost.sum()} of messages whose record was lost when their process was killed"
    return replace(found, says=found.says + note)


def _late_record(check: LiveCheck, apart: Floats) -> str:
    """A hint where the sender of the worst belief has no record of the beginning of the run."""
    live = check.live
    sender = int(live.beliefs["agent"][int(np.argmax(apart))])
    times = live.times[live.samples["agent"] == sender]
    begun, comes = float(times.min(initial=np.inf)), float(check.run.system.arrivals[sender])
    if begun <= max(float(live.times.min(initial=0.0)), comes) + float(check.law.longest[sender]):
        return ""
    when = "at all" if np.isinf(begun) else f"before t = {begun:.4g}"
    return f"; agent {sender} has no record {when}: has its folder of journals been replaced?"


def beyond_interval(system: CoverageSystem, live: LiveRecord) -> tuple[Floats, Floats]:
    """How far gaps are above T2 and below T1, as the law states them, in units in the last place.

    An emergency stop may come at any time.
    """
    rows, before = live.samples, live.previous
    shortest, longest = system.traits.intervals(system.agents)
    p = rows["agent"].astype(np.int64)
    counted = (before >= 0) & (live.skipped == 0) & (rows["time"] < system.departures[p])
    counted &= rows["time"][before] >= system.arrivals[p]
    ulp = np.spacing(np.maximum(rows["time"], 1e-300))
    above: Floats = np.where(counted, live.gaps - longest[p], 0.0) / ulp
    timed = counted & (rows["flags"] & STOP == 0)
    below: Floats = np.where(timed, shortest[p] - live.gaps, 0.0) / ulp
    return above, below


def _interval(check: LiveCheck) -> Finding:
    system = check.run.system
    shortest, longest = system.traits.intervals(system.agents)
    if np.isinf(longest).all() and not shortest.any():
        why = f"{system.traits.name} states no limits of its intervals"
        return not_applicable("interval", LIVE_SAYS["interval"], why)
    above, below = beyond_interval(system, check.live)
    found = _worst("interval", np.maximum(above, below), 1.0, check.where)
    late = int(np.count_nonzero(above > 1.0))
    if not late:
        return found
    note = f"; {late} of {len(above)} are longer than T2"
    if system.traits.timer is not None:
        note += ", and the theorem does not hold there"
    return _degraded(replace(found, says=found.says + note), bool((below > 1.0).any()))


def _degraded(found: Finding, broken: bool = False) -> Finding:
    """A violated finding as one that a live run may have, unless it is `broken`."""
    if found.status != VIOLATED or broken:
        return found
    return replace(found, status=DEGRADED, says=found.says.removeprefix(EXPECTED))


def _late(check: LiveCheck) -> Finding:
    """How long after its due time each sample was taken."""
    rows, margin = check.live.samples, check.law.settings.margin
    later = np.flatnonzero(check.follows)
    late = rows["time"][later] - rows["due"][later]
    sent = rows["sent_at"][later] - rows["due"][check.live.previous[later]]
    sent = sent[np.isfinite(sent)]
    says = f"samples come {_quantiles(late)} after they are due"
    says += f", messages {_quantiles(sent)}" if len(sent) else ""

    def where(k: int) -> str:
        return check.where(int(later[k]))

    timed = rows["flags"][later] & STOP == 0
    if (late[timed] < 0.0).any():
        k = int(np.argmin(np.where(timed, late, 0.0)))
        return violated("late", f"{says}, never before", float(late[k]), margin, where(k))
    # A late sample within T2 is part of the model: what is not is the finding about intervals.
    return _degraded(worst_of("late", says, late, margin, where))


def _quantiles(values: Floats) -> str:
    if not len(values):
        return "0"
    half, most = np.quantile(values, (0.5, 0.99))
    return f"{half:.2g} (median), {most:.2g} (p99), {values.max():.2g} (at most)"


def _flow(check: LiveCheck) -> Finding:
    """How far each position is from where the segment before leads."""
    run, live, rows = check.run, check.live, check.live.samples
    ends = segments_of(rows, run.start.segments.fade).take(live.previous).at(rows["measured"])
    gap = np.abs(ends - rows["position"]).max(axis=1, initial=0.0)
    gap[live.previous < 0] = _restarts(check)
    gap[(live.previous >= 0) & ~check.follows] = 0.0
    if live.exact:
        size = np.maximum(np.abs(rows["position"]).max(axis=1, initial=0.0), np.finfo(float).tiny)
        says = "each agent moves along its segment, also across boots (units in the last place)"
        return worst_of("flow", says, gap / np.spacing(size), ULPS, check.where)
    moved = np.flatnonzero(check.follows & (live.gaps > 0.0))
    off = gap[moved] / (live.gaps[moved] * check.law.speed)
    median = float(np.median(off)) if len(off) else 0.0
    says = f"the mean velocity is off by {median:.2g} k1 (median) between samples (in units of k1)"
    return worst_of("flow", says, off, np.inf, lambda k: check.where(int(moved[k])))


def _restarts(check: LiveCheck) -> Floats:
    """How far agents are from their last segment at the first sample of each boot.

    An agent that is started again stands, at a time that is not recorded.
    """
    run, live = check.run, check.live
    first = np.flatnonzero(live.previous < 0)
    rows, later = live.samples[first], live.times[first] > 0.0
    begins, ends = (run.start.segments.place[rows["agent"]].copy() for _ in range(2))
    row = (np.cumsum(live.times > 0.0) - 1)[first[later]]  # in the table
    ended = run.ended.take(row)
    begins[later], ends[later] = ended.place, ended.at(live.times[first[later]])
    way = ends - begins
    share = dots(rows["position"] - begins, way) / np.maximum(dots(way, way), 1e-300)
    nearest = begins + np.clip(share, 0.0, 1.0)[:, None] * way
    gaps: Floats = np.abs(nearest - rows["position"]).max(axis=1, initial=0.0)
    return gaps


def _belief(check: LiveCheck) -> Finding:
    """How far each belief is beyond its bound from the truth."""
    run, live = check.run, check.live
    if np.isinf(live.uncertainty):
        why = "the clocks of some boots could not be compared"
        return not_applicable("belief", LIVE_SAYS["belief"], why)
    beliefs, when = live.beliefs, check.when
    truth = np.zeros(beliefs["position"].shape)
    for q in range(run.system.agents):
        of_q = np.flatnonzero(beliefs["agent"] == q)
        made = np.searchsorted(run.table.time[run.rows[q]], when[of_q], side="right")
        truth[of_q] = run.segments[q].take(made).at(when[of_q])
    waits = check.stands & (check.first >= 0)
    waits &= when < live.times[check.first] if len(live.times) else waits
    truth[waits] = live.samples["position"][check.first[waits]]  # it was started again, and stands
    size = np.abs(beliefs["position"]).max(axis=1, initial=0.0)
    clocks = 0.0 if not live.shifts.any() else ULPS * np.spacing(np.maximum(when, 1e-300))
    doubt = ULPS * np.spacing(size) + np.minimum(check.law.speed, 1e300) * clocks
    apart = lengths(truth - beliefs["position"])
    apart[check.excused] = 0.0
    young = ~check.stands & (beliefs["age"] <= np.min(check.law.shortest))
    clocks = np.minimum(check.law.speed, 1e300) * CLOCKS * live.uncertainty
    exact = int(np.count_nonzero(apart[young] <= doubt[young] + clocks))
    found = _worst("belief", apart - check.unsure - doubt, 0.0, check.where_believed)
    note = f"; {exact} of {np.count_nonzero(young)} younger than T1 are exact"
    far = f", the furthest is off by {apart.max(initial=0.0):.2g}"
    return if_guaranteed(replace(found, says=found.says + note + far), live.exact)


def _centroid_bound(check: LiveCheck) -> Finding:
    """How wrong sampled centroids may have been, as the neighbours may be elsewhere."""
    name, says = "centroid-bound", "how far a sampled centroid may be off"
    system, live = check.run.system, check.live
    plain = system.changes is None and system.radius is None and system.spacing is None
    convex = is_polygonal(system.ground.hull) and system.ground.mask is None
    if not plain or not convex or not np.isfinite(check.law.speed):
        needs = "this needs a convex polygon, exact integrals, a speed limit"
        return not_applicable(name, says, needs)
    counted = live.beliefs["age"] <= check.law.silence
    some, bounds = np.unique(live.owner[counted]), []
    some = some[spread(len(some), BOUNDED)]
    for k in some:
        near = np.flatnonzero(counted & (live.owner == k))
        known = live.beliefs["position"][near], check.unsure[near]
        try:
            pair = pair_of(system.ground, live.samples["position"][k], *known)
        except DensityError as fault:
            return not_applicable(name, says, str(fault))
        bounds.append(np.inf if pair is None else pair.diameter * max(0.0, 1.0 - pair.share))
    known_ones = np.array([one for one in bounds if np.isfinite(one)])
    median = float(np.median(known_ones)) if len(known_ones) else np.inf
    says = f"{says}: {median:.2g} (median of {len(some)} samples, {len(known_ones)} with a bound)"
    says += f"; it was off by at most {_off(check.run).max(initial=0.0):.2g}"
    return Finding(name, says, HOLDS, float(known_ones.max(initial=0.0)), np.inf)

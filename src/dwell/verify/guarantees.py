"""Guarantees that the paper of each law proves, compared with a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._types import Floats, Ints, Points, at_time, lengths
from dwell.agents import CoverageSystem, Trajectory
from dwell.agents.interfaces import velocities_of
from dwell.agents.traits import ScanLaw, Traits
from dwell.controllers.self_triggered import MISSED
from dwell.measure.metrics import measure_at, measure_configurations
from dwell.verify.finding import Finding, agreement, if_guaranteed, spread, worst_of
from dwell.verify.recorded import thinned
from dwell.verify.reference_trigger import RULES, reference_trigger, wider

MOST_COSTS = 2000  # times at which the cost is computed again
COST_ROUNDING = 1e-12  # relative
MOST_TIMES = 2000  # times at which centroids are followed between samples
BLOCK = 4096  # events processed at once
STRAY = 100.0  # times the tolerance of a differential equation


def promises(run: Trajectory, thorough: bool = False) -> Iterator[Finding]:
    """Findings about what the law guarantees; none for laws without guarantees."""
    system, traits = run.system, run.system.traits
    if traits.cost_decreases and system.spacing is None:
        yield cost_never_rises(run, None if thorough else MOST_COSTS)
    if traits.scans is not None:
        yield from self_trigger_guarantees(run, traits.scans)
        if system.perfect and system.spacing is None and len(run.table):
            most = None if thorough else RULES[system.dimension].decisions
            yield trigger_by_hand(run, traits.scans, most)
    if traits.accuracy is not None:
        yield equation_solved(run, traits.accuracy, None if thorough else MOST_TIMES)


def _event_times(run: Trajectory) -> Floats:
    """Distinct times of events up to the end, and the start."""
    return np.unique(np.concatenate([[0.0], run.table.time[run.table.time <= run.until]]))


def cost_never_rises(run: Trajectory, most: int | None) -> Finding:
    """The cost at event times, where its law's paper proves that it decreases."""
    every = _event_times(run)
    times = thinned(every, most)
    costs = measure_at(run.system, run.at(times), times).costs
    says = f"the cost never rises, at {len(times)} of {len(every)} event times (relative rise)"
    rise = np.diff(costs) / costs[:-1]
    found = worst_of("cost", says, rise, COST_ROUNDING, lambda k: at_time(times[k + 1]))
    return if_guaranteed(found, run.system.perfect and run.system.changes is None)


def self_trigger_guarantees(run: Trajectory, law: ScanLaw) -> Iterator[Finding]:
    """G1: between samples the centroid moves by delta at most. G2: the sampled one stays inside.

    Neither is guaranteed on an interval that the trigger did not choose, because tau_min was too
    long or a sample was lost; over a network that loses or delays; or up to the first scanned time
    that is not good (stop = "after").
    """
    system = run.system
    kept = system.perfect and law.option("stop") == "before" and system.changes is None
    seen = follow_centroids(run)
    when = f"at {MOST_TIMES} times and just before each sample"
    drift = f"a centroid moves by at most delta = {law.delta:g} between samples (G1; {when})"
    target = f"the sampled centroid stays in the agent's cell (G2; {when}; how far it is outside)"
    rounding = 1e-12 * system.workspace.diameter
    for name, says, values, limit in (
        ("drift", drift, seen.drift, law.delta),
        ("target", target, -seen.depth, rounding),
    ):
        found = worst_of(name, says, np.where(seen.free, values, 0.0), limit, seen.where)
        yield if_guaranteed(found, kept)


def trigger_by_hand(run: Trajectory, law: ScanLaw, most: int | None) -> Finding:
    """The trigger at some decisions by other code: it holds at the end of the interval only."""
    rows = spread(len(run.table), most)
    wrong = np.array([_misjudged(run, law, int(row)) for row in rows])
    limit = RULES[run.system.dimension].limit * run.system.workspace.diameter
    what, note = "decisions of the trigger recomputed by other code", " (how far h is off 0)"

    def where(k: int) -> str:
        return f"jump {rows[k] + 1}"

    return agreement("trigger", what, wrong, limit, len(run.table), where, note)


def _misjudged(run: Trajectory, law: ScanLaw, row: int) -> float:
    """By how much h has the wrong sign at the last good, and at the first bad, scanned time."""
    system, table = run.system, run.table
    p, t = int(table.agent[row]), float(table.time[row])
    interval, mark = float(table.next_at[row]) - t, int(table.count("mark")[row])
    positions = run.positions_at_row(row)
    sample, target = system.sample(positions, p, t), positions[p] + table.errors[row]
    segments = run.segments[p].take(int(np.searchsorted(run.rows[p], row)) + 1)
    ends = interval - law.scan if law.option("stop") == "after" else interval
    worst = 0.0
    for s, sign in ((ends, 1.0), (ends + law.scan, -1.0)):
        applies = mark != FLOOR and s > 0.5 * law.scan if sign > 0 else mark == IN_TIME
        if applies and (sign < 0 or mark != CEILING or law.option("stop") == "before"):
            here = np.array(segments.at(t + s))
            ground = system.ground_at(t)  # the law knows no other world for its interval
            enlarged = wider(ground.workspace) if sign < 0 else 0.0
            known = (law, ground.workspace, ground.density, here, target, sample.positions, s)
            worst = max(worst, sign * reference_trigger(*known, enlarged))
    return worst


class Followed(NamedTuple):
    """Agents between their samples: one entry for each agent and time."""

    times: Floats
    agents: Ints
    drift: Floats  # how far the centroid is from the sampled one
    depth: Floats  # how far inside its cell the sampled one is
    free: np.ndarray  # whether the trigger chose the interval: no floor was hit, no sample lost

    def where(self, k: int) -> str:
        """Entry k in words."""
        return f"agent {self.agents[k]}, {at_time(self.times[k])}"


def follow_centroids(run: Trajectory) -> Followed:
    """All agents at times spread over the run, and each agent at the very end of each interval.

    That is the worst time of an interval, just before the new sample; none is left out.
    """
    system, table, until = run.system, run.table, run.until
    everywhere = np.linspace(0.0, until, MOST_TIMES)
    now = run.at(everywhere).positions
    centroids = now + _errors(system, now, everywhere)
    along, at_ends = [], []
    for p, error in enumerate(system.measurements(run.start.positions).error):
        targets, chosen = _samples_of(run, p, error)
        rows = run.rows[p]
        made = np.searchsorted(table.time[rows], everywhere, side="right")
        known = targets[made], chosen[made]
        along.append(_followed(p, everywhere, now, centroids[:, p], *known))
        rows = rows[table.time[rows] <= until]
        for part in np.array_split(np.arange(len(rows)), 1 + len(rows) // BLOCK):
            own = rows[part]
            then = run.at(table.time[own]).positions
            # As recorded, which is checked besides.
            found = table.positions[own] + table.errors[own]
            known = targets[part], chosen[part]  # the sample that it had until then
            at_ends.append(_followed(p, table.time[own], then, found, *known))
    return Followed(*map(np.concatenate, zip(*along, *at_ends, strict=True)))


def _followed(
    agent: int,
    times: Floats,
    positions: Points,  # of all agents
    centroids: Points,
    targets: Points,
    chosen: np.ndarray,
) -> Followed:
    """One agent at some times, with its centroids then and the sampled ones."""
    others = lengths(targets[:, None] - positions)
    own = others[:, agent].copy()
    others[:, agent] = np.inf
    agents, drift = np.full(len(times), agent), lengths(centroids - targets)
    return Followed(times, agents, drift, others.min(axis=1) - own, chosen)


def _samples_of(run: Trajectory, agent: int, first: Points) -> tuple[Points, np.ndarray]:
    """The centroids that an agent sampled, that at the start first; whether the trigger chose."""
    rows, table = run.rows[agent], run.table
    targets = np.vstack(
        [run.start.segments.place[agent] + first, table.positions[rows] + table.errors[rows]]
    )
    marks = np.append(run.start.marks[agent], table.count("mark")[rows])
    return targets, (marks != FLOOR) & (marks != MISSED)


def _errors(system: CoverageSystem, positions: Points, times: Floats) -> Points:
    """Errors of all agents in each of the configurations (S, N, n)."""
    return measure_configurations(system, positions, times).error.reshape(positions.shape)


def equation_solved(run: Trajectory, accuracy: float, most: int | None) -> Finding:
    """How far a piece of the path would stray if its velocity were wrong all along it.

    The velocity of the path is compared with that of the equation at three times of each piece.
    That follows from the gain and the largest speed of a proportional law; other laws state it.
    """
    law, traits = run.system.controller, run.system.traits
    knots = _event_times(run)
    rows = spread(len(knots) - 1, most)
    waits = np.diff(knots)[rows]
    stray = np.zeros(len(rows))
    for part in (0.2, 0.5, 0.8):
        times = knots[rows] + part * waits
        now = run.at(times)
        errors = _errors(run.system, now.positions, times)
        if traits.proportional:
            expected = _proportional(traits, errors)
        else:
            expected = np.array([velocities_of(law, each) for each in errors])
            expected = expected.reshape(errors.shape)
        gap = lengths(now.velocities - expected)
        stray = np.maximum(stray, gap.max(axis=1, initial=0.0) * waits)
    count = f"{len(rows)} of {len(knots) - 1} pieces"
    whose = "" if traits.proportional else ", by the law's own velocities"
    says = (
        f"{count} of the path solve the differential equation{whose} (stray relative to the "
        "diameter)"
    )
    limit, stray = STRAY * accuracy, stray / run.system.workspace.diameter
    return worst_of("equation", says, stray, limit, lambda k: at_time(float(knots[rows[k]])))


def _proportional(traits: Traits, errors: Points) -> Points:
    """The gain times the errors, cut at the largest speed."""
    velocities: Points = (traits.gain or 0.0) * errors
    if traits.top_speed is None:
        return velocities
    speeds = np.maximum(lengths(velocities), traits.top_speed)[..., None]
    return velocities * (traits.top_speed / speeds)

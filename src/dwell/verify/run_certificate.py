"""The theorem compared with a run: which hypotheses held, and whether its conclusions did.

A violation here does not make a run wrong. It says that the theorem does not apply to it, or
from when on it does not. Every run leaves the set U sooner or later, see docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, at_time, lengths
from dwell.agents import CoverageSystem, Trajectory
from dwell.agents.traits import HoldLaw
from dwell.errors import AgentsError, DensityError
from dwell.theory.design import Setting, setting_of
from dwell.theory.lipschitz import Attained, along, closest_pair
from dwell.theory.scope import THEOREM, scope_of
from dwell.verify.finding import (
    HOLDS,
    NOT_YET,
    VIOLATED,
    Finding,
    Where,
    agent_named,
    not_applicable,
    violated,
    worst_of,
)
from dwell.verify.phases import phases_of, worst_of_phases
from dwell.verify.recorded import (
    THOROUGH,
    Effort,
    Held,
    Recorded,
    Series,
    affordable,
    errors_at,
    errors_of,
    follow,
    largest_hold_error,
)

ROUNDING = 1e-12
HALVINGS = 60


def held_against(
    recorded: Recorded,
    assumed: Mapping[str, Any] | None,
    effort: Effort = THOROUGH,
    measured: Attained | None = None,
    why_not: str = "",
) -> tuple[Finding, ...]:
    """Findings about the theorem, with the run's Lipschitz constants if already measured.

    None for a law of another kind than the theorem is about. `why_not` says why it does not cover
    the run, if that does not follow from the system.
    """
    run = recorded.path
    system, law = run.system, run.system.traits.timer
    if law is None:
        return ()
    why_not = _silent(system, assumed) or why_not
    if why_not:
        return tuple(_not_held_against(run, law, why_not))
    assert assumed is not None
    if system.changes is not None:
        pieces = [(t, held_against(one, assumed, effort)) for t, one in phases_of(recorded)]
        whole = {found.name: found for found in _limits(run, law, float(assumed["eta_max"]))}
        return tuple(whole.get(one.name, one) for one in worst_of_phases(pieces))
    with np.errstate(over="ignore"):  # absurd assumptions make infinite bounds, which are right
        setting = setting_of(system, float(assumed["eta_max"]), assumed["lipschitz"])
        return tuple(_findings(recorded, law, setting, effort, measured))


def _findings(
    recorded: Recorded, law: HoldLaw, setting: Setting, effort: Effort, measured: Attained | None
) -> Iterator[Finding]:
    run = recorded.path
    series = follow(run, effort.times)
    yield from _admissible_start(run, setting)
    yield from _conditions(setting)
    yield _measured_lipschitz(recorded, setting, effort, measured)
    yield from _limits(run, law, setting.eta_max)
    yield _inside_holds(recorded, series, setting.eta_max)
    yield from _u_set(run, series, setting)
    yield _attractor(recorded, law)
    yield from _cost_rate(series, setting)


NAMES = {
    "phi-1": "Phi 1: agents start in the workspace, first velocities are at most k1, first timers "
    "in [T1, T2] (relative excess)",
    "phi-2": "Phi 2: all agents start at different places",
    "phi-3": "Phi 3: hold errors start within eta_max",
    "eta-below-k1": "eta_max is below k1",
    "dwell-time": "T2 is at most the maximum dwell time (T2 over that)",
    "lipschitz": "the Lipschitz constants measured on the way are at most those assumed (ratio)",
    "hold-limit": "hold errors are within eta_max at the start, the ends of all holds and the end",
    "adaptive-limit": "hold errors are there within the eta_max of the timers themselves",
    "hold-inside": "hold errors are within eta_max inside holds, where they were measured",
    "stays-in-u": "every error stays out of the dead zone (the set U; share of agents that leave)",
    "cost-after-u": "the cost does not rise even after the first agent has left U (rate over cost)",
    "attractor": "every error comes within nu and stays there to the end (largest error there)",
    "cost-rate": "the cost rises no faster than dwell's own bound from the hold limit (rate over "
    "bound)",
    "cost-in-u": "the cost falls while every agent is in U (its rate there)",
}


def _silent(system: CoverageSystem, assumed: Mapping[str, Any] | None) -> str:
    """Why the theorem does not apply to a run of the timer law; empty if it does."""
    if assumed is None:
        return "the scenario has no [certificate]"
    why_not = " and ".join(scope_of(system)[THEOREM])
    return f"{why_not}, which the theorem does not cover" if why_not else ""


def _not_held_against(run: Trajectory, law: HoldLaw, why: str) -> Iterator[Finding]:
    """Every name as not applicable, except for the limit of adaptive timers."""
    for name in NAMES:
        if law.eta_max is None or name not in ("hold-limit", "adaptive-limit"):
            yield _silent_about(name, why)
        else:
            found = _within("adaptive-limit", largest_hold_error(run), law.eta_max)
            yield replace(found, name=name)


def _worst(name: str, values: Any, limit: float, where: Where, *, strict: bool = False) -> Finding:
    """The finding `name`: `values` are at most `limit`, or below it if `strict`."""
    return worst_of(name, NAMES[name], values, limit, where, strict)


def _limits(run: Trajectory, law: HoldLaw, eta_max: float) -> Iterator[Finding]:
    """The largest hold error against the limit of the certificate, and of adaptive timers."""
    held = largest_hold_error(run)
    yield _within("hold-limit", held, eta_max)
    if law.eta_max is None:
        yield _silent_about("adaptive-limit", "the timers are not adaptive")
    else:
        yield _within("adaptive-limit", held, law.eta_max)


def _inside_holds(recorded: Recorded, series: Series, eta_max: float) -> Finding:
    """Hold errors at the times of `series` and at the samples of the run."""
    times, errors = [series.times], [series.hold_errors]
    if recorded.metrics is not None:
        times.append(recorded.metrics.times)
        errors.append(recorded.metrics.hold_errors)
    when, largest = np.concatenate(times), np.concatenate([e.max(axis=1) for e in errors])
    found = _worst("hold-inside", largest, eta_max, lambda k: at_time(when[k]))
    return replace(found, says=f"{found.says}: at {len(when)} times")


def _within(name: str, held: Held, limit: float) -> Finding:
    where = f"agent {held.agent}, {at_time(held.time)}"
    return _worst(name, [held.value], limit, lambda k: where)


def _silent_about(name: str, why: str) -> Finding:
    return not_applicable(name, NAMES[name], why)


def _admissible_start(run: Trajectory, s: Setting) -> Iterator[Finding]:
    """Phi 1 to Phi 3 as the paper defines them."""
    begun, site = run.start.segments, run.system.workspace
    beyond = site.outside_by(begun.place) / site.diameter
    speed = lengths(begun.hold) / s.k1 - 1.0
    timer = np.maximum(begun.next_at - s.t2, s.t1 - begun.next_at) / s.t2
    excess = np.maximum(beyond, np.maximum(speed, timer))
    yield _worst("phi-1", excess, ROUNDING, agent_named)
    a, b, gap = closest_pair(begun.place)
    if gap == 0.0:
        where = f"agents {a} and {b} at one place"
        yield violated("phi-2", NAMES["phi-2"], 1.0, 0.0, where)
        yield _silent_about("phi-3", "two agents at one place have no cells")
        return
    yield Finding("phi-2", NAMES["phi-2"], HOLDS, 0.0, 0.0)
    errors = run.system.measurements(begun.place).error
    size = np.maximum(lengths(errors), s.reach)[:, None]
    yield _worst("phi-3", lengths(begun.hold - s.k1 * errors / size), s.eta_max, agent_named)


def _conditions(s: Setting) -> Iterator[Finding]:
    where = f"eta_max = {s.eta_max:g}, k1 = {s.k1:g}"
    yield _worst("eta-below-k1", [s.eta_max], s.k1, lambda k: where, strict=True)
    with np.errstate(divide="ignore"):
        over = s.t2 / s.max_dwell_times
    yield _worst("dwell-time", over, 1.0, agent_named)


def _measured_lipschitz(
    recorded: Recorded, s: Setting, effort: Effort, known: Attained | None
) -> Finding:
    try:
        found = known or measure_along(recorded, effort)
    except DensityError as fault:
        return _silent_about("lipschitz", str(fault))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(found.values > 0.0, found.values / s.lipschitz, 0.0)

    def where(p: int) -> str:
        return f"agent {p}, {at_time(found.time_of(p) or 0.0)}"

    row = _worst("lipschitz", ratios, 1.0, where)
    return replace(row, per_agent=_plain(found.values))


def measure_along(recorded: Recorded, effort: Effort) -> Attained:
    """The Lipschitz constants along a run."""
    run = recorded.path
    most = affordable(run, effort.derivatives)
    return along(run, recorded.metrics, most=most, approach=recorded.closest)


def _u_set(run: Trajectory, series: Series, s: Setting) -> Iterator[Finding]:
    """The theorem needs every error to be at least eta_max nu~ / k1 for ever, which cannot be."""
    radius = s.theta * s.reach
    first = exits(run, series, radius)
    left = np.isfinite(first)
    says = f"every error stays at least {radius:.4g} (the set U, which every run leaves; "
    says += "share of the agents that have)"
    if not left.any():
        where = f"up to t = {run.until:.9g}; no run stays in U for ever"
        yield Finding("stays-in-u", says, HOLDS, 0.0, 0.0, where, per_agent=_plain(first))
    else:
        p = int(np.argmin(first))
        last = float(first[left].max())
        where = f"agent {p} first, t = {float(first[p]):.9g}; the last that leaves, t = {last:.9g}"
        share = float(left.mean())
        rows = _plain(first)  # nothing else was to be expected
        yield Finding("stays-in-u", says, VIOLATED, share, 0.0, where, per_agent=rows)
    yield _cost_after(series, float(first.min()))


def exits(run: Trajectory, series: Series, radius: float) -> Floats:
    """When the error of each agent first falls below `radius`, (N,); inf if it never does.

    Known at every sample of the agent and at the times of `series`, then narrowed by bisection.
    """
    agents = run.system.agents
    before, after = np.zeros(agents), np.full(agents, np.inf)
    for p, rows in enumerate(run.rows):
        times = np.concatenate([series.times, run.table.time[rows]])
        errors = np.concatenate([series.errors[:, p], lengths(run.table.errors[rows])])
        order = np.argsort(times, kind="stable")
        times, inside = times[order], errors[order] < radius
        if inside.any():
            k = int(np.argmax(inside))
            before[p], after[p] = times[max(k - 1, 0)], times[k]
    return _crossings(run, radius, before, after)


def _crossings(run: Trajectory, radius: float, before: Floats, after: Floats) -> Floats:
    """Times between pairs of times at which errors fall below `radius`, all at once."""
    for _ in range(HALVINGS):
        middle = 0.5 * (before + after)
        close = after - before <= 1e-9 * np.maximum(1.0, after)
        open_ = np.flatnonzero(np.isfinite(after) & ~close & (before < middle) & (middle < after))
        if not len(open_):
            break
        times = middle[open_]
        errors = errors_of(run, open_, times)
        inside = errors < radius
        after[open_[inside]] = times[inside]
        before[open_[~inside]] = times[~inside]
    return after


def _cost_after(series: Series, since: float) -> Finding:
    """By its rate at the times measured, and by its rise from each of them to the next."""
    late = series.times >= since
    if not late.any():
        return _silent_about("cost-after-u", "no agent left U")
    times, costs = series.times[late], series.costs[late]
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (series.rates - series.doubts)[late] / costs
        rises = (np.diff(costs) / costs[:-1] - ROUNDING) / np.diff(times)
    both = np.nan_to_num(np.concatenate([rates, rises]), nan=0.0)
    ends = np.concatenate([times, times[1:]])
    return _worst("cost-after-u", both, 0.0, lambda k: at_time(ends[k]))


def _attractor(recorded: Recorded, law: HoldLaw) -> Finding:
    name, nu, run = "attractor", law.nu, recorded.path
    says = f"every error comes within nu = {nu:g} and stays there to the end (largest error there)"
    try:
        worst = float(errors_at(run, run.until).max())
        known = nu == run.system.nu
        when = recorded.covered if known else recorded.covered_within(nu)
    except AgentsError as fault:  # coincident agents have no cells
        return not_applicable(name, says, str(fault))
    last = f"t = {run.until:.9g}"
    if when is None:
        return Finding(
            name, says, NOT_YET, worst, nu, f"not yet at {last}, the end of what was followed"
        )
    since = "from the beginning" if when == 0.0 else f"from t = {when:.9g}"
    return Finding(name, says, HOLDS, worst, nu, f"{since} to {last}, the end of what was followed")


def _cost_rate(series: Series, s: Setting) -> Iterator[Finding]:
    """dL/dt <= m(D) eta_max**2 nu~ / (2 k1) where hold errors are within eta_max <= k1.

    There it is at most 0 if all errors are in U.
    """
    within = (series.hold_errors <= s.eta_max).all(axis=1)
    if s.eta_max > s.k1 or not within.any():
        why = "eta_max is above k1" if s.eta_max > s.k1 else "hold errors exceed eta_max"
        for name in ("cost-rate", "cost-in-u"):
            yield _silent_about(name, why)
        return

    def at(k: int) -> str:
        return at_time(series.times[k])

    bound = series.masses * s.eta_max * s.eta_max * s.reach / (2.0 * s.k1)
    bound = np.maximum(bound, np.finfo(float).tiny)  # eta_max**2 may be less than any double
    yield _worst("cost-rate", np.where(within, series.rates / bound, -np.inf), 1.0, at)
    all_in = (series.errors >= s.theta * s.reach).all(axis=1) & within
    if not all_in.any():
        yield _silent_about("cost-in-u", "there is no such time")
        return
    rates = np.where(all_in, series.rates - series.doubts, -np.inf)
    yield _worst("cost-in-u", rates, 0.0, at)


def _plain(values: Floats) -> tuple[float | None, ...]:
    """None for what is not finite."""
    return tuple(float(v) if np.isfinite(v) else None for v in values)

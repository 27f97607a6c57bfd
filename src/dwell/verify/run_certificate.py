"""The theorem held against a run: which hypotheses it met, and whether its conclusions came true.

A violation here does not make a run wrong. It says that the theorem does not speak about it, or
from when on it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, dots, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.cells.backend import is_expensive, measure_cells
from dwell.controllers import Timer
from dwell.errors import AgentsError, DensityError
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.closest_approach import Approach, closest_approach
from dwell.measure.metrics import Metrics, Paths, covered_from, look_at_all, sharpness
from dwell.theory.design import Setting, setting_of
from dwell.theory.lipschitz import MOST_TIMES as MOST_DERIVATIVES
from dwell.theory.lipschitz import Attained, closest_pair, lipschitz_along, smallest
from dwell.verify.finding import HOLDS, VIOLATED, Finding, not_applicable, worst_of
from dwell.verify.guarantees import thinned

ROUNDING = 1e-12
NOISE = 1e-14  # of an error, relative to the workspace's diameter
WORST = 4  # one in so many times is spent on agents that run away from their centroids
SLOW_CELLS = 6000  # looks at a density that only Python can evaluate
DEAR_CELLS = 200  # looks that take long, see dwell.cells.backend.is_expensive
HALVINGS = 60


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """At how many times errors and costs, and the Lipschitz constants, are looked at."""

    times: int
    derivatives: int


THOROUGH = Effort(3000, MOST_DERIVATIVES)
QUICK = Effort(160, 40)  # for the report of a run, which must not take longer than the run


@final
@dataclass(frozen=True, eq=False)
class Recorded:
    """A run to be judged."""

    system: CoverageSystem
    start: AgentsState
    table: EventTable
    until: float
    metrics: Metrics | None

    @cached_property
    def paths(self) -> Paths:
        """Everybody's legs."""
        return Paths(self.start, self.table)

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents came."""
        return closest_approach(self.paths, self.until)

    @cached_property
    def covered(self) -> float | None:
        """From when on every error stays within the system's nu; None if never."""
        return self.covered_within(np.inf if self.system.nu is None else self.system.nu)

    def covered_within(self, nu: float) -> float | None:
        """From when on every error stays within `nu`; None if never."""
        finest = sharpness(self.system.ground)
        return covered_from(self.errors, self.until, self.table, self.metrics, nu, finest=finest)

    def errors(self, t: float) -> Floats:
        """|centroid - position| of everybody at a time."""
        everybody = np.arange(self.system.agents)
        return self.errors_of(everybody, np.full(len(everybody), t), np.array([t]))

    def errors_of(self, agents: Ints, times: Floats, ascending: Floats) -> Floats:
        """The error of each of the agents, each at its own of some ascending times."""
        places = self.paths.at(ascending).positions
        row = np.searchsorted(ascending, times)
        seen = measure_cells(self.system.ground, places, row, agents)
        if seen.met.any():
            raise first_coincidence(places[int(row[np.argmax(seen.met)])])
        return lengths(seen.error)


@final
@dataclass(frozen=True, eq=False)
class _Course:
    """A run at some times."""

    times: Floats  # (S,)
    errors: Floats  # (S, N)
    costs: Floats  # (S,)
    rates: Floats  # (S,) time derivative of the cost
    doubts: Floats  # (S,) what rounding may add to it
    masses: Floats  # (S,) of the whole workspace, in the end always the same


def certify(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    metrics: Metrics | None,
    assumed: Mapping[str, Any] | None,
    *,
    effort: Effort = THOROUGH,
) -> tuple[Finding, ...]:
    """Findings about the theorem; none for a law it does not speak about."""
    return held_against(Recorded(system, start, table, until, metrics), assumed, effort)


def held_against(
    run: Recorded,
    assumed: Mapping[str, Any] | None,
    effort: Effort,
    measured: Attained | None = None,
) -> tuple[Finding, ...]:
    """The same of a run; who knows its Lipschitz constants already may hand them over."""
    system, law = run.system, run.system.controller
    if not isinstance(law, Timer):
        return ()
    why_not = _silent(system, assumed)
    if why_not:
        return tuple(_not_held_against(run, law, why_not))
    assert assumed is not None
    with np.errstate(over="ignore"):  # absurd assumptions make infinite bounds, which are right
        setting = setting_of(system, float(assumed["eta_max"]), assumed["lipschitz"])
        return tuple(_findings(run, law, setting, effort, measured))


def _findings(
    run: Recorded, law: Timer, setting: Setting, effort: Effort, measured: Attained | None
) -> Iterator[Finding]:
    course = _follow(run, effort.times)
    held = _largest_hold_error(run)
    yield from _admissible_start(run, setting)
    yield from _conditions(setting)
    yield _measured_lipschitz(run, setting, effort, measured)
    yield _within("hold-limit", "hold errors stay within eta_max", held, setting.eta_max)
    yield _adaptive_limit(law, held)
    yield from _u_set(run, course, setting)
    yield _attractor(run, law)
    yield from _cost_rate(course, setting, held)


NAMES = {
    "phi-1": "Phi 1: everybody starts in the workspace, at different places (how far outside)",
    "phi-2": "Phi 2: first velocities are at most k1, first timers in [T1, T2] (relative excess)",
    "phi-3": "Phi 3: hold errors start within eta_max",
    "eta-below-k1": "eta_max is below k1",
    "dwell-time": "T2 is at most the maximum dwell time (T2 over that)",
    "lipschitz": "the Lipschitz constants measured on the way are at most those assumed (ratio)",
    "hold-limit": "hold errors stay within eta_max",
    "adaptive-limit": "hold errors stay within the eta_max of the timers themselves",
    "stays-in-u": "every error stays out of the dead zone (the set U; share of agents that leave)",
    "cost-after-u": "the cost does not rise even after the first agent has left U (rate over cost)",
    "attractor": "every error comes within nu for good (largest error at the end)",
    "cost-rate": "the cost rises no faster than the theorem's bound (rate over bound)",
    "cost-in-u": "the cost falls while every agent is in U (its rate there)",
}


def _silent(system: CoverageSystem, assumed: Mapping[str, Any] | None) -> str:
    """Why the theorem says nothing about a run of the timer law; empty if it does."""
    if assumed is None:
        return "the scenario has no [certificate]"
    if system.spacing is not None:
        return "on a grid of points centroids are piecewise constant: no Lipschitz constant holds"
    if not system.network.perfect:
        return "looks are lost or late, which the theorem does not cover"
    return ""


def _not_held_against(run: Recorded, law: Timer, why: str) -> Iterator[Finding]:
    """Every name, but only the timers' own limit is held against the run."""
    for name, says in NAMES.items():
        if law.eta_max is None or name not in ("hold-limit", "adaptive-limit"):
            yield not_applicable(name, says, why)
        else:
            yield _within(name, NAMES["adaptive-limit"], _largest_hold_error(run), law.eta_max)


# Along the run.


def _affordable(run: Recorded, most: int) -> int:
    """At most so many times, and fewer where looks take long."""
    if is_expensive(run.system.ground):
        return max(2, min(most, DEAR_CELLS // run.system.agents))
    if run.system.terms is None:
        return max(2, min(most, SLOW_CELLS // run.system.agents))
    return most


def _follow(run: Recorded, most: int) -> _Course:
    times = _times(run, _affordable(run, most))
    now = run.paths.at(times)
    seen = look_at_all(run.system, now.positions)
    if seen.met.any():  # two agents at one place have no cells: leave these times out
        kept = ~seen.met.reshape(now.next_at.shape).any(axis=1)
        times = times[kept]
        now = run.paths.at(times)
        seen = look_at_all(run.system, now.positions)
    scale, shape = np.exp(seen.log_scale), now.next_at.shape
    errors = seen.error.reshape(now.positions.shape)
    mass = (seen.mass * scale).reshape(shape)
    speeds = lengths(now.velocities)
    return _Course(
        times=times,
        errors=lengths(errors),
        costs=(seen.polar * scale).reshape(shape).sum(axis=1),
        rates=-2.0 * (mass * dots(errors, now.velocities)).sum(axis=1),
        doubts=2.0 * NOISE * run.system.workspace.diameter * (mass * speeds).sum(axis=1),
        masses=mass.sum(axis=1),
    )


def _times(run: Recorded, most: int) -> Floats:
    """Times spread over the run, and those at which somebody runs away from its centroid.

    Held velocities are at their worst just before a look.
    """
    table, until = run.table, run.until
    few = thinned(table.time[table.time <= until], most)  # in order, as tables are
    spread = np.unique(np.concatenate([np.linspace(0.0, until, most // 2), few]))
    spread = thinned(spread, most - most // WORST)
    held = _holds_before(run)
    towards = dots(table.errors, held)
    away = smallest(towards, most // WORST)
    last = np.nextafter(table.time[away[towards[away] < 0.0]], 0.0)
    return np.unique(np.concatenate([spread, last]))


def _holds_before(run: Recorded) -> Points:
    """The velocity that each jump ends, (jumps, n)."""
    before = np.empty_like(run.table.holds)
    for p in range(run.system.agents):
        rows = run.table.of_agent(p)
        if len(rows):
            before[rows[0]] = run.start.hold[p]
            before[rows[1:]] = run.table.holds[rows[:-1]]
    return before


@final
@dataclass(frozen=True, slots=True)
class _Held:
    """The largest hold error of a run, and where it was."""

    value: float
    where: str


def _largest_hold_error(run: Recorded) -> _Held:
    """Over the ends of all holds, over all samples, and at the start."""
    found = [(0.0, "")]
    table, metrics = run.table, run.metrics
    if len(table):
        k = int(np.argmax(table.hold_error))
        where = f"agent {int(table.agent[k])}, {at_time(table.time[k])}"
        found.append((float(table.hold_error[k]), where))
    if metrics is not None and metrics.hold_errors.size:
        k, p = divmod(int(np.argmax(metrics.hold_errors)), metrics.hold_errors.shape[1])
        where = f"agent {p}, {at_time(metrics.times[k])}"
        found.append((float(metrics.hold_errors[k, p]), where))
    value, where = max(found, key=lambda pair: pair[0])
    return _Held(value, where)


# One property after another.


def _admissible_start(run: Recorded, s: Setting) -> Iterator[Finding]:
    start, site = run.start, run.system.workspace
    a, b, gap = closest_pair(start.start)
    beyond = site.outside_by(start.start) / site.diameter
    if gap == 0.0:
        where = f"agents {a} and {b} at one place"
        yield Finding("phi-1", NAMES["phi-1"], VIOLATED, float(beyond.max()), ROUNDING, where)
    else:
        yield worst_of("phi-1", NAMES["phi-1"], beyond, ROUNDING, _agent)
    speed = lengths(start.hold) / s.k1 - 1.0
    timer = np.maximum(start.next_at - s.t2, s.t1 - start.next_at) / s.t2
    yield worst_of("phi-2", NAMES["phi-2"], np.maximum(speed, timer), ROUNDING, _agent)
    if gap == 0.0:
        yield not_applicable("phi-3", NAMES["phi-3"], "two agents at one place have no cells")
        return
    errors = np.array([look.error for look in run.system.looks(start.start)])
    size = np.maximum(lengths(errors), s.reach)[:, None]
    held = lengths(start.hold - s.k1 * errors / size)
    yield worst_of("phi-3", NAMES["phi-3"], held, s.eta_max, _agent)


def _conditions(s: Setting) -> Iterator[Finding]:

    def only(k: int) -> str:
        return f"eta_max = {s.eta_max:g}, k1 = {s.k1:g}"

    yield worst_of("eta-below-k1", NAMES["eta-below-k1"], np.array([s.eta_max]), s.k1, only, True)
    with np.errstate(divide="ignore"):
        over = s.t2 / s.max_dwell_times
    yield worst_of("dwell-time", NAMES["dwell-time"], over, 1.0, _agent)


def _measured_lipschitz(
    run: Recorded, s: Setting, effort: Effort, known: Attained | None
) -> Finding:
    name, says = "lipschitz", NAMES["lipschitz"]
    try:
        found = known or measure_along(run, effort)
    except DensityError as fault:
        return not_applicable(name, says, str(fault))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(found.values > 0.0, found.values / s.lipschitz, 0.0)

    def where(p: int) -> str:
        return f"agent {p}, {at_time(found.time_of(p) or 0.0)}"

    row = worst_of(name, says, ratios, 1.0, where)
    return replace(row, per_agent=_plain(found.values))


def measure_along(run: Recorded, effort: Effort) -> Attained:
    """The Lipschitz constants along a run."""
    course = (run.system, run.start, run.table, run.metrics, run.until)
    most = _affordable(run, effort.derivatives)
    return lipschitz_along(*course, most=most, approach=run.closest, paths=run.paths)


def _within(name: str, says: str, held: _Held, limit: float) -> Finding:
    return worst_of(name, says, np.array([held.value]), limit, lambda k: held.where)


def _adaptive_limit(law: Timer, held: _Held) -> Finding:
    name = "adaptive-limit"
    if law.eta_max is None:
        return not_applicable(name, NAMES[name], "the timers are not adaptive")
    return _within(name, NAMES[name], held, law.eta_max)


def _u_set(run: Recorded, course: _Course, s: Setting) -> Iterator[Finding]:
    """The theorem speaks while every error is at least eta_max nu~ / k1, which cannot last."""
    radius = s.theta * s.reach
    first = exits(run, course, radius)
    left = np.isfinite(first)
    says = f"every error stays at least {radius:.4g} (the set U; share of the agents that leave it)"
    if not left.any():
        yield Finding("stays-in-u", says, HOLDS, 0.0, 0.0, per_agent=_plain(first))
    else:
        p = int(np.argmin(first))
        last = float(first[left].max())
        where = f"agent {p} first, t = {float(first[p]):.9g}; the last that leaves, t = {last:.9g}"
        share = float(left.mean())
        yield Finding("stays-in-u", says, VIOLATED, share, 0.0, where, per_agent=_plain(first))
    yield _cost_after(course, float(first.min()))


def exits(run: Recorded, course: _Course, radius: float) -> Floats:
    """When the error of each agent first falls below `radius`, (N,); inf if it never does.

    Known at every look of its own and at the times of `course`, then narrowed by bisection.
    """
    agents = run.system.agents
    before, after = np.zeros(agents), np.full(agents, np.inf)
    for p in range(agents):
        rows = run.table.of_agent(p)
        times = np.concatenate([course.times, run.table.time[rows]])
        errors = np.concatenate([course.errors[:, p], lengths(run.table.errors[rows])])
        order = np.argsort(times, kind="stable")
        times, inside = times[order], errors[order] < radius
        if inside.any():
            k = int(np.argmax(inside))
            before[p], after[p] = times[max(k - 1, 0)], times[k]
    return _crossings(run, radius, before, after)


def _crossings(run: Recorded, radius: float, before: Floats, after: Floats) -> Floats:
    """Times between pairs of times at which errors fall below `radius`, all at once."""
    for _ in range(HALVINGS):
        middle = 0.5 * (before + after)
        close = after - before <= 1e-9 * np.maximum(1.0, after)
        open_ = np.flatnonzero(np.isfinite(after) & ~close & (before < middle) & (middle < after))
        if not len(open_):
            break
        times = middle[open_]
        errors = run.errors_of(open_, times, np.unique(times))
        inside = errors < radius
        after[open_[inside]] = times[inside]
        before[open_[~inside]] = times[~inside]
    return after


def _cost_after(course: _Course, since: float) -> Finding:
    """By its rate at the times looked at, and by its rise from each of them to the next."""
    name, says = "cost-after-u", NAMES["cost-after-u"]
    late = course.times >= since
    if not late.any():
        return not_applicable(name, says, "nobody left U")
    times, costs = course.times[late], course.costs[late]
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (course.rates - course.doubts)[late] / costs
        rises = (np.diff(costs) / costs[:-1] - ROUNDING) / np.diff(times)
    both = np.nan_to_num(np.concatenate([rates, rises]), nan=0.0)
    ends = np.concatenate([times, times[1:]])
    return worst_of(name, says, both, 0.0, lambda k: at_time(ends[k]))


def _attractor(run: Recorded, law: Timer) -> Finding:
    name, nu = "attractor", law.nu
    says = f"every error comes within nu = {nu:g} for good (largest error at the end)"
    try:
        worst = float(run.errors(run.until).max())
        when = run.covered if nu == run.system.nu else run.covered_within(nu)
    except AgentsError as fault:  # two agents at one place have no cells
        return not_applicable(name, says, str(fault))
    if when is None:
        return Finding(name, says, VIOLATED, worst, nu, "never")
    where = "from the beginning" if when == 0.0 else f"from t = {when:.9g} on"
    return Finding(name, says, HOLDS, worst, nu, where)


def _cost_rate(course: _Course, s: Setting, held: _Held) -> Iterator[Finding]:
    """dL/dt <= m(D) eta_max**2 nu~ / (2 k1) always, and <= 0 while all errors are in U."""
    if held.value > s.eta_max:
        for name in ("cost-rate", "cost-in-u"):
            yield not_applicable(name, NAMES[name], "hold errors exceed eta_max")
        return

    def at(k: int) -> str:
        return at_time(course.times[k])

    bound = course.masses * s.eta_max * s.eta_max * s.reach / (2.0 * s.k1)
    bound = np.maximum(bound, np.finfo(float).tiny)  # eta_max**2 may be less than any double
    yield worst_of("cost-rate", NAMES["cost-rate"], course.rates / bound, 1.0, at)
    all_in = (course.errors >= s.theta * s.reach).all(axis=1)
    if not all_in.any():
        yield not_applicable("cost-in-u", NAMES["cost-in-u"], "there is no such time")
        return
    rates = np.where(all_in, course.rates - course.doubts, -np.inf)
    yield worst_of("cost-in-u", NAMES["cost-in-u"], rates, 0.0, at)


def _agent(k: int) -> str:
    return f"agent {k}"


def _plain(values: Floats) -> tuple[float | None, ...]:
    """None for what is not finite."""
    return tuple(float(v) if np.isfinite(v) else None for v in values)

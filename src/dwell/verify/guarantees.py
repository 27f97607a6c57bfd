"""What the paper of each law proves, compared with a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._types import Floats, Ints, Points, at_time, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.controllers import Lloyd, SelfTriggered
from dwell.controllers.self_triggered import MISSED
from dwell.measure.metrics import look_at_all, measure, snapshots
from dwell.verify.finding import Finding, agreement, if_guaranteed, spread, worst_of
from dwell.verify.reference_trigger import reference_trigger, wider

MOST_COSTS = 2000  # times at which the cost is computed again
COST_ROUNDING = 1e-12  # relative
MOST_TIMES = 2000  # times at which centroids are followed between samples
BLOCK = 4096  # events dealt with at once
BY_HAND = 40  # decisions of the self-trigger that are made again by other code
BY_HAND_LIMIT = 3e-5  # of the diameter
BY_HAND_IN_SPACE = 1e-3
STRAY = 100.0  # times the tolerance of a differential equation


def promises(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    thorough: bool = False,
) -> Iterator[Finding]:
    """Findings about what the law guarantees; none for laws without guarantees."""
    law = system.controller
    if getattr(law, "cost_decreases", False) and system.spacing is None:
        yield cost_never_rises(system, start, table, until, None if thorough else MOST_COSTS)
    if isinstance(law, SelfTriggered):
        yield from self_trigger_guarantees(system, start, table, until)
        if system.network.perfect and system.spacing is None and len(table):
            some = (
                BY_HAND if system.dimension < 3 else BY_HAND // 4
            )  # rays in space take their time
            yield trigger_by_hand(system, start, table, law, None if thorough else some)
    if isinstance(law, Lloyd) and law.accuracy is not None:
        yield equation_solved(system, start, table, law, until, None if thorough else MOST_TIMES)


def cost_never_rises(
    system: CoverageSystem, start: AgentsState, table: EventTable, until: float, most: int | None
) -> Finding:
    """The cost at event times, where its law's paper proves that it decreases."""
    every = np.unique(np.concatenate([[0.0], table.time[table.time <= until]]))
    times = thinned(every, most)
    costs = measure(system, start, table, times).costs
    says = f"the cost never rises, at {len(times)} of {len(every)} event times (relative rise)"
    rise = np.diff(costs) / costs[:-1]
    found = worst_of("cost", says, rise, COST_ROUNDING, lambda k: at_time(times[k + 1]))
    return found if system.network.perfect else if_guaranteed(found)


def self_trigger_guarantees(
    system: CoverageSystem, start: AgentsState, table: EventTable, until: float
) -> Iterator[Finding]:
    """G1: between samples the centroid moves by delta at most. G2: the sampled one stays inside.

    Neither is guaranteed on an interval that the trigger did not choose, because tau_min was too
    long or a sample was lost; over a network that loses or delays; or up to the first scanned time
    that is not good (stop = "after").
    """
    law: Any = system.controller
    kept = system.network.perfect and law.option("stop") == "before"
    seen = follow_centroids(system, start, table, until)
    when = f"at {MOST_TIMES} times and just before each sample"
    says = f"a centroid moves by at most delta = {law.delta:g} between samples (G1; {when})"
    found = worst_of("drift", says, np.where(seen.free, seen.drift, 0.0), law.delta, seen.where)
    yield found if kept else if_guaranteed(found)
    says = "the sampled centroid stays in the agent's cell (G2, likewise; how far it is outside)"
    rounding = 1e-12 * system.workspace.diameter
    found = worst_of("target", says, np.where(seen.free, -seen.depth, 0.0), rounding, seen.where)
    yield found if kept else if_guaranteed(found)


def trigger_by_hand(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    law: SelfTriggered,
    most: int | None,
) -> Finding:
    """The trigger at some decisions by other code: it holds at the end of the interval only."""
    rows = spread(len(table), most)
    wrong = np.zeros(len(rows))
    for k, row in enumerate(rows):
        wrong[k] = _misjudged(system, start, table, law, int(row))
    limit = BY_HAND_LIMIT if system.dimension < 3 else BY_HAND_IN_SPACE
    limit *= system.workspace.diameter
    what, note = "decisions of the trigger recomputed by other code", " (how far h is off 0)"

    def where(k: int) -> str:
        return f"jump {rows[k] + 1}"

    return agreement("trigger", what, wrong, limit, len(table), where, note)


def _misjudged(
    system: CoverageSystem, start: AgentsState, table: EventTable, law: SelfTriggered, row: int
) -> float:
    """By how much h has the wrong sign at the last good, and at the first bad, scanned time."""
    p, t = int(table.agent[row]), float(table.time[row])
    interval, mark = float(table.next_at[row]) - t, int(table.count("mark")[row])
    places = _positions_before(start, table, row)
    sample, target = system.sample(places, p, t), places[p] + table.errors[row]
    legs = table.legs(start, p).take(int(np.searchsorted(table.of_agent(p), row)) + 1)
    ends = interval - law.scan if law.option("stop") == "after" else interval
    worst = 0.0
    for s, sign in ((ends, 1.0), (ends + law.scan, -1.0)):
        applies = mark != FLOOR and s > 0.5 * law.scan if sign > 0 else mark == IN_TIME
        if applies and (sign < 0 or mark != CEILING or law.option("stop") == "before"):
            here = np.array(legs.at(t + s))
            enlarged = wider(system.workspace) if sign < 0 else 0.0
            known = (law, system.workspace, system.density, here, target, sample.positions, s)
            worst = max(worst, sign * reference_trigger(*known, enlarged))
    return worst


def _positions_before(start: AgentsState, table: EventTable, row: int) -> Floats:
    places = np.empty(start.start.shape)
    for q in range(len(places)):
        made = int(np.searchsorted(table.of_agent(q), row))
        places[q] = table.legs(start, q).take(made).at(float(table.time[row]))
    return places


@final
@dataclass(frozen=True, eq=False, slots=True)
class Followed:
    """Agents between their samples: one entry for each agent and time."""

    times: Floats
    agents: Ints
    drift: Floats  # how far the centroid is from the sampled one
    depth: Floats  # how far inside its cell the sampled one is
    free: np.ndarray  # whether the trigger chose the interval: no floor was hit, no sample lost

    def where(self, k: int) -> str:
        """Entry k in words."""
        return f"agent {self.agents[k]}, {at_time(self.times[k])}"


def follow_centroids(
    system: CoverageSystem, start: AgentsState, table: EventTable, until: float
) -> Followed:
    """All agents at times spread over the run, and each agent at the very end of each interval.

    That is the worst time of an interval, just before the new sample; none is left out.
    """
    first = np.array([look.error for look in system.looks(start.positions)])
    parts = [_along(system, start, table, first, until), _at_ends(start, table, first, until)]
    names = ("times", "agents", "drift", "depth", "free")
    return Followed(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _along(
    system: CoverageSystem, start: AgentsState, table: EventTable, first: Points, until: float
) -> Followed:
    times = np.linspace(0.0, until, MOST_TIMES)
    now = snapshots(start, table, times)
    centroids = now.positions + _errors(system, now.positions)
    agents = now.next_at.shape[1]
    drift, depth = np.empty((2, len(times), agents))
    free = np.empty((len(times), agents), dtype=bool)
    for p in range(agents):
        made = np.searchsorted(table.time[table.of_agent(p)], times, side="right")
        targets, chosen = _samples_of(start, table, first, p)
        drift[:, p] = lengths(centroids[:, p] - targets[made])
        depth[:, p] = _depth(targets[made], now.positions, p)
        free[:, p] = chosen[made]
    row, agent = np.divmod(np.arange(free.size), agents)
    return Followed(times[row], agent, drift.ravel(), depth.ravel(), free.ravel())


def _at_ends(start: AgentsState, table: EventTable, first: Points, until: float) -> Followed:
    """At each event its own agent, with the sample that it had until then."""
    rows = np.flatnonzero(table.time <= until)
    times, agents = table.time[rows], table.agent[rows]
    drift, depth, free = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows), dtype=bool)
    centroids = table.positions[rows] + table.errors[rows]  # as recorded, which is checked besides
    for p in range(len(start.start)):
        own = np.flatnonzero(agents == p)
        targets, chosen = (values[: len(own)] for values in _samples_of(start, table, first, p))
        drift[own], free[own] = lengths(centroids[own] - targets), chosen
        for part in np.array_split(np.arange(len(own)), 1 + len(own) // BLOCK):
            now = snapshots(start, table, times[own[part]])
            depth[own[part]] = _depth(targets[part], now.positions, p)
    return Followed(times, agents, drift, depth, free)


def _samples_of(
    start: AgentsState, table: EventTable, first: Points, agent: int
) -> tuple[Points, np.ndarray]:
    """The centroids that an agent sampled, that at the start first; whether the trigger chose."""
    rows = table.of_agent(agent)
    targets = np.vstack(
        [start.start[agent] + first[agent], table.positions[rows] + table.errors[rows]]
    )
    marks = np.append(start.marks[agent], table.count("mark")[rows])
    return targets, (marks != FLOOR) & (marks != MISSED)


def _depth(targets: Points, positions: Points, agent: int) -> Floats:
    """How much farther the targets (S, n) are from the nearest other agent than from `agent`."""
    others = lengths(targets[:, None] - positions)
    own = others[:, agent].copy()
    others[:, agent] = np.inf
    depth: Floats = others.min(axis=1) - own
    return depth


def _errors(system: CoverageSystem, places: Points) -> Points:
    """Errors of all agents in each of the configurations (S, N, n)."""
    errors: Points = look_at_all(system, places).error.reshape(places.shape)
    return errors


def equation_solved(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    law: Lloyd,
    until: float,
    most: int | None,
) -> Finding:
    """How far a piece of the path would stray if its velocity were wrong all along it.

    The velocity of the path is held against that of the equation at three places of each piece.
    """
    knots = np.unique(np.concatenate([[0.0], table.time[table.time <= until]]))
    rows = spread(len(knots) - 1, most)
    waits = np.diff(knots)[rows]
    stray = np.zeros(len(rows))
    for part in (0.2, 0.5, 0.8):
        now = snapshots(start, table, knots[rows] + part * waits)
        expected = law.k2 * _errors(system, now.positions)
        if law.speed is not None:  # the longer ones are cut to it
            expected /= np.maximum(1.0, lengths(expected) / law.speed)[..., None]
        gap = lengths(now.velocities - expected)
        stray = np.maximum(stray, gap.max(axis=1, initial=0.0) * waits)
    count = f"{len(rows)} of {len(knots) - 1} pieces"
    says = f"{count} of the path solve the differential equation (stray relative to the diameter)"
    limit = STRAY * float(law.accuracy or 0.0)
    return worst_of("equation", says, stray / system.workspace.diameter, limit, _at(knots[rows]))


def thinned(times: Floats, most: int | None) -> Floats:
    """At most so many of the times, evenly, the first and the last included; None: all."""
    return times[spread(len(times), most)]


def _at(times: Floats) -> Any:
    return lambda k: at_time(float(times[k]))

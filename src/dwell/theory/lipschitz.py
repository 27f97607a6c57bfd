"""Lipschitz constants of the centroids: how fast a centroid can follow the agents.

The constant of agent p at a configuration is the norm of the derivative of its centroid with
respect to all positions. It has no bound: two agents at distance d side by side in the unit square
have sqrt(2) / (6 d). So a constant belongs to a set of configurations, and here are four: one
configuration, those along a run, some drawn at random with a least separation, and all with that
separation (by a crude but rigorous bound).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import Floats, Ints, Points, in_short, is_positive, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory
from dwell.cells.positions import as_positions
from dwell.density import Density
from dwell.errors import AgentsError, DensityError, InputError
from dwell.geometry import Workspace
from dwell.measure.closest_approach import NEAR, Approach, closest_approach, meet
from dwell.measure.metrics import Metrics
from dwell.theory.derivatives import Derivatives, derivatives
from dwell.theory.lipschitz_bound import Bound, plain

MOST_TIMES = 400  # along a run
CLOSEST = 4  # one in so many of these is spent on the smallest separations
DRAWS = 100  # purpose of the random draws; smaller numbers belong to the simulation
TRIES = 2000  # draws per agent before a separation counts as too large

Progress = Callable[[str, float], None]


@final
@dataclass(frozen=True, eq=False)
class Attained:
    """The largest constant over some configurations, and where it was found."""

    value: float  # inf where two agents coincide
    agent: int  # whose centroid it is
    positions: Points  # (N, n) the configuration
    says: str  # where that is, in words
    values: Floats  # (N,) the largest of each agent
    rates: Floats  # (N,) the largest |d_p c_p - 1| + sum of |d_q c_p|: how fast |e_p| can change
    neighbors: Ints  # (N,) most neighbours of each agent
    configurations: int = 1  # measured
    skipped: int = 0  # left out: some cell weighed nothing
    time: float | None = None  # along a run
    sample: int | None = None  # among samples
    times: Floats | None = None  # (N,) along a run, when each agent had its largest

    def time_of(self, agent: int) -> float | None:
        """When `agent` had its largest constant; None if that is not along a run."""
        return self.time if self.times is None else float(self.times[agent])

    def as_json(self) -> dict[str, Any]:
        """For programs; null stands for infinite."""
        return {
            "value": plain(self.value),
            "agent": self.agent,
            "time": self.time,
            "sample": self.sample,
            "configurations": self.configurations,
            "skipped": self.skipped,
            "per_agent": [plain(float(v)) for v in self.values],
            "says": self.says,
        }


@final
@dataclass(frozen=True, eq=False)
class Lipschitz:
    """The constants of one scenario side by side; None where `missing` says why."""

    bound: Bound
    start: Attained | None = None
    run: Attained | None = None
    end: Attained | None = None
    sampled: Attained | None = None
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def on_the_way(self) -> list[Attained]:
        """Those at configurations that the scenario itself visits."""
        return [found for found in (self.start, self.run, self.end) if found is not None]

    @property
    def values(self) -> Floats | None:
        """Largest constant of each agent on its way, (N,); None if nothing was measured."""
        rows = [found.values for found in self.on_the_way]
        return np.max(rows, axis=0) if rows else None

    @property
    def on_the_whole_way(self) -> Attained | None:
        """Along the run if there is one, else at the start."""
        return self.run or self.start

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        kinds = ("start", "run", "end", "sampled")
        found = {kind: getattr(self, kind) for kind in kinds}
        rows = {kind: None if one is None else one.as_json() for kind, one in found.items()}
        return {**rows, "bound": self.bound.as_json(), "missing": self.missing}


def lipschitz_at(workspace: Workspace, positions: object, density: Density) -> Attained:
    """At one configuration: infinite if two agents coincide, up to rounding.

    Every cell must weigh something.

    >>> from dwell import Box, Uniform
    >>> found = lipschitz_at(Box((0, 0), (1, 1)), [(0.25, 0.5), (0.75, 0.5)], Uniform())
    >>> abs(found.value - 2**0.5 / 6 / 0.5) < 1e-10
    True
    """
    points = as_positions(positions, workspace.dimension)
    a, b, gap = closest_pair(points)
    if meet(gap, points):
        return _infinite(points, a, b)
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = derivatives(workspace, points, density)
    except AgentsError:  # too close for numbers
        return _infinite(points, a, b)
    if not np.isfinite(found.centroid).all():
        return _infinite(points, a, b)
    values, rates = found.lipschitz(), error_rates(found)
    neighbors = np.bincount(found.row, minlength=found.agents) - 1  # each agent is in its own row
    agent = int(np.argmax(values))
    says = f"agent {agent}"
    if gap < NEAR * workspace.diameter:
        says += f"; agents {a} and {b} are only {gap:.3g} apart, and it is infinite where they meet"
    elif agent in (a, b) and a != b:
        says += f" ({gap:.3g} from agent {b if agent == a else a}: the closest pair)"
    return Attained(float(values[agent]), agent, points, says, values, rates, neighbors)


def _infinite(points: Points, a: int, b: int) -> Attained:
    """The result where two agents coincide, so that the facet between them has no direction."""
    n = len(points)
    unknown = np.full(n, np.inf)
    says = f"infinite: agents {a} and {b} coincide, so their centroids are not even continuous"
    return Attained(math.inf, a, points, says, unknown, unknown, np.full(n, n - 1))


def error_rates(found: Derivatives) -> Floats:
    """|d_p c_p - 1| + sum over the neighbours of |d_q c_p|, (N,).

    When no agent is faster than 1, the error of agent p changes no faster than this.
    """
    blocks = found.centroid.copy()
    blocks[found.row == found.column] -= np.eye(blocks.shape[-1])
    sizes = np.linalg.norm(blocks, 2, axis=(1, 2))
    rates = np.zeros(found.agents)
    np.add.at(rates, found.row, sizes)
    return rates


def closest_pair(points: Points) -> tuple[int, int, float]:
    """The two agents nearest to each other, and how far apart they are; (0, 0, inf) for one."""
    from scipy.spatial import KDTree

    if len(points) < 2:
        return 0, 0, math.inf
    gaps, near = KDTree(points).query(points, k=2)
    one = int(np.argmin(gaps[:, 1]))
    other = next(int(q) for q in near[one] if q != one)  # the first where both are at one place
    return min(one, other), max(one, other), float(lengths(points[one] - points[other]))


# Over several configurations.


def lipschitz_along(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    metrics: Metrics | None,
    until: float,
    *,
    most: int = MOST_TIMES,
    approach: Approach | None = None,
    progress: Progress | None = None,
) -> Attained:
    """Along a run: at its samples and events, thinned to about `most` times.

    Three quarters of them are spread evenly over the samples and events, the rest are those at
    which two agents were closest. The closest approaches between these times are included, so
    that agents who pass through each other are not missed; `approach` may be given where it is
    known already. Times at which some cell has no mass are left out.
    """
    run = Trajectory(system, start, table, until)
    return along(run, metrics, most=most, approach=approach, progress=progress)


def along(
    run: Trajectory,
    metrics: Metrics | None,
    *,
    most: int = MOST_TIMES,
    approach: Approach | None = None,
    progress: Progress | None = None,
) -> Attained:
    """`lipschitz_along` of a trajectory."""
    close = closest_approach(run) if approach is None else approach
    times, known = visited_times(run.table, metrics, run.until, most)
    times = np.union1d(times, close.times)
    places = iter(run.at(times).positions)
    best, found, whens = _largest(run.system, places, len(times), progress, "along the run")
    if meet(close.distance, run.start.segments.place) and math.isfinite(found.value):
        return _coincident(found, close)
    at = float(times[best])
    says = f"{found.says} at t = {at:.6g} ({found.configurations} of {known} times evaluated)"
    return _described(found, says, time=at, times=times[whens])


def _coincident(rows: Attained, close: Approach) -> Attained:
    """The result where two agents pass through each other at a time between two doubles."""
    values, rates = rows.values.copy(), rows.rates.copy()
    values[list(close.agents)] = rates[list(close.agents)] = math.inf
    says, times = f"infinite: {close.says} stand at one place", np.full(len(values), close.time)
    return replace(
        rows, value=math.inf, agent=close.agents[0], says=says, values=values, rates=rates,
        time=close.time, times=times,
    )  # fmt: skip


def visited_times(
    table: EventTable, metrics: Metrics | None, until: float, most: int
) -> tuple[Floats, int]:
    """Ascending times to measure at, and from how many samples and events they were chosen."""
    unknown = np.array([np.inf])
    every = [np.zeros(1), table.time, np.array([until])]
    nearest = [unknown, table.nearest, unknown]
    if metrics is not None:
        every.append(metrics.times)
        nearest.append(metrics.separations)
    times, gaps = np.concatenate(every), np.concatenate(nearest)
    times, gaps = times[times <= until], gaps[times <= until]
    ascending = np.sort(times, kind="stable")  # quick, as it is made of parts in order
    ascending = ascending[np.append(True, np.diff(ascending) > 0.0)]
    known = len(ascending)
    if known <= most:
        return ascending, known
    even = np.linspace(0, known - 1, max(2, most - most // CLOSEST)).astype(np.int64)
    return np.union1d(ascending[even], times[smallest(gaps, most // CLOSEST)]), known


def smallest(values: Floats, count: int) -> Ints:
    """Where the smallest of the values are; of equal ones any."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


def lipschitz_sampled(
    system: CoverageSystem,
    separation: float,
    samples: int,
    *,
    progress: Progress | None = None,
) -> Attained:
    """Over `samples` configurations drawn at random, agents at least `separation` apart.

    Sample s depends on the system's seed and s alone. The agents are exchangeable, so the largest
    constant is that of every agent. Samples in which some cell weighs nothing are left out.
    """
    check_whole("samples", samples, 1, "design")
    places = (separated(system, separation, s) for s in range(samples))
    best, found, _ = _largest(system, places, samples, progress, "sampling")
    says = f"configuration {best} of {found.configurations}, separation at least {separation:.4g}"
    return _described(found, says, sample=best, values=np.full(system.agents, found.value))


def _largest(
    system: CoverageSystem,
    places: Iterator[Points],
    count: int,
    progress: Progress | None,
    what: str,
) -> tuple[int, Attained, Ints]:
    """The largest over some configurations, which it was, and which was that of each agent."""
    best: tuple[int, Attained] | None = None
    values, rates = np.zeros((2, system.agents))
    neighbors, whens = np.zeros((2, system.agents), dtype=np.int64)
    skipped = 0
    for k, points in enumerate(places):
        if progress is not None:
            progress(what, k / count)
        try:
            found = lipschitz_at(system.workspace, points, system.density)
        except DensityError as fault:
            if fault.code != "density.derivatives":
                raise
            skipped += 1
            continue
        whens = np.where(found.values > values, k, whens)
        values, rates = np.maximum(values, found.values), np.maximum(rates, found.rates)
        neighbors = np.maximum(neighbors, found.neighbors)
        if best is None or found.value > best[1].value:
            best = (k, found)
    if best is None:
        raise DensityError(
            f"some cell weighs nothing in every configuration ({what}), so its centroid has no "
            "derivative; use a density that is positive there",
            code="density.derivatives",
        )
    which, one = best
    whole = replace(
        one, values=values, rates=rates, neighbors=neighbors, configurations=count - skipped,
        skipped=skipped,
    )  # fmt: skip
    return which, whole, whens


def _described(found: Attained, says: str, **changes: Any) -> Attained:
    """`found` with the sentence `says`, to which infinite values and omissions are added."""
    if not math.isfinite(found.value) and not says.startswith(found.says):
        says = f"{found.says}; {says}"
    if found.skipped:
        says += f"; {found.skipped} left out, where some cell weighs nothing"
    return replace(found, says=says, **changes)


def separated(system: CoverageSystem, separation: float, sample: int) -> Points:
    """Positions of all agents, at least `separation` apart: each is drawn until it fits."""
    from dwell._kernels.common.philox import uniform_pair

    if not is_positive(separation):
        raise InputError(
            f"separation is {in_short(separation)}; a positive length is needed",
            code="design.separation",
        )
    n, workspace = system.agents, system.workspace
    lower, upper = workspace.bounds
    dimension = system.dimension
    pairs = (dimension + 1) // 2  # coordinates are drawn two at a time
    kept = np.empty((n, dimension))
    filled, drawn, batch = 0, 0, 4 * n
    while drawn < TRIES * n:
        every = range(drawn * pairs, (drawn + batch) * pairs)
        draws = np.array([uniform_pair(*system.key, DRAWS, sample, k) for k in every])
        drawn += batch
        points = lower + (upper - lower) * draws.reshape(batch, -1)[:, :dimension]
        for point in points[workspace.outside_by(points) == 0.0]:
            if (lengths(kept[:filled] - point) >= separation).all():
                kept[filled] = point
                filled += 1
                if filled == n:
                    return kept
    fits = 0.6 * (workspace.volume / n) ** (1.0 / dimension)
    raise InputError(
        f"separation is {separation:g}, too large to draw {n} agents in this workspace ({filled} "
        f"found a place); about {fits:.3g} can be had",
        code="design.separation",
    )

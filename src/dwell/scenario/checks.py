"""Rules that tie several keys together, as functions from plain values to problems.

A value per agent is either one number for all or a tuple with one number each. Of a list with
several bad entries the first is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from .problems import Problem, Where, shown
from .values import point_needed, term_needed

Each: TypeAlias = float | tuple[float, ...]
Vector: TypeAlias = tuple[float, ...]

ULPS_PER_TIMER = 16
SAMPLES_AT_MOST = 10_000_000
AGENT_SAMPLES_AT_MOST = 100_000_000
BYTES_PER_AGENT_SAMPLE = 16
NORM_SLACK = 1e-12


def nth(values: Each, agent: int) -> float:
    """The value of one agent."""
    return values[agent] if isinstance(values, tuple) else values


def least(values: Each) -> tuple[Where, float]:
    """The smallest value, and the index that it has if the values are a list."""
    if not isinstance(values, tuple):
        return (), values
    index = min(range(len(values)), key=values.__getitem__)
    return (index,), values[index]


def common_length(*values: Sequence[object] | float | None) -> int | None:
    """How many agents the lists speak of; 1 without lists, None if the lists disagree."""
    lengths = {len(v) for v in values if isinstance(v, (tuple, list))}
    if len(lengths) > 1:
        return None
    return lengths.pop() if lengths else 1


def order(t1: Each, t2: Each) -> Iterator[Problem]:
    """P1: no agent's shortest wait is longer than its longest."""
    for agent in range(common_length(t1, t2) or 0):
        low, high = nth(t1, agent), nth(t2, agent)
        if low > high:
            where: Where = ("t1", agent) if isinstance(t1, tuple) else ("t1",)
            other = f"controller.t2[{agent}]" if isinstance(t2, tuple) else "controller.t2"
            yield Problem(where, "timer.order", f"must be at most {other} = {high!r}, got {low!r}")
            return


def within(where: Where, values: Each, t1: Each, t2: Each) -> Iterator[Problem]:
    """P13: every agent's value lies in its own [t1, t2]."""
    for agent in range(common_length(values, t1, t2) or 0):
        low, value, high = nth(t1, agent), nth(values, agent), nth(t2, agent)
        if not low <= value <= high:
            at = (*where, agent) if isinstance(values, tuple) else where
            whose = "" if at != where or common_length(t1, t2) == 1 else f" of agent {agent}"
            says = f"must lie between t1 = {low!r} and t2 = {high!r}{whose}, got {value!r}"
            yield Problem(at, "timer.range", says)
            return


def intervals_within(
    intervals: tuple[float, ...] | tuple[tuple[float, ...], ...], t1: Each, t2: Each
) -> Iterator[Problem]:
    """Every interval of a sequence lies in the [t1, t2] of the agent that waits for it."""
    if not all(isinstance(row, tuple) for row in intervals):
        for k, value in enumerate(intervals):
            assert isinstance(value, float)
            found = list(within(("intervals", k), value, t1, t2))
            if found:
                yield found[0]
                return
        return
    if common_length(intervals, t1, t2) is None:
        return
    for agent, row in enumerate(intervals):
        assert isinstance(row, tuple)
        low, high = nth(t1, agent), nth(t2, agent)
        for k, value in enumerate(row):
            found = list(within(("intervals", agent, k), value, low, high))
            if found:
                yield found[0]
                return


def holds_within(holds: Sequence[Vector], k1: float) -> Iterator[Problem]:
    """P13: no agent starts with a held velocity faster than k1."""
    for agent, hold in enumerate(holds):
        speed = math.hypot(*hold)
        if speed > k1 * (1 + NORM_SLACK):
            says = f"must not be longer than controller.k1 = {k1!r}, got length {speed!r}"
            yield Problem(("initial_hold", agent), "timer.hold", says)
            return


def one_per_agent(where: Where, values: object, agents: int) -> Iterator[Problem]:
    """P12: a list has an entry for each agent."""
    if isinstance(values, tuple) and len(values) != agents:
        expected = f"one entry per agent, {agents} in all"
        yield Problem(where, "scenario.length", f"needs {expected}, got {len(values)}")


def belongs(key: str, selector: str, owner: str, chosen: str, code: str) -> Iterator[Problem]:
    """A key that goes with one choice of another key is not given beside the others."""
    if chosen != owner:
        says = f'belongs to {selector} = "{owner}", got {selector} = "{chosen}"'
        yield Problem((key,), code, says)


def levels(values: Sequence[float]) -> Iterator[Problem]:
    """Levels of speed ascend from rest to the whole."""
    for index, (lower, upper) in enumerate(pairwise(values), start=1):
        if not lower < upper:
            says = f"must be greater than levels[{index - 1}] = {lower!r}, got {upper!r}"
            yield Problem(("levels", index), "event-triggered.levels", says)
            return
    for index, end, what in ((0, 0.0, "rest"), (len(values) - 1, 1.0, "the largest speed")):
        if values[index] != end:
            says = f"must be {end:g}, which is {what}, got {values[index]!r}"
            yield Problem(("levels", index), "event-triggered.levels", says)


def resolution(key: str, waits: Each, horizon: float, code: str) -> Iterator[Problem]:
    """P5: the shortest wait is long enough to move the clock at the end of the run."""
    at, shortest = least(waits)
    needed = ULPS_PER_TIMER * math.ulp(horizon)
    if shortest < needed:
        says = (
            f"must be at least {needed:.3g}, or the clock cannot advance near "
            f"run.horizon = {horizon!r}, got {shortest!r}"
        )
        yield Problem(("controller", key, *at), code, says)


def rate_resolution(rate: float, horizon: float, code: str) -> Iterator[Problem]:
    """A rate so high that the clock cannot advance near the horizon."""
    most = 1.0 / (ULPS_PER_TIMER * math.ulp(horizon))
    if rate > most:
        says = (
            f"must be at most {most:.3g}, or the clock cannot advance near "
            f"run.horizon = {horizon!r}, got {rate!r}"
        )
        yield Problem(("controller", "rate"), code, says)


def sample_count(sample_every: float, horizon: float, agents: int) -> Iterator[Problem]:
    """P18: samples are not so dense that they fill the disk."""
    most = sample_every * min(SAMPLES_AT_MOST, AGENT_SAMPLES_AT_MOST / agents)
    # Not divided: horizon / sample_every may overflow.
    if sample_every * SAMPLES_AT_MOST >= horizon:
        samples = horizon / sample_every
        if samples * agents > AGENT_SAMPLES_AT_MOST:
            least = horizon * agents / AGENT_SAMPLES_AT_MOST
            says = (
                f"must be at least {least:.3g} for {agents} agents, got {sample_every!r}, which "
                f"means {samples:.3g} samples of each, together more than "
                f"{AGENT_SAMPLES_AT_MOST:.0e}; or take a run.horizon of at most {most:.6g}"
            )
            yield Problem(("run", "record", "sample_every"), "run.samples", says)
        return
    samples = horizon / sample_every
    size = samples * agents * BYTES_PER_AGENT_SAMPLE / 1e9
    says = (
        f"must be at least 1e-07 of run.horizon, here {horizon / SAMPLES_AT_MOST:.3g}, "
        f"got {sample_every!r}, which means {samples:.3g} samples or about {size:.3g} GB; "
        f"or take a run.horizon of at most {most:.6g}"
    )
    yield Problem(("run", "record", "sample_every"), "run.samples", says)


def interval(bounds: Vector) -> Iterator[Problem]:
    """The lower end of an interval comes before the upper one."""
    lower, upper = bounds
    if not lower < upper:
        says = f"must be less than bounds[1] = {upper!r}, got {lower!r}"
        yield Problem(("bounds", 0), "scenario.interval", says)


def box(lower: Vector, upper: Vector) -> Iterator[Problem]:
    """The lower corner of a box is below the upper one in every coordinate."""
    if len(lower) != len(upper):
        says = f"needs as many coordinates as upper, {len(upper)}, got {shown(lower)}"
        yield Problem(("lower",), "scenario.dimension", says)
        return
    for axis, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not low < high:
            says = f"must be less than upper[{axis}] = {high!r}, got {low!r}"
            yield Problem(("lower", axis), "scenario.box", says)


def covariance(rows: Sequence[Vector]) -> Iterator[Problem]:
    """A covariance is symmetric and positive definite."""
    where: Where = ("covariance",)
    sides = [(i, j) for i in range(len(rows)) for j in range(i + 1, len(rows))]
    skew = [(i, j) for i, j in sides if rows[i][j] != rows[j][i]]
    if skew:
        i, j = skew[0]
        place = "" if len(rows) == 2 else f" at [{i}][{j}]"
        says = (
            f"must be symmetric, got {rows[i][j]!r} above{place} and {rows[j][i]!r} below the "
            "diagonal"
        )
        yield Problem(where, "density.covariance", says)
    elif not _positive_definite(rows):
        shown_rows = [list(row) for row in rows] if len(rows) <= 3 else f"{len(rows)} rows"
        yield Problem(where, "density.covariance", f"must be positive definite, got {shown_rows}")


def _positive_definite(rows: Sequence[Vector]) -> bool:
    """Whether elimination, after scaling every variance to 1, leaves positive pivots only."""
    n = len(rows)
    if not all(rows[i][i] > 0 for i in range(n)):
        return False
    roots = [math.sqrt(rows[i][i]) for i in range(n)]
    if n == 2:
        return abs(rows[0][1]) < roots[0] * roots[1]
    left = [[rows[i][j] / roots[i] / roots[j] for j in range(n)] for i in range(n)]
    for k in range(n):
        if not left[k][k] > 0:
            return False
        for i in range(k + 1, n):
            factor = left[i][k] / left[k][k]
            left[i] = [a - factor * b for a, b in zip(left[i], left[k], strict=True)]
    return True


def same_length(key: str, rows: Sequence[Vector], code: str, what: str) -> Iterator[Problem]:
    """Rows of one list have as many numbers each; those unlike most of the others do not."""
    counts = [len(row) for row in rows]
    usual = max(sorted(set(counts)), key=counts.count)
    for index, row in enumerate(rows):
        if len(row) != usual:
            says = f"needs {usual} numbers like the other {what}, got {shown(row)}"
            yield Problem((key, index), code, says)
            return


def semi_axes(center: Vector, sizes: Vector, axes: Sequence[Vector] | None) -> Iterator[Problem]:
    """An ellipsoid has a semi-axis for each coordinate of its center, and a direction for each."""
    n = len(center)
    if len(sizes) != n:
        says = f"needs one length for each of the {n} coordinates of center, got {len(sizes)}"
        yield Problem(("semi_axes",), "scenario.dimension", says)
    if axes is not None and len(axes) != n:
        says = f"needs {n} rows of {n} numbers, as center has {n} coordinates, got {len(axes)} rows"
        yield Problem(("axes",), "scenario.dimension", says)


def point(where: Where, value: Vector | None, n: int) -> Iterator[Problem]:
    """A point has a coordinate for each dimension of the workspace."""
    if value is not None and len(value) != n:
        says = f"needs {point_needed(n)}, {in_workspace(n)}, got {_shown_point(value)}"
        yield Problem(where, "scenario.dimension", says)


def points(where: Where, values: Sequence[Vector] | None, n: int) -> Iterator[Problem]:
    """So do all points of a list; the first that does not is named."""
    found = _first_of_length(values or (), n)
    if found is not None:
        index, value, ragged = found
        code = "scenario.point" if ragged else "scenario.dimension"
        says = f"needs {point_needed(n)}, {in_workspace(n)}, got {_shown_point(value)}"
        yield Problem((*where, index), code, says)


def terms(rows: Sequence[Vector], n: int) -> Iterator[Problem]:
    """A term of a polynomial has a power for each dimension of the workspace."""
    found = _first_of_length(rows, n + 1)
    if found is not None:
        index, row, ragged = found
        code = "scenario.term" if ragged else "scenario.dimension"
        says = f"needs {term_needed(n)}, {in_workspace(n)}, got {shown(row)}"
        yield Problem(("terms", index), code, says)


def matrix(where: Where, rows: Sequence[Vector] | None, n: int) -> Iterator[Problem]:
    """A matrix has a row and a column for each dimension of the workspace."""
    if rows is not None and len(rows) != n:
        says = f"needs {n} by {n} finite numbers, {in_workspace(n)}, got {len(rows)} by {len(rows)}"
        yield Problem(where, "scenario.dimension", says)


def in_workspace(n: int) -> str:
    """The reason why n numbers are needed."""
    return f"as the workspace has {n} dimension{'s' * (n != 1)}"


def _first_of_length(rows: Sequence[Vector], length: int) -> tuple[int, Vector, bool] | None:
    """The first row of another length, with its index, and whether the rows differ in length."""
    for index, row in enumerate(rows):
        if len(row) != length:
            return index, row, len({len(other) for other in rows}) > 1
    return None


def _shown_point(value: Vector) -> str:
    """A point of one coordinate may have been written as a number."""
    return shown(value if len(value) > 1 else value[0])


def distinct(ids: Sequence[int]) -> Iterator[Problem]:
    """A22: no two agents share an id."""
    seen: dict[int, int] = {}
    for index, agent in enumerate(ids):
        if agent in seen:
            says = f"must differ from every other id, got {agent} again, as in ids[{seen[agent]}]"
            yield Problem(("ids", index), "agents.ids", says)
            return
        seen[agent] = index

"""Rules that tie several keys together, as functions from plain values to problems.

A value per agent is either one number for all or a tuple with one number each. Of a list with
several bad entries the first is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import TypeAlias

from dwell.errors import arriving

from .problems import Problem, Where, shown
from .values import point_needed, term_needed

Each: TypeAlias = float | tuple[float, ...]
Vector: TypeAlias = tuple[float, ...]

ULPS_PER_TIMER = 16
SAMPLES_AT_MOST = 10_000_000
AGENT_SAMPLES_AT_MOST = 100_000_000
BYTES_PER_AGENT_SAMPLE = 16


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
    """No agent's shortest wait is longer than its longest."""
    for agent in range(common_length(t1, t2) or 0):
        low, high = nth(t1, agent), nth(t2, agent)
        if low > high:
            where: Where = ("t1", agent) if isinstance(t1, tuple) else ("t1",)
            other = f"controller.t2[{agent}]" if isinstance(t2, tuple) else "controller.t2"
            yield Problem(where, "timer.order", f"must be at most {other} = {high!r}, got {low!r}")
            return


def within(where: Where, values: Each | None, t1: Each, t2: Each) -> Iterator[Problem]:
    """Every agent's value, if there is any, lies in its own [t1, t2]."""
    if values is None:
        return
    for agent in range(common_length(values, t1, t2) or 0):
        low, value, high = nth(t1, agent), nth(values, agent), nth(t2, agent)
        if not low <= value <= high:
            at = (*where, agent) if isinstance(values, tuple) else where
            whose = "" if at != where or common_length(t1, t2) == 1 else f" of agent {agent}"
            says = f"must lie between t1 = {low!r} and t2 = {high!r}{whose}, got {value!r}"
            yield Problem(at, "timer.range", says)
            return


def intervals_within(intervals: Sequence[Each], t1: Each, t2: Each) -> Iterator[Problem]:
    """Every interval of a sequence lies in the [t1, t2] of the agent that waits for it."""
    if not any(isinstance(row, tuple) for row in intervals):
        each = (within(("intervals", k), value, t1, t2) for k, value in enumerate(intervals))
    elif common_length(intervals, t1, t2) is not None:
        each = (
            within(("intervals", agent, k), value, nth(t1, agent), nth(t2, agent))
            for agent, row in enumerate(intervals)
            for k, value in enumerate(row if isinstance(row, tuple) else (row,))
        )
    else:
        return
    yield from islice(chain.from_iterable(each), 1)


def one_per_agent(where: Where, values: object, agents: int, later: int) -> Iterator[Problem]:
    """A list has an entry for each agent, those included that arrive later."""
    if isinstance(values, tuple) and len(values) != agents:
        expected = f"one entry per agent, {agents} in all{arriving(later)}"
        yield Problem(where, "scenario.length", f"needs {expected}, got {len(values)}")


def belong(table: object, selector: str, owners: Mapping[str, str], code: str) -> Iterator[Problem]:
    """Keys that go with one choice of another key are not given beside its other choices."""
    chosen = getattr(table, selector)
    for key, owner in owners.items():
        if getattr(table, key) is not None and chosen != owner:
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


def sample_count(sample_every: float, horizon: float, agents: int) -> Iterator[Problem]:
    """Samples are not so dense that they fill the disk."""
    samples = horizon / sample_every
    most = sample_every * min(SAMPLES_AT_MOST, AGENT_SAMPLES_AT_MOST / agents)
    if sample_every * SAMPLES_AT_MOST < horizon:  # a quotient may overflow
        size = samples * agents * BYTES_PER_AGENT_SAMPLE / 1e9
        says = (
            f"must be at least 1e-07 of run.horizon, here {horizon / SAMPLES_AT_MOST:.3g}, "
            f"got {sample_every!r}, which means {samples:.3g} samples or about {size:.3g} GB"
        )
    elif samples * agents > AGENT_SAMPLES_AT_MOST:
        says = (
            f"must be at least {horizon * agents / AGENT_SAMPLES_AT_MOST:.3g} for {agents} agents, "
            f"got {sample_every!r}, which means {samples:.3g} samples of each, together more than "
            f"{AGENT_SAMPLES_AT_MOST:.0e}"
        )
    else:
        return
    says += f"; or take a run.horizon of at most {most:.6g}"
    yield Problem(("run", "record", "sample_every"), "run.samples", says)


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


def point(where: Where, value: Vector | None, n: int) -> Iterator[Problem]:
    """A point has a coordinate for each dimension of the workspace."""
    if value is not None and len(value) != n:
        yield _unlike(where, "scenario.dimension", point_needed(n), value, n)


def points(where: Where, values: Sequence[Vector] | None, n: int) -> Iterator[Problem]:
    """All points of a list have a coordinate for each dimension of the workspace."""
    return _rows(where, values or (), n, n, "scenario.point", point_needed(n))


def terms(rows: Sequence[Vector], n: int) -> Iterator[Problem]:
    """A term of a polynomial has a power for each dimension of the workspace."""
    return _rows(("terms",), rows, n + 1, n, "scenario.term", term_needed(n))


def _rows(
    where: Where, rows: Sequence[Vector], length: int, n: int, ragged: str, needed: str
) -> Iterator[Problem]:
    """The first row of another length; `ragged` is the code if the rows differ in length."""
    index = next((k for k, row in enumerate(rows) if len(row) != length), None)
    if index is not None:
        code = ragged if len({len(row) for row in rows}) > 1 else "scenario.dimension"
        yield _unlike((*where, index), code, needed, rows[index], n)


def _unlike(where: Where, code: str, needed: str, value: Vector, n: int) -> Problem:
    got = shown(value if len(value) > 1 else value[0])  # perhaps written as a number
    return Problem(where, code, f"needs {needed}, {in_workspace(n)}, got {got}")


def matrix(where: Where, rows: Sequence[Vector] | None, n: int) -> Iterator[Problem]:
    """A matrix has a row and a column for each dimension of the workspace."""
    if rows is not None and len(rows) != n:
        says = f"needs {n} by {n} finite numbers, {in_workspace(n)}, got {len(rows)} by {len(rows)}"
        yield Problem(where, "scenario.dimension", says)


def in_workspace(n: int) -> str:
    """The reason why n numbers are needed."""
    return f"as the workspace has {dimensions(n)}"


def dimensions(n: int) -> str:
    """A number of dimensions in words."""
    return f"{n} dimension{'s' * (n != 1)}"

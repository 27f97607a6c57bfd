"""Rules that tie several keys together, as functions from plain values to problems.

A value per agent is either one number for all or a tuple with one number each. Of a list with
several bad entries the first is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def least(values: Each) -> tuple[Where, float]:
    """The smallest value, and the index that it has if the values are a list."""
    if not isinstance(values, tuple):
        return (), values
    index = min(range(len(values)), key=values.__getitem__)
    return (index,), values[index]


def one_per_agent(where: Where, values: object, agents: int, later: int) -> Iterator[Problem]:
    """A list has an entry for each agent, those included that arrive later."""
    if isinstance(values, tuple) and len(values) != agents:
        expected = f"one entry per agent, {agents} in all{arriving(later)}"
        yield Problem(where, "scenario.length", f"needs {expected}, got {len(values)}")


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


def terms(where: Where, rows: Sequence[Vector], n: int) -> Iterator[Problem]:
    """A term of a polynomial has a power for each dimension of the workspace."""
    return _rows(where, rows, n + 1, n, "scenario.term", term_needed(n))


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
    return f"as the workspace has {n} dimension{'' if n == 1 else 's'}"

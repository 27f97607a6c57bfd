"""Positions of agents as arrays; what is none is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dwell._types import Points, as_numbers, in_short, is_masked
from dwell.errors import AgentsError
from dwell.geometry.validation import on_line


def as_positions(positions: object, dimension: int = 2) -> Points:
    """`positions` as an (N, n) array of finite doubles, N >= 1; on a line also plain numbers."""
    points = as_numbers(positions)
    if points is not None and points.size == 0:
        raise AgentsError(
            "there are no agents; at least one position is needed",
            code="agents.empty",
            key="agents.start",
        )
    points = None if points is None else on_line(points, dimension)
    if points is None or points.ndim != 2 or points.shape[1] != dimension:
        fault = _shape_fault(positions, dimension)
        raise AgentsError(fault, code="agents.shape", key="agents.start")
    finite = np.isfinite(points)
    if not finite.all():
        bad = np.flatnonzero(~finite.all(axis=1))
        raise AgentsError(
            f"agent {bad[0]} is at {points[bad[0]].tolist()}; finite coordinates are needed",
            code="agents.nonfinite",
            key=f"agents.start[{bad[0]}]",
        )
    return points


# What a place is called: one, several, and where.
_PLACES = {
    1: ("a number [x]", "numbers [x]", "on a line"),
    2: ("a pair [x, y]", "pairs [x, y]", "in the plane"),
    3: ("a triple [x, y, z]", "triples [x, y, z]", "in space"),
}


def _shape_fault(positions: object, dimension: int) -> str:
    usual = (f"{dimension} numbers", f"lists of {dimension} numbers", f"in {dimension} dimensions")
    one, several, where = _PLACES.get(dimension, usual)
    if is_masked(positions):
        return "some of the agents' positions are masked; give those without a mask"
    rows: Sequence[Any] = list(positions) if isinstance(positions, (list, tuple)) else []
    for k, row in enumerate(rows):
        if not (hasattr(row, "__len__") and len(row) == dimension):
            return f"agent {k} is {in_short(row)}; {one} is needed {where}"
    shape = getattr(positions, "shape", None)
    came = f"an array of shape {shape}" if shape is not None else in_short(positions, 60)
    return (
        f"the agents' positions are {came}; a list of {several}, shape (N, {dimension}), is needed"
    )

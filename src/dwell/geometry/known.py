"""What an agent knows of itself and of the others, as checked numbers: for guaranteed cells."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points, as_numbers, finite_numbers
from dwell.errors import AgentsError
from dwell.geometry.validation import read_only

BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell


def as_place(value: object, name: str, dimension: int) -> Points:
    """`value` as a point, read-only."""
    place = as_numbers(value)
    if place is not None and dimension == 1 and place.ndim == 0:
        place = place.reshape(1)
    if place is None or place.shape != (dimension,) or not np.isfinite(place).all():
        shown = {2: " [x, y]", 3: " [x, y, z]"}.get(dimension, "")
        be = "is" if dimension == 1 else "are"
        raise AgentsError(
            f"{name} is at {value!r}; {finite_numbers(dimension)}{shown} {be} needed",
            code="agents.shape",
            key="position",
        )
    return read_only(place)


def as_others(value: object, dimension: int) -> Points:
    """`value` as (k, n) points, read-only; k may be 0."""
    points = as_numbers(value)
    if points is not None and points.size == 0:
        return read_only(np.empty((0, dimension)))
    if points is not None and dimension == 1 and points.ndim == 1:
        points = points[:, None]
    shaped = points is not None and points.ndim == 2 and points.shape[1] == dimension
    if points is None or not shaped or not np.isfinite(points).all():
        need = "pairs [x, y]" if dimension == 2 else f"points with {dimension} coordinates"
        raise AgentsError(
            f"the other agents are at {value!r}; a list of {need} of finite numbers, shape "
            f"(n, {dimension}), is needed",
            code="agents.shape",
            key="others",
        )
    return read_only(np.ascontiguousarray(points))


def as_radii(value: object, count: int) -> Floats:
    """`value` as one radius per other agent, read-only."""
    radii = as_numbers(value)
    if radii is not None and radii.ndim == 0:
        radii = np.full(count, radii)
    fits = radii is not None and radii.shape == (count,)
    if radii is None or not fits or not np.isfinite(radii).all() or (radii < 0.0).any():
        raise AgentsError(
            f"the radii are {value!r}; one number that is not negative, or {count} of them, one "
            "per other agent, is needed",
            code="agents.radii",
            key="radii",
        )
    return read_only(radii)


def refuse_outside(place: Points, distance: float, size: float) -> None:
    """Refuse an agent this far outside a workspace of this size."""
    if distance > BEYOND * size:
        raise AgentsError(
            f"the agent at {place.tolist()} is {distance:.3g} outside the workspace; a guaranteed "
            "cell needs its agent inside",
            code="agents.outside",
            key="position",
        )

"""The backends that construct, measure and bound Voronoi cells, one for each kind of workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells import cones, interval, polygon, polyhedron, simplices
from dwell.cells.facets import Borders
from dwell.cells.measurement import CellMeasurements, in_one
from dwell.cells.ranges import refuse_ground, wide_radius
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density.base import Density
from dwell.geometry import VoronoiCell, Workspace, is_flat, polyhedra


class CellBackend(NamedTuple):
    """Three functions of one kind of workspace."""

    measure: Callable[..., CellMeasurements]  # (ground, positions, row, agent, threads=): moments
    cells: Callable[..., Sequence[VoronoiCell]]  # (workspace, positions, agents)
    facets: Callable[..., Borders]  # (ground, positions, agents=): moments over shared facets


CONES = CellBackend(cones.measure, cones.cells, cones.borders)
INTERVAL = CellBackend(interval.measure, interval.cells, interval.borders)
POLYGON = CellBackend(polygon.measure, polygon.cells, polygon.borders)
POLYHEDRON = CellBackend(polyhedron.measure, polyhedra.cells, polyhedron.borders)
SIMPLICES = CellBackend(simplices.measure, simplices.cells, simplices.borders)
TRIANGLES = CellBackend(simplices.measure, polygon.cells, simplices.borders)


def backend_for(ground: WeightedRegion) -> CellBackend:
    """Return the backend for a workspace and its density."""
    n = ground.dimension
    if n > 1 and not is_flat(ground.workspace):
        return CONES
    if n == 1:
        return INTERVAL
    if n == 2:
        return TRIANGLES if ground.terms is None else POLYGON
    return SIMPLICES if n > 3 or ground.terms is None else POLYHEDRON


def is_expensive(ground: WeightedRegion) -> bool:
    """Whether measuring a cell takes tens of milliseconds or more."""
    return ground.dimension > 3 or (ground.dimension == 3 and ground.terms is None)


def measure_cells(
    ground: WeightedRegion,
    positions: Points,
    row: Ints,
    agent: Ints,
    *,
    threads: int | None = 1,
    times: Floats | None = None,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> CellMeasurements:
    """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

    The result has the same bits for any number of threads. `times`, (rows,), are when the
    configurations are assumed, for regions that change; time 0 by default. With the `radius` of
    each agent, (N,), cells are power cells with their squares as weights, and end at discs about
    the agents; with `weights`, (N,), they are power cells.
    """
    given: dict[str, Any] = {"threads": threads}
    limited = radius is not None or weights is not None
    if limited:
        refuse_ground(ground.at(0.0), radius)
        given |= {"radius": radius, "weights": weights}
    if not ground.moves:
        return backend_for(ground).measure(ground, positions, row, agent, **given)
    when = np.zeros(len(positions)) if times is None else times
    if ground.tracked and (not limited or wide_radius(radius, ground.workspace) is not None):
        return polygon.measure(ground, positions, row, agent, times=when, **given)
    parts = []
    for t in np.unique(when[row]):
        which = np.flatnonzero(when[row] == t)
        now = ground.at(float(t))
        found = backend_for(now).measure(now, positions, row[which], agent[which], **given)
        parts.append((which, found))
    return in_one(parts, len(row), ground.dimension)


@lru_cache(maxsize=16)
def total_mass(ground: WeightedRegion) -> float:
    """The mass of the workspace: that of the cell of an agent that is alone in it."""
    lower, upper = ground.workspace.bounds
    middle = ground.workspace.nearest((lower + 0.5 * (upper - lower))[None])
    only = np.zeros(1, dtype=np.int64)
    found = measure_cells(ground, middle[None], only, only)
    return float(found.mass[0] * np.exp(found.log_scale[0]))


def borders(
    workspace: Workspace,
    positions: Points,
    density: Density,
    *,
    agents: int | None = None,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Borders:
    """Integrate over all facets between the cells of `positions`, or of the first `agents`.

    With radii also over arcs: see `measure_cells`.
    """
    ground = weighted_region(workspace, density)
    facets = backend_for(ground).facets
    if radius is None and weights is None:
        return facets(ground, positions, agents=agents)
    refuse_ground(ground, radius)
    return facets(ground, positions, agents=agents, radius=radius, weights=weights)

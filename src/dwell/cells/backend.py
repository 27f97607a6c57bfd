"""The backends that construct, measure and bound Voronoi cells, one for each kind of workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells import cones, interval, polygon, polyhedron, simplices
from dwell.cells.border_integrals import IN_PLANE, ON_LINE, BorderIntegrals
from dwell.cells.facets import Borders
from dwell.cells.guaranteed import (
    CellPair,
    Scanned,
    pair_in_polygon,
    pair_in_region,
    pair_of_functions,
    pair_on_line,
    scan_in_polygon,
)
from dwell.cells.measurement import (
    CellMeasurement,
    CellMeasurements,
    Loop,
    cell_in_row,
    in_one,
    of_one,
)
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density.base import Density
from dwell.geometry import VoronoiCell, Workspace, is_flat, polyhedra


class CellBackend(NamedTuple):
    """What one kind of workspace and density offers."""

    measure: Callable[..., CellMeasurements]  # (ground, positions, row, agent, threads=): moments
    cells: Callable[..., Sequence[VoronoiCell]]  # (workspace, positions, agents)
    facets: Callable[..., Borders]  # (ground, positions, agents=): moments over shared facets
    pair: Callable[..., CellPair | None]  # (ground, position, places, radii): guaranteed cells
    loop: Callable[..., Loop] | None = None  # for agents that move: compiled events
    scan: Callable[..., Scanned] | None = None  # of a trigger over guaranteed cells, compiled
    border: BorderIntegrals | None = None  # of single cells, for the rates of centroids
    exact: bool = False  # whether moments are known to rounding
    # (ground, positions, agent, t): the row of one cell in the table that `measure` reads
    row: Callable[..., Floats] | None = None
    with_radii: bool = False  # whether that loop knows sensing radii
    local: bool = False  # whether the bits of a cell depend on its Voronoi neighbours alone
    expensive: bool = False  # whether measuring a cell takes tens of milliseconds or more


INTERVAL = CellBackend(
    interval.measure, interval.cells, interval.borders, pair_on_line, interval.loop,
    border=ON_LINE, exact=True, local=True,
)  # fmt: skip
POLYGON = CellBackend(
    polygon.measure, polygon.cells, polygon.borders, pair_in_polygon, polygon.loop,
    scan=scan_in_polygon, border=IN_PLANE, row=polygon.row_of,
    exact=True, with_radii=True, local=True,
)  # fmt: skip
POLYHEDRON = CellBackend(
    polyhedron.measure, polyhedra.cells, polyhedron.borders, pair_in_region, polyhedron.loop
)
CONES = CellBackend(cones.measure, cones.cells, cones.borders, pair_in_region)
RAYS = CONES._replace(pair=pair_of_functions, expensive=True)
SIMPLICES = CellBackend(
    simplices.measure, simplices.cells, simplices.borders, pair_of_functions, expensive=True
)

# By dimension; others have simplices or rays.
FLAT = {1: INTERVAL, 2: POLYGON, 3: POLYHEDRON}
CURVED = {2: CONES._replace(exact=True, local=True), 3: CONES}
# The same for densities that only Python can evaluate.
FLAT_OF_FUNCTIONS = {
    1: INTERVAL._replace(pair=pair_of_functions, loop=None, exact=False),
    2: SIMPLICES._replace(cells=polygon.cells, border=IN_PLANE, local=True, expensive=False),
    3: SIMPLICES._replace(cells=polyhedra.cells),
}
CURVED_OF_FUNCTIONS = {
    2: CONES._replace(pair=pair_of_functions, local=True),
    3: CONES._replace(pair=pair_of_functions, expensive=True),
}


def backend_for(ground: WeightedRegion) -> CellBackend:
    """Return the backend for a workspace and its density."""
    return ground.once(_backend_of)


def _backend_of(ground: WeightedRegion) -> CellBackend:
    known = ground.terms is not None
    if is_flat(ground.hull):
        return (FLAT if known else FLAT_OF_FUNCTIONS).get(ground.dimension, SIMPLICES)
    return (CURVED if known else CURVED_OF_FUNCTIONS).get(ground.dimension, RAYS)


def is_expensive(ground: WeightedRegion) -> bool:
    """Whether measuring a cell takes tens of milliseconds or more."""
    return backend_for(ground).expensive


def cells_of(
    workspace: Workspace,
    positions: Points,
    agents: Sequence[int] | None = None,
    *,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Sequence[VoronoiCell]:
    """Return the cells of `agents` (all, by default) among `positions`, (N, n).

    With radii or weights power cells: see `measure_cells`.
    """
    kinds, other = (FLAT, SIMPLICES) if is_flat(workspace.hull) else (CURVED, RAYS)
    build = kinds.get(workspace.dimension, other).cells
    if radius is None and weights is None:
        return build(workspace, positions, agents)
    return build(workspace, positions, agents, radius=radius, weights=weights)


def pair_of(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Return both cells of the agent at `position`; None if nothing is known.

    The others are within radii[j] of places[j]. Nothing is known when another agent may stand at
    the same place, when the guaranteed cell weighs nothing, or outside the workspace.
    """
    return backend_for(ground).pair(ground, position, places, radii)


def measure_one(
    ground: WeightedRegion,
    positions: Points,
    agents: Ints | None = None,
    t: float = 0.0,
    *,
    threads: int | None = 1,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> CellMeasurements:
    """Measure the cells of `agents` (all, by default) in one configuration, (N, n), at time t."""
    who, times = np.arange(len(positions)) if agents is None else agents, np.array([t])
    given: dict[str, Any] = {"threads": threads, "radius": radius, "weights": weights}
    return measure_cells(ground, *of_one(positions, who), times=times, **given)


def measure_cell(
    ground: WeightedRegion, positions: Points, agent: int, t: float
) -> CellMeasurement | None:
    """Measure one cell among `positions`, (N, n), at time t: the bits of `measure_one`, sooner.

    None where another agent is at the same position.
    """
    now = ground if ground.tracked else ground.at(t)
    find = backend_for(now).row
    if find is None:
        return measure_one(now, positions, np.array([agent]), t).cell(0, agent)
    return cell_in_row(find(now, positions, agent, t), agent, positions.shape[1])


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
    members: Ints | None = None,
) -> CellMeasurements:
    """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

    The result has the same bits for any number of threads. `times`, (rows,), are when the
    configurations are assumed, for regions that change; time 0 by default. With the `radius` of
    each agent, (N,), cells are power cells with their squares as weights, and end at discs about
    the agents; with `weights`, (N,), they are power cells. The cells of `members`, ascending (all,
    by default), divide the region; others have none.
    """
    given: dict[str, Any] = {"threads": threads}
    if radius is not None or weights is not None:
        given |= {"radius": radius, "weights": weights}
    if members is not None:
        return _of_members(ground, members, positions, row, agent, times=times, **given)
    if not ground.moves:
        return backend_for(ground).measure(ground, positions, row, agent, **given)
    when = np.zeros(len(positions)) if times is None else times
    if ground.tracked:
        return polygon.measure(ground, positions, row, agent, times=when, **given)
    parts = []
    for t in np.unique(when[row]):
        which = np.flatnonzero(when[row] == t)
        now = ground.at(float(t))
        seen = backend_for(now).measure(now, positions, row[which], agent[which], **given)
        parts.append((which, seen))
    return in_one(parts, len(row), ground.dimension)


def _of_members(
    ground: WeightedRegion, members: Ints, positions: Points, row: Ints, agent: Ints, **given: Any
) -> CellMeasurements:
    """Measure cells among some agents; others have none."""
    number = np.full(positions.shape[1], -1)
    number[members] = np.arange(len(members))
    here = np.flatnonzero(number[agent] >= 0)
    for name in ("radius", "weights"):
        if given.get(name) is not None:
            given[name] = given[name][members]
    among = np.ascontiguousarray(positions[:, members])
    seen = measure_cells(ground, among, row[here], number[agent[here]], **given)
    return in_one([(here, seen)], len(agent), ground.dimension)


def total_mass(ground: WeightedRegion) -> float:
    """The mass of the workspace: that of the cell of an agent that is alone in it."""
    return ground.once(_mass_of_only_cell)


def _mass_of_only_cell(ground: WeightedRegion) -> float:
    lower, upper = ground.workspace.bounds
    middle = ground.workspace.nearest((lower + 0.5 * (upper - lower))[None])
    found = measure_one(ground, middle)
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
    return facets(ground, positions, agents=agents, radius=radius, weights=weights)

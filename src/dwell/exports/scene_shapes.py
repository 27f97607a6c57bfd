"""Cells and workspaces at one time as rings, for programs that draw lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents import CoverageSystem
from dwell.cells.backend import is_expensive
from dwell.cells.tessellation import Tessellation, tessellate
from dwell.errors import AgentsError
from dwell.geometry import Curved, VoronoiCell, Workspace
from dwell.geometry.outlines import PER_TURN, boundary_rings, on_ellipsoid
from dwell.plotting.scene import solid_cells
from dwell.sites.outlines import rings_of, shape_of, shapely

CHORDS = 120  # of a circle in a scene
BAND = 0.02  # of the length of an interval: half the width at which it is drawn
CIRCLES = np.array([(0, 1), (1, 2), (2, 0)])  # axes whose planes cut an ellipsoid


class SensorCells(NamedTuple):
    """The cells of the agents with one sensor."""

    sensor: str  # its name; empty where all agents sense the same
    agents: Ints
    cells: Tessellation
    weighed: bool  # whether masses and centroids are those of the density


def cells_at(
    system: CoverageSystem,
    t: float,
    positions: Points,
    known: np.ndarray | None = None,
    *,
    quick: bool = False,
) -> Iterator[SensorCells]:
    """The cells of the agents present at time t, by sensor.

    A sensor is left out where two of its agents coincide, or none of them is known. `known` says of
    each agent whether it counts. With `quick`, densities that take long to integrate are left out.
    """
    world, radii = system.world_at(t), system.radii
    for k, diagram in enumerate(world.diagrams):
        agents = world.agents_among(positions) if diagram.members is None else diagram.members
        agents = agents if known is None else agents[known[agents]]
        ground = diagram.ground.at(t)
        weighed = not (quick and is_expensive(ground))
        radius = None if radii is None else radii[agents]
        name = system.sensors[k].name if system.sensors else ""
        density = ground.density if weighed else None
        try:
            cells = tessellate(ground.workspace, positions[agents], density, radius=radius)
        except AgentsError:  # two coincide, or none is there
            continue
        yield SensorCells(name, agents, cells, weighed)


def cell_ring(cells: Tessellation, cell: VoronoiCell, per_turn: int = PER_TURN) -> Points:
    """The boundary of a planar cell, (k, 2), with circles by chords."""
    own: Any = cell
    curved = isinstance(cells.workspace, Curved) or cells.radius is not None
    ring: Points = own.outline(per_turn) if curved else own.vertices
    return ring


def rings_of_cells(cells: Tessellation) -> list[Points]:
    """The boundaries of all cells as closed rings: bands on the line, faces in space."""
    workspace = cells.workspace
    if workspace.dimension == 3:
        solid = solid_cells(workspace, cells.positions) or []
        return [face.ring for faces in solid for face in faces if not face.smooth]
    every = [cell for cell in cells.cells if not cell.empty]
    if workspace.dimension == 1:
        return [_band(cell.vertices[:, 0], workspace) for cell in every]
    found = [cell_ring(cells, cell, CHORDS) for cell in every]
    if workspace.mask is None:
        return found
    lib = shapely()
    shapes = lib.intersection([lib.Polygon(ring) for ring in found], shape_of(workspace))
    parts = [part for part in lib.get_parts(shapes) if part.geom_type == "Polygon"]
    return [np.array(ring.coords)[:-1] for part in parts for ring in rings_of(part)]


def rings_of_workspace(workspace: Workspace) -> list[Points]:
    """The boundary of a workspace as closed rings: one with its holes, a band, or faces."""
    if workspace.dimension == 1:
        return [_band(np.concatenate(workspace.bounds), workspace)]
    if workspace.dimension == 2:
        step = PER_TURN // CHORDS if isinstance(workspace, Curved) else 1
        return [ring[::step] for ring in boundary_rings(workspace)]
    solid = workspace.hull
    if not isinstance(solid, Curved):
        return [solid.vertices[face] for face in solid.faces]
    angle = np.linspace(0.0, 2.0 * np.pi, CHORDS, endpoint=False)
    circles = np.zeros((len(CIRCLES), CHORDS, 3))
    for circle, axes in zip(circles, CIRCLES, strict=True):
        circle[:, axes] = np.column_stack([np.cos(angle), np.sin(angle)])
    return [on_ellipsoid(solid, circle) for circle in circles]


def _band(ends: Floats, workspace: Workspace) -> Points:
    """An interval as a rectangle in the plane, along the first axis."""
    (lower, upper), y = ends, BAND * workspace.diameter
    return np.array([(lower, -y), (upper, -y), (upper, y), (lower, y)])

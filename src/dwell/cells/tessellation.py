"""All cells at once, with what they weigh."""

from __future__ import annotations

import gc
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from importlib import import_module
from itertools import pairwise
from typing import Any, final

import numpy as np

from dwell._checks import check_agent
from dwell._compatibility import Need, refuse
from dwell._tables import beside, by_axis, text_table
from dwell._types import Floats, Ints, Points, counted, lengths
from dwell.cells.backend import cells_of, measure_one, total_mass
from dwell.cells.features import features_of
from dwell.cells.measurement import CellMeasurements
from dwell.cells.polygon import measure_thoroughly
from dwell.cells.positions import as_positions
from dwell.cells.ranges import as_radii, as_weights, limited_cost, reaches_all, refuse_scale
from dwell.cells.small_map import small_map
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density.base import Density, as_density
from dwell.density.support import (
    check_density,
    rounding_of,
    rounding_of_edges,
    rounding_of_sides,
)
from dwell.density.uniform import Uniform
from dwell.errors import AgentsError, WorkspaceError
from dwell.geometry import VoronoiCell, Workspace, as_workspace, is_planar, words_of
from dwell.geometry.voronoi import first_coincidence

MOST_LISTED = 20  # cells that are printed
SHORTEST_EDGE = 1e-12  # of the workspace's diameter: below, cells meet in a point, not an edge


@final
@dataclass(frozen=True, eq=False)
class Tessellation:
    """The Voronoi cells of positions in a workspace, with one row per agent; `tessellate` makes it.

    Attributes
    ----------
    workspace : workspace
        The region.
    positions : ndarray
        Positions of the agents, (N, n).
    masses, log_masses : ndarray
        Integrals of the density over the cells, and their logarithms, (N,).
    errors : ndarray
        Centroids minus positions, (N, n).
    mass_errors : ndarray
        Relative errors of the masses, (N,).
    second_moments : ndarray
        About the centroids, so that ``costs == second_moments + masses * |errors|**2``.
    radius, weights : ndarray or None
        Sensing radii or power weights of the agents, (N,).

    Examples
    --------
    >>> import dwell
    >>> cells = dwell.tessellate(dwell.Interval(0, 1), [0.25, 0.75])
    >>> cells.centroids.ravel().tolist(), round(48 * cells.cost, 12)
    ([0.25, 0.75], 1.0)
    """

    workspace: Workspace
    positions: Points  # (N, n)
    masses: Floats  # (N,); 0 below the smallest double, see log_masses
    log_masses: Floats  # (N,)
    errors: Points  # (N, n): centroid minus position, taken in the agent's own frame
    mass_errors: Floats  # (N,) bound on the masses' relative errors; 0: rounding only, 1e-13 at
    # most; inf where the mass of a cell came out as 0
    _ground: WeightedRegion = field(repr=False)
    _second: Floats | None = field(default=None, repr=False)  # where it came along
    radius: Floats | None = None  # (N,)
    weights: Floats | None = None  # (N,)

    def __repr__(self) -> str:
        n = self.workspace.dimension
        return f"<Tessellation: {len(self.positions)} cells in {counted(n, 'dimension')}>"

    def __str__(self) -> str:
        own = {"mass": self.masses, "error": lengths(self.errors)}
        columns = by_axis("", self.positions) | own
        count = min(MOST_LISTED, len(self.positions))
        rows = [[f"{k}", *(f"{v[k]:.6g}" for v in columns.values())] for k in range(count)]
        more = len(self.positions) - count
        lines = [text_table(rows, ["agent", *columns]), f"... and {more} more" if more else ""]
        return "\n".join([*filter(None, lines), f"{self!r}, cost {self.cost:.7g}"])

    def _repr_html_(self) -> str:
        drawn = small_map(self.workspace, self.positions, radius=self.radius, weights=self.weights)
        return beside(drawn, f"<pre>{escape(str(self))}</pre>")

    def plot(self) -> Any:
        """Draw the cells and the agents, over the density unless it is uniform.

        Returns
        -------
        matplotlib.figure.Figure
        """
        # By name: plotting is a higher layer, loaded only when it is used.
        drawing = import_module("dwell.plotting.figures")
        return drawing.deployment(
            self.workspace, self._ground.density, self.positions, self.cost, **self._power
        )

    @property
    def centroids(self) -> Points:
        """Centroid of each cell, (N, n).

        For an empty cell the nearest point of the workspace; with radii, the agent's position.
        """
        return self.positions + self.errors

    @cached_property
    def second_moments(self) -> Floats:
        """Integral of |z - centroid|**2 over each cell, (N,)."""
        if self._second is not None:
            return self._second
        found = measure_thoroughly(self._ground, self.positions, threads=None)  # of polygons only
        return _about_centroids(found)

    @cached_property
    def costs(self) -> Floats:
        """Each agent's share of the cost: the integral of |z - position|**2 over its cell."""
        costs: Floats = self.second_moments + self.masses * (self.errors**2).sum(axis=1)
        return costs

    @property
    def cost(self) -> float:
        """Locational cost: the integral of the squared distance to the nearest agent.

        With radii r and R the largest of them, that of the least of R**2 and, over all agents,
        distance**2 + R**2 - r**2; with weights, the sum of `costs`.
        """
        if self.radius is None:
            return math.fsum(self.costs)
        whole = reaches_all(self.workspace, self.positions, self.radius)
        total = math.inf if whole else total_mass(self._ground)
        return limited_cost(self.costs, self.masses, self.radius, total)

    @cached_property
    def cells(self) -> Sequence[VoronoiCell]:
        """Every cell; a cell that ends at a circle has `arcs` and an `outline`."""
        return self._cells(None)

    def cell(self, i: int) -> VoronoiCell:
        """The cell of agent i."""
        check_agent(i, len(self.positions))
        return self._cells([i])[0]

    def _cells(self, agents: Sequence[int] | None) -> Sequence[VoronoiCell]:
        return cells_of(self.workspace, self.positions, agents, **self._power)

    @property
    def _power(self) -> dict[str, Floats | None]:
        return {"radius": self.radius, "weights": self.weights}

    @cached_property
    def neighbors(self) -> list[list[int]]:
        """For each agent, ascending, the agents whose cells share an edge (in space, a face).

        Both cells must see it, with a positive size, so the relation is symmetric.
        """
        agent, behind, sizes = edges_of(self.cells)
        real = (sizes > SHORTEST_EDGE * self.workspace.diameter) & (behind >= 0)
        p, q, count = agent[real], behind[real], len(self.positions)
        there, back = np.sort(p * count + q), np.sort(q * count + p)
        if not np.array_equal(there, back):
            there = np.intersect1d(there, back)
        return _lists_of(there[np.diff(there, prepend=-1) > 0], count)

    @cached_property
    def touching(self) -> list[list[int]]:
        """Like `neighbors`, but cells that meet in a single point count too.

        With radii or weights they are the neighbours.
        """
        from scipy.spatial import KDTree

        if self.radius is not None or self.weights is not None:
            return self.neighbors
        reach, count = SHORTEST_EDGE * self.workspace.diameter, len(self.positions)
        tree = KDTree(self.positions)
        pairs = {p * count + q for p, near in enumerate(self.neighbors) for q in near}
        for p, cell in enumerate(self.cells):
            around = tree.query_ball_point(
                cell.position + cell.offsets, lengths(cell.offsets) + reach
            )
            for q in {q for found in around for q in found if q != p}:
                pairs |= {p * count + q, q * count + p}
        return _lists_of(np.array(sorted(pairs), dtype=np.int64), count)

    def shared_edge(self, p: int, q: int) -> Points | None:
        """The edge between the cells of p and q, (2, 2); the same bits for (q, p).

        In other dimensions cells share points or faces: see `cell(p)` and its `borders`.
        """
        if not is_planar(self.workspace):
            raise WorkspaceError(
                f"cells in {self.workspace.dimension} dimensions share no edges; ask cell(p) for "
                "its borders",
                code="geometry.edge",
            )
        for agent in (p, q):
            check_agent(agent, len(self.positions))
        if q not in self.neighbors[p]:
            return None
        first = min((p, q), key=lambda i: tuple(self.positions[i]))
        return self.cells[first].edge_with(q if first == p else p)


def edges_of(cells: Sequence[VoronoiCell]) -> tuple[Ints, Ints, Floats]:
    """Whose, towards whom and how large the borders of all cells are."""
    flat = getattr(cells, "ends", None)
    if flat is not None:  # cells in the plane are flat arrays already
        known: Any = cells
        return known.agent, known.behind, lengths(flat - known.vertices)
    agent = np.repeat(np.arange(len(cells)), [len(cell.borders) for cell in cells])
    behind = np.concatenate([cell.borders for cell in cells])
    return agent, behind, np.concatenate([cell.border_sizes for cell in cells])


def _lists_of(pairs: Ints, count: int) -> list[list[int]]:
    """For each p, ascending, the q of ascending numbers p * count + q."""
    columns = (pairs % count).tolist()
    bounds = np.searchsorted(pairs, count * np.arange(count + 1)).tolist()
    collecting = gc.isenabled()
    gc.disable()  # many lists at once, none of them part of a cycle
    try:
        return [columns[a:b] for a, b in pairwise(bounds)]
    finally:
        if collecting:
            gc.enable()


def tessellate(
    workspace: Workspace,
    positions: object,
    density: Density | object = None,
    radius: object = None,
    weights: object = None,
) -> Tessellation:
    """The Voronoi cells of positions in a workspace, or their power cells.

    With radii or weights the workspace is an interval or a flat-sided region of the plane.

    Parameters
    ----------
    workspace : workspace
        The region.
    positions : array_like
        Positions of the agents, (N, n), all different.
    density : density or callable, optional
        The weight of points; uniform by default.
    radius : float or array_like, optional
        Sensing radius of all agents, or of each. Cells are power cells with the squares of the
        radii as weights, and end at circles about the agents.
    weights : array_like, optional
        Power weight w of each agent: its cell holds the points at which distance**2 - w is least.

    Returns
    -------
    Tessellation
        Masses, centroids, errors, second moments, cells and neighbours, one row per agent.

    Examples
    --------
    >>> import dwell
    >>> cells = dwell.tessellate(dwell.Box((0, 0), (1, 1)), [(0.25, 0.5), (0.75, 0.5)])
    >>> cells.masses.tolist(), cells.neighbors
    ([0.5, 0.5], [[1], [0]])
    >>> line = dwell.Interval(0, 1)
    >>> dwell.tessellate(line, [0.25, 0.75], radius=0.125).masses.round(12).tolist()
    [0.25, 0.25]
    """
    weight = Uniform() if density is None else as_density(density)
    workspace = as_workspace(workspace)
    check_density(weight, workspace)
    points = as_positions(positions, workspace.dimension)
    count = len(points)
    if radius is not None and weights is not None:
        raise AgentsError(
            "both radius and weights came; the squares of the radii are the weights: leave one out",
            code="agents.weights",
            key="weights",
        )
    radii = None if radius is None else np.array(as_radii(radius, count))
    power = None if weights is None else as_weights(weights, count)
    ground = weighted_region(workspace, weight)
    if radii is not None:
        refuse(Need.RADIUS, features_of(ground), **words_of(workspace))
        refuse_scale(radii, workspace)
    if power is not None:
        refuse(Need.WEIGHTS, features_of(ground), **words_of(workspace))
    return tessellation_of(ground, points, radii, power)


def tessellation_of(
    ground: WeightedRegion,
    points: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Tessellation:
    """Tessellate positions, radii and weights that have been validated."""
    seen = measure_one(ground, points, threads=None, radius=radius, weights=weights)
    if seen.second is None and not (radius is None and weights is None):
        second = seen.polar - seen.mass * (seen.error**2).sum(axis=1)
        seen = replace(seen, second=np.maximum(second, 0.0))
    if seen.coincident.any():
        raise first_coincidence(points)
    with np.errstate(divide="ignore"):
        log_mass = np.log(seen.mass) + seen.log_scale
    return Tessellation(
        workspace=ground.workspace,
        positions=points,
        masses=seen.mass * np.exp(seen.log_scale),
        log_masses=log_mass,
        errors=seen.error,
        mass_errors=_mass_errors(ground, points, seen, log_mass, weights),
        _ground=ground,
        _second=None if seen.second is None else _about_centroids(seen),
        radius=radius,
        weights=weights,
    )


def _mass_errors(
    ground: WeightedRegion,
    points: Points,
    seen: CellMeasurements,
    log_masses: Floats,
    weights: Floats | None,
) -> Floats:
    """Bounds on relative errors; none at all where a cell that is not empty weighs nothing."""
    known = ~seen.empty
    is_region = (seen.neighbors > 0) | (len(points) == 1)
    errors = np.where(is_region, np.inf, 0.0)
    errors[known] = rounding_of(ground.density, ground.workspace, points[known], log_masses[known])
    if getattr(ground.terms, "raster", None) is not None:
        errors[known] = np.maximum(errors, _of_slender_cells(ground, points, weights))[known]
    if ground.mask is not None:
        with np.errstate(invalid="ignore"):
            spreads = np.sqrt(seen.polar[known] / seen.mass[known])
        middle = points[known] + seen.error[known]
        share = rounding_of_edges(ground.density, ground.mask, middle, log_masses[known], spreads)
        errors[known] = np.maximum(errors[known], share)
    return errors if seen.doubt is None else np.maximum(errors, seen.doubt)


def _of_slender_cells(ground: WeightedRegion, points: Points, weights: Floats | None) -> Floats:
    """What rounding of their sides, in pixels, changes in the areas of cells over a raster."""
    even = weighted_region(ground.workspace, Uniform())
    seen = measure_one(even, points, threads=None, weights=weights)
    squares = seen.polar / np.where(seen.empty, 1.0, seen.mass)
    return rounding_of_sides(ground.density, seen.mass, squares)


def _about_centroids(seen: CellMeasurements) -> Floats:
    """Second moments about the centroids, of measurements that include them."""
    assert seen.second is not None
    return np.where(seen.empty, 0.0, seen.second) * np.exp(seen.log_scale)

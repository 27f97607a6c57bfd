"""Centroids of Voronoi cells in up to three dimensions, without the kernels that compute them.

Cells and integrals are those of cells in four dimensions and more: Qhull gives the vertices,
simplices from a point well inside are halved until two rules agree. In a disc or an ellipse the
simplices are those of the cell in a rectangle around it, scaled along rays to where the boundary
is. In a region that is not convex they are triangles from an inner point of the cell to all edges
of the region, cut by the cell; those that lead clockwise count negatively.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from dwell._compatibility import Feature
from dwell._types import Floats, Points, lengths
from dwell.cells.adaptive import Values, by_rule, conical, halved_simplices, volumes
from dwell.density import Density, Gaussian, Mixture, Raster
from dwell.errors import AgentsError, WorkspaceError
from dwell.geometry import Box, Convex, Interval, Workspace, is_flat, polygon_of, shape_of
from dwell.geometry.halfspace_cells import cell_pieces
from dwell.geometry.halfspaces import inscribed
from dwell.verify.reference_raster import raster_reference
from dwell.verify.reference_region import confined, outlines

DEGREES = {1: (31, 47), 2: (21, 31), 3: (15, 23)}  # of two rules, by dimension
WIDTHS = 4.0  # of a Gaussian: how large simplices at its center may be to begin with
SETTLED = 1e-11  # of the cell's size: by how much two rules may differ on one simplex
MOST = {1: 83_000, 2: 7_800, 3: 1_150}  # simplices, beyond which a cell counts as too hard
LIGHTEST = 1e-290  # mass below which digits are missing
# Width over length of a cell whose corners are sure: where planes meet in one point, of a cell some
# 1e8 times longer than wide a corner may be missing (Qhull cannot tell its dual points apart).
THINNEST = 1e-6
MOST_EDGES = 300  # of a region that is not convex
SIDES = 64  # of the polygon in an ellipse in which an inner point is sought


def is_known(workspace: Workspace) -> bool:
    """Whether there is a reference for cells of this workspace."""
    mask = workspace.mask
    if mask is not None and not mask.stay:
        return sum(map(len, mask.rings)) <= MOST_EDGES
    shape = shape_of(workspace)
    return Feature.HIGH not in shape and not {Feature.SPACE, Feature.CURVED} <= shape


def reference_centroid(
    workspace: Workspace, positions: Points, agent: int, density: Density
) -> Points | None:
    """Centroid of `agent`'s cell relative to the agent; None if there is no reference."""
    found = reference_moments(workspace, positions, agent, density)
    return None if found is None else found[1]


def reference_moments(
    workspace: Workspace, positions: Points, agent: int, density: Density
) -> tuple[float, Points] | None:
    """Mass of `agent`'s cell, and its centroid relative to the agent.

    None if there is no reference: the cell is empty, its mass below the range of doubles, or the
    density too rough to be integrated in a reasonable time.
    """
    if not is_known(workspace):
        return None
    try:
        cell = _cell(workspace.hull, positions, agent)
    except (AgentsError, WorkspaceError):  # two agents at one place, or too thin to have corners
        return None
    if cell is None:
        return None
    place = positions[agent] + cell.inner
    parts = density.parts if isinstance(density, Mixture) else (density,)
    rasters = [part for part in parts if isinstance(part, Raster)]
    smooth = tuple(part for part in parts if not isinstance(part, Raster))
    rings = () if workspace.mask is None else workspace.mask.rings
    local = [ring - positions[agent] - cell.inner for ring in rings]
    moments = [_smooth_moments(cell, positions[agent], Mixture(smooth), local)] if smooth else []
    if rasters:
        for raster, outline in product(rasters, outlines(cell.vertices, local)):
            moments.append(raster_reference(raster, place, outline))
    mass, first = 0.0, np.zeros(workspace.dimension)
    for found in moments:
        if found is None:
            return None
        mass, first = mass + found[0], first + found[1]
    return (mass, cell.inner + first / mass) if mass > LIGHTEST else None


class _DividedCell(NamedTuple):
    """A cell, or the flat-sided one around it, about an inner point."""

    inner: Points  # the inner point relative to the agent
    vertices: Points  # relative to the inner point
    simplices: Floats  # (K, n + 1, n), relative to the inner point
    boundary: Callable[[Points], Floats]  # by which share positions are scaled, 1 if flat


def _cell(hull: Convex, positions: Points, agent: int) -> _DividedCell | None:
    """The cell of an agent; None if there is none."""
    if isinstance(hull, Interval):
        return _cell_on_line(hull, positions[:, 0], agent)
    if not is_flat(hull):
        return _curved_cell(hull, positions, agent)
    pieces = cell_pieces(hull, positions, agent)
    if not len(pieces.simplices) or _is_thin(pieces.vertices):
        return None
    inner = pieces.vertices.mean(axis=0)
    corners = pieces._replace(apex=inner).corners - inner
    return _DividedCell(inner, pieces.vertices - inner, corners, lambda y: np.ones(len(y)))


def _is_thin(vertices: Points) -> bool:
    """Whether a cell is so thin that corners may be missing."""
    widths = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    return bool(widths[-1] < THINNEST * widths[0])


def _cell_on_line(site: Interval, x: Floats, agent: int) -> _DividedCell | None:
    """The cell of an agent on the line; None if there is none."""
    gaps = np.delete(x, agent) - x[agent]
    lower, upper = (float(end[0]) - x[agent] for end in site.bounds)
    left = max(lower, 0.5 * gaps[gaps <= 0.0].max(initial=-np.inf))
    right = min(upper, 0.5 * gaps[gaps >= 0.0].min(initial=np.inf))
    if not left < right:
        return None
    inner = np.array([0.5 * (left + right)])
    ends = np.array([[left], [right]]) - inner
    return _DividedCell(inner, ends, ends[None], lambda y: np.ones(len(y)))


def _curved_cell(workspace: Any, positions: Points, agent: int) -> _DividedCell | None:
    """The cell of an agent in a disc or an ellipse, by the one in the rectangle around it."""
    own, (lower, upper) = positions[agent], workspace.bounds
    pieces = cell_pieces(polygon_of(Box(lower, upper)), positions, agent)
    if not len(pieces.simplices) or _is_thin(pieces.vertices):
        return None
    normals = positions[np.unique(pieces.behind[pieces.behind >= 0])] - own
    far = lengths(normals)
    normals, gaps = normals / far[:, None], 0.5 * far
    sides, depths = _polygon_inside(workspace, own)
    ball = inscribed(np.vstack([sides, normals]), np.append(depths, gaps))
    if not ball.radius > 0.0:
        return None
    inner = ball.center
    axes = np.vstack([np.eye(2), -np.eye(2)])
    planes = np.vstack([normals, axes])
    apart = np.concatenate([gaps, upper - own, own - lower]) - planes @ inner
    frame = np.asarray(workspace.axes) / np.asarray(workspace.semi_axes)[:, None]
    middle = frame @ (own + inner - np.asarray(workspace.center))
    triangles = pieces._replace(apex=inner).corners - inner
    parts = np.array([part for one in triangles for part in _parted(one, frame, middle)])
    polar = planes / apart[:, None]
    vertices = pieces.vertices - inner
    return _DividedCell(inner, vertices, parts, lambda y: _scale(y, polar, frame, middle))


def _polygon_inside(workspace: Any, own: Points) -> tuple[Points, Floats]:
    """Half-planes of a polygon in an ellipse: unit normals, and distances from `own`."""
    turn = np.arange(SIDES) * (2.0 * np.pi / SIDES)
    frame = np.asarray(workspace.axes) / np.asarray(workspace.semi_axes)[:, None]
    unit = np.column_stack([np.cos(turn), np.sin(turn)])
    gaps = np.cos(np.pi / SIDES) - unit @ frame @ (own - np.asarray(workspace.center))
    size = lengths(unit @ frame)
    return unit @ frame / size[:, None], gaps / size


def _parted(triangle: Points, frame: Points, middle: Points) -> list[Points]:
    """A triangle from the inner point in parts whose outer sides do not cross the ellipse."""
    apex, first, last = triangle
    p, d = frame @ first + middle, frame @ (last - first)
    a, b, c = float(d @ d), float(p @ d), float(p @ p) - 1.0
    root = np.sqrt(max(b * b - a * c, 0.0))
    cuts = [s for s in ((-b - root) / a, (-b + root) / a) if a > 0.0 and 0.0 < s < 1.0]
    ends = [first, *(first + s * (last - first) for s in cuts), last]
    return [np.array([apex, e, f]) for e, f in pairwise(ends)]


def _scale(y: Points, planes: Points, frame: Points, middle: Points) -> Floats:
    """By which share y comes nearer if the facet in its direction is taken to the ellipse.

    1 in directions in which the facet is within the ellipse.
    """
    v = y @ frame.T
    b, inside = v @ middle, 1.0 - float(middle @ middle)
    curved = (b + np.sqrt(b * b + (v * v).sum(axis=-1) * inside)) / inside
    flat = (y @ planes.T).max(axis=-1)
    share: Floats = flat / np.maximum(flat, curved)
    return share


def _smooth_moments(
    cell: _DividedCell, own: Points, density: Density, rings: Sequence[Points]
) -> tuple[float, Points] | None:
    """Mass and first moments of a cell, seen from its inner point; None if there is no reference.

    rings : those of a region that is not convex, seen from there as well.
    """
    weight, n = _seen_from(density, own), len(own)
    simplices = confined(cell.vertices, rings) if rings else cell.simplices
    if not len(simplices):
        return None
    for center, steepness in _peaks(density):
        peak = center - own - cell.inner
        place = _nearest(cell.vertices, peak)
        away = float(lengths(peak - place))
        width = 1.0 / max(steepness**0.5, 2.0 * steepness * away)
        if place.any():
            place = place / cell.boundary(place[None])[0]
        simplices = _graded(simplices, place, WIDTHS * width)

    def moments(y: Points) -> Floats:
        share = cell.boundary(y)
        z = share[:, None] * y
        return (weight(cell.inner + z) * share**n)[:, None] * np.column_stack([np.ones(len(z)), z])

    return _settled(simplices, moments, float(np.abs(cell.vertices).max()))


def _settled(simplices: Floats, moments: Values, size: float) -> tuple[float, Points] | None:
    """Mass and first moments, by halving those simplices on which two rules differ."""
    n = simplices.shape[2]
    rules = [conical(n, degree) for degree in DEGREES[n]]
    settled, used = np.zeros(n + 1), 0
    while True:
        pieces = simplices, volumes(simplices)
        coarse, fine = (by_rule(moments, pieces, rule)[:, 0] for rule in rules)
        total, used = settled + fine.sum(axis=0), used + len(fine)
        if not total[0] > LIGHTEST:
            return None
        moved = np.abs(fine - coarse) @ np.array([size, *[1.0] * n])
        rough = moved > SETTLED * size * total[0]
        if not rough.any():
            return float(total[0]), total[1:]
        if used > MOST[n]:
            return None
        settled += fine[~rough].sum(axis=0)
        simplices = halved_simplices(simplices[rough])


def _seen_from(density: Density, place: Points) -> Callable[[Points], Floats]:
    """A density at positions relative to a place; a Gaussian far from 0 loses no digits."""
    match density:
        case Gaussian(center=center):
            return replace(density, center=tuple(center - place)).at
        case Mixture(parts=parts):
            each = [_seen_from(part, place) for part in parts]
            return lambda z: np.sum([at(z) for at in each], axis=0)
        case _:
            return lambda z: density.at(place + z)


def _peaks(density: Density) -> list[tuple[Points, float]]:
    """Centers of Gaussian components, and the largest eigenvalue of each form."""
    match density:
        case Gaussian(center=center):
            return [(np.array(center), float(np.linalg.eigvalsh(density.matrix)[-1]))]
        case Mixture(parts=parts):
            return [peak for part in parts for peak in _peaks(part)]
        case _:
            return []


def _nearest(vertices: Points, place: Points) -> Points:
    """Approximately the point of the convex hull of some points nearest to `place`."""
    from scipy.optimize import nnls

    heavy = 1e3 * float(np.abs(vertices).max() + np.abs(place).max())
    rows = np.vstack([vertices.T, np.full(len(vertices), heavy)])
    shares, _ = nnls(rows, np.append(place, heavy))
    nearest: Points = shares @ vertices / shares.sum()
    return nearest


def _graded(simplices: Floats, place: Points, size: float) -> Floats:
    """Simplices no larger than `size`, or than their distance from `place` where that is more.

    A rule whose nodes miss a peak has no sign of it, so these start small.
    """
    n = simplices.shape[2]
    i, j = np.triu_indices(n + 1, 1)
    while True:
        far = lengths(simplices.mean(axis=1) - place)
        edges = lengths(simplices[:, i] - simplices[:, j])
        large = edges.max(axis=1) > np.maximum(size, far)
        if not large.any() or len(simplices) > MOST[n]:
            return simplices
        simplices = np.concatenate([simplices[~large], halved_simplices(simplices[large])])

"""Centroids of Voronoi cells by NumPy, SciPy and Qhull, without the kernels.

A cell is the polar of a convex hull. It is divided into simplices, each integrated by a product of
Gauss rules and halved until the centroid no longer moves. In a disc or an ellipse the simplices
are those of the cell in a rectangle around it, scaled along rays to where the boundary is. In a
region that is not convex they are triangles from an inner point of the cell to all edges of the
region, cut by the cell; those that lead clockwise count negatively.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Any, NamedTuple

import numpy as np

from dwell._compatibility import Feature
from dwell._types import Floats, Points, lengths
from dwell.density import Density, Gaussian, Mixture, Raster
from dwell.geometry import Workspace, is_flat, shape_of
from dwell.verify.reference_raster import raster_reference
from dwell.verify.reference_region import confined, outlines

NODES = {1: (16, 24), 2: (11, 16), 3: (8, 12)}  # of two Gauss rules on each axis, by dimension
WIDTHS = 4.0  # of a Gaussian: how large simplices at its center may be to begin with
SETTLED = 1e-11  # of the cell's size: by how much two rules may differ on one simplex
MOST_NODES = 2_000_000  # beyond which a cell counts as too hard
LIGHTEST = 1e-290  # mass below which digits are missing
NEAREST = 64  # agents that are tried first as neighbours
MARGIN = 1e-3  # of the distance from the nearest bisector: how far inside an agent must be
CLEAR = 1e-6  # volume spanned by the normals of planes that meet at a vertex
MOST_EDGES = 300  # of a region that is not convex
SIDES = 64  # of the polygon in an ellipse in which another inner point is sought

# Positions in a simplex to densities times volume elements, and to positions as seen from an inner
# point of the cell.
Integrand = Callable[[Points], tuple[Floats, Points]]


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
    own = positions[agent]
    cell = _cell(workspace.hull, own, np.delete(positions, agent, axis=0) - own)
    if cell is None:
        return None
    parts = density.parts if isinstance(density, Mixture) else (density,)
    rasters = [part for part in parts if isinstance(part, Raster)]
    rings = () if workspace.mask is None else workspace.mask.rings
    if not rasters:
        found = _smooth_moments(cell, own, density, rings)
        return None if found is None else (found[0], cell.inner + found[1])
    mass, first = 0.0, np.zeros(2)
    smooth = tuple(part for part in parts if not isinstance(part, Raster))
    if smooth:
        found = _smooth_moments(cell, own, Mixture(smooth), rings)
        if found is None:
            return None
        mass, first = found[0], found[0] * found[1]
    local = [ring - own - cell.inner for ring in rings]
    for raster, outline in product(rasters, outlines(cell.vertices, local)):
        more = raster_reference(raster, own + cell.inner, outline)
        if more is None:
            return None
        mass, first = mass + more[0], first + more[1]
    return (mass, cell.inner + first / mass) if mass > LIGHTEST else None


def _smooth_moments(
    cell: _DividedCell, own: Points, density: Density, rings: Sequence[Points]
) -> tuple[float, Points] | None:
    """Mass of a cell and its centroid seen from its inner point; None if there is no reference.

    rings : those of a region that is not convex.
    """

    def integrand(y: Points) -> tuple[Floats, Points]:
        share = cell.boundary(y)
        z = share[:, None] * y
        return density.at(own + cell.inner + z) * share ** len(own), z

    simplices = _counted(cell.simplices)
    if rings:
        simplices = confined(cell.vertices, [ring - own - cell.inner for ring in rings])
        if not len(simplices):
            return None
    for center, steepness in _peaks(density):
        place = _nearest(cell.vertices, center - own - cell.inner)
        away = float(lengths(center - own - cell.inner - place))
        width = 1.0 / max(steepness**0.5, 2.0 * steepness * away)
        if place.any():
            place = place / cell.boundary(place[None])[0]
        simplices = _graded(simplices, place, WIDTHS * width)
    return _settled(simplices, integrand, float(np.abs(cell.vertices).max()))


def _counted(simplices: Points) -> Points:
    """Simplices with their last two vertices in the order that counts positively."""
    negative = np.linalg.det(simplices[:, 1:] - simplices[:, :1]) < 0.0
    found = simplices.copy()
    found[negative, -2:] = simplices[negative, :-3:-1]
    return found


class _DividedCell(NamedTuple):
    """A cell, or the flat-sided one around it, about an inner point."""

    inner: Points  # the inner point relative to the agent
    vertices: Points  # relative to the inner point
    simplices: Points  # (K, n + 1, n), relative to the inner point
    boundary: Callable[[Points], Floats]  # by which share positions are scaled, 1 if flat


def _cell(workspace: Any, own: Points, others: Points) -> _DividedCell | None:
    """The cell of an agent at `own` among others at these displacements; None if there is none."""
    from scipy.spatial import QhullError

    n, flat = workspace.dimension, is_flat(workspace)
    if flat:
        normals = np.asarray(workspace.normals)
        gaps = ((workspace.vertices - own) @ normals.T).max(axis=0)
        inside = (normals, gaps)
    else:
        normals = np.vstack([np.eye(n), -np.eye(n)])
        gaps = np.concatenate([workspace.bounds[1] - own, own - workspace.bounds[0]])
        inside = _polygon_inside(workspace, own)
    far = lengths(others)
    order = np.argsort(far, kind="stable")
    others, far = others[order], far[order]
    if len(far) and far[0] == 0.0:
        return None
    count = NEAREST
    while True:  # an agent twice as far as every vertex has no part in the cell
        towards, halfway = others[:count] / far[:count, None], 0.5 * far[:count]
        scale = float(halfway[0]) if len(halfway) else workspace.diameter
        within = np.vstack([inside[0], towards]), np.append(inside[1], halfway)
        planes, bounds = np.vstack([normals, towards]), np.append(gaps, halfway)
        inner = None
        for inner in _inner_points(*within, scale):
            apart = bounds - planes @ inner
            try:
                vertices, meeting = _polar(planes, apart)
            except QhullError:
                return None
            if apart.min() >= MARGIN * float(lengths(vertices).max()):  # else digits would go
                break
        if inner is None:
            return None
        reach = 2.0 * float(lengths(vertices + inner).max())
        if count >= len(others) or far[count] >= reach:
            break
        count = int(np.searchsorted(far, reach))
    simplices = _simplices(vertices, meeting)
    if flat:
        return _DividedCell(inner, vertices, simplices, lambda y: np.ones(len(y)))
    frame = np.asarray(workspace.axes) / np.asarray(workspace.semi_axes)[:, None]
    middle = frame @ (own + inner - np.asarray(workspace.center))
    pieces = np.array([piece for one in simplices for piece in _parted(one, frame, middle)])
    polar = planes / apart[:, None]
    return _DividedCell(inner, vertices, pieces, lambda y: _scale(y, polar, frame, middle))


def _inner_points(normals: Points, gaps: Floats, scale: float) -> Iterator[Points]:
    """Points in {z : normals z <= gaps}: 0 if it is well within, then that of the largest ball."""
    from scipy.optimize import linprog

    n = normals.shape[1]
    if gaps.min() >= MARGIN * scale:
        yield np.zeros(n)
    rows = np.column_stack([normals, np.ones(len(normals))])
    bounds = [(None, None)] * n + [(0.0, None)]
    found = linprog([0.0] * n + [-1.0], rows, gaps / scale, bounds=bounds).x
    if found is not None and (normals @ (scale * found[:n]) < gaps).all():
        yield scale * found[:n]


def _polygon_inside(workspace: Any, own: Points) -> tuple[Points, Floats]:
    """Half-planes of a polygon in an ellipse: unit normals, and distances from `own`."""
    turn = np.arange(SIDES) * (2.0 * np.pi / SIDES)
    frame = np.asarray(workspace.axes) / np.asarray(workspace.semi_axes)[:, None]
    unit = np.column_stack([np.cos(turn), np.sin(turn)])
    gaps = np.cos(np.pi / SIDES) - unit @ frame @ (own - np.asarray(workspace.center))
    size = lengths(unit @ frame)
    return unit @ frame / size[:, None], gaps / size


def _polar(normals: Points, apart: Floats) -> tuple[Points, Any]:
    """Vertices of {y : normals y <= apart}, apart > 0, and which n planes meet in each."""
    from scipy.spatial import ConvexHull

    planes = normals / apart[:, None]
    if normals.shape[1] == 1:
        ends = [int(planes[:, 0].argmin()), int(planes[:, 0].argmax())]
        return 1.0 / planes[ends], [ends[:1], ends[1:]]
    hull = ConvexHull(planes)
    vertices: Points = -hull.equations[:, :-1] / hull.equations[:, -1:]
    meeting = normals[hull.simplices]
    clear = np.abs(np.linalg.det(meeting)) > CLEAR
    right = apart[hull.simplices[clear], None]
    vertices[clear] = np.linalg.solve(meeting[clear], right)[..., 0]  # all digits
    return vertices, hull.simplices


def _simplices(vertices: Points, meeting: Sequence[Sequence[int]]) -> Points:
    """Simplices from 0 over the middle of a facet, of a facet of that, and so on to an edge."""
    n = vertices.shape[1]
    faces: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for vertex, planes in enumerate(meeting):
        for count in range(n):
            for face in combinations(sorted(planes), count):
                faces[face].append(vertex)
    middle = {face: vertices[ends].mean(axis=0) for face, ends in faces.items()}
    middle[()] = np.zeros(n)
    edges = [(face, ends) for face, ends in faces.items() if len(face) == n - 1]
    made = [
        [*(middle[tuple(sorted(order[:k]))] for k in range(n - 1)), *vertices[ends]]
        for edge, ends in edges
        for order in permutations(edge)
    ]
    return np.array(made)


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


def _graded(simplices: Points, place: Points, size: float) -> Points:
    """Simplices no larger than `size`, or than their distance from `place` where that is more.

    A rule whose nodes miss a peak has no sign of it, so these start small.
    """
    while True:
        far = lengths(simplices.mean(axis=1) - place)
        large = _edges(simplices)[1].max(axis=1) > np.maximum(size, far)
        if not large.any() or len(simplices) > _most(simplices.shape[-1]):
            return simplices
        simplices = np.concatenate([simplices[~large], _halved(simplices[large])])


def _settled(simplices: Points, integrand: Integrand, size: float) -> tuple[float, Points] | None:
    """Mass and centroid, by halving those simplices on which two rules differ."""
    n = simplices.shape[-1]
    settled, used = np.zeros(n + 1), 0
    while True:
        coarse, fine = (_by_rule(simplices, integrand, count) for count in NODES[n])
        total, used = settled + fine.sum(axis=0), used + fine.shape[0]
        if not total[0] > LIGHTEST:
            return None
        moved = np.abs(fine - coarse) @ np.array([size, *[1.0] * n])
        rough = moved > SETTLED * size * total[0]
        if not rough.any():
            return float(total[0]), total[1:] / total[0]
        if used > _most(n):
            return None
        settled += fine[~rough].sum(axis=0)
        simplices = _halved(simplices[rough])


def _most(n: int) -> int:
    """How many simplices there may be."""
    return int(MOST_NODES // NODES[n][1] ** n)


def _by_rule(simplices: Points, integrand: Integrand, count: int) -> Floats:
    """Mass and first moments of each simplex, (K, 1 + n), by a rule with `count` nodes per axis."""
    shares, weights = _rule(simplices.shape[-1], count)
    y = shares @ simplices
    values, z = integrand(y.reshape(-1, y.shape[-1]))
    values = weights * values.reshape(y.shape[:2])
    volume = np.linalg.det(simplices[:, 1:] - simplices[:, :1])
    first = (values[..., None] * z.reshape(y.shape)).sum(axis=1)
    moments: Floats = volume[:, None] * np.column_stack([values.sum(axis=1), first])
    return moments


@cache
def _rule(n: int, count: int) -> tuple[Floats, Floats]:
    """Barycentric coordinates (M, n + 1) of nodes in a simplex, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    t = np.meshgrid(*[0.5 * (1.0 + nodes)] * n, indexing="ij")
    w = np.meshgrid(*[0.5 * weights] * n, indexing="ij")
    passed = np.cumprod([axis.ravel() for axis in t], axis=0)
    shares = -np.diff(np.vstack([np.ones((1, passed.shape[1])), passed, 0.0 * passed[:1]]), axis=0)
    share: Floats = np.prod([axis.ravel() for axis in w], axis=0) * passed[:-1].prod(axis=0)
    return shares.T, share


def _edges(simplices: Points) -> tuple[Any, Floats]:
    """The two ends of each edge, (E, 2), and its length in each simplex, (K, E)."""
    ends = np.array(list(combinations(range(simplices.shape[1]), 2)))
    return ends, lengths(simplices[:, ends[:, 0]] - simplices[:, ends[:, 1]])


def _halved(simplices: Points) -> Points:
    """Each simplex in two, one after the other, across its longest edge."""
    ends, size = _edges(simplices)
    pair, rows = ends[size.argmax(axis=1)], np.arange(len(simplices))
    middle = simplices[rows[:, None], pair].mean(axis=1)
    halves = np.stack([simplices, simplices], axis=1)
    halves[rows, 0, pair[:, 0]] = middle
    halves[rows, 1, pair[:, 1]] = middle
    return halves.reshape(-1, *simplices.shape[1:])

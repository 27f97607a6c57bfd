"""Cells and facets in any dimension by simplices: for four and more, and for Python functions.

Every cell is cut into simplices with their apex at the agent, on which uniform and polynomial
densities are integrated exactly, and functions by adaptive cubature. A Gaussian component is
integrated along rays from the point of the region where it is largest, and by adaptive cubature
over the region's boundary: see `_over_cones`. This is the slow way: milliseconds per cell in four
dimensions, tenths of a second in five.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import (
    Pieces,
    Rule,
    Values,
    Weight,
    adaptive,
    conical,
    contents,
    halved_simplices,
    rule_over,
    summed,
    volumes,
)
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import CellMeasurements, Weighed, one_by_one
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density
from dwell.errors import WorkspaceError
from dwell.geometry import (
    Cell,
    Convex,
    Flat,
    Workspace,
    is_flat,
    is_planar,
    polygon_of,
    voronoi_cells,
)
from dwell.geometry.cell import width
from dwell.geometry.halfspace_cells import SimplicialCell, cell_pieces

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
DEPTH = 42.0  # fall of an exponent along a ray beyond which nothing is left
RADIAL = 24  # nodes along a ray
FLAT = 1e-14  # of the largest: volume of a cone that is left out
MOST_DIMENSIONS = 7  # among 20 agents a cell takes 1 s in six, 10 s in seven, minutes in eight
THINNEST = 1e-12  # of its reach: width of a facet below which cells only touch


def measure(
    ground: WeightedRegion, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> CellMeasurements:
    """Moments of the cells of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

    On one thread, whatever `threads` says.
    """
    workspace = _flat(ground.hull)

    def measure(points: Points, p: int) -> tuple[int, Weighed]:
        pieces = _pieces(workspace, points, p)
        return len(_borders_of(pieces)), weigh(ground.density, ground.terms, points[p], pieces)

    return one_by_one(measure, workspace, positions, row, agent)


def _pieces(workspace: Flat, points: Points, p: int) -> SimplicialCell:
    """The cell of agent p as simplices; in the plane by the kernels of polygons."""
    if not is_planar(workspace):
        return cell_pieces(workspace, points, p)
    cell = voronoi_cells(polygon_of(workspace), points, [p])[0]
    return polygon_pieces(cell.offsets, cell.borders)


def polygon_pieces(corners: Points, behind: Ints) -> SimplicialCell:
    """A convex polygon as triangles about the mean of its vertices."""
    numbers = np.arange(len(corners))
    apex = corners.mean(axis=0) if len(corners) else np.zeros(2)
    return SimplicialCell(apex, corners, np.stack([numbers, np.roll(numbers, -1)], axis=1), behind)


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions`, (N, n)."""
    points, region = np.ascontiguousarray(positions, dtype=np.float64), _flat(workspace.hull)
    found = []
    for p in map(int, range(len(points)) if agents is None else agents):
        pieces = cell_pieces(region, points, p)
        behind = np.unique(pieces.behind)
        faces = tuple(np.unique(pieces.simplices[pieces.behind == label]) for label in behind)
        found.append(Cell(p, points[p], pieces.vertices, behind, faces))
    return found


def borders(ground: WeightedRegion, positions: Points, *, agents: int | None = None) -> Borders:
    """All facets between cells, of the first `agents` cells only, with moments over them."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    workspace = _flat(ground.hull)
    found: list[Weighed] = []
    rows: list[tuple[int, int, Floats]] = []
    for p in range(len(points) if agents is None else agents):
        pieces = _pieces(workspace, points, p)
        found.append(weigh(ground.density, ground.terms, points[p], pieces))
        for other in _borders_of(pieces):
            facet, gap = pieces.simplices[pieces.behind == other], points[other] - points[p]
            given = pieces.vertices, facet, gap, found[p].log_scale
            rows.append((p, other, over_facet(ground, points[p], *given)))
    masses, log_scales = (np.array([getattr(w, k) for w in found]) for k in ("mass", "log_scale"))
    errors = np.array([w.error for w in found])
    return as_borders(points, masses, log_scales, errors, masses <= 0.0, rows)


def weigh(density: Density, terms: Any, place: Points, pieces: SimplicialCell) -> Weighed:
    """Moments of the density over a cell, seen from the agent at `place`.

    `terms` are the density as `GeneralTerms`, or None if only Python can evaluate it. Simplices
    count with the sign of their volume.
    """
    n = len(place)
    if not len(pieces.simplices):
        return Weighed(0.0, 0.0, np.zeros(n), 0.0, 0.0)
    corners = pieces.corners
    if terms is None:
        if n == 2:  # each triangle as four, so that even the first nodes are dense
            corners = halved_simplices(halved_simplices(corners))
        return weigh_function(density, place, corners)
    parts = []
    if _is_plain(terms):
        plain, whole = _polynomial(terms, place), (corners, volumes(corners))
        exact = conical(n, _degree(terms) + 2)
        total = summed(_times(plain, _moments), whole, exact)
        parts.append(_about_centroid(plain, total, 0.0, whole, exact))
    for t in range(len(terms.weights)):
        log, peak, found, error = _over_cones(
            terms, t, place, corners[:, 1:], np.empty((0, n)), _moments
        )
        if found[0] > 0.0:
            gap, mass = found[1 : n + 1] / found[0], float(found[0])
            second = max(float(found[-1] - mass * (gap @ gap)), 0.0)
            parts.append(Weighed(log, mass, peak + gap, second, error / mass))
    return _joined(parts, n)


def weigh_function(density: Density, place: Points, corners: Floats) -> Weighed:
    """Moments of a function over simplices (S, n + 1, n) that are seen from `place`."""
    n, weight = len(place), _at(density, place)
    rule, sizes = rule_over(n, smooth=False), _sizes(corners, n + 2)
    found = adaptive(_times(weight, _moments), (corners, volumes(corners)), sizes, rule, n)
    return _about_centroid(weight, found.values, float(found.errors[0]), found.pieces, rule)


def over_facet(
    ground: WeightedRegion,
    place: Points,
    vertices: Points,
    simplices: Ints,
    gap: Points,
    log_scale: float,
) -> Floats:
    """Moments over a facet cut into simplices (S, n) of `vertices`, at right angles to `gap`."""
    terms: Any = ground.terms
    n, facet = len(place), vertices[simplices]
    unit = gap[None] / math.sqrt(float((gap * gap).sum()))
    content = contents(facet[:, 1:] - facet[:, :1], unit)
    content = content if content.sum() > 0.0 else -content
    i, j = np.triu_indices(n)
    total = np.zeros(1 + n + len(i))
    if terms is None:
        values, sizes = _times(_at(ground.density, place), _tensor), _sizes(facet, len(total))
        rule = rule_over(n - 1, smooth=False)
        return adaptive(values, (facet, content), sizes, rule, n - 1).values
    if _is_plain(terms):
        values = _times(_polynomial(terms, place), _tensor)
        total += summed(values, (facet, content), conical(n - 1, _degree(terms) + 2))
    # The boundary of the facet: what is a side of one of its simplices only, facing outward.
    sides = np.stack([np.delete(simplices, k, axis=1) for k in range(n)])
    sides[1::2, :, :2] = sides[1::2, :, 1::-1]
    sides = sides.reshape(-1, n - 1)
    _, at, count = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    outer = vertices[sides[at[count == 1]]]
    for t in range(len(terms.weights)):
        log, q, found, _ = _over_cones(terms, t, place, outer, unit, _tensor)
        mass, first = found[0], found[1 : n + 1]
        found[n + 1 :] += first[i] * q[j] + q[i] * first[j] + mass * q[i] * q[j]
        found[1 : n + 1] += mass * q
        total += math.exp(log - log_scale) * found
    return total


def _over_cones(
    terms: Any, t: int, place: Points, outer: Floats, across: Points, basis: Values
) -> tuple[float, Points, Floats, float]:
    """Gaussian component t over a convex region, by rays from the point q where it is largest.

    The region is bounded by simplices `outer` (S, k, n), k its dimension, and at right angles to
    the n - k unit vectors `across`. Along each ray from q the component falls, so that nothing of
    it is missed; as a function of the direction it is no narrower than the region. Return
    (logarithm of a scale, q, moments about q divided by it, error of the mass).
    """
    from scipy.optimize import nnls

    n, k = outer.shape[2], outer.shape[1]
    root, center = terms.roots[t], terms.centers[t] - place
    vertices = np.unique(outer.reshape(-1, n), axis=0)
    u = (vertices - center) @ root.T
    # Shares of the corners, not negative and 1 together, whose mean is nearest to the center.
    rows = np.vstack([u.T / np.abs(u).max(), np.ones(len(u))])
    shares = nnls(rows, np.append(np.zeros(n), 1.0))[0]
    q = shares @ vertices / shares.sum()
    slope = root @ (q - center)
    content = contents(outer - q, across)
    content = content if content.sum() > 0.0 else -content
    keep = np.abs(content) > FLAT * np.abs(content).max()

    def values(z: Points) -> Floats:
        d = z - q
        w = d @ root.T
        beta, gamma = np.maximum(2.0 * (w @ slope), 0.0), (w * w).sum(axis=1)
        found = basis(d)
        found *= _along_rays(beta, gamma, k)[_degrees(n, found.shape[1])].T
        return found

    sizes, rule = _sizes(outer - q, basis(q[None]).shape[1]), rule_over(k - 1, smooth=True)
    log = -float(slope @ slope)
    if not keep.any():
        return log, q, np.zeros(len(sizes)), 0.0
    found = adaptive(values, (outer[keep], content[keep]), sizes, rule, k)
    weight = float(terms.weights[t])
    return log, q, weight * found.values, weight * float(found.errors[0])


def _along_rays(beta: Floats, gamma: Floats, k: int) -> Floats:
    """Integrals of r**(k - 1), r**k, r**(k + 1) times exp(-beta r - gamma r**2) over [0, 1]."""
    ends = beta + np.sqrt(beta * beta + 4.0 * DEPTH * gamma)
    ends = np.minimum(2.0 * DEPTH / np.maximum(ends, DEPTH), 1.0)
    slope, bend = ends * beta, ends * ends * gamma
    total = np.zeros((3, len(beta)))
    for node, share in zip(*rule("legendre", RADIAL), strict=True):
        value = share * node ** (k - 1) * np.exp(-node * (slope + node * bend))
        total += [value, node * value, node * node * value]
    return total * ends ** np.arange(k, k + 3)[:, None]


def _joined(parts: list[Weighed], n: int) -> Weighed:
    """Parts of a density together."""
    parts = [part for part in parts if part.mass > 0.0]
    if not parts:
        return Weighed(0.0, 0.0, np.zeros(n), 0.0, 0.0)
    logs, masses, places, seconds, doubts = map(np.array, zip(*parts, strict=True))
    top = logs.max() if logs.max() < SAFE_EXPONENT else 0.0
    masses, seconds = masses * np.exp(logs - top), seconds * np.exp(logs - top)
    mass = float(masses.sum())
    middle = masses @ places / mass
    second = float((seconds + masses * ((places - middle) ** 2).sum(axis=1)).sum())
    return Weighed(float(top), mass, middle, second, float(masses @ doubts) / mass)


def _about_centroid(
    weight: Weight, total: Floats, error: float, pieces: Pieces, rule: Rule
) -> Weighed:
    """Integrals of a weight times 1 and z as a measurement, with one more sum over `pieces`."""
    mass, n = float(total[0]), pieces[0].shape[2]
    if not mass > 0.0:
        return Weighed(0.0, 0.0, np.zeros(n), 0.0, math.inf if error > 0.0 else 0.0)
    middle: Points = total[1 : n + 1] / mass

    def about(z: Points) -> Floats:
        return np.asarray(((z - middle) ** 2).sum(axis=1, keepdims=True), dtype=np.float64)

    second = float(summed(_times(weight, about), pieces, rule)[0])
    return Weighed(0.0, mass, middle, max(second, 0.0), error / mass)


def _at(density: Density, place: Points) -> Weight:
    """A density seen from a place."""
    return lambda z: density.at(place + z)


def _is_plain(terms: Any) -> bool:
    return bool(terms.constant != 0.0 or len(terms.coefficients))


def _degree(terms: Any) -> int:
    return int(terms.powers.sum(axis=1).max(initial=0))


def _polynomial(terms: Any, place: Points) -> Weight:
    """The constant and the monomials of a density seen from a place."""
    shifts = place - terms.origins

    def at(z: Points) -> Floats:
        total = np.full(len(z), terms.constant)
        rows = zip(terms.powers, terms.coefficients, shifts, strict=True)
        for powers, coefficient, shift in rows:
            term = np.full(len(z), coefficient)
            for k in np.repeat(np.arange(len(powers)), powers):
                term *= z[:, k] + shift[k]
            total += term
        return total

    return at


def _times(weight: Weight, basis: Values) -> Values:
    """The functions of a basis, each times the weight."""
    return lambda z: weight(z)[:, None] * basis(z)


def _moments(z: Points) -> Floats:
    """1, z and |z|**2."""
    return np.column_stack([np.ones(len(z)), z, (z * z).sum(axis=1)])


def _tensor(z: Points) -> Floats:
    """1, z and the upper half of z z'."""
    i, j = np.triu_indices(z.shape[1])
    return np.column_stack([np.ones(len(z)), z, z[:, i] * z[:, j]])


def _degrees(n: int, count: int) -> list[int]:
    """The degrees of so many moments in n dimensions."""
    return [0, *[1] * n, *[2] * (count - n - 1)]


def _sizes(places: Floats, count: int) -> Floats:
    """What so many moments are at most over simplices, relative to the mass."""
    reach = math.sqrt(float((places * places).sum(axis=2).max())) or 1.0
    sizes: Floats = np.array([1.0, reach, reach * reach])[_degrees(places.shape[2], count)]
    return sizes


def _borders_of(pieces: SimplicialCell) -> list[int]:
    """The agents whose cells share a facet with this one, ascending."""
    others = np.unique(pieces.behind[pieces.behind >= 0])
    n, least = pieces.vertices.shape[1], THINNEST * np.abs(pieces.vertices).max(initial=0.0)
    own = {int(q): pieces.vertices[np.unique(pieces.simplices[pieces.behind == q])] for q in others}
    return [q for q, corners in own.items() if width(corners, n) > least]


def _flat(workspace: Convex) -> Flat:
    if not is_flat(workspace):
        raise WorkspaceError(
            f"a {type(workspace).__name__} has no flat walls to cut into simplices",
            code="workspace.kind",
            key="workspace",
        )
    if workspace.dimension > MOST_DIMENSIONS:
        raise WorkspaceError(
            f"the workspace has {workspace.dimension} dimensions and flat walls; cells in it have "
            f"so many corners that each would take minutes. Take at most {MOST_DIMENSIONS} "
            "dimensions, or a ball or an ellipsoid",
            code="workspace.dimension",
            key="workspace",
        )
    return workspace

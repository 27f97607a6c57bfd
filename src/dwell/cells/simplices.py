"""Cells and facets in any dimension by simplices: for n >= 4, and for Python functions.

Every cell is cut into simplices with their apex at the agent. Uniform and polynomial densities are
integrated exactly on each; Gaussians and functions by adaptive cubature, with a bound on the error.
This is the slow way: milliseconds per cell in four dimensions, tenths of a second in five, and many
times that where a narrow Gaussian or a rough function has to be followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import Integral
from dwell.cells.cubature import (
    Basis,
    Rule,
    Weight,
    adaptive,
    contents,
    exact,
    halved,
    rule_over,
    sum_again,
)
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import CellMeasurements, Weighed, one_by_one
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density
from dwell.errors import WorkspaceError
from dwell.geometry import (
    Cell,
    Flat,
    Workspace,
    is_flat,
    polygon_of,
    voronoi_cells,
)
from dwell.geometry.cell import width
from dwell.geometry.halfspace_cells import SimplicialCell, cell_pieces

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
WIDE = 1.5  # square root of exponents over a simplex: beyond, a component is resolved by splitting
DEEP = 40.0  # exponents below the largest that no longer matter
LOST = 4.0  # as WIDE: beyond, a rule may see nothing of a component, nor that it saw nothing
MOST_SPLIT = 20_000
FEWEST = 200  # split at a time, if so many need it
CLOSER = 12  # steps towards the point of a simplex that is nearest to a peak
MOST_DIMENSIONS = 7  # among 20 agents a cell takes 1 s in six, 10 s in seven, minutes in eight
THINNEST = 1e-12  # of its reach: width of a facet below which cells only touch


def measure(
    ground: WeightedRegion, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> CellMeasurements:
    """Moments of the cells of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

    On one thread, whatever `threads` says.
    """
    workspace = _flat(ground.workspace)

    def measure(points: Points, p: int) -> tuple[int, Weighed]:
        pieces = _pieces(workspace, points, p)
        return len(_borders_of(pieces)), weigh(ground.density, ground.terms, points[p], pieces)

    return one_by_one(measure, workspace, positions, row, agent)


def _pieces(workspace: Flat, points: Points, p: int) -> SimplicialCell:
    """The cell of agent p as simplices; in the plane by the kernels of polygons."""
    if workspace.dimension != 2:
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
    points, region = np.ascontiguousarray(positions, dtype=np.float64), _flat(workspace)
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
    workspace = _flat(ground.workspace)
    found: list[Weighed] = []
    rows: list[tuple[int, int, Floats]] = []
    for p in range(len(points) if agents is None else agents):
        pieces = _pieces(workspace, points, p)
        found.append(weigh(ground.density, ground.terms, points[p], pieces))
        for other in _borders_of(pieces):
            facet = pieces.vertices[pieces.simplices[pieces.behind == other]]
            gap = points[other] - points[p]
            moments = over_facet(ground, points[p], facet, gap, found[p].log_scale)
            rows.append((p, other, moments))
    masses, log_scales = (np.array([getattr(w, k) for w in found]) for k in ("mass", "log_scale"))
    errors = np.array([w.error for w in found])
    return as_borders(points, masses, log_scales, errors, masses <= 0.0, rows)


def weigh(density: Density, terms: Any, place: Points, pieces: SimplicialCell) -> Weighed:
    """Moments of the density over a cell, seen from the agent at `place`: see weigh_simplices."""
    if not len(pieces.simplices):
        return Weighed(0.0, 0.0, np.zeros(len(place)), 0.0, 0.0)
    corners = pieces.corners
    if len(place) == 2:  # each triangle as four, so that even the first nodes are dense
        corners = halved(halved(corners))
    return weigh_simplices(density, terms, place, corners)


def weigh_simplices(density: Density, terms: Any, place: Points, corners: Floats) -> Weighed:
    """Moments over simplices (S, n + 1, n) that are seen from `place`.

    `terms` are the density as `GeneralTerms`, or None if only Python can evaluate it. Simplices
    count with the sign of their volume.
    """
    n, content = corners.shape[2], contents(corners)
    local = _LocalDensity(density, terms, place)
    log_scale = local.log_scale(corners)
    parts = _parts(local, corners, content, log_scale)
    rule = rule_over(n, terms is not None)
    total, errors, found = _integrals(parts, corners, content, _moments, rule)
    mass = float(total[0])
    if not mass > 0.0:
        unsure = math.inf if errors[0] > 0.0 or parts.missed > 0.0 else 0.0
        return Weighed(0.0, 0.0, np.zeros(n), 0.0, unsure)
    error: Points = total[1 : n + 1] / mass

    def about(z: Points) -> Floats:
        return np.asarray(((z - error) ** 2).sum(axis=1, keepdims=True), dtype=np.float64)

    second = 0.0
    if parts.smooth is not None:
        second += float(exact(parts.smooth, corners, content, about, parts.degree + 2)[0])
    if found is not None and parts.rough is not None:
        second += float(sum_again(parts.rough, found, about, rule)[0])
    doubt = float(errors[0] + parts.missed) / mass
    return Weighed(log_scale, mass, error, max(second, 0.0), doubt)


class _SmoothAndRough(NamedTuple):
    """A density as a polynomial, which is integrated exactly, and the rest, which is not."""

    smooth: Weight | None
    degree: int  # of the polynomial
    rough: Weight | None
    pieces: tuple[Floats, Floats]  # simplices that the rest is integrated over to begin with
    missed: float  # what may lie hidden in those


def _integrals(
    parts: _SmoothAndRough, corners: Floats, content: Floats, basis: Basis, rule: Rule
) -> tuple[Floats, Floats, Integral | None]:
    """Integrals of a density times 1, z and second moments; their errors; the adaptive part."""
    reach = math.sqrt(float((corners * corners).sum(axis=2).max())) or 1.0
    sizes = np.full(basis(corners[0]).shape[1], reach * reach)
    sizes[: corners.shape[2] + 1] = [1.0, *[reach] * corners.shape[2]]
    total, errors, found = np.zeros(len(sizes)), np.zeros(len(sizes)), None
    if parts.smooth is not None:
        total = total + exact(parts.smooth, corners, content, basis, parts.degree + 2)
    if parts.rough is not None:
        found = adaptive(parts.rough, *parts.pieces, basis, sizes, rule)
        total, errors = total + found.values, errors + found.errors
    return total, errors, found


class _LocalDensity(NamedTuple):
    """A density seen from a place: a polynomial part and Gaussian components, or a function."""

    density: Density
    terms: Any  # GeneralTerms, or None
    place: Points

    def at(self, z: Points) -> Floats:
        """Return the whole density."""
        return self.density.at(self.place + z)

    def polynomial(self, z: Points) -> Floats:
        """Return the constant and the monomials."""
        total = np.full(len(z), self.terms.constant)
        shifts = self.place - self.terms.origins
        rows = zip(self.terms.powers, self.terms.coefficients, shifts, strict=True)
        for powers, coefficient, shift in rows:
            term = np.full(len(z), coefficient)
            for k in np.repeat(np.arange(len(powers)), powers):
                term = term * (z[:, k] + shift[k])
            total = total + term
        return total

    def whitened(self, k: int, z: Floats) -> Floats:
        """Return u with exp(-|u|**2) the value of Gaussian component k, for places (..., n)."""
        u: Floats = (z - (self.terms.centers[k] - self.place)) @ self.terms.roots[k].T
        return u

    def gaussians(self, z: Points, log_scale: float) -> Floats:
        """Return all Gaussian components together, divided by exp(log_scale)."""
        total = np.zeros(len(z))
        for k, weight in enumerate(self.terms.weights):
            u = self.whitened(k, z)
            exponent = -(u * u).sum(axis=1) - log_scale
            total = total + weight * np.exp(np.minimum(exponent, 700.0))
        return total

    def log_scale(self, corners: Floats) -> float:
        """Return 0 where the density is representable somewhere, else its logarithm."""
        terms = self.terms
        plain = terms is None or terms.constant > 0.0 or len(terms.coefficients)
        if plain or not len(terms.weights):
            return 0.0
        top = max(_top_exponent(self.whitened(k, corners)) for k in range(len(terms.weights)))
        return top if top < SAFE_EXPONENT else 0.0


def _top_exponent(simplices: Floats) -> float:
    """The largest -|u|**2 over the hull of simplices, or of their corners if that is safe."""
    from scipy.optimize import nnls

    u = np.unique(simplices.reshape(-1, simplices.shape[2]), axis=0)
    corner = -float((u * u).sum(axis=1).min())
    if corner > SAFE_EXPONENT:
        return corner
    # Shares of the corners, not negative and 1 together, whose mean is nearest to the origin.
    rows = np.vstack([u.T / np.abs(u).max(), np.ones(len(u))])
    shares = nnls(rows, np.append(np.zeros(u.shape[1]), 1.0))[0]
    nearest = shares @ u / shares.sum()
    return max(corner, -float(nearest @ nearest))


def _parts(
    local: _LocalDensity, corners: Floats, content: Floats, log_scale: float
) -> _SmoothAndRough:
    """The parts of a density over simplices."""
    terms, whole = local.terms, (corners, content)
    if terms is None:
        return _SmoothAndRough(None, 0, local.at, whole, 0.0)
    plain = terms.constant != 0.0 or len(terms.coefficients)
    smooth, degree = local.polynomial if plain else None, terms.powers.sum(axis=1).max(initial=0)
    if not len(terms.weights):
        return _SmoothAndRough(smooth, int(degree), None, whole, 0.0)
    corners, content, missed = _resolved(local, corners, content, log_scale)
    rough = partial(local.gaussians, log_scale=log_scale)
    return _SmoothAndRough(smooth, int(degree), rough, (corners, content), missed)


def _resolved(
    local: _LocalDensity, corners: Floats, content: Floats, log_scale: float
) -> tuple[Floats, Floats, float]:
    """Simplices split until no component that matters on one is much narrower than it.

    Where a peak lies is known, so that it cannot be missed between the nodes of a rule. Where that
    would take too many, those that may hold most come first: the ones at a peak. Also returns what
    the others may hold at most.
    """
    seen = _extents(local, corners)
    while True:
        wide, lost, most = _unresolved(local, seen, content, log_scale)
        left = MOST_SPLIT - len(corners)
        if not wide.any() or left <= 0:
            return corners, content, float(most[lost].sum())
        ready = np.flatnonzero(wide)
        first = np.argsort(-most[ready], kind="stable")
        ready = ready[first[: min(left, max(FEWEST, len(ready) // 4))]]
        keep = np.ones(len(corners), dtype=bool)
        keep[ready] = False
        halves = halved(corners[ready])
        corners = np.concatenate([corners[keep], halves])
        content = np.concatenate([content[keep], np.tile(0.5 * content[ready], 2)])
        seen = np.concatenate([seen[:, :, keep], _extents(local, halves)], axis=2)


def _extents(local: _LocalDensity, corners: Floats) -> Floats:
    """In widths of each component, (3, components, S): radius of each simplex, distances of its
    nearest point from the peak, one below and one above."""
    rows = []
    for k in range(len(local.terms.weights)):
        seen = local.whitened(k, corners)
        middle = seen.mean(axis=1, keepdims=True)
        radius = np.sqrt(((seen - middle) ** 2).sum(axis=2).max(axis=1))
        rows.append([radius, *_distances(seen)])
    return np.swapaxes(np.array(rows), 0, 1)


def _unresolved(
    local: _LocalDensity, seen: Floats, content: Floats, log_scale: float
) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Per simplex: whether to split it, whether a peak may escape its rule, what it may hold."""
    n = local.terms.centers.shape[1]
    radius, least, reached = seen
    square = least * least
    matters = square - reached.min(axis=1, keepdims=True) ** 2 < DEEP
    top = np.exp(np.minimum(-square - log_scale, 700.0)) * matters
    most = (local.terms.weights @ top) * np.abs(content) / math.factorial(n)
    return ((radius > WIDE) & matters).any(axis=0), ((radius > LOST) & matters).any(axis=0), most


def _distances(simplices: Floats) -> tuple[Floats, Floats]:
    """From the origin to each simplex (S, k + 1, n): a distance below, and one above.

    Each step goes straight towards the corner that leads in most, as far as that helps; whatever
    the direction, no point lies nearer along it than the nearest corner.
    """
    place = simplices.mean(axis=1)
    rows = np.arange(len(simplices))
    size = np.sqrt((place * place).sum(axis=1))
    least = np.maximum(
        size - np.sqrt(((simplices - place[:, None]) ** 2).sum(axis=2).max(axis=1)), 0.0
    )
    for _ in range(CLOSER):
        along = np.einsum("skn,sn->sk", simplices, place)
        corner = np.argmin(along, axis=1)
        least = np.maximum(least, along[rows, corner] / np.where(size > 0.0, size, 1.0))
        step = simplices[rows, corner] - place
        square = (step * step).sum(axis=1)
        share = -(place * step).sum(axis=1) / np.where(square > 0.0, square, 1.0)
        place = place + np.clip(share, 0.0, 1.0)[:, None] * step
        size = np.sqrt((place * place).sum(axis=1))
    return np.minimum(least, size), size


def _moments(z: Points) -> Floats:
    """1, z and |z|**2."""
    return np.column_stack([np.ones(len(z)), z, (z * z).sum(axis=1)])


def _facet_moments(z: Points) -> Floats:
    """1, z and the upper half of z z'."""
    i, j = np.triu_indices(z.shape[1])
    return np.column_stack([np.ones(len(z)), z, z[:, i] * z[:, j]])


def over_facet(
    ground: WeightedRegion, place: Points, facet: Floats, gap: Points, log_scale: float
) -> Floats:
    """Moments over a facet cut into simplices (S, n, n), at right angles to `gap`."""
    unit = gap / math.sqrt(float((gap * gap).sum()))
    normals = np.broadcast_to(unit, (len(facet), 1, len(gap)))
    # (n - 1)! times the area of each simplex; negative if it lies the wrong way.
    content = np.linalg.det(np.concatenate([facet[:, 1:] - facet[:, :1], normals], axis=1))
    content = content if content.sum() > 0.0 else -content
    local = _LocalDensity(ground.density, ground.terms, place)
    parts = _parts(local, facet, content, log_scale)
    rule = rule_over(len(place) - 1, ground.terms is not None)
    return _integrals(parts, facet, content, _facet_moments, rule)[0]


def _borders_of(pieces: SimplicialCell) -> list[int]:
    """The agents whose cells share a facet with this one, ascending."""
    others = np.unique(pieces.behind[pieces.behind >= 0])
    n, least = pieces.vertices.shape[1], THINNEST * np.abs(pieces.vertices).max(initial=0.0)
    own = {int(q): pieces.vertices[np.unique(pieces.simplices[pieces.behind == q])] for q in others}
    return [q for q, corners in own.items() if width(corners, n) > least]


def _flat(workspace: Workspace) -> Flat:
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

"""Derivatives of centroids and cost: against differences, identities, and values known by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import (
    Ball,
    Box,
    Ellipsoid,
    Gaussian,
    Interval,
    Mixture,
    Polygon,
    Polynomial,
    Polytope,
    Uniform,
    tessellate,
)
from dwell.cells.backend import borders
from dwell.cells.grid import lattice_terms
from dwell.density import Density, as_density
from dwell.errors import AgentsError, DensityError
from dwell.geometry import voronoi_cells
from dwell.theory.derivatives import Derivatives, derivatives

ROOM = Box((0, 0), (3, 2))
HEPTAGON = Polygon([(-8, 0), (-3, -9), (10, -11), (22, -5), (24, 8), (12, 18), (-4, 14)])
TILTED = ((0.2, 0.1), (0.1, 0.3))

DENSITIES: dict[str, Density] = {
    "uniform": Uniform(2.0),
    "gaussian": Gaussian((1.0, 1.0), rate=2.0),
    "mixture": Mixture(
        (
            Uniform(0.1),
            Gaussian((2.0, 0.5), covariance=TILTED, weight=3.0),
            Gaussian((0.5, 1.5), rate=4.0),
        )
    ),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.5), (1, 3, 0.2)]),
    "function": as_density(lambda z: 1.0 + np.sin(z[:, 0]) ** 2 + z[:, 1]),
}


def scattered(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform((0.2, 0.2), (2.8, 1.8), (count, 2))


def slopes(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: float = 2.0**-10) -> np.ndarray:
    """Central differences of f, twice extrapolated; columns are the coordinates of x."""

    def along(k: int, s: float) -> np.ndarray:
        step = np.zeros(x.size)
        step[k] = s
        up, down = (f(x + sign * step.reshape(x.shape)) for sign in (1.0, -1.0))
        return np.ravel(up - down) / (2.0 * s)

    columns = []
    for k in range(x.size):
        a, b, c = (along(k, s) for s in (h, h / 2, h / 4))
        columns.append((16.0 * (4.0 * c - b) / 3.0 - (4.0 * b - a) / 3.0) / 15.0)
    return np.array(columns).T


def facets(found: Derivatives) -> np.ndarray:
    """The matrix A of the Hessian 2 (M - A)."""
    return np.diag(np.repeat(found.masses, 2)) - 0.5 * found.hessian.toarray()


CUBE = Box((0, 0, 0), (4, 3, 2))
WEDGE = Polytope([(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 2), (3, 0, 2), (0, 3, 2)])
EGG, OVAL = Ellipsoid((0, 0), (2, 1)), Ellipsoid((0, 0, 0), (2, 1, 1.5))
FOUR = np.random.default_rng(6).random((3, 4))
WORLDS: dict[str, tuple[Any, Any, Density]] = {
    **{name: (ROOM, scattered(4, seed=3), density) for name, density in DENSITIES.items()},
    "line": (Interval(0, 5), [[0.4], [1.1], [2.9], [4.5]], Gaussian((2,), rate=0.3)),
    "line, polynomial": (Interval(0, 5), [[0.4], [2.9], [4.5]], Polynomial([(0, 1.0), (2, 0.3)])),
    "cube": (CUBE, [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4), (3.5, 0.7, 1.6)], Uniform()),
    "cube, gaussian": (CUBE, [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4)], Gaussian((3, 2, 1), rate=0.3)),
    "wedge": (WEDGE, [(0.5, 0.5, 0.5), (1.5, 0.6, 1.2), (0.4, 1.7, 1.4)], Uniform()),
    "disc": (Ball((0, 0), 3), [(1, 1), (-1, 0.4), (0.3, -1.5)], Gaussian((1, 1), 0.3)),
    "ellipse": (EGG, [(1, 0.5), (-1, 0.4), (0.3, -0.5)], Polynomial([(0, 0, 1.0), (0, 4, 0.1)])),
    "ball": (Ball((0, 0, 0), 2), [(1, 0.2, 0.1), (-1, 0.4, 0.3), (0, -1, 0.5)], Uniform()),
    "ellipsoid": (OVAL, [(1, 0.2, 0.1), (-1, 0.4, 0.3), (0, -0.5, 0.2)], Gaussian((1, 0, 0), 0.5)),
    "four dimensions": (Box((0,) * 4, (1,) * 4), FOUR, Polynomial([(1, 0, 0, 0, 1.0)])),
}  # fmt: skip


@pytest.mark.parametrize("world", WORLDS)
def test_derivatives_are_slopes(world: str) -> None:
    """Of centroids, of the gradient, of the cost; and M Dc = A - e (x) dm."""
    site, places, density = WORLDS[world]
    x = np.array(places, dtype=float)
    found, n = derivatives(site, x, density), x.shape[1]

    def measured(y: np.ndarray) -> np.ndarray:
        cells = tessellate(site, y, density)
        gradient = -2.0 * cells.masses[:, None] * cells.errors
        return np.concatenate([(cells.errors + y - x).ravel(), gradient.ravel(),
                               cells.masses, [cells.cost]])  # fmt: skip

    size, limit = x.size, 1e-9 if world in DENSITIES else 1e-7
    slope = slopes(measured, x)
    jacobian, hessian = found.jacobian.toarray(), found.hessian.toarray()
    assert np.abs(jacobian - slope[:size]).max() < limit
    assert np.abs(hessian - slope[size : 2 * size]).max() < limit * max(1.0, np.abs(hessian).max())
    assert np.abs(found.gradient.ravel() - slope[-1]).max() < limit * max(1.0, found.masses.max())
    assert found.gradient.ravel() == pytest.approx(measured(x)[size : 2 * size], abs=1e-12)
    weighed = np.repeat(found.masses, n)[:, None] * jacobian
    rest = np.einsum("pi,pk->pik", found.errors, slope[2 * size : -1]).reshape(weighed.shape)
    a = np.diag(np.repeat(found.masses, n)) - 0.5 * hessian
    assert np.abs(weighed - (a - rest)).max() < limit * max(1.0, found.masses.max())


@given(st.integers(0, 10**6), st.integers(1, 14), st.sampled_from(["uniform", "mixture"]))
def test_a_is_symmetric_and_nowhere_negative(seed: int, count: int, name: str) -> None:
    found = derivatives(ROOM, scattered(count, seed), DENSITIES[name])
    a = facets(found)
    size = np.abs(a).max() + found.masses.max()
    assert np.abs(a - a.T).max() <= 1e-12 * size
    assert np.linalg.eigvalsh(0.5 * (a + a.T)).min() >= -1e-12 * size


def interior(workspace: Box | Polygon, x: np.ndarray) -> list[int]:
    return [p for p, cell in enumerate(tessellate(workspace, x).cells) if (cell.borders >= 0).all()]


def test_translating_all_agents_moves_inner_centroids_along() -> None:
    x = np.random.default_rng(5).uniform((-2, -5), (18, 12), (60, 2))
    rows = derivatives(HEPTAGON, x, Uniform()).jacobian.toarray().reshape(60, 2, 60, 2).sum(axis=2)
    inside = interior(HEPTAGON, x)
    assert len(inside) > 20
    assert np.abs(rows[inside] - np.eye(2)).max() < 1e-13
    outer = np.setdiff1d(np.arange(60), inside)
    assert np.abs(rows[outer] - np.eye(2)).max() > 0.1  # there the workspace's boundary counts


@pytest.mark.parametrize("width", [1e-2, 1e-5, 1e-8])
def test_a_cluster_in_a_large_workspace_loses_no_digits(width: float) -> None:
    lattice = np.array([(i, j) for i in range(-3, 4) for j in range(-3, 4)], dtype=float)
    jitter = np.random.default_rng(1).uniform(-0.3, 0.3, lattice.shape)
    x = 0.5 + width * (lattice + jitter)
    row = derivatives(Box((0, 0), (1, 1)), x, Uniform()).jacobian.toarray()[48:50]
    assert np.abs(row.reshape(2, 49, 2).sum(axis=1) - np.eye(2)).max() < 1e-14


def test_one_agent_has_a_fixed_centroid() -> None:
    for density in DENSITIES.values():
        found = derivatives(ROOM, np.array([(0.4, 1.1)]), density)
        assert np.abs(found.jacobian.toarray()).max() == 0.0
        assert found.hessian.toarray() == pytest.approx(2.0 * found.masses[0] * np.eye(2))
        assert found.lipschitz().tolist() == [0.0]


# Far out, far away, degenerate.


@pytest.mark.parametrize(("side", "rate"), [(10.0, 1.0), (100.0, 1.0), (10.0, 1000.0)])
def test_borders_far_in_a_tail_have_their_weight(side: float, rate: float) -> None:
    """Against erf with sixty digits: exponents along a border range over thousands."""
    x = np.random.default_rng(1).uniform(0.05 * side, 0.95 * side, (8, 2))
    center = (0.125 * side, 0.25 * side)
    square = Box((0, 0), (side, side))
    found, cells = borders(square, x, Gaussian(center, rate=rate)), voronoi_cells(square.polygon, x)
    for k, (p, q) in enumerate(zip(found.agent, found.other, strict=True)):
        j = int(np.flatnonzero(cells[p].borders == q)[0])
        ends = cells[p].offsets[[j, (j + 1) % len(cells[p].offsets)]]
        exact = _along_a_hill(x[p], ends, found.log_scales[p], center, rate)
        if exact > 1e-250:  # beside its cell's own weight, smaller ones are nothing
            assert float(abs(found.m0[k] - exact) / exact) < 1e-11


def _along_a_hill(
    position: np.ndarray,
    corners: np.ndarray,
    log_scale: float,
    center: tuple[float, float],
    rate: float,
) -> mpmath.mpf:
    with mpmath.workdps(60):
        a, b = (
            [mpmath.mpf(position[i]) + mpmath.mpf(end[i]) - center[i] for i in (0, 1)]
            for end in corners
        )
        length = mpmath.hypot(b[0] - a[0], b[1] - a[1])
        low = (a[0] * (b[0] - a[0]) + a[1] * (b[1] - a[1])) / length
        square = a[0] ** 2 + a[1] ** 2 - low**2
        ends = [mpmath.sqrt(rate) * t for t in (low, low + length)]
        if ends[0] * ends[1] > 0:  # on one side of the peak's foot
            span = abs(mpmath.erfc(abs(ends[0])) - mpmath.erfc(abs(ends[1])))
        else:
            span = mpmath.erf(ends[1]) - mpmath.erf(ends[0])
        scale = mpmath.exp(-rate * square - mpmath.mpf(log_scale))
        return scale * mpmath.sqrt(mpmath.pi / rate) / 2 * span


def test_cells_far_in_a_tail_have_a_jacobian() -> None:
    """Masses below the smallest double: the centroids still move, and so do their derivatives."""
    hill, x = Gaussian((-150.0, 1.0), rate=0.5), scattered(5, seed=4)
    found = derivatives(ROOM, x, hill)
    assert found.masses.max() == 0.0
    assert (found.log_masses < -1e4).all()
    expected = slopes(lambda y: tessellate(ROOM, y, hill).errors + (y - x), x)
    assert np.abs(found.jacobian.toarray() - expected).max() < 1e-7


@pytest.mark.parametrize(
    ("scale", "offset", "tolerance"),
    [
        (1e-6, 0.0, 1e-12),
        (1e-3, 0.0, 1e-12),
        (1e5, 0.0, 1e-12),
        pytest.param(1.0, 5e6, 1e-13, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("name", ["uniform", "gaussian", "polynomial", "function"])
def test_units_and_origin_do_not_matter(
    name: str, scale: float, offset: float, tolerance: float
) -> None:
    """In map coordinates, far from the origin, a function is given rounded positions."""

    def density(unit: float, at: float) -> Density:
        center = (at + unit, at + 1.5 * unit)
        return {
            "uniform": Uniform(),
            "gaussian": Gaussian(center, rate=0.75 / unit**2),
            "polynomial": Polynomial([(0, 0, 1.0), (2, 1, 0.25 / unit**3)], (at, at)),
            "function": as_density(
                lambda z: 1.0 / (0.05 + (((z - at) / unit - 1.0) ** 2).sum(axis=1))
            ),
        }[name]

    x = np.round(scattered(5, seed=6) * 2**20) / 2**20  # so that adding the offset rounds nothing
    one = derivatives(ROOM, x, density(1.0, 0.0))
    room = Box((offset, offset), (offset + 3 * scale, offset + 2 * scale))
    other = derivatives(room, x * scale + offset, density(scale, offset))
    tolerance = 1e-9 if name == "function" else tolerance
    assert np.abs(other.jacobian - one.jacobian).max() < tolerance
    assert np.abs(other.hessian / scale**2 - one.hessian).max() < tolerance


def test_a_lattice_whose_cells_meet_in_points() -> None:
    """Four cells at every corner: borders of no length count nothing, and slopes are continuous."""
    x = np.array([(i + 0.5, j + 0.5) for i in range(5) for j in range(5)])
    room = Box((0, 0), (5, 5))
    found = derivatives(room, x, Uniform())
    a = facets(found)
    assert np.abs(a - a.T).max() < 1e-14
    middle = found.jacobian.toarray()[24:26].reshape(2, 25, 2)
    assert middle.sum(axis=1) == pytest.approx(np.eye(2), abs=1e-14)
    # Towards the right neighbour: int (z - c)(x_q - z)' / d over z = (1/2, t), |t| < 1/2.
    assert middle[:, 17] == pytest.approx(np.diag([0.25, -1.0 / 12.0]), abs=1e-14)
    assert middle[:, 12] == pytest.approx(np.eye(2) * (2 * 0.25 + 2 / 12), abs=1e-14)
    jitter = np.random.default_rng(0).uniform(-1e-9, 1e-9, x.shape)
    moved = derivatives(room, x + jitter, Uniform())
    assert np.abs(moved.jacobian - found.jacobian).max() < 1e-7


# Refusals.


class OnAGrid:
    """A density that is summed over points."""

    def at(self, points: np.ndarray) -> np.ndarray:
        return np.ones(len(points))

    def terms(self) -> object:
        return lattice_terms(Uniform(), ROOM, 0.1)


TWINS = scattered(5)[[0, 1, 2, 1, 4]]
HALF = as_density(lambda z: np.where(z[:, 0] < 1.9, 1.0, 0.0))


@pytest.mark.parametrize(
    ("places", "density", "words"),
    [
        (scattered(3), OnAGrid(), "piecewise constant"),
        (TWINS, DENSITIES["uniform"], "agents 1 and 3 stand at the same place"),
        (TWINS, DENSITIES["function"], "agents 1 and 3 stand at the same place"),
        ([(0.5, 1.0), (1.5, 1.0), (2.5, 1.0)], HALF, "the cell of agent 2 weighs nothing"),
        # An empty cell: all of the room is nearer to agent 0.
        ([(1.0, 1.0), (40.0, 1.0)], Uniform(), "the cell of agent 1 weighs nothing"),
    ],
)
def test_what_has_no_derivative_is_named(places: Any, density: Density, words: str) -> None:
    with pytest.raises((AgentsError, DensityError), match=words):
        derivatives(ROOM, np.array(places), density)

"""Cells in balls and ellipsoids above the plane: caps, tails, narrow hills, and slivers."""

import math

import mpmath as mp
import numpy as np
import pytest

from dwell import Ball, Ellipsoid
from dwell.cells import rays, tessellate
from dwell.cells.cones import cells
from dwell.density import Gaussian, Mixture, Uniform
from tests.cells.shapes import EGG, look, scatter

pytestmark = pytest.mark.slow

EXACT = 1e-10  # what is promised for constant densities


@pytest.mark.parametrize("step", [0.5, 0.8])
def test_lattices_with_many_corners_in_one_place(step):
    axis = np.arange(-2.0, 2.01, step)
    grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    ball = Ball((0, 0, 0), 1.5)
    positions = grid[(grid**2).sum(axis=1) < 1.5**2]
    seen = look(ball, positions)
    assert seen.mass.sum() == pytest.approx(ball.volume, rel=EXACT)
    inner = np.abs(positions).sum(axis=1) == 0
    assert seen.mass[inner] == pytest.approx(step**3, rel=1e-12, abs=0.0)


def test_rays_agree_with_cones():
    positions = scatter(EGG, 8, 41)
    exact, rough = look(EGG, positions), look(EGG, positions, way=rays.measure)
    assert (np.abs(rough.mass / exact.mass - 1) <= rough.doubt).all()
    assert rough.mass == pytest.approx(exact.mass, rel=5e-3)
    assert rough.error == pytest.approx(exact.error, abs=5e-3)
    assert rough.second == pytest.approx(exact.second, rel=1e-2)
    assert rough.polar == pytest.approx(exact.polar, rel=1e-2)


def test_cells_above_space():
    ball = Ball((0.0,) * 4, 1.0)
    positions = scatter(ball, 5, 47)
    points = scatter(ball, 20_000, 48)
    owner = ((points[:, None] - positions) ** 2).sum(axis=2).argmin(axis=1)
    for p, cell in enumerate(cells(ball, positions)):
        assert (cell.contains(points) == (owner == p)).mean() > 0.999
    seen = look(ball, positions, Gaussian((0.1,) * 4, 1.0))
    whole = look(ball, [positions[0]], Gaussian((0.1,) * 4, 1.0))
    assert seen.mass.sum() == pytest.approx(whole.mass[0], rel=1e-2)


def crowd(shape, count):
    """Agents in an ellipsoid, three of them next to its boundary, and a Gaussian off its center."""
    rng, (lower, upper) = np.random.default_rng(1), shape.bounds
    inside = []
    while len(inside) < count:
        point = rng.uniform(lower, upper)
        if shape.contains(point[None])[0]:
            inside.append(point)
    points, root = np.array(inside), shape.root
    for k, gap in enumerate([1e-2, 1e-4, 1e-6]):
        arm = points[k] - root.center
        points[k] = root.center + arm * (1 - gap) / np.sqrt(((root.matrix @ arm) ** 2).sum())
    size = min(shape.semi_axes)
    return points, np.array(shape.center) + 0.3 * size, 400 / size**2


def test_a_cell_far_out_in_a_tail():
    """Random points in a box next to the place of the cell that is nearest to the peak."""
    shape = Ellipsoid((0.1, 0.0, 0.0), (1.5, 1.0, 0.7))
    points, peak, rate = crowd(shape, 20)
    found = tessellate(shape, points, Gaussian(peak, rate))
    drawn = np.random.default_rng(2).uniform(-1.0, 1.0, (400_000, 3))
    box = found.centroids[0] + 0.1 * drawn  # it holds nearly all of the mass
    gaps = ((box[:, None] - points) ** 2).sum(axis=2)
    own = shape.contains(box) & (gaps.argmin(axis=1) == 0)
    exponents = -rate * ((box - peak) ** 2).sum(axis=1) - found.log_masses[0]
    share = np.exp(exponents[own]).sum() / len(box) * 0.2**3
    assert share == pytest.approx(1.0, abs=0.15)
    assert found.log_masses[0] == pytest.approx(-757.14, abs=0.05)
    assert (found.second_moments >= 0.0).all()
    assert found.mass_errors.max() < 1e-7
    ball = Ball((0, 0, 0), 1)
    points, peak, rate = crowd(ball, 200)
    assert tessellate(ball, points, Gaussian(peak, rate)).log_masses[151] == pytest.approx(
        -767.7733
    )


@pytest.mark.parametrize("rate", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("place", [0.9, 0.5, 0.0])
def test_a_band_between_two_caps(rate, place):
    """The cell between two others has a patch with two rims, and the peak is beyond one of them."""
    found = tessellate(
        Ball((0, 0, 0), 1), [(-0.6, 0, 0), (0, 0, 0), (0.6, 0, 0)], Gaussian((place, 0, 0), rate)
    )
    nodes, weights = np.polynomial.legendre.leggauss(16)
    for k, (low, high) in enumerate([(-1.0, -0.3), (-0.3, 0.3), (0.3, 1.0)]):
        edges = np.linspace(low, high, 301)
        half = 0.5 * (edges[1] - edges[0])
        x = 0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes
        top = -rate * (np.clip(place, low, high) - place) ** 2
        disc = math.pi / rate * -np.expm1(-rate * (1 - x * x))
        values = np.exp(-rate * (x - place) ** 2 - top) * disc
        expected = math.log(half * (values * weights).sum()) + top
        assert found.log_masses[k] == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("rate", [1e3, 1e4, 1e6])
@pytest.mark.parametrize("center", [(0.31, 0.31, 0.31), (0.4, 0.2, -0.39)])
def test_a_narrow_hill_is_found(rate, center):
    """All of it lies in one cell but for less than e**-30."""
    seen = look(Ball((0, 0, 0), 1), [(0.1, 0.1, 0.1), (-0.5, 0.2, 0.2)], Gaussian(center, rate))
    assert seen.mass[0] == pytest.approx((math.pi / rate) ** 1.5, rel=1e-10, abs=0.0)
    assert seen.error[0] == pytest.approx(np.array(center) - 0.1, abs=1e-10)
    assert seen.polar[0] == pytest.approx(
        seen.mass[0] * (((np.array(center) - 0.1) ** 2).sum() + 1.5 / rate), rel=1e-10
    )


def test_narrow_hills_on_a_plain_and_on_a_border():
    """Half of a hill on each side; a second, off the border, in one cell."""
    hills = [Gaussian((0.0, 0.2, 0.37), 1e6), Gaussian((0.5, -0.1, -0.123), 1e5)]
    density = Mixture([*hills, Uniform(1e-9)])
    seen = look(Ball((0, 0, 0), 1), [(0.3, 0.0, 0.0), (-0.3, 0.0, 0.0)], density)
    half, whole = 0.5 * (math.pi / 1e6) ** 1.5, (math.pi / 1e5) ** 1.5
    plain = 1e-9 * 2 / 3 * math.pi
    assert seen.mass == pytest.approx([half + plain + whole, half + plain], rel=1e-10, abs=0.0)


def slab(offsets):
    """Volume of the unit ball between two planes with given distances from its center."""
    low, high = (t - t**3 / 3 for t in offsets)
    return mp.pi * (high - low)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("axes", [(1.0, 1.0, 1.0), (1.0, 2.0, 0.7)])
def test_slivers_between_nearly_parallel_planes_have_volumes_to_rounding(axes, width):
    rng = np.random.default_rng(1)
    for _ in range(4):
        normal = rng.normal(size=3)
        place = rng.uniform(-0.4, 0.4, 3) * axes
        points = place + width * np.outer([-1.0, 0.0, 1.0], normal / np.linalg.norm(normal))
        found = tessellate(Ellipsoid((0, 0, 0), axes), points)
        with mp.workdps(40):
            ends = []
            for other, side in ((0, -1), (2, 1)):
                exact = [[mp.mpf(float(x)) for x in points[k]] for k in (1, other)]
                gap = [b - a for a, b in zip(*exact, strict=True)]
                size = mp.sqrt(sum((g * mp.mpf(s)) ** 2 for g, s in zip(gap, axes, strict=True)))
                middle = [(a + b) / 2 for a, b in zip(*exact, strict=True)]
                height = sum(g * m for g, m in zip(gap, middle, strict=True))
                ends.append(side * height / size)
            wanted = slab(ends) * math.prod(axes)
            assert abs(found.masses[1] / wanted - 1) < 2e-14
        whole = 4 / 3 * math.pi * math.prod(axes)
        assert found.masses.sum() == pytest.approx(whole, rel=1e-14, abs=0.0)


@pytest.mark.parametrize(
    "density",
    [Uniform(2.0), Gaussian((0.3, 0.2, 0.1), rate=3.0), Gaussian((0.3, 0.2, 0.1), rate=200.0)],
)
def test_a_sliver_is_a_cell_of_a_section_times_its_width(density):
    """The cell of an agent that has another one close above and one close below."""
    width, level = 2.0**-27, 0.25
    flat = np.random.default_rng(5).uniform(-0.5, 0.5, (7, 2))
    if isinstance(density, Uniform):
        inside, factor, close = density, width, 1e-13
    else:
        inside, close = Gaussian((0.2, 0.1), rate=density.rate), 1e-9
        factor = width * math.exp(-density.rate * (level - 0.3) ** 2)
    section = tessellate(Ball((0, 0), math.sqrt(1.0 - level**2)), flat, inside)
    for p in range(7):
        points = np.column_stack([np.full(7, level), flat])
        points = np.vstack([points, points[p] - (width, 0, 0), points[p] + (width, 0, 0)])
        found = tessellate(Ball((0, 0, 0), 1.0), points, density)
        wanted = factor * section.masses[p]
        assert found.masses[p] == pytest.approx(wanted, rel=close, abs=0.0)
        assert found.centroids[p, 1:] == pytest.approx(section.centroids[p], abs=1e-9)

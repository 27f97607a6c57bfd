"""Cells in balls and ellipsoids above the plane: closed forms, laws, and chance."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell import Ball, Ellipsoid
from dwell._kernels import _jit
from dwell.cells import rays, tessellate
from dwell.cells.cones import borders, cells, measure
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density import Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import AgentsError
from tests.cells.shapes import scatter
from tests.plain import printed

pytestmark = pytest.mark.slow

BALL = Ball((0.3, -0.2, 0.1), 2.0)
VOLUME = 32 / 3 * math.pi
TURN = np.array([[2, 2, 1], [-2, 1, 2], [1, -2, 2]]) / 3  # orthonormal rows
EGG = Ellipsoid((1.0, 2.0, -1.0), (3.0, 1.0, 0.5), TURN)
NEEDLE = Ellipsoid((0.0, 0.0, 0.0), (100.0, 1.0, 1.0), TURN)
FAR = Ellipsoid((5e6, -5e6, 1e6), (2.0, 1.0, 1.5), TURN)
SHAPES = {"ball": BALL, "egg": EGG, "needle": NEEDLE, "far": FAR}
EXACT = 1e-10  # what is promised for constant densities
GOOD = 1e-8  # and for others


def look(shape, positions, density=None, way=measure):
    points = np.asarray(positions, dtype=float)
    all_agents = np.arange(len(points))
    ground = weighted_region(shape, Uniform() if density is None else density)
    return way(ground, points[None], np.zeros_like(all_agents), all_agents)


def cap(radius, height):
    """Volume and centroid of what a ball has beyond `height` from its centre."""
    depth = radius - height
    volume = math.pi * depth**2 * (3 * radius - depth) / 3
    return volume, 3 * (2 * radius - depth) ** 2 / (4 * (3 * radius - depth))


# ----------------------------------------------------------------------------- space


@pytest.mark.parametrize(
    "place", [(0.3, -0.2, 0.1), (1.0, 0.5, -0.4), (0.3, -0.2, 2.1), (0.3, 1.8 - 1e-9, 0.1)]
)
def test_one_agent_has_the_whole_ball(place):
    seen = look(BALL, [place])
    gap = np.array(BALL.center) - place
    second = 4 * math.pi * 2.0**5 / 5
    assert seen.mass[0] == pytest.approx(VOLUME, rel=EXACT)
    assert seen.error[0] == pytest.approx(gap, abs=EXACT)
    assert seen.second[0] == pytest.approx(second, rel=EXACT)
    assert seen.polar[0] == pytest.approx(second + VOLUME * gap @ gap, rel=EXACT)
    assert seen.doubt[0] < EXACT
    assert seen.neighbors[0] == 0
    assert seen.nearest[0] == np.inf


@pytest.mark.parametrize("height", [0.0, 0.7, -1.5, 1.9, 1.999])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (3, 5, -2), (1e-3, 1e-5, 1)])
def test_two_agents_share_the_ball_by_caps(axis, height):
    u = np.array(axis) / math.sqrt(sum(v * v for v in axis))
    places = [BALL.center + (height + 0.25) * u, BALL.center + (height - 0.25) * u]
    seen = look(BALL, places)
    volume, centroid = cap(2.0, height)
    assert seen.mass[0] == pytest.approx(volume, rel=EXACT)
    assert seen.mass.sum() == pytest.approx(VOLUME, rel=EXACT)
    assert places[0] + seen.error[0] == pytest.approx(BALL.center + centroid * u, abs=EXACT)
    assert (np.abs(seen.mass - [volume, VOLUME - volume]) <= (seen.doubt + 1e-12) * seen.mass).all()
    assert seen.neighbors.tolist() == [1, 1]


@pytest.mark.parametrize("rate", [0.01, 1.3, 40.0])
def test_a_gaussian_in_the_middle(rate):
    hill = Gaussian(BALL.center, rate)
    with mp.workdps(30):
        k = mp.mpf(rate)
        ray = mp.sqrt(mp.pi) * mp.erf(2 * mp.sqrt(k)) / (4 * k**1.5) - mp.exp(-4 * k) / k
        mass = float(4 * mp.pi * ray)
        half = float(mp.pi * (1 - (1 + 4 * k) * mp.exp(-4 * k)) / (2 * k * k))
    whole = look(BALL, [(0.5, 0.5, 0.5)], hill)
    assert whole.mass[0] == pytest.approx(mass, rel=GOOD)
    x, y, z = BALL.center
    both = look(BALL, [(x + 0.3, y, z), (x - 0.3, y, z)], hill)
    assert both.mass == pytest.approx([mass / 2] * 2, rel=GOOD)
    assert both.error[0] == pytest.approx([2 * half / mass - 0.3, 0, 0], abs=GOOD)


def test_a_hill_far_away():
    """Below the smallest double: slices of the ball across the axis to the hill."""
    rate, away = 1.0, 30.0
    with mp.workdps(30):

        def across(x):
            squares = mp.mpf(4) - x * x
            hill = mp.exp(rate * ((2 - away) ** 2 - (x - away) ** 2))  # from its largest value on
            return hill * mp.pi * (1 - mp.exp(-rate * squares)) / rate

        mass = mp.quad(across, mp.linspace(-2, 2, 17))
        log_mass = float(mp.log(mass) - rate * (2 - away) ** 2)
    for axis in range(3):
        center = np.array([0.0, 0.0, 0.0])
        center[axis] = away
        seen = look(Ball((0, 0, 0), 2.0), [(0.5, 0.2, 0.1)], Gaussian(tuple(center), rate))
        assert seen.log_scale[0] < -600
        assert np.log(seen.mass[0]) + seen.log_scale[0] == pytest.approx(log_mass, abs=GOOD)


def test_an_ellipsoid_is_a_stretched_ball():
    a, b, c = EGG.semi_axes
    u = EGG.axes[0]
    seen = look(EGG, [EGG.center + u, EGG.center - 0.2 * u])
    volume, centroid = cap(1.0, 0.4 / a)
    assert seen.mass[0] == pytest.approx(a * b * c * volume, rel=EXACT)
    assert EGG.center + u + seen.error[0] == pytest.approx(EGG.center + a * centroid * u, abs=EXACT)


def test_a_polynomial_against_moments_of_the_ball():
    """Density (x - 0.3)**2 + 2: moments of a ball, and symmetric halves."""
    density = Polynomial([(2, 0, 0, 1.0), (0, 0, 0, 2.0)], origin=BALL.center)
    square = 4 * math.pi / 15 * 2.0**5
    seen = look(BALL, [(1.0, 0.3, 0.2)], density)
    assert seen.mass[0] == pytest.approx(square + 2 * VOLUME, rel=GOOD)
    assert seen.error[0] == pytest.approx(np.array(BALL.center) - (1.0, 0.3, 0.2), abs=GOOD)


MIXTURE = Mixture(
    (Uniform(0.2), Gaussian((1.0, 1.0, 0.0), 0.7), Gaussian((0.0, 0.5, 1.0), 5.0, weight=2.0))
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [3, 12, 40])
def test_the_cells_make_up_the_workspace(shape, count):
    where = SHAPES[shape]
    positions = scatter(where, count, 3)
    seen = look(where, positions)
    assert seen.mass.sum() == pytest.approx(where.volume, rel=EXACT)
    middle = (seen.mass[:, None] * (positions - where.center + seen.error)).sum(axis=0)
    assert middle / where.volume == pytest.approx(np.zeros(3), abs=EXACT * max(where.semi_axes))
    assert (seen.second > 0).all()
    assert seen.doubt.max() < EXACT


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


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_volumes_add_up(seed, count, b, c):
    shape = Ellipsoid((0.5, -1.0, 2.0), (1.0, b, c), TURN)
    seen = look(shape, scatter(shape, count, seed))
    assert seen.mass.sum() == pytest.approx(shape.volume, rel=EXACT)


PROGRAM = """
import numpy as np
from tests.cells.test_ball_cells import EGG, MIXTURE, borders, weighted_region, look
from tests.cells.shapes import scatter
found = borders(weighted_region(EGG, MIXTURE), scatter(EGG, 2, 3), agents=1)
for values in (found.masses, found.errors, found.m0, found.m2, look(EGG, scatter(EGG, 2, 3)).polar):
    print(values.tobytes().hex())
"""


@pytest.mark.skipif(not _jit.ENABLED, reason="compares compiled with plain")
def test_plain_python_gives_the_same_bits():
    assert printed(PROGRAM, jit=False) == printed(PROGRAM, jit=True)


def test_agents_outside_and_together():
    ball = Ball((0, 0, 0), 1.0)
    seen = look(ball, [(3.0, 0, 0), (0.5, 0, 0)])
    assert seen.empty.tolist() == [True, False]
    assert seen.error[0] == pytest.approx([-2.0, 0, 0])
    assert seen.mass[1] == pytest.approx(ball.volume, rel=EXACT)
    beyond = np.nextafter(1.0, 2.0)
    seen = look(ball, [(beyond, 0, 0), (0.9, 0, 0), (-0.5, 0, 0)])
    assert seen.mass.sum() == pytest.approx(ball.volume, rel=EXACT)
    places = np.array([(0, 0, 0), (0.5, 0, 0), (0.5, 0, 0)], dtype=float)
    assert look(ball, places).coincident.tolist() == [False, True, True]
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        cells(ball, places)
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        borders(weighted_region(ball, Uniform()), places)


def test_the_face_between_two_halves():
    """A disc of radius 2: its area, its middle, its second moments."""
    u = np.array([3.0, 5.0, -2.0]) / math.sqrt(38)
    places = np.array([BALL.center + 0.5 * u, BALL.center - 0.5 * u])
    found = borders(weighted_region(BALL, Uniform(1.5)), places)
    area = 1.5 * 4 * math.pi
    assert found.m0 == pytest.approx([area] * 2, rel=EXACT)
    assert found.m1[0] == pytest.approx(-0.5 * u * area, abs=EXACT)
    upright = np.eye(3) - u[:, None] * u
    expected = area * (upright + 0.25 * u[:, None] * u)
    assert found.m2[0] == pytest.approx(expected, abs=100 * EXACT)
    some = borders(weighted_region(BALL, Uniform(1.5)), places, agents=1)
    assert (some.m0 == found.m0[:1]).all()


# ------------------------------------------------------------------- any dimension


def unit_volume(n):
    return math.pi ** (n / 2) / math.gamma(n / 2 + 1)


@pytest.mark.parametrize("n", [4, 5, 7])
def test_whole_balls_by_rays(n):
    ball = Ball((0.2,) * n, 1.5)
    place = np.full(n, 0.4)
    seen = look(ball, [place])
    volume = unit_volume(n) * 1.5**n
    assert seen.mass[0] == pytest.approx(volume, rel=1e-3)
    assert abs(seen.mass[0] / volume - 1) <= seen.doubt[0] + 1e-12
    assert seen.error[0] == pytest.approx(np.full(n, -0.2), abs=1e-3)
    assert seen.second[0] == pytest.approx(volume * 1.5**2 * n / (n + 2), rel=2e-3)


@pytest.mark.parametrize("n", [4, 6])
def test_halves_by_rays(n):
    ball = Ball((0.0,) * n, 1.0)
    u = np.zeros(n)
    u[0] = 0.3
    seen = look(ball, [u, -u])
    volume = unit_volume(n)
    centroid = unit_volume(n - 1) / (n + 1) / (volume / 2)
    assert seen.mass == pytest.approx([volume / 2] * 2, rel=3e-3)
    assert (np.abs(2 * seen.mass / volume - 1) <= seen.doubt).all()
    assert seen.error[0, 0] == pytest.approx(centroid - 0.3, abs=3e-3)
    assert seen.neighbors.tolist() == [1, 1]
    found = borders(weighted_region(ball, Uniform()), np.array([u, -u]))
    face = unit_volume(n - 1)
    assert found.m0 == pytest.approx([face] * 2, rel=5e-3)
    assert found.m1[0] == pytest.approx(-u * face, abs=5e-3)
    flat = np.eye(n) * face / (n + 1)
    flat[0, 0] = 0.09 * face
    assert found.m2[0] == pytest.approx(flat, abs=3e-2)


def test_rays_agree_with_cones():
    positions = scatter(EGG, 8, 41)
    exact, rough = look(EGG, positions), look(EGG, positions, way=rays.measure)
    assert (np.abs(rough.mass / exact.mass - 1) <= rough.doubt).all()
    assert rough.mass == pytest.approx(exact.mass, rel=5e-3)
    assert rough.error == pytest.approx(exact.error, abs=5e-3)
    assert rough.second == pytest.approx(exact.second, rel=1e-2)
    assert rough.polar == pytest.approx(exact.polar, rel=1e-2)


def test_functions_in_space():
    hill = Gaussian((1.0, 1.5, -1.0), 0.9)
    positions = scatter(EGG, 4, 43)
    python = WeightedRegion(EGG, Function(hill.at), None)
    all_agents = np.arange(4)
    rough = measure(python, positions[None], np.zeros_like(all_agents), all_agents)
    exact = look(EGG, positions, hill)
    assert (np.abs(rough.mass / exact.mass - 1) <= rough.doubt + exact.doubt).all()
    assert rough.mass == pytest.approx(exact.mass, rel=1e-8)
    assert rough.error == pytest.approx(exact.error, abs=1e-8)
    assert rough.second == pytest.approx(exact.second, rel=1e-6)
    one, two = borders(python, positions), borders(weighted_region(EGG, hill), positions)
    for p, q, m0 in zip(two.agent, two.other, two.m0, strict=True):
        place = np.flatnonzero((one.agent == p) & (one.other == q))
        assert one.m0[place] == pytest.approx(m0, rel=1e-6)


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
    assert look(ball, [positions[0], positions[0]]).coincident.all()
    with pytest.raises(AgentsError, match="agents 0 and 1"):
        cells(ball, np.array([positions[0], positions[0]]))
    outside = look(ball, [np.full(4, 3.0), np.zeros(4)])
    assert outside.empty.tolist() == [True, False]


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


@pytest.mark.parametrize("beyond", [-1e-12, 0.0, 1e-12, 0.3])
def test_agents_at_and_beyond_the_boundary(beyond):
    """One agent in the ball and one at the boundary: two caps, whatever side it is on."""
    near = 1.0 + beyond
    seen = look(Ball((0, 0, 0), 1), [(near, 0, 0), (0.2, 0, 0)])
    volume, centroid = cap(1.0, 0.5 * (near + 0.2))
    assert seen.mass == pytest.approx([volume, 4 / 3 * math.pi - volume], rel=1e-13, abs=0.0)
    assert near + seen.error[0, 0] == pytest.approx(centroid, abs=1e-13)
    assert (seen.second > 0.0).all()


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


@pytest.mark.parametrize("density", [Uniform(), MIXTURE])
def test_the_number_of_threads_changes_no_bit(density):
    """Nor does which looks are asked for together; several configurations at once."""
    ground = weighted_region(EGG, density)
    places = np.array([scatter(EGG, 12, seed) for seed in (1, 2, 3)])
    row, agent = (table.ravel() for table in np.indices((3, 12)))
    order = np.random.default_rng(4).permutation(36)
    one = measure(ground, places, row, agent)
    some = measure(ground, places, row[order], agent[order], threads=3)
    alone = measure(ground, places[1:2], np.array([0]), np.array([5]), threads=2)
    for name in (
        "coincident",
        "empty",
        "error",
        "log_scale",
        "mass",
        "polar",
        "neighbors",
        "nearest",
    ):
        assert (getattr(one, name)[order] == getattr(some, name)).all()
        assert (getattr(one, name)[17] == getattr(alone, name)[0]).all()
    assert (one.second[order] == some.second).all()
    assert (one.doubt[order] == some.doubt).all()


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

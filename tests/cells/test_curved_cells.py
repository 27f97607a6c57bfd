"""Cells in balls and ellipsoids of any dimension: closed forms and laws."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dwell import Ball, Ellipsoid
from dwell._kernels import _jit
from dwell.cells.cones import borders, cells, measure
from dwell.cells.weighted_region import weighted_region
from dwell.density import Function, Gaussian, Polynomial, Uniform
from dwell.errors import AgentsError
from tests.cells.shapes import (
    CURVED,
    DISC,
    EGG,
    ELLIPSE,
    HILLS,
    MIXTURE,
    TURN,
    look,
    placed,
    scatter,
    tilted,
)
from tests.plain import printed

# What is promised, by dimension: for constant densities, and for others.
EXACT = {2: 1e-14, 3: 1e-10, 4: 1e-3, 5: 1e-3, 6: 1e-3, 7: 1e-3}
GOOD = {2: 1e-13, 3: 1e-8}


def unit_volume(n):
    return math.pi ** (n / 2) / math.gamma(n / 2 + 1)


def lower_gamma(a, x):
    """Integral of 2 r**(2 a - 1) exp(-k r**2) over r up to sqrt(x / k), times k**a."""
    return mp.gammainc(a, 0, x)


# --------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("away", [0.0, 0.4, 1.0 - 1e-9, 1.0])
def test_one_agent_has_the_whole_ball(n, away):
    ball = Ball((0.2,) * n, 1.5)
    place = np.full(n, 0.2)
    place[-1] += 1.5 * away
    (volume, exact), gap = (unit_volume(n) * 1.5**n, EXACT[n]), np.array(ball.center) - place
    seen = look(ball, [place])
    second = volume * 1.5**2 * n / (n + 2)
    assert seen.mass[0] == pytest.approx(volume, rel=exact, abs=0.0)
    assert seen.error[0] == pytest.approx(gap, abs=exact)
    rough = exact if n < 4 else 2e-3
    assert seen.second[0] == pytest.approx(second, rel=rough, abs=0.0)
    assert seen.polar[0] == pytest.approx(second + volume * gap @ gap, rel=rough, abs=0.0)
    assert abs(seen.mass[0] / volume - 1) <= seen.doubt[0] + 1e-12
    assert seen.doubt[0] < exact or n > 3
    assert seen.neighbors[0] == 0
    assert seen.nearest[0] == np.inf
    (cell,) = cells(ball, np.array([place]))
    assert cell.whole
    assert not cell.empty
    assert len(cell.offsets) == 0


@pytest.mark.parametrize("n", [2, 3, 4, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_half_balls_and_the_face_between_them(n, seed):
    """Along the first axis, and along others."""
    u = np.eye(n)[0] if seed == 0 else np.random.default_rng(seed).normal(size=n)
    u = u / np.linalg.norm(u)
    ball, exact = Ball((0.3,) * n, 2.0), EXACT[n] if n < 4 else 3e-3
    face = EXACT[3] if n < 4 else 5e-3
    places = np.array([0.3 + 0.5 * u, 0.3 - 0.5 * u])
    seen = look(ball, places)
    volume, disc = unit_volume(n) * 2.0**n, unit_volume(n - 1) * 2.0 ** (n - 1)
    centroid = disc * 2.0**2 / (n + 1) / (volume / 2)
    spread = volume / 2 * (n * 2.0**2 / (n + 2) - centroid**2)
    assert seen.mass == pytest.approx([volume / 2] * 2, rel=exact, abs=0.0)
    assert (np.abs(2 * seen.mass / volume - 1) <= seen.doubt + 1e-15).all()
    assert seen.error == pytest.approx(np.array([u, -u]) * (centroid - 0.5), abs=exact)
    assert n > 3 or seen.second == pytest.approx([spread] * 2, rel=exact, abs=0.0)
    assert seen.neighbors.tolist() == [1, 1]
    found = borders(weighted_region(ball, Uniform(1.5)), places)
    area, across = 1.5 * disc, np.outer(u, u)
    assert found.m0 == pytest.approx([area] * 2, rel=face)
    assert found.m1[0] == pytest.approx(-0.5 * u * area, abs=face * area)
    flat = area * (4 / (n + 1) * (np.eye(n) - across) + 0.25 * across)
    assert found.m2[0] == pytest.approx(flat, abs=5 * face * area)
    some = borders(weighted_region(ball, Uniform(1.5)), places, agents=1)
    assert (some.m0 == found.m0[:1]).all()


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("rate", [1e-4, 0.7, 30.0, 4e4])
def test_a_gaussian_in_the_middle(n, rate):
    """One agent, and two that share the ball."""
    ball, good = Ball((0.3,) * n, 2.0), GOOD[n]
    with mp.workdps(30):
        k = mp.mpf(rate)
        turn, disc = n * unit_volume(n), unit_volume(n - 1)
        mass = float(turn / 2 * lower_gamma(mp.mpf(n) / 2, 4 * k) / k ** (mp.mpf(n) / 2))
        second = float(turn / 2 * lower_gamma(mp.mpf(n) / 2 + 1, 4 * k) / k ** (mp.mpf(n) / 2 + 1))
        half = float(disc / 2 * lower_gamma(mp.mpf(n + 1) / 2, 4 * k) / k ** (mp.mpf(n + 1) / 2))
    whole = look(ball, [(1.0,) * n], Gaussian(ball.center, rate))
    assert whole.mass[0] == pytest.approx(mass, rel=good, abs=0.0)
    assert whole.error[0] == pytest.approx(np.full(n, -0.7), abs=min(good, EXACT[n]))
    assert whole.second[0] == pytest.approx(second, rel=good, abs=0.0)
    u = np.eye(n)[-1]
    both = look(ball, [ball.center + 0.5 * u, ball.center - 0.5 * u], Gaussian(ball.center, rate))
    assert both.mass == pytest.approx([mass / 2] * 2, rel=good, abs=0.0)
    assert both.error[0] == pytest.approx((2 * half / mass - 0.5) * u, abs=good)


@pytest.mark.parametrize(("n", "axis"), [(2, 0), (3, 0), (3, 1), (3, 2)])
def test_a_hill_far_away(n, axis):
    """Below the smallest double: slices x = 2 - s**2 of the ball across the axis to the hill."""
    rate, away, u, close = 1.0, 40.0, np.eye(n)[axis], {2: 3e-12, 3: 1e-8}[n]
    with mp.workdps(30):
        k, flat = mp.mpf(rate), mp.mpf(n - 1) / 2

        def across(s):
            hill = mp.exp(-k * (2 - s * s - away) ** 2)
            section = lower_gamma(flat, k * s * s * (4 - s * s)) / mp.gamma(flat)
            return 2 * s * hill * section * (mp.pi / k) ** flat

        places = mp.linspace(0, 2, 31)
        mass = mp.quad(across, places, method="gauss-legendre", maxdegree=3)
        log_mass = float(mp.log(mass))
    ball, hill = Ball((0.0,) * n, 2.0), Gaussian(tuple(away * u), rate)
    seen = look(ball, [np.arange(1.0, n + 1) / 5], hill)
    assert seen.log_scale[0] < -600
    assert np.log(seen.mass[0]) + seen.log_scale[0] == pytest.approx(log_mass, abs=close)
    side = np.roll(u, 1)
    both = look(ball, [0.3 * side, -0.3 * side], hill)
    logs = np.log(both.mass) + both.log_scale
    assert logs == pytest.approx([log_mass - math.log(2)] * 2, abs=close)


def cap_of(n, height):
    """Volume and centroid of what the unit disc, or ball of space, has beyond a height."""
    with mp.workdps(40):
        h = mp.mpf(height)
        first = unit_volume(n - 1) * mp.sqrt(1 - h * h) ** (n + 1) / (n + 1)
        disc = mp.acos(h) - h * mp.sqrt(1 - h * h)
        volume = disc if n == 2 else mp.pi * (1 - h) ** 2 * (2 + h) / 3
        return float(volume), float(first / volume)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("height", [0.9, 0.5, 0.0, -0.3, 0.999, 1 - 1e-6, -0.99])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (3, 5, -2), (1e-3, 1, 1e-5)])
def test_two_agents_share_the_ball_by_caps(n, height, axis):
    u = np.array(axis[:n]) / math.hypot(*axis[:n])
    places, exact = [(height + 0.25) * u, (height - 0.25) * u], 1e-13 if n == 2 else EXACT[3]
    seen = look(Ball((0.0,) * n, 1.0), places)
    with mp.workdps(40):  # of the plane between the rounded places
        p, q = ([mp.mpf(float(v)) for v in place] for place in places)
        gap = [a - b for a, b in zip(p, q, strict=True)]
        volume, centroid = cap_of(n, (mp.fdot(p, p) - mp.fdot(q, q)) / 2 / mp.norm(gap))
    both = np.array([volume, unit_volume(n) - volume])
    other = -volume * centroid / both[1]
    assert seen.mass == pytest.approx(both, rel=exact, abs=0.0)
    assert seen.error[0] == pytest.approx((centroid - height - 0.25) * u, abs=EXACT[n])
    assert seen.error[1] == pytest.approx((other - height + 0.25) * u, abs=EXACT[n])
    if height < 0.9999:  # rounding of the corners of thinner caps is not in the estimate
        assert (np.abs(seen.mass / both - 1) <= seen.doubt + 1e-12).all()
    assert seen.neighbors.tolist() == [1, 1]


@pytest.mark.parametrize("beyond", [-1e-12, 0.0, 2.3e-16, 1e-12, 0.3])
def test_agents_at_and_beyond_the_boundary(beyond):
    """One agent in the ball and one at the boundary: two caps, whatever side it is on."""
    near = 1.0 + beyond
    seen = look(Ball((0, 0, 0), 1), [(near, 0, 0), (0.2, 0, 0)])
    volume, centroid = cap_of(3, 0.5 * (near + 0.2))
    assert seen.mass == pytest.approx([volume, 4 / 3 * math.pi - volume], rel=1e-13, abs=0.0)
    assert near + seen.error[0, 0] == pytest.approx(centroid, abs=1e-13)
    assert (seen.second > 0.0).all()


@pytest.mark.parametrize("shape", [ELLIPSE, EGG], ids=["ellipse", "egg"])
def test_an_ellipsoid_is_a_stretched_ball(shape):
    """Two agents along the axis of an ellipsoid cut it as the stretched ball is cut."""
    n, a, u = len(shape.center), shape.semi_axes[0], np.asarray(shape.axes)[0]
    close = {2: 1e-13, 3: 1e-10}[n]
    seen = look(shape, [shape.center + u, shape.center - 0.2 * u])
    cap, centroid = cap_of(n, 0.4 / a)  # the bisector, in the unit ball
    size = math.prod(shape.semi_axes)
    assert seen.mass == pytest.approx(
        [size * cap, size * (unit_volume(n) - cap)], rel=close, abs=0.0
    )
    assert seen.error[0] == pytest.approx((a * centroid - 1.0) * u, abs=close)


def test_a_polynomial_against_moments_of_the_ball():
    """Density (x - 0.3)**2 + 2."""
    ball, place = Ball((0.3, -0.2, 0.1), 2.0), (1.0, 0.3, 0.2)
    density = Polynomial([(2, 0, 0, 1.0), (0, 0, 0, 2.0)], origin=ball.center)
    seen = look(ball, [place], density)
    wanted = 4 * math.pi / 15 * 2.0**5 + 2 * ball.volume
    assert seen.mass[0] == pytest.approx(wanted, rel=GOOD[3])
    assert seen.error[0] == pytest.approx(np.array(ball.center) - place, abs=GOOD[3])


# ------------------------------------------------------------------------------ laws


def lattice(shape, step):
    axis = np.arange(-1, 1 + step / 2, step)
    grid = np.stack(np.meshgrid(*[axis] * len(shape.center)), axis=-1)
    inside = grid.reshape(-1, len(shape.center))
    return placed(shape, inside[(inside**2).sum(axis=1) <= 1.0])


def heaps(shape):
    """Agents in heaps, each heap nearly one point."""
    size = 1e-8 * min(shape.semi_axes)
    near = size * np.random.default_rng(6).normal(size=(6, 5, 2))
    return (scatter(shape, 6, 5)[:, None] + near).reshape(-1, 2)


DENSITIES = {
    "uniform": Uniform(),
    "hill": Gaussian((1.0, 1.5), covariance=((2.0, 0.5), (0.5, 0.7))),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.3), (0, 4, 0.1)], origin=(1.0, 2.0)),
    "mixture": HILLS,
    "space": MIXTURE,
}
PLANE = ["disc", "ellipse", "needle", "far"]
CASES = [
    *((kind, density, shape) for kind in ("random", "lattice", "heaps") for shape in PLANE
      for density in ("uniform", "hill", "polynomial", "mixture")),
    *((kind, "uniform", shape) for kind in ("3", "12", "40") for shape in CURVED
      if shape not in PLANE),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "density", "shape"), CASES)
def test_the_cells_make_up_the_workspace(kind, density, shape):
    where, weight = CURVED[shape], DENSITIES[density]
    if shape == "far":  # the other densities are out of sight from there
        weight = Gaussian((5e6 + 0.5, -5e6), 0.7) if density == "hill" else Uniform()
    makers = {"random": lambda s: scatter(s, 60, 7), "lattice": lambda s: lattice(s, 0.2)}
    makers["heaps"] = heaps
    positions = makers[kind](where) if kind in makers else scatter(where, int(kind), 3)
    seen, whole = look(where, positions, weight), look(where, [where.center], weight)
    close, reach = 1e-12 if where.dimension == 2 else 1e-10, max(where.semi_axes)
    mass = seen.mass * np.exp(seen.log_scale)
    assert mass.sum() == pytest.approx(whole.mass[0], rel=close, abs=0.0)
    if density == "uniform":
        assert mass.sum() == pytest.approx(where.volume, rel=close, abs=0.0)
    offset = (mass[:, None] * (positions - np.array(where.center) + seen.error)).sum(axis=0)
    assert offset / mass.sum() == pytest.approx(whole.error[0], abs=2 * close * reach)
    parallel = seen.second + seen.mass * (seen.error**2).sum(axis=1)
    assert seen.polar == pytest.approx(parallel, rel=1e-10, abs=1e-12)  # heaps: thin cells
    assert (seen.second > 0.0).all()
    assert density != "uniform" or seen.doubt.max() < 1e-10


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12), st.floats(-3.0, 0.0), st.floats(0.0, 3.2))
@example(0, 1, 0.0, 0.0)
def test_volumes_add_up(seed, count, log_ratio, angle):
    thin = 10.0**log_ratio
    flat = Ellipsoid((0.5, -1.0), (1.0, thin), tilted(angle))
    solid = Ellipsoid((0.5, -1.0, 2.0), (1.0, max(thin, 0.05), 0.3 + 0.2 * angle), TURN)
    for shape, close in ((flat, 1e-12), (solid, 1e-10)):
        seen = look(shape, scatter(shape, count, seed))
        assert seen.mass.sum() == pytest.approx(shape.volume, rel=close, abs=0.0)
        assert not seen.empty.any()


@pytest.mark.parametrize(("shape", "density"), [(ELLIPSE, HILLS), (EGG, MIXTURE), (EGG, Uniform())])
def test_neither_threads_nor_an_order_changes_a_bit(shape, density):
    """Nor does which cells are measured together; several configurations at once."""
    ground = weighted_region(shape, density)
    places = np.array([scatter(shape, 12, seed) for seed in range(30 if shape is ELLIPSE else 3)])
    row, agent = (table.ravel() for table in np.indices(places.shape[:2]))
    order = np.random.default_rng(4).permutation(len(row))
    one = measure(ground, places, row, agent)
    some = measure(ground, places, row[order], agent[order], threads=3)
    alone = measure(ground, places[1:2], np.array([0]), np.array([5]), threads=2)
    numbers = np.random.default_rng(1).permutation(12)
    again = look(shape, places[0][numbers], density)
    for name, values in vars(one).items():
        if values is None:
            continue
        assert (values[order] == getattr(some, name)).all()
        assert (values[17] == getattr(alone, name)[0]).all()
        assert shape is EGG or (values[:12][numbers] == getattr(again, name)).all()


PROGRAMS = {
    "plane": """
import numpy as np
from tests.cells.shapes import ELLIPSE, HARD, HILLS, look, scatter
found = [look(ELLIPSE, scatter(ELLIPSE, 9, 3), HILLS)]
found += [look(shape, places) for shape, places in HARD.values()]
for seen in found:
    for name in ("mass", "error", "polar", "second"):
        print(getattr(seen, name).tobytes().hex())
""",
    "space": """
import numpy as np
from dwell.cells.cones import borders
from dwell.cells.weighted_region import weighted_region
from tests.cells.shapes import EGG, MIXTURE, look, scatter
found = borders(weighted_region(EGG, MIXTURE), scatter(EGG, 2, 3), agents=1)
for values in (found.masses, found.errors, found.m0, found.m2, look(EGG, scatter(EGG, 2, 3)).polar):
    print(values.tobytes().hex())
""",
}


@pytest.mark.skipif(not _jit.ENABLED, reason="compares compiled with plain")
@pytest.mark.parametrize("where", PROGRAMS)
def test_plain_python_gives_the_same_bits(where):
    assert printed(PROGRAMS[where], jit=False) == printed(PROGRAMS[where], jit=True)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_agents_at_one_place(n):
    ball, places = Ball((0.0,) * n, 1.0), np.zeros((3, n))
    places[1:, 0] = 0.5
    assert look(ball, places).coincident.tolist() == [False, True, True]
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        cells(ball, places)
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        borders(weighted_region(ball, Uniform()), places)


@pytest.mark.parametrize("n", [3, 4])
def test_an_agent_outside_behind_another(n):
    ball, places = Ball((0.0,) * n, 1.0), np.zeros((2, n))
    places[:, 0] = 3.0, 0.5
    seen = look(ball, places)
    assert seen.empty.tolist() == [True, False]
    assert seen.error[0] == pytest.approx([-2.0, *[0.0] * (n - 1)])
    assert seen.mass[1] == pytest.approx(ball.volume, rel=EXACT[n])


@pytest.mark.parametrize(("shape", "close"), [(ELLIPSE, 1e-12), (EGG, 1e-8)], ids=["2", "3"])
def test_functions_agree_with_terms(shape, close):
    hill = Gaussian(np.add(shape.center, [0.0, -0.5, 0.0][: len(shape.center)]), 0.9)
    positions = scatter(shape, 4, 43)
    slow, fast = (look(shape, positions, density) for density in (Function(hill.at), hill))
    assert slow.mass == pytest.approx(fast.mass, rel=close, abs=0.0)
    assert slow.error == pytest.approx(fast.error, abs=close)
    assert slow.second == pytest.approx(fast.second, rel=10 * close, abs=0.0)
    assert (slow.neighbors == fast.neighbors).all()
    assert slow.nearest == pytest.approx(fast.nearest, rel=1e-15, abs=0.0)
    assert (np.abs(slow.mass / fast.mass - 1) <= slow.doubt + fast.doubt).all()
    assert slow.doubt.max() < 100 * close
    one, two = (borders(weighted_region(shape, d), positions) for d in (Function(hill.at), hill))
    assert one.masses == pytest.approx(two.masses, rel=close, abs=0.0)
    assert one.agent.tolist() == two.agent.tolist()
    assert one.other.tolist() == two.other.tolist()
    assert one.m0 == pytest.approx(two.m0, rel=100 * close)
    assert one.m2 == pytest.approx(two.m2, abs=10 * close)


def test_some_borders_only():
    positions, ground = scatter(DISC, 9, 29), weighted_region(DISC, HILLS)
    every, some = (borders(ground, positions, agents=k) for k in (None, 2))
    assert (some.agent < 2).all()
    assert (some.m1 == every.m1[every.agent < 2]).all()
    assert len(some.masses) == 2

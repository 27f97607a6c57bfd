"""Cells in discs and ellipses: closed forms, fifty digits, laws, and chance."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dwell import Ball, Ellipsoid
from dwell._kernels import _jit
from dwell.cells import tessellate
from dwell.cells.backend import borders as polygon_borders
from dwell.cells.cones import borders, cells, measure
from dwell.cells.curved import ARC
from dwell.cells.weighted_region import WeightedRegion
from dwell.density import Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import AgentsError
from dwell.geometry import Polygon
from tests.cells.shapes import local, placed, scatter, tilted
from tests.oracles import curved_cells as oracle
from tests.plain import printed

DISC = Ball((0.3, -0.2), 2.0)
ELLIPSE = Ellipsoid((1.0, 2.0), (3.0, 1.0), tilted(0.7))
NEEDLE = Ellipsoid((1.0, 2.0), (1000.0, 1.0), tilted(0.7))
FAR = Ellipsoid((5e6, -5e6), (2.0, 1.0), tilted(2.0))
SHAPES = {"disc": DISC, "ellipse": ELLIPSE, "needle": NEEDLE, "far": FAR}
HILLS = Mixture((Uniform(0.1), Gaussian((1.0, 1.0), 0.7), Gaussian((-1.0, 0.5), 5.0, weight=2.0)))
DENSITIES = {
    "uniform": Uniform(),
    "hill": Gaussian((1.0, 1.5), covariance=((2.0, 0.5), (0.5, 0.7))),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.3), (0, 4, 0.1)], origin=(1.0, 2.0)),
    "mixture": HILLS,
}


def ground(shape, density):
    return WeightedRegion(shape, density, density.terms())


def look(shape, positions, density=None):
    points = np.asarray(positions, dtype=float)
    all_agents = np.arange(len(points))
    density = Uniform() if density is None else density
    return measure(ground(shape, density), points[None], np.zeros_like(all_agents), all_agents)


def log_masses(seen):
    return np.log(seen.mass) + seen.log_scale


# --------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("place", [(0.3, -0.2), (0.0, 0.0), (0.3, 1.7999), (2.3, -0.2), (1.0, 1.0)])
def test_one_agent_has_the_whole_disc(place):
    seen = look(DISC, [place])
    gap = np.array(DISC.center) - place
    assert seen.mass[0] == pytest.approx(4 * math.pi, rel=1e-14, abs=0.0)
    assert seen.error[0] == pytest.approx(gap, abs=1e-14)
    assert seen.second[0] == pytest.approx(8 * math.pi, rel=1e-14, abs=0.0)
    assert seen.polar[0] == pytest.approx(8 * math.pi + 4 * math.pi * gap @ gap, rel=1e-14, abs=0.0)
    assert seen.neighbors[0] == 0
    assert seen.nearest[0] == np.inf
    (cell,) = cells(DISC, np.array([place]))
    assert cell.whole
    assert not cell.empty
    assert len(cell.offsets) == 0


@pytest.mark.parametrize("angle", [0.0, 0.3, math.pi / 2, 2.0])
def test_half_discs(angle):
    u = np.array([math.cos(angle), math.sin(angle)])
    places = np.array([DISC.center + 0.5 * u, DISC.center - 0.5 * u])
    seen = look(DISC, places)
    centroid = 4 * 2.0 / (3 * math.pi)
    assert seen.mass == pytest.approx([2 * math.pi] * 2, rel=1e-14, abs=0.0)
    assert seen.error[0] == pytest.approx((centroid - 0.5) * u, abs=1e-14)
    assert seen.error[1] == pytest.approx(-(centroid - 0.5) * u, abs=1e-14)
    assert seen.second == pytest.approx(
        [4 * math.pi - 2 * math.pi * centroid**2] * 2, rel=1e-14, abs=0.0
    )
    assert seen.neighbors.tolist() == [1, 1]


@pytest.mark.parametrize("height", [0.9, 0.5, -0.3, 0.999, 1 - 1e-6, -0.99])
def test_two_unequal_circular_segments(height):
    """The bisector cuts the unit disc at x = height: a cap beyond, the rest before."""
    disc, gap = Ball((0.0, 0.0), 1.0), 0.25
    seen = look(disc, [(height + gap, 0.0), (height - gap, 0.0)])
    with mp.workdps(30):
        h = ((mp.mpf(height + gap)) + mp.mpf(height - gap)) / 2
        root = mp.sqrt(1 - h * h)
        cap, first = mp.acos(h) - h * root, mp.mpf(2) / 3 * root**3
        areas = [cap, mp.pi - cap]
        centroids = [first / cap, -first / (mp.pi - cap)]
    for k, place in enumerate((height + gap, height - gap)):
        assert seen.mass[k] == pytest.approx(float(areas[k]), rel=1e-13, abs=0.0)
        assert seen.error[k, 0] == pytest.approx(float(centroids[k] - mp.mpf(place)), abs=1e-14)
        assert seen.error[k, 1] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("rate", [1e-4, 0.7, 30.0, 4e4])
def test_a_gaussian_in_the_middle(rate):
    """One agent, and two that share the disc: masses by exp, the centroid by erf."""
    hill = Gaussian(DISC.center, rate)
    mass = math.pi * -math.expm1(-4 * rate) / rate
    seen = look(DISC, [(1.0, 1.0)], hill)
    assert seen.mass[0] == pytest.approx(mass, rel=1e-13, abs=0.0)
    assert seen.error[0] == pytest.approx(np.array(DISC.center) - 1.0, abs=1e-14)
    with mp.workdps(30):
        k = mp.mpf(rate)
        second = mp.pi * (1 - (1 + 4 * k) * mp.exp(-4 * k)) / k**2
        ray = mp.sqrt(mp.pi) / 4 / k**1.5 * mp.erf(2 * mp.sqrt(k)) - mp.exp(-4 * k) / k
        centroid = float(2 * ray / (mp.pi * (1 - mp.exp(-4 * k)) / (2 * k)))
    assert seen.second[0] == pytest.approx(float(second), rel=1e-13, abs=0.0)
    x, y = DISC.center
    seen = look(DISC, [(x, y + 0.5), (x, y - 0.5)], hill)
    assert seen.mass == pytest.approx([mass / 2] * 2, rel=1e-13, abs=0.0)
    assert seen.error[0] == pytest.approx([0.0, centroid - 0.5], abs=1e-13)


def test_a_hill_far_away():
    """Masses beyond the doubles' range, against slices x = 2 - s**2 of the disc by erf."""
    rate, away = 1.0, 40.0
    hill = Gaussian((0.3 + away, -0.2), rate)
    with mp.workdps(30):
        k, d = mp.mpf(rate), mp.mpf(0.3 + away) - mp.mpf(0.3)

        def slice_at(s):
            height = mp.erf(mp.sqrt(k) * s * mp.sqrt(4 - s * s)) * mp.sqrt(mp.pi / k)
            return 2 * s * mp.exp(-k * (2 - s * s - d) ** 2) * height

        places = mp.linspace(0, 2, 31)
        mass = mp.quad(slice_at, places, method="gauss-legendre", maxdegree=3)
        log_mass = float(mp.log(mass))
    seen = look(DISC, [(1.0, 1.0)], hill)
    assert seen.log_scale[0] < -600
    assert log_masses(seen)[0] == pytest.approx(log_mass, abs=3e-12)
    both = look(DISC, [(0.3, 0.3), (0.3, -0.7)], hill)
    assert log_masses(both) == pytest.approx([log_mass - math.log(2)] * 2, abs=3e-12)


def test_an_ellipse_is_a_stretched_disc():
    """Two agents along the axis of an ellipse cut it as the stretched disc is cut."""
    (a, b), u = ELLIPSE.semi_axes, np.asarray(ELLIPSE.axes)[0]
    seen = look(ELLIPSE, [ELLIPSE.center + u, ELLIPSE.center - 0.2 * u])
    h = 0.4 / a  # the bisector, in the unit disc
    root = math.sqrt(1 - h * h)
    cap, first = math.acos(h) - h * root, 2 / 3 * root**3
    assert seen.mass == pytest.approx([a * b * cap, a * b * (math.pi - cap)], rel=1e-13, abs=0.0)
    assert seen.error[0] == pytest.approx((a * first / cap - 1.0) * u, abs=1e-13)


# ------------------------------------------------------------------------ forty digits


HARD = {
    "random": (DISC, scatter(DISC, 5, 1)),
    "tilted": (ELLIPSE, scatter(ELLIPSE, 5, 2)),
    "needle": (NEEDLE, scatter(NEEDLE, 5, 3)),
    "far": (FAR, scatter(FAR, 5, 4)),
    "nearly coincident": (DISC, [(1.0, 0.5), (1 + 1e-9, 0.5), (1 - 1e-9, 0.5 + 1e-12)]),
    "near the boundary": (Ball((0.0, 0.0), 1.0), [(0, 1 - 1e-9), (1e-9, 1 - 2e-9), (0, 0)]),
    "a strip": (Ball((0.0, 0.0), 1.0), [(-1e-9, 0.1), (0, 0.1), (1e-9, 0.1)]),
    "on the boundary": (
        Ball((0.0, 0.0), 1.0),
        [(math.cos(t), math.sin(t)) for t in (0.3, 0.3 + 1e-7, 0.3 - 1e-7)] + [(0.0, 0.0)],
    ),
    "a corner on the circle": (Ball((0.0, 0.0), 1.0), [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5)]),
    "grazed": (Ball((0.0, 0.0), 1.0), [(0, 0), (2 - 1e-9, 0.0), (0.0, 2 - 1e-12)]),
    "cut twice": (Ball((0.0, 0.0), 1.0), [(0, 0), (0.8, 0.9), (0.9, -0.8), (-0.7, 0.7)]),
    "a sliver far off": (Ball((0.0, 0.0), 1.0), [(0.1, 0), (0.1, 1e-6), (-0.9, 0.3)]),
}


def against_digits(shape, positions, agent, seen, density=None, parts=2, rel=2e-13):
    mass, error, polar, second = oracle.moments(shape, positions, agent, density, parts)
    width = float(mp.sqrt(second / mass))
    away = float(mp.sqrt(error[0] ** 2 + error[1] ** 2))
    assert seen.mass[agent] == pytest.approx(float(mass), rel=rel)
    for i in range(2):
        gap = float(error[i] - mp.mpf(seen.error[agent, i]))
        assert abs(gap) <= rel * width + 4e-16 * away
    assert seen.polar[agent] == pytest.approx(float(polar), rel=rel)
    assert seen.second[agent] == pytest.approx(float(second), rel=rel)


@pytest.mark.parametrize("name", HARD)
def test_against_forty_digits(name):
    shape, places = HARD[name]
    positions = np.asarray(places, dtype=float)
    seen = look(shape, positions)
    inside = shape.contains(positions)
    for agent in np.flatnonzero(inside | (name == "on the boundary")):
        against_digits(shape, positions, agent, seen)


@pytest.mark.parametrize(
    ("density", "asked", "parts"),
    [
        (Gaussian((1.0, 1.0), 1.7), (1.0, (1.0, 1.0), ((1.7, 0.0), (0.0, 1.7))), 4),
        (Gaussian((2.0, 0.6), 5.0), (1.0, (2.0, 0.6), ((5.0, 0.0), (0.0, 5.0))), 4),
        (Polynomial([(0, 0, 3.0), (2, 4, 1.0), (16, 0, 1e-3)]), None, 2),
    ],
)
def test_densities_against_forty_digits(density, asked, parts):
    asked = [(0, 0, 3.0), (2, 4, 1.0), (16, 0, 1e-3)] if asked is None else asked
    positions = scatter(DISC, 3, 12)
    seen = look(DISC, positions, density)
    against_digits(DISC, positions, 2, seen, asked, parts)


def test_a_small_cell_at_the_wall_keeps_its_digits_under_a_hill():
    disc = Ball((0.0, 0.0), 1.0)
    positions = np.array([(0, 1 - 1e-9), (1e-9, 1 - 2e-9), (-2e-9, 1 - 1e-9), (0, 0)])
    seen = look(disc, positions, Gaussian((0.2, 0.6), 9.0))
    against_digits(
        disc, positions, 0, seen, (1.0, (0.2, 0.6), ((9.0, 0.0), (0.0, 9.0))), 4, rel=1e-12
    )


# ------------------------------------------------------------------------------ laws


def lattice(shape, step):
    axis = np.arange(-1, 1 + step / 2, step)
    inside = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return placed(shape, inside[(inside**2).sum(axis=1) <= 1.0])


def crowd(shape):
    """Agents in heaps, each heap nearly one point."""
    heaps = scatter(shape, 6, 5)
    rng = np.random.default_rng(6)
    size = 1e-8 * min(shape.semi_axes)
    return (heaps[:, None] + size * rng.normal(size=(6, 5, 2))).reshape(-1, 2)


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["random", "lattice", "crowd"])
def test_the_cells_make_up_the_workspace(shape, density, kind):
    where, weight = SHAPES[shape], DENSITIES[density]
    if shape == "far":  # the other densities are out of sight from there
        weight = Gaussian((5e6 + 0.5, -5e6), 0.7) if density == "hill" else Uniform()
    makers = {"random": lambda s: scatter(s, 60, 7), "lattice": lambda s: lattice(s, 0.2)}
    positions = makers.get(kind, crowd)(where)
    seen = look(where, positions, weight)
    whole = look(where, [where.center], weight)
    mass = seen.mass * np.exp(seen.log_scale)
    assert mass.sum() == pytest.approx(whole.mass[0], rel=1e-12, abs=0.0)
    offset = (mass[:, None] * (positions - np.array(where.center) + seen.error)).sum(axis=0)
    reach = max(where.semi_axes)
    assert offset / mass.sum() == pytest.approx(whole.error[0], abs=2e-12 * reach)
    parallel = seen.second + seen.mass * (seen.error**2).sum(axis=1)
    assert seen.polar == pytest.approx(parallel, rel=1e-10, abs=1e-12)  # heaps: thin cells


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 12),
    st.floats(-3.0, 0.0),
    st.floats(0.0, 3.2),
)
@example(0, 1, 0.0, 0.0)
def test_areas_add_up(seed, count, log_ratio, angle):
    shape = Ellipsoid((0.5, -1.0), (1.0, 10.0**log_ratio), tilted(angle))
    positions = scatter(shape, count, seed)
    seen = look(shape, positions)
    assert seen.mass.sum() == pytest.approx(math.pi * 10.0**log_ratio, rel=1e-12, abs=0.0)
    assert not seen.empty.any()


def test_renumbering_changes_no_bit():
    positions = scatter(ELLIPSE, 30, 13)
    order = np.random.default_rng(1).permutation(30)
    seen, again = look(ELLIPSE, positions, HILLS), look(ELLIPSE, positions[order], HILLS)
    for name in ("mass", "error", "polar", "second", "neighbors", "nearest"):
        assert (getattr(seen, name)[order] == getattr(again, name)).all()


def test_threads_change_no_bit():
    positions = np.stack([scatter(DISC, 40, seed) for seed in range(120)])
    row, agent = np.repeat(np.arange(120), 40), np.tile(np.arange(40), 120)
    found = [measure(ground(DISC, HILLS), positions, row, agent, threads=t) for t in (1, 3)]
    assert (found[0].mass == found[1].mass).all()
    assert (found[0].error == found[1].error).all()


PROGRAM = """
import numpy as np
from tests.cells.test_disc_cells import ELLIPSE, HILLS, HARD, look
from tests.cells.shapes import scatter
found = [look(ELLIPSE, scatter(ELLIPSE, 9, 3), HILLS)]
found += [look(shape, places) for shape, places in HARD.values()]
for seen in found:
    for name in ("mass", "error", "polar", "second"):
        print(getattr(seen, name).tobytes().hex())
"""


@pytest.mark.skipif(not _jit.ENABLED, reason="compares compiled with plain")
def test_plain_python_gives_the_same_bits():
    assert printed(PROGRAM, jit=False) == printed(PROGRAM, jit=True)


# ----------------------------------------------------------------------------- cells


@pytest.mark.parametrize("shape", ["disc", "ellipse", "needle", "far"])
def test_corners_lie_on_their_curves(shape):
    where = SHAPES[shape]
    positions = scatter(where, 25, 17)
    arcs = 0
    for cell in cells(where, positions):
        after = np.roll(cell.borders, 1)
        for offset, labels in zip(cell.offsets, zip(cell.borders, after, strict=True), strict=True):
            for label in labels:
                if label == ARC:
                    arcs += 1
                    level = (local(where, cell.position + offset) ** 2).sum()
                    assert level == pytest.approx(1.0, abs=1e-8 if shape == "far" else 1e-11)
                else:
                    gap = positions[label] - cell.position
                    assert (offset - 0.5 * gap) @ gap == pytest.approx(
                        0.0, abs=1e-12 * max(where.semi_axes) ** 2
                    )
        outline = cell.outline()
        assert (local(where, outline) ** 2).sum(axis=1).max() < 1 + 1e-8
    assert arcs > 0


def test_labels_agree_with_forty_digits():
    positions = scatter(ELLIPSE, 9, 19)
    seen = look(ELLIPSE, positions)
    for cell in cells(ELLIPSE, positions):
        asked = [name for name in oracle.labels(ELLIPSE, positions, cell.agent) if name >= 0]
        assert sorted(cell.borders[cell.borders >= 0]) == sorted(asked)
        assert seen.neighbors[cell.agent] == len(asked)
        for other in asked:
            edge, back = cell.edge_with(other), cells(ELLIPSE, positions, [other])[0]
            assert edge == pytest.approx(back.edge_with(cell.agent)[::-1], abs=1e-12)
    assert cells(ELLIPSE, positions, [0])[0].edge_with(99) is None


def test_one_edge_cut_off_twice():
    """A polygon edge whose both ends lie beyond the disc, and a cell with two arcs."""
    positions = np.array([(0.0, 0.0), (0.5, 0.0), (-0.5, 0.0)])
    middle, right, _ = cells(Ball((0.0, 0.0), 1.0), positions)
    assert sorted(middle.borders) == [ARC, ARC, 1, 2]
    assert sorted(right.borders) == [ARC, 0]
    assert np.hypot(*middle.offsets.T) == pytest.approx(1.0, abs=1e-15)


def test_coincident_agents():
    places = np.array([(0.0, 0.0), (0.5, 0.0), (0.5, 0.0)])
    assert look(DISC, places).coincident.tolist() == [False, True, True]
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        cells(DISC, places)
    with pytest.raises(AgentsError, match="agents 1 and 2"):
        borders(ground(DISC, Uniform()), places)


def test_the_root_of_a_thin_ellipse_keeps_its_digits():
    (w11, w12), (_, w22) = NEEDLE.root.matrix
    with mp.workdps(40):
        rows = [
            [mp.mpf(v) / mp.mpf(s) for v in row]
            for row, s in zip(NEEDLE.axes.tolist(), NEEDLE.semi_axes, strict=True)
        ]
        (a, b), (c, d) = rows
        first = mp.sqrt(a * a + c * c)
        assert w11 == pytest.approx(float(first), rel=4e-16, abs=0.0)
        assert w12 == pytest.approx(float((a * b + c * d) / first), rel=4e-16, abs=0.0)
        assert w22 == pytest.approx(float(abs(a * d - b * c) / first), rel=4e-16, abs=0.0)


# --------------------------------------------------------------------------- borders


def test_borders_like_a_polygon_inside():
    """Cells that do not touch the circle have the same borders in any large workspace."""
    axis = np.linspace(-0.5, 0.5, 5)
    positions = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    positions = positions + 0.03 * np.random.default_rng(3).normal(size=positions.shape)
    curved = borders(ground(Ball((0.0, 0.0), 2.0), HILLS), positions)
    square = Polygon([(-3, -3), (3, -3), (3, 3), (-3, 3)])
    flat = polygon_borders(square, positions, HILLS)
    middle = 12
    ours, theirs = curved.agent == middle, flat.agent == middle
    assert sorted(curved.other[ours]) == sorted(flat.other[theirs])
    first, second = np.argsort(curved.other[ours]), np.argsort(flat.other[theirs])
    for name in ("m0", "m1", "m2"):
        assert getattr(curved, name)[ours][first] == pytest.approx(
            getattr(flat, name)[theirs][second], rel=1e-12, abs=1e-14
        )
    assert curved.masses[middle] == pytest.approx(flat.masses[middle], rel=1e-14, abs=0.0)


def test_some_borders_only():
    positions = scatter(DISC, 9, 29)
    every, some = (borders(ground(DISC, HILLS), positions, agents=k) for k in (None, 2))
    assert (some.agent < 2).all()
    assert (some.m1 == every.m1[every.agent < 2]).all()
    assert len(some.masses) == 2


# ------------------------------------------------------------- functions and grids


def test_functions_agree_with_terms():
    hill = Gaussian((1.0, 1.5), 0.9)
    positions = scatter(ELLIPSE, 5, 31)
    python = WeightedRegion(ELLIPSE, Function(hill.at), None)
    all_agents = np.arange(5)
    slow = measure(python, positions[None], np.zeros_like(all_agents), all_agents)
    fast = look(ELLIPSE, positions, hill)
    assert slow.mass == pytest.approx(fast.mass, rel=1e-12, abs=0.0)
    assert slow.error == pytest.approx(fast.error, abs=1e-12)
    assert slow.second == pytest.approx(fast.second, rel=1e-11, abs=0.0)
    assert (slow.neighbors == fast.neighbors).all()
    assert slow.nearest == pytest.approx(fast.nearest, rel=1e-15, abs=0.0)
    assert (np.abs(slow.mass / fast.mass - 1) <= slow.doubt).all()
    assert slow.doubt.max() < 1e-10
    one, two = borders(python, positions), borders(ground(ELLIPSE, hill), positions)
    assert one.m2 == pytest.approx(two.m2, abs=1e-11)
    assert one.masses == pytest.approx(two.masses, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("seed", range(1, 13))
def test_hills_of_all_kinds_agree_with_quadrature(seed):
    """Wide and narrow, round and long, inside and outside, near the wall and far."""
    rng = np.random.default_rng(seed)
    shape = Ellipsoid((0.3, -0.2), (2.0, 10.0 ** rng.uniform(-1, 0.3)), tilted(rng.uniform(0, 3)))
    long, wide = 10.0 ** rng.uniform(-1.2, 1.0, 2)
    turn = tilted(rng.uniform(0, 3))
    covariance = turn.T @ np.diag([long**2, wide**2]) @ turn
    covariance[1, 0] = covariance[0, 1]
    center = shape.center + 3 * rng.uniform(0, 1) * rng.normal(size=2)
    rows = tuple(tuple(float(v) for v in row) for row in covariance)
    hill = Gaussian(tuple(center), covariance=rows)
    positions = scatter(shape, 4, 100 + seed)
    all_agents = np.arange(4)
    python = WeightedRegion(shape, Function(hill.at), None)
    slow = measure(python, positions[None], np.zeros_like(all_agents), all_agents)
    fast = look(shape, positions, hill)
    sure = (slow.doubt < 1e-9) & (slow.mass > 1e-250)
    assert sure.any()
    mass = fast.mass * np.exp(fast.log_scale)
    assert mass[sure] == pytest.approx(slow.mass[sure], rel=3e-11, abs=0.0)
    assert fast.error[sure] == pytest.approx(slow.error[sure], abs=3e-11)
    assert (fast.second * np.exp(fast.log_scale))[sure] == pytest.approx(
        slow.second[sure], rel=1e-9
    )


@pytest.mark.parametrize("axes", [(1.0, 1.0), (1.0, 0.7)])
@pytest.mark.parametrize("rate", [800.0, 1000.0, 1500.0])
def test_second_moments_do_not_underflow_in_a_tail(axes, rate):
    """A weight scales masses and second moments alike, also where squares of masses underflow."""
    positions = np.random.default_rng(1).uniform(-0.65, 0.65, (20, 2)) * axes
    light, heavy = (
        tessellate(Ellipsoid((0.0, 0.0), axes), positions, Gaussian((0.3, 0.2), rate, weight=w))
        for w in (1.0, 1e200)
    )
    tail = (light.log_masses < -370.0) & (light.log_masses > -600.0)
    assert tail.any()
    spread = heavy.second_moments[tail] / heavy.masses[tail]
    found = light.second_moments[tail] / light.masses[tail]
    assert found == pytest.approx(spread, rel=1e-12, abs=0.0)


def test_a_jump_is_doubted():
    step = Function(lambda z: (z[:, 0] > 0.31).astype(float))
    seen = measure(
        WeightedRegion(DISC, step, None), np.zeros((1, 1, 2)), *np.zeros((2, 1), dtype=np.int64)
    )
    with mp.workdps(20):
        h = mp.mpf(0.01) / 2
        area = 4 * float(mp.acos(h) - h * mp.sqrt(1 - h * h))
    assert abs(seen.mass[0] / area - 1) < seen.doubt[0] < 0.05

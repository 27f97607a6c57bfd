"""Guaranteed and dual guaranteed cells as values: what they hold, how they grow and shrink."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dwell.geometry import Box, Polygon, dual_guaranteed_cell, guaranteed_cell
from tests import strategies

MAKERS = {False: guaranteed_cell, True: dual_guaranteed_cell}
BOX = Box((0, 0), (4, 3))
POSITION = (1.5, 1.25)
OTHERS = np.array([(3.0, 1.0), (1.0, 2.5), (2.5, 2.25), (0.5, 0.25)])
RADII = np.array([0.4, 0.3, 0.0, 0.2])


def random_points(region, count, seed=0):
    lower, upper = region.bounds
    return np.random.default_rng(seed).uniform(lower, upper, (count, 2))


def by_definition(dual, region, position, others, radii, points):
    """Membership as the definition has it."""
    own = np.hypot(*(points - position).T)
    inside = region.contains(points)
    for q, r in zip(np.atleast_2d(others), np.broadcast_to(radii, len(others)), strict=True):
        inside &= own <= np.hypot(*(points - q).T) + (r if dual else -r)
    return inside


@pytest.mark.parametrize("dual", [False, True])
def test_membership_by_definition_by_radius_and_by_outline(dual):
    """Three ways to ask, which share nothing: the definition, the radial form, the corners."""
    cell = MAKERS[dual](BOX, POSITION, OTHERS, RADII)
    points = random_points(BOX, 20_000)
    gap = points - POSITION
    reach, own = cell.radius(np.arctan2(gap[:, 1], gap[:, 0])), np.hypot(*gap.T)
    clear = np.abs(own - reach) > 1e-12
    inside = by_definition(dual, BOX, POSITION, OTHERS, RADII, points)
    assert 0.05 < inside.mean() < 0.95
    assert (cell.contains(points) == inside).all()
    assert ((own < reach) == inside)[clear].all()
    area = 12.0 * inside.mean()
    assert cell.area == pytest.approx(area, abs=0.1)
    assert shoelace(cell.outline(2000)) == pytest.approx(cell.area, rel=1e-6)


def shoelace(ring):
    after = np.roll(ring, -1, axis=0)
    return 0.5 * float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum())


@settings(max_examples=30)
@given(
    strategies.configurations(max_size=6),
    st.lists(st.floats(0, 0.95), min_size=6, max_size=6),
    st.integers(0, 1000),
)
def test_true_positions_anywhere_in_their_balls(configuration, shares, seed):
    """Guaranteed cell <= Voronoi cell of the true positions <= dual cell."""
    polygon, agents = configuration
    assume(len(agents) > 1)
    region = Polygon(polygon)
    p, others = np.array(agents[0]), np.array(agents[1:])
    rng = np.random.default_rng(seed)
    radii = np.array(shares[: len(others)]) * np.hypot(*(others - p).T)
    angle, share = rng.uniform(0, 2 * np.pi, len(others)), rng.uniform(0, 1, len(others))
    true = others + (share * radii)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    points = random_points(region, 300, seed)
    own = np.hypot(*(points - p).T)[:, None]
    theirs = np.hypot(*np.moveaxis(points[:, None] - true, -1, 0))
    rounding = 1e-12 * region.diameter
    surely = (own < theirs - rounding).all(axis=1) & region.contains(points)
    maybe = (own <= theirs + rounding).all(axis=1) & region.contains(points)
    assert not (guaranteed_cell(region, p, others, radii).contains(points) & ~maybe).any()
    assert not (surely & ~dual_guaranteed_cell(region, p, others, radii).contains(points)).any()


@settings(max_examples=25)
@given(strategies.configurations(max_size=6), st.floats(0, 1), st.floats(0, 1))
def test_more_uncertainty_shrinks_one_and_grows_the_other(configuration, a, b):
    polygon, agents = configuration
    assume(len(agents) > 1)
    p, others = agents[0], agents[1:]
    nearest = min(math.dist(p, q) for q in others)
    low, high = sorted((a * nearest, b * nearest))
    angles = np.linspace(0, 2 * np.pi, 50)
    reach = [[make(polygon, p, others, r).radius(angles) for r in (0.0, low, high)]
             for make in MAKERS.values()]  # fmt: skip
    slack = 1 + 1e-9
    for small, large in ((reach[0][2], reach[0][1]), (reach[0][1], reach[0][0]),
                         (reach[1][0], reach[1][1]), (reach[1][1], reach[1][2])):  # fmt: skip
        assert (small <= large * slack).all()


@pytest.mark.parametrize("radius", [0.0, 0.1, 0.3, 0.49])
def test_a_thin_strip_is_the_line(radius):
    """In [0, 1] with agents at 1/4 and 3/4, certain is [0, (1 - r) / 2], possible (1 + r) / 2."""
    strip = Box((0, -1e-6), (1, 1e-6))
    ends = [
        make(strip, (0.25, 0.0), [(0.75, 0.0)], radius).corners[:, 0] for make in MAKERS.values()
    ]
    assert ends[0].min() == ends[1].min() == 0.0
    assert ends[0].max() == pytest.approx((1 - radius) / 2, abs=1e-7)
    assert ends[1].max() == pytest.approx((1 + radius) / 2, abs=1e-7)
    axis = [
        float(make(strip, (0.25, 0), [(0.75, 0)], radius).radius(0.0)) for make in MAKERS.values()
    ]
    assert axis == pytest.approx([(1 - radius) / 2 - 0.25, (1 + radius) / 2 - 0.25], abs=1e-15)


@pytest.mark.parametrize("dual", [False, True])
def test_corners_lie_on_the_two_curves_they_join(dual):
    cell = MAKERS[dual](BOX, POSITION, OTHERS, RADII)
    sign = -1.0 if dual else 1.0
    assert len(cell.corners) == len(cell.borders) >= 4
    for corner, after, before in zip(
        cell.corners, cell.borders, np.roll(cell.borders, 1), strict=True
    ):
        for label in (int(after), int(before)):
            if label >= 0:
                own, theirs = math.dist(corner, POSITION), math.dist(corner, OTHERS[label])
                assert own + sign * RADII[label] == pytest.approx(theirs, abs=1e-13)
            else:
                a, b = BOX.vertices[-1 - label], BOX.vertices[-label % 4]
                assert abs((b - a)[0] * (corner - a)[1] - (b - a)[1] * (corner - a)[0]) <= 1e-13


def dense(cell):
    """Boundary points, straight edges included."""
    ring = cell.outline(400)
    after = np.roll(ring, -1, axis=0)
    return np.concatenate([ring + k / 20 * (after - ring) for k in range(20)])


SCENES = {
    "sharp": (Box((-9, -1), (9, 1)), (0, 0), [(2, 0)], 1.9),
    "lens": (Box((-9, -9), (9, 9)), (0, 0), [(2, 0), (-2, 0)], 1.9),
    "three": (Box((-9, -9), (9, 9)), (0, 0), [(2, 0), (-1.2, 1.6), (-1.2, -1.6)], 1.0),
    "box": (BOX, POSITION, OTHERS, RADII),
    "alone": (BOX, POSITION, [], 0.0),
    "flat": (Box((0, 0), (9, 1)), (4.5, 0.5), [(1, 0.5), (8, 0.5)], 2.0),
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("dual", [False, True])
def test_width_against_many_points(name, dual):
    cell = MAKERS[dual](*SCENES[name])
    points = Polygon.hull_of(dense(cell)).vertices
    widest = max(np.hypot(*(points - z).T).max() for z in points)
    assert widest <= cell.diameter * (1 + 1e-12)
    assert widest == pytest.approx(cell.diameter, rel=1e-5)
    assert cell.diameter / 2 <= cell.circumradius * (1 + 1e-12)
    assert cell.circumradius <= cell.diameter / math.sqrt(3) * (1 + 1e-12)
    middle = points.mean(axis=0)
    assert cell.circumradius <= np.hypot(*(points - middle).T).max() * (1 + 1e-9)


def test_a_guaranteed_cell_may_be_wider_than_its_corners():
    """A long strip with a tip: the tip's arc bulges far beyond the corners, and is the widest."""
    cell = guaranteed_cell(*SCENES["sharp"])
    t = np.linspace(-0.5, 0.5, 200_001)
    tip = cell.radius(t)[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    widest = np.hypot(*(tip - (-9.0, -1.0)).T).max()
    assert cell.diameter == pytest.approx(widest, rel=1e-10, abs=0.0)
    assert cell.diameter > 9.0
    assert max(math.dist(a, b) for a in cell.corners for b in cell.corners) < 7.2
    # Symmetric: the smallest circle goes through the tip and the two corners at the other end.
    tip_x, end_x = 0.05, -9.0
    radius = ((tip_x - end_x) ** 2 + 1.0) / (2.0 * (tip_x - end_x))
    assert cell.circumradius == pytest.approx(radius, rel=1e-12, abs=0.0)


def test_width_without_uncertainty_is_that_of_the_polygon():
    others = [(3, 0), (-3, 0), (0, 2), (0, -2)]
    for make in MAKERS.values():
        cell = make(Box((-9, -9), (9, 9)), (0, 0), others, 0.0)
        assert cell.diameter == pytest.approx(math.hypot(3, 2), rel=1e-14, abs=0.0)
        assert cell.circumradius == pytest.approx(math.hypot(3, 2) / 2, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("dual", [False, True])
def test_distance_to_the_boundary(dual):
    cell = MAKERS[dual](BOX, POSITION, OTHERS, RADII)
    rim = dense(cell)
    for z in random_points(BOX, 60, seed=5):
        gap = cell.distance_to_boundary(z)
        if cell.contains(z)[0]:
            assert gap == pytest.approx(np.hypot(*(rim - z).T).min(), abs=2e-3)
            turns = z + 0.999 * gap * np.column_stack([np.cos(rim[:50, 0]), np.sin(rim[:50, 0])])
            assert cell.contains(turns).all()
        else:
            assert gap == 0.0


def test_nothing_is_certain_when_the_other_may_stand_here():
    cell = guaranteed_cell(BOX, POSITION, OTHERS, 2.0)
    assert cell.empty
    assert cell.corners.shape == (0, 2)
    assert cell.outline().shape == (0, 2)
    assert cell.area == cell.diameter == cell.circumradius == 0.0
    assert cell.radius([0.0, 1.0]).tolist() == [0.0, 0.0]
    assert not cell.contains(POSITION).any()
    assert cell.distance_to_boundary(POSITION) == 0.0


def test_a_dual_cell_without_information_is_everything():
    cell = dual_guaranteed_cell(BOX, POSITION, OTHERS, 9.0)
    assert not cell.empty
    assert cell.area == pytest.approx(12.0, rel=1e-14, abs=0.0)
    assert cell.diameter == pytest.approx(5.0, rel=1e-14, abs=0.0)
    assert cell.circumradius == pytest.approx(2.5, rel=1e-14, abs=0.0)
    assert sorted(cell.borders) == [-4, -3, -2, -1]


def test_an_agent_alone_and_an_agent_at_a_corner():
    assert guaranteed_cell(BOX, (0, 0), [], 0.0).area == pytest.approx(12.0, rel=1e-10, abs=0.0)
    cell = guaranteed_cell(BOX, (4, 3), [(0, 0)], 1.0)
    assert cell.area == pytest.approx(
        12.0 * cell.contains(random_points(BOX, 20_000)).mean(), abs=0.1
    )


def test_radii_one_for_all_or_one_each():
    one, each = (guaranteed_cell(BOX, POSITION, OTHERS, r) for r in (0.1, [0.1] * 4))
    assert (one.corners == each.corners).all()
    assert one.radii.tolist() == [0.1] * 4
    with pytest.raises(ValueError, match="read-only"):
        one.radii[0] = 2.0

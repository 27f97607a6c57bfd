"""Ellipsoids in any dimension."""

import math

import numpy as np
import pytest

from dwell import Ellipsoid


def turned(n: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def test_sizes():
    oval = Ellipsoid((1, 0, 0), (3, 2, 1))
    assert oval.volume == pytest.approx(4 / 3 * math.pi * 6, rel=1e-15, abs=0.0)
    assert oval.diameter == 6.0
    assert [b.tolist() for b in oval.bounds] == [[-2, -2, -1], [4, 2, 1]]
    assert Ellipsoid((0, 0), (2, 1)).area == pytest.approx(2 * math.pi)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_bounds_of_turned_ones_are_touched(n):
    axes = turned(n, n)
    oval = Ellipsoid(np.zeros(n), np.arange(1.0, n + 1), axes)
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(20000, n))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    skin = (ball * np.arange(1.0, n + 1)) @ axes
    lower, upper = oval.bounds
    assert (skin <= upper + 1e-12).all()
    assert (skin >= lower - 1e-12).all()
    if n <= 2:
        assert np.abs(skin.max(axis=0) - upper).max() < 1e-3


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(6))
def test_nearest_point_is_on_the_skin_and_straight_below(n, seed):
    rng = np.random.default_rng(seed)
    sizes, axes = 10 ** rng.uniform(-3, 0, n), turned(n, seed)
    oval = Ellipsoid(rng.normal(size=n), sizes, axes)
    points = oval.center + rng.normal(size=(200, n)) * 10 ** rng.uniform(-5, 3, (200, 1))
    nearest = oval.nearest(points)
    y, x = (nearest - oval.center) @ axes.T, (points - oval.center) @ axes.T
    outside = ((x / sizes) ** 2).sum(axis=1) > 1.0
    assert (nearest[~outside] == points[~outside]).all()
    # Coordinates of the center round what a short axis can resolve.
    slack = 1e-12 + 4e-16 / sizes.min()
    assert np.abs(((y / sizes) ** 2).sum(axis=1)[outside] - 1.0).max(initial=0.0) <= 8 * slack
    gap, slope = x - y, y / sizes**2
    far = outside & (np.linalg.norm(gap, axis=1) > 1e-4)
    both = np.linalg.norm(gap, axis=1) * np.linalg.norm(slope, axis=1)
    assert ((gap * slope).sum(axis=1)[far] > (1.0 - 1e-9) * both[far]).all()
    distance = np.linalg.norm(gap, axis=1)
    assert np.abs(oval.outside_by(points) - distance).max() <= 1e-12 * (1 + distance.max())


def test_no_point_of_the_skin_is_nearer():
    oval = Ellipsoid((0, 0), (2, 0.5), turned(2, 1))
    angles = np.linspace(0, 2 * np.pi, 100001)
    skin = np.column_stack([2 * np.cos(angles), 0.5 * np.sin(angles)]) @ oval.axes
    for point in np.array([[3.0, 1.0], [0.0, 4.0], [-0.7, 0.9]]):
        found = oval.outside_by(point[None])[0]
        assert found == pytest.approx(np.linalg.norm(skin - point, axis=1).min(), rel=1e-8)


def test_from_a_matrix():
    axes, sizes = turned(3, 4), np.array([0.5, 1.0, 2.0])
    matrix = axes.T @ np.diag(1 / sizes**2) @ axes
    oval = Ellipsoid.from_matrix((0, 0, 0), 0.5 * (matrix + matrix.T))
    assert sorted(oval.semi_axes) == pytest.approx(sizes.tolist())
    points = np.random.default_rng(0).normal(size=(100, 3))
    inside = np.einsum("ki,ij,kj->k", points, matrix, points) <= 1.0
    assert (oval.contains(points) == inside).all()


def test_axes_of_any_length_are_made_unit_vectors_and_that_is_recorded():
    oval = Ellipsoid((0, 0), (2, 1), [[3, 3], [-2, 2]])
    assert oval.axes @ oval.axes.T == pytest.approx(np.eye(2), abs=1e-15)
    assert len(oval.repairs) == 1
    assert Ellipsoid((0, 0), (2, 1), np.eye(2)).repairs == ()

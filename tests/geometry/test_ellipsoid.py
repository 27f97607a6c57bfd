"""Balls and ellipsoids in any dimension."""

import math

import numpy as np
import pytest

from dwell import Ball, Ellipsoid

VOLUMES = {1: 2.0, 2: math.pi, 3: 4 / 3 * math.pi, 4: math.pi**2 / 2, 5: 8 / 15 * math.pi**2}


def turned(n: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


@pytest.mark.parametrize("n", VOLUMES)
def test_sizes(n):
    ball = Ball(np.arange(n), 2.0)
    assert (ball.dimension, ball.diameter, ball.repairs) == (n, 4.0, ())
    assert (ball.bounds[1] - ball.bounds[0] == 4.0).all()
    oval = Ellipsoid(np.arange(n), np.arange(1.0, n + 1))
    assert oval.diameter == 2.0 * n
    assert (oval.bounds[1] - oval.bounds[0] == 2.0 * np.arange(1, n + 1)).all()
    for shape, stretch in ((ball, 2.0**n), (oval, math.factorial(n))):
        assert shape.volume == pytest.approx(VOLUMES[n] * stretch, rel=1e-15, abs=0.0)
        assert hasattr(shape, "area") == (n == 2)
        assert hasattr(shape, "vertices") == (n == 1)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_bounds_of_turned_ones_are_touched(n):
    axes = turned(n, n)
    oval = Ellipsoid(np.zeros(n), np.arange(1.0, n + 1), axes)
    ball = np.random.default_rng(0).normal(size=(20000, n))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    skin = (ball * np.arange(1.0, n + 1)) @ axes
    lower, upper = oval.bounds
    assert (skin <= upper + 1e-12).all()
    assert (skin >= lower - 1e-12).all()
    if n <= 2:
        assert np.abs(skin.max(axis=0) - upper).max() < 1e-3


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 5e6])
def test_nearest_point_of_a_ball(n, offset):
    rng = np.random.default_rng(n)
    ball = Ball(offset + rng.normal(size=n), 1.5)
    points = ball.center + rng.normal(size=(200, n)) * 10 ** rng.uniform(-3, 4, (200, 1))
    own = np.linalg.norm(points - ball.center, axis=1)
    nearest = ball.nearest(points)
    assert (nearest[own <= 1.5] == points[own <= 1.5]).all()
    slack = 1e-12 + 4e-16 * offset
    away = np.linalg.norm(nearest - ball.center, axis=1)
    assert np.abs(away[own > 1.5] - 1.5).max() <= slack
    distance = np.linalg.norm(nearest - points, axis=1)
    assert np.abs(ball.outside_by(points) - distance).max() <= slack + 1e-15 * own.max()
    assert (ball.contains(points) == (own <= 1.5 + 1e-12)).all()
    oval = Ellipsoid(ball.center, ball.semi_axes, ball.axes)
    assert np.abs(nearest - oval.nearest(points)).max() <= 10.0 * slack


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
    distance = np.linalg.norm(gap, axis=1)
    far = outside & (distance > 1e-4)
    both = distance * np.linalg.norm(slope, axis=1)
    assert ((gap * slope).sum(axis=1)[far] > (1.0 - 1e-9) * both[far]).all()
    assert np.abs(oval.outside_by(points) - distance).max() <= 1e-12 * (1 + distance.max())


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

"""Balls in any dimension."""

import math

import numpy as np
import pytest

from dwell import Ball, Ellipsoid

VOLUMES = {1: 2.0, 2: math.pi, 3: 4 / 3 * math.pi, 4: math.pi**2 / 2, 5: 8 / 15 * math.pi**2}


@pytest.mark.parametrize("n", VOLUMES)
def test_sizes(n):
    ball = Ball(np.arange(n), 2.0)
    assert ball.volume == pytest.approx(VOLUMES[n] * 2.0**n, rel=1e-15, abs=0.0)
    assert (ball.dimension, ball.diameter, ball.repairs) == (n, 4.0, ())
    lower, upper = ball.bounds
    assert (upper - lower == 4.0).all()


def test_only_a_disc_has_an_area():
    assert Ball((0, 0), 1).area == pytest.approx(math.pi)
    assert not hasattr(Ball((0, 0, 0), 1), "area")
    assert not hasattr(Ball((0, 0), 1), "vertices")


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 5e6])
def test_nearest_point(n, offset):
    rng = np.random.default_rng(n)
    ball = Ball(offset + rng.normal(size=n), 1.5)
    points = ball.center + rng.normal(size=(200, n)) * 10 ** rng.uniform(-3, 4, (200, 1))
    nearest = ball.nearest(points)
    own = np.linalg.norm(points - ball.center, axis=1)
    assert (nearest[own <= 1.5] == points[own <= 1.5]).all()
    slack = 1e-12 + 4e-16 * offset
    away = np.linalg.norm(nearest - ball.center, axis=1)
    assert np.abs(away[own > 1.5] - 1.5).max() <= slack
    distance = np.linalg.norm(nearest - points, axis=1)
    assert np.abs(ball.outside_by(points) - distance).max() <= slack + 1e-15 * own.max()
    assert (ball.contains(points) == (own <= 1.5 + 1e-12)).all()


def test_a_ball_is_a_round_ellipsoid():
    ball = Ball((1, 2, 3), 2)
    same = Ellipsoid(ball.center, ball.semi_axes, ball.axes)
    points = np.random.default_rng(0).normal(size=(50, 3)) * 5
    assert np.abs(ball.nearest(points) - same.nearest(points)).max() <= 1e-13
    assert same.volume == pytest.approx(ball.volume, rel=1e-15, abs=0.0)

"""The plain self-trigger and the compiled one are two programs for one function."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell._kernels.polygon.guaranteed_envelope import make_envelope
from dwell._kernels.polygon.self_trigger import trigger_value
from dwell._types import columns
from dwell.controllers import SelfTriggered
from dwell.density import Gaussian, Uniform
from dwell.geometry.voronoi import voronoi_cells
from dwell.verify import reference_trigger as reference
from dwell.verify.reference_trigger import reference_trigger

OPTIONS = [
    {},
    {"factor": 2},
    {"own": "ball"},
    {"second": "sampled"},
    {"bound": "circumradius"},
    {"preset": "paper-like", "delta": 0.01},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("density", [Uniform(), Gaussian((7.5, 4.5), 0.03)], ids=["flat", "hill"])
def test_two_programs_agree(heptagon, options, density):
    rng = np.random.default_rng(4)
    site, law = dwell.Polygon(heptagon), SelfTriggered(**options)
    wx, wy = columns(site.vertices)
    seen = 0
    for _ in range(12):
        places = rng.uniform([0.0, -4.0], [14.0, 10.0], (9, 2))
        cell = voronoi_cells(site, places, [0])[0]
        others = places[np.sort(cell.borders[cell.borders >= 0])]
        s = float(rng.uniform(0.02, 0.6))
        target = places[0] + rng.normal(size=2) * 0.2
        x, y = columns(others)
        left = target - places[0]
        env, radius = make_envelope(len(others), len(wx)), np.empty(len(others))
        fast = trigger_value(
            s, 0.0, *places[0], *left, len(others), x, y, radius, law.trigger(), wx, wy,
            density.terms(), env,
        )  # fmt: skip
        slow = reference_trigger(law, site, density, places[0], target, others, s)
        assert slow == pytest.approx(fast, abs=3e-4, rel=3e-4)
        seen += np.isfinite(fast)
    assert seen >= 8


def test_neighbours_within_their_radius_leave_nothing_certain():
    site = dwell.Box((0, 0), (4, 3))
    law = SelfTriggered(v=1.0)
    here, others = np.array([1.0, 1.0]), np.array([[1.3, 1.0]])
    assert reference_trigger(law, site, Uniform(), here, here, others, 0.4) == np.inf


def sheet(q: np.ndarray, reach: float, count: int = 400) -> np.ndarray:
    """Points w with |w - q| = |w| + reach, about the axis through 0 and q."""
    apart = np.linalg.norm(q)
    a, b = 0.5 * reach, 0.5 * np.sqrt(apart**2 - reach**2)
    axis = q / apart
    aside = np.linalg.svd(axis[None])[2][1:]
    t, turn = np.meshgrid(np.linspace(0, 8, count), np.linspace(0, 2 * np.pi, count))
    along = 0.5 * apart - a * np.sqrt(1 + t**2)
    across = b * t
    return (
        along[..., None] * axis
        + (across * np.cos(turn))[..., None] * aside[0]
        + (across * np.sin(turn))[..., None] * aside[1]
    ).reshape(-1, 3)


def test_distance_from_a_sheet_in_space():
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, reach = rng.uniform(-1, 1, 3) * 2.0, float(rng.uniform(0.02, 0.3))
        points = sheet(q, reach)
        np.testing.assert_allclose(
            np.linalg.norm(points - q, axis=1) - np.linalg.norm(points, axis=1), reach, atol=1e-9
        )
        z = rng.uniform(-0.3, 0.3, 3)
        nearest = np.linalg.norm(points - z, axis=1).min()
        assert reference._from_sheet(z, q, reach) == pytest.approx(nearest, abs=0.02)


def test_depth_in_a_guaranteed_cell_is_the_distance_from_its_boundary():
    """Beside a facet, beside a neighbour, and beyond the sheet of one."""
    cell = reference._UncertainCell(dwell.Box((-2,) * 3, (2,) * 3), np.zeros(3), np.eye(3)[:1], 0.2)
    for z, depth in ((-1.9, 0.1), (0.0, 0.4), (0.3, 0.1), (0.6, -0.2)):
        assert cell.depth(np.array([z, 0.0, 0.0])) == pytest.approx(depth, abs=1e-6)
    near = np.array([0.0, 1.5, 0.0])
    assert cell.depth(near) == pytest.approx(reference._from_sheet(near, cell.away[0], 0.2))


def test_distance_from_an_ellipsoid():
    """By points of its boundary."""
    for site in (dwell.Ball((1, 2), 3), dwell.Ellipsoid((0, 0, 0), (3, 1, 2))):
        n = site.dimension
        drawn = np.random.default_rng(0).normal(size=(200_000, n))
        drawn *= (1.0 / np.linalg.norm(drawn, axis=1))[:, None]
        boundary = np.array(site.center) + drawn * np.array(site.semi_axes)
        for share in (0.0, 0.3, 0.6):
            place = np.array(site.center) + share / np.sqrt(n) * np.array(site.semi_axes)
            nearest = np.linalg.norm(boundary - place, axis=1).min()
            found = reference._from_ellipsoid(site, place)
            assert found == pytest.approx(nearest, abs=1e-3)


def test_size_of_points():
    """The smallest ball is that of two, three or four of them."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3):
        points = rng.normal(size=(40, n))
        ball = np.vstack([points / np.linalg.norm(points, axis=1)[:, None], 0.9 * points / 9])
        assert reference._size(ball, "circumradius") == pytest.approx(2.0, abs=0.05)
        pair = np.vstack([0.3 * np.eye(n), -np.ones(n), np.ones(n)])
        for bound in ("diameter", "circumradius"):
            assert reference._size(pair, bound) == pytest.approx(2.0 * np.sqrt(n))
    corners = np.array([(0, 0), (1, 0), (0.5, 0.75**0.5)])
    assert reference._size(corners, "diameter") == pytest.approx(1.0)
    assert reference._size(corners, "circumradius") == pytest.approx(2.0 / 3.0**0.5)

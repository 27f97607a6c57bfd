"""The plain self-trigger and the compiled one are two programs for one function."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell._kernels.guaranteed import make_envelope
from dwell._kernels.self_trigger import trigger_value
from dwell._types import columns
from dwell.controllers import SelfTriggered
from dwell.density import Gaussian, Uniform
from dwell.geometry.voronoi import voronoi_cells
from dwell.verify import plain_trigger_any
from dwell.verify.plain_trigger import plain_trigger

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
        slow = plain_trigger(law, site.vertices, density, places[0], target, others, s)
        assert slow == pytest.approx(fast, abs=3e-4, rel=3e-4)
        seen += np.isfinite(fast)
    assert seen >= 8


def test_neighbours_within_reach_leave_nothing_certain():
    site = dwell.Box((0, 0), (4, 3))
    law = SelfTriggered(v=1.0)
    here, others = np.array([1.0, 1.0]), np.array([[1.3, 1.0]])
    assert plain_trigger(law, site.vertices, Uniform(), here, here, others, 0.4) == np.inf


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
        assert plain_trigger_any._from_sheet(z, q, reach) == pytest.approx(nearest, abs=0.02)


def test_room_in_a_guaranteed_cell_is_the_distance_from_what_bounds_it():
    """Beside a wall, beside a neighbour, and beyond the sheet of one."""
    walls, gaps = np.vstack([np.eye(3), -np.eye(3)]), np.full(6, 2.0)
    q, reach = np.array([[1.0, 0.0, 0.0]]), 0.2
    room = plain_trigger_any._room
    assert room(np.array([-1.9, 0.0, 0.0]), walls, gaps, q, reach) == pytest.approx(0.1)
    assert room(np.zeros(3), walls, gaps, q, reach) == pytest.approx(0.4, abs=1e-6)
    assert room(np.array([0.3, 0.0, 0.0]), walls, gaps, q, reach) == pytest.approx(0.1, abs=1e-6)
    assert room(np.array([0.6, 0.0, 0.0]), walls, gaps, q, reach) == pytest.approx(-0.2)
    near, far = np.array([0.0, 1.5, 0.0]), plain_trigger_any._from_sheet
    assert room(near, walls, gaps, q, reach) == pytest.approx(far(near, q[0], reach))

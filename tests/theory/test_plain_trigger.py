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
from dwell.theory.plain_trigger import plain_trigger

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

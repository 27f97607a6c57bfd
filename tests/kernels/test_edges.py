"""Kernels at their limits: bins of a few agents, cells of an interval in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell._kernels.polygon.cell_list import COLUMNS, FEW, ROWS, lay_frame


@pytest.mark.parametrize(("agents", "single"), [(2, True), (FEW, True), (FEW + 1, False)])
def test_a_few_agents_share_one_bin(agents: int, single: bool) -> None:
    frame = np.zeros(8)
    lay_frame(agents, 0.0, 0.0, 3.0, 2.0, frame)
    assert (frame[COLUMNS] * frame[ROWS] == 1.0) is np.bool_(single)


def test_cells_of_an_interval_end_halfway() -> None:
    places = np.array([0.5, 2.0, 7.0, 7.5])
    found = dwell.tessellate(dwell.Interval(0.0, 10.0), places[:, None])
    ends = np.array([0.0, 1.25, 4.5, 7.25, 10.0])
    assert found.masses == pytest.approx(np.diff(ends), rel=1e-14)
    middles = 0.5 * (ends[1:] + ends[:-1])
    assert found.errors[:, 0] == pytest.approx(middles - places, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("rate", [0.05, 1.0, 30.0])
def test_gaussians_of_an_interval_have_their_closed_form(rate: float) -> None:
    """Two of them, each with a rate of its own: masses are error functions."""
    places = np.array([0.5, 2.0, 7.0, 7.5])
    ends = np.array([0.0, 1.25, 4.5, 7.25, 10.0])
    hills = [(3.0, rate, 1.0), (6.0, 0.3 * rate, 2.0)]
    parts = [dwell.Gaussian((c,), rate=q, weight=w) for c, q, w in hills]
    found = dwell.tessellate(
        dwell.Interval(0.0, 10.0), places[:, None], dwell.Mixture(tuple(parts))
    )

    def mass(c: float, q: float, w: float) -> np.ndarray:
        below = np.array([math.erf(math.sqrt(q) * (z - c)) for z in ends])
        return w * 0.5 * math.sqrt(math.pi / q) * np.diff(below)

    masses = sum(mass(*hill) for hill in hills)
    assert found.masses == pytest.approx(masses, rel=1e-9, abs=1e-15)

"""Admissible pairs of T2 and k1 on a grid, for the diagram beside the sliders."""

from __future__ import annotations

from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.theory.design import Setting

POINTS = 64  # along each side
SMALLEST, LARGEST = 1e-100, 1e100  # beyond, products would leave the range of numbers
MARGIN = 4.0  # factor by which the grid goes beyond the values of interest
WORDS = {
    "paper": "the paper's condition: T2 <= eta_max nu~ / (k1^2 (L sqrt(N) + 1)), eta_max < k1",
    "async_local": "k1 T2 < nu~: near a minimum, each agent on its own clock",
    "sync_global": "k1 T2 < 2 nu~: from anywhere, if all look at the same times",
}


def design_region(setting: Setting) -> dict[str, Any]:
    """Return admissible pairs for the tightest agent: rows by T2, columns by k1."""
    s, p = setting, setting.tightest
    t2, spread = float(s.t2[p]), float(s.spreads[p])
    limits = [float(s.max_dwell_times[p]), s.reach / s.k1, 2.0 * s.reach / s.k1]
    k1s = _range(s.k1, s.eta_max, *(k for k in s.admissible_k1 or () if k > 0.0))
    t2s = _range(t2, *(limit for limit in limits if limit > 0.0))
    eta = s.theta * k1s if s.tied else np.full(len(k1s), s.eta_max)
    paper = np.where(eta < k1s, eta / k1s * (s.reach / k1s) / spread, 0.0)
    once = s.reach / k1s
    curves = {"paper": paper, "async_local": once, "sync_global": 2.0 * once}
    admissible: dict[str, Any] = {
        name: np.where(
            (t2s[:, None] <= curve) if name == "paper" else (t2s[:, None] < curve), 1, 0
        ).tolist()
        for name, curve in curves.items()
    }
    return {
        "k1": k1s.tolist(),
        "t2": t2s.tolist(),
        "limit": {name: np.nan_to_num(curve).tolist() for name, curve in curves.items()},
        "admissible": {**admissible, "sharper": admissible["async_local"]},
        "here": {"k1": s.k1, "t2": t2, "agent": p},
        "words": WORDS,
    }


def _range(*values: float) -> Floats:
    """Return a geometric grid from below the smallest value to above the largest."""
    known = np.clip([value for value in values if np.isfinite(value)], SMALLEST, LARGEST)
    return np.geomspace(known.min() / MARGIN, known.max() * MARGIN, POINTS)

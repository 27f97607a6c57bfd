"""Small sweeps, and functions that workers meet in them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from dwell.sweep import parse_sweep
from dwell.sweep.spec import Sweep
from dwell.sweep.work import Order, Result, blank_row, versions

SCENARIO: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [2.0, 1.0]},
    "agents": {"start": {"count": 3}},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.2, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 0.5, "seed": 1},
}
GRID = {"controller.t2": [0.2, 0.3, 0.4], "controller.k1": [0.25, 0.5]}

FILE = """
repeats = {repeats}
seed = 4

[scenario]
[scenario.workspace]
kind = "box"
lower = [0.0, 0.0]
upper = [2.0, 1.0]
[scenario.agents]
start = {{ count = 3 }}
[scenario.controller]
kind = "timer"
k1 = 0.5
nu = 0.2
t1 = 0.1
t2 = 0.3
[scenario.run]
horizon = {horizon}
{density}
[grid]
{grid}
"""


def file_at(
    folder: Path,
    *,
    repeats: int = 5,
    horizon: float = 0.5,
    grid: str = '"controller.t2" = [0.2, 0.3, 0.4]',
    density: str = "",
) -> Path:
    """A sweep file in a folder."""
    path = folder / "sweep.toml"
    text = FILE.format(repeats=repeats, horizon=horizon, grid=grid, density=density)
    path.write_text(text, encoding="utf-8")
    return path


def small(**changes: Any) -> Sweep:
    """Six points, four repeats."""
    return parse_sweep({"scenario": SCENARIO, "repeats": 4, "seed": 3, "grid": GRID, **changes})


# -- what the workers of a test do instead of running a scenario ---------------------------------


def quick_work(order: Order) -> Result:
    """Rows that cost nothing: a figure that depends on the case alone."""
    from dwell.sweep.plan import Frame

    frame = Frame(order.frame)
    rows = []
    for brief in order.cases:
        case = frame.case(brief)
        beside = {"_seconds": 1e-3, "_worker": "a test"}
        rows.append({**blank_row(case, frame), "cost.final": case.seed / 2.0**48, **beside})
    return Result(rows, versions())


def slow_work(order: Order) -> Result:
    """The same, a tenth of a second each."""
    time.sleep(0.1 * len(order))
    return quick_work(order)


# -- densities -----------------------------------------------------------------------------------


def calm(points: Any) -> Any:
    """Everything matters the same."""
    return np.ones(len(points))


def deadly(points: Any) -> Any:
    """Kills the process that asks."""
    os.kill(os.getpid(), signal.SIGKILL)
    return calm(points)


def broken(points: Any) -> Any:
    """A mistake in somebody's function."""
    raise ZeroDivisionError("no density here")

"""Small sweeps, and functions that workers meet in them."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np

from dwell.sweep import parse_sweep
from dwell.sweep.cases import Chunk, Result, blank_row, run_chunk, versions
from dwell.sweep.executors import Done
from dwell.sweep.spec import Sweep

SCENARIO: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [2.0, 1.0]},
    "agents": {"start": {"count": 3}},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.2, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 0.5, "seed": 1},
}
GRID = {"controller.t2": [0.2, 0.3, 0.4], "controller.k1": [0.25, 0.5]}
SLOW = {"repeats": 24, "horizon": 60.0}  # some 10 ms a case: time enough to be killed in between
CASES = 72  # of that sweep

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


def quick_work(chunk: Chunk) -> Result:
    """Rows that cost nothing: a figure that depends on the case alone."""
    rows = []
    for spec in chunk.cases:
        case = chunk.template.case(spec)
        beside = {"_seconds": 1e-3, "_worker": "a test"}
        rows.append(
            {**blank_row(case, chunk.template), "cost.final": case.seed / 2.0**48, **beside}
        )
    return Result(rows, versions())


class FakeExecutor:
    """Runs chunks in this process, in random order; `lose` returns those that are lost."""

    about = ""

    def __init__(self, workers=2, run=run_chunk, *, lose=lambda chunk: None, most_back=3):
        self.workers, self.run, self.lose, self.most_back = workers, run, lose, most_back
        self.under_way, self.most_live, self.given = [], 0, []
        self.chance = random.Random(1)

    def versions(self):
        return {}

    def submit(self, chunk):
        self.under_way.append(chunk)
        self.most_live = max(self.most_live, len(self.under_way))
        self.given.append(chunk)

    def collect(self, timeout):
        self.chance.shuffle(self.under_way)
        back, self.under_way = (
            self.under_way[: self.most_back],
            self.under_way[self.most_back :],
        )
        return [self.lose(chunk) or Done(chunk, self.run(chunk)) for chunk in back]

    def close(self):
        pass


# -- densities -----------------------------------------------------------------------------------


DENSITIES = '"density.function" = ["tests.sweep.worlds:calm", "tests.sweep.worlds:{}"]'
FEW_SAMPLES = "record = { sample_every = 0.1 }"  # as functions are slow to integrate
CALLABLE = (
    f'{FEW_SAMPLES}\n[scenario.density]\nkind = "callable"\nfunction = "tests.sweep.worlds:calm"'
)


def calm(points: Any) -> Any:
    """Everything matters the same."""
    return np.ones(len(points))


def chatty(points: Any) -> Any:
    """Says what it does."""
    print("how dense it is")
    return calm(points)


def deadly(points: Any) -> Any:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return calm(points)


def broken(points: Any) -> Any:
    """A function that fails."""
    raise ZeroDivisionError("no density here")

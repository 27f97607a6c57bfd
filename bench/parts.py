"""Where the time of one event goes: each part of the engine on its own, compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dwell
from bench.places import hill, paper
from bench.table import Row
from bench.timing import timed
from dwell._kernels._jit import njit
from dwell._kernels.common.philox import STREAM_RESETS, uniform
from dwell._kernels.polygon.buffers import make_scratch
from dwell._kernels.polygon.cells import integrate_cell
from dwell._kernels.polygon.gift_wrap import trace_near
from dwell._types import columns
from dwell.engine import run_compiled
from dwell.scenario.build import build

STOPS = 16  # configurations along the run at which looks are timed


@njit
def draw_many(rounds, n):
    """Random numbers alone."""
    total = 0.0
    for k in range(rounds):
        for p in range(n):
            total += uniform(1, 2, STREAM_RESETS, p, k)
    return total


@njit
def trace_many(rounds, xs, ys, wx, wy, s):
    """Whole cells."""
    total = 0
    for _ in range(rounds):
        for p in range(xs.shape[0]):
            n, _, _ = trace_near(xs.shape[0], p, np.inf, xs[p], ys[p], xs, ys, wx, wy, s)
            total += n
    return total


@njit
def look_many(rounds, xs, ys, wx, wy, terms, s):
    """Whole looks: cells and their moments."""
    total = 0.0
    for _ in range(rounds):
        for p in range(xs.shape[0]):
            n, d2, _ = trace_near(xs.shape[0], p, np.inf, xs[p], ys[p], xs, ys, wx, wy, s)
            _, ex, ey, _, _, _, _, _ = integrate_cell(p, n, 0, d2, xs, ys, wx, wy, terms, None, s)
            total += ex + ey
    return total


def rows(quick: bool) -> Iterator[Row]:
    """Microseconds per event of the 30-agent run, part by part."""
    found = costs(3.0 if quick else 150.0, 5 if quick else 50)
    whole = found["whole"]
    for name, micros in found.items():
        share = f", {100 * micros / whole:.0f} %" if name != "whole" else ""
        figure = f"{micros:.2f} µs{share}"
        yield Row("parts", f"event of the 30-agent run: {name}", _HOW[name], figure, micros)


_HOW = {
    "whole": "run_events, no metrics",
    "cell": "walk along its border among 29 agents and 7 walls, and check it",
    "moments": "mass, first and second moment, Gaussian",
    "moments, uniform": "the same for a constant (not part of this run)",
    "draw": "one Philox number",
    "rest": "queue, positions of all agents, law, log",
}


def costs(horizon: float, rounds: int) -> dict[str, float]:
    """Microseconds of processor per event of each part, averaged along the run."""
    system, places, _ = build(paper(30, horizon=horizon))
    start = system.start(places)
    arc = run_compiled(system, start, until=horizon)
    whole = timed(lambda: run_compiled(system, start, until=horizon), repeats=5).cpu / arc.jumps
    along = [arc.at(t).positions for t in np.linspace(0.0, horizon, STOPS)]
    looks = [_per_look(places, system, rounds) for places in along]
    each = {name: 1e6 * float(np.mean([one[name] for one in looks])) for name in looks[0]}
    found = {
        "whole": 1e6 * whole,
        "cell": each["cell"],
        "moments": each["look"] - each["cell"],
        "draw": each["draw"],
    }
    rest = found["whole"] - each["look"] - each["draw"]
    return found | {"rest": rest, "moments, uniform": each["uniform"] - each["cell"]}


def _per_look(places: np.ndarray, system: Any, rounds: int) -> dict[str, float]:
    """Seconds of one look and its parts at `places`, the loops taking turns."""
    (xs, ys), (wx, wy) = columns(places), columns(system.workspace.vertices)
    s, n = make_scratch(len(xs), len(wx)), len(xs)
    gaussian, constant = hill().terms(), dwell.Uniform().terms()
    calls = {
        "cell": lambda: trace_many(rounds, xs, ys, wx, wy, s),
        "look": lambda: look_many(rounds, xs, ys, wx, wy, gaussian, s),
        "uniform": lambda: look_many(rounds, xs, ys, wx, wy, constant, s),
        "draw": lambda: draw_many(rounds, n),
    }
    turns = [{name: timed(call, repeats=1).cpu for name, call in calls.items()} for _ in range(7)]
    return {name: min(turn[name] for turn in turns) / (rounds * n) for name in calls}

"""Thousands of independent small runs at once, against one after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import dwell
from bench.places import HEPTAGON, Points, hill, scattered, slow_timer
from bench.table import Row, absent, at_least

RUNS, FEW = 10_000, 20
ALONE = 20  # runs that the rate of single runs is taken from
SHARE = 0.9  # of the cores, at least


def rows(quick: bool) -> Iterator[Row]:
    """Runs per second together over those of single runs, per core."""
    runs, horizon = (FEW, 5.0) if quick else (RUNS, 150.0)
    name = f"{runs} runs of 12 agents, t = {horizon:g}"
    what = "simulate_many over single runs, per core; Gaussian, metrics off"
    if not hasattr(dwell, "simulate_many"):
        yield absent("speed", name, what, "dwell has no simulate_many yet")
        return
    starts = np.array([scattered(12, seed) for seed in range(runs)])
    together(starts[:2], horizon)  # compiled
    single, many = alone(starts, horizon), _seconds(lambda: together(starts, horizon)) / runs
    cores = len(os.sched_getaffinity(0))
    share = single / many / cores
    figure = f"{share:.2f} × {cores} cores ({1 / many:,.0f} and {1 / single:,.0f} runs per second)"
    if quick:
        yield Row("speed", name, what, figure, share)
    else:
        yield at_least("speed", name, what, share, SHARE, figure, " × cores")


def together(starts: Points, horizon: float) -> Any:
    """All runs by one call; the seed of run k is k."""
    return dwell.simulate_many(
        dwell.Polygon(HEPTAGON), hill(), starts, slow_timer(), until=horizon, seed=0
    )


def alone(starts: Points, horizon: float) -> float:
    """Seconds of a run on its own, in the engine as a warm process runs it; the best of three."""
    picked = starts[:ALONE]

    def one_by_one() -> None:
        for seed, start in enumerate(picked):
            dwell.simulate(
                dwell.Polygon(HEPTAGON), hill(), start, slow_timer(), until=horizon, seed=seed,
                sample_every="off",
            )  # fmt: skip

    one_by_one()
    return min(_seconds(one_by_one) for _ in range(3)) / len(picked)


def _seconds(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began

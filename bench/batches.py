"""Thousands of independent small runs at once, against one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator

import dwell
from bench.places import paper
from bench.table import Row, absent, at_least
from bench.timing import once, timed

RUNS, FEW = 10_000, 20
ALONE = 20  # runs that the rate of single runs is taken from
SHARE = 0.9  # of the cores, at least


def rows(quick: bool) -> Iterator[Row]:
    """Runs per second together over those of single runs, per core."""
    runs, horizon = (FEW, 5.0) if quick else (RUNS, 150.0)
    name = f"{runs} runs of 12 agents, t = {horizon:g}"
    what = "simulate_many over run_scenario one by one, wall; Gaussian, metrics off"
    if not hasattr(dwell, "simulate_many"):
        yield absent("speed", name, what, "dwell has no simulate_many yet")
        return
    scenario = paper(12, horizon=horizon, record={"kind": "events", "sample_every": "off"})
    single, single_cpu = alone(scenario, min(ALONE, runs))
    many, many_cpu = (seconds / runs for seconds in together(scenario, runs))
    cores = len(os.sched_getaffinity(0))
    share = single / many / cores
    rates = f"{1 / many:,.0f} and {1 / single:,.0f} runs per second"
    figure = (
        f"{share:.2f} × {cores} cores ({rates}; {single_cpu / many_cpu:.2f} × by processor time)"
    )
    if quick:
        yield Row("speed", name, what, figure, share)
    else:
        yield at_least("speed", name, what, share, SHARE, figure, " × cores")


def together(scenario: dwell.Scenario, runs: int) -> tuple[float, float]:
    """Wall and processor seconds of all runs by one call, engine warm."""
    dwell.simulate_many(scenario, seeds=range(2))
    return once(lambda: dwell.simulate_many(scenario, seeds=range(runs)))


def alone(scenario: dwell.Scenario, runs: int) -> tuple[float, float]:
    """Seconds of a run on its own, one after the other in a warm process; the best of three."""
    asked = [_seeded(scenario, seed) for seed in range(runs)]

    def one_by_one() -> None:
        for each in asked:
            dwell.run_scenario(each, threads=1)

    found = timed(one_by_one, repeats=3)
    return found.best / runs, found.cpu / runs


def _seeded(scenario: dwell.Scenario, seed: int) -> dwell.Scenario:
    return scenario.model_copy(update={"run": scenario.run.model_copy(update={"seed": seed})})

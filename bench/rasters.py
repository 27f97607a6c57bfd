"""Samples of cells on rasters: time, and its growth with the number of pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import dwell
from bench.table import Row, at_most
from bench.timing import in_turns
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from dwell.density.raster import INTERPOLATIONS

AGENTS, SIDES = 30, (1000, 8000)
LIMITS = (40.0, 400.0)  # microseconds
GROWTH = 10.0
ROUNDS = 20


def rows(quick: bool) -> Iterator[Row]:
    """Microseconds of a sample among 30 agents, for both interpolations and two sizes."""
    for interpolation in INTERPOLATIONS:
        calls = {str(side): samples(side, interpolation) for side in SIDES}
        for call in calls.values():
            call()  # which compiles the kernels
        found = in_turns(calls, repeats=3 if quick else 15)
        each = [1e6 * found[str(side)].cpu / (ROUNDS * AGENTS) for side in SIDES]
        for side, value, limit in zip(SIDES, each, LIMITS, strict=True):
            name = f"sample on a raster of {side}², {interpolation}, N = {AGENTS}"
            what = "processor time, float32, square"
            yield at_most("speed", name, what, value, limit, f"{value:.0f} µs")
        ratio = each[1] / each[0]
        name = f"growth from {SIDES[0]}² to {SIDES[1]}² pixels, {interpolation}"
        yield at_most("growth", name, f"N = {AGENTS}", ratio, GROWTH, f"{ratio:.1f} ×")


def samples(side: int, interpolation: str) -> Callable[[], object]:
    """Measure the cells of 30 agents, some rounds."""
    values = np.random.default_rng(0).random((side, side), dtype=np.float32)
    raster = dwell.Raster(values, origin=(0, 0), pixel=1.0 / side, interpolation=interpolation)
    ground = weighted_region(dwell.Box((0, 0), (1, 1)), raster)
    places = np.random.default_rng(1).random((ROUNDS, AGENTS, 2))
    row, agent = (a.ravel() for a in np.indices((ROUNDS, AGENTS)))
    return lambda: measure_cells(ground, places, row, agent)

"""Kernels give the same bits compiled and as plain Python: every case once, in one process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from dwell import Box, Gaussian, Interval, Mixture, Polynomial, Timer, Uniform
from dwell.agents import CoverageSystem, table_of
from dwell.cells import interval
from dwell.cells.weighted_region import weighted_region
from dwell.engine import run_compiled
from tests.agents import test_engine as engines
from tests.kernels import space_worlds as worlds
from tests.kernels import test_guaranteed as guaranteed


def run_of(system: CoverageSystem, start, **options) -> Iterator[np.ndarray]:
    table = table_of(run_compiled(system, start, **options))
    assert len(table) > 7
    yield from table.columns().values()


def run_in(world: str) -> Iterator[np.ndarray]:
    system = engines.system(world)
    return run_of(system, engines.begun(system), until=1.5)


def run_of_many(n: int) -> Iterator[np.ndarray]:
    law = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5)
    system = CoverageSystem(Box((0.0,) * n, (1.0,) * n), Uniform(), law, 140, 3)
    places = np.random.default_rng(1).uniform(0, 1, (140, n))
    return run_of(system, system.start(places), until=2.0, max_jumps=250)


def cells_on_line() -> Iterator[np.ndarray]:
    density = Mixture((Uniform(0.1), Gaussian((0.3,), rate=30.0), Polynomial([(2, 1.0)])))
    places, k = np.random.default_rng(0).random((1, 12, 1)), np.arange(12)
    found = interval.measure(weighted_region(Interval(0, 1), density), places, 0 * k, k)
    yield from (found.mass, found.error, found.second)


def cells_in_space() -> Iterator[np.ndarray]:
    gaussian = worlds.hills([1.0], [[0.4, 0.5, 0.6]], np.diag([2.0, 1.0, 3.0]))
    for terms in (worlds.UNIFORM, gaussian):
        for points in (worlds.scattered(6), worlds.cubic(2), worlds.in_pairs(1e-9, 2)):
            found = worlds.measure(worlds.cube(), points, terms)
            yield from (found.mass, found.error, found.second)


def guaranteed_cells() -> Iterator[np.ndarray]:
    gaussians = (((1.0, 2.0), 0.1), ((90.0, 2.0), 1.0), ((1.0, 2.0), 1e-6))
    densities = [Gaussian(center, rate) for center, rate in gaussians]
    for seed in range(3):
        for density in (Uniform(), *densities, Polynomial([(0, 0, 1.0), (2, 2, 0.1)])):
            yield np.array(list(guaranteed.pair(*guaranteed.scene(seed), density).values()))


def run_with_radii(spread: float) -> Iterator[np.ndarray]:
    law, rng = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5), np.random.default_rng(1)
    density = Mixture((Uniform(0.1), Gaussian((0.3, 0.4), 4.0), Polynomial([(2, 0, 1.0)])))
    radius = tuple((0.15 + spread * rng.uniform(0, 1, 90)).tolist())
    system = CoverageSystem(Box((0.0, 0.0), (1.0, 1.0)), density, law, 90, 3, radius=radius)
    places = rng.uniform(0, 1, (90, 2))
    return run_of(system, system.start(places), until=2.0, max_jumps=120)


CASES = {
    "run with one radius": lambda: run_with_radii(0.0),
    "run with radii": lambda: run_with_radii(0.1),
    "run in the plane": lambda: run_in("plane"),
    "run on the line": lambda: run_in("interval"),
    "run in space": lambda: run_in("space"),
    "run of many on the line": lambda: run_of_many(1),
    "run of many in space": lambda: run_of_many(3),
    "cells on the line": cells_on_line,
    "cells in space": cells_in_space,
    "guaranteed cells": guaranteed_cells,
}


def digest(case: str) -> str:
    found = hashlib.sha256()
    for values in CASES[case]():
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def plain() -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__],
        env={**os.environ, "DWELL_JIT": "0"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_compiled_and_plain_python_give_the_same_bits(case, plain):
    assert digest(case) == plain[case]


if __name__ == "__main__":
    print(json.dumps({case: digest(case) for case in CASES}))

"""Events of agents with sensing radii, beside the same agents without; ratios of processor time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

import dwell
from bench.table import Row, at_most
from bench.timing import in_turns
from dwell.agents import CoverageSystem
from dwell.density.base import Density
from dwell.engine.compiled import CompiledRun

AGENTS, SIDE = 1000, 10.0
EVENTS, WARM = 6000, 2000
LIMIT = 1.5
DENSITIES: dict[str, Density] = {
    "uniform": dwell.Uniform(),
    "wide Gaussian": dwell.Gaussian((5, 5), rate=0.03),
    "Gaussian": dwell.Gaussian((5, 5), rate=0.5),
}


def rows(quick: bool) -> Iterator[Row]:
    """For each density, one radius for all and one for each agent; most discs cut their cells."""
    share = SIDE / math.sqrt(math.pi * AGENTS)  # the radius of a disc as large as a cell
    unequal = np.random.default_rng(0).uniform(0.85 * share, 1.15 * share, AGENTS)
    radii = {"": None, "one radius": (share,) * AGENTS, "own radii": tuple(unequal.tolist())}
    for name, density in DENSITIES.items():
        calls = {kind: events(density, radius) for kind, radius in radii.items()}
        found = in_turns(calls, repeats=3 if quick else 25)
        for kind in list(radii)[1:]:
            ratio = found[kind].cpu / found[""].cpu
            each, plain = (1e6 * found[k].cpu / EVENTS for k in (kind, ""))
            figure = f"{ratio:.2f} × ({each:.2f} and {plain:.2f} µs)"
            title = f"event with {kind}, {name}, N = {AGENTS}"
            what = "processor time over that without radii, square"
            if quick:
                yield Row("speed", title, what, figure, ratio)
            else:
                yield at_most("speed", title, what, ratio, LIMIT, figure)


def events(density: Density, radius: tuple[float, ...] | None) -> Callable[[], object]:
    """Execute the next events of a run."""
    law = dwell.Timer(k1=0.05, nu=0.04, t1=0.2, t2=0.5)
    site = dwell.Box((0, 0), (SIDE, SIDE))
    system = CoverageSystem(site, density, law, AGENTS, 3, radius=radius)
    places = np.random.default_rng(1).uniform(0.0, SIDE, (AGENTS, 2))
    run = CompiledRun.of(system, system.start(places))
    run.advance(math.inf, WARM)
    return lambda: run.advance(math.inf, EVENTS)

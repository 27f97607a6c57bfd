"""What an event costs in a world that changes: processor time over that of the world at rest.

The same with a sensing radius, one for all or one of each agent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dwell
from bench.growth import go_on
from bench.places import Points, brisk_timer, crowd
from bench.table import Row, at_most
from bench.timing import in_turns
from dwell.agents import CoverageSystem
from dwell.agents.world import Timeline, World
from dwell.engine.compiled import CompiledRun

AGENTS, QUICK = 1_000, 200
EVENTS = 10  # of each agent
MOST = 1.3


def rows(quick: bool) -> Iterator[Row]:
    """A row for each kind of motion."""
    agents = QUICK if quick else AGENTS
    places, side = crowd(agents)
    box, rate = dwell.Box((0.0, 0.0), (side, side)), 8.0 / side**2
    ends = [(0.3 * side, 0.3 * side), (0.7 * side, 0.5 * side)]
    path = dwell.Keyframes([0.0, 1e6], ends)
    circle = dwell.Circle((0.5 * side, 0.5 * side), 0.2 * side, 1e3)
    hills = {
        "hill on keyframes": dwell.Moving(dwell.Gaussian, center=path, rate=rate),
        "hill on a circle": dwell.Moving(dwell.Gaussian, center=circle, rate=rate),
    }
    disc = side / math.sqrt(math.pi * agents)  # as large as a cell
    each = np.random.default_rng(0).uniform(0.85 * disc, 1.15 * disc, agents)
    radii = {"": None, ", one radius": (disc,) * agents, ", own radii": tuple(each.tolist())}
    for which, radius in radii.items():
        calls = {"": _events(box, dwell.Gaussian(ends[0], rate=rate), places, None, radius)}
        for name, density in hills.items():
            moving = Timeline((World(0.0, box, density),))
            calls[name] = _events(box, density.now(0.0), places, moving, radius)
        found = in_turns(calls, repeats=3 if quick else 7)
        for name in hills:
            ratio = found[name].cpu / found[""].cpu
            what = f"N = {agents}, processor time per event over that of the hill at rest"
            figure = f"{ratio:.2f} × ({1e6 * found[name].cpu / (EVENTS * agents):.2f} µs)"
            yield at_most("speed", name + which, what, ratio, MOST, figure)


def _events(
    box: dwell.Box,
    density: Any,
    places: Points,
    changes: Timeline | None,
    radius: tuple[float, ...] | None,
) -> Callable[[], None]:
    """Executes the first events of a run."""
    count = len(places)
    system = CoverageSystem(
        box, density, brisk_timer(), count, seed=1, changes=changes, radius=radius
    )

    def run() -> None:
        go_on(CompiledRun.of(system, system.start(places)), EVENTS * count)

    run()
    return run

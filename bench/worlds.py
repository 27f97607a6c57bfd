"""What an event costs in a world that changes: processor time over that of the world at rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dwell
from bench.growth import go_on
from bench.places import Points, brisk_timer, crowd
from bench.table import Row, at_most
from bench.timing import timed
from dwell.agents import CoverageSystem
from dwell.agents.world import Phase, Timeline
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
    still = _event(box, dwell.Gaussian(ends[0], rate=rate), places, None)
    for name, density in hills.items():
        moving = Timeline((Phase(0.0, box, density),))
        ratio = _event(box, density.now(0.0), places, moving) / still
        what = f"N = {agents}, processor time per event over that of the hill at rest"
        yield at_most("speed", name, what, ratio, MOST, f"{ratio:.2f} ×")


def _event(box: dwell.Box, density: Any, places: Points, changes: Timeline | None) -> float:
    """Seconds per event."""
    count = len(places)
    system = CoverageSystem(box, density, brisk_timer(), count, seed=1, changes=changes)

    def run() -> None:
        go_on(CompiledRun.of(system, system.start(places)), EVENTS * count)

    return timed(run, repeats=3).cpu / (EVENTS * count)

"""How the cost of a cell and of an event grows with the number of agents, from 10 to a million.

Agents are spread evenly over a square, one for each unit of area, so that cells look alike for any
number. Events are taken in the same state of every run: after 1.2 events per agent, when all look
at times of their own, for one event per agent (and a thousand at least, beside which a call does
not count). Few agents are measured over several starts. All in processor time, threads added up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import dwell
from bench.places import brisk_timer, crowd, wide_hill
from bench.table import Row, at_most
from bench.timing import in_unit, processor_time
from dwell.agents import CoverageSystem
from dwell.engine.compiled import CompiledRun

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SIZES = (10, 100)
BASE, LARGEST = 1_000, 1_000_000
MOST = {"cell": 1.5, "event": 2.0}  # times the cost from BASE to LARGEST
DENSITIES = ("uniform", "Gaussian")
FEWEST = 1_000  # events of one start
ROUNDS = 3  # of which the best counts
PIECE = 65_536  # events in one go: their table stays in the cache


def rows(quick: bool) -> Iterator[Row]:
    """A curve for each thing and density, then what it grows by."""
    sizes, least = (QUICK_SIZES, 2_000) if quick else (SIZES, 200_000)
    for thing, cost in (("cell", cell_cost), ("event", event_cost)):
        for density in DENSITIES:
            cost(30, density, 300)  # compiled, and everything loaded
            curve = {agents: cost(agents, density, least) for agents in sizes}
            series = f"per {thing}, {density}"
            yield from (_point(series, agents, each) for agents, each in curve.items())
            if LARGEST in curve:
                yield _judged(series, curve, MOST[thing])


def _point(series: str, agents: int, each: float) -> Row:
    name, figure = f"{series}, N = {agents}", f"{in_unit(each)} ({1.0 / each:,.0f} per second)"
    return Row("growth", name, "processor time, square", figure, each, series=series, size=agents)


def _judged(series: str, curve: dict[int, float], most: float) -> Row:
    ratio = curve[LARGEST] / curve[BASE]
    name, what = f"growth {series}", f"N = {LARGEST} over N = {BASE}"
    return at_most("growth", name, what, ratio, most, f"{ratio:.2f} ×")


def weight(density: str, side: float) -> dwell.Gaussian | dwell.Uniform:
    """The density of that name."""
    return dwell.Uniform() if density == "uniform" else wide_hill(side)


def cell_cost(agents: int, density: str, least: int) -> float:
    """Seconds per cell of `tessellate`, over at least so many cells; the best round."""
    starts = max(1, least // agents)
    found = []
    for _ in range(ROUNDS):
        spent = 0.0
        for seed in range(starts):
            points, side = crowd(agents, seed)
            box, over = dwell.Box((0.0, 0.0), (side, side)), weight(density, side)
            began = processor_time()
            dwell.tessellate(box, points, over)
            spent += processor_time() - began
        found.append(spent / (starts * agents))
    return min(found)


def event_cost(agents: int, density: str, least: int) -> float:
    """Seconds per event of the engine, over at least so many events; the best round."""
    starts = max(1, least // max(agents, FEWEST))
    return min(_events(agents, density, starts) for _ in range(ROUNDS))


def _events(agents: int, density: str, starts: int) -> float:
    spent, made = 0.0, 0
    for seed in range(starts):
        engine = under_way(agents, density, seed)
        began = time.process_time()
        made += go_on(engine, max(agents, FEWEST))
        spent += time.process_time() - began
    return spent / made


def under_way(agents: int, density: str, seed: int) -> CompiledRun:
    """A run in which everybody has looked once, and some twice."""
    points, side = crowd(agents, seed)
    box = dwell.Box((0.0, 0.0), (side, side))
    system = CoverageSystem(box, weight(density, side), brisk_timer(), agents, seed=1)
    engine = CompiledRun.of(system, system.start(points))
    go_on(engine, agents + agents // 5)
    return engine


def go_on(engine: CompiledRun, events: int) -> int:
    """So many more events."""
    made = 0
    while made < events:
        part, _ = engine.advance(1e9, min(PIECE, events - made))
        made += len(part)
    return made

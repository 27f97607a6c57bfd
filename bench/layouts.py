"""What cells and events cost where agents lie on lines, on curves or in clusters.

Each figure is a ratio of processor times per cell or event to those of evenly spread agents in the
same process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import dwell
from bench.growth import go_on
from bench.places import Points, brisk_timer, crowd
from bench.table import Row, at_least, at_most
from bench.timing import timed
from dwell.agents import CoverageSystem
from dwell.engine.compiled import CompiledRun
from tests.crowds import LAYOUTS

CELLS = ("line", "slanted", "parabola", "rows", "clusters", "far-one", "decades")
STARTS = ("line", "rows", "clusters", "far-one")
SIZES = {"cell": (10_000, 100_000), "event": (2_000, 10_000)}
QUICK = 1_000
MOST, RING = 10.0, 100.0
SQUARE = dwell.Box((0.0, 0.0), (1.0, 1.0))


def rows(quick: bool) -> Iterator[Row]:
    """A row for each layout and number of agents; a ring, where all cells meet, with few."""
    for agents in (QUICK,) if quick else SIZES["cell"]:
        even = _cell(crowd(agents)[0] / agents**0.5)
        names = (*CELLS, "ring") if agents <= 10_000 else CELLS
        for name in names:
            limit = RING if name == "ring" else MOST
            yield _row("cell", name, agents, _cell(LAYOUTS[name](agents)) / even, limit)
        yield from _outlines(crowd(agents)[0] / agents**0.5)
    for agents in (QUICK,) if quick else SIZES["event"]:
        even = _event(crowd(agents)[0] / agents**0.5)
        for name in STARTS:
            yield _row("event", name, agents, _event(LAYOUTS[name](agents)) / even, MOST)


def _row(thing: str, name: str, agents: int, ratio: float, limit: float) -> Row:
    what = f"N = {agents}, processor time over that of evenly spread agents"
    return at_most("growth", f"{thing}, {name}", what, ratio, limit, f"{ratio:.1f} ×")


def _read(places: Points, name: str) -> object:
    return getattr(dwell.tessellate(SQUARE, places), name)


def _outlines(places: Points) -> Iterator[Row]:
    """Rows of `cells` and `neighbors`: beyond the masses, and beside cells of shapely."""
    import shapely

    sites = shapely.multipoints(places)
    peer = timed(lambda: shapely.get_parts(shapely.voronoi_polygons(sites)), repeats=3).cpu
    masses = timed(lambda: dwell.tessellate(SQUARE, places), repeats=3).cpu
    for name in ("cells", "neighbors"):
        ours = timed(partial(_read, places, name), repeats=3).cpu
        what = f"N = {len(places)}, processor time over that of the masses"
        ratio = ours / masses - 1.0
        yield at_most("growth", f".{name}", what, ratio, 5.0, f"{ratio:.1f} ×")
        if len(places) > QUICK:
            what = f"shapely's voronoi_polygons / dwell with masses, N = {len(places)}"
            yield at_least("peers", f".{name}", what, peer / ours, 1.0, f"{peer / ours:.1f} ×")


def _cell(places: Points) -> float:
    """Seconds per cell."""
    return timed(lambda: dwell.tessellate(SQUARE, places), repeats=3).cpu / len(places)


def _event(places: Points) -> float:
    """Seconds per event, of the first two of each agent."""

    def run() -> None:
        law = brisk_timer()
        system = CoverageSystem(SQUARE, dwell.Uniform(), law, len(places), seed=1)
        go_on(CompiledRun.of(system, system.start(places)), 2 * len(places))

    return timed(run, repeats=2).cpu / (2 * len(places))

"""Cells in a region with a long coast, beside the same cells in its convex hull.

The moments of a density below each node of the region's tree are computed once for a density that
does not move, and kept: the first tessellation has a row of its own. For a density that moves there
are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

import dwell
from bench.table import Row, at_most
from bench.timing import in_turns, timed
from dwell._types import Points
from dwell.agents import CoverageSystem
from dwell.agents.world import Timeline, World
from dwell.cells.rings import cell_rings
from dwell.density.base import Density
from dwell.engine.compiled import CompiledRun

AGENTS, EVENTS = 100, 200
DRAWN = 30
CORNERS, FEWER = 131_072, 8_192  # of the coast; of that for --quick
LIMIT, SECONDS = 20.0, 10.0
DENSITIES: dict[str, Density] = {
    "uniform": dwell.Uniform(),
    "wide Gaussian": dwell.Gaussian((0.2, 0.1), rate=0.5),
    "Gaussian": dwell.Gaussian((0.2, 0.1), rate=5.0),
}


def rows(quick: bool) -> Iterator[Row]:
    """Seconds to make a region, then ratios of tessellations for each density."""
    corners = FEWER if quick else CORNERS
    outline = coast(corners)
    made = timed(partial(dwell.Region, outline), repeats=3)
    title = f"region with a coast of {corners} vertices"
    what = "validation and decomposition"
    yield at_most("speed", title, what, made.median, SECONDS, made.in_seconds())
    region = dwell.Region(outline)
    places = np.random.default_rng(1).uniform(-0.9, 0.9, (AGENTS, 2))
    for name, density in DENSITIES.items():
        sites = {"region": region, "hull": region.hull}
        calls = {
            key: partial(dwell.tessellate, site, places, density) for key, site in sites.items()
        }
        for call in calls.values():
            call()
        found = in_turns(calls, repeats=5 if quick else 50)
        ratio = found["region"].cpu / found["hull"].cpu
        own, plain = (1e3 * found[key].cpu for key in ("region", "hull"))
        figure = f"{ratio:.1f} × ({own:.2f} and {plain:.2f} ms)"
        title = f"tessellate, coast of {corners} vertices, {name}, N = {AGENTS}"
        what = "processor time over that in the convex hull, moments of the density kept"
        if quick:
            yield Row("speed", title, what, figure, ratio)
        else:
            yield at_most("speed", title, what, ratio, LIMIT, figure)
    yield outlines(region, places)
    yield first_call(region, places)
    yield moving_event(region, places)


def outlines(region: dwell.Region, places: Points) -> Row:
    """The second map of cells, which integrates nothing, beside the moments of the same cells."""
    calls = {
        "drawn": partial(cell_rings, region, places[:DRAWN]),
        "measured": partial(dwell.tessellate, region, places[:DRAWN]),
    }
    for call in calls.values():
        call()
    spent = in_turns(calls, repeats=20)
    ratio = spent["drawn"].cpu / spent["measured"].cpu
    figure = f"{ratio:.2f} × ({1e3 * spent['drawn'].cpu:.3f} ms)"
    what = "processor time over that of their masses and centroids"
    return at_most("speed", f"outlines of {DRAWN} cells on a coast", what, ratio, 0.3, figure)


def first_call(region: dwell.Region, places: Points) -> Row:
    """The first tessellation with a density, beside one in the convex hull."""
    centers = iter(0.11 + 0.001 * np.arange(100))
    sites = {"region": region, "hull": region.hull}

    def tessellate(site: dwell.Region | dwell.Polygon) -> object:
        return dwell.tessellate(site, places, dwell.Gaussian((0.2, next(centers)), rate=5.0))

    found = in_turns({key: partial(tessellate, site) for key, site in sites.items()}, repeats=10)
    return _beside("first tessellation with a Gaussian", found["region"].cpu, found["hull"].cpu)


def moving_event(region: dwell.Region, places: Points) -> Row:
    """An event under a Gaussian that moves, beside one in the convex hull."""
    path = dwell.Keyframes([0.0, 1e6], [(0.2, 0.1), (0.3, 0.1)])
    density = dwell.Moving(dwell.Gaussian, center=path, rate=5.0)
    law = dwell.Timer(k1=0.01, nu=0.02, t1=0.2, t2=0.5)
    seconds = []
    for site in (region, region.hull):
        timeline = Timeline((World(0.0, site, density),))
        system = CoverageSystem(site, density.now(0.0), law, AGENTS, seed=1, changes=timeline)
        run = CompiledRun.of(system, system.start(places))
        found = timed(partial(run.advance, math.inf, EVENTS), repeats=3)
        seconds.append(found.cpu / EVENTS)
    return _beside("event under a Gaussian that moves", *seconds)


def _beside(name: str, own: float, plain: float) -> Row:
    figure = f"{own / plain:.0f} × ({1e3 * own:.3g} and {1e3 * plain:.3g} ms)"
    what = f"N = {AGENTS}, processor time over that in the convex hull"
    return Row("speed", f"region with a long coast: {name}", what, figure, own / plain)


def coast(corners: int, seed: int = 0) -> Points:
    """An outline made by displaced midpoints, a power of two of vertices; it never crosses itself.

    Each midpoint moves by up to 0.17 of its side, to either side.
    """
    rng = np.random.default_rng(seed)
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], dtype=float)
    while len(ring) < corners:
        side = np.roll(ring, -1, axis=0) - ring
        across = np.column_stack([side[:, 1], -side[:, 0]])
        middle = ring + 0.5 * side + across * rng.uniform(-0.17, 0.17, (len(ring), 1))
        ring = np.stack([ring, middle], axis=1).reshape(-1, 2)
    return ring

"""All cells and centroids of agents spread over a square: ours beside every peer, in turns.

The density is uniform, because no peer integrates another; then the same with a Gaussian, ours
alone. Peers are judged by wall time: each may use all cores. Accuracy stands beside: the areas
must add up to the square, and some centroids are compared with exact ones (rational cells).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import dwell
from bench.exact import Sample, sample
from bench.peers.catalogue import PEERS, why_missing
from bench.peers.squares import SYSTEMS, Cells
from bench.places import Points, crowd, wide_hill
from bench.table import Row, absent, at_least, at_most
from bench.timing import Timing, in_turns, in_unit, wall_ratio
from tests.oracles import mp_moments as oracle

AGENTS, FEW = 100_000, 500
ASKED = {"shapely": 20.0, "geogram": 10.0, "SciPy": 100.0}  # times our speed
DEARER = 2.0  # at most: a Gaussian over the uniform
HOW = {
    "shapely": "voronoi_polygons, intersection, centroid",
    "geogram": "its triangles, summed by NumPy",
    "SciPy": "Voronoi of the points and four mirror images, rings summed by NumPy",
    "pyvoro2": "its corners, put in order and summed by NumPy",
}


def rows(quick: bool) -> Iterator[Row]:
    """One row for ourselves, one for each peer, one for the Gaussian."""
    agents, repeats = (FEW, 2) if quick else (AGENTS, 7)
    points, side = crowd(agents)
    calls = {name: _call(work, points, side) for name, work in SYSTEMS.items() if _here(name)}
    calls = {"dwell": lambda: ours(points, side), **calls}
    exact = sample(points, side, oracle.Uniform())
    accuracy = {name: accuracy_of(call(), side, exact) for name, call in calls.items()}
    times = in_turns(calls, repeats=repeats)
    yield alone(agents, times["dwell"], accuracy["dwell"])
    for name in SYSTEMS:
        yield beside(name, agents, times, accuracy, quick)
    yield gaussian(points, side, repeats, quick)


def ours(points: Points, side: float, density: object = None) -> Cells:
    """By dwell."""
    found = dwell.tessellate(dwell.Box((0.0, 0.0), (side, side)), points, density)
    return found.masses, found.centroids


def _here(name: str) -> bool:
    return not why_missing(name)


def _call(
    work: Callable[[Points, float], Cells], points: Points, side: float
) -> Callable[[], Cells]:
    return lambda: work(points, side)


def accuracy_of(cells: Cells, side: float, exact: Sample) -> str:
    """How far areas are from adding up, and centroids from exact ones."""
    areas, centroids = cells
    total = abs(math.fsum(areas) / side**2 - 1.0)
    return f"Σ areas {total:.0e}, centroids {exact.worst(centroids):.0e} off"


def alone(agents: int, found: Timing, accuracy: str) -> Row:
    """Our own time."""
    name, what = f"all cells in a square, N = {agents}", "masses and centroids"
    figure = f"{found.in_ms()} ({1e6 * found.best / agents:.2f} µs a cell), {accuracy}"
    return Row("speed", name, f"uniform, {what}", figure, found.best)


def beside(
    name: str, agents: int, times: dict[str, Timing], accuracy: dict[str, str], quick: bool
) -> Row:
    """A peer's time over ours."""
    title, what = f"{name} / dwell, cells in a square, N = {agents}", f"uniform; {HOW[name]}"
    if name not in times:
        return absent("peers", title, what, f"{name}: {why_missing(name)}")
    ratio, figure = wall_ratio(times[name], times["dwell"])
    what = f"{what}; {PEERS[name]}"
    figure = f"{figure}; its {accuracy[name]}"
    if quick or name not in ASKED:
        return Row("peers", title, what, figure, ratio)
    return at_least("peers", title, what, ratio, ASKED[name], figure)


def gaussian(points: Points, side: float, repeats: int, quick: bool) -> Row:
    """The cost of an exact Gaussian over that of a constant, with its accuracy."""
    hill = wide_hill(side)
    exact = sample(points, side, oracle.Gaussian.isotropic(hill.center, hill.rate), 20)
    wrong = exact.worst(ours(points, side, hill)[1])
    calls = {
        "uniform": lambda: ours(points, side),
        "Gaussian": lambda: ours(points, side, hill),
    }
    times = in_turns(calls, repeats=repeats)
    ratio = times["Gaussian"].cpu / times["uniform"].cpu
    each = " and ".join(in_unit(times[name].cpu) for name in ("Gaussian", "uniform"))
    figure = f"{ratio:.2f} × ({each}), centroids {wrong:.0e} off"
    name, what = (
        f"Gaussian / uniform, cells in a square, N = {len(points)}",
        "exact, processor time",
    )
    if quick:
        return Row("speed", name, what, figure, ratio)
    return at_most("speed", name, what, ratio, DEARER, figure)

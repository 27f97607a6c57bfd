"""All cells of few agents, beside shapely and SciPy; ratios of processor time.

Neither can integrate a Gaussian over a cell, so the density is uniform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import dwell
from bench.peers.catalogue import why_missing
from bench.peers.squares import by_scipy
from bench.places import HEPTAGON, Points, scattered
from bench.table import Row, absent
from bench.timing import timed

SIZES = (12, 30, 100, 1000)
SIDE = 10.0


def rows(quick: bool) -> Iterator[Row]:
    """All cells at once."""
    for agents in SIZES[:2] if quick else SIZES:
        repeats = 3 if quick else 30
        for peer, beside in (("shapely", beside_shapely), ("SciPy", beside_scipy)):
            missing = why_missing(peer)
            if missing:
                yield absent("peers", f"{peer} / dwell, N = {agents}", "all cells", missing)
            else:
                yield beside(agents, repeats)


def beside_shapely(agents: int, repeats: int) -> Row:
    """Every centroid in the heptagon: voronoi_polygons, intersection, centroid."""
    points, workspace = scattered(agents), dwell.Polygon(HEPTAGON)
    return _beside(
        f"shapely / dwell, N = {agents}",
        "all cells and centroids, heptagon, uniform",
        lambda: shapely_centroids(points),
        lambda: dwell.tessellate(workspace, points).centroids,
        repeats,
    )


def beside_scipy(agents: int, repeats: int) -> Row:
    """Every centroid in a box: Voronoi of the agents and their mirror images."""
    points = np.random.default_rng(4).uniform(0.0, SIDE, (agents, 2))
    workspace = dwell.Box((0.0, 0.0), (SIDE, SIDE))
    return _beside(
        f"SciPy / dwell, N = {agents}",
        "all cells and centroids, box, uniform, agents mirrored at its sides",
        lambda: by_scipy(points, SIDE)[1],
        lambda: dwell.tessellate(workspace, points).centroids,
        repeats,
    )


def _beside(
    name: str,
    what: str,
    theirs: Callable[[], Points],
    ours: Callable[[], Points],
    repeats: int,
) -> Row:
    apart = float(np.abs(theirs() - ours()).max())
    slow, fast = timed(theirs, repeats=repeats), timed(ours, repeats=repeats)
    ratio = slow.cpu / fast.cpu
    figure = f"{ratio:.2f} × ({1e3 * slow.cpu:.3g} and {1e3 * fast.cpu:.3g} ms)"
    return Row("peers", name, what, f"{figure}, centroids {apart:.0e} apart", ratio)


def shapely_centroids(points: Points) -> Points:
    """Centroids of all cells in the heptagon, in the order of the agents."""
    import shapely

    walls, sites = shapely.Polygon(HEPTAGON), shapely.multipoints(points)
    cells = shapely.get_parts(shapely.voronoi_polygons(sites, extend_to=walls, ordered=True))
    return shapely.get_coordinates(shapely.centroid(shapely.intersection(cells, walls)))

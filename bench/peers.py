"""The same work done by shapely and by SciPy, in the same process; ratios of processor time.

Neither can integrate a Gaussian over a cell, so all comparisons here take a uniform density.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

import numpy as np
import shapely
from scipy.spatial import Voronoi

import dwell
from bench.places import HEPTAGON, Points, scattered, slow_timer
from bench.table import Row
from bench.timing import timed

SIZES = (12, 30, 100, 1000)
SIDE = 10.0


def rows(quick: bool) -> Iterator[Row]:
    """All cells at once, then a whole run."""
    for agents in SIZES[:2] if quick else SIZES:
        repeats = 3 if quick else 30
        yield beside_shapely(agents, repeats)
        yield beside_scipy(agents, repeats)
    yield timer_run(quick)


def beside_shapely(agents: int, repeats: int) -> Row:
    """Every centroid in the heptagon: voronoi_polygons, intersection, centroid."""
    points, workspace = scattered(agents), dwell.Polygon(HEPTAGON)
    walls = shapely.Polygon(HEPTAGON)
    return _beside(
        f"shapely / dwell, N = {agents}",
        "all cells and centroids, heptagon, uniform",
        lambda: shapely_centroids(points, walls),
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
        lambda: scipy_centroids(points),
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


def shapely_centroids(points: Points, walls: shapely.Polygon) -> Points:
    """Centroids of all cells, in the order of the agents."""
    sites = shapely.multipoints(points)
    cells = shapely.get_parts(shapely.voronoi_polygons(sites, extend_to=walls, ordered=True))
    return shapely.get_coordinates(shapely.centroid(shapely.intersection(cells, walls)))


def scipy_centroids(points: Points) -> Points:
    """Centroids of all cells in the box (0, 0) to (SIDE, SIDE)."""
    mirror = [points * s + o for s, o in _MIRRORS]
    diagram = Voronoi(np.vstack([points, *mirror]))
    regions = (diagram.regions[diagram.point_region[p]] for p in range(len(points)))
    return np.array([_centroid(diagram.vertices[region]) for region in regions])


_MIRRORS = [
    (np.array([-1.0, 1.0]), np.array([0.0, 0.0])),
    (np.array([-1.0, 1.0]), np.array([2 * SIDE, 0.0])),
    (np.array([1.0, -1.0]), np.array([0.0, 0.0])),
    (np.array([1.0, -1.0]), np.array([0.0, 2 * SIDE])),
]


def _centroid(ring: Points) -> Points:
    local = ring - ring[0]
    after = np.roll(local, -1, axis=0)
    area = local[:, 0] * after[:, 1] - local[:, 1] * after[:, 0]
    centroid: Points = ring[0] + (area @ (local + after)) / (3.0 * area.sum())
    return centroid


def timer_run(quick: bool) -> Row:
    """The 12-agent timer run, and the same event loop in Python over shapely's cells."""
    horizon = 5.0 if quick else 150.0
    start, workspace, law = scattered(12), dwell.Polygon(HEPTAGON), slow_timer()

    def ours() -> dwell.Run:
        return dwell.simulate(
            workspace, dwell.Uniform(), start, law, until=horizon, seed=1, sample_every="off"
        )

    run = ours()
    waits = [_waits(run, p) for p in range(len(start))]
    walls = shapely.Polygon(HEPTAGON)
    theirs, events = shapely_run(start, walls, law, waits, horizon)
    apart = float(np.abs(theirs - run.positions(horizon)).max())
    slow = timed(lambda: shapely_run(start, walls, law, waits, horizon), repeats=3, warm=False)
    fast = timed(ours, repeats=3 if quick else 50)
    ratio = slow.cpu / fast.cpu
    figure = f"{ratio:.0f} × ({slow.cpu:.2f} s and {1e3 * fast.cpu:.1f} ms)"
    what = f"{events} and {len(run.events)} events, heptagon, uniform, same waits"
    name = "Python loop over shapely / dwell, 12-agent run"
    return Row("peers", name, what, f"{figure}, final places {apart:.0e} apart", ratio)


def _waits(run: dwell.Run, agent: int) -> list[float]:
    rows = run.events.of_agent(agent)
    return [float(v) for v in run.events.next_at[rows] - run.events.time[rows]]


def shapely_run(
    start: Points, walls: shapely.Polygon, law: dwell.Timer, waits: list[list[float]], until: float
) -> tuple[Points, int]:
    """Final positions and number of events of the timer law; waits[p][k] follows p's look k."""
    at, hold, since = start.copy(), np.empty_like(start), np.zeros(len(start))
    for p in range(len(start)):
        hold[p] = _input(_error(at, walls, p), law)
    queue = [(float(law.t2), p, 0) for p in range(len(start))]
    heapq.heapify(queue)
    events = 0
    while queue[0][0] <= until:
        t, p, k = queue[0]
        places = at + hold * (t - since)[:, None]
        hold[p], at[p], since[p] = _input(_error(places, walls, p), law), places[p], t
        heapq.heapreplace(queue, (t + waits[p][k], p, k + 1))
        events += 1
    return at + hold * (until - since)[:, None], events


def _error(places: Points, walls: shapely.Polygon, p: int) -> Points:
    """Centroid of p's cell minus p's position."""
    sites = shapely.multipoints(places)
    cells = shapely.voronoi_polygons(sites, extend_to=walls, ordered=True)
    cell = shapely.intersection(shapely.get_geometry(cells, p), walls)
    centroid = shapely.centroid(cell)
    return np.array([centroid.x, centroid.y]) - places[p]


def _input(error: Points, law: dwell.Timer) -> Points:
    return law.k1 * error / max(float(np.hypot(*error)), law.reach)

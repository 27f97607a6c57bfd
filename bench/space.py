"""Cells in space beside geogram and pyvoro2: ratios of processor time, and what adds up.

All cells, volumes and centroids of agents spread evenly in the unit cube, uniform density. Each
peer is asked for as little as gives both: geogram for its signed tetrahedra, summed by NumPy;
pyvoro2 for vertices and faces, and no centroids, which would cost more still; once more for volumes
alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np

import dwell
from bench.peers.catalogue import why_missing
from bench.places import Points
from bench.table import Row, absent, at_most
from bench.timing import Timing, timed
from dwell._kernels.common.density_terms import general_terms
from dwell.cells import polyhedron as space
from dwell.cells.measurement import CellMeasurements
from dwell.cells.weighted_region import WeightedRegion

AGENTS, FEW = 10_000, 300
FASTER = {"geogram": 3.0, "pyvoro2": 5.0}
PER_BLOCK = 5.0  # agents in a block of pyvoro2: quickest, among 2 to 10
FAR = 5e6


def rows(quick: bool) -> Iterator[Row]:
    """What adds up, then one row for each peer and for each number of threads."""
    agents, repeats = (FEW, 2) if quick else (AGENTS, 7)
    points = np.random.default_rng(1).uniform(0.0, 1.0, (agents, 3))
    yield from adding_up(points)
    ours = timed(lambda: looks(points), repeats=repeats)
    yield speed(agents, ours, 1)
    yield speed(agents, timed(lambda: looks(points, threads=2), repeats=repeats), 2)
    yield beside("geogram", by_geogram, points, ours, repeats, quick)
    yield beside("pyvoro2", by_pyvoro2, points, ours, repeats, quick)
    yield beside("pyvoro2, volumes alone", volumes_by_pyvoro2, points, ours, repeats, quick)


def looks(points: Points, offset: float = 0.0, threads: int = 1) -> CellMeasurements:
    """Every cell by dwell."""
    cube = dwell.Box((offset,) * 3, (offset + 1.0,) * 3)
    ground = WeightedRegion(cube, dwell.Uniform(), general_terms(3, 1.0))
    all_agents = np.arange(len(points))
    none = np.zeros_like(all_agents)
    return space.measure(ground, points[None], none, all_agents, threads=threads)


def adding_up(points: Points) -> Iterator[Row]:
    """Volumes and first moments against those of the cube, here and far from the origin."""
    for offset in (0.0, FAR):
        at = np.unique(points + offset, axis=0)
        seen = looks(at, offset)
        volume = abs(math.fsum(seen.mass) - 1.0)
        arms = (at - offset) + seen.error
        first = max(abs(math.fsum(seen.mass * arm) / 0.5 - 1.0) for arm in arms.T)
        name = f"cells in space tile the cube, N = {len(at)}, offset {offset:g}"
        figure = f"volume {volume:.0e}, first moments {first:.0e}"
        yield at_most("accuracy", name, "relative", max(volume, first), 1e-12, figure)


def speed(agents: int, found: Timing, threads: int) -> Row:
    """Time of all cells."""
    name = f"all cells in space, N = {agents}, {threads} thread{'s' * (threads > 1)}"
    what = "volumes, centroids and second moments in the unit cube"
    figure = f"{found.in_ms()} ({1e6 * found.cpu / agents:.1f} µs a cell)"
    return Row("speed", name, what, figure, found.best)


def beside(
    peer: str, work: Callable[[Points], float], points: Points, ours: Timing, repeats: int,
    quick: bool,
) -> Row:  # fmt: skip
    """Processor time of a peer over ours on one thread, with the error of its total volume."""
    name = f"{peer} / dwell, cells in space, N = {len(points)}"
    what = "all cells, volumes and centroids, unit cube"
    missing = why_missing(peer.split(",")[0])
    if missing:
        return absent("peers", name, what, missing)
    wrong = work(points)
    slow = timed(lambda: work(points), repeats=repeats)
    ratio, asked = slow.cpu / ours.cpu, FASTER.get(peer)
    figure = f"{ratio:.1f} × ({1e3 * slow.cpu:.3g} and {1e3 * ours.cpu:.3g} ms)"
    figure += f", its total volume {wrong:.0e} off"
    if quick or asked is None:
        return Row("peers", name, what, figure, ratio)
    return Row("peers", name, what, figure, ratio, f"≥ {asked:g} ×", bool(ratio >= asked))


def cube_in_tetrahedra() -> tuple[Points, np.ndarray]:
    """The unit cube as six tetrahedra along its diagonal, all positively oriented."""
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    paths = []
    for first, second, third in permutations((4, 2, 1)):
        path = [0, first, first + second, first + second + third]
        edges = corners[path[1:]] - corners[0]
        paths.append(path if np.linalg.det(edges) > 0 else [path[i] for i in (0, 2, 1, 3)])
    return corners, np.array(paths, dtype=np.uint32)


def by_geogram(points: Points) -> float:
    """Volumes and centroids; gives the error of the total volume.

    The tetrahedra that geogram makes are signed: only their signed sum is the volume.
    """
    import geogram

    corners, simplices = cube_in_tetrahedra()
    diagram = geogram.Voronoi(points, domain_vertices=corners, domain_simplices=simplices)
    vertices, parts = np.asarray(diagram.q), np.asarray(diagram.t)
    owner, agents = np.asarray(diagram.tseed), len(points)
    a, b, c, d = (vertices[parts[:, k]] for k in range(4))
    u, v, w = (b - a).T, (c - a).T, (d - a).T
    volume = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2])
    volume += u[2] * (v[0] * w[1] - v[1] * w[0])
    middle = (a + b + c + d).T
    masses = np.bincount(owner, volume, agents) / 6.0
    first = [np.bincount(owner, volume * middle[k], agents) / 24.0 for k in range(3)]
    centroids = np.array(first) / masses
    assert np.isfinite(centroids).all()
    return abs(math.fsum(masses) - 1.0)


def by_pyvoro2(points: Points, **less: bool) -> float:
    """Volumes, vertices and faces; gives the error of the total volume."""
    import pyvoro2

    cube: Any = pyvoro2.Box(((0.0, 1.0),) * 3)
    block = (PER_BLOCK / len(points)) ** (1.0 / 3.0)
    cells = pyvoro2.compute(
        points, domain=cube, block_size=block, output="cells", return_adjacency=False, **less
    )
    return abs(math.fsum(cell["volume"] for cell in cells) - 1.0)


def volumes_by_pyvoro2(points: Points) -> float:
    """The same without vertices and faces."""
    return by_pyvoro2(points, return_vertices=False, return_faces=False)

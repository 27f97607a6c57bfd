"""Moments of a function over a cell that is cut into parts by planes.

Values at quadrature nodes of two orders tell where a function is not smooth: such a part is cut
through its middle, until all errors together are small or there are too many parts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.density.base import Density

if TYPE_CHECKING:
    from dwell.cells.cones import Workbench

NODES = 10  # each way
FEWER = 8  # each way, to compare with
RELATIVE = 1e-9  # error of the mass that is aimed at
SAFETY = 4.0
MOST = 64  # parts of a cell
DEEPEST = 40  # planes that a part is cut by


class Part(NamedTuple):
    """Moments of a part of a cell; the centroid is seen from the agent."""

    mass: float
    centroid: Points
    spread: float  # second moment about the centroid
    error: float  # of the mass
    halves: tuple[Floats, Floats] | None = None  # half-spaces of both halves, if it can be cut


def moments_by_parts(density: Density, bench: Workbench, agent: int) -> Part:
    """Moments of a function over the cell of an agent."""
    pending = [np.zeros((0, 4))]
    done: list[Part] = []
    while pending:
        done += [_moments(density, bench, agent, planes) for planes in pending]
        least = RELATIVE * math.fsum(part.mass for part in done) / len(done)
        wrong = [part for part in done if part.halves is not None and part.error > least]
        wrong.sort(key=lambda part: -part.error)
        wrong = wrong[: max(0, MOST - len(done))]
        cut = {id(part) for part in wrong}
        done = [part for part in done if id(part) not in cut]
        pending = [half for part in wrong for half in part.halves or ()]
    return _joined(done)


def _joined(parts: list[Part]) -> Part:
    """All parts as one."""
    masses = np.array([part.mass for part in parts])
    mass, error = math.fsum(masses), math.fsum(part.error for part in parts)
    if not mass > 0.0:
        return Part(0.0, np.zeros(3), 0.0, error)
    places = np.array([part.centroid for part in parts])
    centroid = (masses[:, None] * places).sum(axis=0) / mass
    apart = ((places - centroid) ** 2).sum(axis=1)
    spread = math.fsum(part.spread for part in parts) + math.fsum(masses * apart)
    return Part(mass, centroid, spread, error)


def _moments(density: Density, bench: Workbench, agent: int, planes: Floats) -> Part:
    """Moments over the part of a cell in the half-spaces `planes`."""
    fine = bench.nodes(NODES, agent, planes)
    if not len(fine):
        return Part(0.0, np.zeros(3), 0.0, 0.0)
    place = bench.crowd.points[agent]
    rough = bench.nodes(FEWER, agent, planes)
    z, w = fine[:, :3], fine[:, 3] * density.at(place + fine[:, :3])
    mass = float(w.sum())
    other = float((rough[:, 3] * density.at(place + rough[:, :3])).sum())
    error = SAFETY * abs(mass - other) + 1e-15 * float(np.abs(w).sum())
    halves = _halves(fine, planes) if len(planes) < DEEPEST else None
    if not mass > 0.0:
        return Part(0.0, np.zeros(3), 0.0, error, halves)
    centroid = w @ z / mass
    spread = max(0.0, float(w @ ((z - centroid) ** 2).sum(axis=1)))
    return Part(mass, centroid, spread, error, halves)


def _halves(nodes: Floats, planes: Floats) -> tuple[Floats, Floats]:
    """The half-spaces of both halves: the plane through the middle, across the longest axis."""
    z, w = nodes[:, :3], nodes[:, 3]
    middle = w @ z / w.sum()
    _, axes = np.linalg.eigh(np.einsum("k,ki,kj->ij", w, z - middle, z - middle))
    normal = axes[:, -1]
    plane = np.append(normal, normal @ middle)
    return np.vstack([planes, plane]), np.vstack([planes, -plane])

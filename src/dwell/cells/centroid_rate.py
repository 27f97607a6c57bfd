"""The time derivative of the centroid of a cell whose borders with other cells stay where they are.

With mass m, centroid c and the velocity v_b of the boundary of the workspace,

    m c' = int (z - c) phi' + int over the boundary of the workspace phi (z - c) (v_b . n).

A Gaussian that is carried by the field w(z) = u + B (z - center) and grows has, over the cell,

    int (z - c) phi' = int phi (w + (z - c) tr B) + growth int (z - c) phi - border (z - c)(w . n),

so that its mass and centroid, and its moments 1, z, z z' along the whole border are enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dwell._compatibility import Feature, Need, refuse
from dwell._types import Points, lengths
from dwell.cells.backend import backend_for, cells_of
from dwell.cells.border_integrals import BorderIntegrals, Edges
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density
from dwell.density.change import Added, Carried, changes_of
from dwell.geometry import Cell, shape_of, words_of
from dwell.geometry.moving import MovingPolygon


def centroid_rate(ground: WeightedRegion, positions: Points, agent: int, t: float) -> Points:
    """The derivative, from time t on, of the centroid of the cell of `agent`, (n,).

    ground : a region that may change over time.
    positions : (N, n); they count as fixed.
    """
    rate: Points = centroid_rates(ground, positions, t, [agent])[0]
    return rate


def centroid_rates(
    ground: WeightedRegion, positions: Points, t: float, agents: Sequence[int] | None = None
) -> Points:
    """The derivatives of the centroids of `agents` (all, by default), (K, n).

    0 for cells that weigh nothing.
    """
    features = shape_of(ground.workspace) | ({Feature.MOVING} if ground.moves else set())
    refuse(Need.FOLLOWING, features, **words_of(ground.workspace))
    who = range(len(positions)) if agents is None else agents
    n = ground.dimension
    changes = list(changes_of(ground.density, t))
    site = ground.boundary
    moving = None if site is None else _edge_rates(site, t)
    found = np.zeros((len(who), n))
    if not changes and (moving is None or not moving[1].any()):
        return found
    now = ground.at(t)
    integrals = backend_for(now).border
    assert integrals is not None
    cells: Sequence[Any] = cells_of(now.workspace, positions, who)
    for k, cell in enumerate(cells):
        found[k] = _rate(cell, now.density, changes, moving, integrals)
    return found


def _rate(
    cell: Cell,
    density: Density,
    changes: Sequence[Carried | Added],
    moving: tuple[Points, Points] | None,
    integrals: BorderIntegrals,
) -> Points:
    n = len(cell.position)
    rate = np.zeros(n)
    log_mass, c = integrals.weigh(cell, density)
    if not log_mass > -math.inf:
        return rate
    for part in changes:
        if isinstance(part, Carried):
            rate += _of_carried(cell, part, log_mass, c, integrals)
        else:
            first = integrals.first_moment(cell, part.density, c)
            rate += part.rate * first * math.exp(-log_mass)
    if moving is not None:
        edges = integrals.edges(cell, density, log_mass)
        rate += _of_boundary(cell, edges, moving, c)
    return rate


def _of_carried(
    cell: Cell, part: Carried, log_mass: float, c: Points, integrals: BorderIntegrals
) -> Points:
    own, center = integrals.weigh(cell, part.density)
    share = math.exp(own - log_mass)
    b, away = part.stretch, np.array(part.density.center) - cell.position
    inside = part.velocity + (b * (center - away)).sum(axis=1)  # the mean of the field
    inside = inside + (float(np.trace(b)) + part.growth) * (center - c)
    edges = integrals.edges(cell, part.density, log_mass)
    slope = (edges.normal[:, :, None] * b).sum(axis=1)
    level = (edges.normal * part.velocity).sum(axis=1) - (slope * away).sum(axis=1)
    rate: Points = share * inside - edges.flux(level, slope, c)
    return rate


def _of_boundary(cell: Cell, edges: Edges, moving: tuple[Points, Points], c: Points) -> Points:
    """Through edges of the workspace, whose velocity is linear along each of them."""
    corners, rates = moving
    level, slope = np.zeros(len(edges.m0)), np.zeros_like(edges.m1)
    for k, label in enumerate(cell.borders):
        if label >= 0:
            continue
        a, b = -1 - label, -label % len(corners)
        along = corners[b] - corners[a]
        size = float(lengths(along))
        first, last = (float((rates[i] * edges.normal[k]).sum()) for i in (a, b))
        slope[k] = (last - first) / (size * size) * along
        level[k] = first + float((slope[k] * (cell.position - corners[a])).sum())
    return edges.flux(level, slope, c)


def _edge_rates(site: MovingPolygon, t: float) -> tuple[Points, Points]:
    """The vertices of a moving polygon in the order of its `Polygon`, and their velocities."""
    corners, raw = site.now(t).vertices, np.array(site.vertices.at(t))
    order = [int(np.argmin(lengths(raw - corner))) for corner in corners]
    return corners, site.rates(t)[order]

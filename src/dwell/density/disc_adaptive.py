"""Moments over cells in an ellipse for densities that are only Python functions.

As `dwell.density.adaptive` does it for polygons, with two rules and halving, but over curved
triangles: from a point in the middle of the cell to an edge or to a short arc of its boundary.
"""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.density.adaptive import MAX_TRIANGLES, RELATIVE, SAFETY, Integral
from dwell.density.ground import Ground
from dwell.density.looking import Looks
from dwell.density.star import Rule, _rules


def looks_by_quadrature(ground: Ground, positions: Points, row: Ints, agent: Ints) -> Looks:
    """Looks, one by one: see `dwell.density.disc.looks`."""
    count = len(row)
    met, empty = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    error, neighbors = np.zeros((count, 2)), np.zeros(count, dtype=np.int64)
    mass, polar, second, doubt = np.zeros((4, count))
    nearest = np.full(count, np.inf)
    for k in range(count):
        points, p = positions[row[k]], int(agent[k])
        others = np.delete(points, p, axis=0) - points[p]
        if len(others):
            nearest[k] = np.hypot(*others.T).min()
        met[k] = nearest[k] == 0.0
        if met[k]:
            continue
        pieces, labels = _pieces(ground, points, p)
        neighbors[k] = (labels >= 0).sum()
        values, doubt[k] = _weighed(ground, pieces, points[p])
        mass[k], polar[k] = values[0], values[3]
        empty[k] = not mass[k] > 0.0
        if empty[k]:
            error[k] = ground.workspace.nearest(points[p][None])[0] - points[p]
        else:
            error[k] = values[1:3] / mass[k]
            second[k] = polar[k] - mass[k] * float((error[k] ** 2).sum())
    zero = np.zeros(count)
    return Looks(met, empty, error, zero, mass, polar, neighbors, nearest, second, doubt)


def _pieces(ground: Ground, points: Points, p: int) -> tuple[Floats, Ints]:
    """The boundary of one cell, a row (ax, ay, dx, dy, kx, ky, tau) per piece, and its labels.

    See dwell._kernels.curved.segments for what they mean; edges have k = 0 and tau = 0.
    """
    from dwell._kernels.curved.look import corners_of
    from dwell.density.disc import ARC, _memory, ellipse_of, rectangle_round

    ellipse = ellipse_of(ground.workspace)
    x, y = (np.ascontiguousarray(points[:, k]) for k in range(2))
    scratch, ring = _memory(len(x))
    n, _ = corners_of(p, x, y, *rectangle_round(ellipse), tuple(ellipse), True, scratch, ring)
    labels = ring.label[:n].copy()
    a = np.column_stack([ring.x[:n], ring.y[:n]])
    arc = labels == ARC
    d = np.roll(a, -1, axis=0) - a
    d[arc] = np.column_stack([ring.dx[:n], ring.dy[:n]])[arc]
    _, _, w11, w12, w22 = ellipse
    turned_y = -(w11 * d[:, 0] + w12 * d[:, 1]) / w22
    turned_x = (w22 * d[:, 1] - w12 * turned_y) / w11
    turned = np.where(arc[:, None], np.column_stack([turned_x, turned_y]), 0.0)
    return np.column_stack([a, d, turned, np.where(arc, ring.tau[:n], 0.0)]), labels


def _weighed(ground: Ground, pieces: Floats, position: Points) -> tuple[Floats, float]:
    """(mass, first x, first y, polar) about the agent, and a bound on the mass's relative error."""
    if len(pieces) == 0:
        return np.zeros(4), 0.0
    found = _integrate(ground, pieces, position)
    if not found.values[0] > 0.0:
        return found.values, np.inf if found.errors[0] > 0.0 else 0.0
    return found.values, float(found.errors[0] / found.values[0])


def _integrate(ground: Ground, pieces: Floats, position: Points) -> Integral:
    """A patch is (piece, v0, v1, r0, r1): the points o + r (u(v) - o)."""
    count = len(pieces)
    start = np.tile([0.0, -1.0, 1.0, 0.0, 1.0], (count, 1))
    start[:, 0] = np.arange(count)
    patches = _halved(pieces, _halved(pieces, start))
    values, errors = _estimates(ground, pieces, patches, position)
    reach = float(np.abs(pieces[:, :2]).max())
    while True:
        total, error = values.sum(axis=0), errors.sum(axis=0)
        scale = np.abs(total[0]) * np.array([1.0, reach, reach, reach * reach])
        share = (errors / np.where(scale > 0, scale, 1.0)).max(axis=1)
        if share.sum() <= RELATIVE:
            return Integral(total, error, True)
        if len(patches) >= MAX_TRIANGLES:
            return Integral(total, error, False)
        worst = share > 0.25 * share.max()
        halves = _halved(pieces, patches[worst])
        more_values, more_errors = _estimates(ground, pieces, halves, position)
        patches = np.concatenate([patches[~worst], halves])
        values = np.concatenate([values[~worst], more_values])
        errors = np.concatenate([errors[~worst], more_errors])


def _boundary(pieces: Floats, owner: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """x, y seen from the middle of the cell, and (u x du / dv), of piece owner[k] at v[k, :]."""
    middle = pieces[:, :2].mean(axis=0)
    ax, ay, dx, dy, kx, ky, tau = pieces[owner.astype(np.int64)].T[:, :, None]
    w = tau * v
    square, bend = 1.0 + w * w, 1.0 + tau * tau
    along, height = 0.5 * v * bend / square, 0.5 * tau * (1.0 - v * v) / square
    x = (ax + 0.5 * dx - middle[0]) + along * dx + height * kx
    y = (ay + 0.5 * dy - middle[1]) + along * dy + height * ky
    slope, fall = 0.5 * bend * (1.0 - w * w) / square**2, -w * bend / square**2
    return x, y, x * (slope * dy + fall * ky) - y * (slope * dx + fall * kx)


def _halved(pieces: Floats, patches: Floats) -> Floats:
    """Each patch as two, across its longer direction."""
    x, y, _ = _boundary(pieces, patches[:, 0], patches[:, 1:3])
    around = patches[:, 4] * np.hypot(x[:, 1] - x[:, 0], y[:, 1] - y[:, 0])
    along = (patches[:, 4] - patches[:, 3]) * np.hypot(x, y).max(axis=1)
    first = np.where(along > around, 3, 1)  # the column of the interval to halve
    rows = np.arange(len(patches))
    middle = 0.5 * (patches[rows, first] + patches[rows, first + 1])
    low, high = patches.copy(), patches.copy()
    low[rows, first + 1] = middle
    high[rows, first] = middle
    return np.concatenate([low, high])


def _estimates(
    ground: Ground, pieces: Floats, patches: Floats, position: Points
) -> tuple[Floats, Floats]:
    gauss, lobatto = _rules()
    fine = _by_rule(ground, pieces, patches, position, gauss)
    other = _by_rule(ground, pieces, patches, position, lobatto)
    return fine, SAFETY * np.abs(fine - other) + 1e-15 * np.abs(fine)


def _by_rule(
    ground: Ground, pieces: Floats, patches: Floats, position: Points, rule: Rule
) -> Floats:
    """(patches, 4) moments about the agent by one rule in both directions."""
    nodes, weights = rule
    middle = pieces[:, :2].mean(axis=0)
    owner, v0, v1, r0, r1 = patches.T
    x, y, turn = _boundary(pieces, owner, v0[:, None] + (v1 - v0)[:, None] * nodes)
    r = r0[:, None] + (r1 - r0)[:, None] * nodes
    zx = middle[0] + r[:, :, None] * x[:, None, :]
    zy = middle[1] + r[:, :, None] * y[:, None, :]
    points = position + np.stack([zx, zy], axis=-1).reshape(-1, 2)
    value = ground.density.at(points).reshape(zx.shape)
    value *= (r * weights * (r1 - r0)[:, None])[:, :, None]
    value *= (turn * weights * (v1 - v0)[:, None])[:, None, :]
    parts = (value, value * zx, value * zy, value * (zx * zx + zy * zy))
    return np.stack([part.sum(axis=(1, 2)) for part in parts], axis=1)

"""Second opinions on a centroid beyond polygons: on a line, in curved planar regions, in space.

Plain NumPy, its own cutting and its own quadrature; nothing is shared with the kernels. Each gives
None where it cannot vouch for its own digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.density import Density
from dwell.geometry import Workspace, is_flat

NODES = 24
AGREES = 1e-11  # of the cell's size: two rules that differ by less are taken to be right
MOST_PANELS = 256  # of an interval, and of an angle
DIRECTIONS = 4096  # looked at to find where one border of a cell gives way to another
MOST_BORDERS = 8  # that give way to one another between two of them
SHARPER = 60  # halvings until such a place is known to rounding
MOST_HALVINGS = 3  # of the tetrahedra, in all directions
NODES_IN_SPACE = 12
LIGHTEST = 1e-290

Moments = tuple[float, Points]  # mass, and first moments about the agent


def is_known(workspace: Workspace) -> bool:
    """Whether there is a second opinion on cells of this kind at all."""
    return workspace.dimension <= 2 or (workspace.dimension == 3 and is_flat(workspace))


def centroid_beyond_polygons(
    workspace: Workspace, positions: Points, agent: int, density: Density
) -> Points | None:
    """Centroid of `agent`'s cell as seen from the agent; None if there is no second opinion."""
    n, flat = workspace.dimension, is_flat(workspace)
    if n == 1:
        return _on_line(workspace, positions, agent, density)
    if n == 2 and not flat:
        return _in_curve(workspace, positions, agent, density)
    if n == 3 and flat:
        return _in_space(workspace, positions, agent, density)
    return None


def _refined(rule: Callable[[int], Moments], most: int, size: float) -> Points | None:
    """The centroid by finer and finer rules, once two of them agree."""
    before: Points | None = None
    pieces = 1
    while pieces <= most:
        mass, first = rule(pieces)
        if mass < LIGHTEST:
            return None
        now: Points = first / mass
        if before is not None and float(np.abs(now - before).max()) <= AGREES * size:
            return now
        before, pieces = now, 2 * pieces
    return None


def _gauss(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (1.0 + nodes), 0.5 * weights


# On a line.


def _on_line(
    workspace: Workspace, positions: Points, agent: int, density: Density
) -> Points | None:
    own = float(positions[agent, 0])
    others = np.delete(positions[:, 0], agent) - own
    low, high = (float(end[0]) - own for end in workspace.bounds)
    low = max([low, *(0.5 * others[others < 0.0])])
    high = min([high, *(0.5 * others[others > 0.0])])
    if not low < high:
        return None
    u, w = _gauss(NODES)

    def rule(pieces: int) -> Moments:
        width = (high - low) / pieces
        z = (low + width * (np.arange(pieces)[:, None] + u)).ravel()
        values = np.tile(w, pieces) * width * density.at(own + z[:, None])
        return float(values.sum()), np.array([(values * z).sum()])

    return _refined(rule, MOST_PANELS, high - low)


# In a curved region of the plane: rays from the agent.


def _in_curve(workspace: Any, positions: Points, agent: int, density: Density) -> Points | None:
    own = positions[agent]
    others = np.delete(positions, agent, axis=0) - own
    reach = _reach(workspace, own, others)
    turns = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS + 1)
    corners = _switches(reach, turns)
    u, w = _gauss(NODES)

    def rule(pieces: int) -> Moments:
        mass, first = 0.0, np.zeros(2)
        for a, b in pairwise(corners):
            width = (b - a) / pieces
            angle = (a + width * (np.arange(pieces)[:, None] + u)).ravel()
            far = reach(angle)[0]
            ray = np.column_stack([np.cos(angle), np.sin(angle)])
            r = far[:, None] * u
            z = r[..., None] * ray[:, None, :]
            weight = np.tile(w, pieces)[:, None] * width * w * far[:, None] * r
            values = weight * density.at(own + z.reshape(-1, 2)).reshape(r.shape)
            mass += float(values.sum())
            first += (values[..., None] * z).sum(axis=(0, 1))
        return mass, first

    return _refined(rule, MOST_PANELS // 8, workspace.diameter)


def _reach(workspace: Any, own: Points, others: Points) -> Callable[[Floats], tuple[Floats, Any]]:
    """How far a cell reaches from its agent in each direction, and what stops it there."""
    semi_axes = np.asarray(workspace.semi_axes)
    turned = np.asarray(workspace.axes) @ (own - np.asarray(workspace.center)) / semi_axes

    def reach(angle: Floats) -> tuple[Floats, Any]:
        ray = np.column_stack([np.cos(angle), np.sin(angle)])
        v = ray @ np.asarray(workspace.axes).T / semi_axes  # |turned + r v| = 1 on the boundary
        a, b = (v * v).sum(axis=1), v @ turned
        wall = (-b + np.sqrt(np.maximum(b * b + a * (1.0 - turned @ turned), 0.0))) / a
        towards = ray @ others.T
        with np.errstate(divide="ignore"):
            halves = 0.5 * (others * others).sum(axis=1) / towards
        halves[towards <= 0.0] = np.inf
        every = np.column_stack([wall, halves])
        who = every.argmin(axis=1)
        return every[np.arange(len(every)), who], who

    return reach


def _switches(reach: Callable[[Floats], tuple[Floats, Any]], turns: Floats) -> Floats:
    """Angles between which one border alone bounds the cell.

    Between two directions with different borders there may be room for a third border, or more:
    each time the first change is found, and what lies behind it is looked at again.
    """
    _, who = reach(turns)
    changed = np.flatnonzero(who[1:] != who[:-1])
    low, high, last = turns[changed].copy(), turns[changed + 1].copy(), who[changed + 1]
    found = [turns[[0, -1]]]
    for _ in range(MOST_BORDERS):
        first, end = reach(low)[1], high.copy()
        for _ in range(SHARPER):
            middle = 0.5 * (low + high)
            same = reach(middle)[1] == first
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        found.append(high)
        more = reach(high)[1] != last
        low, high, last = high[more], end[more], last[more]
        if not len(low):
            break
    return np.unique(np.concatenate(found))


# In space: faces cut one by one, then tetrahedra.


def _in_space(workspace: Any, positions: Points, agent: int, density: Density) -> Points | None:
    own = positions[agent]
    corners = np.asarray(workspace.vertices) - own
    faces = [corners[np.asarray(face)] for face in workspace.faces]
    others = np.delete(positions, agent, axis=0) - own
    for other in others[np.argsort(lengths(others), kind="stable")]:
        faces = _nearer_faces(faces, other)
        if len(faces) < 4:
            return None
    return _weighed(np.array(list(_tetrahedra(faces))), own, density, workspace.diameter)


def _nearer_faces(faces: list[Points], other: Points) -> list[Points]:
    """The part of a convex polyhedron that is nearer to 0 than to `other`."""
    kept, cut = [], []
    for face in faces:
        side = (face - 0.5 * other) @ other
        if (side <= 0.0).all():
            kept.append(face)
            continue
        ring = []
        for k in range(len(face)):
            after = (k + 1) % len(face)
            f, g = float(side[k]), float(side[after])
            if f <= 0.0:
                ring.append(face[k])
            if (f < 0.0 < g) or (g < 0.0 < f):
                ring.append((g * face[k] - f * face[after]) / (g - f))
                cut.append(ring[-1])
            elif f == 0.0:
                cut.append(face[k])
        if len(ring) > 2:
            kept.append(np.array(ring))
    if len(cut) > 2:
        kept.append(_round(np.array(cut), other))
    return kept


def _round(points: Points, normal: Points) -> Points:
    """Points of a convex face in order, seen from outside."""
    middle = points.mean(axis=0)
    axis = normal / lengths(normal)
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    second = np.cross(axis, first)
    away = points - middle
    order = np.argsort(np.arctan2(away @ second, away @ first), kind="stable")
    found: Points = points[order]
    return found


def _tetrahedra(faces: list[Points]) -> Iterator[Points]:
    middle = np.concatenate(faces).mean(axis=0)
    for face in faces:
        centre = face.mean(axis=0)
        for a, b in zip(face, np.roll(face, -1, axis=0), strict=True):
            yield np.array([middle, centre, a, b])


def _weighed(tetrahedra: Points, own: Points, density: Density, size: float) -> Points | None:
    u, w = _gauss(NODES_IN_SPACE)
    r, s, t = (axis.ravel() for axis in np.meshgrid(u, u, u, indexing="ij"))
    share = np.einsum("i,j,k->ijk", w * u * u, w * u, w).ravel()

    def rule(pieces: int) -> Moments:
        parts = tetrahedra
        for _ in range(pieces.bit_length() - 1):
            parts = _halved(parts)
        a, b, c, d = (parts[:, k] for k in range(4))
        volume = np.abs(np.einsum("ki,ki->k", b - a, np.cross(c - a, d - a)))
        ray = (b - a)[:, None] + s[:, None] * ((c - b)[:, None] + t[:, None] * (d - c)[:, None])
        z = a[:, None] + r[:, None] * ray
        values = share * volume[:, None] * density.at(own + z.reshape(-1, 3)).reshape(z.shape[:2])
        return float(values.sum()), (values[..., None] * z).sum(axis=(0, 1))

    return _refined(rule, 2**MOST_HALVINGS, size)


def _halved(parts: Points) -> Points:
    """Each tetrahedron as two, across its longest edge."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    edges = np.stack([lengths(parts[:, i] - parts[:, j]) for i, j in pairs], axis=1)
    halves = []
    for which, (i, j) in enumerate(pairs):
        some = parts[edges.argmax(axis=1) == which]
        middle = 0.5 * (some[:, i] + some[:, j])
        for end in (i, j):
            half = some.copy()
            half[:, end] = middle
            halves.append(half)
    return np.concatenate(halves)

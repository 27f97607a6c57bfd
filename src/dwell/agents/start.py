"""Where agents may start."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points
from dwell.density.tessellation import as_positions
from dwell.errors import AgentsError
from dwell.geometry import Box, Workspace

ROUNDING = 1e-12  # of the workspace's diameter
MAX_TRIES = 100_000
MAX_AGENTS = 10_000_000


def check_start(workspace: Workspace, positions: object) -> tuple[Points, tuple[str, ...]]:
    """`positions` as clean points in the workspace, with what was repaired.

    Points outside by rounding only are moved to the boundary; points further out, and points that
    coincide, are refused.
    """
    points = as_positions(positions, workspace.dimension)
    distance = workspace.outside_by(points)
    far = np.flatnonzero(distance > ROUNDING * workspace.diameter)
    if far.size:
        p = int(far[0])
        near = workspace.nearest(points[p : p + 1])[0]
        others = f" (and {far.size - 1} more agents)" if far.size > 1 else ""
        raise AgentsError(
            f"agent {p} at {points[p].tolist()} is {distance[p]:.3g} outside the workspace"
            f"{others}; the nearest point inside is {near.tolist()}",
            code="agents.outside",
            key=f"agents.start[{p}]",
        )
    repairs = []
    moved = np.flatnonzero(distance > 0.0)
    if moved.size:
        points[moved] = workspace.nearest(points[moved])
        repairs.append(f"moved {moved.size} agents onto the workspace's boundary (rounding)")
    refuse_coincident(points)
    return points, tuple(repairs)


def refuse_coincident(points: Points) -> None:
    """Refuse agents at one place, naming every group of them."""
    order = np.lexsort(points.T)
    same = (points[order[1:]] == points[order[:-1]]).all(axis=1)
    if not same.any():
        return
    groups: list[list[int]] = []
    for k in np.flatnonzero(same):
        a, b = int(order[k]), int(order[k + 1])
        if groups and groups[-1][-1] == a:
            groups[-1].append(b)
        else:
            groups.append([a, b])
    named = "; ".join(
        f"agents {', '.join(map(str, sorted(group)))} at {points[group[0]].tolist()}"
        for group in groups[:5]
    )
    raise AgentsError(
        f"several agents start at the same place, where cells are not defined: {named}; "
        "move all but one of each",
        code="agents.coincident",
        key=f"agents.start[{max(groups[0])}]",
    )


def scatter(workspace: Workspace, count: int, seed: int, region: Box | None = None) -> Points:
    """`count` positions spread evenly over the workspace, or over the part of it in `region`.

    Agent p's place depends on the seed and p alone.
    """
    if count > MAX_AGENTS:
        raise AgentsError(
            f"{count} agents are asked for; at most {MAX_AGENTS} can be scattered",
            code="agents.range",
            key="agents.start.count",
        )
    key = seed_words(seed)
    lower, upper = (region or workspace).bounds
    points = lower + (upper - lower) * _draws(key, [(p, 0) for p in range(count)], len(lower))
    for p in np.flatnonzero(workspace.outside_by(points) != 0.0):
        points[p] = _tried(workspace, key, int(p), lower, upper)
    return points


def _tried(
    workspace: Workspace, key: tuple[int, int], agent: int, lower: Floats, upper: Floats
) -> Points:
    """The first of `agent`'s draws that lies in the workspace."""
    first, size = 1, 8
    while first < MAX_TRIES:
        tries = [(agent, k) for k in range(first, min(first + size, MAX_TRIES))]
        places = lower + (upper - lower) * _draws(key, tries, len(lower))
        inside = np.flatnonzero(workspace.outside_by(places) == 0.0)
        if inside.size:
            found: Points = places[inside[0]]
            return found
        first, size = first + size, min(2 * size, 4096)
    raise AgentsError(
        f"no place for agent {agent} was found: the region {lower.tolist()} to {upper.tolist()} "
        "hardly meets the workspace; choose another region",
        code="agents.region",
        key="agents.start.region",
    )


def _draws(key: tuple[int, int], which: list[tuple[int, int]], dimension: int) -> Points:
    """Points of the unit cube, one for each (agent, number of the draw)."""
    from dwell._kernels.philox import STREAM_STARTS, uniform_pair

    pairs = (dimension + 1) // 2  # coordinates are drawn two at a time
    drawn = np.array(
        [
            uniform_pair(*key, STREAM_STARTS, p, k * pairs + m)
            for p, k in which
            for m in range(pairs)
        ]
    )
    points: Points = drawn.reshape(-1, 2 * pairs)[:, :dimension]
    return points


def seed_words(seed: int) -> tuple[int, int]:
    """The two 32-bit words that stand for a seed of any size."""
    words = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(words[0]), int(words[1])

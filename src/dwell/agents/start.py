"""Starts: checked positions, and positions drawn at random."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from dwell._types import Floats, Ints, Points, counted
from dwell._units import OPEN, Units
from dwell.cells.positions import as_positions
from dwell.errors import AgentsError
from dwell.geometry import Ball, Box, Ellipsoid, Workspace
from dwell.geometry.voronoi import are_apart

ROUNDING = 1e-12  # of the workspace's diameter
MAX_TRIES = 100_000
MAX_AGENTS = 10_000_000


def check_start(
    workspace: Workspace, positions: object, *, apart: bool = True, units: Units = OPEN
) -> tuple[Points, tuple[str, ...]]:
    """`positions` as points of the workspace, and descriptions of what was repaired.

    Points outside by rounding only are moved to the boundary; points further out, and (if they
    must be `apart`) points that coincide, are refused.
    """
    points = as_positions(positions, workspace.dimension)
    distance = workspace.outside_by(points)
    far = np.flatnonzero(distance > ROUNDING * workspace.diameter)
    if far.size:
        p = int(far[0])
        near = workspace.nearest(points[p : p + 1])[0]
        others = f" (and {counted(int(far.size) - 1, 'more agent')})" if far.size > 1 else ""
        far_out = units.after(f"{distance[p]:.3g}", "length")
        where = f"{far_out} outside the workspace"
        if workspace.mask is not None and workspace.mask.has_hole_around(points[p]):
            where = f"in a hole, {far_out} from the workspace"
        raise AgentsError(
            f"agent {p} at {points[p].tolist()} is {where}{others}; the nearest point inside is "
            f"{near.tolist()}",
            code="agents.outside",
            key=f"agents.start[{p}]",
        )
    repairs = []
    moved = np.flatnonzero(distance > 0.0)
    if moved.size:
        points[moved] = workspace.nearest(points[moved])
        who = counted(int(moved.size), "agent")
        repairs.append(f"moved {who} onto the workspace's boundary (rounding)")
    if apart:
        refuse_coincident(points)
    return points, tuple(repairs)


def coincident_groups(points: Points) -> list[list[int]]:
    """The groups of agents that coincide."""
    groups: list[list[int]] = []
    if are_apart(points):
        return groups
    order = np.lexsort(points.T)
    same = (points[order[1:]] == points[order[:-1]]).all(axis=1)
    for k in np.flatnonzero(same):
        a, b = int(order[k]), int(order[k + 1])
        if groups and groups[-1][-1] == a:
            groups[-1].append(b)
        else:
            groups.append([a, b])
    return groups


def refuse_coincident(points: Points) -> None:
    """Refuse coincident agents; the error names every group of them."""
    groups = coincident_groups(points)
    if not groups:
        return
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
    """`count` positions, uniform on the workspace, or on its part in `region`.

    The position of agent p depends on the seed and p alone.
    """
    if count > MAX_AGENTS:
        raise AgentsError(
            f"the start has {count} agents; at most {MAX_AGENTS} can be scattered",
            code="agents.range",
            key="agents.start.count",
        )
    key = seed_words(seed)
    if region is None and isinstance(workspace, Ball | Ellipsoid) and count > 0:
        return _in_ball(workspace, key, count)
    lower, upper = (region or workspace).bounds
    points = lower + (upper - lower) * _draws(
        key, np.arange(count), np.zeros(count, dtype=np.int64), len(lower)
    )
    for p in np.flatnonzero(~workspace.covers(points)):
        found = _tried(workspace, key, int(p), lower, upper)
        if found is None:
            raise _no_place(int(p), workspace, region)
        points[p] = found
    return points


def _in_ball(workspace: Ball | Ellipsoid, key: tuple[int, int], count: int) -> Points:
    """Positions in a ball or ellipsoid, which fills little of its bounds in high dimensions."""
    unit = np.array([_of_unit_ball(_pairs(key, p), workspace.dimension) for p in range(count)])
    points: Points = np.tile(np.array(workspace.center), (count, 1))
    for k, size in enumerate(workspace.semi_axes):
        points += (size * unit[:, k : k + 1]) * workspace.axes[k]
    rounded = np.flatnonzero(workspace.outside_by(points) > 0.0)
    points[rounded] = workspace.nearest(points[rounded])
    return points


def _of_unit_ball(pairs: Iterator[tuple[float, float]], dimension: int) -> list[float]:
    """A uniform point of the unit ball, by square roots alone, with the same bits everywhere.

    For coordinates in pairs, the squared radii of the pairs are uniform on the simplex of numbers
    with a sum of at most 1, like the gaps between sorted draws. A last single coordinate has the
    distribution of the median of n draws, and leaves a smaller ball for the others.
    """
    planes, odd = divmod(dimension, 2)
    numbers = itertools.chain.from_iterable(pairs)
    point, square_left = [], 1.0
    if odd:
        median = sorted(itertools.islice(numbers, dimension))[planes]
        point, square_left = [2.0 * median - 1.0], 4.0 * median * (1.0 - median)
    cuts = sorted(itertools.islice(numbers, planes))
    for lower, upper in itertools.pairwise([0.0, *cuts]):
        x, y, square = _of_unit_disc(numbers)
        size = float(np.sqrt(square_left * (upper - lower) / square))
        point += [size * x, size * y]
    return point


def _of_unit_disc(numbers: Iterator[float]) -> tuple[float, float, float]:
    """(x, y, x**2 + y**2) of a uniform point of the unit disc without its center."""
    while True:
        x, y = 2.0 * next(numbers) - 1.0, 2.0 * next(numbers) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x, y, square


def _pairs(key: tuple[int, int], agent: int) -> Iterator[tuple[float, float]]:
    """All draws of an agent."""
    from dwell._kernels.common.philox import STREAM_STARTS, uniform_pair

    return (uniform_pair(*key, STREAM_STARTS, agent, k) for k in itertools.count())


def _tried(
    workspace: Workspace, key: tuple[int, int], agent: int, lower: Floats, upper: Floats
) -> Points | None:
    """The first of `agent`'s draws that lies in the workspace, if any does."""
    first, size = 1, 8
    while first < MAX_TRIES:
        tries = np.arange(first, min(first + size, MAX_TRIES))
        drawn = _draws(key, np.full(len(tries), agent), tries, len(lower))
        places = lower + (upper - lower) * drawn
        inside = np.flatnonzero(workspace.covers(places))
        if inside.size:
            found: Points = places[inside[0]]
            return found
        first, size = first + size, min(2 * size, 4096)
    return None


def _no_place(agent: int, workspace: Workspace, region: Box | None) -> AgentsError:
    where = (
        f"bounding box of the {type(workspace).__name__} in {workspace.dimension} dimensions lies "
        "in it; give the places themselves, or a region that the workspace fills more of"
    )
    if region is not None:
        where = (
            f"region {list(region.lower)} to {list(region.upper)} lies in the workspace; choose a "
            "region of which more does, or give the places themselves"
        )
    return AgentsError(
        f"no place for agent {agent} was found: none of {MAX_TRIES} places drawn from the {where}",
        code="agents.region",
        key="agents.start" if region is None else "agents.start.region",
    )


def _draws(key: tuple[int, int], agents: Ints, number: Ints, dimension: int) -> Points:
    """Points of the unit cube: draw number[i] of agents[i]."""
    from dwell._kernels.common.philox import STREAM_STARTS, fill_pairs

    pairs = (dimension + 1) // 2  # coordinates are drawn two at a time
    drawn = np.empty((len(agents), pairs, 2))
    for m in range(pairs):
        some = np.empty((len(agents), 2))
        fill_pairs(*key, STREAM_STARTS, agents, number * pairs + m, some)
        drawn[:, m] = some
    points: Points = drawn.reshape(-1, 2 * pairs)[:, :dimension]
    return points


def seed_words(seed: int) -> tuple[int, int]:
    """A seed of any size as two 32-bit words."""
    words = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(words[0]), int(words[1])

"""Brute-force references: lattice sums, and a naive event loop."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.oracles.rational_cells import contains, exact, exact_polygon, squared_distance

Array = NDArray[np.float64]
Vector = tuple[float, float]

AMBIGUOUS = 1e-12  # relative margin below which a comparison of doubles is repeated exactly


@dataclass(frozen=True)
class GridCells:
    """Lattice points in the polygon, their owners and the resulting sums per agent.

    The centroid of an agent without points is NaN.
    """

    points: Array
    owner: NDArray[np.intp]
    mass: Array
    centroid: Array


def lattice(polygon: Sequence[Sequence[float]], h: float) -> Array:
    """Points ``lower + (i + 1/2) h`` inside the closed convex polygon, row by row."""
    corners = np.asarray(polygon, dtype=float)
    axes = []
    for lower, upper in zip(corners.min(axis=0), corners.max(axis=0), strict=True):
        line = lower + (np.arange(math.ceil((upper - lower) / h) + 1) + 0.5) * h
        axes.append(line[line <= upper])
    x, y = np.meshgrid(*axes)
    points = np.column_stack([x.ravel(), y.ravel()])
    return points[_inside(corners, points)]


def _inside(corners: Array, points: Array) -> NDArray[np.bool_]:
    """Exact membership: doubles decide clear cases, fractions the others."""
    vertices = exact_polygon(corners.tolist())
    ccw = np.array([[float(x), float(y)] for x, y in vertices])
    following = np.roll(ccw, -1, axis=0)
    inside = np.ones(len(points), dtype=bool)
    unclear = np.zeros(len(points), dtype=bool)
    for a, b in zip(ccw, following, strict=True):
        left = (b[0] - a[0]) * (points[:, 1] - a[1])
        right = (b[1] - a[1]) * (points[:, 0] - a[0])
        margin = AMBIGUOUS * (np.abs(left) + np.abs(right))
        inside &= left - right >= 0
        unclear |= np.abs(left - right) <= margin
    for k in np.flatnonzero(unclear):
        inside[k] = contains(vertices, points[k].tolist())
    return inside


def nearest_agent(points: Array, agents: Sequence[Sequence[float]]) -> NDArray[np.intp]:
    """Nearest agent of every point; of equally near ones the lexicographically smaller.

    Agents at one and the same position are resolved by the lower index.
    """
    sites = np.asarray(agents, dtype=float)
    gaps = np.column_stack([((points - site) ** 2).sum(axis=1) for site in sites])
    owner: NDArray[np.intp] = gaps.argmin(axis=1)
    smallest = gaps.min(axis=1, keepdims=True)
    close = gaps <= smallest * (1 + AMBIGUOUS)
    for k in np.flatnonzero(close.sum(axis=1) > 1):
        z = exact(points[k].tolist())
        owner[k] = min(
            (squared_distance(exact(sites[p].tolist()), z), tuple(sites[p].tolist()), int(p))
            for p in np.flatnonzero(close[k])
        )[2]
    return owner


def grid_cells(
    polygon: Sequence[Sequence[float]],
    agents: Sequence[Sequence[float]],
    h: float,
    density: Callable[[Array, Array], Array] | None = None,
) -> GridCells:
    """Mass and centroid of every cell as sums over the lattice of spacing ``h``.

    ``density(x, y)`` works on arrays; None stands for 1.
    """
    points = lattice(polygon, h)
    owner = nearest_agent(points, agents)
    weight = np.ones(len(points)) if density is None else density(points[:, 0], points[:, 1])
    n = len(agents)
    mass = np.bincount(owner, weights=weight, minlength=n).astype(float) * h * h
    first = [np.bincount(owner, weights=weight * points[:, i], minlength=n) for i in (0, 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        centroid = np.column_stack(first) * (h * h) / mass[:, None]
    return GridCells(points, owner, mass, centroid)


@dataclass(frozen=True)
class TimerEvent:
    """One jump: at time ``t`` the agent at ``x`` takes the velocity ``eta`` until ``next_at``."""

    t: float
    agent: int
    x: Vector
    eta: Vector
    next_at: float


def saturated(error: Vector, nu: float, gain: float) -> Vector:
    """``gain * sat(error, nu)``: error / nu inside the ball of radius nu, else its direction."""
    size = math.hypot(*error)
    divisor = max(nu, size)
    return gain * (error[0] / divisor), gain * (error[1] / divisor)


def timer_run(
    positions: Sequence[Vector],
    timers: Sequence[float],
    centroid: Callable[[list[Vector], int], Sequence[float]],
    draw: Callable[[int, int], float],
    *,
    gain: float,
    nu: float,
    horizon: float,
    velocities: Sequence[Vector] | None = None,
) -> list[TimerEvent]:
    """The timer law as a plain event loop from t = 0; jumps at t <= horizon are done.

    ``timers[p]`` is the first event time of agent p, ``draw(p, k)`` the timer set
    at its k-th event (k = 0, 1, ...), ``nu`` the radius of the saturation.
    Velocities not given are those sampled at the start. Every position is
    evaluated from the agent's own last event; ties go in agent order.
    """
    start = [(float(x), float(y)) for x, y in positions]
    last: dict[int, tuple[float, Vector, Vector]] = {}  # time, position, velocity

    def sampled(positions: list[Vector], p: int) -> Vector:
        c = centroid(positions, p)
        return saturated((c[0] - positions[p][0], c[1] - positions[p][1]), nu, gain)

    for p, x in enumerate(start):
        last[p] = (0.0, x, sampled(start, p) if velocities is None else velocities[p])
    count = dict.fromkeys(last, 0)
    queue = [(float(timers[p]), p) for p in last]
    heapq.heapify(queue)
    events: list[TimerEvent] = []
    while queue and queue[0][0] <= horizon:
        t, p = heapq.heappop(queue)
        now = [(x[0] + (t - s) * v[0], x[1] + (t - s) * v[1]) for s, x, v in last.values()]
        eta = sampled(now, p)
        next_at = t + draw(p, count[p])
        count[p] += 1
        last[p] = (t, now[p], eta)
        heapq.heappush(queue, (next_at, p))
        events.append(TimerEvent(t, p, now[p], eta, next_at))
    return events

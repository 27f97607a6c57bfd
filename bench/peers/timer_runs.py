"""The timer law run by other means: a loop in Python, and a general simulator of hybrid systems.

Both take their cells from shapely and their waits from a list, so that they do what dwell did.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

import dwell

Points = np.ndarray
PATHSIM_STEP = 0.01  # its own default, and the paper's shortest step


@dataclass(frozen=True)
class Task:
    """Agents in a polygon, uniform density; waits[p][k] follows agent p's look k."""

    start: Points
    corners: Points
    law: dwell.Timer
    waits: list[list[float]]
    until: float


class Group:
    """Agents that hold their inputs, and look at their cells by shapely."""

    def __init__(self, task: Task) -> None:
        import shapely

        self.law, self.walls = task.law, shapely.Polygon(task.corners)
        self.multipoints, self.shapely = shapely.multipoints, shapely

    def input(self, places: Points, p: int) -> Points:
        """What the law asks of agent p when it looks."""
        error = self._error(places, p)
        return self.law.k1 * error / max(float(np.hypot(*error)), self.law.reach)

    def _error(self, places: Points, p: int) -> Points:
        """Centroid of p's cell minus p's position."""
        shapely, sites = self.shapely, self.multipoints(places)
        cells = shapely.voronoi_polygons(sites, extend_to=self.walls, ordered=True)
        cell = shapely.intersection(shapely.get_geometry(cells, p), self.walls)
        centroid = shapely.centroid(cell)
        return np.array([centroid.x, centroid.y]) - places[p]


def by_loop(task: Task) -> tuple[Points, int]:
    """Final positions and number of events, by a plain loop over events."""
    group, agents = Group(task), len(task.start)
    at, since = task.start.copy(), np.zeros(agents)
    hold = np.array([group.input(at, p) for p in range(agents)])
    queue = [(float(task.law.t2), p, 0) for p in range(agents)]
    heapq.heapify(queue)
    events = 0
    while queue[0][0] <= task.until:
        t, p, k = queue[0]
        places = at + hold * (t - since)[:, None]
        hold[p], at[p], since[p] = group.input(places, p), places[p], t
        heapq.heapreplace(queue, (t + task.waits[p][k], p, k + 1))
        events += 1
    return at + hold * (task.until - since)[:, None], events


def by_pathsim(task: Task, solver: str) -> tuple[Points, int]:
    """The same by PathSim: sources, integrators and a list of events for each agent.

    Solvers with a fixed step act at the end of the step in which an event lies; those that choose
    their steps, as RKBS32, go to the event itself.
    """
    from pathsim import Connection, Simulation, solvers
    from pathsim.blocks import Integrator, Source
    from pathsim.events import ScheduleList

    group, agents = Group(task), len(task.start)
    hold = np.array([group.input(task.start, p) for p in range(agents)])
    places = [[Integrator(float(v)) for v in place] for place in task.start]
    sources = [[_source(Source, hold, p, k) for k in (0, 1)] for p in range(agents)]
    count = [0]

    def act(p: int) -> Any:
        def look(_: float) -> None:
            now = np.array([[float(block.engine.state[0]) for block in pair] for pair in places])
            hold[p] = group.input(now, p)
            count[0] += 1

        return look

    wires = [
        Connection(sources[p][k], places[p][k]) for p in range(agents) for k in (0, 1)
    ]  # fmt: skip
    blocks = [block for pairs in (places, sources) for pair in pairs for block in pair]
    lists = [ScheduleList(times_evt=times_of(task, p), func_act=act(p)) for p in range(agents)]
    method = getattr(solvers, solver)
    world = Simulation(blocks, wires, events=lists, dt=PATHSIM_STEP, Solver=method, log=False)
    world.run(task.until)
    final = [[float(block.engine.state[0]) for block in pair] for pair in places]
    return np.array(final), count[0]


def _source(kind: Any, hold: Points, p: int, k: int) -> Any:
    return kind(lambda _: hold[p, k])


def times_of(task: Task, p: int) -> list[float]:
    """When agent p looks, up to the horizon."""
    times, t = [], float(task.law.t2)
    for wait in task.waits[p]:
        if t > task.until:
            break
        times.append(t)
        t += wait
    return times

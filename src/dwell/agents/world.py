"""What a sample sees besides positions: regions, densities, the agents present, the network.

A world may change over time: at given times to another one (phases), and within a phase by
densities and walls that move. A sample at time t sees the world at t.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.network import PERFECT, Network
from dwell.cells.backend import backend_for, measure_cells
from dwell.cells.centroid_rate import centroid_rates
from dwell.cells.measurement import CellMeasurements, in_one
from dwell.cells.weighted_region import WeightedRegion, changing_region
from dwell.density import Density
from dwell.geometry import Workspace
from dwell.geometry.moving import MovingPolygon


@final
@dataclass(frozen=True, eq=False)
class Phase:
    """The world from a time on, until the next phase begins."""

    begin: float
    workspace: Workspace | MovingPolygon
    density: Density
    network: Network = PERFECT

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density."""
        return changing_region(self.workspace, self.density)


@final
@dataclass(frozen=True, eq=False)
class World:
    """A phase with the agents that are present in it."""

    ground: WeightedRegion
    network: Network
    present: Ints | None = None  # None: all agents

    def ground_at(self, t: float) -> WeightedRegion:
        """The workspace with its density at time t; one object for all calls at one time."""
        if not self.ground.moves:
            return self.ground
        now = self._kept.get(t)
        if now is None:
            now = self.ground.at(t)
            self._kept.clear()  # at worst another thread makes it again
            self._kept[t] = now
        return now

    @cached_property
    def _kept(self) -> dict[float, WeightedRegion]:
        return {}

    def agents_among(self, positions: Points) -> Ints:
        """The agents that are present."""
        return np.arange(len(positions)) if self.present is None else self.present

    def neighbors(self, positions: Points, agent: int, t: float) -> Ints:
        """The Voronoi neighbours of an agent at time t, ascending."""
        ground, every = self.ground_at(t), self.agents_among(positions)
        own = int(np.searchsorted(every, agent))
        cell = backend_for(ground).cells(ground.workspace, positions[every], [own])[0]
        found: Ints = every[np.sort(cell.borders[cell.borders >= 0])]
        return found

    def rates(self, positions: Points, t: float) -> Points:
        """The time derivatives of the centroids of all agents that are present, (K, n)."""
        return centroid_rates(self.ground, positions[self.agents_among(positions)], t)

    def rate(self, positions: Points, t: float, agent: int) -> Points:
        """The time derivative of the centroid of one agent while none moves, (n,)."""
        every = self.agents_among(positions)
        own = int(np.searchsorted(every, agent))
        rate: Points = centroid_rates(self.ground, positions[every], t, [own])[0]
        return rate

    def error(self, positions: Points, agent: int, t: float) -> Points:
        """The error of an agent in the world of this phase at time t, (n,)."""
        one = np.array([agent])
        seen = self.measure(positions[None], np.zeros_like(one), one, np.array([t]))
        error: Points = seen.error[0]
        return error

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        *,
        threads: int | None = 1,
    ) -> CellMeasurements:
        """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

        times : (rows,) when each configuration is assumed. Agents that are absent have no cell.
        """
        if self.present is None:
            return measure_cells(self.ground, positions, row, agent, threads=threads, times=times)
        number = np.full(positions.shape[1], -1)
        number[self.present] = np.arange(len(self.present))
        here = np.flatnonzero(number[agent] >= 0)
        among, own = np.ascontiguousarray(positions[:, self.present]), number[agent[here]]
        found = measure_cells(self.ground, among, row[here], own, threads=threads, times=times)
        return in_one([(here, found)], len(agent), self.ground.dimension)


@final
@dataclass(frozen=True, eq=False)
class Timeline:
    """The phases of a run, and from when to when each agent is present."""

    phases: tuple[Phase, ...]  # the first begins at time 0
    arrivals: Floats | None = None  # (N,) None: all agents are present from the beginning
    departures: Floats | None = None  # (N,) inf for agents that stay; None: all stay

    @cached_property
    def begins(self) -> list[float]:
        """When each phase begins."""
        return [phase.begin for phase in self.phases]

    def phase_at(self, t: float) -> int:
        """The number of the phase at time t; at a switch, of the new one."""
        return max(bisect_right(self.begins, t) - 1, 0)

    def next_switch(self, t: float) -> float:
        """When the next phase after time t begins; inf if none does."""
        after = self.phase_at(t) + 1
        return self.begins[after] if after < len(self.phases) else np.inf

    @cached_property
    def worlds(self) -> list[World]:
        """The world of each phase."""
        return [
            World(phase.ground, phase.network, self.present_at(phase.begin))
            for phase in self.phases
        ]

    def world_at(self, t: float) -> World:
        """The world of the phase at time t."""
        return self.worlds[self.phase_at(t)]

    def present_at(self, t: float) -> Ints | None:
        """The agents that are present at time t; None if all are."""
        if self.arrivals is None or self.departures is None:
            return None
        here = (self.arrivals <= t) & (t < self.departures)
        return None if here.all() else np.flatnonzero(here)

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        *,
        threads: int | None = 1,
    ) -> CellMeasurements:
        """Measure cells, each in the world of its time: see `World.measure`."""
        phase = np.maximum(np.searchsorted(self.begins, times, side="right") - 1, 0)[row]
        found: list[tuple[Ints, CellMeasurements]] = []
        for k in np.unique(phase):
            which = np.flatnonzero(phase == k)
            own = row[which], agent[which], times
            found.append((which, self.worlds[k].measure(positions, *own, threads=threads)))
        if len(found) == 1:
            return found[0][1]
        return in_one(found, len(row), positions.shape[2])

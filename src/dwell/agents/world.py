"""What a sample sees besides positions: regions, densities, the agents present, the network.

A world may change over time: at given times to another one (phases), and within a phase by
densities and boundaries that move. A sample at time t sees the world at t.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, in_short, is_whole, listed
from dwell.agents.network import PERFECT, Network
from dwell.agents.start import coincident_groups
from dwell.agents.ways import on_ways
from dwell.cells.backend import cells_of, measure_cells
from dwell.cells.centroid_rate import centroid_rates
from dwell.cells.measurement import CellMeasurements, in_one, of_one, together
from dwell.cells.weighted_region import WeightedRegion, changing_region
from dwell.density import Density, Mixture, as_density
from dwell.errors import InputError
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
    spacing: float | None = None  # of the integration grid of a world that does not change

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density."""
        return changing_region(self.workspace, self.density, self.spacing)


@final
@dataclass(frozen=True, eq=False)
class Sensor:
    """One kind of sensor: its density, and the agents that own one.

    The cells of its owners divide the workspace among them. An agent with several sensors has a
    cell for each, and moves towards the centroid of all its cells together.

    Parameters
    ----------
    name : str
        What it is called.
    density : density or callable
        How much each point matters to this sensor.
    owners : sequence of int
        Numbers of the agents that have it, at least one.

    Examples
    --------
    >>> import dwell
    >>> law, even = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2), dwell.Uniform()
    >>> pair = [dwell.Sensor("a", even, (0, 1)), dwell.Sensor("b", even, (1,))]
    >>> site, start = dwell.Interval(0, 1), [0.1, 0.9]
    >>> run = dwell.simulate(site, None, start, law, until=60.0, sensors=pair)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.190983, 0.572949]
    """

    name: str
    density: Density
    owners: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "density", as_density(self.density))
        owners = listed(self.owners)
        if not owners or not all(is_whole(p) and p >= 0 for p in owners):
            raise InputError(
                f'the sensor "{self.name}" has the owners {in_short(self.owners)}; at least one '
                "agent's number from 0 on is needed, or the sensor covers nothing",
                code="sensor.owners",
                key="agents.sensors",
            )
        object.__setattr__(self, "owners", tuple(sorted(set(map(int, owners)))))


def sum_of(sensors: Sequence[Sensor]) -> Density:
    """The densities of all sensors together, for drawings and for scales of mass."""
    parts = [
        part
        for sensor in sensors
        for part in (
            sensor.density.parts if isinstance(sensor.density, Mixture) else (sensor.density,)
        )
    ]
    return parts[0] if len(parts) == 1 else Mixture(tuple(parts))


@final
@dataclass(frozen=True, eq=False)
class Diagram:
    """A weighted region, and the agents whose cells divide it."""

    ground: WeightedRegion
    members: Ints | None = None  # ascending; None: all agents

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        threads: int | None,
        radius: Floats | None,
    ) -> CellMeasurements:
        """Measure cells of this diagram; agents that are no members have none."""
        given: dict[str, Any] = {"threads": threads, "times": times, "radius": radius}
        if self.members is None:
            return measure_cells(self.ground, positions, row, agent, **given)
        number = np.full(positions.shape[1], -1)
        number[self.members] = np.arange(len(self.members))
        here = np.flatnonzero(number[agent] >= 0)
        among, own = np.ascontiguousarray(positions[:, self.members]), number[agent[here]]
        given["radius"] = None if radius is None else radius[self.members]
        found = measure_cells(self.ground, among, row[here], own, **given)
        return in_one([(here, found)], len(agent), self.ground.dimension)


@final
@dataclass(frozen=True, eq=False)
class World:
    """The diagrams of a phase, one for each sensor, and the agents present."""

    ground: WeightedRegion
    network: Network
    present: Ints | None = None  # None: all agents
    sensors: tuple[Diagram, ...] = ()  # none where all agents sense the same

    @cached_property
    def diagrams(self) -> tuple[Diagram, ...]:
        """All diagrams."""
        return self.sensors or (Diagram(self.ground, self.present),)

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
        cell = cells_of(ground.workspace, positions[every], [own])[0]
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
        seen = self.measure(*of_one(positions, np.array([agent])), np.array([t]))
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
        radius: Floats | None = None,
    ) -> CellMeasurements:
        """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

        times : (rows,) when each configuration is assumed. Agents that are absent have no cell; of
        agents with several sensors all cells count together.
        """
        found = [d.measure(positions, row, agent, times, threads, radius) for d in self.diagrams]
        seen = found[0] if len(found) == 1 else together(found)
        return on_ways(self.ground.workspace, seen, positions[row, agent])

    def coincide(self, places: Points) -> bool:
        """Whether two agents of one diagram are at the same position."""
        some = (places if d.members is None else places[d.members] for d in self.diagrams)
        return any(bool(coincident_groups(points)) for points in some)


@final
@dataclass(frozen=True, eq=False)
class Timeline:
    """The phases of a run, and from when to when each agent is present."""

    phases: tuple[Phase, ...]  # the first begins at time 0
    arrivals: Floats | None = None  # (N,) None: all agents are present from the beginning
    departures: Floats | None = None  # (N,) inf for agents that stay; None: all stay
    sensors: tuple[Sensor, ...] = ()

    @property
    def same_agents(self) -> bool:
        """Whether no agent arrives or leaves."""
        return self.arrivals is None

    @cached_property
    def moves(self) -> bool:
        """Whether a density or a workspace moves at some time."""
        return any(phase.ground.moves for phase in self.phases)

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
            World(
                phase.ground,
                phase.network,
                self.present_at(phase.begin),
                tuple(self._diagram(phase, sensor) for sensor in self.sensors),
            )
            for phase in self.phases
        ]

    def _diagram(self, phase: Phase, sensor: Sensor) -> Diagram:
        """The diagram of a sensor in a phase."""
        present, owners = self.present_at(phase.begin), np.array(sensor.owners)
        if present is not None:
            owners = np.intersect1d(owners, present)
        return Diagram(changing_region(phase.workspace, sensor.density), owners)

    def world_at(self, t: float) -> World:
        """The world of the phase at time t."""
        return self.worlds[self.phase_at(t)]

    def present_at(self, t: float) -> Ints | None:
        """The agents that are present at time t; None if all are."""
        if self.arrivals is None or self.departures is None:
            return None
        here = (self.arrivals <= t) & (t < self.departures)
        return None if here.all() else np.flatnonzero(here)

    @property
    def region_changes(self) -> bool:
        """Whether the workspace is not one and the same all the time."""
        moving = any(phase.ground.boundary is not None for phase in self.phases)
        return moving or any(one.workspace is not self.phases[0].workspace for one in self.phases)

    def outside_by(self, positions: Points, agents: Ints, times: Floats) -> Floats:
        """How far each agent is outside the workspace at its own time; 0 for absent agents."""
        found = np.zeros(len(times))
        phase = np.maximum(np.searchsorted(self.begins, times, side="right") - 1, 0)
        for k in np.unique(phase):
            world, own = self.worlds[k], np.flatnonzero(phase == k)
            if world.present is not None:
                own = own[np.isin(agents[own], world.present)]
            if world.ground.boundary is None:
                found[own] = world.ground.workspace.outside_by(positions[own])
                continue
            for t in np.unique(times[own]):
                some = own[times[own] == t]
                site = world.ground.at(float(t)).workspace
                found[some] = site.outside_by(positions[some])
        return found

    def comes_or_goes(self, agents: Ints, times: Floats) -> np.ndarray:
        """Whether each event is the arrival of its agent, or its departure."""
        if self.arrivals is None or self.departures is None:
            return np.zeros(len(times), dtype=bool)
        arrived = (self.arrivals[agents] == times) & (times > 0.0)
        found: np.ndarray = arrived | (self.departures[agents] == times)
        return found

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        *,
        threads: int | None = 1,
        radius: Floats | None = None,
    ) -> CellMeasurements:
        """Measure cells, each in the world of its time: see `World.measure`."""
        if len(self.phases) == 1:
            return self.worlds[0].measure(
                positions, row, agent, times, threads=threads, radius=radius
            )
        phase = np.maximum(np.searchsorted(self.begins, times, side="right") - 1, 0)[row]
        found: list[tuple[Ints, CellMeasurements]] = []
        for k in np.unique(phase):
            which = np.flatnonzero(phase == k)
            own = row[which], agent[which], times
            seen = self.worlds[k].measure(positions, *own, threads=threads, radius=radius)
            found.append((which, seen))
        return in_one(found, len(row), positions.shape[2])

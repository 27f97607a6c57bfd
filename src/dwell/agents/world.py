"""What a sample depends on besides positions: regions, densities, agents present, the network.

At switches another world begins; within a world densities and boundaries may move. A sample at time
t depends on the world at t.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points, in_short, is_whole, listed
from dwell.agents.network import PERFECT, Network
from dwell.agents.start import coincident_groups
from dwell.cells.backend import cells_of
from dwell.cells.weighted_region import WeightedRegion, changing_region
from dwell.density import Density, Mixture, as_density
from dwell.errors import InputError
from dwell.geometry import Workspace
from dwell.geometry.moving import MovingPolygon


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


class Diagram(NamedTuple):
    """A weighted region, and the agents whose cells divide it."""

    ground: WeightedRegion
    members: Ints | None = None  # ascending; None: all agents


@final
@dataclass(frozen=True, eq=False)
class World:
    """What a sample depends on besides positions, from one switch to the next."""

    begin: float
    workspace: Workspace | MovingPolygon
    density: Density
    network: Network = PERFECT
    spacing: float | None = None  # of the integration grid of a world that does not change
    present: Ints | None = None  # the agents that are there, ascending; None: all
    sensors: tuple[Sensor, ...] = ()  # none where all agents sense the same

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density."""
        return changing_region(self.workspace, self.density, self.spacing)

    @cached_property
    def diagrams(self) -> tuple[Diagram, ...]:
        """The diagram of each sensor; one for all agents where all sense the same."""
        if not self.sensors:
            return (Diagram(self.ground, self.present),)
        return tuple(
            Diagram(changing_region(self.workspace, sensor.density), self._owners(sensor))
            for sensor in self.sensors
        )

    def _owners(self, sensor: Sensor) -> Ints:
        """The agents present that have a sensor."""
        owners = np.array(sensor.owners)
        return owners if self.present is None else np.intersect1d(owners, self.present)

    def agents_among(self, positions: Points) -> Ints:
        """The agents that are present."""
        return np.arange(len(positions)) if self.present is None else self.present

    def neighbors(self, positions: Points, agent: int, t: float, among: Ints | None = None) -> Ints:
        """The Voronoi neighbours of an agent at time t, ascending.

        among : the agents that count, ascending; those present by default.
        """
        every = self.agents_among(positions) if among is None else among
        own = int(np.searchsorted(every, agent))
        cell = cells_of(self.ground.at(t).workspace, positions[every], [own])[0]
        neighbors: Ints = every[np.sort(cell.borders[cell.borders >= 0])]
        return neighbors

    def cells_of(self, agent: int) -> int:
        """How many cells an agent has: one for each of its sensors; 0 if it is absent."""
        count = 0
        for _, members in self.diagrams:
            count += members is None or agent in members
        return count

    def coincide(self, places: Points) -> bool:
        """Whether two agents of one diagram are at the same position."""
        some = (places if d.members is None else places[d.members] for d in self.diagrams)
        return any(bool(coincident_groups(points)) for points in some)


@final
@dataclass(frozen=True, eq=False)
class Timeline:
    """The worlds of a run, and from when to when each agent is present.

    Each world gets the agents present in it and the sensors from here.
    """

    worlds: tuple[World, ...]  # the first begins at time 0
    arrivals: Floats | None = None  # (N,) None: all agents are present from the beginning
    departures: Floats | None = None  # (N,) inf for agents that stay; None: all stay
    sensors: tuple[Sensor, ...] = ()

    def __post_init__(self) -> None:
        worlds = (
            replace(world, present=self.present_at(world.begin), sensors=self.sensors)
            for world in self.worlds
        )
        object.__setattr__(self, "worlds", tuple(worlds))

    @property
    def same_agents(self) -> bool:
        """Whether no agent arrives or leaves."""
        return self.arrivals is None

    @cached_property
    def moves(self) -> bool:
        """Whether a density or a workspace moves at some time."""
        return any(world.ground.moves for world in self.worlds)

    @cached_property
    def begins(self) -> list[float]:
        """When each world begins."""
        return [world.begin for world in self.worlds]

    def world_at(self, t: float) -> World:
        """The world at time t; at a switch, the new one."""
        return self.worlds[max(bisect_right(self.begins, t) - 1, 0)]

    def numbers_at(self, times: Floats) -> Ints:
        """The number of the world at each time."""
        numbers: Ints = np.maximum(np.searchsorted(self.begins, times, side="right") - 1, 0)
        return numbers

    def next_switch(self, t: float) -> float:
        """When the next world after time t begins; inf if none does."""
        after = bisect_right(self.begins, max(t, 0.0))
        return self.begins[after] if after < len(self.worlds) else np.inf

    def present_at(self, t: float) -> Ints | None:
        """The agents that are present at time t; None if all are."""
        if self.arrivals is None or self.departures is None:
            return None
        here = (self.arrivals <= t) & (t < self.departures)
        return None if here.all() else np.flatnonzero(here)

    @property
    def region_changes(self) -> bool:
        """Whether the workspace is not one and the same all the time."""
        first = self.worlds[0].workspace
        moving = any(isinstance(world.workspace, MovingPolygon) for world in self.worlds)
        return moving or any(world.workspace is not first for world in self.worlds)

    def outside_by(self, positions: Points, agents: Ints, times: Floats) -> Floats:
        """How far each agent is outside the workspace at its own time; 0 for absent agents."""
        outside = np.zeros(len(times))
        number = self.numbers_at(times)
        for k in np.unique(number):
            world, some = self.worlds[k], np.flatnonzero(number == k)
            if world.present is not None:
                some = some[np.isin(agents[some], world.present)]
            if not isinstance(world.workspace, MovingPolygon):
                outside[some] = world.workspace.outside_by(positions[some])
                continue
            for t in np.unique(times[some]):
                now = some[times[some] == t]
                outside[now] = world.workspace.now(float(t)).outside_by(positions[now])
        return outside

    def comes_or_goes(self, agents: Ints, times: Floats) -> np.ndarray:
        """Whether each event is the arrival of its agent, or its departure."""
        if self.arrivals is None or self.departures is None:
            return np.zeros(len(times), dtype=bool)
        arrived = (self.arrivals[agents] == times) & (times > 0.0)
        changes: np.ndarray = arrived | (self.departures[agents] == times)
        return changes

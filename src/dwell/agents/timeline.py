"""Switches of the world, and the timeline that they make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, finite_number, has_truth_value, in_short, is_whole, listed
from dwell.agents.network import Network, as_network
from dwell.agents.start import check_start
from dwell.agents.world import Sensor, Timeline, World
from dwell.density import Density, as_density
from dwell.density.moving import density_at, keyframe_times, moves, tracks_of
from dwell.density.support import check_density
from dwell.errors import AgentsError, DensityError, InputError
from dwell.geometry import Polygon, Workspace, as_workspace
from dwell.geometry.moving import MovingPolygon


@final
@dataclass(frozen=True, eq=False)
class Switch:
    """A change of the world at one time; what is None stays as it is.

    A sample at that very time sees the new world.

    Parameters
    ----------
    at : float
        The time, above 0.
    workspace : workspace or MovingPolygon, optional
        The new region.
    density : density or callable, optional
        The new density.
    network : Network, optional
        The new network.
    leave : sequence of int
        Numbers of the agents that leave.
    arrive : array_like
        Positions of agents that arrive, (k, n). They are numbered after all agents before them.

    Examples
    --------
    >>> import dwell
    >>> law, site = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2), dwell.Interval(0, 1)
    >>> wider = dwell.Switch(at=5.0, workspace=dwell.Interval(0, 2))
    >>> run = dwell.simulate(site, None, [0.25, 0.75], law, until=40.0, switches=[wider])
    >>> run.positions(40.0).ravel().round(6).tolist()
    [0.5, 1.5]
    """

    at: float
    workspace: Workspace | MovingPolygon | None = None
    density: Density | None = None
    network: Network | None = None
    leave: tuple[int, ...] = ()
    arrive: Points = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        at = finite_number(self.at)
        if at is None or at <= 0.0:
            raise _refused("from", in_short(self.at), "a time above 0")
        object.__setattr__(self, "at", at)
        if self.workspace is not None and not isinstance(self.workspace, MovingPolygon):
            object.__setattr__(self, "workspace", as_workspace(self.workspace))
        if self.density is not None:
            object.__setattr__(self, "density", as_density(self.density))
        if self.network is not None:
            as_network(self.network)
        leave = listed(self.leave)
        if not all(is_whole(p) and p >= 0 for p in leave) or len(set(leave)) < len(leave):
            need = "a list of different agents' numbers, from 0 on,"
            raise _refused("leave", in_short(self.leave), need)
        object.__setattr__(self, "leave", tuple(map(int, leave)))
        try:
            arrive = np.array(self.arrive, dtype=object)
        except (TypeError, ValueError):
            raise _refused("arrive", self.arrive, "a list of positions") from None
        if arrive.ndim == 0 or has_truth_value(self.arrive):
            raise _refused("arrive", in_short(self.arrive), "a list of positions")
        object.__setattr__(self, "arrive", arrive)


def timeline_of(
    workspace: Workspace | MovingPolygon,
    density: Density,
    network: Network,
    start: Points,
    switches: Sequence[Switch],
    until: float,
    sensors: Sequence[Sensor] = (),
) -> tuple[Timeline | None, Points]:
    """The timeline of a world and its switches, and the start with the agents that arrive.

    None if nothing changes.
    """
    still = not isinstance(workspace, MovingPolygon) and not moves(density)
    if still and not switches and not sensors:
        return None, start
    worlds, keys = [World(0.0, workspace, density, network)], [("workspace", "density")]
    arrivals, departures = np.zeros(len(start)), np.full(len(start), np.inf)
    for k, switch in enumerate(switches):
        before = worlds[-1]
        if not switch.at > before.begin:
            need = f"a time after that of the world before it, {before.begin!r},"
            raise _refused(f"[{k}].from", switch.at, need)
        worlds.append(
            World(
                switch.at,
                before.workspace if switch.workspace is None else switch.workspace,
                before.density if switch.density is None else switch.density,
                before.network if switch.network is None else switch.network,
            )
        )
        site, weight = keys[-1]
        site = site if switch.workspace is None else f"world[{k}].workspace"
        keys.append((site, weight if switch.density is None else f"world[{k}].density"))
        _leave(k, switch, arrivals, departures)
        if switch.arrive.size:
            new = _arriving(k, switch, worlds[-1])
            start = np.vstack([start, new])
            arrivals = np.append(arrivals, np.full(len(new), switch.at))
            departures = np.append(departures, np.full(len(new), np.inf))
        if not ((arrivals <= switch.at) & (switch.at < departures)).any():
            raise _refused(f"[{k}].leave", switch.leave, "a list that leaves at least one agent")
    come_and_go = bool(arrivals.any() or np.isfinite(departures).any())
    timeline = Timeline(
        tuple(worlds),
        arrivals if come_and_go else None,
        departures if come_and_go else None,
        tuple(sensors),
    )
    _check_worlds(timeline, keys, until)
    _check_owners(timeline, len(start))
    return timeline, start


def _check_worlds(timeline: Timeline, keys: Sequence[tuple[str, str]], until: float) -> None:
    """Check each world, with the keys of its workspace and its density; or each sensor in it."""
    ends = [*timeline.begins[1:], math.inf]
    for world, end, (site, weight) in zip(timeline.worlds, ends, keys, strict=True):
        own = {weight: world} if not timeline.sensors else {}
        for k, sensor in enumerate(timeline.sensors):
            own[f"sensor[{k}].density"] = replace(world, density=sensor.density)
        for key, one in own.items():
            check_world(one, min(end, until), timeline.worlds[0].workspace.dimension, site, key)


def _check_owners(timeline: Timeline, agents: int) -> None:
    """Refuse sensors without owner, owners that are no agents, and agents without sensor."""
    if not timeline.sensors:
        return
    owned = sorted({p for sensor in timeline.sensors for p in sensor.owners})
    if owned[-1] >= agents:
        need = f"the number of an agent, from 0 to {agents - 1},"
        raise _refused("agents.sensors", f"that of agent {owned[-1]}", need)
    without = sorted(set(range(agents)) - set(owned))
    if without:
        need = "at least one sensor for each agent"
        raise _refused("agents.sensors", f"without any for agent {without[0]}", need)
    for world in timeline.worlds:
        for sensor, diagram in zip(timeline.sensors, world.diagrams, strict=True):
            if diagram.members is not None and not len(diagram.members):
                need = "an owner that is present at all times"
                where = f'such that "{sensor.name}" has none from t = {world.begin:g} on'
                raise _refused("agents.sensors", where, need)


def _leave(k: int, switch: Switch, arrivals: Floats, departures: Floats) -> None:
    """Note the agents that leave; refuse those that are not there."""
    for p in switch.leave:
        if p >= len(arrivals) or not arrivals[p] < switch.at < departures[p]:
            need = f"the number of an agent that is present before t = {switch.at:g}"
            raise _refused(f"[{k}].leave", p, need)
        departures[p] = switch.at


def _arriving(k: int, switch: Switch, world: World) -> Points:
    """The positions of agents that arrive, checked."""
    site = world.ground.at(switch.at).workspace
    try:
        return check_start(site, switch.arrive.tolist())[0]
    except AgentsError as fault:
        key = (fault.key or "agents.start").replace("agents.start", f"world[{k}].arrive")
        raise AgentsError(f"of those that arrive {fault}", code=fault.code, key=key) from None


def check_world(
    world: World, end: float, dimension: int, site: str = "workspace", weight: str = "density"
) -> None:
    """Refuse a world of another dimension, one that is not known long enough, and bad densities.

    site, weight : the keys of workspace and density.
    """
    known: list[tuple[str, Any]] = [(f"{weight}.{n}", t) for n, t in tracks_of(world.density)]
    times = {world.begin, *keyframe_times(world.density)}
    if isinstance(world.workspace, MovingPolygon):
        known.append((f"{site}.vertices", world.workspace.vertices))
        times |= set(world.workspace.vertices.times)
    if world.workspace.dimension != dimension:
        need = f"a workspace of {dimension} dimensions, as before,"
        raise _refused(site, f"of {world.workspace.dimension} dimensions", need)
    for name, track in known:
        if track.first > world.begin:
            need = f"a first keyframe at t = {world.begin:g}, when it begins, or before"
            raise _refused(f"{name}.times", track.first, need)
        if track.last < end:
            need = f'keyframes up to t = {end:g}, or after = "hold",'
            raise _refused(f"{name}.times", f"known until {track.last:g} only", need)
    for t in sorted(t for t in times if world.begin <= t):
        _check_density(weight, world, t, world.ground.at(t).workspace)
    if isinstance(world.workspace, MovingPolygon):  # and on all that the boundary sweeps over
        for earlier, later in pairwise(sorted(times)):
            ends = [world.ground.at(t).hull.vertices for t in (earlier, later)]
            swept = Polygon.hull_of(np.vstack(ends))
            for t in (earlier, later):
                _check_density(weight, world, t, swept)


def _check_density(key: str, world: World, t: float, site: Workspace) -> None:
    """Refuse a density that is not one on a workspace at a time."""
    try:
        check_density(density_at(world.density, t), site)
    except DensityError as fault:
        if t == 0.0:
            raise
        raise DensityError(f"at t = {t:g} {fault}", code=fault.code, key=key) from None


def _refused(name: str, value: object, need: str) -> InputError:
    shown = value if isinstance(value, str) else in_short(value)
    key = f"world{name}" if name.startswith("[") else name
    key = f"world.{name}" if name in ("from", "leave", "arrive") else key
    return InputError(f"{key} is {shown}; {need} is needed", code="world", key=key)

"""What a law lets an agent know at a sample: of other agents, and of how the world changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Points
from dwell.agents.interfaces import Information, Message, Sample
from dwell.agents.world import World
from dwell.cells.centroid_rate import centroid_rate, centroid_rates
from dwell.cells.measurement import CellMeasurement

if TYPE_CHECKING:
    from dwell.agents.state import AgentsState


def neighbors_seen(world: World, positions: Points, agent: int, when: float, now: float) -> Sample:
    """The Voronoi neighbours of an agent; `positions` are those at time `when`, up to now."""
    who = world.neighbors(positions, agent, now)
    return Sample(when, who, for_reading(positions[who]))


def others_seen(
    known: Information,
    world: World,
    state: AgentsState,
    agent: int,
    positions: Points,
    when: float,
) -> Sample | None:
    """The sample of other agents under a law with this information; None for no such law."""
    if known.others == "everybody":
        every = world.agents_among(positions)
        return Sample(when, every, for_reading(positions[every]))
    if known.others not in ("samples", "velocities"):
        return None
    sample = neighbors_seen(world, positions, agent, when, state.time)
    if known.others == "velocities":
        velocities = state.velocities_then(when)[sample.agents]
        sample = replace(sample, velocities=for_reading(velocities))
    return sample


def centroid_rate_of(
    known: Information, world: World, now: float, agent: int, positions: Points
) -> Callable[[], Points]:
    """`rate` of an observation: of the centroid of the agent's cell, or of all cells."""
    every = world.agents_among(positions)
    if known.others == "everybody":
        return partial(centroid_rates, world.ground, positions[every], now)
    own = int(np.searchsorted(every, agent))
    return partial(centroid_rate, world.ground, positions[every], own, now)


def positions_received(known: Information, world: World, cell: CellMeasurement, agents: int) -> int:
    """How many positions of other agents a sample contains."""
    if known.others != "everybody":
        return cell.neighbors
    return (agents if world.present is None else len(world.present)) - 1


def heard_by(heard: Mapping[int, Message]) -> Mapping[int, Message]:
    """Messages, with copies of their data, through which a controller cannot change others'."""
    if all(message.data is None for message in heard.values()):
        return heard
    return {
        sender: replace(message, data=deepcopy(message.data)) for sender, message in heard.items()
    }


def for_reading(points: Points) -> Points:
    """A read-only copy, through which a controller cannot change the state."""
    copy = points.copy()
    copy.setflags(write=False)
    return copy

"""What a law lets an agent know at a sample: of other agents, and of how the world changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Points
from dwell.agents.interfaces import CellMeasurement, Information, Sample
from dwell.agents.world import World

if TYPE_CHECKING:
    from dwell.agents.state import AgentsState


def neighbors_seen(world: World, positions: Points, agent: int, when: float, now: float) -> Sample:
    """The Voronoi neighbours of an agent; `positions` are those at time `when`, up to now."""
    who = world.neighbors(positions, agent, now)
    return Sample(when, who, _for_reading(positions[who]))


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
        return Sample(when, every, _for_reading(positions[every]))
    if known.others not in ("samples", "velocities"):
        return None
    sample = neighbors_seen(world, positions, agent, when, state.time)
    if known.others == "velocities":
        velocities = state.velocities_then(when)[sample.agents]
        sample = replace(sample, velocities=_for_reading(velocities))
    return sample


def changes_known(
    known: Information, world: World, now: float, agent: int, positions: Points
) -> tuple[Callable[[], Points] | None, Callable[[float], Points] | None]:
    """`rate` and `ahead` of an observation under a law with this information."""
    if known.world == "now":
        return None, None
    rate = partial(world.rate, positions, now, agent)
    if known.others == "everybody":
        rate = partial(world.rates, positions, now)
    return rate, partial(world.error, positions, agent) if known.world == "forecast" else None


def positions_received(known: Information, world: World, cell: CellMeasurement, agents: int) -> int:
    """How many positions of other agents a sample contains."""
    if known.others != "everybody":
        return cell.neighbors
    return (agents if world.present is None else len(world.present)) - 1


def _for_reading(points: Points) -> Points:
    """A read-only copy, through which a controller cannot change the state."""
    copy = np.array(points)
    copy.setflags(write=False)
    return copy

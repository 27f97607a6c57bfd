"""WorldAt: the world of a run at one time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Ints
from dwell.agents import CoverageSystem
from dwell.density import Density
from dwell.geometry import Workspace


@final
@dataclass(frozen=True, eq=False)
class WorldAt:
    """The world at one time of a run.

    Attributes
    ----------
    workspace : workspace
        The region that the agents cover.
    density : density
        Its density; of agents with different sensors, the sum over the sensors.
    agents : numpy.ndarray
        The numbers of the agents present, ascending.
    """

    workspace: Workspace
    density: Density
    agents: Ints

    @classmethod
    def of(cls, system: CoverageSystem, time: float) -> WorldAt:
        """The world of a system at a time."""
        ground, present = system.ground_at(time), system.world_at(time).present
        every = np.arange(system.agents)
        return cls(ground.workspace, ground.density, every if present is None else present)

"""Plants: the robots that agents move, real or simulated."""

from __future__ import annotations

from typing import NamedTuple, Protocol, final

import numpy as np

from dwell._types import Points
from dwell.agents.segments import Segments


class Pose(NamedTuple):
    """A position, and when it was measured by the agent's clock."""

    position: Points
    time: float


class Plant(Protocol):
    """A robot that measures its position and holds a velocity."""

    exact: bool  # whether positions follow from the held velocities in closed form

    def pose(self, now: float) -> Pose:
        """The last measured position."""
        ...

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from now on, for at most `cruise` seconds, then stand."""
        ...

    def stop(self, now: float) -> None:
        """Stand from now on."""
        ...

    def close(self) -> None:
        """Stand, and release the robot."""
        ...


@final
class Integrator:
    """A robot whose position is the exact integral of its velocity."""

    exact = True

    def __init__(self, position: Points, fade: float, now: float = 0.0) -> None:
        self._decay, self._pose = fade, Pose(position, now)
        self._segment: Segments
        self.hold(np.zeros(len(position)), now, np.inf)

    def pose(self, now: float) -> Pose:
        """The position at this very time."""
        if now != self._pose.time:
            self._pose = Pose(self._segment.at(now)[0], now)
        return self._pose

    def velocity(self, now: float) -> Points:
        """The velocity at this very time."""
        velocity: Points = self._segment.velocity_at(now)[0]
        return velocity

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from the present position."""
        begun = self.pose(now).position[None]
        since, limit, ends = np.array([now]), np.array([cruise]), np.full(1, np.inf)
        self._segment = Segments(since, begun, velocity[None], ends, limit, self._decay)

    def stop(self, now: float) -> None:
        """Stand from now on."""
        self.hold(np.zeros(self._segment.place.shape[1]), now, np.inf)

    def close(self) -> None:
        """Nothing is open."""

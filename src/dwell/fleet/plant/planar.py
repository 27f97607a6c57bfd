"""Robots of the plane: which of their points is the agent, and how that point is steered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Points
from dwell.errors import InputError

AXES = ("base", "map", "unicycle")
CODE = "plant.drive"


@final
@dataclass(frozen=True, slots=True)
class Steering:
    """How a robot takes velocities.

    Parameters
    ----------
    axes : "base" for velocities forward and to the left, "map" for the axes in which the robot
        measures its position, "unicycle" for forward and a yaw rate (wheels on one axle).
    ahead : the agent is the point this far ahead of the robot's own, in metres. A unicycle needs
        one: the point ahead of the axle can move in every direction, the centre cannot.
    origin : position and yaw, in the workspace, of the axes in which the robot measures; the yaw
        is 0 unless given.
    """

    axes: str = "base"
    ahead: float = 0.0
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.axes not in AXES:
            says = f"axes are {self.axes!r}; {', '.join(AXES)} are possible"
            raise InputError(says, code=CODE, key="axes")
        if self.axes == "unicycle" and not self.ahead > 0.0:
            says = f"ahead is {self.ahead:g}; a unicycle needs a point ahead of its axle"
            raise InputError(f"{says}, such as 0.1", code=CODE, key="ahead")
        if len(self.origin) not in (2, 3):
            says = f"origin is {self.origin}; x and y are needed, and a yaw if it is not 0"
            raise InputError(f"{says}, such as 1/2 or 1/2/0.5", code=CODE, key="origin")
        object.__setattr__(self, "origin", (*self.origin, 0.0)[:3])

    @property
    def needs_yaw(self) -> bool:
        """Whether position or command depend on the robot's yaw."""
        return self.axes != "map" or self.ahead != 0.0

    def position(self, x: float, y: float, yaw: float) -> Points:
        """Where the agent is in the workspace."""
        point = np.array([x + self.ahead * math.cos(yaw), y + self.ahead * math.sin(yaw)])
        place: Points = np.array(self.origin[:2]) + rotated(point, self.origin[2])
        return place

    def command(self, velocity: Points, yaw: float) -> tuple[float, float, float]:
        """The velocity of the robot along its two axes, and its yaw rate, that move the agent."""
        turned = self.origin[2] + (0.0 if self.axes == "map" else yaw)
        along, across = rotated(velocity, -turned).tolist()
        if self.axes == "unicycle":
            return along, 0.0, across / self.ahead
        return along, across, 0.0


def rotated(vector: Points, angle: float) -> Points:
    """A vector turned to the left."""
    if angle == 0.0:
        return vector
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])

"""Robots of ROS 2: names and types of their topics, and what their messages contain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from dwell.errors import InputError
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.remote import RemotePlant

POSITIONS = ("nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped")
VELOCITIES = ("geometry_msgs/msg/TwistStamped", "geometry_msgs/msg/Twist")


@final
@dataclass(frozen=True, slots=True)
class RosTopics:
    """Names and types of the topics of one robot, and how it is steered.

    Parameters
    ----------
    namespace : of the robot; `{agent}` stands for the number of the agent.
    position, velocity : names of the topics; those that begin with a slash ignore the namespace.
    position_type : "Odometry" or "PoseStamped".
    velocity_type : "TwistStamped" or "Twist".
    frame : of stamped velocities.
    steering : in which axes velocities are.
    """

    namespace: str = "/agent_{agent}"
    position: str = "odom"
    position_type: str = "Odometry"
    velocity: str = "cmd_vel"
    velocity_type: str = "TwistStamped"
    frame: str = ""
    steering: Steering = field(default_factory=Steering)

    def name(self, topic: str, agent: int) -> str:
        """The full name of a topic."""
        space = self.namespace.format(agent=agent).strip("/")
        return topic if topic.startswith("/") else f"/{space}/{topic}" if space else f"/{topic}"

    @property
    def types(self) -> tuple[str, str]:
        """The full names of the types of positions and of velocities."""
        return _one_of(self.position_type, POSITIONS), _one_of(self.velocity_type, VELOCITIES)


class RosPlant(RemotePlant):
    """A robot whose messages are those of ROS 2, in whatever way they travel."""

    def __init__(self, clock: Callable[[], float], topics: RosTopics, fade: float) -> None:
        super().__init__(clock, 2, fade)
        self._steering, self._yaw = topics.steering, 0.0

    def _receive(self, message: Any) -> None:
        """Take in a message with a position."""
        x, y, yaw = planar_pose(message)
        if not math.isfinite(yaw):
            return self._arrived(np.full(2, math.nan))
        self._yaw = yaw
        return self._arrived(self._steering.position(x, y, yaw))


def planar_pose(message: Any) -> tuple[float, float, float]:
    """Position and yaw in a message; an Odometry has its pose beside a covariance."""
    pose = getattr(message.pose, "pose", message.pose)
    q = pose.orientation
    yaw = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
    return pose.position.x, pose.position.y, yaw


def _one_of(name: str, types: tuple[str, ...]) -> str:
    for one in types:
        if name in (one, one.rpartition("/")[2]):
            return one
    possible = " and ".join(one.rpartition("/")[2] for one in types)
    raise InputError(f"the type of a topic is {name!r}; {possible} are possible", code="plant.ros")

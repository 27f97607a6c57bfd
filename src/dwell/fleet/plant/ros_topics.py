"""Robots of ROS 2: names and types of their topics, and what their messages contain."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from dwell._types import Points
from dwell.errors import InputError
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.remote import RemotePlant

POSITIONS = ("nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped")
UNSET = 1e-3  # norm of a quaternion that is none; that of a rotation is 1
AHEAD = 0.05  # seconds by which a stamp may be ahead of the clock that it is compared with
STALE = 0.5  # seconds after which a yaw steers no velocity; drives have such a command time-out
VELOCITIES = ("geometry_msgs/msg/TwistStamped", "geometry_msgs/msg/Twist")


@final
@dataclass(frozen=True, slots=True)
class RosTopics:
    """Names and types of the topics of one robot, and how it is steered.

    Parameters
    ----------
    namespace : of the robot.
    position, velocity : names of the topics; those that begin with a slash ignore the namespace.
        In all names `{agent}` stands for the number of the agent.
    position_type : "Odometry" or "PoseStamped".
    velocity_type : "TwistStamped" or "Twist".
    frame : of stamped velocities.
    pose_frame : of positions, others are dropped; that of the first one unless given.
    steering : in which axes velocities are.
    """

    namespace: str = "/agent_{agent}"
    position: str = "odom"
    position_type: str = "Odometry"
    velocity: str = "cmd_vel"
    velocity_type: str = "TwistStamped"
    frame: str = ""
    pose_frame: str = ""
    steering: Steering = field(default_factory=Steering)

    def name(self, topic: str, agent: int) -> str:
        """The full name of a topic."""
        full = topic if topic.startswith("/") else f"/{self.namespace.strip('/')}/{topic}"
        try:
            return full.format(agent=agent).replace("//", "/")
        except (LookupError, ValueError, AttributeError):
            says = f"a topic is {full!r}; it can contain {{agent}}, and no other braces"
            raise InputError(says, code="plant.ros") from None

    @property
    def types(self) -> tuple[str, str]:
        """The full names of the types of positions and of velocities."""
        return _one_of(self.position_type, POSITIONS), _one_of(self.velocity_type, VELOCITIES)


class RosPlant(RemotePlant):
    """A robot whose messages are those of ROS 2, in whatever way they travel."""

    def __init__(
        self, agent: int, clock: Callable[[], float], topics: RosTopics | None, fade: float
    ) -> None:
        topics = topics or RosTopics()
        super().__init__(clock, 2, fade)
        self._steering, self._frame, self._yaw = topics.steering, topics.frame, 0.0
        self._pose_frame = topics.pose_frame
        self._types, self._name = topics.types, f"dwell_agent_{agent}"
        self._source, self._out = (
            topics.name(one, agent) for one in (topics.position, topics.velocity)
        )

    def _receive(self, message: Any) -> None:
        """Take in a message with a position.

        It is as old as its stamp says; without a stamp it is dated by its arrival.
        """
        frame, age = message.header.frame_id, self._age_of(message.header.stamp)
        self._pose_frame = self._pose_frame or frame
        if frame != self._pose_frame:
            says = f"{self._source} has a position in the frame {frame!r}"
            self._drop(f"{says}, but {self._pose_frame!r} is needed; it is not used")
            return
        if age < -AHEAD:
            says = f"{self._source} has a stamp that is ahead of this clock by {-age:.2g} s"
            self._drop(f"{says}; set the clocks of robot and agent by the same source")
            return
        x, y, yaw = planar_pose(message)
        if self._steering.needs_yaw:
            self._yaw = yaw if math.isfinite(yaw) else self._yaw
        else:
            yaw = 0.0
        self._arrived(self._steering.position(x, y, yaw), max(age, 0.0))

    def _age_of(self, stamp: Any) -> float:
        """The age by a stamp; 0 for one that is unset."""
        seconds = stamp.sec + 1e-9 * stamp.nanosec
        return self._now() - seconds if seconds else 0.0

    def _now(self) -> float:
        """The time by the clock of stamps."""
        return time.time()

    def _command(self, velocity: Points) -> tuple[float, float, float]:
        """The command for a velocity; zero while the yaw that it needs is old."""
        if self._steering.axes != "map" and self._age() > STALE:
            return 0.0, 0.0, 0.0
        return self._steering.command(np.asarray(velocity), self._yaw)


def planar_pose(message: Any) -> tuple[float, float, float]:
    """Position and yaw in a message, nan for a quaternion that is unset.

    An Odometry has its pose beside a covariance.
    """
    pose = getattr(message.pose, "pose", message.pose)
    x, y, z, w = (getattr(pose.orientation, axis) for axis in "xyzw")
    yaw = math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    norm = math.hypot(x, y, z, w)
    return pose.position.x, pose.position.y, yaw if UNSET < norm < 1.0 / UNSET else math.nan


def _one_of(name: str, types: tuple[str, ...]) -> str:
    for one in types:
        if name in (one, one.rpartition("/")[2]):
            return one
    possible = " and ".join(one.rpartition("/")[2] for one in types)
    raise InputError(f"the type of a topic is {name!r}; {possible} are possible", code="plant.ros")

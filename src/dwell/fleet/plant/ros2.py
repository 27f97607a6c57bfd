"""Ros2Plant: a ROS 2 robot through `rclpy`, which comes with ROS."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, final

from dwell._need import need
from dwell._types import Points
from dwell.fleet.plant.remote import MISSING
from dwell.fleet.plant.ros_topics import RosPlant, RosTopics

INSTALL = (
    "source the setup file of your ROS 2, or install the wheels "
    '"ros-jazzy-rclpy[fastrtps]" ros-jazzy-geometry-msgs ros-jazzy-nav-msgs '
    "in an environment of their own"
)


@final
class Ros2Plant(RosPlant):
    """One robot, with a node and a context of its own.

    Parameters
    ----------
    agent : its number, which is in the names of its topics.
    clock : the time of the law, in seconds.
    topics : names and types.
    domain : the ROS domain; that of the environment unless given.
    patience : seconds to wait for the first position.
    """

    def __init__(
        self,
        agent: int,
        clock: Callable[[], float],
        topics: RosTopics | None = None,
        *,
        fade: float = math.inf,
        domain: int | None = None,
        patience: float = 10.0,
    ) -> None:
        super().__init__(agent, clock, topics, fade)
        position, self._velocity = (_message_type(name) for name in self._types)
        rclpy, qos, executors, signals = (
            need(name, "a ROS 2 robot needs", "", code=MISSING, advice=INSTALL)
            for name in ("rclpy", "rclpy.qos", "rclpy.executors", "rclpy.signals")
        )
        self._context = rclpy.Context()
        rclpy.init(
            context=self._context, domain_id=domain,
            signal_handler_options=signals.SignalHandlerOptions.NO,
        )  # fmt: skip
        self._node = rclpy.create_node(
            self._name, context=self._context, enable_rosout=False,
            start_parameter_services=False,
        )  # fmt: skip
        self._node.create_subscription(
            position, self._source, self._receive, qos.qos_profile_sensor_data
        )
        self._publisher = self._node.create_publisher(self._velocity, self._out, 1)
        self._executor = executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._spinning = threading.Thread(target=self._spin, daemon=True)
        self._spinning.start()
        self._begin(patience, self._source)

    def _spin(self) -> None:
        while self._context.ok():
            self._executor.spin_once(timeout_sec=0.2)

    def _now(self) -> float:
        return float(self._node.get_clock().now().nanoseconds * 1e-9)

    def _send(self, velocity: Points) -> None:
        message = self._velocity()
        twist = getattr(message, "twist", message)
        if twist is not message:
            message.header.stamp = self._node.get_clock().now().to_msg()
            message.header.frame_id = self._frame
        twist.linear.x, twist.linear.y, twist.angular.z = self._command(velocity)
        self._publisher.publish(message)

    def _release(self) -> None:
        self._executor.shutdown()
        self._context.try_shutdown()
        self._spinning.join()
        self._node.destroy_node()


def _message_type(name: str) -> Any:
    package, kind, message = name.split("/")
    return getattr(
        need(f"{package}.{kind}", "a ROS 2 robot needs", "", code=MISSING, advice=INSTALL), message
    )

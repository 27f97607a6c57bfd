"""Robots by name, as a command line gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dwell.errors import InputError
from dwell.fleet.plant import Plant
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.ros_topics import RosTopics

CODE = "plant.kind"
TOPICS = (
    "namespace",
    "position",
    "position_type",
    "velocity",
    "velocity_type",
    "frame",
    "pose_frame",
)
STEERING = ("axes", "ahead", "origin")
OWN = {
    "ros2": ("domain", "patience"),
    "rmw-zenoh": ("domain", "patience", "router", "distribution"),
    "mavlink": ("address", "baud", "axes", "origin", "system", "patience"),
}
NUMBERS: dict[str, Callable[[str], Any]] = {
    "ahead": float, "patience": float, "domain": int, "system": int, "baud": int,
    "origin": lambda text: tuple(float(part) for part in text.split("/")),
}  # fmt: skip


def open_plant(
    text: str, agent: int, clock: Callable[[], float], dimension: int, fade: float
) -> Plant:
    """The robot that a text names: its kind, and settings after a colon.

    Such as ``ros2:axes=unicycle,ahead=0.1`` or ``mavlink:address=udpin:127.0.0.1:14540``; the
    coordinates of an `origin` have slashes between them.
    """
    kind, _, rest = text.partition(":")
    if kind not in OWN:
        raise InputError(f"the robot is {kind!r}; {', '.join(OWN)} are possible", code=CODE)
    given = dict(_setting(kind, part) for part in rest.split(",") if part)
    if kind == "mavlink":
        from dwell.fleet.plant.mavlink import MavlinkPlant

        if "address" not in given:
            says = "a robot on MAVLink needs an address, such as udpin:127.0.0.1:14540"
            raise InputError(says, code=CODE)
        return MavlinkPlant(given.pop("address"), clock, dimension=dimension, fade=fade, **given)
    if dimension != 2:
        says = f"the workspace has {dimension} dimensions; robots of ROS 2 have 2"
        raise InputError(says, code=CODE)
    steering = Steering(**{name: given.pop(name) for name in STEERING if name in given})
    topics = {name: given.pop(name) for name in TOPICS if name in given}
    named = RosTopics(**topics, steering=steering)
    if kind == "ros2":
        from dwell.fleet.plant.ros2 import Ros2Plant

        return Ros2Plant(agent, clock, named, fade=fade, **given)
    from dwell.fleet.plant.rmw_zenoh import RmwZenohPlant

    return RmwZenohPlant(agent, clock, named, fade=fade, **given)


def _setting(kind: str, part: str) -> tuple[str, Any]:
    """Name and value of a setting."""
    name, _, value = part.partition("=")
    possible = OWN[kind] if kind == "mavlink" else (*TOPICS, *STEERING, *OWN[kind])
    if name not in possible:
        says = f"{kind} has no setting {name!r}; {', '.join(possible)} are possible"
        raise InputError(says, code=CODE)
    try:
        return name, NUMBERS.get(name, str)(value)
    except ValueError:
        raise InputError(f"{name} is {value!r}; a number is needed", code=CODE) from None

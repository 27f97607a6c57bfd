"""Robots by name: settings reach the robot, others are refused in one sentence."""

import math
from typing import Any

import pytest

import dwell
from dwell.fleet.plant import kinds, mavlink, rmw_zenoh, ros2
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.ros_topics import RosTopics


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What robots were made with."""
    found: list[Any] = []

    def keep(*arguments: Any, **settings: Any) -> str:
        found.append((arguments, settings))
        return "robot"

    for module, name in (
        (ros2, "Ros2Plant"), (rmw_zenoh, "RmwZenohPlant"), (mavlink, "MavlinkPlant"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, keep)
    return found


@pytest.mark.parametrize(
    ("text", "arguments", "settings"),
    [
        ("ros2", (3, float, RosTopics()), {}),
        (
            "ros2:axes=map,origin=1/2",
            (3, float, RosTopics(steering=Steering("map", 0.0, (1.0, 2.0, 0.0)))),
            {},
        ),
        (
            "ros2:axes=unicycle,ahead=0.1,origin=1/2/0.5,velocity_type=Twist,domain=7",
            (3, float, RosTopics(
                velocity_type="Twist", steering=Steering("unicycle", 0.1, (1.0, 2.0, 0.5))
            )),
            {"domain": 7},
        ),
        (
            "rmw-zenoh:namespace=/r{agent},router=tcp/10.0.0.2:7447,distribution=humble",
            (3, float, RosTopics(namespace="/r{agent}")),
            {"router": "tcp/10.0.0.2:7447", "distribution": "humble"},
        ),
        (
            "mavlink:address=/dev/ttyACM0,baud=57600,system=4,axes=ned,origin=1/2",
            ("/dev/ttyACM0", float),
            {"baud": 57600, "system": 4, "axes": "ned", "origin": (1.0, 2.0), "dimension": 2},
        ),
    ],
)  # fmt: skip
def test_settings_reach_the_robot(made, text, arguments, settings):
    assert kinds.open_plant(text, 3, float, 2, math.inf) == "robot"
    assert made == [(arguments, {"fade": math.inf, **settings})]


@pytest.mark.parametrize(
    ("text", "dimension", "says"),
    [
        ("crazyflie", 2, "'crazyflie'; ros2, rmw-zenoh, mavlink are possible"),
        ("ros2:router=tcp/1", 2, "ros2 has no setting 'router'; namespace, .* are possible"),
        ("ros2:ahead=far", 2, "ahead is 'far'; a number is needed"),
        ("ros2:origin=1;2", 2, "origin is '1;2'; a number is needed"),
        ("ros2:origin=1", 2, "x and y are needed, and a yaw"),
        ("mavlink:address=/dev/ttyACM0,baud=fast", 2, "baud is 'fast'; a number is needed"),
        ("ros2", 3, "3 dimensions; robots of ROS 2 have 2"),
        ("mavlink", 2, "needs an address, such as"),
    ],
)
def test_what_is_not_known_is_refused(text, dimension, says):
    with pytest.raises(dwell.InputError, match=says):
        kinds.open_plant(text, 0, float, dimension, math.inf)

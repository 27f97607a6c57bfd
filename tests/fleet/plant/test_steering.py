"""Robots of the plane: where the agent is, and which command moves it as wanted."""

import importlib
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dwell
from dwell.fleet.plant.mavlink import MavlinkPlant
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.rmw_zenoh import RmwNode, RmwZenohPlant, RosTypes
from dwell.fleet.plant.robotarium import RobotariumTable
from dwell.fleet.plant.ros_topics import RosTopics

number = st.floats(-3.0, 3.0)
vector = st.tuples(number, number).map(np.array)


def moved(steering: Steering, x: float, y: float, yaw: float, command, dt: float):
    """The pose of a robot in its own axes after a short time with a command."""
    along, across, rate = command
    turn = 0.0 if steering.axes == "map" else yaw
    c, s = math.cos(turn), math.sin(turn)
    return x + dt * (c * along - s * across), y + dt * (s * along + c * across), yaw + dt * rate


@given(
    st.sampled_from(["map", "base", "unicycle"]), number, number, number, vector,
    st.tuples(number, number, number),
)  # fmt: skip
def test_the_agent_moves_with_the_velocity_that_was_decided(axes, x, y, yaw, velocity, origin):
    steering = Steering(axes, 0.1 if axes == "unicycle" else 0.0, origin)
    dt = 1e-7
    command = steering.command(velocity, yaw)
    after = steering.position(*moved(steering, x, y, yaw, command, dt))
    assert (after - steering.position(x, y, yaw)) / dt == pytest.approx(velocity, abs=1e-4)


def test_a_unicycle_drives_forward_and_turns_alone():
    along, across, rate = Steering("unicycle", 0.2).command(np.array([0.0, 0.3]), 0.0)
    assert (along, across, rate) == pytest.approx((0.0, 0.0, 1.5))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"axes": "world"}, "map, base, unicycle"), ({"axes": "unicycle"}, "point ahead of its axle")],
)
def test_steering_that_cannot_work_is_refused(wrong, says):
    with pytest.raises(dwell.InputError, match=says):
        Steering(**wrong)


@pytest.mark.parametrize(
    ("space", "topic", "full"),
    [
        ("/agent_{agent}", "odom", "/agent_3/odom"),
        ("robots/r{agent}/", "odom", "/robots/r3/odom"),
        ("", "odom", "/odom"),
        ("/agent_{agent}", "/vicon/r3/pose", "/vicon/r3/pose"),
    ],
)
def test_topics_have_a_namespace_per_robot(space, topic, full):
    assert RosTopics(namespace=space).name(topic, 3) == full


@pytest.mark.parametrize(
    ("library", "make", "install"),
    [
        ("zenoh", lambda: RmwNode("a", RosTypes()), r"dwell\[fleet\]"),
        ("rosbags.typesys", lambda: RmwZenohPlant(0, float), r"dwell\[fleet\]"),
        ("pymavlink.mavutil", lambda: MavlinkPlant("udpin:127.0.0.1:1", float), r"dwell\[fleet\]"),
        ("serial", lambda: MavlinkPlant("/dev/ttyACM0", float), r"dwell\[fleet\]"),
        (
            "rps.robotarium",
            lambda: RobotariumTable(np.zeros((1, 2))),
            "robotarium-python-simulator",
        ),
    ],
)
def test_a_missing_library_is_one_sentence_that_says_what_to_install(
    monkeypatch, library, make, install
):
    importlib.import_module(library)
    monkeypatch.setitem(sys.modules, library, None)
    name = library.partition(".")[0]
    with pytest.raises(dwell.InputError, match=rf"needs {name}, which is not .*{install}") as said:
        make()
    assert "\n" not in str(said.value)

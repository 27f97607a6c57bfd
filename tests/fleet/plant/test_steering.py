"""Robots of the plane: where the agent is, and which command moves it as wanted."""

import importlib
import math
import sys
from types import SimpleNamespace as Space
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dwell
from dwell.fleet.plant.mavlink import MavlinkPlant
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.rmw_zenoh import RmwNode, RmwZenohPlant, RosTypes
from dwell.fleet.plant.robotarium import RobotariumTable
from dwell.fleet.plant.ros_topics import STALE, RosPlant, RosTopics
from dwell.fleet.wire import HUGE

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


def test_velocities_are_in_the_axes_of_the_robot_by_default():
    assert Steering().axes == "base"


def test_an_origin_without_a_yaw_has_yaw_0():
    assert Steering(origin=(1.0, 2.0)) == Steering(origin=(1.0, 2.0, 0.0))
    assert Steering(origin=(1.0, 2.0)).position(3.0, 4.0, 0.5).tolist() == [4.0, 6.0]


def test_a_unicycle_drives_forward_and_turns_alone():
    along, across, rate = Steering("unicycle", 0.2).command(np.array([0.0, 0.3]), 0.0)
    assert (along, across, rate) == pytest.approx((0.0, 0.0, 1.5))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"axes": "world"}, "base, map, unicycle"),
        ({"axes": "unicycle"}, "point ahead of its axle"),
        ({"origin": (1.0,)}, r"origin is \(1.0,\); x and y are needed, and a yaw"),
        ({"origin": (1.0, 2.0, 3.0, 4.0)}, "4.0.; x and y are needed, and a yaw"),
    ],
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
        ("/agent_{agent}", "/vicon/r{agent}/pose", "/vicon/r3/pose"),
        ("/r{agent:02}", "odom", "/r03/odom"),
    ],
)
def test_topics_have_a_namespace_per_robot(space, topic, full):
    assert RosTopics(namespace=space).name(topic, 3) == full


@pytest.mark.parametrize("space", ["/r{id}", "/r{0}", "/r{agent", "/r{agent.id}"])
def test_other_braces_are_refused(space):
    with pytest.raises(dwell.InputError, match=r"it can contain \{agent\}, and no other braces"):
        RosTopics(namespace=space).name("odom", 3)


class Recorded(RosPlant):
    """A robot that keeps its commands."""

    def __init__(self, axes: str, **settings: Any) -> None:
        self.got: list[tuple[float, ...]] = []
        super().__init__(0, lambda: 0.0, RosTopics(steering=Steering(axes, **settings)), math.inf)

    def _send(self, velocity):
        self.got.append(self._command(velocity))

    def _release(self):
        pass

    def say(
        self, x: float, y: float, *quaternion: float, stamp: float = 0.0, frame: str = ""
    ) -> None:
        """Say a position, and a quaternion as x, y, z, w."""
        axes = dict(zip("xyzw", quaternion, strict=True))
        pose = Space(position=Space(x=x, y=y), orientation=Space(**axes))
        seconds, rest = divmod(round(stamp * 1e9), 10**9)
        header = Space(frame_id=frame, stamp=Space(sec=seconds, nanosec=rest))
        self._receive(Space(header=header, pose=Space(pose=pose)))

    clock = 1000.0  # of stamps

    def _now(self) -> float:
        return self.clock

    def pass_time(self, seconds: float) -> None:
        place, arrived = self._last
        self._last = place, arrived - seconds


@given(number, st.tuples(number, number), st.floats(0.01, 100.0))
def test_the_length_of_a_quaternion_does_not_matter(yaw, tilt, size):
    roll, pitch = 0.4 * tilt[0], 0.4 * tilt[1]
    q = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_quat()
    robot = Recorded("base")
    robot.say(1.0, 2.0, *(size * q))
    robot.hold(np.array([1.0, 0.0]), 0.0, math.inf)
    assert robot.got[-1] == pytest.approx((math.cos(yaw), -math.sin(yaw), 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("axes", "settings"), [("base", {}), ("unicycle", {"ahead": 0.1}), ("map", {"ahead": 0.1})]
)
@pytest.mark.parametrize("q", [(0, 0, 0, 0), (0, 0, 1e-9, 1e-9), (0, 0, math.nan, 1), (1e200,) * 4])
def test_a_pose_without_a_yaw_is_dropped_where_one_is_needed(axes, settings, q):
    robot = Recorded(axes, **settings)
    robot.say(1.0, 2.0, *q)
    assert robot._last is None
    assert robot.dropped == 1


@pytest.mark.parametrize("q", [(0, 0, 0, 0), (0, 0, math.nan, 1)])
def test_a_robot_that_is_steered_in_its_map_needs_no_yaw(q):
    robot = Recorded("map")
    robot.say(1.0, 2.0, *q)
    robot.pass_time(10.0)
    robot.hold(np.array([0.25, 0.5]), 0.0, math.inf)
    assert robot.pose(0.0).position.tolist() == [1.0, 2.0]
    assert robot.got == [(0.25, 0.5, 0.0)]
    assert robot.dropped == 0


@pytest.mark.parametrize(("axes", "settings"), [("base", {}), ("unicycle", {"ahead": 0.1})])
def test_an_old_yaw_steers_nothing(axes, settings):
    robot = Recorded(axes, **settings)
    robot.say(1.0, 2.0, 0, 0, 0, 1)
    robot.hold(np.array([0.25, 0.0]), 0.0, math.inf)
    robot.pass_time(STALE)
    robot.repeater.repeat()
    robot.say(1.0, 2.0, 0, 0, 0, 1)
    robot.repeater.repeat()
    assert robot.got == [(0.25, 0.0, 0.0), (0.0, 0.0, 0.0), (0.25, 0.0, 0.0)]


@pytest.mark.parametrize("x", [math.nan, math.inf, 1e200, -HUGE])
def test_positions_that_no_kernel_takes_are_dropped(x):
    robot = Recorded("map")
    robot.say(1.0, 2.0, 0, 0, 0, 1)
    robot.say(x, 2.0, 0, 0, 0, 1)
    assert robot.pose(0.0).position.tolist() == [1.0, 2.0]
    assert robot.dropped == 1


def test_the_error_of_a_silent_robot_says_how_many_positions_were_dropped():
    robot = Recorded("base")
    robot.say(1.0, 2.0, 0, 0, 0, 0)
    robot.say(1e200, 2.0, 0, 0, 0, 1)
    with pytest.raises(dwell.InputError, match=r"came on /agent_0/odom within 0 s; 2 were dropped"):
        robot._begin(0.0, robot._source)


@pytest.mark.parametrize(
    ("library", "make", "install"),
    [
        ("zenoh", lambda: RmwNode("a", RosTypes()), "pip install eclipse-zenoh rosbags"),
        ("rosbags.typesys", lambda: RmwZenohPlant(0, float), "pip install eclipse-zenoh rosbags"),
        (
            "pymavlink.mavutil",
            lambda: MavlinkPlant("udpin:127.0.0.1:1", float),
            "pip install pymav",
        ),
        ("serial", lambda: MavlinkPlant("/dev/ttyACM0", float), "pip install pymavlink pyserial"),
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


FORWARD = (0.0, 0.0, 0.0, 1.0)


def test_a_position_is_as_old_as_its_stamp_says():
    robot = Recorded("base")
    robot.say(1.0, 2.0, *FORWARD, stamp=999.7)
    assert robot.pose(5.0).time == pytest.approx(4.7, abs=0.05)
    robot.clock = 1002.0  # the same position once more
    robot.say(1.0, 2.0, *FORWARD, stamp=999.7)
    assert robot.pose(5.0).time <= 4.7
    robot.say(1.5, 2.0, *FORWARD, stamp=1001.9)
    robot.say(1.1, 2.0, *FORWARD, stamp=1000.9)  # it was overtaken
    assert robot.pose(5.0).position.tolist() == [1.5, 2.0]
    assert robot.pose(5.0).time == pytest.approx(4.9, abs=0.05)


def test_a_position_with_an_old_stamp_sends_no_velocity():
    robot = Recorded("base")
    robot.say(1.0, 2.0, *FORWARD, stamp=1000.0 - STALE - 0.1)
    robot.hold(np.array([1.0, 0.0]), 0.0, math.inf)
    assert robot.got[-1] == (0.0, 0.0, 0.0)


def test_a_position_without_a_stamp_is_dated_by_its_arrival():
    robot = Recorded("base")
    robot.say(1.0, 2.0, *FORWARD)
    assert robot.pose(5.0).time == pytest.approx(5.0, abs=0.05)


def test_positions_in_another_frame_are_dropped_and_counted(capsys):
    robot = Recorded("base")
    robot.say(1.0, 2.0, *FORWARD, frame="map")
    for _ in range(3):
        robot.say(9.0, 9.0, *FORWARD, frame="odom")
    assert robot.pose(0.0).position.tolist() == [1.0, 2.0]
    assert robot.dropped == 3
    says = "/agent_0/odom has a position in the frame 'odom', but 'map' is needed"
    assert capsys.readouterr().err.count(says) == 1


def test_a_stamp_of_the_future_is_no_age(capsys):
    robot = Recorded("base")
    robot.say(1.0, 2.0, *FORWARD, stamp=1000.0)
    robot.say(9.0, 9.0, *FORWARD, stamp=1003.0)
    assert robot.pose(0.0).position.tolist() == [1.0, 2.0]
    assert robot.dropped == 1
    assert "ahead of this clock by 3 s" in capsys.readouterr().err

"""rmw_zenoh's format: names, hashes and bytes against known values, and messages between nodes."""

from __future__ import annotations

import math
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.rmw_zenoh import RmwNode, RmwZenohPlant, RosTypes
from dwell.fleet.plant.ros_topics import RosTopics

zenoh = pytest.importorskip("zenoh")

# By the files of Jazzy (share/*/msg/*.json), and by rmw_zenoh's docs/design.md for String.
HASHES = {
    "std_msgs/msg/String": "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "geometry_msgs/msg/Twist": "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
    "geometry_msgs/msg/TwistStamped": (
        "5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64"
    ),
    "geometry_msgs/msg/PoseStamped": (
        "10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"
    ),
    "nav_msgs/msg/Odometry": "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
}
JAZZY = RosTypes()


@pytest.fixture
def router() -> Iterator[str]:
    """A zenoh router on this machine, as `rmw_zenohd` is one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp/127.0.0.1:{free.getsockname()[1]}"
    config = zenoh.Config()
    config.insert_json5("mode", '"router"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("listen/endpoints", f'["{address}"]')
    session = zenoh.open(config)
    yield address
    session.close()


@pytest.mark.parametrize("kind", HASHES)
def test_types_have_the_hashes_of_ros(kind):
    package, _, name = kind.split("/")
    assert JAZZY.described(kind) == f"{package}::msg::dds_::{name}_/RIHS01_{HASHES[kind]}"


def test_humble_has_no_hashes():
    said = RosTypes("humble").described("geometry_msgs/msg/Twist")
    assert said == "geometry_msgs::msg::dds_::Twist_/TypeHashNotSupported"


def test_a_twist_is_little_endian_cdr():
    packed = JAZZY.pack(
        JAZZY.velocity("geometry_msgs/msg/Twist", "", (0.25, -0.5, 0.75)), "geometry_msgs/msg/Twist"
    )
    assert packed == b"\x00\x01\x00\x00" + struct.pack("<6d", 0.25, -0.5, 0, 0, 0, 0.75)


def test_a_stamped_twist_has_its_header_first():
    kind = "geometry_msgs/msg/TwistStamped"
    before = time.time()
    packed = JAZZY.pack(JAZZY.velocity(kind, "map", (0.25, -0.5, 0.0)), kind)
    seconds, nanoseconds, length = struct.unpack_from("<iII", packed, 4)
    assert before - 1 <= seconds + nanoseconds * 1e-9 <= time.time() + 1
    assert (length, packed[16:20]) == (4, b"map\0")
    assert struct.unpack_from("<6d", packed, 20) == (0.25, -0.5, 0, 0, 0, 0)


def test_the_graph_has_the_tokens_of_rmw_zenoh(router):
    watcher = zenoh.open(_client(router))
    node = RmwNode("talker", JAZZY, domain=2, router=router)
    node.publisher("/chatter", "std_msgs/msg/String")
    node.subscribe("/agent_3/odom", "nav_msgs/msg/Odometry", lambda message: None)
    said = set()
    while len(said) < 3:
        said |= {str(one.ok.key_expr) for one in watcher.liveliness().get("@ros2_lv/2/**")}
    own = f"@ros2_lv/2/{node._session.info.zid()}/0"
    text, odometry = (HASHES[kind] for kind in ("std_msgs/msg/String", "nav_msgs/msg/Odometry"))
    assert said == {
        f"{own}/0/NN/%/%/talker",
        f"{own}/1/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_{text}/::,10:,:,:,,",
        f"{own}/2/MS/%/%/talker/%agent_3%odom/nav_msgs::msg::dds_::Odometry_/RIHS01_{odometry}/::,10:,:,:,,",
    }
    node.close()
    while list(watcher.liveliness().get("@ros2_lv/2/**")):
        time.sleep(0.01)  # until the graph has forgotten the node
    watcher.close()


def test_messages_carry_a_count_a_time_and_a_source(router):
    watcher, got = zenoh.open(_client(router)), []
    watcher.declare_subscriber(
        f"0/cmd_vel/{JAZZY.described('geometry_msgs/msg/Twist')}", got.append
    )
    node = RmwNode("driver", JAZZY, router=router)
    publish = node.publisher("/cmd_vel", "geometry_msgs/msg/Twist")
    twist = JAZZY.velocity("geometry_msgs/msg/Twist", "", (1.0, 0.0, 0.0))
    sent = 0
    while len(got) < 2:
        publish(twist)
        sent += 1
        time.sleep(0.01)
    notes = [one.attachment.to_bytes() for one in got[:2]]
    counts, times, lengths = zip(*(struct.unpack_from("<qqB", note) for note in notes), strict=True)
    assert counts[1] == counts[0] + 1 <= sent
    assert abs(times[0] - time.time_ns()) < 60e9
    assert lengths == (16, 16)
    assert [len(note) for note in notes] == [33, 33]
    assert notes[0][17:] == notes[1][17:]
    node.close()
    watcher.close()


class Robot:
    """A node of a robot, with the topics of agent 3."""

    def __init__(self, router: str, topics: RosTopics) -> None:
        self.node = RmwNode("robot", JAZZY, router=router)
        self.kind, velocity = topics.types
        self.publish = self.node.publisher("/agent_3/odom", self.kind)
        self.got: list[Any] = []
        self.node.subscribe("/agent_3/cmd_vel", velocity, self.got.append)

    def say(self, x: float, y: float, yaw: float) -> None:
        made = JAZZY.store.types
        turned = made["geometry_msgs/msg/Quaternion"](
            0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)
        )
        pose = made["geometry_msgs/msg/Pose"](made["geometry_msgs/msg/Point"](x, y, 0.0), turned)
        header = made["std_msgs/msg/Header"](made["builtin_interfaces/msg/Time"](0, 0), "odom")
        if self.kind.endswith("PoseStamped"):
            return self.publish(made[self.kind](header, pose))
        zero = made["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0)
        unsure = np.zeros(36)
        twist = made["geometry_msgs/msg/Twist"](zero, zero)
        return self.publish(
            made[self.kind](
                header, "base",
                made["geometry_msgs/msg/PoseWithCovariance"](pose, unsure),
                made["geometry_msgs/msg/TwistWithCovariance"](twist, unsure),
            )
        )  # fmt: skip

    def wait_for(self, *command: float) -> Any:
        while True:
            for message in self.got:
                twist = getattr(message, "twist", message)
                said = (twist.linear.x, twist.linear.y, twist.angular.z)
                if said == pytest.approx(command):
                    return message
            time.sleep(0.005)


@pytest.mark.parametrize(
    ("position", "velocity"), [("Odometry", "TwistStamped"), ("PoseStamped", "Twist")]
)
def test_a_robot_moves_on_the_commands_of_its_agent(router, position, velocity):
    topics = RosTopics(
        position_type=position, velocity_type=velocity, frame="base", steering=Steering("base")
    )
    robot = Robot(router, topics)
    saying = Talk(robot, (1.0, 2.0, math.pi / 2))
    now = 5.0
    plant = RmwZenohPlant(3, lambda: now, topics, router=router)
    pose = plant.pose(now)
    assert pose.position.tolist() == [1.0, 2.0]
    assert 0.0 <= now - pose.time < 5.0
    plant.hold(np.array([0.25, 0.5]), now, 0.65)
    message = robot.wait_for(0.5, -0.25, 0.0)  # forward is the second axis of the map
    assert getattr(message, "header", None) is None or message.header.frame_id == "base"
    now = 5.66  # the velocity ends by itself
    robot.got.clear()
    robot.wait_for(0.0, 0.0, 0.0)
    plant.close()
    saying.end()
    robot.node.close()


class Talk:
    """Repeats a position until `end`, as robots do."""

    def __init__(self, robot: Robot, pose: tuple[float, float, float]) -> None:
        self._over = threading.Event()

        def run() -> None:
            while not self._over.wait(0.02):
                robot.say(*pose)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()


def test_a_message_that_is_none_does_not_end_the_subscription(router):
    got: list[Any] = []
    node = RmwNode("agent", JAZZY, router=router)
    kind = "geometry_msgs/msg/Twist"
    node.subscribe("/cmd_vel", kind, got.append)
    other = zenoh.open(_client(router))
    key = f"0/cmd_vel/{JAZZY.described(kind)}"
    while not got:
        other.put(key, b"\x00\x01")
        other.put(key, JAZZY.pack(JAZZY.velocity(kind, "", (1.0, 0.0, 0.0)), kind))
        time.sleep(0.01)
    assert got[0].linear.x == 1.0
    assert node.refused > 0
    other.close()
    node.close()


def test_a_robot_that_is_silent_is_an_error_of_one_sentence(router):
    with pytest.raises(dwell.InputError, match=r"no position .* /agent_3/odom within 0.1 s; start"):
        RmwZenohPlant(3, time.monotonic, router=router, patience=0.1)


def test_an_address_that_is_none_is_an_error_of_one_sentence():
    with pytest.raises(dwell.InputError, match=r"the router 'nowhere'; use an address such"):
        RmwNode("agent", JAZZY, router="nowhere")


@pytest.mark.parametrize("name", ["Pose", "geometry_msgs/msg/Twist2"])
def test_other_types_are_refused(name):
    with pytest.raises(dwell.InputError, match="Odometry and PoseStamped are possible"):
        _ = RosTopics(position_type=name).types


def test_other_distributions_are_refused():
    with pytest.raises(dwell.InputError, match="jazzy"):
        RosTypes("melodic")


def _client(router: str) -> Any:
    config = zenoh.Config()
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", f'["{router}"]')
    return config

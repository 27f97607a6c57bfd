"""ROS 2 robots, with real rclpy from wheels in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.fleet.plant.rmw_zenoh import RosTypes
from dwell.fleet.plant.ros2 import Ros2Plant
from tests.fleet.plant.test_rmw_zenoh import HASHES

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # wheels of 60 MB may have to be fetched
# Prints the message of each type as rclpy serializes it, and the hash that its package states.
BYTES = """
import importlib, json, pathlib, sys
from rclpy.serialization import serialize_message
said = {}
for kind in sys.argv[1:]:
    package, _, name = kind.split("/")
    message = getattr(importlib.import_module(package + ".msg"), name)()
    twist = getattr(message, "twist", message)
    if hasattr(message, "header"):
        message.header.stamp.sec, message.header.stamp.nanosec = 7, 8
        message.header.frame_id = "map"  # with its zero byte, 4 bytes: nothing is padded
    if hasattr(message, "child_frame_id"):
        message.child_frame_id = "bot"
    if hasattr(message, "pose"):
        pose = getattr(message.pose, "pose", message.pose)
        pose.position.x, pose.position.y, pose.orientation.z = 1.5, -2.25, 0.5
    elif hasattr(twist, "linear"):
        twist.linear.x, twist.linear.y, twist.angular.z = 0.25, -0.5, 0.75
    found = list(pathlib.Path(sys.prefix).glob(f"**/share/{package}/msg/{name}.json"))
    stated = json.loads(found[0].read_text())["type_hashes"] if found else []
    hashes = [one["hash_string"] for one in stated if one["type_name"] == kind]
    said[kind] = serialize_message(message).hex(), hashes
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def python() -> str:
    """A Python that has rclpy."""
    found = subprocess.run([ROOT / "scripts" / "ros"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(found.stderr.strip().splitlines()[-1])
    return found.stdout.strip()


def said_by(python: str, *arguments: str) -> Any:
    """What a program prints in its last line, in a ROS domain of its own."""
    own = {"PYTHONPATH": str(ROOT / "src"), "DWELL_JIT": "0"}
    domain = str(1 + os.getpid() % 100)
    done = subprocess.run(
        [python, *arguments], capture_output=True, text=True, timeout=600,
        env={**os.environ, **own, "ROS_DOMAIN_ID": domain},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_four_robots_cover_a_floor_and_stop_without_their_agent(python):
    """The hold of the lost agent has no end: without the repeater its robot would never stop."""
    said = said_by(python, str(ROOT / "examples" / "ros2_fleet.py"), "--until", "15")
    before, after, exact = said["cost"]
    assert exact < 0.1 * before
    assert after == pytest.approx(exact, rel=0.02)
    assert said["samples"] > 80
    assert said["flow"]["median"] < 0.1
    assert 0.0 < said["stopped_after"] <= 0.2  # by the stamp of the command


def test_bytes_and_hashes_are_those_of_ros(python):
    kinds = [kind for kind in HASHES if not kind.startswith("std_msgs")]
    said = said_by(python, "-c", BYTES, *kinds)
    types = RosTypes("jazzy")
    for kind in kinds:
        cdr, hashes = said[kind]
        assert hashes in ([f"RIHS01_{HASHES[kind]}"], []), kind
        data = bytes.fromhex(cdr)
        message = types.unpack(data, kind)
        again = types.pack(message, kind)
        assert data[: len(again)] == again, kind
        if "Twist" in kind:
            twist = getattr(message, "twist", message)
            assert (twist.linear.x, twist.linear.y, twist.angular.z) == (0.25, -0.5, 0.75)
        else:
            pose = getattr(message.pose, "pose", message.pose)
            assert (pose.position.x, pose.position.y, pose.orientation.z) == (1.5, -2.25, 0.5)
    assert any(hashes for _, hashes in said.values())


def test_without_rclpy_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nav_msgs.msg", None)
    with pytest.raises(
        dwell.InputError, match=r"a ROS 2 robot needs nav_msgs, which .* ros-jazzy-nav-msgs"
    ):
        Ros2Plant(0, lambda: 0.0)

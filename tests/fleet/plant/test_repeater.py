"""The held velocity is repeated until it ends, or until the thread that chose it has ended."""

import math
import threading
import time

import numpy as np
import pytest

from dwell.agents.segments import Segments
from dwell.fleet.plant import repeater
from dwell.fleet.plant.repeater import PERIOD, ZEROS, Repeater

ACROSS = np.array([0.25, -0.5])
STILL = [0.0, 0.0]


class Robot:
    """Keeps the velocities that were sent; `broken` makes the link fail."""

    def __init__(self, fade: float = math.inf) -> None:
        self.sent: list[list[float]] = []
        self.broken, self.now = False, 0.0
        self.repeater = Repeater(self.send, lambda: self.now, 2, fade)

    def send(self, velocity: np.ndarray) -> None:
        if self.broken:
            raise OSError("the link is down")
        self.sent.append(velocity.tolist())

    def repeat(self, now: float) -> float:
        self.now = now
        return self.repeater.repeat()


def in_a_thread_that_ends(work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_velocity_is_sent_at_once_repeated_and_ended():
    robot = Robot()
    robot.repeater.hold(ACROSS, 0.0, 0.65)
    assert robot.sent == [ACROSS.tolist()]
    waits = [robot.repeat(t) for t in (0.05, 0.3, 0.62, 0.65 + 1e-9, 0.7)]
    assert robot.sent[1:] == [ACROSS.tolist()] * 3 + [STILL] * 2
    assert waits == pytest.approx([PERIOD, PERIOD, 0.03, PERIOD, PERIOD])


def test_a_new_velocity_replaces_the_old_one_and_its_end():
    robot = Robot()
    robot.repeater.hold(ACROSS, 0.0, 0.1)
    robot.repeater.hold(2.0 * ACROSS, 0.09, 0.5)
    robot.repeat(0.3)
    assert robot.sent[1:] == [(2.0 * ACROSS).tolist()] * 2


def test_the_velocity_decays_as_others_extrapolate_it():
    robot = Robot(fade=2.0)
    robot.repeater.hold(ACROSS, 1.0, 0.2)
    segment = Segments(
        np.array([1.0]), np.zeros((1, 2)), ACROSS[None], np.array([9.0]), np.array([0.2]), 2.0
    )
    for t in (1.1, 1.3, 2.0):
        robot.repeat(t)
        assert robot.sent[-1] == segment.velocity_at(t)[0].tolist()
    assert 0.0 < robot.sent[-1][0] < ACROSS[0]


def test_the_robot_stops_when_the_thread_of_its_agent_has_ended():
    robot = Robot()
    in_a_thread_that_ends(lambda: robot.repeater.hold(ACROSS, 0.0, math.inf))
    assert robot.sent == [ACROSS.tolist()]
    assert robot.repeat(PERIOD) == PERIOD
    robot.repeat(2.0 * PERIOD)
    assert robot.sent[1:] == [STILL, STILL]


def test_an_agent_that_comes_back_moves_the_robot_again():
    robot = Robot()
    in_a_thread_that_ends(lambda: robot.repeater.hold(ACROSS, 0.0, math.inf))
    robot.repeat(0.05)
    robot.repeater.hold(ACROSS, 0.1, 1.0)
    robot.repeat(0.15)
    assert robot.sent[-2:] == [ACROSS.tolist()] * 2


def test_stop_lasts_beyond_the_old_hold_duration():
    robot = Robot()
    robot.repeater.hold(ACROSS, 0.0, 0.6)
    robot.repeater.stop(0.1)
    for t in (0.15, 0.5, 5.0):
        robot.repeat(t)
    assert robot.sent[1:] == [STILL] * 4


def wait_for(robot: Robot, velocity: list[float], count: int) -> None:
    while len(robot.sent) < count or robot.sent[-1] != velocity:
        time.sleep(0.001)


def running() -> Robot:
    """A robot whose thread runs, on the machine's clock."""
    robot = Robot()
    robot.repeater = Repeater(robot.send, time.monotonic, 2, math.inf)
    robot.repeater.start()
    return robot


def test_the_thread_repeats_and_stops_the_robot_of_a_lost_agent():
    robot = running()
    gone = threading.Event()

    def agent() -> None:
        robot.repeater.hold(ACROSS, time.monotonic(), math.inf)
        gone.wait()

    thread = threading.Thread(target=agent)
    thread.start()
    wait_for(robot, ACROSS.tolist(), 4)
    gone.set()
    wait_for(robot, STILL, 0)
    thread.join()
    wait_for(robot, STILL, len(robot.sent) + 3)
    robot.repeater.close()


def test_the_thread_ends_a_velocity_that_is_shorter_than_its_period(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(repeater, "PERIOD", 1e6)  # the end cannot come with a repeat
        robot = running()
        robot.repeater.hold(ACROSS, time.monotonic(), 0.01)
        wait_for(robot, STILL, 0)
    robot.repeater.close()


def test_a_failing_link_is_tried_again_and_reported_to_the_agent():
    robot = running()
    robot.broken = True
    with pytest.raises(OSError, match="link is down"):
        robot.repeater.hold(ACROSS, time.monotonic(), math.inf)
    robot.broken = False
    wait_for(robot, ACROSS.tolist(), 2)
    robot.broken = True
    robot.repeater.close()  # without an error: the robot stops by itself


def test_close_stops_the_robot_and_ends_the_thread():
    robot = running()
    before = threading.active_count()
    robot.repeater.hold(ACROSS, time.monotonic(), math.inf)
    robot.repeater.close()
    assert robot.sent[-ZEROS:] == [STILL] * ZEROS
    assert threading.active_count() == before - 1
    count = len(robot.sent)
    time.sleep(3.0 * PERIOD)
    assert len(robot.sent) == count


def test_an_agent_does_not_move_a_robot_that_is_being_closed(monkeypatch):
    robot, waits = Robot(), []

    def agent(seconds: float) -> None:
        waits.append(seconds)
        robot.repeater.hold(ACROSS, 0.0, math.inf)

    monkeypatch.setattr(repeater.time, "sleep", agent)
    robot.repeater.hold(ACROSS, 0.0, math.inf)
    robot.repeater.close()
    robot.repeater.hold(ACROSS, 0.0, math.inf)
    assert robot.sent == [ACROSS.tolist()] + [STILL] * ZEROS
    assert waits == [0.0] + [PERIOD] * (ZEROS - 1)


def test_close_goes_on_where_a_zero_cannot_be_sent(monkeypatch):
    robot = Robot()
    robot.broken = True

    def mend(seconds: float) -> None:
        robot.broken = seconds == 0.0

    monkeypatch.setattr(repeater.time, "sleep", mend)
    robot.repeater.close()
    assert robot.sent == [STILL] * (ZEROS - 1)

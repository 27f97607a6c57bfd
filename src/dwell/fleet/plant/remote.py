"""RemotePlant: a robot that sends its position and obeys velocities, both by messages."""

from __future__ import annotations

import math
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from dwell._types import Points
from dwell.errors import InputError
from dwell.fleet.plant import Pose
from dwell.fleet.plant.repeater import Repeater
from dwell.fleet.wire import HUGE

MISSING = "plant.library"  # the code where a library of a robot is not installed


class RemotePlant(ABC):
    """What robots on any middleware have in common; a subclass defines `_send` and `_release`.

    Positions are dated by their arrival, less the age that their message states, if it does. Those
    with a coordinate that is not finite, or beyond what messages of agents permit, are counted and
    dropped. One that is older than the last is not used.
    """

    exact = False

    def __init__(
        self, clock: Callable[[], float], dimension: int = 2, fade: float = math.inf
    ) -> None:
        self._last, self._first = None, threading.Event()
        self.dropped, self._said = 0, ""
        self.repeater = Repeater(self._send, clock, dimension, fade)

    _last: tuple[Points, float] | None  # a position, and its arrival by the monotonic clock

    @abstractmethod
    def _send(self, velocity: Points) -> None:
        """Send a velocity to the robot."""

    @abstractmethod
    def _release(self) -> None:
        """Leave the middleware."""

    def _arrived(self, position: Points, age: float = 0.0) -> None:
        """Keep a position that has just arrived, and was measured some seconds before."""
        if not (np.abs(position) < HUGE).all():
            self.dropped += 1
            return
        measured = time.monotonic() - age
        if self._last is None or measured >= self._last[1]:
            self._last = position, measured
        self._first.set()

    def _drop(self, says: str) -> None:
        """Count a position that is not used, and say once why."""
        self.dropped += 1
        if says != self._said:
            print(f"dwell: {says}", file=sys.stderr)
        self._said = says

    def _begin(self, patience: float, source: str) -> None:
        """Repeat a velocity of zero, and wait for the first position."""
        self.repeater.start()
        if not self._first.wait(patience):
            self.close()
            says = f"no position of the robot came on {source} within {patience:g} s"
            if self.dropped:
                says += f"; {self.dropped} were dropped: not finite, far too large, without a yaw, "
                says += "in another frame or with a stamp of the future"
            raise InputError(f"{says}; start the robot, or name the right source", code="plant")

    def _age(self) -> float:
        """Seconds since the last position was measured."""
        return math.inf if self._last is None else time.monotonic() - self._last[1]

    def pose(self, now: float) -> Pose:
        """The last position that arrived."""
        assert self._last is not None
        position, measured = self._last
        return Pose(position, now - (time.monotonic() - measured))

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from now on, for at most `cruise` seconds, then stand."""
        self.repeater.hold(velocity, now, cruise)

    def stop(self, now: float) -> None:
        """Stand from now on."""
        self.repeater.stop(now)

    def close(self) -> None:
        """Stand, and release the robot."""
        self.repeater.close()
        self._release()

"""Repeater: a thread that sends the held velocity of a robot again and again until it ends."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from typing import final

import numpy as np

from dwell._types import Points
from dwell.fleet.plant import Integrator

PERIOD = 0.05  # seconds; drive controllers and autopilots stop a robot that gets no commands
ZEROS = 3  # commands at the end, since one may be lost


@final
class Repeater:
    """Sends the velocity that a robot shall have now: at once, and then 20 times a second.

    A velocity ends with its hold duration. It also ends when the thread that called `hold` has
    ended, whatever the hold duration is. An error of `send` in between is left to the next `hold`.
    After `close` nothing but zero is sent.

    Parameters
    ----------
    send : sends a velocity to the robot; never called by two threads at a time.
    clock : the time of the law, in seconds.
    """

    def __init__(
        self,
        send: Callable[[Points], None],
        clock: Callable[[], float],
        dimension: int,
        fade: float,
    ) -> None:
        self._send, self._clock = send, clock
        self._held = Integrator(np.zeros(dimension), fade, clock())
        self._held.hold(np.zeros(dimension), clock(), 0.0)
        self._held.velocity(clock())  # compiles what velocities that end need, before any is held
        self._ends = math.inf  # when the velocity ends
        self._agent: threading.Thread | None = None  # the thread that chose it
        self._lock, self._changed, self._over = threading.Lock(), threading.Event(), False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._still = np.zeros(dimension)

    def start(self) -> None:
        """Begin to repeat; until then, `hold` sends once."""
        self._thread.start()

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Send a velocity, and repeat it for at most `cruise` seconds."""
        with self._lock:
            if self._over:
                return
            self._agent, self._ends = threading.current_thread(), now + cruise
            self._held.hold(velocity, now, cruise)
            self._send(self._held.velocity(now))
        self._changed.set()

    def stop(self, now: float) -> None:
        """Send a velocity of zero, and repeat it."""
        self.hold(self._still, now, math.inf)

    def repeat(self) -> float:
        """Send the velocity of this moment; returns the seconds until this is due again."""
        with self._lock:
            now = self._clock()
            if self._agent is not None and not self._agent.is_alive():
                self._agent = None
                self._held.stop(now)
            self._send(self._held.velocity(now))
            return min(PERIOD, self._ends - now) if self._ends > now else PERIOD

    def _run(self) -> None:
        wait = PERIOD
        while not self._over:
            if self._changed.wait(wait):
                self._changed.clear()
                wait = min(PERIOD, max(self._ends - self._clock(), 0.0))
                continue
            with contextlib.suppress(Exception):
                wait = PERIOD
                wait = self.repeat()

    def close(self) -> None:
        """End the thread, and send a velocity of zero, three times a period apart."""
        self._over = True
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()
        for k in range(ZEROS):
            time.sleep(PERIOD if k else 0.0)
            with contextlib.suppress(Exception), self._lock:
                self._send(self._still)

"""The Robotarium's simulator: differential-drive robots on a table of 3.2 m by 2 m."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.fleet.plant import Integrator, Pose
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.remote import library

AHEAD = 0.05  # metres from the axle to the point that is the agent
INSTALL = "install it with: pip install robotarium-python-simulator"


@final
class RobotariumTable:
    """One simulator with all its robots; it takes steps of 0.033 s up to the time of a question.

    Parameters
    ----------
    positions : of the agents, which are points ahead of the axles.
    headings : yaw of each robot; all 0 unless given.
    """

    def __init__(
        self,
        positions: Points,
        headings: Sequence[float] | None = None,
        *,
        ahead: float = AHEAD,
        fade: float = math.inf,
        now: float = 0.0,
    ) -> None:
        rps = library("rps.robotarium", "the simulator of the Robotarium", INSTALL)
        yaw: Floats = np.zeros(len(positions)) if headings is None else np.array(headings, float)
        self.steering = Steering("unicycle", ahead)
        axles = positions - ahead * np.column_stack([np.cos(yaw), np.sin(yaw)])
        begin = np.vstack([axles.T, yaw])
        self._simulator = rps.Robotarium(len(yaw), False, False, begin)
        self._lock = threading.Lock()
        self._poses: Any = self._simulator.get_poses().copy()
        self._began, self._steps = now, 0
        self.held = [Integrator(np.zeros(2), fade, now) for _ in yaw]
        self.plants = [RobotariumPlant(self, p) for p in range(len(yaw))]

    @property
    def time(self) -> float:
        """The time of the last step."""
        return self._began + self._steps * float(self._simulator.time_step)

    def pose(self, robot: int, now: float) -> Pose:
        """The position of an agent after the last step that is not after `now`."""
        with self._lock:
            while self._began + (self._steps + 1) * float(self._simulator.time_step) <= now:
                self._step()
            return Pose(self.steering.position(*self._poses[:, robot].tolist()), self.time)

    def _step(self) -> None:
        """Steer each robot so that the point ahead of its axle has the held velocity."""
        commands = np.empty((2, len(self.held)))
        for p, held in enumerate(self.held):
            velocity = held.velocity(self.time)
            commands[0, p], _, commands[1, p] = self.steering.command(velocity, self._poses[2, p])
        self._simulator.set_velocities(range(len(self.held)), commands)
        self._simulator.step()
        self._poses, self._steps = self._simulator.get_poses().copy(), self._steps + 1

    def hold(self, robot: int, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from the next step on."""
        with self._lock:
            self.held[robot].hold(velocity, now, cruise)


@final
class RobotariumPlant:
    """One robot of a table."""

    exact = False

    def __init__(self, table: RobotariumTable, robot: int) -> None:
        self._table, self._robot = table, robot

    def pose(self, now: float) -> Pose:
        """The position after the last step."""
        return self._table.pose(self._robot, now)

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from the next step on, for at most `cruise` seconds, then stand."""
        self.pose(now)
        self._table.hold(self._robot, velocity, now, cruise)

    def stop(self, now: float) -> None:
        """Stand from the next step on."""
        self.hold(np.zeros(2), now, math.inf)

    def close(self) -> None:
        """Stand."""
        self.stop(self._table.time)

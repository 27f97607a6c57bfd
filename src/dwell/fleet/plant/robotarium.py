"""The Robotarium's simulator: differential-drive robots on a table of 3.2 m by 2 m."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from dwell._need import need
from dwell._types import Floats, Points
from dwell.fleet.plant import Integrator, Pose
from dwell.fleet.plant.planar import Steering
from dwell.fleet.plant.remote import MISSING

AHEAD = 0.05  # metres from the axle to the point that is the agent
PACKAGE = "robotarium-python-simulator"


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
        rps = need("rps.robotarium", "the simulator of the Robotarium needs", PACKAGE, code=MISSING)
        yaw: Floats = np.zeros(len(positions)) if headings is None else np.array(headings, float)
        self.steering = Steering("unicycle", ahead)
        axles = positions - ahead * np.column_stack([np.cos(yaw), np.sin(yaw)])
        begin = np.vstack([axles.T, yaw])
        self._simulator = rps.Robotarium(len(yaw), False, False, begin)
        self.lock = threading.Lock()  # robots have an agent each, and maybe a thread
        self.poses: Any = self._simulator.get_poses().copy()
        self._began, self._steps = now, 0
        self.plants = [RobotariumPlant(self, p, fade, now) for p in range(len(yaw))]

    @property
    def time(self) -> float:
        """The time of the last step."""
        return self._began + self._steps * float(self._simulator.time_step)

    def run_to(self, now: float) -> None:
        """Take all steps that are not after `now`."""
        while self._began + (self._steps + 1) * float(self._simulator.time_step) <= now:
            self._step()

    def _step(self) -> None:
        """Steer each robot so that the point ahead of its axle has the held velocity."""
        commands = np.empty((2, len(self.plants)))
        for p, plant in enumerate(self.plants):
            velocity = plant.held.velocity(self.time)
            commands[0, p], _, commands[1, p] = self.steering.command(velocity, self.poses[2, p])
        self._simulator.set_velocities(range(len(self.plants)), commands)
        self._simulator.step()
        self.poses, self._steps = self._simulator.get_poses().copy(), self._steps + 1


@final
class RobotariumPlant:
    """One robot of a table."""

    exact = False

    def __init__(self, table: RobotariumTable, robot: int, fade: float, now: float) -> None:
        self._table, self._robot = table, robot
        self.held = Integrator(np.zeros(2), fade, now)

    def pose(self, now: float) -> Pose:
        """The position after the last step."""
        table = self._table
        with table.lock:
            table.run_to(now)
            place = table.poses[:, self._robot].tolist()
            return Pose(table.steering.position(*place), table.time)

    def hold(self, velocity: Points, now: float, cruise: float) -> None:
        """Hold a velocity from the next step on, for at most `cruise` seconds, then stand."""
        with self._table.lock:
            self._table.run_to(now)
            self.held.hold(velocity, now, cruise)

    def stop(self, now: float) -> None:
        """Stand from the next step on."""
        self.hold(np.zeros(2), now, math.inf)

    def close(self) -> None:
        """Stand."""
        self.stop(self._table.time)

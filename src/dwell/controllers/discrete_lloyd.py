"""Discrete Lloyd: go to the centroid, sample again; the family of Cortés et al. (2004).

A move leads a part `relaxation` of the way to the centroid (beyond it, above 1), no further than
the top speed allows, and takes a time `step`. The schedule determines which agent moves when.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._parameters import POSITIVE, RATE, TIME, Number, Word, param
from dwell._types import Points
from dwell.agents.interfaces import Command, FirstCommands, Observation
from dwell.agents.traits import Traits
from dwell.controllers.declared import largest_speed, law
from dwell.controllers.saturation import gain, next_periodic, periodic_program, saturated

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

SCHEDULES = {
    "synchronous": "all at every multiple of `step`",
    "round-robin": "one agent after another",
    "random": "at every multiple of `step` one agent, drawn for all",
    "poisson": "each by its own random clock",
}


@final
@law("discrete-lloyd", "Discrete Lloyd", "moves to the centroid in steps")
class DiscreteLloyd:
    """x+ = x + relaxation (c - x), one move at a time.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.DiscreteLloyd()
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    step: float = param(
        "the time that one move takes", POSITIVE, default=1.0, unit=TIME, role="clock",
        decays=True, label="time of a move",
    )  # fmt: skip
    relaxation: float = param(
        "the part of the way to the centroid that a move goes; above 1 it overshoots",
        Number(above=0.0, below=2.0), default=1.0, decays=True, label="relaxation",
    )  # fmt: skip
    speed: float | None = largest_speed()
    schedule: str = param("who moves when", Word(SCHEDULES), default="synchronous")
    rate: float | None = param(
        "moves per agent and time with `poisson`", POSITIVE, default=None, unit=RATE,
        role="clock", belongs=("schedule", "poisson"), absent="1 / step",
    )  # fmt: skip

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        The cost cannot rise from move to move where no agent samples while another moves.
        """
        return Traits(
            top_speed=self.speed,
            stays_inside=self.relaxation <= 1.0,
            cost_decreases=self.schedule != "poisson",
            steps=self,
        )

    def program(self, agents: int) -> HoldProgram | None:
        """The law as plain numbers, for the schedules whose times are known beforehand."""
        if self.schedule not in ("synchronous", "round-robin"):
            return None
        return periodic_program(*self._gain(), agents, self._period(agents), self.step)

    def _period(self, agents: int) -> float:
        return self.step if self.schedule == "synchronous" else agents * self.step

    def _gain(self) -> tuple[float, float]:
        """Speed and reach such that saturated(e) is the velocity of a move."""
        if self.speed is None:
            return gain(self.relaxation / self.step, None)
        return self.speed, self.speed * self.step / self.relaxation

    def begin(self, observation: Observation) -> Command:
        """Move at once in a synchronous schedule and as the first of a round; else wait.

        An agent that arrives later moves at once, and then every step or every round from there.
        """
        if self.schedule not in ("synchronous", "round-robin"):
            return self.miss(observation)
        if observation.time > 0.0:
            return self.decide(observation)
        if self.schedule == "synchronous" or observation.agent == 0:
            return self._move(observation, self._period(observation.agents))
        still = np.zeros_like(observation.position)
        return Command(still, observation.agent * self.step, self.step)

    def begin_all(self, errors: Points) -> FirstCommands:
        """First decisions of all agents at once, for the schedules that have a program."""
        n = len(errors)
        hold = self._velocity(errors)
        if self.schedule == "synchronous":
            return FirstCommands(hold, np.full(n, self.step), self.step)
        hold[1:] = 0.0
        turns = self.step * np.arange(n, dtype=np.float64)
        turns[0] = n * self.step
        return FirstCommands(hold, turns, self.step)

    def decide(self, observation: Observation) -> Command:
        """Move towards the centroid."""
        return self._move(observation, self._following(observation))

    def miss(self, observation: Observation) -> Command:
        """Without a sample: stand until the next turn."""
        return Command(np.zeros_like(observation.position), self._following(observation), self.step)

    def _following(self, observation: Observation) -> float:
        if self.schedule == "poisson":
            mean = self.step if self.rate is None else 1.0 / self.rate
            return observation.time + max(poisson_wait(observation.draw, mean), 1e-9 * mean)
        if self.schedule == "random":
            assert observation.shared_draw is not None
            turn = math.floor(observation.time / self.step)
            while turn * self.step <= observation.time:
                turn += 1
            while int(observation.shared_draw(turn) * observation.agents) != observation.agent:
                turn += 1
            return turn * self.step
        return next_periodic(observation, self._period(observation.agents))

    def _move(self, observation: Observation, following: float) -> Command:
        assert observation.measurement is not None
        return Command(self._velocity(observation.measurement.error), following, self.step)

    def _velocity(self, error: Points) -> Points:
        return saturated(error, *self._gain())


def poisson_wait(u: float, mean: float) -> float:
    """-mean log(1 - u), by + - * / alone: the same bits everywhere."""
    m, e = math.frexp(1.0 - u)
    if m < math.sqrt(0.5):
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)  # at most 0.172: 14 terms of 2 artanh s are enough
    series = 0.0
    for k in range(27, 0, -2):
        series = series * s * s + 1.0 / k
    return -mean * (2.0 * s * series + e * 0.6931471805599453)

"""Continuous-time Lloyd, after Cortés, Martínez, Karataş and Bullo (2004): u = k2 (c - x).

With a largest speed the velocity saturates there, so that the law compares with others.

`sampled`: all agents sample at every multiple of dt and hold k2 e until the next one, which is
Euler's method, as in the paper. `ode`: the differential equation itself, solved to a tolerance
by an adaptive method of high order, as a reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from dwell._parameters import POSITIVE, RATE, TIME, Number, Word, param
from dwell._types import Points
from dwell.agents.interfaces import Command, FirstCommands, Observation
from dwell.agents.traits import Traits
from dwell.controllers.declared import largest_speed, law
from dwell.controllers.feedforward import driven, feedforward, information_with, limited, trust
from dwell.controllers.saturation import (
    centroid_of,
    gain,
    next_periodic,
    periodic_program,
    saturated,
    without_sample,
)
from dwell.errors import ControllerError

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

MODES = {
    "sampled": "all sample every dt and hold a velocity",
    "ode": "the differential equation itself, solved to a tolerance",
}
DT, TOLERANCE = 0.01, 1e-9


@final
@law("lloyd", "Lloyd", "samples all the time, every dt")
class Lloyd:
    """Every agent moves towards the centroid of its cell, all the time.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Lloyd(k2=1.0, mode="ode")
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    k2: float = param(
        "the gain", POSITIVE, default=1.0, unit=RATE, role="gain", decays=True,
        label="gain",
        sign="k_2",
    )  # fmt: skip
    mode: str = param("how the law is carried out", Word(MODES), default="sampled")
    dt: float | None = param(
        "the time between samples with `sampled`", POSITIVE, default=None, unit=TIME,
        role="period", belongs=("mode", "sampled"), absent=DT, label="time step", sign=r"\Delta t",
    )  # fmt: skip
    tolerance: float | None = param(
        "the accuracy of positions with `ode`, relative to the size of the workspace",
        Number(least=1e-13, most=0.01), default=None, belongs=("mode", "ode"), absent=TOLERANCE,
    )  # fmt: skip
    speed: float | None = largest_speed()
    feedforward: str = feedforward(belongs=("mode", "sampled"))
    trust: float | None = trust()

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        Sampled agents cannot pass their centroids up to k2 dt = 1. The cost cannot rise between
        samples below 2, as all move at once, by less than 2 e.
        """
        sampled, plain = self.mode == "sampled", self.feedforward == "none"
        pace = self.k2 * self.step
        tolerance = TOLERANCE if self.tolerance is None else self.tolerance
        return Traits(
            information=information_with(self.feedforward),
            top_speed=self.speed,
            gain=self.k2,
            stays_inside=not sampled or (plain and pace <= 1.0),
            cost_decreases=not sampled or (plain and pace < 2.0),
            follows=self.feedforward,
            solves=self.feedforward == "neighbours",
            period=self.step if sampled else None,
            proportional=plain,
            accuracy=None if sampled else tolerance,
        )

    @property
    def step(self) -> float:
        """Time between samples."""
        return DT if self.dt is None else self.dt

    def velocities(self, errors: Points) -> Points:
        """The right-hand side of the differential equation, (N, n)."""
        return saturated(errors, *self._gain())

    def _gain(self) -> tuple[float, float]:
        """Speed and reach such that saturated(e) is the velocity."""
        return gain(self.k2, self.speed)

    def program(self, agents: int) -> HoldProgram | None:
        """The sampled law as plain numbers: a saturated input, at every dt."""
        plain = self.mode == "sampled" and self.feedforward == "none"
        return periodic_program(*self._gain(), agents, self.step) if plain else None

    def begin(self, observation: Observation) -> Command:
        """Hold k2 e from the start."""
        return self._order(observation, observation.time + self.step)

    def begin_all(self, errors: Points) -> FirstCommands:
        """First decisions of all agents at once."""
        return FirstCommands(self.velocities(errors), np.full(len(errors), self.step))

    def decide(self, observation: Observation) -> Command:
        """Hold k2 e until the next multiple of dt."""
        return self._order(observation, next_periodic(observation, self.step))

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid at this gain, and stop there."""
        return without_sample(observation, *self._gain(), next_periodic(observation, self.step))

    def _order(self, observation: Observation, following: float) -> Command:
        assert observation.measurement is not None
        if self.mode == "ode":
            raise ControllerError(
                'the lloyd law with mode = "ode" is a differential equation, which is solved as a '
                "whole (dwell.simulate does that), not decided event by event",
                code="controller.kind",
            )
        target = centroid_of(observation)
        if self.feedforward == "none":
            return Command(self.velocities(observation.measurement.error), following, memory=target)
        wait = following - observation.time
        drive = driven(observation, self.k2, self.feedforward, self.trust, wait)
        hold = limited(drive.velocity, self.speed)
        return Command(hold, following, memory=target, mark=drive.mark)

"""Continuous-time Lloyd, after Cortés, Martínez, Karataş and Bullo (2004): u = k2 (c - x).

With a largest speed the velocity saturates there, so that the law compares with others.

`sampled`: all agents sample at every multiple of dt and hold k2 e until the next one, which is
Euler's method, as in the paper. `ode`: the differential equation itself, solved to a tolerance
by an adaptive method of high order, as a reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Points
from dwell.agents.interfaces import Command, FirstCommands, Information, Observation
from dwell.controllers.feedforward import check_feedforward, driven, information_with, limited
from dwell.controllers.parameters import Parameters
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

MODES = ("sampled", "ode")
DT, TOLERANCE = 0.01, 1e-9


@final
@dataclass(frozen=True)
class Lloyd:
    """Every agent moves towards the centroid of its cell, all the time.

    Parameters
    ----------
    k2 : gain, per time.
    speed : largest speed, beyond which the velocity saturates; no limit unless given.
    mode : "sampled" or "ode".
    dt : time between samples (sampled); 0.01 unless given.
    tolerance : largest error of positions relative to the workspace's size (ode); 1e-9 unless
        given.
    feedforward : what is added to follow a density or a workspace that moves (sampled): "none",
        "own", "ahead" or "neighbours", as for `Timer`.
    trust : above 0, at most 1, for "neighbours"; 0.95 unless given.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Lloyd(k2=1.0, mode="ode")
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    k2: float = 1.0
    mode: str = "sampled"
    dt: float | None = None
    tolerance: float | None = None
    speed: float | None = None
    feedforward: str = "none"
    trust: float | None = None

    top_speed = property(attrgetter("speed"), doc="The largest speed; None for no limit.")

    def __post_init__(self) -> None:
        check = Parameters("lloyd", self)
        check.positive("k2")
        check.one_of("mode", MODES)
        check.belongs("dt", "mode", "sampled")
        check.belongs("tolerance", "mode", "ode")
        check.positive("dt", "speed", optional=True)
        if self.tolerance is not None:
            check.within("tolerance", 1e-13, 1e-2, "a number from 1e-13 to 0.01", ends="[]")
        check_feedforward(check)
        if self.feedforward != "none" and self.mode != "sampled":
            raise check.refused("feedforward", 'mode = "sampled" beside it')

    @property
    def information(self) -> Information:
        """What an agent receives; feed-forward needs to know how the world changes."""
        return information_with(self.feedforward)

    @property
    def step(self) -> float:
        """Time between samples."""
        return DT if self.dt is None else self.dt

    @property
    def ode_accuracy(self) -> float | None:
        """The tolerance of the reference solution; None for the sampled law."""
        if self.mode == "sampled":
            return None
        return TOLERANCE if self.tolerance is None else self.tolerance

    @property
    def stays_inside(self) -> bool:
        """Whether agents cannot pass their centroids."""
        plain = self.feedforward == "none"
        return self.mode == "ode" or (plain and self.k2 * self.step <= 1.0)

    @property
    def cost_decreases(self) -> bool:
        """Whether the cost cannot rise between samples: all move at once, by less than 2 e."""
        plain = self.feedforward == "none"
        return self.mode == "ode" or (plain and self.k2 * self.step < 2.0)

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

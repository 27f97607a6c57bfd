"""Minimum energy for a world that moves, modelled after Santos, Mayya, Notomista, Egerstedt (2019).

At its samples an agent holds the solution u of

    minimize |u|^2 + rho d^2  subject to  a . u >= b - d,
    a = (I - A_pp)' e,  b = alpha / 2 |e|^2 + e . (dc/dt + sum A_pq v_q)

which is u = max(0, b) a / (|a|^2 + 1 / rho): with d = 0 the squared error falls at the rate alpha,
and the slack d costs rho. How the paper divides the constraint of all agents among them is
reconstructed here: each agent is left with the squared error of its own.
"""

from __future__ import annotations

from typing import final

import numpy as np

from dwell._parameters import POSITIVE, RATE, param
from dwell._types import Points
from dwell.agents.interfaces import Command, Information, Observation
from dwell.agents.traits import Traits
from dwell.controllers.declared import largest_speed, law, period
from dwell.controllers.feedforward import limited, pushed_by
from dwell.controllers.saturation import centroid_of, gain, next_periodic, without_sample


@final
@law("minimum-energy", "Minimum energy", "moves no faster than its error has to fall")
class MinimumEnergy:
    """The slowest motion with which an agent's squared error falls at a given rate.

    Modelled after Santos, Mayya, Notomista and Egerstedt (2019); how that paper divides the
    constraint among agents is reconstructed.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.MinimumEnergy(alpha=2.0, rho=1e6, dt=0.1)
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(2).tolist()
    [0.25, 0.75]
    """

    alpha: float = param(
        "the rate at which the squared error is to fall", POSITIVE, default=2.0, unit=RATE
    )
    rho: float = param(
        "the cost of falling short of that rate", POSITIVE, default=100.0, unit=(-2, 0)
    )
    dt: float = period(0.01)
    speed: float | None = largest_speed()

    @property
    def traits(self) -> Traits:
        """What the law states of itself."""
        return Traits(
            information=Information(others="velocities", world="rate"),
            top_speed=self.speed,
            gain=self.gain,
            nonlinear="slack leaves errors that do not decay exponentially",
        )

    @property
    def gain(self) -> float:
        """The speed per distance with which the squared error falls at the rate alpha."""
        return 0.5 * self.alpha

    def begin(self, observation: Observation) -> Command:
        """Start with the velocity of the law."""
        return self._order(observation, observation.time + self.dt)

    def decide(self, observation: Observation) -> Command:
        """Hold the velocity of the law until the next multiple of dt."""
        return self._order(observation, next_periodic(observation, self.dt))

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid at this gain, and stop there."""
        pace = gain(self.gain, self.speed)
        return without_sample(observation, *pace, next_periodic(observation, self.dt))

    def _order(self, observation: Observation, following: float) -> Command:
        hold = limited(self._velocity(observation), self.speed)
        return Command(hold, following, memory=centroid_of(observation))

    def _velocity(self, observation: Observation) -> Points:
        measured = observation.measurement
        assert measured is not None
        error = measured.error
        if measured.empty:
            return self.gain * error
        own, pushed = pushed_by(observation)
        drift = pushed if observation.rate is None else pushed + observation.rate()
        towards = ((np.eye(len(error)) - own) * error[:, None]).sum(axis=0)
        needed = 0.5 * self.alpha * float((error * error).sum()) + float((error * drift).sum())
        size = float((towards * towards).sum()) + 1.0 / self.rho
        velocity: Points = max(0.0, needed) / size * towards
        return velocity

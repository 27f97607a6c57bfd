"""Time-varying densities, after Lee, Diaz-Mercado and Egerstedt (2015): synchronous references.

All agents sample together and know all positions. With the derivatives A of all centroids, their
rates dc/dt while no agent moves and r = kappa e + dc/dt, the velocities of all agents together are

    order "C"  (I - A)^-1 r, so that e' = -kappa e
    order k    (I + A + ... + A^k) r, the beginning of the series of that inverse

I - A is singular where a motion of all agents takes all centroids along, such as a turn under a
round density in a wide workspace: it is inverted by least squares, without its small singular
values.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import FLOOR, IN_TIME
from dwell._parameters import POSITIVE, RATE, WordOrWhole, param
from dwell._types import Floats, Points
from dwell.agents.interfaces import Command, Information, Observation
from dwell.agents.traits import Traits
from dwell.cells.backend import borders
from dwell.cells.sensitivity import centroid_blocks
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.declared import largest_speed, law, period
from dwell.controllers.feedforward import limited
from dwell.controllers.saturation import centroid_of, gain, next_periodic, without_sample

SINGULAR = 1e-5  # singular values below this share of the largest count as 0
MOST_TERMS = 1000
ROUNDING = 1e-9  # of a velocity, by the solver, relative to the diameter per time


@final
@law("tvd", "TVD", "all sample together and follow a density that moves")
class TVD:
    """Synchronous feed-forward with the derivatives of all centroids.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.TVD(kappa=1.0, dt=0.1)
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    kappa: float = param(
        "the gain", POSITIVE, default=1.0, unit=RATE, role="gain", label="gain",
        sign=r"\kappa",
    )  # fmt: skip
    order: str | int = param(
        "`C`: with the inverse of the centroids' derivatives; 0, 1, ...: terms of its series",
        WordOrWhole("C", MOST_TERMS), default="C",
    )  # fmt: skip
    dt: float = period(0.01)
    speed: float | None = largest_speed()
    # The last solution, with what it is the solution of: all agents need it in turn.
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def traits(self) -> Traits:
        """What the law states of itself."""
        return Traits(
            information=Information(others="everybody", world="rate"),
            top_speed=self.speed,
            gain=self.kappa,
            solves=True,
            rounding=ROUNDING,
            nonlinear="it is about moving densities: no linear model of it at rest is worked out",
        )

    def begin(self, observation: Observation) -> Command:
        """Start with the velocity of the law."""
        return self._order(observation, observation.time + self.dt)

    def decide(self, observation: Observation) -> Command:
        """Hold the velocity of the law until the next multiple of dt."""
        return self._order(observation, next_periodic(observation, self.dt))

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid at this gain, and stop there."""
        pace = gain(self.kappa, self.speed)
        return without_sample(observation, *pace, next_periodic(observation, self.dt))

    def _order(self, observation: Observation, following: float) -> Command:
        assert observation.sample is not None
        own = int(np.searchsorted(observation.sample.agents, observation.agent))
        velocities, mark = self._solution(observation)
        hold, target = limited(velocities[own], self.speed), centroid_of(observation)
        others = len(velocities) - 1  # each agent computes the cells of all
        return Command(hold, following, memory=target, mark=mark, voronoi=others)

    def _solution(self, observation: Observation) -> tuple[Points, int]:
        """The velocities of all agents, and the mark of the solution."""
        ground, sample = observation.ground, observation.sample
        assert ground is not None
        assert sample is not None
        key = sample.agents.tobytes() + sample.positions.tobytes()
        last = self._last.get("solution")
        if last is not None and last[0] is ground and last[1:3] == (observation.time, key):
            found: tuple[Points, int] = last[3]
            return found
        assert observation.rate is not None
        found = self._solved(ground, sample.positions, observation.rate())
        self._last["solution"] = (ground, observation.time, key, found)
        return found

    def _solved(
        self, ground: WeightedRegion, positions: Points, rates: Points
    ) -> tuple[Points, int]:
        errors, matrix = derivatives_of(ground, positions)
        wanted = (self.kappa * errors + rates).ravel()
        if self.order == "C":
            rest = np.eye(len(wanted)) - matrix
            solved: Any = np.linalg.lstsq(rest, wanted, rcond=SINGULAR)
            mark = IN_TIME if solved[2] == len(wanted) else FLOOR
            return solved[0].reshape(errors.shape), mark
        found = wanted
        for _ in range(int(self.order)):
            found = wanted + matrix @ found
        return found.reshape(errors.shape), IN_TIME


def derivatives_of(ground: WeightedRegion, positions: Points) -> tuple[Points, Floats]:
    """The errors of all agents, (N, n), and the derivatives of all centroids, (N n, N n).

    Cells that weigh nothing have no derivatives: their rows are 0.
    """
    found = borders(ground.workspace, positions, ground.density)
    with np.errstate(all="ignore"):
        own, towards = centroid_blocks(found)
    count, n = found.errors.shape
    matrix = np.zeros((count, n, count, n))
    for p in np.flatnonzero(~found.empty):
        matrix[p, :, p, :] = own[p]
    for k in np.flatnonzero(~found.empty[found.agent]):
        matrix[found.agent[k], :, found.other[k], :] += towards[k]
    return found.errors, matrix.reshape(count * n, count * n)

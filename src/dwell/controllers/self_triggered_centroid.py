"""The self-triggered centroid algorithm, after Nowzari and Cortés (2012).

At an update an agent samples the positions of its Voronoi neighbours. From then on it uses only
that no agent is faster than v_max. From its guaranteed and dual guaranteed cells it computes a ball
that contains its centroid, and moves to that ball and no further. It updates when the ball is
larger than `epsilon` and contains the agent itself. All of this can be planned at the update.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._parameters import LENGTH, NOT_NEGATIVE, POSITIVE, SPEED, TIME, Word, param
from dwell.agents.interfaces import Command, Information, Observation, Sample
from dwell.agents.traits import Traits
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.centroid_bounds import (
    SIZE,
    SIZES,
    CentroidBall,
    centroid_ball,
    velocity_to,
)
from dwell.controllers.declared import law

DECISIONS = {
    "multi-step": "the next sample is planned at the last",
    "one-step": "at every move",
}
LONGEST_PLAN = 256  # moves planned at once; an agent that may sleep longer then plans on
WHOLE = 1e-9  # t_max / dt may be this far below a whole number


@final
@dataclass(frozen=True, slots=True, eq=False)
class CentroidPlan:
    """The memory of an agent between updates: its last sample, and its planned moves."""

    sample: Sample
    steps: int  # from the update to the end of the planned moves
    moves: tuple[tuple[float, ...], ...]  # velocities of the coming steps
    goal: CentroidBall | None  # for the step after those; None: update first


@final
@law("self-triggered-centroid", "Self-triggered (centroid)", "moves while it knows enough")
class SelfTriggeredCentroid:
    """Agents move to a ball that contains the centroid, and sample when it is too large.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.SelfTriggeredCentroid(v_max=0.2)
    >>> dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=1.0).stop.reason.value
    'horizon'
    """

    v_max: float = param(
        "the largest speed", POSITIVE, default=1.0, unit=SPEED, role="speed",
        label="top speed", sign=r"v_{\max}",
    )  # fmt: skip
    dt: float = param(
        "the time that one move takes", POSITIVE, default=0.025, unit=TIME, role="clock",
        label="time step", sign=r"\Delta t",
    )  # fmt: skip
    epsilon: float = param(
        "the uncertainty that is always accepted", NOT_NEGATIVE, default=0.1,
        unit=LENGTH, label="accepted uncertainty", sign=r"\varepsilon",
    )  # fmt: skip
    t_max: float | None = param(
        "the longest time between two samples", POSITIVE, default=None, unit=TIME,
        absent="the horizon",
    )  # fmt: skip
    decision: str = param("when the next sample is decided", Word(DECISIONS), default="multi-step")
    bound: str = param(SIZE, SIZES, default="circumradius")

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        Agents move towards a point of their own cells and never past it, and towards a ball that
        holds the centroid and never into it.
        """
        return Traits(
            information=Information(own="always", others="samples"),
            top_speed=self.v_max,
            stays_inside=True,
            cost_decreases=True,
            guaranteed=True,
            nonlinear="waits depend on how far others might have moved: no linear model",
        )

    @property
    def longest_sleep(self) -> float:
        """Most steps between two updates; at least one."""
        return math.inf if self.t_max is None else max(1, math.floor(self.t_max / self.dt + WHOLE))

    def begin(self, observation: Observation) -> Command:
        """Plan moves from the first sample."""
        return self._updated(observation, 0)

    def decide(self, observation: Observation) -> Command:
        """Plan anew after a sample, else follow the plan."""
        step = observation.event_count + 1
        if observation.sample is not None:
            return self._updated(observation, step)
        plan = observation.memory
        assert isinstance(plan, CentroidPlan)
        if plan.moves:
            return self._order(step, plan, 0)
        plan, cells = self._ahead(observation, step, plan)
        return self._order(step, plan, cells)

    def miss(self, observation: Observation) -> Command:
        """Without a sample: one more move by the last one, then sample again."""
        plan, step = observation.memory, observation.event_count + 1
        assert isinstance(plan, CentroidPlan)
        ball = self._ball(observation, step, plan.sample, _place(observation))
        return self._order(
            step, CentroidPlan(plan.sample, 0, (self._velocity(ball, observation),), None), 1
        )

    def _updated(self, observation: Observation, step: int) -> Command:
        sample = observation.sample
        assert sample is not None
        ball = self._ball(observation, step, sample, _place(observation))
        if ball is None:  # stop, and sample again at the next step
            stand = (self._velocity(None, observation),)
            return self._order(step, CentroidPlan(sample, 1, stand, None), 1, mark=1)
        plan, cells = self._ahead(observation, step, CentroidPlan(sample, 0, (), ball))
        return self._order(step, plan, 1 + cells, mark=1)

    def _ahead(
        self, observation: Observation, step: int, plan: CentroidPlan
    ) -> tuple[CentroidPlan, int]:
        """`plan` with moves from `step` on, until the next update; and how many pairs of cells.

        The own motion and the growth of the balls are known in advance.
        """
        most = LONGEST_PLAN if self.decision == "multi-step" else 1
        place = _place(observation)
        moves: list[tuple[float, ...]] = []
        steps, ball, cells = plan.steps, plan.goal, 0
        while ball is not None and len(moves) < most:
            velocity = self._velocity(ball, observation)
            moves.append(velocity)
            now, then = step * self.dt, (step + 1) * self.dt
            place = tuple(x + v * (then - now) for x, v in zip(place, velocity, strict=True))
            step, steps, ball = step + 1, steps + 1, None
            if steps < self.longest_sleep:
                ball = self._ball(observation, step, plan.sample, place)
                cells += 1
            if ball is not None and ball.radius >= max(ball.distance, self.epsilon):
                ball = None
        return CentroidPlan(plan.sample, steps, tuple(moves), ball), cells

    def _ball(
        self, observation: Observation, step: int, sample: Sample, place: tuple[float, ...]
    ) -> CentroidBall | None:
        """The ball that contains the centroid at a step, for the agent at this position."""
        ground = observation.ground
        assert isinstance(ground, WeightedRegion)
        radii = np.full(len(sample.agents), self.v_max * (step * self.dt - sample.time))
        return centroid_ball(ground, place, sample.positions, radii, self.bound)

    def _velocity(self, ball: CentroidBall | None, observation: Observation) -> tuple[float, ...]:
        if ball is None:
            return (0.0,) * len(observation.position)
        return velocity_to(ball, self.v_max, self.dt)

    def _order(self, step: int, plan: CentroidPlan, cells: int, *, mark: int = 0) -> Command:
        """Make the first move of the plan; sample after it if it is the last."""
        rest = plan.moves[1:]
        return Command(
            hold=np.array(plan.moves[0]),
            next_at=(step + 1) * self.dt,
            measures=not rest and plan.goal is None,
            memory=CentroidPlan(plan.sample, plan.steps, rest, plan.goal),
            guaranteed=cells,
            dual_guaranteed=cells,
            mark=mark,
        )


def _place(observation: Observation) -> tuple[float, ...]:
    return tuple(map(float, observation.position))

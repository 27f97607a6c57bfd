"""Event-triggered broadcasts with speed bounds, after Ajina, Tabatabai and Nowzari (2021).

No agent samples. An agent broadcasts its position and a speed that it will not exceed until its
next broadcast, so that each agent knows a ball that contains each other agent. From the balls
follows a convex set that contains the agent's centroid. The agent goes towards its projection on
that set, and broadcasts only when it changes its speed.

The convex set, the choice of speeds and the triggers (equations 10 and 12 of that paper) are
reconstructed from a short account of it; see the page of this law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, finite_number, listed
from dwell.agents.interfaces import Command, Information, Message, Observation
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.centroid_bounds import BOUNDS, CentroidBall, centroid_ball
from dwell.controllers.parameters import Parameters

WHOLE = 1e-9  # heartbeat / dt may be this far above a whole number


@final
@dataclass(frozen=True, slots=True, eq=False)
class BroadcastMemory:
    """The memory of an agent from step to step."""

    level: int  # of the speed bound in its last broadcast
    spoke: int  # the step of its last broadcast


@final
@dataclass(frozen=True)
class EventTriggered:
    """Agents broadcast positions and speed bounds, and move to a set that contains the centroid.

    Parameters
    ----------
    s_max : top speed of every agent.
    dt : time between two decisions.
    levels : the possible speeds, in parts of s_max: ascending from 0 to 1.
    k_v : desired speed per distance from the set, per time; rounded down to a level.
    d_stop : a moving agent this close to the set stops, a length.
    d_start : a waiting agent this far from the set starts, a length above d_stop.
    heartbeat : longest silence of an agent; None for no limit.
    bound : "diameter" or "circumradius": how the dual guaranteed cell is measured.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.EventTriggered(s_max=0.5, dt=0.1)
    >>> dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=1.0).stop.reason.value
    'horizon'
    """

    s_max: float = 1.0
    dt: float = 0.05
    levels: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0)
    k_v: float = 1.0
    d_stop: float = 0.01
    d_start: float = 0.02
    heartbeat: float | None = None
    bound: str = "diameter"

    information = Information(own="always", others="broadcasts")
    top_speed = property(attrgetter("s_max"), doc="The largest speed of an agent.")
    stays_inside = True  # towards a point of its own cell, and never past it
    cost_decreases = True  # towards a set that holds the centroid, and never into it

    def __post_init__(self) -> None:
        check = Parameters("event-triggered", self)
        check.positive("s_max", "dt", "k_v", "d_start")
        object.__setattr__(self, "levels", _checked_levels(check, self.levels))
        check.not_negative("d_stop")
        check.in_order("d_stop", "d_start", strictly=True)
        check.positive("heartbeat", optional=True)
        check.one_of("bound", BOUNDS)

    def begin(self, observation: Observation) -> Command:
        """Stop, and broadcast a speed bound of 0."""
        memory = BroadcastMemory(level=0, spoke=0)
        still = np.zeros(len(observation.position))
        return Command(still, self.dt, self.dt, measures=False, memory=memory, promise=0.0)

    def decide(self, observation: Observation) -> Command:
        """Move towards the set that contains the centroid, at a speed within the bound.

        A lower speed is taken at once and announced. A higher one is announced now and taken at
        the next step, when all have received it. An agent waits until it has a message of each
        other agent.
        """
        memory, ground, step = observation.memory, observation.ground, observation.event_count + 1
        assert isinstance(memory, BroadcastMemory)
        assert isinstance(ground, WeightedRegion)
        knows = len(observation.heard) == observation.agents - 1
        ball = self._ball(observation, ground) if knows else None
        level = self.level_for(memory.level, 0.0 if ball is None else ball.gap)
        silent = math.inf if self.heartbeat is None else self.heartbeat / self.dt - WHOLE
        speaks = level != memory.level or step - memory.spoke >= silent
        speed = self.levels[min(level, memory.level)] * self.s_max
        hold, cruise = np.zeros(len(observation.position)), self.dt
        if ball is not None and speed > 0.0:  # straight to the set, and stop there
            hold, cruise = np.array(ball.towards(speed)), min(self.dt, ball.gap / speed)
        return Command(
            hold=hold,
            next_at=(step + 1) * self.dt,
            cruise=cruise,
            measures=False,
            memory=BroadcastMemory(level, step if speaks else memory.spoke),
            promise=self.levels[level] * self.s_max if speaks else None,
            guaranteed=int(knows),
            dual_guaranteed=int(knows),
            mark=level,
        )

    def _ball(self, observation: Observation, ground: WeightedRegion) -> CentroidBall | None:
        places, radii = self._balls(observation.time, observation.heard)
        place = tuple(map(float, observation.position))
        return centroid_ball(ground, place, places.reshape(-1, len(place)), radii, self.bound)

    def _balls(self, now: float, heard: Mapping[int, Message]) -> tuple[Points, Floats]:
        """Last known positions of the others, (K, n), and bounds on their motion since, (K,)."""
        places = np.array([said.position for said in heard.values()])
        return places, np.array([self.radius(said, now) for said in heard.values()])

    def radius(self, said: Message, now: float) -> float:
        """A bound on the motion of the sender up to the step at time `now`.

        A raised bound is used only from the step after its broadcast; until then the one before
        holds. Ages are counted in steps, so that rounding moves no agent that stands still.
        """
        steps = round(now / self.dt - said.time / self.dt)
        return self.dt * (min(said.before, said.promise) + (steps - 1) * said.promise)

    def level_for(self, now: int, gap: float) -> int:
        """The next level of an agent at this distance from the set and at level `now`; 0: wait."""
        waits = gap <= self.d_stop if now > 0 else gap < self.d_start
        if waits:
            return 0
        wanted = min(1.0, self.k_v * gap / self.s_max)
        return max(1, sum(level <= wanted for level in self.levels) - 1)


def _checked_levels(check: Parameters, given: Any) -> tuple[float, ...]:
    values = listed(given)
    levels = tuple(number for value in values if (number := finite_number(value)) is not None)
    ascending = all(low < high for low, high in pairwise(levels))
    whole = len(levels) == len(values) >= 2
    if not (whole and ascending and levels[0] == 0.0 and levels[-1] == 1.0):
        raise check.refused("levels", "a list of ascending numbers from 0 to 1")
    return levels

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from dwell._parameters import (
    LENGTH,
    NOT_NEGATIVE,
    POSITIVE,
    RATE,
    SPEED,
    TIME,
    Fault,
    Levels,
    param,
)
from dwell._types import Floats, Points
from dwell.agents.interfaces import Command, Information, Message, Observation
from dwell.agents.traits import Traits
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.centroid_bounds import SIZE, SIZES, CentroidBall, centroid_ball
from dwell.controllers.declared import law

WHOLE = 1e-9  # heartbeat / dt may be this far above a whole number


@final
@dataclass(frozen=True, slots=True, eq=False)
class BroadcastMemory:
    """The memory of an agent from step to step."""

    level: int  # of the speed bound in its last broadcast
    spoke: int  # the step of its last broadcast


@final
@law("event-triggered", "Event-triggered", "broadcasts when its speed bound changes")
class EventTriggered:
    """Agents broadcast positions and speed bounds, and move to a set that contains the centroid.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.EventTriggered(s_max=0.5, dt=0.1)
    >>> dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=1.0).stop.reason.value
    'horizon'
    """

    s_max: float = param(
        "the largest speed", POSITIVE, default=1.0, unit=SPEED, role="speed",
        label="top speed", sign=r"s_{\max}",
    )  # fmt: skip
    dt: float = param(
        "the time between two checks of the triggers", POSITIVE, default=0.05, unit=TIME,
        role="clock", label="time step", sign=r"\Delta t",
    )  # fmt: skip
    levels: tuple[float, ...] = param(
        "the speeds that an agent may promise, in parts of `s_max`", Levels(),
        default=(0.0, 0.25, 0.5, 1.0), limits="ascending, from 0 to 1",
    )  # fmt: skip
    k_v: float = param(
        "the speed wanted per distance from the set, rounded down to a level",
        POSITIVE,
        default=1.0,
        unit=RATE,
        role="gain",
    )
    d_stop: float = param(
        "the distance at which a moving agent stops", NOT_NEGATIVE, default=0.01,
        unit=LENGTH,
    )  # fmt: skip
    d_start: float = param(
        "the distance at which a waiting agent starts", POSITIVE, default=0.02, unit=LENGTH,
        limits="above `d_stop`",
    )  # fmt: skip
    heartbeat: float | None = param(
        "the longest silence of an agent", POSITIVE, default=None, unit=TIME,
        absent="no limit", label="longest silence",
    )  # fmt: skip
    bound: str = param(SIZE, SIZES, default="diameter")

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        Agents move towards a point of their own cells and never past it, and towards a set that
        holds the centroid and never into it.
        """
        return Traits(
            information=Information(own="always", others="broadcasts"),
            top_speed=self.s_max,
            gain=self.k_v,
            stays_inside=True,
            cost_decreases=True,
            guaranteed=True,
            travel=self.travel,
            nonlinear="agents rest near the set that holds their centroids: errors do not go to 0",
        )

    @staticmethod
    def rules(law: Any) -> Iterator[Fault]:
        """What ties parameters together: levels ascend from rest to the whole."""
        code = "event-triggered.levels"
        for k, (lower, upper) in enumerate(pairwise(law.levels), start=1):
            if not lower < upper:
                text = f"must be greater than levels[{k - 1}] = {lower!r}, got {upper!r}"
                yield Fault(("levels", k), code, text)
                break
        else:
            ends = ((0, 0.0, "rest"), (len(law.levels) - 1, 1.0, "the largest speed"))
            for k, end, what in ends:
                if law.levels[k] != end:
                    text = f"must be {end:g}, which is {what}, got {law.levels[k]!r}"
                    yield Fault(("levels", k), code, text)
        if law.d_start <= law.d_stop:
            limit = f"controller.d_stop = {law.d_stop!r}"
            text = f"must be greater than {limit}, got {law.d_start!r}"
            yield Fault(("d_start",), "event-triggered.order", text)

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
        return places, np.array([self.travel(said, now) for said in heard.values()])

    def travel(self, said: Message, now: float) -> float:
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

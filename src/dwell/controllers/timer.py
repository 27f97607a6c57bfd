"""The timer-based law of Zegers, Phillips and Hicks.

At its own events an agent samples, takes k1 sat(c - x, (1 - epsilon) nu) as the velocity to hold,
and sets its timer to some value in [T1, T2]. Between events it measures and changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._checks import NORM_SLACK
from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._parameters import (
    CHANCE,
    EACH,
    LARGEST,
    LENGTH,
    POSITIVE,
    SMALLEST,
    SPEED,
    TIME,
    Fault,
    Number,
    Times,
    Vectors,
    Where,
    Word,
    common_length,
    each_of,
    nth,
    param,
    refused,
)
from dwell._types import Floats, Points
from dwell.agents.interfaces import Command, FirstCommands, Observation
from dwell.agents.traits import Traits
from dwell.cells.sensitivity import sensitivity
from dwell.controllers.declared import law
from dwell.controllers.feedforward import (
    Drive,
    driven,
    feedforward,
    information_with,
    limited,
    trust,
)
from dwell.controllers.saturation import centroid_of, saturated, without_sample

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

RESET_RULES = {
    "uniform": "at random, evenly on [t1, t2]",
    "earliest": "t1",
    "latest": "t2",
    "periodic": "`period`, counted from the first sample, so nothing drifts",
    "sequence": "`intervals` one after another, from the start again when used up",
    "dropout": "t1, but each sample is lost with chance `loss` and comes t1 later, at the latest "
    "after t2",
    "adaptive": "as long as the hold error, followed to first order from the derivatives of the "
    "centroid, stays within `eta_max`, in [t1, t2]",
}

PerAgent = float | tuple[float, ...]


@final
@law("timer", "Timer", "samples when its timer runs out, holds its velocity in between")
class Timer:
    """Timer-based coverage control.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    k1: float = param(
        "the largest speed of an agent", POSITIVE, unit=SPEED, role="speed",
        decays=True, label="top speed", sign="k_1",
    )  # fmt: skip
    nu: float = param(
        "the tracking error that counts as covered", POSITIVE, unit=LENGTH, role="gain",
        decays=True, label="radius of coverage", sign=r"\nu",
    )  # fmt: skip
    t1: PerAgent = param(
        "the shortest wait between samples; one time, or one per agent", EACH, unit=TIME,
        role="clock", label="shortest wait", sign="T_1",
    )  # fmt: skip
    t2: PerAgent = param(
        "the longest wait between samples; one time, or one per agent", EACH, unit=TIME,
        limits="`t1` or more",
        label="longest wait", sign="T_2",
    )  # fmt: skip
    epsilon: float = param(
        "the margin kept inside `nu`: the input saturates beyond (1 - `epsilon`) `nu`",
        Number(above=0.0, below=1.0), default=1e-8, label="margin", sign=r"\varepsilon",
    )  # fmt: skip
    reset: str = param(
        "how the next wait is chosen from [t1, t2]", Word(RESET_RULES), default="uniform"
    )
    period: PerAgent | None = param(
        "the wait with `periodic`; one time, or one per agent", EACH, default=None, unit=TIME,
        limits="[`t1`, `t2`]",
        belongs=("reset", "periodic"), absent="t2", label="period",
    )  # fmt: skip
    intervals: tuple[float, ...] | tuple[tuple[float, ...], ...] | None = param(
        "the waits with `sequence`, in order: one list of times, or one per agent", Times(),
        limits="[`t1`, `t2`]",
        default=None, unit=TIME, belongs=("reset", "sequence"), needed=True,
    )  # fmt: skip
    loss: float | None = param(
        "the chance that a sample is lost with `dropout`", CHANCE,
        default=None, belongs=("reset", "dropout"), needed=True, label="chance of a lost sample",
    )  # fmt: skip
    eta_max: float | None = param(
        "the hold error that `adaptive` keeps to, to first order", POSITIVE,
        limits="above 0, below `k1`",
        default=None, unit=SPEED, belongs=("reset", "adaptive"), needed=True,
        label="hold error kept to", sign=r"\tilde\eta_{\max}",
    )  # fmt: skip
    initial_hold: tuple[tuple[float, ...], ...] | None = param(
        "the velocity of each agent before its first sample, in the plane `[vx, vy]`", Vectors(),
        limits="no faster than `k1`", absent="that of the law",
        default=None, unit=SPEED,
    )  # fmt: skip
    initial_timer: PerAgent | None = param(
        "the wait before the first sample; one time, or one per agent", EACH, default=None,
        limits="[`t1`, `t2`]", absent="t2, or what the rule gives with adaptive",
        unit=TIME,
    )  # fmt: skip
    feedforward: str = feedforward()
    trust: float | None = trust()
    _programs: dict[int, HoldProgram] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @staticmethod
    def rules(law: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        if law.feedforward == "ahead" and law.reset == "adaptive":
            text = '= "ahead" needs a wait known before the velocity, got reset = "adaptive"'
            yield Fault(("feedforward",), "timer.feedforward", text)
        if (1.0 - law.epsilon) * law.nu < SMALLEST:
            text = f"leaves less than {SMALLEST:g} of controller.nu = {law.nu!r}, got "
            yield Fault(("epsilon",), "timer.range", f"{text}{law.epsilon!r}")
        if law.eta_max is not None and law.eta_max >= law.k1:
            limit = f"controller.k1 = {law.k1!r} (no input is larger than that)"
            text = f"must be less than {limit}, got {law.eta_max!r}"
            yield Fault(("eta_max",), "timer.range", text)
        yield from _times_out_of_order(law)
        for agent, hold in enumerate(law.initial_hold or ()):
            speed = math.hypot(*hold)
            if speed > law.k1 * (1.0 + NORM_SLACK):
                limit = f"controller.k1 = {law.k1!r}"
                text = f"must not be longer than {limit}, got length {speed!r}"
                yield Fault(("initial_hold", agent), "timer.hold", text)
                return

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        Agents cannot pass their centroids, and so never leave the workspace, unless prescribed
        velocities lead them until the first sample, or feed-forward at any time.
        """
        plain = self.initial_hold is None and self.feedforward == "none"
        # Adaptive timers need the neighbours' positions.
        others = "samples" if self.reset == "adaptive" else "centroid"
        return Traits(
            information=information_with(self.feedforward, others),
            top_speed=self.k1,
            gain=self.k1 / self.reach,
            nu=self.nu,
            stays_inside=plain and self.k1 * float(np.max(self.t2)) <= self.reach,
            follows=self.feedforward,
            solves=self.feedforward == "neighbours" and self.reset != "adaptive",
            shortest_interval=self.t1,
            longest_interval=self.t2,
            timer=self,
        )

    def earlier(self, margin: float) -> Timer:
        """This law with its longest waits reduced by a margin."""
        shorter = tuple((np.atleast_1d(self.t2) - margin).tolist())
        return replace(self, t2=shorter if np.ndim(self.t2) else shorter[0])

    @property
    def reach(self) -> float:
        """(1 - epsilon) nu: errors up to here are not saturated."""
        return (1.0 - self.epsilon) * self.nu

    def program(self, agents: int) -> HoldProgram | None:
        """The law as plain numbers for the compiled engine; None for adaptive and feed-forward."""
        plain = self.reset != "adaptive" and self.feedforward == "none"
        return self.numbers(agents) if plain else None

    def numbers(self, agents: int) -> HoldProgram:
        """The law as plain numbers for `agents` agents; every list must fit that number."""
        if agents not in self._programs:
            self._programs[agents] = self._build(agents)
        return self._programs[agents]

    def _build(self, n: int) -> HoldProgram:
        from dwell._kernels.common.hold_law import HoldProgram

        t1, t2 = each_of(self, "t1", n), each_of(self, "t2", n)
        period = t2 if self.period is None else each_of(self, "period", n)
        if self.initial_timer is not None:
            each_of(self, "initial_timer", n)
        intervals = self._interval_table(n)
        if self.initial_hold is not None and len(self.initial_hold) != n:
            raise refused(
                self, "initial_hold", self.initial_hold, f"one velocity for each of {n} agents"
            )
        rule, loss = list(RESET_RULES).index(self.reset), float(self.loss or 0.0)
        return HoldProgram(float(self.k1), self.reach, rule, t1, t2, period, intervals, loss)

    def _interval_table(self, n: int) -> Floats:
        if self.intervals is None:
            return np.zeros((n, 0))
        table = np.array(self.intervals, dtype=np.float64)
        if table.ndim == 1:
            table = np.tile(table, (n, 1))
        if table.shape[0] != n:
            raise refused(self, "intervals", f"{table.shape[0]} lists", f"one per agent ({n})")
        return np.ascontiguousarray(table)

    def begin(self, observation: Observation) -> Command:
        """Start with the input the law gives (or the one given), and a full timer.

        The first event of an agent that arrives later is an ordinary sample.
        """
        if observation.time > 0.0:
            return self.decide(observation)
        agent, agents = observation.agent, observation.agents
        timer = self.numbers(agents).t2[agent]
        if self.initial_timer is not None:
            timer = each_of(self, "initial_timer", agents)[agent]
        drive = self._input(observation, float(timer))
        hold = drive.velocity
        if self.initial_hold is not None:
            hold = np.array(self.initial_hold[agent], dtype=np.float64)
        if self.reset == "adaptive" and self.initial_timer is None:
            timer, _ = self._adapted(observation, hold)
        due, memory = observation.time + float(timer), centroid_of(observation)
        return Command(hold, due, memory=memory, mark=drive.mark)

    def begin_all(self, errors: Points) -> FirstCommands:
        """First decisions of all agents at once."""
        n = len(errors)
        timers = self.numbers(n).t2
        if self.initial_timer is not None:
            timers = each_of(self, "initial_timer", n)
        if self.initial_hold is not None:
            return FirstCommands(np.array(self.initial_hold, dtype=np.float64), timers.copy())
        return FirstCommands(saturated(errors, float(self.k1), self.reach), timers.copy())

    def decide(self, observation: Observation) -> Command:
        """Hold k1 sat(e), or the velocity with feed-forward, and reset the timer."""
        memory = centroid_of(observation)
        if self.reset == "adaptive":
            hold = self._input(observation, math.nan).velocity
            return self._ordered(observation, Command(hold, math.inf, memory=memory))
        order = self._ordered(observation, Command(observation.hold, math.inf, memory=memory))
        drive = self._input(observation, order.next_at - observation.time)
        return replace(order, hold=drive.velocity, mark=drive.mark)

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid, stop there, and reset the timer."""
        still = without_sample(observation, float(self.k1), self.reach, math.inf)
        return self._ordered(observation, still)

    def _ordered(self, observation: Observation, segment: Command) -> Command:
        """A segment as it is, with the next sample when the rule says."""
        from dwell._kernels.common.hold_law import next_sample

        if self.reset == "adaptive":
            wait, mark = self._adapted(observation, segment.hold)
            return replace(segment, next_at=observation.time + wait, mark=mark)
        seen, program = observation, self.numbers(observation.agents)
        given = seen.agent, seen.event_count, seen.time, seen.first_event_at, seen.draw
        return replace(segment, next_at=float(next_sample(*given, program)))

    def _adapted(self, observation: Observation, hold: Points) -> tuple[float, int]:
        """The longest dwell time that keeps the hold error within its limit, to first order.

        And whether it had to be cut off at t1 or at t2. The error changes at most at the rate
        own |hold| + others k1, as no agent is faster than k1, with feed-forward also at that of the
        world, and the input by k1 / max(reach, |e|) times that. The initial hold error is
        subtracted from the limit.
        """
        program = self.numbers(observation.agents)
        t1, t2 = float(program.t1[observation.agent]), float(program.t2[observation.agent])
        sample, measured, ground = observation.sample, observation.measurement, observation.ground
        if sample is None or ground is None or measured is None or measured.empty:
            return t1, IN_TIME
        place = observation.position
        found = sensitivity(ground.workspace, place, sample.positions, ground.density)
        error, speed = math.hypot(*measured.error), math.hypot(*hold)
        drift = found.own * speed + found.others * self.k1
        if observation.rate is not None:
            drift += math.hypot(*observation.rate())
        rate = self.k1 / max(self.reach, error) * drift
        assert self.eta_max is not None
        left = self.eta_max - math.hypot(*(hold - self._input(observation, math.nan).velocity))
        if left <= 0.0:
            return t1, FLOOR
        wait = left / rate if rate > 0.0 else math.inf
        if wait < t1:
            return t1, FLOOR
        return (wait, IN_TIME) if wait <= t2 else (t2, CEILING)

    def _input(self, observation: Observation, wait: float) -> Drive:
        """The velocity to hold until the next sample, after `wait`, which only "ahead" needs."""
        assert observation.measurement is not None
        k1 = float(self.k1)
        if self.feedforward == "none":
            return Drive(saturated(observation.measurement.error, k1, self.reach))
        drive = driven(observation, k1 / self.reach, self.feedforward, self.trust, wait)
        return drive._replace(velocity=limited(drive.velocity, k1))


def _times_out_of_order(law: Any) -> Iterator[Fault]:
    """Waits that are too long for numbers, or beyond the limits of their agents."""
    longest = max(law.t2) if isinstance(law.t2, tuple) else law.t2
    if law.k1 * longest > LARGEST:
        text = f"times controller.k1 must be at most {LARGEST:g}, got {longest!r}"
        yield Fault(("t2",), "timer.range", text)
    agents = common_length(law.t1, law.t2)
    if agents is None:
        text = f"needs as many entries as controller.t1, {len(law.t1)}, got {len(law.t2)}"
        yield Fault(("t2",), "scenario.length", text)
        return
    for agent in range(agents):
        low, high = nth(law.t1, agent), nth(law.t2, agent)
        if low > high:
            where: Where = ("t1", agent) if isinstance(law.t1, tuple) else ("t1",)
            limit = f"controller.t2[{agent}]" if isinstance(law.t2, tuple) else "controller.t2"
            text = f"must be at most {limit} = {high!r}, got {low!r}"
            yield Fault(where, "timer.order", text)
            return
    yield from _beyond(("period",), law.period, law.t1, law.t2)
    yield from islice(_intervals_beyond(law), 1)
    yield from _beyond(("initial_timer",), law.initial_timer, law.t1, law.t2)


def _intervals_beyond(law: Any) -> Iterator[Fault]:
    """Intervals outside [t1, t2] of the agent that waits for them."""
    rows = law.intervals or ()
    sizes = [len(row) for row in rows if isinstance(row, tuple)]
    if len(set(sizes)) > 1:
        agent = next(k for k, size in enumerate(sizes) if size != sizes[0])
        text = f"needs as many entries as intervals[0], {sizes[0]}, got {sizes[agent]}"
        yield Fault(("intervals", agent), "scenario.length", text)
    if not any(isinstance(row, tuple) for row in rows):
        for k, wait in enumerate(rows):
            yield from _beyond(("intervals", k), wait, law.t1, law.t2)
    elif common_length(rows, law.t1, law.t2) is not None:
        for agent, row in enumerate(rows):
            for k, wait in enumerate(row):
                limits = nth(law.t1, agent), nth(law.t2, agent)
                yield from _beyond(("intervals", agent, k), wait, *limits)


def _beyond(where: Where, waits: PerAgent | None, t1: PerAgent, t2: PerAgent) -> Iterator[Fault]:
    """The first agent whose wait is outside its [t1, t2]."""
    if waits is None:
        return
    for agent in range(common_length(waits, t1, t2) or 0):
        low, wait, high = nth(t1, agent), nth(waits, agent), nth(t2, agent)
        if not low <= wait <= high:
            at = (*where, agent) if isinstance(waits, tuple) else where
            whose = "" if at != where or common_length(t1, t2) == 1 else f" of agent {agent}"
            text = f"must lie between t1 = {low!r} and t2 = {high!r}{whose}, got {wait!r}"
            yield Fault(at, "timer.range", text)
            return

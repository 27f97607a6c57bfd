"""The timer-based law of Zegers, Phillips and Hicks.

At its own events an agent samples, takes k1 sat(c - x, (1 - epsilon) nu) as the velocity to hold,
and sets its timer to some value in [T1, T2]. Between events it measures and changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._checks import NORM_SLACK
from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._types import Floats, Points, as_numbers, finite_number, lengths
from dwell.agents.interfaces import Command, FirstCommands, Information, Observation
from dwell.cells.sensitivity import sensitivity
from dwell.controllers.feedforward import (
    Drive,
    check_feedforward,
    driven,
    information_with,
    limited,
)
from dwell.controllers.parameters import LARGEST, SMALLEST, Parameters, refused
from dwell.controllers.saturation import centroid_of, saturated, without_sample
from dwell.errors import ControllerError

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

RESET_RULES = ("uniform", "earliest", "latest", "periodic", "sequence", "dropout", "adaptive")

PerAgent = float | tuple[float, ...]

# Options that belong to one reset rule.
_LISTS = {  # how many axes lists may have that are not one number per agent, and what is needed
    "intervals": (2, "a list of numbers, or one such list per agent, all of equal lengths,"),
    "initial_hold": (2, "one velocity per agent"),
}
_refused = partial(refused, "timer")
_OWNERS = {"period": "periodic", "intervals": "sequence", "loss": "dropout", "eta_max": "adaptive"}


@final
@dataclass(frozen=True)
class Timer:
    """Timer-based coverage control.

    Parameters
    ----------
    k1 : top speed.
    nu : errors up to this radius count as covered; beyond (1 - epsilon) nu the input saturates.
    t1, t2 : shortest and longest interval between two samples; one number, or one per agent.
    reset : how the next interval is chosen.
        "uniform": at random, evenly on [t1, t2]; "earliest": t1; "latest": t2;
        "periodic": `period` (t2 unless given), counted from the first sample so nothing drifts;
        "sequence": `intervals` one after another, from the start again when used up (one list for
        all, or one per agent); "dropout": t1, but each sample is lost with chance `loss` and comes
        t1 later, at the latest after t2; "adaptive": as long as the hold error, followed to first
        order from the derivatives of the centroid, stays within `eta_max` (below k1), in [t1, t2].
    initial_hold : velocities to start with; by default what the law itself gives at the start.
    initial_timer : time until the first sample, in [t1, t2]; t2 by default (what the rule itself
        gives, with "adaptive").
    feedforward : what is added to follow a density or a workspace that moves: "none"; "own", the
        rate of the own centroid; "ahead", its mean rate until the next sample; "neighbours", also
        the share `trust` of what the neighbours' motion adds. The speed is at most k1.
    trust : above 0, at most 1; 0.95 unless given.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=60.0)
    >>> run.positions(60.0).ravel().round(6).tolist()
    [0.25, 0.75]
    """

    k1: float
    nu: float
    t1: PerAgent
    t2: PerAgent
    epsilon: float = 1e-8
    reset: str = "uniform"
    period: PerAgent | None = None
    intervals: tuple[float, ...] | tuple[tuple[float, ...], ...] | None = None
    loss: float | None = None
    eta_max: float | None = None
    initial_hold: tuple[tuple[float, ...], ...] | None = None
    initial_timer: PerAgent | None = None
    feedforward: str = "none"
    trust: float | None = None
    _programs: dict[int, HoldProgram] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    top_speed = property(attrgetter("k1"), doc="The largest speed of an agent.")

    def __post_init__(self) -> None:
        check = Parameters("timer", self)
        check.positive("k1", "nu")
        check.within("epsilon", 0.0, 1.0, need := "a number in (0, 1), not too near 1,")
        if self.reach < SMALLEST:
            raise check.refused("epsilon", need)
        check.one_of("reset", RESET_RULES)
        check_feedforward(check)
        for name in ("t1", "t2", "period", "initial_timer", "initial_hold", "intervals"):
            value = getattr(self, name)
            if value is not None and finite_number(value) is None:
                object.__setattr__(self, name, _as_tuple(name, value))
        self._check_options(check)
        self._check_intervals()

    def _check_options(self, check: Parameters) -> None:
        if self.reset == "adaptive" and self.feedforward == "ahead":
            raise _refused("feedforward", "ahead", 'a wait known before, not reset = "adaptive",')
        for name, rule in _OWNERS.items():
            check.belongs(name, "reset", rule)
            if self.reset == rule and getattr(self, name) is None and rule != "periodic":
                raise _refused(name, None, f'a value for reset = "{rule}"')
        if self.loss is not None:
            check.within("loss", 0.0, 1.0, "a chance in [0, 1)", ends="[)")
        if self.eta_max is not None:
            check.positive("eta_max")
            if self.eta_max >= self.k1:
                need = f"a number below k1 = {self.k1:g} (no input is larger than that)"
                raise _refused("eta_max", self.eta_max, need)

    def _check_intervals(self) -> None:
        t1, t2 = np.atleast_1d(self.t1).astype(float), np.atleast_1d(self.t2).astype(float)
        for name, values in (("t1", t1), ("t2", t2)):
            if values.size == 0 or not (np.isfinite(values).all() and (values > 0.0).all()):
                raise _refused(name, getattr(self, name), "positive numbers (no Zeno)")
            if values.max() > LARGEST or self.k1 * values.max() > LARGEST:
                need = f"times up to {LARGEST:g}, and k1 times them up to {LARGEST:g},"
                raise _refused(name, float(values.max()), need)
        if len(t1) > 1 and len(t2) > 1 and len(t1) != len(t2):
            raise _refused("t2", self.t2, f"one value, or {len(t1)} as for t1,")
        low, high = np.broadcast_arrays(t1, t2)
        if (low > high).any():
            k = int(np.argmax(low > high))
            raise ControllerError(
                f"t1 must not exceed t2, but agent {k} has t1 = {low[k]:g} and t2 = {high[k]:g}",
                code="timer.order",
                key="controller.t1",
            )

    @property
    def stays_inside(self) -> bool:
        """Whether agents cannot pass their centroids, and so never leave the workspace.

        Prescribed velocities may lead anywhere until the first sample, and feed-forward at any
        time.
        """
        own = self.initial_hold is None and self.feedforward == "none"
        return own and self.k1 * float(np.max(self.t2)) <= self.reach

    @property
    def reach(self) -> float:
        """(1 - epsilon) nu: errors up to here are not saturated."""
        return (1.0 - self.epsilon) * self.nu

    @property
    def information(self) -> Information:
        """What an agent receives; adaptive timers need the neighbours' positions."""
        others = "samples" if self.reset == "adaptive" else "centroid"
        return information_with(self.feedforward, others)

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

        t1, t2 = _per_agent("t1", self.t1, n), _per_agent("t2", self.t2, n)
        period = t2 if self.period is None else _per_agent("period", self.period, n)
        _within("period", period, t1, t2)
        if self.initial_timer is not None:
            _within("initial_timer", _per_agent("initial_timer", self.initial_timer, n), t1, t2)
        intervals = self._interval_table(n)
        for column in intervals.T:
            _within("intervals", column, t1, t2)
        if self.initial_hold is not None:
            self._check_holds(n)
        rule, loss = RESET_RULES.index(self.reset), float(self.loss or 0.0)
        return HoldProgram(float(self.k1), self.reach, rule, t1, t2, period, intervals, loss)

    def _interval_table(self, n: int) -> Floats:
        if self.intervals is None:
            return np.zeros((n, 0))
        table = np.array(self.intervals, dtype=np.float64)
        if table.ndim == 1:
            table = np.tile(table, (n, 1))
        if table.shape[0] != n or table.shape[1] == 0:
            raise _refused("intervals", f"{table.shape[0]} lists", f"one per agent ({n})")
        return np.ascontiguousarray(table)

    def _check_holds(self, n: int) -> None:
        holds = np.array(self.initial_hold, dtype=np.float64)
        if holds.ndim != 2 or len(holds) != n or not np.isfinite(holds).all():
            need = f"one velocity for each of {n} agents"
            raise _refused("initial_hold", f"an array of shape {holds.shape}", need)
        speed = lengths(holds)
        if (speed > self.k1 * (1.0 + NORM_SLACK)).any():
            p = int(np.argmax(speed))
            need = f"a speed of at most k1 = {self.k1!r}"
            raise _refused(f"initial_hold[{p}]", float(speed[p]), need)

    def begin(self, observation: Observation) -> Command:
        """Start with the input the law gives (or the one given), and a full timer.

        The first event of an agent that arrives later is an ordinary sample.
        """
        if observation.time > 0.0:
            return self.decide(observation)
        agent, agents = observation.agent, observation.agents
        timer = self.numbers(agents).t2[agent]
        if self.initial_timer is not None:
            timer = _per_agent("initial_timer", self.initial_timer, agents)[agent]
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
            timers = _per_agent("initial_timer", self.initial_timer, n)
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


def _as_tuple(name: str, value: object) -> tuple[object, ...]:
    axes, need = _LISTS.get(name, (1, "a number, or one per agent,"))
    rows = as_numbers(value)
    if rows is None or rows.ndim > axes or (rows.ndim == 0 and not np.isfinite(rows)):
        raise _refused(name, value, need)
    return tuple(tuple(map(float, r)) if rows.ndim > 1 else float(r) for r in np.atleast_1d(rows))


def _per_agent(name: str, value: PerAgent, n: int) -> Floats:
    values = np.atleast_1d(np.array(value, dtype=np.float64))
    if len(values) not in (1, n):
        need = f"one value, or one for each of {n} agents,"
        raise _refused(name, f"a list of {len(values)}", need)
    return np.ascontiguousarray(np.broadcast_to(values, (n,)))


def _within(name: str, values: Floats, t1: Floats, t2: Floats) -> None:
    bad = ~((values >= t1) & (values <= t2))
    if bad.any():
        p = int(np.argmax(bad))
        raise _refused(name, f"{values[p]:g} for agent {p}", f"a value in [{t1[p]:g}, {t2[p]:g}]")

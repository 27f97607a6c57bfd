"""What the `controller` and `network` tables may say: one class per law.

A key that belongs to one choice of another key, such as `dt` to mode = "sampled", is absent by
default. Where it applies, its default is in its description and is filled in by the law itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from . import checks
from .problems import Problem, needs
from .values import (
    Chance,
    Fraction,
    Function,
    Intervals,
    Levels,
    NotNegative,
    Parameter,
    PerAgent,
    PointList,
    Positive,
    Relaxation,
    Table,
    Tolerance,
    as_number,
    as_whole,
    doc,
)

NORM_SLACK = 1e-12  # relative rounding of a norm, as in the law
LLOYD_DT = 0.01  # what the law takes if the key is absent
# Laws that work with guaranteed cells, and the dimensions in which there are such cells.
GUARANTEED_KINDS = ("self-triggered", "self-triggered-centroid", "event-triggered")
GUARANTEED_AT_MOST = 3


TERMS_AT_MOST = 1000  # of the series of the tvd law


def as_order(value: object) -> str | int:
    """The order of the tvd law: "C", or a whole number from 0 on."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value == "C" or (whole and isinstance(value, int) and 0 <= value <= TERMS_AT_MOST):
        assert isinstance(value, str | int)
        return value
    raise needs(f'"C", or a whole number from 0 to {TERMS_AT_MOST}')


Feedforward: TypeAlias = Literal["none", "own", "ahead", "neighbours"]
Trust: TypeAlias = Annotated[float, Field(gt=0, le=1), BeforeValidator(as_number)]
Order: TypeAlias = Annotated[
    str | int,
    BeforeValidator(as_order),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "C"},
                {"type": "integer", "minimum": 0, "maximum": TERMS_AT_MOST},
            ]
        }
    ),
]
FOLLOWS = "what is added to follow a density or a workspace that moves"
SHARE = "the share of the neighbours' motion with feedforward neighbours, up to 1; 0.95 if absent"


class TimerSpec(Table):
    """The timer-based law: each agent samples at the end of a wait drawn from [t1, t2]."""

    kind: Literal["timer"] = doc("which law this is")
    k1: Positive = doc("the largest speed of an agent, length per time")
    nu: Positive = doc("the tracking error that counts as covered, a length")
    epsilon: Fraction = doc("the margin kept inside nu, between 0 and 1, without unit", 1e-8)
    t1: PerAgent = doc("the shortest wait between samples; one time, or one per agent")
    t2: PerAgent = doc("the longest wait between samples; one time, or one per agent")
    reset: Literal[
        "uniform", "earliest", "latest", "periodic", "sequence", "dropout", "adaptive"
    ] = doc("how the next wait is chosen from [t1, t2]", "uniform")
    period: PerAgent | None = doc(
        "the wait with reset periodic; one time, or one per agent; t2 if absent", None
    )
    intervals: Intervals | None = doc(
        "the waits with reset sequence, in order: one list of times, or one each", None
    )
    loss: Chance | None = doc(
        "the chance that a sample is lost with reset dropout, from 0 to below 1", None
    )
    eta_max: Positive | None = doc(
        "the hold error that reset adaptive keeps to, to first order; length per time", None
    )
    initial_hold: PointList | None = doc(
        "the velocity of each agent before its first sample, in the plane [vx, vy]", None
    )
    initial_timer: PerAgent | None = doc(
        "the wait before the first sample; one time, or one per agent", None
    )
    feedforward: Feedforward = doc(FOLLOWS, "none")
    trust: Trust | None = doc(SHARE, None)

    def _problems(self) -> Iterator[Problem]:
        yield from checks.belong(self, "feedforward", {"trust": "neighbours"}, "timer.feedforward")
        if self.feedforward == "ahead" and self.reset == "adaptive":
            says = '= "ahead" needs a wait known before the velocity, got reset = "adaptive"'
            yield Problem(("feedforward",), "timer.feedforward", says)
        owners = {
            "period": "periodic", "intervals": "sequence", "loss": "dropout", "eta_max": "adaptive"
        }  # fmt: skip
        yield from checks.belong(self, "reset", owners, "timer.reset")
        for key, owner in owners.items():
            if self.reset == owner and getattr(self, key) is None and key != "period":
                says = f'is missing; reset = "{owner}" needs it'
                yield Problem((key,), "scenario.missing-key", says)
        wrong_order = list(checks.order(self.t1, self.t2))
        if wrong_order:
            yield from wrong_order
        else:
            yield from checks.within(("period",), self.period, self.t1, self.t2)
            yield from checks.intervals_within(self.intervals or (), self.t1, self.t2)
            yield from checks.within(("initial_timer",), self.initial_timer, self.t1, self.t2)
        for agent, hold in enumerate(self.initial_hold or ()):
            speed = math.hypot(*hold)
            if speed > self.k1 * (1 + NORM_SLACK):
                says = f"must not be longer than controller.k1 = {self.k1!r}, got length {speed!r}"
                yield Problem(("initial_hold", agent), "timer.hold", says)
                return

    def each_per_agent(self, agents: int, later: int) -> Iterator[Problem]:
        """Lists that do not have one entry for each agent."""
        for key in ("t1", "t2", "period", "initial_hold", "initial_timer"):
            yield from checks.one_per_agent((key,), getattr(self, key), agents, later)
        intervals = self.intervals or ()
        if intervals and isinstance(intervals[0], tuple):
            yield from checks.one_per_agent(("intervals",), intervals, agents, later)

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Velocities that do not have n coordinates."""
        yield from checks.points(("initial_hold",), self.initial_hold, n)


class LloydSpec(Table):
    """Lloyd's law in continuous time: the velocity is k2 times the way to the centroid."""

    kind: Literal["lloyd"] = doc("which law this is")
    k2: Positive = doc("the gain, per time", 1.0)
    mode: Literal["sampled", "ode"] = doc(
        "sampled: all sample every dt and hold a velocity; ode: the differential "
        "equation itself, solved to a tolerance",
        "sampled",
    )
    dt: Positive | None = doc("the time between samples with mode sampled; 0.01 if absent", None)
    tolerance: Tolerance | None = doc(
        "the accuracy with mode ode, relative to the size of the workspace, from "
        "1e-13 to 0.01; 1e-9 if absent",
        None,
    )
    speed: Positive | None = doc("the largest speed; no limit if absent", None)
    feedforward: Feedforward = doc(FOLLOWS, "none")
    trust: Trust | None = doc(SHARE, None)

    def _problems(self) -> Iterator[Problem]:
        owners = {"dt": "sampled", "tolerance": "ode"}
        yield from checks.belong(self, "mode", owners, "lloyd.mode")
        yield from checks.belong(self, "feedforward", {"trust": "neighbours"}, "lloyd.feedforward")
        if self.feedforward != "none" and self.mode != "sampled":
            says = f'needs mode = "sampled", got mode = "{self.mode}"; leave it out'
            yield Problem(("feedforward",), "lloyd.feedforward", says)


class DiscreteLloydSpec(Table):
    """Lloyd's law in steps: an agent moves some part of the way to its centroid at a time."""

    kind: Literal["discrete-lloyd"] = doc("which law this is")
    step: Positive = doc("the time that one move takes", 1.0)
    relaxation: Relaxation = doc(
        "the part of the way to the centroid that a move goes, between 0 and 2", 1.0
    )
    speed: Positive | None = doc("the largest speed, length per time; no limit if absent", None)
    schedule: Literal["synchronous", "round-robin", "random", "poisson"] = doc(
        "who moves when", "synchronous"
    )
    rate: Positive | None = doc(
        "moves per agent and time with schedule poisson; 1 / step if absent", None
    )

    def _problems(self) -> Iterator[Problem]:
        return checks.belong(self, "schedule", {"rate": "poisson"}, "discrete-lloyd.schedule")


class SelfTriggeredSpec(Table):
    """Each agent computes from its last sample when it needs the next."""

    kind: Literal["self-triggered"] = doc("which law this is")
    kappa: Positive = doc("the gain near the centroid, per time", 1.0)
    v: Positive = doc("the largest speed, length per time", 0.35)
    tau_min: Positive = doc("the shortest time between two samples", 0.01)
    tau_max: Positive = doc("the longest time between two samples, at least tau_min", 0.75)
    delta: Positive = doc("how far the centroid may have moved before a new sample, a length", 3.0)
    scan: Positive = doc("the time between two evaluations of the trigger, up to tau_max", 0.01)
    preset: Literal["default", "paper-like"] = doc(
        "which form of the trigger; factor, own, second, bound and stop change it", "default"
    )
    factor: Annotated[Literal[1, 2], BeforeValidator(as_whole)] | None = doc(
        "1 or 2, times the bound on the centroid; as preset says if absent", None
    )
    own: Literal["exact", "ball"] | None = doc(
        "exact: an agent knows its own place; ball: only as it knows the others'; as "
        "preset says if absent",
        None,
    )
    second: Literal["gv-centroid", "sampled"] | None = doc(
        "the point that must stay in the guaranteed cell: that cell's centroid, or the "
        "one last seen; as preset says if absent",
        None,
    )
    bound: Literal["diameter", "circumradius"] | None = doc(
        "the size of the dual guaranteed cell in the bound on the centroid: its "
        "diameter, or twice its circumradius; as preset says if absent",
        None,
    )
    stop: Literal["before", "after"] | None = doc(
        "before: sample at the last scanned time at which the trigger allows waiting; "
        "after: at the first at which it does not; as preset says if absent",
        None,
    )

    def _problems(self) -> Iterator[Problem]:
        for key in ("tau_min", "scan"):
            if getattr(self, key) > self.tau_max:
                says = f"must be at most controller.tau_max = {self.tau_max!r}, got {self.got(key)}"
                yield Problem((key,), "self-triggered.order", says)


class SelfTriggeredCentroidSpec(Table):
    """Each agent moves towards where its centroid must be; it samples when that is uncertain."""

    kind: Literal["self-triggered-centroid"] = doc("which law this is")
    v_max: Positive = doc("the largest speed, length per time", 1.0)
    dt: Positive = doc("the time that one move takes", 0.025)
    epsilon: NotNegative = doc("the uncertainty that is always accepted, a length", 0.1)
    t_max: Positive | None = doc(
        "the longest time between two samples; the horizon if absent", None
    )
    decision: Literal["multi-step", "one-step"] = doc(
        "multi-step: the next sample is planned at the last; one-step: at every move", "multi-step"
    )
    bound: Literal["circumradius", "diameter"] = doc(
        "the size of the dual guaranteed cell in the bound on the centroid: twice its "
        "circumradius, or its diameter",
        "circumradius",
    )


class EventTriggeredSpec(Table):
    """Agents broadcast position and speed bound whenever that bound changes; none samples."""

    kind: Literal["event-triggered"] = doc("which law this is")
    s_max: Positive = doc("the largest speed, length per time", 1.0)
    dt: Positive = doc("the time between two checks of the triggers", 0.05)
    levels: Levels = doc(
        "the speeds that an agent may promise, in parts of s_max: ascending, 0 to 1",
        (0.0, 0.25, 0.5, 1.0),
    )
    k_v: Positive = doc("the speed wanted per distance, per time", 1.0)
    d_stop: NotNegative = doc("the distance at which a moving agent stops, a length", 0.01)
    d_start: Positive = doc(
        "the distance at which a waiting agent starts, a length greater than d_stop", 0.02
    )
    heartbeat: Positive | None = doc(
        "the longest silence of an agent, a time; no limit if absent", None
    )
    bound: Literal["diameter", "circumradius"] = doc(
        "the size of the dual guaranteed cell in the bound on the centroid: its "
        "diameter, or twice its circumradius",
        "diameter",
    )

    def _problems(self) -> Iterator[Problem]:
        yield from checks.levels(self.levels)
        if self.d_start <= self.d_stop:
            limit = f"controller.d_stop = {self.d_stop!r}"
            says = f"must be greater than {limit}, got {self.got('d_start')}"
            yield Problem(("d_start",), "event-triggered.order", says)


class TVDSpec(Table):
    """Synchronous references for moving densities: all agents sample together and know all."""

    kind: Literal["tvd"] = doc("which law this is")
    kappa: Positive = doc("the gain, per time", 1.0)
    order: Order = doc(
        "C: with the inverse of the centroids' derivatives; 0, 1, ...: terms of its series", "C"
    )
    dt: Positive = doc("the time between samples", 0.01)
    speed: Positive | None = doc("the largest speed; no limit if absent", None)


class MinimumEnergySpec(Table):
    """The slowest motion with which the squared error of an agent falls at a given rate."""

    kind: Literal["minimum-energy"] = doc("which law this is")
    alpha: Positive = doc("the rate at which the squared error is to fall, per time", 2.0)
    rho: Positive = doc("the cost of falling short of that rate", 100.0)
    dt: Positive = doc("the time between samples", 0.01)
    speed: Positive | None = doc("the largest speed; no limit if absent", None)


class PythonSpec(Table):
    """A law of one's own: a Python class, with its parameters as further keys."""

    model_config = ConfigDict(extra="allow", serialize_by_alias=True)
    __pydantic_extra__: dict[str, Parameter] = Field(init=False)

    kind: Literal["python"] = doc("which law this is")
    law: Function = doc(
        'the class, written "module:Class"; every further key is one of its parameters',
        alias="class",
    )


class NetworkSpec(Table):
    """Samples and messages that are lost or late."""

    loss: Chance = doc("the chance that a sample or message is lost, from 0 to below 1", 0.0)
    delay: NotNegative = doc("how old a sample or message is when it arrives, a time from 0", 0.0)


LawSpec: TypeAlias = (
    TimerSpec
    | LloydSpec
    | DiscreteLloydSpec
    | SelfTriggeredSpec
    | SelfTriggeredCentroidSpec
    | EventTriggeredSpec
    | TVDSpec
    | MinimumEnergySpec
    | PythonSpec
)


# The keys of the times by which a law moves the clock.
CLOCK_KEYS: Mapping[str, tuple[str, ...]] = {
    "timer": ("t1",),
    "lloyd": ("dt",),
    "discrete-lloyd": ("step",),
    "self-triggered": ("tau_min", "scan"),
    "self-triggered-centroid": ("dt",),
    "event-triggered": ("dt",),
    "tvd": ("dt",),
    "minimum-energy": ("dt",),
    "python": (),
}


def waits(law: LawSpec) -> dict[str, checks.Each]:
    """The times by which a law moves the clock, under their keys."""
    if isinstance(law, LloydSpec):
        return {} if law.mode == "ode" else {"dt": LLOYD_DT if law.dt is None else law.dt}
    return {key: getattr(law, key) for key in CLOCK_KEYS.get(law.kind, ())}

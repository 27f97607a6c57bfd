"""Traits: what a law states of itself, and the one place where that is read.

Everything besides `begin` and `decide` that the simulator, the verifier, fleets and theory use of a
law is a trait with a default. A law that states no traits has the defaults, whatever its
parameters are called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Protocol, final, runtime_checkable

import numpy as np

from dwell._compatibility import Need
from dwell._types import Floats, as_numbers, finite_number, in_short, is_one_of, is_positive
from dwell.agents.interfaces import (
    WORDS,
    Command,
    Controller,
    Information,
    Message,
    Observation,
    answer,
)
from dwell.errors import ControllerError, DwellError

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

PerAgent = float | tuple[float, ...]
BY_DEFAULT = Information()
OPTIONAL_METHODS = ("miss", "program", "begin_all", "velocities", "earlier")


@runtime_checkable
class HoldLaw(Protocol):
    """The numbers of a law of the timer paper's kind; a `dwell.Timer` has them."""

    @property
    def k1(self) -> float:
        """The largest speed."""
        ...

    @property
    def nu(self) -> float:
        """The error that counts as covered."""
        ...

    @property
    def epsilon(self) -> float:
        """The margin inside nu."""
        ...

    @property
    def reach(self) -> float:
        """(1 - epsilon) nu: errors up to here are not saturated."""
        ...

    @property
    def t1(self) -> PerAgent:
        """The shortest wait."""
        ...

    @property
    def t2(self) -> PerAgent:
        """The longest wait."""
        ...

    @property
    def reset(self) -> str:
        """How the next wait is chosen."""
        ...

    @property
    def period(self) -> PerAgent | None:
        """The wait of periodic timers."""
        ...

    @property
    def eta_max(self) -> float | None:
        """The hold error that adaptive timers keep to."""
        ...

    @property
    def feedforward(self) -> str:
        """What is added to follow a world that moves; "none" for nothing."""
        ...

    @property
    def initial_hold(self) -> tuple[tuple[float, ...], ...] | None:
        """The velocities before the first sample."""
        ...

    @property
    def initial_timer(self) -> PerAgent | None:
        """The wait before the first sample."""
        ...

    def numbers(self, agents: int) -> HoldProgram:
        """The law as plain numbers for `agents` agents."""
        ...


@runtime_checkable
class StepLaw(Protocol):
    """The numbers of a law that moves by steps; a `dwell.DiscreteLloyd` has them."""

    @property
    def step(self) -> float:
        """The time that one move takes."""
        ...

    @property
    def relaxation(self) -> float:
        """The part of the way to the centroid that a move goes."""
        ...

    @property
    def schedule(self) -> str:
        """Who moves when."""
        ...

    @property
    def rate(self) -> float | None:
        """Moves per agent and time of random clocks."""
        ...


@runtime_checkable
class ScanLaw(Protocol):
    """The trigger by which a law finds its intervals; a `dwell.SelfTriggered` has one."""

    @property
    def kappa(self) -> float:
        """The gain near the centroid."""
        ...

    @property
    def v(self) -> float:
        """The largest speed."""
        ...

    @property
    def tau_min(self) -> float:
        """The shortest time between two samples."""
        ...

    @property
    def delta(self) -> float:
        """How far the centroid may have moved before a new sample."""
        ...

    @property
    def scan(self) -> float:
        """The time between two evaluations of the trigger."""
        ...

    def option(self, name: str) -> Any:
        """factor, own, second, bound or stop."""
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a law states of itself; every trait has a default.

    Parameters
    ----------
    information : what an agent observes.
    top_speed : the largest speed of an agent; None for no limit.
    gain : the speed per distance near the centroid; None where there is none. Comparisons match
        laws by these two, and `dwell check` verifies the speed.
    fade : the rate at which velocities decay after their hold duration; needs `information` with
        ``own="always"``.
    nu : the tracking error that counts as covered, unless the run has one.
    stays_inside : whether agents cannot leave a convex workspace.
    cost_decreases : whether the cost cannot rise from event to event.
    guaranteed : whether the law works with guaranteed cells.
    follows : the feed-forward with which it follows a world that moves: "none", "own", ...; that of
        `timer` unless it is stated.
    solves : whether the mark 1 of an event says that velocities could not be solved for.
    shortest_interval, longest_interval : limits of the time between two samples of an agent, or of
        each agent. On a fleet the keep-away needs both, and `top_speed`.
    proportional : whether velocities are `gain` times the error, cut at `top_speed`: then nothing
        else of a differential equation is needed to verify its solution.
    accuracy : that of the differential equation which the law is, relative to the diameter of the
        workspace; its method `velocities(errors)` is the right-hand side, for all agents. None for
        a law that decides event by event.
    rounding : of a velocity by a solver, relative to the diameter of the workspace per time.
    travel : ``travel(message, time)``, how far the sender can have moved since its message; None:
        as far as its speed bound says.
    period : the time between the samples of all agents together, at which the law holds `gain`
        times the error; None for other laws.
    timer : the timer law whose numbers this law has: the theorem is held against it.
    steps : the discrete law whose moves this law makes.
    scans : the self-triggered law by whose trigger this law finds its intervals.
    nonlinear : why there is no linear model of how its errors decay near rest.
    name : what the law is called in sentences; its class by default.
    absent : whether this stands for a law whose code is not there.

    Examples
    --------
    >>> import dwell
    >>> dwell.Traits(top_speed=0.5).gain is None
    True
    """

    information: Information = BY_DEFAULT
    top_speed: float | None = None
    gain: float | None = None
    fade: float = math.inf
    nu: float | None = None
    stays_inside: bool = False
    cost_decreases: bool = False
    guaranteed: bool = False
    follows: str = "none"
    solves: bool = False
    shortest_interval: PerAgent = 0.0
    longest_interval: PerAgent = math.inf
    proportional: bool = False
    accuracy: float | None = None
    rounding: float = 0.0
    travel: Callable[[Message, float], float] | None = None
    period: float | None = None
    timer: HoldLaw | None = None
    steps: StepLaw | None = None
    scans: ScanLaw | None = None
    nonlinear: str = ""
    name: str = ""
    absent: bool = False
    # Which optional methods the law has: `traits_of` finds them.
    methods: frozenset[str] = field(default=frozenset(), init=False)

    @property
    def needs_centroid_only(self) -> bool:
        """Whether the law uses nothing but the centroid of the agent's own cell."""
        return (self.information.others, self.information.world) == ("centroid", "now")

    @property
    def is_equation(self) -> bool:
        """Whether the law is a differential equation."""
        return self.accuracy is not None

    @property
    def needs(self) -> tuple[Need, ...]:
        """What the law needs of a world: see `dwell._compatibility`."""
        having = {
            Need.BEYOND_CENTROID: not self.needs_centroid_only,
            Need.FADING: math.isfinite(self.fade),
            Need.EQUATION: self.is_equation,
            Need.FOLLOWING: self.information.world == "rate",
            Need.GUARANTEED: self.guaranteed,
        }
        return tuple(need for need, has in having.items() if has)

    def intervals(self, agents: int) -> tuple[Floats, Floats]:
        """The shortest and the longest interval of each agent, as stated."""
        low, high = (self._each(name, agents) for name in ("shortest_interval", "longest_interval"))
        return low, high

    def _each(self, name: str, agents: int) -> Floats:
        values = np.atleast_1d(np.array(getattr(self, name), dtype=np.float64))
        if len(values) not in (1, agents):
            need = f"one number, or one for each of {agents} agents,"
            raise _refused(self.name, name, getattr(self, name), need)
        return np.array(np.broadcast_to(values, (agents,)))


@final
@dataclass(frozen=True, eq=False)
class AbsentLaw:
    """Stands for a law whose code is not there; raises its fault when it has to decide."""

    fault: DwellError
    traits: Traits

    def begin(self, observation: Observation) -> Command:
        """Raise the fault."""
        raise self.fault

    def decide(self, observation: Observation) -> Command:
        """Raise the fault."""
        raise self.fault


def is_law(value: object) -> bool:
    """Whether a value has the methods of a law, and is no class."""
    return isinstance(value, Controller) and not isinstance(value, type)


def traits_of(law: object) -> Traits:
    """The traits of a law, checked, with the optional methods that it has; defaults for others."""
    name = type(law).__name__
    stated = _attribute(law, "traits")
    traits = Traits() if stated is None else stated
    if not isinstance(traits, Traits):
        raise ControllerError(
            f"{name} has traits = {in_short(traits)}; a dwell.Traits(...) is needed, or none",
            code="controller.traits",
        )
    _check(name, traits)
    name = traits.name or name
    speed, gain = (_limited(getattr(traits, key)) for key in ("top_speed", "gain"))
    follows = traits.follows
    if traits.timer is not None and follows == "none":
        follows = traits.timer.feedforward
    traits = replace(traits, name=name, top_speed=speed, gain=gain, follows=follows)
    has = frozenset(key for key in OPTIONAL_METHODS if callable(_attribute(law, key)))
    if traits.is_equation and "velocities" not in has:
        raise _refused(name, "accuracy", traits.accuracy, "a method velocities(errors)")
    object.__setattr__(traits, "methods", has)
    return traits


def _attribute(law: object, name: str) -> Any:
    """An attribute of a law, None if it has none; a fault of its code is named."""
    # Laws that pass the attributes of another one on have them all the same.
    absent = getattr_static(law, name, None) is None
    read = (lambda: getattr(law, name, None)) if absent else (lambda: getattr(law, name))
    return answer(law, read, f"in its {name}")


def _limited(pace: float | None) -> float | None:
    """A speed or a gain; None for no limit."""
    return None if pace is None or pace == math.inf else float(pace)


def _is_bound(value: object) -> bool:
    number = finite_number(value)
    return number is not None and number >= 0.0


def _are_times(value: object) -> bool:
    times = as_numbers(value)
    return times is not None and times.size > 0 and times.ndim < 2 and bool((times >= 0.0).all())


def _are_positive(value: object) -> bool:
    return _are_times(value) and bool(np.all(as_numbers(value)))


def _optional(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _unlimited(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (isinstance(value, float) and value == math.inf) or fits(value)


def _is_a(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_PACE = "a number above 0, or None for no limit,", _optional(_unlimited(is_positive))
_TRUTH = "True or False", _is_a(bool, np.bool_)
_TEXT = "text", _is_a(str)
_CALL = _optional(callable)
# What each trait may be: in words, and as a test.
KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "information": ("an Information(...)", _is_a(Information)),
    "top_speed": _PACE,
    "gain": _PACE,
    "fade": ("a positive rate, or inf,", _unlimited(is_positive)),
    "nu": ("a positive length, or None,", _optional(is_positive)),
    "stays_inside": _TRUTH,
    "cost_decreases": _TRUTH,
    "guaranteed": _TRUTH,
    "follows": ('a word: "none", "own", ...,', lambda v: isinstance(v, str) and v != ""),
    "solves": _TRUTH,
    "shortest_interval": ("a time from 0 on, or one per agent,", _are_times),
    "longest_interval": ("a positive time, or one per agent,", _are_positive),
    "proportional": _TRUTH,
    "accuracy": ("a positive number, or None,", _optional(is_positive)),
    "rounding": ("a number from 0 on", _is_bound),
    "travel": ("a function of a message and a time, or None,", _CALL),
    "period": ("a positive time, or None,", _optional(is_positive)),
    "timer": ("a dwell.Timer(...), or None,", _optional(_is_a(HoldLaw))),
    "steps": ("a dwell.DiscreteLloyd(...), or None,", _optional(_is_a(StepLaw))),
    "scans": ("a dwell.SelfTriggered(...), or None,", _optional(_is_a(ScanLaw))),
    "nonlinear": _TEXT,
    "name": _TEXT,
    "absent": _TRUTH,
}


def _check(name: str, traits: Traits) -> None:
    """Refuse traits of a law that are none."""
    for key, (need, fits) in KINDS.items():
        if not fits(getattr(traits, key)):
            raise _refused(name, key, getattr(traits, key), need)
    for key, words in WORDS.items():
        if not is_one_of(word := getattr(traits.information, key), words):
            need = f"one of {', '.join(map(in_short, words))}"
            raise _refused(name, f"information.{key}", word, need)
    if not isinstance(traits.information.messages, bool):
        raise _refused(name, "information.messages", traits.information.messages, "True or False")
    shortest, longest = np.array(traits.shortest_interval), np.array(traits.longest_interval)
    agents = {shortest.size, longest.size}
    if (1 in agents or len(agents) == 1) and (shortest > longest).any():
        need = f"no more than longest_interval = {in_short(traits.longest_interval)}"
        raise _refused(name, "shortest_interval", traits.shortest_interval, need)
    if traits.proportional and traits.gain is None:
        raise _refused(name, "gain", None, "a number above 0 (as it states proportional = True)")
    if math.isfinite(traits.fade) and traits.information.own != "always":
        raise ControllerError(
            f"{name} has fade = {traits.fade:g}, a path that takes the own position between "
            'events, but its information says own = "at events"; give it '
            'Information(own="always"), or leave fade out',
            code="controller.information",
        )


def _refused(name: str, key: str, value: object, need: str) -> ControllerError:
    return ControllerError(
        f"{name} has {key} = {in_short(value)}; {need} is needed",
        code="controller.pace" if key in ("top_speed", "gain") else "controller.traits",
        key=f"controller.{key}",
    )

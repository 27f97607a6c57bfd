"""Observations, commands and controllers."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final, runtime_checkable

import numpy as np

from dwell._types import (
    Floats,
    Ints,
    Points,
    as_numbers,
    finite_number,
    finite_numbers,
    in_short,
    is_whole,
)
from dwell.cells.measurement import CellMeasurement
from dwell.cells.weighted_region import WeightedRegion
from dwell.errors import ControllerError, DwellError
from dwell.hybrid import Halt

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

T = TypeVar("T")


# What the words of an Information may be.
WORDS = {
    "own": ("at events", "always"),
    "others": ("centroid", "samples", "velocities", "everybody", "broadcasts"),
    "world": ("now", "rate", "forecast"),
}


@final
@dataclass(frozen=True, slots=True)
class Information:
    """What an agent observes under a law.

    Parameters
    ----------
    own : its own position "at events", or "always"; only a law that knows the position between
        events may have a finite `fade`.
    others : the "centroid" of its cell at each sample, the positions of its Voronoi neighbours at
        each sample ("samples"), also their velocities ("velocities"), the positions of all agents
        (`everybody`), or nothing but the messages of the other agents ("broadcasts").
    world : the workspace and its density at the time of an event ("now"), also how they are
        changing then ("rate"), or at later times as well ("forecast").
    messages : whether it receives the messages of the other agents besides its samples, and may
        broadcast its own.

    Examples
    --------
    >>> import dwell
    >>> dwell.Information(messages=True).receives
    True
    """

    own: str = "at events"
    others: str = "centroid"
    world: str = "now"
    messages: bool = False

    @property
    def receives(self) -> bool:
        """Whether messages reach the agent."""
        return self.messages or self.others == "broadcasts"


@final
@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """The positions of an agent's Voronoi neighbours at one time; or of all agents, itself too."""

    time: float
    agents: Ints  # (K,)
    positions: Points  # (K, n)
    velocities: Points | None = None  # (K, n) for laws that observe them


@final
@dataclass(frozen=True, eq=False, slots=True)
class Message:
    """A broadcast: an agent's position, a bound on its speed until its next one, and own data."""

    sender: int
    time: float
    position: Points  # (n,)
    promise: float
    before: float  # the speed bound that this one replaces; the first one replaces itself
    data: object = None  # what the law of the sender added


@final
@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """Everything that a controller may use for one decision.

    Attributes
    ----------
    time : float
        The time of the event.
    agent, agents : int
        The number of the agent, counted from 0, and the number of agents.
    event_count : int
        Events of this agent before this one.
    first_event_at : float
        The time of its first event.
    position, hold : ndarray
        Its position, and its velocity since its last event (0 at the beginning), (n,).
    measurement : CellMeasurement or None
        Its cell; None where the event is no sample, the sample was lost, or the law does not use
        it.
    draw : float
        A random number, uniform on [0, 1), determined by seed, agent and event.
    sample : Sample or None
        Positions of its neighbours, for laws that observe "samples", with their velocities for
        those that observe "velocities"; of all agents for those that observe `everybody`.
    heard : mapping
        The last message of each other agent.
    memory : object
        The memory of its last command.
    ground : WeightedRegion or None
        The region and its density, at this time.
    shared_draw : callable or None
        Random numbers that all agents have in common.
    rate : callable or None
        ``rate()`` is the time derivative of the centroid of its cell while no agent moves, (n,);
        of all cells in the order of `sample`, (K, n), for laws that observe `everybody`. For laws
        that know the "rate" of the world, or a "forecast".
    ahead : callable or None
        ``ahead(t)`` is the error of its present cell in the world of a later time t, (n,), for
        laws that know a "forecast". The world after the next switch is not foreseen.

    Examples
    --------
    A controller maps an observation to a command:

    >>> import dwell
    >>> class Halfway:
    ...     def begin(self, observation):
    ...         return self.decide(observation)
    ...     def decide(self, observation):
    ...         return dwell.Command(0.5 * observation.measurement.error, observation.time + 1.0)
    >>> site = dwell.Box((0, 0), (4, 4))
    >>> dwell.simulate(site, None, [(1, 1), (2, 2)], Halfway(), until=2.0).stop.reason.value
    'horizon'
    """

    time: float
    agent: int
    agents: int
    event_count: int
    first_event_at: float
    position: Points
    hold: Points
    measurement: CellMeasurement | None
    draw: float
    sample: Sample | None = None
    heard: Mapping[int, Message] = field(default_factory=dict)
    memory: object = None
    ground: WeightedRegion | None = None
    shared_draw: Callable[[int], float] | None = None
    rate: Callable[[], Points] | None = None
    ahead: Callable[[float], Points] | None = None


@final
@dataclass(frozen=True, eq=False, slots=True)
class Command:
    """The velocity that an agent holds from now on, and the time of its next event.

    Parameters
    ----------
    hold : ndarray
        The velocity, (n,).
    next_at : float
        The time of the next event, after the present one.
    cruise : float
        How long the velocity is held; the agent then stops, or its velocity decays at the rate
        `fade` of its controller.
    measures : bool
        Whether the next event is a sample; otherwise the controller only decides again.
    memory : object
        Any value that the controller needs in its next observation.
    promise : float, optional
        A speed bound to broadcast now; it holds until the next broadcast.
    data : object
        Data to go with that broadcast: numbers, text, lists, tuples, dicts, arrays, or dataclasses
        of the law's own module.
    guaranteed, dual_guaranteed, voronoi : int
        Cells of these kinds that the decision computed, besides that of the sample, for the
        counters.
    mark : int
        A status code of the law, stored in the event table.

    Examples
    --------
    >>> import dwell
    >>> dwell.Command(hold=(0.0, 0.0), next_at=1.5).next_at
    1.5
    """

    hold: Points
    next_at: float
    cruise: float = math.inf
    measures: bool = True
    memory: object = None
    promise: float | None = None
    guaranteed: int = 0
    dual_guaranteed: int = 0
    mark: int = 0
    voronoi: int = 0
    data: object = None


@final
@dataclass(frozen=True, eq=False, slots=True)
class FirstCommands:
    """The first commands of all agents together."""

    hold: Points  # (N, n)
    next_at: Floats  # (N,)
    cruise: float = math.inf


@runtime_checkable
class Controller(Protocol):
    """A control law: it maps the observation of one agent to its next command.

    A controller may also have `traits`, a `dwell.Traits` that states what it uses and what it
    guarantees, and methods:

    - `miss(observation)`, its command when a sample was lost;
    - `velocities(errors)` of a law that is a differential equation;
    - `earlier(margin)`, the same law with its longest interval reduced by a margin, for fleets.

    See `CompiledController` for those that the compiled engine runs.
    """

    def begin(self, observation: Observation) -> Command:
        """Return the first command, at time 0."""
        ...

    def decide(self, observation: Observation) -> Command:
        """Return the command for the time from `observation.time` to its `next_at`."""
        ...


@runtime_checkable
class CompiledController(Controller, Protocol):
    """A controller with a form in plain numbers, for the compiled engine.

    It may also have `begin_all(errors)`, which returns the `FirstCommands` of all agents from their
    errors, (N, n), with the bits of `begin`.
    """

    def program(self, agents: int) -> HoldProgram | None:
        """Return the law for `agents` agents; None for options that cannot be compiled."""
        ...


def commanded(
    method: Callable[[Observation], Command],
    controller: object,
    observation: Observation,
    *,
    behind: bool = False,
) -> Command:
    """The command of a method of the controller, checked; an exception of its own is named."""
    agent, time = observation.agent, observation.time
    where = f"for agent {agent} at t = {time:g}"
    order = answer(controller, lambda: method(observation), where)
    return checked(order, agent, time, len(observation.position), behind=behind)


def velocities_of(controller: Any, errors: Points) -> Points:
    """The right-hand side of a law that is a differential equation, checked, (N, n)."""
    given = answer(controller, lambda: controller.velocities(errors), "in velocities(errors)")
    velocities = as_numbers(given)
    fits = velocities is not None and velocities.shape == errors.shape
    if velocities is None or not fits or not np.isfinite(velocities).all():
        shape = "" if velocities is None else f" of the shape {velocities.shape}"
        raise ControllerError(
            f"velocities(errors) of {type(controller).__name__} gives {in_short(given)}{shape}; "
            f"finite numbers of the shape of errors, {errors.shape}, are needed",
            code="controller.order",
        )
    return velocities


def answer(controller: object, ask: Callable[[], T], where: str) -> T:
    """What code of a law returns; an exception of its own is named."""
    try:
        return ask()
    except (DwellError, Halt, MemoryError):
        raise
    except Exception as fault:
        law, line = type(controller), traceback.extract_tb(fault.__traceback__)[-1]
        raise ControllerError(
            f"{law.__name__} failed {where}: "
            f"{type(fault).__name__}: {fault} ({Path(line.filename).name}, line {line.lineno})",
            code="controller.failed",
        ) from fault


def checked(
    order: Command, agent: int, now: float, dimension: int = 2, *, behind: bool = False
) -> Command:
    """`order`, if it is a command that an agent can execute at time `now`; else it is refused.

    behind : after a pause of several periods, the next event may have been due before `now`.
    """
    if not isinstance(order, Command):
        kind = "None" if order is None else f"a {type(order).__name__}"
        raise _unfit(agent, now, f"with {kind}", "a Command")
    if not _is_vector(order.hold, dimension):
        what = f"to hold {in_short(order.hold)}"
        raise _unfit(agent, now, what, f"a Command with {finite_numbers(dimension)} for hold")
    due = order.next_at
    if due != math.inf and ((at := finite_number(due)) is None or (at < now and not behind)):
        need = "a time from then on (inf: never again)"
        raise _unfit(agent, now, f"to decide next at {in_short(due)}", need)
    if order.cruise != math.inf and not _is_bound(order.cruise):
        need = "a time from 0 on (inf: until the next event)"
        raise _unfit(agent, now, f"to hold its velocity for {in_short(order.cruise)}", need)
    if order.promise is not None and not _is_bound(order.promise):
        need = "a number from 0 on (None: no broadcast)"
        raise _unfit(agent, now, f"to broadcast the speed bound {in_short(order.promise)}", need)
    if order.data is not None and order.promise is None:
        what = f"to send {in_short(order.data)} without a broadcast"
        raise _unfit(agent, now, what, "a speed bound in promise, with which data go,")
    counts = (order.guaranteed, order.dual_guaranteed, order.mark, order.voronoi)
    if not (all(map(is_whole, counts)) and min(counts) >= 0):
        raise _unfit(agent, now, f"with the counts {in_short(counts)}", "whole numbers from 0 on")
    return order


def _is_vector(value: object, dimension: int) -> bool:
    """Whether `value` has so many finite numbers."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.shape == (dimension,) and all(map(math.isfinite, value.tolist()))
    items = np.asarray(value, dtype=object)
    return items.shape == (dimension,) and None not in map(finite_number, items)


def _is_bound(value: object) -> bool:
    number = finite_number(value)
    return number is not None and number >= 0.0


def _unfit(agent: int, now: float, what: str, need: str) -> ControllerError:
    return ControllerError(
        f"the controller commands agent {agent} {what} at t = {now:g}; {need} is needed",
        code="controller.order",
    )

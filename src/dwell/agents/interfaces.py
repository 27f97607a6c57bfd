"""What an agent knows, what it answers, and what a controller is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import numpy as np

from dwell._types import (
    Floats,
    Ints,
    Points,
    finite_number,
    finite_numbers,
    in_short,
    is_positive,
    is_whole,
)
from dwell.cells.ground import Ground
from dwell.errors import ControllerError

if TYPE_CHECKING:
    from dwell._kernels.hold import HoldProgram


@final
@dataclass(frozen=True, slots=True)
class Information:
    """What a law lets an agent know. It is told nothing else.

    own : its own position "at events", or "always" (between them it then may follow a path that
        takes its position all along: only such a law may have a finite `fade`).
    others : "centroid" (of its cell, all that the law uses), "samples" (the positions of its
        Voronoi neighbours when it looks) or "broadcasts" (what the others have said, which may
        be old).
    """

    own: str = "at events"
    others: str = "centroid"


@final
@dataclass(frozen=True, eq=False, slots=True)
class CellMeasurement:
    """What one look at the neighbourhood gave one agent."""

    agent: int
    error: Points  # (n,) centroid of the cell minus own position
    mass: float  # of the cell
    neighbors: int  # agents whose cells border on it
    nearest: float  # distance of the nearest other agent; inf if there is none
    empty: bool  # the cell weighed nothing; the error leads to the workspace instead


@final
@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """Where an agent's Voronoi neighbours stood at a time, as it measured or was told."""

    time: float
    agents: Ints  # (K,)
    positions: Points  # (K, n)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Message:
    """Where an agent was, and a speed it promises not to exceed until it speaks again."""

    sender: int
    time: float
    position: Points  # (n,)
    promise: float
    before: float  # the promise that this one replaces; the same as `promise` if it is the first


@final
@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """All that a controller may know when it decides.

    Attributes
    ----------
    time : float
        The time of the event.
    agent, agents : int
        The number of the agent, from 0, and how many there are.
    event_count : int
        Events of this agent before this one.
    first_event_at : float
        The time of its first event.
    position, hold : ndarray
        Its position and the velocity it held, (n,).
    measurement : CellMeasurement or None
        Its cell, measured; None where the event is no sample, the sample was lost, or the law does
        not use it.
    draw : float
        A random number, evenly on [0, 1).
    sample : Sample or None
        Positions of others that it obtained.
    heard : mapping
        The last message of each other agent.
    memory : object
        The memory of its last command.
    ground : Ground or None
        The region and its density.
    shared_draw : callable or None
        Random numbers that all agents have in common.

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
    agent: int  # its number
    agents: int  # how many there are
    event_count: int  # events before this one
    first_event_at: float  # when its first event was due
    position: Points  # (n,) its own
    hold: Points  # (n,) the velocity it set off with at its last event; 0 at the beginning
    measurement: CellMeasurement | None
    draw: float  # a random number in [0, 1), the same for the same seed, agent and event
    sample: Sample | None = None  # for laws that see samples
    heard: Mapping[int, Message] = field(default_factory=dict)  # the latest of each sender
    memory: object = None  # the memory of its last command
    ground: Ground | None = None
    shared_draw: Callable[[int], float] | None = None  # draws that all agents have in common


@final
@dataclass(frozen=True, eq=False, slots=True)
class Command:
    """What an agent does next: the velocity it holds, and the time of its next event.

    Parameters
    ----------
    hold : ndarray
        The velocity, (n,).
    next_at : float
        The time of the next event, after the present one.
    cruise : float
        For how long the velocity is held; the agent then stops, or slows down at the rate `fade`
        of its controller.
    measures : bool
        Whether the next event is a sample; otherwise the controller only decides again.
    memory : object
        Anything that the controller needs in its next observation.
    promise : float, optional
        A speed bound to broadcast.
    guaranteed, dual_guaranteed : int
        Cells of these kinds that the decision computed, for the counters.
    mark : int
        A status code of the law.

    Examples
    --------
    >>> import dwell
    >>> dwell.Command(hold=(0.0, 0.0), next_at=1.5).next_at
    1.5
    """

    hold: Points  # (n,)
    next_at: float
    cruise: float = math.inf
    measures: bool = True  # whether the event at next_at is a sample
    memory: object = None  # handed back at its next event
    promise: float | None = None  # broadcast now: a speed not to be exceeded until the next one
    guaranteed: int = 0  # guaranteed cells computed for this decision
    dual_guaranteed: int = 0
    mark: int = 0  # a status code of the law, kept in the event table


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

    A controller may also have
    - `information`, an `Information`: what it may use (the centroid at events by default);
    - `fade`, the rate at which velocities decay after their `cruise` (infinite by default);
    - `miss(observation)`, its command when a sample was lost;
    - `top_speed`, its largest speed, and `gain`, its speed per distance near the centroid, by
      which comparisons match laws; None for no limit.
    See `CompiledController` for those that the compiled engine runs.
    """

    def begin(self, observation: Observation) -> Command:
        """Return the first command, at time 0."""
        ...

    def decide(self, observation: Observation) -> Command:
        """The order to follow from `observation.time` until `order.next_at`."""
        ...


@runtime_checkable
class CompiledController(Controller, Protocol):
    """A controller that can say itself as plain numbers, for the compiled engine.

    It may also have `begin_all(errors)`, which gives the `FirstCommands` of all agents from their
    errors, (N, n): what `begin` orders each of them, for many at once.
    """

    def program(self, agents: int) -> HoldProgram | None:
        """The law for `agents` agents; None if some option keeps it from being compiled."""
        ...


def information_of(controller: object) -> Information:
    """What the controller is told."""
    told = getattr(controller, "information", None)
    return told if isinstance(told, Information) else Information()


def fade_of(controller: object) -> float:
    """The rate at which its velocities decay after their cruise.

    To slow down on the way an agent must know where it is, all the way.
    """
    fade = float(getattr(controller, "fade", math.inf))
    if math.isfinite(fade) and information_of(controller).own != "always":
        raise ControllerError(
            f"{type(controller).__name__} has fade = {fade:g}, a path that takes the own position "
            'between events, but its information says own = "at events"; give it '
            'Information(own="always"), or leave fade out',
            code="controller.information",
        )
    return fade


def stated_pace(controller: object) -> tuple[float | None, float | None]:
    """The largest speed and the gain that the controller states, if any."""
    return _stated(controller, "top_speed"), _stated(controller, "gain")


def _stated(controller: object, name: str) -> float | None:
    value = getattr(controller, name, None)
    if value is None or is_positive(value):
        return None if value is None else float(value)
    raise ControllerError(
        f"{type(controller).__name__} has {name} = {in_short(value)}; a number above 0 is needed, "
        "or None for no limit",
        code="controller.pace",
        key=f"controller.{name}",
    )


def checked(order: Command, agent: int, now: float, dimension: int = 2) -> Command:
    """`order` if an agent can follow it: a finite velocity, and a next look that is not past."""
    hold = np.asarray(getattr(order, "hold", None), dtype=object)
    numbers = [finite_number(v) for v in hold.ravel()]
    if hold.shape != (dimension,) or None in numbers:
        raise _unfit(
            f"the controller told agent {agent} to hold {getattr(order, 'hold', order)!r} at "
            f"t = {now:g}; a Command with a velocity of {finite_numbers(dimension)} is needed"
        )
    due = order.next_at if order.next_at == math.inf else finite_number(order.next_at)
    if due is None or due < now:
        raise _unfit(
            f"the controller told agent {agent} to look at {order.next_at!r}, at t = {now:g}; a "
            "time from then on is needed (inf: never again)"
        )
    if order.cruise != math.inf and (finite_number(order.cruise) is None or order.cruise < 0.0):
        raise _unfit(
            f"the controller told agent {agent} to cruise for {order.cruise!r}, at t = {now:g}; a "
            "time from 0 on is needed (inf: until the next event)"
        )
    if order.promise is not None and (finite_number(order.promise) is None or order.promise < 0):
        raise _unfit(
            f"the controller made agent {agent} promise a speed of {order.promise!r}, at "
            f"t = {now:g}; a number from 0 on is needed (None: nothing is said)"
        )
    counts = (order.guaranteed, order.dual_guaranteed, order.mark)
    if not all(is_whole(count) for count in counts):
        raise _unfit(
            f"the controller gave agent {agent} the counts {counts!r}; whole numbers are needed"
        )
    return order


def _unfit(what: str) -> ControllerError:
    return ControllerError(what, code="controller.order")

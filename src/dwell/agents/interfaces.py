"""What an agent sees, what it answers, and what a controller is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import numpy as np

from dwell._types import Points, finite_number
from dwell.errors import ControllerError

if TYPE_CHECKING:
    from dwell._kernels.timer import TimerProgram


@final
@dataclass(frozen=True, eq=False, slots=True)
class Look:
    """What one look at the neighbourhood gave one agent."""

    agent: int
    error: Points  # (2,) centroid of the cell minus own position
    mass: float  # of the cell
    neighbors: int  # agents whose cells border on it
    nearest: float  # distance of the nearest other agent; inf if there is none
    empty: bool  # the cell weighed nothing; the error leads to the workspace instead


@final
@dataclass(frozen=True, eq=False, slots=True)
class View:
    """All that a controller may know when it decides: it gets nothing else."""

    time: float
    agent: int  # its number
    agents: int  # how many there are
    looks: int  # how many looks it has made before this one
    first_look_at: float  # when its first look was due
    position: Points  # (2,) its own
    look: Look
    draw: float  # a random number in [0, 1), the same for the same seed, agent and look


@final
@dataclass(frozen=True, eq=False, slots=True)
class Order:
    """Hold this velocity, and look again at that time."""

    hold: Points  # (2,)
    next_at: float


@runtime_checkable
class Controller(Protocol):
    """Decides, from what one agent sees, how it moves and when it next looks.

    See `CompiledController` for those that the compiled engine runs.
    """

    def begin(self, view: View) -> Order:
        """The order to start with at time 0."""
        ...

    def decide(self, view: View) -> Order:
        """The order to follow from `view.time` until `order.next_at`."""
        ...


@runtime_checkable
class CompiledController(Controller, Protocol):
    """A controller that can say itself as plain numbers, for the compiled engine."""

    def program(self, agents: int) -> TimerProgram:
        """The law for `agents` agents."""
        ...


def checked(order: Order, agent: int, now: float) -> Order:
    """`order` if an agent can follow it: a finite velocity, and a next look that is not past."""
    hold = np.asarray(getattr(order, "hold", None), dtype=object)
    numbers = [finite_number(v) for v in hold.ravel()]
    if hold.shape != (2,) or None in numbers:
        raise ControllerError(
            f"the controller told agent {agent} to hold {getattr(order, 'hold', order)!r} at "
            f"t = {now:g}; an Order with a velocity of two finite numbers is needed",
            code="controller.order",
        )
    due = order.next_at if order.next_at == math.inf else finite_number(order.next_at)
    if due is None or due < now:
        raise ControllerError(
            f"the controller told agent {agent} to look at {order.next_at!r}, at t = {now:g}; a "
            "time from then on is needed (inf: never again)",
            code="controller.order",
        )
    return order

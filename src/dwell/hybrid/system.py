"""What a hybrid system is, what an event is, and why a simulation ends.

An early end is an outcome with a name, not an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeVar, final

from dwell.errors import DwellError

S = TypeVar("S")

FAILED = "error: "  # how the detail of a run begins that an error of its law ended


@final
@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A jump that is due at `time`, for component `source` of the system.

    Events sort by time, then source. Events at one instant are executed one after another in that
    order, each from the state after the one before it, and each raises the jump count j by one at
    the same t. Times are equal when their bits are equal.
    """

    time: float
    source: int = 0


class HybridSystem(Protocol[S]):
    """A system that flows in continuous time and jumps at discrete instants.

    The system itself never changes; states are values. Each state contains its time, which
    `time_of` returns.
    """

    def time_of(self, state: S) -> float:
        """The time t of `state`."""
        ...

    def next_event(self, state: S) -> Event | None:
        """The earliest jump due from `state`; None if it flows for ever."""
        ...

    def flow(self, state: S, to: float) -> S:
        """The state at time `to`, in closed form, if no jump comes first."""
        ...

    def jump(self, state: S, event: Event) -> S:
        """The state just after `event`, from the state just before it. May raise `Halt`."""
        ...


class StopReason(Enum):
    """The ways a simulation can end; the value is the name that programs see."""

    HORIZON = "horizon"
    JUMP_LIMIT = "jump-limit"
    ZENO = "zeno"
    COINCIDENT = "coincident"
    INTERRUPTED = "interrupted"

    @property
    def ok(self) -> bool:
        """Whether the simulation reached its horizon."""
        return self is StopReason.HORIZON

    @property
    def sentence(self) -> str:
        """The reason in a sentence."""
        return _SENTENCES[self]

    @property
    def advice(self) -> str:
        """What to do about an early end; FILE stands for the stored run, if there is one."""
        return _ADVICE.get(self, "")

    def advice_about(self, file: str | None, detail: str = "") -> str:
        """Return the advice for the run in `file`; None: it is in no file."""
        if detail.startswith(FAILED):
            return "mend the law, and run the scenario again"
        if file is None:
            return _ADVICE_UNSTORED.get(self, self.advice)
        return self.advice.replace("FILE", file)


_SENTENCES = {
    StopReason.HORIZON: "Reached the time horizon.",
    StopReason.JUMP_LIMIT: "Used up the allowed number of jumps.",
    StopReason.ZENO: "Jumps pile up without time passing (Zeno).",
    StopReason.COINCIDENT: "Two agents met at one point, where cells are not defined.",
    StopReason.INTERRUPTED: "Interrupted; everything up to here is kept.",
}
_ADVICE = {
    StopReason.JUMP_LIMIT: "raise run.max_jumps: dwell run --resume FILE --set run.max_jumps=N",
    StopReason.ZENO: "make the law return later times",
    StopReason.COINCIDENT: "change the start or the seed, lower the speed, or shorten the waits",
    StopReason.INTERRUPTED: "continue a stored run: dwell run --resume FILE",
}
_ADVICE_UNSTORED = {
    StopReason.JUMP_LIMIT: "raise run.max_jumps: --set run.max_jumps=N",
    StopReason.INTERRUPTED: "give --out RUN.nc, so that the run is stored and can be resumed",
}


@final
@dataclass(frozen=True, slots=True)
class Stop:
    """The reason of an end, its time, and details such as agents and positions."""

    reason: StopReason
    time: float
    detail: str = ""
    # The error of a law that ended the arc; in no file, which has it as the detail.
    fault: DwellError | None = field(default=None, compare=False, repr=False)


class Halt(Exception):  # noqa: N818 - an outcome in flight, not an error
    """Raised by a system that cannot go on from a state; the loop turns it into a `Stop`."""

    def __init__(self, reason: StopReason, detail: str = "") -> None:
        super().__init__(reason.sentence)
        self.reason = reason
        self.detail = detail

"""Faults of a network by seed: loss, delay, repeats, partitions; and clocks that differ.

Every draw is a function of the seed, the sender, the receiver and the number of the message, so
that a run with faults can be repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, final

from dwell._parameters import (
    CHANCE,
    NOT_NEGATIVE,
    POSITIVE,
    TIME,
    Fault,
    Number,
    Range,
    Tables,
    Whole,
    Wholes,
    Word,
    param,
    parametric,
)
from dwell.errors import InputError

_OF_LOSS, _OF_REPEATS, _OF_CLOCKS = 16, 17, 18  # purposes of draws; see the kernel for others
SHARE = Number(least=0.0, most=1.0)
DIRECTIONS = {
    "both": "messages of both ways",
    "out": "only what the group sends",
    "in": "only what is sent to the group",
}


@final
@parametric("fleet.faults.partitions", "the partition", InputError, code="fleet.faults", slots=True)
class Partition:
    """Some agents are cut off from all others for some time, in one direction or in both."""

    begin: float = param("when it begins", NOT_NEGATIVE, unit=TIME, key="from")
    until: float = param("when it is over", POSITIVE, unit=TIME)
    group: tuple[int, ...] = param("numbers of the agents that are cut off together", Wholes())
    direction: str = param("which messages are lost", Word(DIRECTIONS), default="both")

    @staticmethod
    def rules(partition: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        if partition.begin >= partition.until:
            text = f"= {partition.until:g} must be later than from = {partition.begin:g}"
            yield Fault(("until",), "fleet.faults", text)
        if not partition.group:
            text = "is empty; it lists the agents that are cut off together"
            yield Fault(("group",), "fleet.faults", text)

    def cuts(self, sender: int, receiver: int) -> bool:
        """Whether messages from one agent to another are lost."""
        out = sender in self.group and receiver not in self.group
        into = receiver in self.group and sender not in self.group
        return (out and self.direction != "in") or (into and self.direction != "out")


@final
@parametric("fleet.faults", "the faults", InputError, code="fleet.faults", slots=True)
class Faults:
    """Faults of the network and of the clocks, injected by seed.

    Messages of the observer (start and emergency stop) are not subject to them. Agents of one
    process share what it receives: its faults are those of the first of them.
    """

    loss: float = param(
        "the chance that a message is lost on its way to one receiver", SHARE, default=0.0,
        in_file=CHANCE,
    )  # fmt: skip
    delay: tuple[float, float] = param(
        "shortest and longest delay of a message", Range(), default=(0.0, 0.0), unit=TIME
    )
    tail: float = param(
        "index of a Pareto distribution of delays that begins at the shortest; 0 for uniform ones",
        NOT_NEGATIVE, default=0.0,
    )  # fmt: skip
    repeat: float = param("the chance that a message arrives twice", SHARE, default=0.0)
    partitions: tuple[Partition, ...] = param(
        "groups of agents that are cut off for some time", Tables(Partition), default=()
    )
    clock_offset: float = param(
        "largest offset of a clock; an agent ends by its own clock", NOT_NEGATIVE, default=0.0,
        unit=TIME, limits="below the horizon",
    )  # fmt: skip
    clock_rate: float = param("largest relative error of the rate of a clock", SHARE, default=0.0)
    seed: int = param("seed of the faults alone", Whole(0), default=0)

    @staticmethod
    def rules(faults: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        shortest, longest = faults.delay
        if faults.tail > 0.0 and shortest == 0.0:
            text = "needs a shortest delay above 0, at which the distribution begins"
            yield Fault(("delay",), "fleet.faults", text)
        if shortest > longest and faults.tail == 0.0:
            text = f"= {list(faults.delay)} ends before it begins; the shortest delay comes first"
            yield Fault(("delay",), "fleet.faults", text)

    def delays(self, sender: int, receiver: int, boot: int, k: int, copy: int = 0) -> list[float]:
        """The delays of each arrival of a message that was sent for the copy-th time."""
        counter, stream = (boot << 48) | (receiver << 32) | k, (copy << 16) | sender
        lost, first = self._draws(_OF_LOSS, stream, counter)
        twice, second = self._draws(_OF_REPEATS, stream, counter)
        draws = [] if lost < self.loss else [first]
        draws += [second] if twice < self.repeat else []
        return [self._delay(draw) for draw in draws]

    def _draws(self, purpose: int, stream: int, counter: int) -> tuple[float, float]:
        """Two random numbers."""
        from dwell._kernels.common.philox import uniform_pair
        from dwell.agents.start import seed_words

        first, second = uniform_pair(*seed_words(self.seed), purpose, stream, counter)
        return first, second

    def _delay(self, draw: float) -> float:
        low, high = self.delay
        if self.tail > 0.0:
            try:
                return float(low * (1.0 - draw) ** (-1.0 / self.tail))
            except OverflowError:
                return math.inf  # it never arrives
        return low + draw * (high - low)

    def cuts(self, sender: int, receiver: int, now: float) -> bool:
        """Whether a partition keeps an agent from receiving messages of another one at a time."""
        return any(one.begin <= now < one.until and one.cuts(sender, receiver)
                   for one in self.partitions)  # fmt: skip

    def clock(self, agent: int) -> tuple[float, float]:
        """Offset and rate of the clock of an agent."""
        a, b = self._draws(_OF_CLOCKS, agent, 0)
        return (2.0 * a - 1.0) * self.clock_offset, 1.0 + (2.0 * b - 1.0) * self.clock_rate

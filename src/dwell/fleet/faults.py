"""Faults of a network by seed: loss, delay, repeats, partitions; and clocks that differ.

Every draw is a function of the seed, the sender, the receiver and the number of the message, so
that a run with faults can be repeated.
"""

from __future__ import annotations

import heapq
import zlib
from dataclasses import dataclass
from typing import final

from dwell._kernels.common.philox import uniform_pair
from dwell.agents.start import seed_words
from dwell.fleet.transport import Arrival, Transport
from dwell.fleet.wire import OBSERVER, SENDER

_OF_LOSS, _OF_REPEATS, _OF_CLOCKS = 16, 17, 18  # purposes of draws; see the kernel for others


@final
@dataclass(frozen=True, slots=True)
class Partition:
    """A group of agents that is cut off from all others for some time.

    direction : "both"; or "out", so that the group is not heard, or "in", so that it hears nothing.
    """

    begin: float
    end: float
    group: tuple[int, ...]
    direction: str = "both"

    def cuts(self, sender: int, receiver: int) -> bool:
        """Whether messages from one agent to another are lost."""
        out = sender in self.group and receiver not in self.group
        into = receiver in self.group and sender not in self.group
        return (out and self.direction != "in") or (into and self.direction != "out")


@final
@dataclass(frozen=True, slots=True)
class Faults:
    """Faults of the network between agents, and of their clocks.

    Messages of the observer (start and emergency stop) are not subject to them. Agents of one
    process share what it receives: its faults are those of the first of them.

    Parameters
    ----------
    loss : chance that a message is lost on its way to one receiver.
    delay : shortest and longest delay; uniform between.
    tail : index of a Pareto distribution that begins at the shortest delay; 0 for uniform.
    repeat : chance that a message arrives twice, the second time after another delay.
    partitions : groups that are cut off for some time.
    clock_offset, clock_rate : largest offset of a clock in seconds, and largest error of its rate.
    seed : of all draws.
    """

    loss: float = 0.0
    delay: tuple[float, float] = (0.0, 0.0)
    tail: float = 0.0
    repeat: float = 0.0
    partitions: tuple[Partition, ...] = ()
    clock_offset: float = 0.0
    clock_rate: float = 0.0
    seed: int = 0

    def delays(self, sender: int, receiver: int, boot: int, k: int, copy: int = 0) -> list[float]:
        """The delays of each arrival of a message that was sent for the copy-th time."""
        counter, stream = (boot << 48) | (receiver << 32) | k, (copy << 16) | sender
        lost, first = uniform_pair(*seed_words(self.seed), _OF_LOSS, stream, counter)
        twice, second = uniform_pair(*seed_words(self.seed), _OF_REPEATS, stream, counter)
        draws = [] if lost < self.loss else [first]
        draws += [second] if twice < self.repeat else []
        return [self._delay(draw) for draw in draws]

    def _delay(self, draw: float) -> float:
        low, high = self.delay
        if self.tail > 0.0:
            return float(low * (1.0 - draw) ** (-1.0 / self.tail))
        return low + draw * (high - low)

    def cuts(self, sender: int, receiver: int, now: float) -> bool:
        """Whether a partition keeps an agent from hearing another one at a time."""
        return any(one.begin <= now < one.end and one.cuts(sender, receiver)
                   for one in self.partitions)  # fmt: skip

    def clock(self, agent: int) -> tuple[float, float]:
        """Offset and rate of the clock of an agent."""
        a, b = uniform_pair(*seed_words(self.seed), _OF_CLOCKS, agent, 0)
        return (2.0 * a - 1.0) * self.clock_offset, 1.0 + (2.0 * b - 1.0) * self.clock_rate


@final
class FaultyTransport:
    """A transport that loses, delays and repeats what one agent receives of the others."""

    def __init__(self, transport: Transport, faults: Faults, receiver: int) -> None:
        self._transport, self._faults, self._receiver = transport, faults, receiver
        self._coming: list[tuple[float, int, bytes, object]] = []
        self._last: dict[int, tuple[int, int, int]] = {}  # boot, k and copies of each sender
        self._count = 0

    def send(self, datagram: bytes, now: float) -> None:
        """Send a datagram to all others."""
        self._transport.send(datagram, now)

    def answer(self, datagram: bytes, source: object) -> None:
        """Send a datagram to the source of another one."""
        self._transport.answer(datagram, source)

    def receive(self, now: float) -> list[Arrival]:
        """The datagrams that have arrived by `now`, in order of their arrival."""
        for one in self._transport.receive(now):
            short = len(one.datagram) < SENDER.size
            sender, boot, k = (OBSERVER, 0, 0) if short else SENDER.unpack_from(one.datagram)
            if sender == OBSERVER:
                self._expect(one.time, one)
                continue
            if k == 0:  # of an agent that stands and announces itself again and again
                k = zlib.crc32(one.datagram)
            if self._faults.cuts(sender, self._receiver, one.time):
                continue
            copy = self._copy(sender, boot, k)
            for delay in self._faults.delays(sender, self._receiver, boot, k, copy):
                self._expect(one.time + delay, one)
        found = []
        while self._coming and self._coming[0][0] <= now:
            time, _, datagram, source = heapq.heappop(self._coming)
            found.append(Arrival(datagram, time, source))
        return found

    def _copy(self, sender: int, boot: int, k: int) -> int:
        """How many copies of this message have come before."""
        last = self._last.get(sender, (boot, k, -1))
        copy = last[2] + 1 if last[:2] == (boot, k) else 0
        self._last[sender] = boot, k, copy
        return copy

    def _expect(self, time: float, one: Arrival) -> None:
        self._count += 1
        heapq.heappush(self._coming, (time, self._count, one.datagram, one.source))

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()

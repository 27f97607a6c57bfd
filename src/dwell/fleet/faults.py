"""A transport with the faults of a network."""

from __future__ import annotations

import heapq
import zlib
from typing import final

from dwell.fleet.transport import Arrival, Transport
from dwell.fleet.wire import OBSERVER, SENDER
from dwell.live.faults import Faults


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

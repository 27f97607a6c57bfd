"""Transports: how the datagrams of a fleet travel."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Arrival(NamedTuple):
    """A datagram, when it arrived by the receiver's clock, and from where."""

    datagram: bytes
    time: float
    source: object = None


class Transport(Protocol):
    """Sends datagrams to all other processes of a fleet, and keeps those that arrive.

    A datagram may be lost, late, repeated or out of order.
    """

    def send(self, datagram: bytes, now: float) -> None:
        """Send a datagram to all others."""
        ...

    def answer(self, datagram: bytes, source: object) -> None:
        """Send a datagram to the source of another one."""
        ...

    def receive(self, now: float) -> list[Arrival]:
        """The datagrams that have arrived by `now` since the last call, in order."""
        ...

    def close(self) -> None:
        """Release what the transport holds."""
        ...

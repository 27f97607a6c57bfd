"""Datagrams within one process, in virtual time: sent and received at the same instant."""

from __future__ import annotations

from typing import final

from dwell.fleet.transport import Arrival


@final
class MemoryTransport:
    """The mailbox of one agent, connected to those of all others."""

    def __init__(self, owner: int, every: list[MemoryTransport]) -> None:
        self._owner, self._every = owner, every
        self._here: list[Arrival] = []

    @classmethod
    def network(cls, agents: int) -> list[MemoryTransport]:
        """The connected mailboxes of some agents."""
        every: list[MemoryTransport] = []
        every.extend(cls(p, every) for p in range(agents))
        return every

    def send(self, datagram: bytes, now: float) -> None:
        """Put a datagram into all other mailboxes."""
        for p, other in enumerate(self._every):
            if p != self._owner:
                other._here.append(Arrival(datagram, now, self._owner))

    def answer(self, datagram: bytes, source: object) -> None:
        """Put nothing anywhere: no process but the agents' own takes part."""

    def receive(self, now: float) -> list[Arrival]:
        """Empty the mailbox."""
        here, self._here = self._here, []
        return here

    def close(self) -> None:
        """Nothing is open."""

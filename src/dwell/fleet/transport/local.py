"""Endpoints: how each process of one machine is reached, chosen before it starts."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, final

from dwell.fleet.clock import Clock
from dwell.fleet.transport import Transport
from dwell.fleet.transport.udp import Address, UdpTransport, udp_socket
from dwell.fleet.transport.zenoh import (
    ZenohLinks,
    ZenohTransport,
    open_session,
    sources_of,
    zenoh_module,
)
from dwell.fleet.wire import OBSERVER

LOOPBACK = "127.0.0.1"


class Endpoint(Protocol):
    """The port of a process; it survives the process."""

    port: int

    def open(self, others: Sequence[int], own: Collection[int], clock: Clock) -> Transport:
        """Open the transport of a process with the agents `own` to those at other ports."""
        ...

    def sources(
        self, observer: int, hosts: Mapping[int, Collection[int]]
    ) -> dict[Any, Collection[int]]:
        """Which agents each source of datagrams has; hosts and the observer by their ports."""
        ...

    def close(self) -> None:
        """Release the port."""
        ...


@final
class UdpEndpoint:
    """A bound socket."""

    def __init__(self) -> None:
        self._socket = udp_socket((LOOPBACK, 0))
        self.port: int = self._socket.getsockname()[1]

    def open(self, others: Sequence[int], own: Collection[int], clock: Clock) -> Transport:
        """Send to each of the other ports."""
        return UdpTransport(self._socket, [(LOOPBACK, port) for port in others], clock)

    def sources(
        self, observer: int, hosts: Mapping[int, Collection[int]]
    ) -> dict[Any, Collection[int]]:
        """Datagrams come from the addresses of sockets."""
        found: dict[Address, Collection[int]] = {(LOOPBACK, p): q for p, q in hosts.items()}
        return {**found, (LOOPBACK, observer): (OBSERVER,)}

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


@final
class ZenohEndpoint:
    """A port at which a session of zenoh will listen. Each pair of processes has one link.

    The port stays bound, so that the system gives it to no connection of another process.
    """

    def __init__(self, run: str, agents: int) -> None:
        zenoh_module()
        self._run, self._agents = run, agents
        self._bound = socket.socket()
        self._bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._bound.bind((LOOPBACK, 0))
        self.port: int = self._bound.getsockname()[1]

    def open(self, others: Sequence[int], own: Collection[int], clock: Clock) -> Transport:
        """Listen, and connect to the lower ports."""
        listen, *connect = (
            f"tcp/{LOOPBACK}:{p}" for p in (self.port, *(q for q in others if q < self.port))
        )
        links = ZenohLinks(listen=(listen,), connect=tuple(connect), gossip=False)
        session = open_session(links, self._run, self._agents)
        return ZenohTransport(session, self._run, own, self._agents, clock)

    def sources(
        self, observer: int, hosts: Mapping[int, Collection[int]]
    ) -> dict[Any, Collection[int]]:
        """Datagrams come under the keys of agents."""
        return dict(sources_of(self._agents))

    def close(self) -> None:
        """Release the port."""
        self._bound.close()


def endpoint(transport: str, run: str, agents: int) -> Endpoint:
    """A new endpoint of this machine, for "udp" or "zenoh"."""
    return ZenohEndpoint(run, agents) if transport == "zenoh" else UdpEndpoint()

"""Datagrams by UDP, one to each other process. The kernel notes when each arrived."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import struct
import time
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.transport import Arrival

Address: TypeAlias = tuple[str, int]
LARGEST = 65_507  # bytes of a datagram
MOST = 10_000  # datagrams that are received at once
LAST_PORT = 65535
UNKNOWN_NAME = "fleet.name"  # code of addresses that may be known later
SHORTEST_KEY = 16  # bytes
BUFFER = 1 << 21  # bytes that the kernel keeps
_NANOSECONDS = getattr(socket, "SO_TIMESTAMPNS", 35)
_STAMP = struct.Struct("@qq")  # seconds and nanoseconds of the clock of the system


def udp_socket(address: Address) -> socket.socket:
    """A bound socket that does not block."""
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        with contextlib.suppress(OSError):  # elsewhere a datagram arrives when it is read
            own.setsockopt(socket.SOL_SOCKET, _NANOSECONDS, 1)
        own.bind(address)
    except OSError as fault:
        own.close()
        says = f"{address[0]}:{address[1]} cannot be bound ({fault.strerror})"
        used = fault.errno == errno.EADDRINUSE
        other = "end the process that uses it" if used else "give an address of this machine"
        raise InputError(f"{says}; {other}", code="fleet.udp") from None
    own.setblocking(False)
    return own


def as_address(text: str) -> Address:
    """The numeric address in `host:port`."""
    host, _, port = text.rpartition(":")
    says = f"the address is {text!r}; host:port is needed, such as 192.168.1.7:7400"
    code = "fleet.address"
    if host and port.isdecimal():
        if int(port) <= LAST_PORT:
            with contextlib.suppress(OSError, UnicodeError):
                return socket.gethostbyname(host), int(port)
            says = f"{host} is not known; give a name that this machine resolves, or a number"
            code = UNKNOWN_NAME
        else:
            says = f"the port of {text!r} does not exist; 1 to {LAST_PORT} are needed"
    raise InputError(says, code=code, key="fleet.peers")


def is_loopback(address: Address) -> bool:
    """Whether an address is of this machine alone."""
    return ipaddress.ip_address(address[0]).is_loopback


def udp_transport(
    own: Address, peers: Iterable[Address], clock: Clock, key: bytes | None
) -> UdpTransport:
    """Bind an address and send to others; refused beyond this machine without a key."""
    peers = tuple(peers)
    if key is not None and len(key) < SHORTEST_KEY:
        says = f"the key has {len(key)} bytes; at least {SHORTEST_KEY} are needed"
        raise InputError(f"{says}, such as those of openssl rand -hex 32", code="fleet.key")
    beyond = [one for one in (own, *peers) if not is_loopback(one)]
    if key is None and beyond:
        says = f"{beyond[0][0]}:{beyond[0][1]} is beyond this machine, where any sender is believed"
        raise InputError(f"{says}; give all agents the same file with --key", code="fleet.key")
    return UdpTransport(udp_socket(own), peers, clock)


@final
class UdpTransport:
    """A socket, the addresses of all other processes, and the clock that dates arrivals."""

    def __init__(self, own: socket.socket, peers: Iterable[Address], clock: Clock) -> None:
        self._own, self._clock = own, clock
        self._peers = tuple(peers)
        self._emptied = 0  # when, in nanoseconds of the monotonic clock

    def send(self, datagram: bytes, now: float) -> None:
        """Send a datagram to each peer, whether or not another one can be reached."""
        for peer in self._peers:
            self.answer(datagram, peer)

    def answer(self, datagram: bytes, source: Any) -> None:
        """Send a datagram to one address."""
        with contextlib.suppress(OSError):  # as if it had been lost on its way
            self._own.sendto(datagram, source)

    def receive(self, now: float) -> list[Arrival]:
        """The datagrams that the kernel has kept."""
        found: list[Arrival] = []
        begun = time.monotonic_ns()
        ahead = time.time_ns() - begun
        for _ in range(MOST):  # a flood must not keep the agent from its samples
            try:
                datagram, more, _, source = self._own.recvmsg(LARGEST, 64)
            except BlockingIOError:
                break
            except OSError:  # an earlier datagram did not reach its receiver
                continue
            arrived = time.monotonic_ns()
            for level, kind, data in more:
                if (level, kind) == (socket.SOL_SOCKET, _NANOSECONDS) and len(data) == _STAMP.size:
                    seconds, rest = _STAMP.unpack(data)
                    stamped = seconds * 10**9 + rest - ahead
                    # The clock of the system may have been set meanwhile.
                    arrived = min(max(stamped, self._emptied), arrived)
            found.append(Arrival(datagram, self._clock.at(arrived), source))
        else:
            return found
        self._emptied = begun
        return found

    def close(self) -> None:
        """Close the socket."""
        self._own.close()

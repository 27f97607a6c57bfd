"""Datagrams by zenoh: peers over TCP or TLS, or clients of a router.

A process puts the segments of its own agents under `dwell/<run>/segment/<agent>`, so a receiver
knows which agent each is of. A newcomer requests the last one of each agent.
"""

from __future__ import annotations

import json
import struct
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from dwell._need import need
from dwell.errors import FleetError, InputError
from dwell.fleet.clock import Clock
from dwell.fleet.transport import Arrival
from dwell.fleet.transport.access import access_control, certificates_of
from dwell.fleet.transport.udp import LARGEST, as_address, is_loopback
from dwell.fleet.wire import OBSERVER, SENDER

LEASE = 3000  # milliseconds without a sign of life after which a link is closed
OPENING = 2000  # milliseconds that two sides may take to open a link
KEPT = 1 << 16  # datagrams until they are received
_AGE = struct.Struct("<q")  # nanoseconds since the datagram of an answer was sent


@final
@dataclass(frozen=True, slots=True)
class ZenohLinks:
    """How a process takes part in a network of zenoh.

    Parameters
    ----------
    mode : "peer", "client" of a router, or "router".
    listen, connect : endpoints such as tcp/192.168.1.7:7447, or tls/192.168.1.7:7447.
    tls : folder with ca.pem, and with NAME.pem and NAME.key of the process.
    name : of the certificate: agent_3, observer or router.
    gossip : peers learn of others through those that they connect to, and connect to them, too.
    """

    mode: str = "peer"
    listen: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    tls: Path | None = None
    name: str = ""
    gossip: bool = True


def key_of(run: str) -> str:
    """The key under which everything of a run lies."""
    return f"dwell/{quote(run, safe='')}"


def sources_of(agents: int) -> dict[int, tuple[int]]:
    """Which agents speak under which key, for a host."""
    return {q: (q,) for q in (*range(agents), OBSERVER)}


def open_session(links: ZenohLinks, run: str, agents: int) -> Any:
    """Open a session; never before a fork, as its threads stay behind."""
    zenoh = zenoh_module()
    protocol = "tcp" if links.tls is None else "tls"
    listen = links.listen or (() if links.mode == "client" else (f"{protocol}/127.0.0.1:0",))
    for endpoint in (*listen, *links.connect):
        _check(endpoint, protocol)
    config: dict[str, Any] = {
        "mode": links.mode,
        "listen": {"endpoints": list(listen)},
        "connect": {
            "endpoints": list(links.connect),
            "retry": {"period_init_ms": 100, "period_max_ms": 500, "period_increase_factor": 1.5},
        },
        "scouting": {"multicast": {"enabled": False}, "gossip": _gossip(links.gossip)},
        "transport": {
            "link": {
                "protocols": [protocol],
                "tx": {"lease": LEASE, "keep_alive": 2},
                "rx": {"max_message_size": 1 << 16},
            },
            "unicast": {"open_timeout": OPENING, "accept_timeout": OPENING},
            "shared_memory": {"enabled": False},
        },
    }  # fmt: skip
    if links.tls is not None:
        config["transport"]["link"]["tls"] = certificates_of(links.tls, links.name)
        config["access_control"] = access_control(key_of(run), agents)
    try:
        return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
    except zenoh.ZError as fault:
        ends = ", ".join((*listen, *links.connect))
        raise FleetError(f"zenoh cannot listen at or connect to {ends}: {fault}") from None


def _gossip(enabled: bool) -> dict[str, Any]:
    """Whether peers learn of others; of two peers one alone connects to the other."""
    once = {"peer": {"to_router": "always", "to_peer": "greater-zid"}}
    return {"enabled": enabled, "autoconnect_strategy": once}


def zenoh_module() -> Any:
    """The library, which may be loaded before a fork."""
    return need("zenoh", "the transport zenoh needs", "eclipse-zenoh", code="transport.library")


def _check(endpoint: str, protocol: str) -> None:
    """Refuse endpoints of other protocols, and those beyond this machine without certificates."""
    kind, _, address = endpoint.partition("/")
    if kind not in ("tcp", "tls") or not address:
        says = f"the endpoint is {endpoint!r}; tcp/host:port or tls/host:port is needed"
        raise InputError(says, code="fleet.zenoh")
    if kind != protocol:
        needed = "tls/host:port goes with a folder of certificates" if kind == "tls" else (
            "with certificates it is tls/host:port")  # fmt: skip
        raise InputError(f"the endpoint is {endpoint!r}; {needed}", code="fleet.zenoh")
    if kind == "tcp" and not is_loopback(as_address(address)):
        says = f"the endpoint {endpoint} is beyond this machine, and messages would not be sealed"
        raise InputError(f"{says}; use tls/{address} with certificates", code="fleet.zenoh")


@final
class ZenohTransport:
    """A session, the last datagram of each own agent, and what has arrived from others."""

    def __init__(
        self, session: Any, run: str, own: Collection[int], agents: int, clock: Clock
    ) -> None:
        self._zenoh, self._session, self._clock = zenoh_module(), session, clock
        base = key_of(run)
        self._keys = {q: f"{base}/segment/{q}" for q in range(agents)}
        self._keys[OBSERVER] = f"{base}/control"
        self._tokens = {f"{base}/alive/{q}": q for q in range(agents) if q not in own}
        self._every = f"{base}/segment/*"
        self._agents = {key: q for q, key in self._keys.items()}
        self._here: deque[tuple[bytes, int, str]] = deque(maxlen=KEPT)
        self._changes: deque[tuple[str, bool]] = deque(maxlen=KEPT)  # of tokens: whether it is new
        self._last: dict[int, tuple[bytes, int]] = {}
        self._known: set[object] = set()
        self._out: dict[int, Any] = {}
        away = self._zenoh.Locality.REMOTE
        for key in (self._every, self._keys[OBSERVER]):
            session.declare_subscriber(key, self._direct(self._keep), allowed_origin=away)
        for q in own:
            session.declare_queryable(self._keys[q], self._direct(partial(self._answer, q)))
        lively = session.liveliness()
        lively.declare_subscriber(f"{base}/alive/*", self._direct(self._note), history=True)
        self._alive = [lively.declare_token(f"{base}/alive/{q}") for q in own]

    def _direct(self, function: Callable[[Any], None]) -> Any:
        """A callback in the thread that receives, without another one between."""
        return self._zenoh.handlers.Callback(function, indirect=False)

    # Called by threads of zenoh.

    def _keep(self, sample: Any, age: int = 0) -> None:
        arrived = time.monotonic_ns() - age
        datagram = sample.payload.to_bytes()[: LARGEST + 1]
        self._here.append((datagram, arrived, str(sample.key_expr)))

    def _note(self, sample: Any) -> None:
        is_new = sample.kind == self._zenoh.SampleKind.PUT
        self._changes.append((str(sample.key_expr), is_new))

    def _answer(self, agent: int, query: Any) -> None:
        if agent in self._last:
            datagram, sent = self._last[agent]
            age = _AGE.pack(time.monotonic_ns() - sent)
            query.reply(self._keys[agent], datagram, attachment=age)

    def _keep_answer(self, reply: Any) -> None:
        """Keep an answer, dated as if it had come when its datagram was sent."""
        if reply.ok is None or reply.ok.attachment is None:
            return
        age = reply.ok.attachment.to_bytes()
        if len(age) == _AGE.size:
            self._keep(reply.ok, max(_AGE.unpack(age)[0], 0))

    # Called by the thread of the host.

    def send(self, datagram: bytes, now: float) -> None:
        """Put a datagram under the key of its sender."""
        sender, _, _ = SENDER.unpack_from(datagram)
        if sender not in self._out:
            self._out[sender] = self._publisher(self._keys[sender])
        self._last[sender] = (datagram, time.monotonic_ns())
        self._out[sender].put(datagram)

    def answer(self, datagram: bytes, source: object) -> None:
        """Put a datagram under the key of its sender, which the source has subscribed to."""
        self.send(datagram, 0.0)

    def _publisher(self, key: str) -> Any:
        drop = self._zenoh.CongestionControl.DROP
        first = self._zenoh.Priority.REAL_TIME
        return self._session.declare_publisher(
            key, congestion_control=drop, express=True, priority=first
        )

    def receive(self, now: float) -> list[Arrival]:
        """The datagrams that have arrived, each with the agent of its key as its source."""
        found = []
        while self._here:
            datagram, arrived, key = self._here.popleft()
            found.append(Arrival(datagram, self._clock.at(arrived), self._agents.get(key)))
        self._known.update(one.source for one in found)
        self._follow_tokens()
        return found

    def _follow_tokens(self) -> None:
        """Request the last segments of agents that appeared, and again of those that return."""
        appeared: set[int] = set()
        while self._changes:
            key, is_new = self._changes.popleft()
            if (agent := self._tokens.get(key)) is None:
                continue
            if is_new and agent not in self._known:
                appeared.add(agent)
            elif not is_new:
                self._known.discard(agent)
        if appeared:
            key = self._every if len(appeared) > 1 else self._keys[appeared.pop()]
            self._session.get(
                key, self._direct(self._keep_answer), target=self._zenoh.QueryTarget.ALL,
                consolidation=self._zenoh.ConsolidationMode.NONE, timeout=1.0,
                allowed_destination=self._zenoh.Locality.REMOTE,
            )  # fmt: skip

    def close(self) -> None:
        """Close the session."""
        self._session.close()

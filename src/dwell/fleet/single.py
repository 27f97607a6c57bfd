"""One agent of a fleet as a process by itself, such as on a robot, and the stop of all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

from dwell.agents.interfaces import decay_rate_of
from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.configuration import fleet_plan
from dwell.fleet.host import Host
from dwell.fleet.plan import FleetPlan, serve
from dwell.fleet.plant.kinds import open_plant
from dwell.fleet.transport import Transport
from dwell.fleet.transport.udp import UNKNOWN_NAME, Address, as_address, is_loopback, udp_transport
from dwell.fleet.transport.zenoh import ZenohLinks, ZenohTransport, open_session, sources_of
from dwell.fleet.wire import STOP
from dwell.live.beliefs import STOPPED, Announcement
from dwell.progress import Progress, reported
from dwell.scenario import Scenario

FIRST_PORT = 7400  # of the agents of one machine, where the scenario names no addresses
REPEAT = 0.05  # seconds between two emergency stops


@final
@dataclass(frozen=True)
class AgentLinks:
    """How an agent reaches the others.

    Parameters
    ----------
    transport : "udp" or "zenoh".
    listen : address to listen at: host:port; for zenoh also tcp/host:port or tls/host:port.
    key : file with the secret that all agents share, for UDP.
    connect : endpoints of zenoh to connect to, such as that of a router; all peers unless given.
    tls : folder with the certificates of zenoh.
    """

    transport: str = "udp"
    listen: str | None = None
    key: Path | None = None
    connect: Sequence[str] = ()
    tls: Path | None = None


def run_agent(
    scenario: Scenario,
    number: int,
    journals: Path,
    run: str,
    links: AgentLinks,
    say: Callable[[str], None],
    robot: str = "integrator",
    progress: Progress | bool | None = None,
) -> None:
    """Run one agent until the horizon, or until a signal; `robot` as `open_plant` takes it."""
    try:
        journals.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        says = f"{journals} is no folder, and cannot be made one ({fault.strerror})"
        raise InputError(f"{says}; give one for journals", code="fleet.journal") from None
    plan = fleet_plan(scenario, journals, run, _secret(links.key))
    agents = len(plan.positions)
    if number >= agents:
        says = f"--id is {number}; the scenario has {agents} agents, numbered from 0"
        raise InputError(says, code="fleet.id")
    name = f"agent-{number:04d}"
    boot = plan.next_boot(name)
    before = plan.origin(name)
    clock = Clock(time.monotonic() if before is None else before)
    transport, sources, at = _opened(plan, number, scenario, links, clock, say)
    fade, dimension = decay_rate_of(plan.law.system.controller), plan.law.system.dimension
    plants = None
    if robot != "integrator":
        plants = {number: open_plant(robot, number, clock.now, dimension, fade)}
    host = plan.host(
        name, [number], transport, clock, boot=boot, shared_clock=False, sources=sources,
        plants=plants,
    )  # fmt: skip
    state = "stopped in this run, and stands" if host.stopped else "waiting for the others"
    say(f"agent {number} of {agents} at {at}, boot {boot}; {state}")
    begun = math.inf

    def watch(running: Host) -> None:
        nonlocal begun
        now = running.clock.now()
        begun = min(begun, now) if running.agents[number].k else math.inf
        share = 0.0 if math.isinf(begun) else (now - begun) / max(plan.until - begun, 1e-9)
        tell(_state(running, agents), share)

    with reported(progress) as tell:
        host.watch = watch
        serve(plan, host, returning=before is not None, alone=True)
    reached, samples = min(max(host.clock.now(), 0.0), plan.until), host.agents[number].k
    ends = f"ends at t = {reached:.1f}" if samples else "ends, and has not begun"
    say(f"agent {number} {ends}; {host.journal.path} has {samples} samples")


def _state(host: Host, agents: int) -> str:
    """What the progress of one agent says."""
    (agent,) = host.agents.values()
    parts = [f"t = {host.clock.now():.0f} s" if agent.k else "waiting"]
    parts += ["stopped"] if host.stopped else []
    parts.append(f"{host.known()} of {agents} agents known")
    parts += [f"{agent.k} samples"] if agent.k else []
    parts += [f"{count} dropped ({reason})" for reason, count in host.codec.refused.items()]
    return ", ".join(parts)


def stop_agents(
    scenario: Scenario, run: str, links: AgentLinks, patience: float, say: Callable[[str], None]
) -> tuple[list[int], list[int]]:
    """Send the emergency stop until all agents have answered, or for `patience` seconds.

    Returns the agents that have answered that they stand, and the others.
    """
    plan, clock = fleet_plan(scenario, Path(), run, _secret(links.key)), Clock(time.monotonic())
    transport, sources, _ = _opened(plan, None, scenario, links, clock, say)
    codec, agents = plan.codec(), range(len(plan.positions))
    silent, now = set(agents), clock.now()
    until = now + patience  # it may have taken a while to open the transport
    try:
        while silent and now <= until:
            transport.send(codec.control(STOP, now), now)
            for one in transport.receive(clock.sleep(now + REPEAT)):
                message = codec.unpack(one.datagram)
                if isinstance(message, Announcement) and message.kind == STOPPED:
                    silent -= {message.agent} & set(sources.get(one.source, ()))
            now = clock.now()
    finally:
        transport.close()
    return [p for p in agents if p not in silent], sorted(silent)


def _secret(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes().strip()
    except OSError as fault:
        says = f"the key {path} cannot be read ({fault.strerror})"
        raise InputError(f"{says}; give the file of the secret", code="fleet.key") from None


Opened: TypeAlias = tuple[Transport, dict[Any, Collection[int]], str]


def _addresses(scenario: Scenario, agents: int) -> tuple[str, ...]:
    """The address of each agent: the scenario's, or ports of this machine."""
    given = None if scenario.fleet is None else scenario.fleet.peers
    found = given or tuple(f"127.0.0.1:{FIRST_PORT + p}" for p in range(agents))
    for p, one in enumerate(found):
        if one in found[:p]:
            says = f"{one} is the address of agents {found.index(one)} and {p}"
            raise InputError(f"{says}; each needs its own", code="fleet.peers", key="fleet.peers")
    return found


def _opened(
    plan: FleetPlan,
    number: int | None,
    scenario: Scenario,
    links: AgentLinks,
    clock: Clock,
    say: Callable[[str], None],
) -> Opened:
    """How an agent, or the observer without a number, reaches all others."""
    texts = _addresses(scenario, len(plan.positions))
    if links.transport == "zenoh":
        return _by_zenoh(plan, number, texts, links, clock)
    return _by_udp(plan, number, _resolved(texts, number, say), links, clock)


def _resolved(
    texts: tuple[str, ...], own: int | None, say: Callable[[str], None]
) -> dict[int, Address]:
    """The addresses of agents by their numbers, without others whose name is not known."""
    found = {}
    for p, text in enumerate(texts):
        try:
            found[p] = as_address(text)
        except InputError as fault:
            if p == own or fault.code != UNKNOWN_NAME:
                raise
            say(f"agent {p} is left out: {fault}")
    return found


def _by_udp(
    plan: FleetPlan,
    number: int | None,
    peers: dict[int, Address],
    links: AgentLinks,
    clock: Clock,
) -> Opened:
    if links.tls is not None or links.connect:
        says = "--tls and --connect go with the transport zenoh"
        raise InputError(f"{says}; add --transport zenoh, or leave them out", code="fleet.zenoh")
    own = ("127.0.0.1" if all(map(is_loopback, peers.values())) else "0.0.0.0", 0)  # any port
    if links.listen is not None or number is not None:
        own = as_address(links.listen) if links.listen is not None else peers[number or 0]
    others = [address for p, address in peers.items() if p != number]
    transport = udp_transport(own, others, clock, plan.key)
    sources: dict[Any, Collection[int]] = {address: (p,) for p, address in peers.items()}
    return transport, sources, f"{own[0]}:{own[1]}"


def _by_zenoh(
    plan: FleetPlan, number: int | None, texts: tuple[str, ...], links: AgentLinks, clock: Clock
) -> Opened:
    protocol, agents = "tcp" if links.tls is None else "tls", len(texts)
    at = links.listen or ("127.0.0.1:0" if number is None else texts[number])
    own = at if "/" in at else f"{protocol}/{at}"
    peers = tuple(f"{protocol}/{text}" for text in texts[:number])  # each pair has one link
    name = "observer" if number is None else f"agent_{number}"
    session = open_session(
        ZenohLinks(
            listen=(own,), connect=tuple(links.connect) or peers, tls=links.tls, name=name,
            gossip=bool(links.connect),
        ),
        plan.run, agents,
    )  # fmt: skip
    agent = [] if number is None else [number]
    transport = ZenohTransport(session, plan.run, agent, agents, clock)
    return transport, dict(sources_of(agents)), own

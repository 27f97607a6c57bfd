"""One agent of a fleet as a process by itself, such as on a robot, and the stop of all of them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.configuration import fleet_plan
from dwell.fleet.host import Host
from dwell.fleet.plan import FleetPlan, rehearse, serve
from dwell.fleet.plant import Plant
from dwell.fleet.plant.kinds import open_plant
from dwell.fleet.secret import read_secret, refuse_shared
from dwell.fleet.transport import Transport
from dwell.fleet.transport.udp import UNKNOWN_NAME, Address, as_address, is_loopback, udp_transport
from dwell.fleet.transport.zenoh import ZenohLinks, ZenohTransport, open_session, sources_of
from dwell.fleet.wire import STOP
from dwell.live.beliefs import STOPPED, Announcement
from dwell.live.record import DOUBLE, MUTE, SLOW, UNHEARD
from dwell.progress import Progress, reported
from dwell.scenario import Scenario

FIRST_PORT = 7400  # of the agents of one machine, where the scenario names no addresses
NAMED = 3  # agents that the progress names, of those that are missing
STATES = {
    DOUBLE: "stands: another process has this number",
    MUTE: "stands: too few others receive its messages",
    UNHEARD: "stands: it has never heard of some agent",
}  # fmt: skip
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
    robot: str | Plant = "integrator",
    progress: Progress | bool | None = None,
) -> None:
    """Run one agent until the horizon, or until a signal.

    robot : as `open_plant` takes it, or a robot of one's own.
    """
    try:
        journals.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        says = f"{journals} is no folder, and cannot be made one ({fault.strerror})"
        raise InputError(f"{says}; give one for journals", code="fleet.journal") from None
    plan = fleet_plan(scenario, journals, run, read_secret(links.key))
    agents = len(plan.positions)
    if number >= agents:
        says = f"--id is {number}; the scenario has {agents} agents, numbered from 0"
        raise InputError(says, code="fleet.id")
    _refuse_slow(plan, number, say)
    name = f"agent-{number:04d}"
    boot = plan.next_boot(name)
    before = plan.origin(name)
    clock = Clock(time.monotonic() if before is None else before)
    transport, sources, at = _opened(plan, number, scenario, links, clock, say)
    fade, dimension = plan.law.system.traits.fade, plan.law.system.dimension
    plants = None
    if not isinstance(robot, str):
        plants = {number: robot}
    elif robot != "integrator":
        plants = {number: open_plant(robot, number, clock.now, dimension, fade)}
    host = plan.host(
        name, [number], transport, clock, boot=boot, shared_clock=False, sources=sources,
        plants=plants,
    )  # fmt: skip
    state = "stopped in this run, and stands" if host.stopped else "waiting for the others"
    say(f"agent {number} of {agents} at {at}, boot {boot}; {state}")
    begun, addresses = math.inf, _addresses(scenario, agents)

    def watch(running: Host) -> None:
        nonlocal begun
        now = running.clock.now()
        begun = min(begun, now) if running.agents[number].k else math.inf
        share = 0.0 if math.isinf(begun) else (now - begun) / max(plan.until - begun, 1e-9)
        tell(_state(running, plan, addresses), share)

    with reported(progress) as tell:
        host.watch = watch
        serve(plan, host, returning=before is not None, alone=True)
    reached, samples = min(max(host.clock.now(), 0.0), plan.until), host.agents[number].k
    ends = f"ends at t = {reached:.1f}" if samples else "ends, and has not begun"
    say(f"agent {number} {ends}; {host.journal.path} has {samples} samples")


def _refuse_slow(plan: FleetPlan, number: int, say: Callable[[str], None]) -> None:
    """Say so if a decision takes longer than the margin, and refuse one that takes longer than T2.

    Processor time is compared, as other programs may be busy at the start.
    """
    margin, longest = plan.law.settings.margin, float(plan.law.longest[number])
    here = number if plan.law.system.arrivals[number] == 0.0 else 0
    took = rehearse(plan, here)
    says = f"a decision of agent {number} takes {took:.2g} s of processor time on this machine"
    more = "use compiled kernels (DWELL_JIT=1)" if os.environ.get("DWELL_JIT") == "0" else ""
    more = more or "use a faster machine, longer intervals, or a density that is smoother"
    if took > longest:
        says = f"{says}, longer than the longest interval of its law, {longest:.2g} s"
        raise InputError(f"{says}; {more}", code="fleet.slow")
    if took > margin:
        says = f"{says}, longer than fleet.margin = {margin:g} s, so that samples may come later"
        say(f"{says} than T2; {more}, or a margin above {2.0 * took:.2g}")


def _state(host: Host, plan: FleetPlan, addresses: Sequence[str]) -> str:
    """What the progress of one agent says."""
    (agent,) = host.agents.values()
    agents, now = len(plan.positions), host.clock.now()
    parts = [f"t = {now:.0f} s" if agent.k else "waiting"]
    parts += ["stopped"] if host.stopped else []
    parts += [words for flag, words in STATES.items() if agent.flags & flag]
    if agent.flags & SLOW:
        transits = host.beliefs.transits()
        slowest = float(transits[np.isfinite(transits)].max(initial=0.0))
        parts.append(f"messages take up to {slowest:.2g} s" if slowest else "no answers yet")
    parts.append(f"{host.known()} of {agents} agents known")
    parts += [f"{agent.k} samples"] if agent.k else []
    if (behind := lateness(host)) > plan.law.settings.margin:
        parts.append(f"LATE: the last sample and its message took {behind:.2g} s")
    parts += missing(host, addresses)
    parts += [f"{count} dropped ({reason})" for reason, count in host.codec.refused.items()]
    return ", ".join(parts)


def lateness(host: Host) -> float:
    """How long after its due time the message of the last sample had been sent."""
    (agent,) = host.agents.values()
    sampled = float(host.beliefs.stamp[agent.agent])
    taken = agent.sent_at - sampled if agent.k and math.isfinite(agent.sent_at) else 0.0
    return max(taken, host.clock.now() - agent.due if agent.k else 0.0)


def missing(host: Host, addresses: Sequence[str]) -> list[str]:
    """The agents that are not known now, each with its address, and why; the first few."""
    now = host.clock.now()
    known, ages = host.beliefs.known(now, host.law.silence), host.beliefs.ages(now)
    lacking = [p for p in range(len(known)) if not known[p] and p not in host.agents]
    found = []
    for p in lacking[:NAMED]:
        why = f"silent for {ages[p]:.0f} s" if host.beliefs.boot[p] >= 0 else "never heard"
        if reason := host.refused_from.get(p):
            why = f"its messages are dropped ({reason})"
        found.append(f"agent {p} at {addresses[p]}: {why}")
    more = len(lacking) - NAMED
    return [*found, f"and {more} more"] if more > 0 else found


def stop_agents(
    scenario: Scenario, run: str, links: AgentLinks, patience: float, say: Callable[[str], None]
) -> tuple[list[int], list[int]]:
    """Send the emergency stop until all agents have answered, or for `patience` seconds.

    Returns the agents that have answered that they stand, and the others.
    """
    plan, clock = fleet_plan(scenario, Path(), run, read_secret(links.key)), Clock(time.monotonic())
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
    if links.tls is not None and (private := links.tls / f"{name}.key").is_file():
        refuse_shared(private)
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

"""One agent of a fleet as a process by itself, such as on a robot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.configuration import fleet_plan
from dwell.fleet.plan import serve
from dwell.fleet.transport.udp import UdpTransport, as_address, is_loopback, udp_socket
from dwell.scenario import Scenario

FIRST_PORT = 7400  # of the agents of one machine, where the scenario names no addresses


def run_agent(
    scenario: Scenario,
    number: int,
    journals: Path,
    run: str,
    listen: str | None,
    key: Path | None,
    say: Callable[[str], None],
) -> None:
    """Run one agent until the horizon, or until a signal."""
    journals.mkdir(parents=True, exist_ok=True)
    secret = None if key is None else key.read_bytes().strip()
    plan = fleet_plan(scenario, journals, run, secret)
    agents = len(plan.positions)
    if number >= agents:
        says = f"--id is {number}; the scenario has {agents} agents, numbered from 0"
        raise InputError(says, code="fleet.id")
    given = None if scenario.fleet is None else scenario.fleet.peers
    texts = given or tuple(f"127.0.0.1:{FIRST_PORT + p}" for p in range(agents))
    if len(texts) != agents:
        says = f"fleet.peers has {len(texts)} addresses; one for each of {agents} agents is needed"
        raise InputError(says, code="fleet.peers", key="fleet.peers")
    peers = [as_address(text) for text in texts]
    own = peers[number] if listen is None else as_address(listen)
    if secret is None and not all(map(is_loopback, [own, *peers])):
        says = "agents on several machines share a secret, so that no other sender is believed"
        raise InputError(f"{says}; give all of them the same file with --key", code="fleet.key")
    name = f"agent-{number:04d}"
    boot = plan.next_boot(name)
    before = plan.origin(name)
    clock = Clock(time.monotonic() if before is None else before)
    others = [address for p, address in enumerate(peers) if p != number]
    host = plan.host(
        name, [number], UdpTransport(udp_socket(own), others, clock), clock, boot=boot,
        shared_clock=False, sources={address: {p} for p, address in enumerate(peers)},
    )  # fmt: skip
    say(f"agent {number} of {agents} at {own[0]}:{own[1]}, start {boot}; waiting for the others")
    serve(plan, host, returning=before is not None, alone=True)

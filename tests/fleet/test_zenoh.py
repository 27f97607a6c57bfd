"""Real sessions of zenoh on loopback: peers, routers, deaths, late comers and certificates."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dwell.errors import FleetError, InputError
from dwell.fleet.certificates import make_authority, make_certificates
from dwell.fleet.clock import Clock
from dwell.fleet.run import run_fleet
from dwell.fleet.transport.local import ZenohEndpoint
from dwell.fleet.transport.zenoh import (
    ZenohLinks,
    ZenohTransport,
    key_of,
    open_session,
    sources_of,
)
from dwell.fleet.wire import OBSERVER, START, Codec
from tests.fleet.messages import AGENTS, RUN, announced, host_of, plan_in, state, unchanged, until
from tests.fleet.test_processes import held, scenario
from tests.workers.watch import LONG

zenoh = pytest.importorskip("zenoh")
CODEC = Codec("1", AGENTS, 2)


@pytest.fixture
def opened():
    """Open sessions and transports that are closed after the test."""
    kept, ports = [], [ZenohEndpoint(RUN, AGENTS) for _ in range(4)]

    def session(number, *others, protocol="tcp", **more):
        at = [f"{protocol}/127.0.0.1:{ports[q].port}" for q in (number, *others)]
        links = ZenohLinks(listen=(at[0],), connect=tuple(at[1:]), **more)
        kept.append(open_session(links, RUN, AGENTS))
        return kept[-1]

    def transport(number, *others, own=None, **more):
        some = session(number, *others, **more)
        return ZenohTransport(
            some, RUN, [number] if own is None else own, AGENTS, Clock(time.monotonic())
        )

    yield session, transport, [one.port for one in ports]
    for one in kept:
        one.close()
    for one in ports:
        one.close()


def heard(transport, count=1, seconds=LONG):
    """The messages that arrive until there are enough; the answer to a request may repeat one."""
    found = {}

    def enough():
        found.update(((one.source, one.datagram), None) for one in transport.receive(0.0))
        return len(found) >= count

    until(enough, seconds)
    return [(source, CODEC.unpack(datagram)) for source, datagram in found]


def linked(*sessions):
    """Wait until each session has links to all others."""
    assert until(lambda: all(len(s.info.links()) >= len(sessions) - 1 for s in sessions))


def test_two_agents_exchange_segments(opened):
    _, transport, _ = opened
    a, b = transport(0), transport(1, 0)
    linked(a._session, b._session)
    a.send(CODEC.pack(announced(0, 1)), 0.0)
    (source, message), *_ = heard(b)
    assert (source, message.agent, message.k) == (0, 0, 1)
    b.send(CODEC.pack(announced(1, 1)), 0.0)
    assert [source for source, _ in heard(a)] == [1]
    a.send(CODEC.control(START, 7.0), 0.0)
    source, message = heard(b)[-1]
    assert (source, message.stamp) == (OBSERVER, 7.0)


def test_a_late_comer_hears_the_last_segment_of_each_agent_and_how_old_it_is(opened):
    _, transport, _ = opened
    a, b = transport(0), transport(1, 0)
    linked(a._session, b._session)
    sent = time.monotonic()
    for k in (1, 2):
        a.send(CODEC.pack(announced(0, k)), 0.0)
    b.send(CODEC.pack(announced(1, 1)), 0.0)
    time.sleep(0.3)
    late = transport(2, 0, 1)
    found = []
    assert until(lambda: found.extend(late.receive(0.0)) or len({one.source for one in found}) == 2)
    messages = {one.source: CODEC.unpack(one.datagram) for one in found}
    assert {(q, m.agent, m.k) for q, m in messages.items()} == {(0, 0, 2), (1, 1, 1)}
    for one in found:  # dated back to when they were sent
        assert one.time + late._clock.origin - sent < 0.25
    a.send(CODEC.pack(announced(0, 3)), 0.0)
    assert until(lambda: 3 in [m.k for _, m in heard(late, seconds=0.0)])


def test_a_message_under_the_key_of_another_agent_is_dropped(opened, tmp_path):
    session, transport, _ = opened
    host = host_of(plan_in(tmp_path), 0, transport(0), sources_of(AGENTS))
    forger = session(1, 0)
    linked(host._transport._session, forger)
    before, base = state(host.beliefs), key_of(RUN)
    for key, message in (("segment/2", host.codec.pack(announced(1, 1))),
                         ("segment/002", host.codec.pack(announced(2, 1))),
                         ("segment/x", host.codec.pack(announced(2, 1))),
                         ("segment/1", host.codec.control(START, 1.0)),
                         ("segment/1", b"x" * 8192)):  # fmt: skip
        forger.put(f"{base}/{key}", message)

    def enough():
        host.hear(0.0)
        return sum(host.codec.refused.values()) == 5

    assert until(enough), host.codec.refused
    assert host.codec.refused == {"source": 4, "size": 1}
    assert unchanged(before, host.beliefs)
    assert not host.started
    forger.put(f"{base}/segment/1", host.codec.pack(announced(1, 1)))
    assert until(lambda: host.hear(0.0) or host.beliefs.k[1] == 1)
    host.journal.close()


AGENT = """
import json, sys, time
from dwell.fleet.clock import Clock
from dwell.fleet.transport.zenoh import ZenohLinks, ZenohTransport, open_session
from dwell.fleet.wire import Codec
from tests.fleet.messages import announced
links, run, agents, own = json.loads(sys.argv[1])
session = open_session(ZenohLinks(**links), run, agents)
if own is not None:
    transport = ZenohTransport(session, run, [own], agents, Clock(time.monotonic()))
print("open", flush=True)
for k in range(1, 10**6):
    if own is not None:
        transport.send(Codec("1", agents, 2).pack(announced(own, k)), 0.0)
    time.sleep(0.02)
"""


@pytest.fixture
def process():
    """Start processes with a session, or with an agent that announces itself all the time."""
    started = []

    def start(own=None, **links):
        about = json.dumps([links, RUN, AGENTS, own])
        started.append(
            subprocess.Popen([sys.executable, "-c", AGENT, about], stdout=subprocess.PIPE)
        )
        assert started[-1].stdout.readline() == b"open\n"
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()
        one.stdout.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_token_of_a_dead_or_hung_agent_is_gone(opened, process, how):
    _, transport, ports = opened
    a = transport(0)
    other = process(1, listen=[f"tcp/127.0.0.1:{ports[1]}"], connect=[f"tcp/127.0.0.1:{ports[0]}"])
    assert heard(a)
    assert a._known == {1}
    os.kill(other.pid, how)
    assert until(lambda: a.receive(0.0) is None or not a._known)


def test_peers_go_on_without_the_router_that_introduced_them(opened, process):
    _, transport, ports = opened
    router = f"tcp/127.0.0.1:{ports[3]}"
    broker = process(mode="router", listen=[router])
    a, b = (transport(q, 3, gossip=True) for q in range(2))
    about = [one._session.info for one in (a, b)]
    assert until(lambda: all(len(i.peers_zid()) == len(i.routers_zid()) == 1 for i in about))
    broker.kill()
    broker.wait()
    assert until(lambda: not any(i.routers_zid() for i in about))
    assert all(len(i.peers_zid()) == 1 for i in about)
    a.send(CODEC.pack(announced(0, 1)), 0.0)
    assert [m.agent for _, m in heard(b)] == [0]


def test_clients_of_a_router_hear_each_other(opened, process):
    _, _, ports = opened
    router = f"tcp/127.0.0.1:{ports[3]}"
    process(mode="router", listen=[router])
    links = ZenohLinks(mode="client", connect=(router,))
    both = [open_session(links, RUN, AGENTS) for _ in range(2)]
    a, b = (ZenohTransport(s, RUN, [q], AGENTS, Clock(0.0)) for q, s in enumerate(both))
    a.send(CODEC.pack(announced(0, 1)), 0.0)
    assert [source for source, _ in heard(b)] == [0]
    b.close()
    a.close()


def test_a_returning_agent_finds_its_links_again(opened, process):
    _, transport, ports = opened
    at = [f"tcp/127.0.0.1:{port}" for port in ports]
    a = transport(1, 0)  # connects to agent 0, which is not there yet
    first = process(0, listen=[at[0]])
    assert heard(a)
    first.kill()
    first.wait()
    a.receive(0.0)
    process(0, listen=[at[0]])
    assert heard(a)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    make_authority(folder)
    names = [f"agent_{q}" for q in range(AGENTS)]
    make_certificates(folder, [*names, "observer", "router", "stranger"])
    assert (folder / "agent_0.key").stat().st_mode & 0o077 == 0
    return folder


def test_a_certificate_permits_the_own_key_alone(opened, certificates):
    session, transport, _ = opened
    tls = {"tls": certificates, "protocol": "tls"}
    a = transport(0, name="agent_0", **tls)
    base = f"{key_of(RUN)}/segment"
    two = session(2, 0, name="agent_2", **tls)
    stranger = session(1, 0, name="stranger", **tls)
    assert until(lambda: len(a._session.info.links()) == 2)
    away = zenoh.Locality.REMOTE
    heard_by_stranger = stranger.declare_subscriber(f"{base}/*", allowed_origin=away)
    for who in (stranger, two):
        for q in range(AGENTS):
            who.put(f"{base}/{q}", CODEC.pack(announced(q, 1)))
        who.put(f"{key_of(RUN)}/control", CODEC.control(START, 1.0))
    a.send(CODEC.pack(announced(0, 1)), 0.0)
    time.sleep(0.3)
    two.put(f"{base}/2", CODEC.pack(announced(2, 2)))  # what came before it has come
    found = []
    assert until(lambda: found.extend(heard(a, seconds=0.0)) or any(m.k == 2 for _, m in found))
    assert {(q, m.agent, m.k) for q, m in found} == {(2, 2, 1), (2, 2, 2)}
    assert heard_by_stranger.try_recv() is None


def test_the_observer_may_begin_a_run_and_a_router_passes_messages_on(opened, certificates):
    session, _, ports = opened
    tls = {"tls": certificates, "protocol": "tls"}
    session(3, name="router", mode="router", **tls)
    a, observer = (
        ZenohTransport(
            open_session(
                ZenohLinks("client", (), (f"tls/127.0.0.1:{ports[3]}",), certificates, name),
                RUN, AGENTS,
            ), RUN, own, AGENTS, Clock(0.0),
        )
        for name, own in (("agent_0", [0]), ("observer", []))
    )  # fmt: skip
    found = []

    def begun():
        observer.send(CODEC.control(START, 7.0), 0.0)
        found.extend(heard(a, seconds=0.0))
        return found

    assert until(begun)
    assert found[0][0] == OBSERVER
    a.send(CODEC.control(START, 8.0), 0.0)  # which an agent may not
    a.send(CODEC.pack(announced(0, 1)), 0.0)
    assert [source for source, _ in heard(observer)] == [0]
    a.close()
    observer.close()


def test_without_a_certificate_there_is_no_link(opened, certificates, tmp_path):
    session, _, ports = opened
    session(0, tls=certificates, protocol="tls", name="agent_0")
    make_authority(tmp_path)
    make_certificates(tmp_path, ["agent_1"])  # by another authority
    plain = {"mode": "client", "connect": {"endpoints": [f"tls/127.0.0.1:{ports[0]}"]},
             "scouting": {"multicast": {"enabled": False}},
             "transport": {"link": {"tls": {
                 "root_ca_certificate": str(certificates / "ca.pem"),
                 "verify_name_on_connect": False}}}}  # fmt: skip
    with pytest.raises(zenoh.ZError):
        zenoh.open(zenoh.Config.from_json5(json.dumps(plain)))
    at = (f"tls/127.0.0.1:{ports[0]}",)
    links = ZenohLinks(mode="client", connect=at, tls=tmp_path, name="agent_1")
    with pytest.raises(FleetError, match="cannot listen at or connect to tls"):
        open_session(links, RUN, AGENTS)


@pytest.mark.parametrize(
    ("links", "says"),
    [
        ({"listen": ("tcp/192.0.2.7:7447",)}, "beyond this machine.*tls/192.0.2.7:7447"),
        ({"connect": ("tcp/192.0.2.7:7447",)}, "beyond this machine"),
        ({"connect": ("udp/127.0.0.1:7447",)}, "tcp/host:port or tls/host:port is needed"),
        ({"listen": ("tls/127.0.0.1:7447",)}, "goes with a folder of certificates"),
        ({"listen": ("tcp/127.0.0.1",)}, "host:port is needed"),
    ],
)
def test_endpoints_that_are_not_safe_are_refused(links, says):
    with pytest.raises(InputError, match=says):
        open_session(ZenohLinks(**links), RUN, AGENTS)


def test_missing_certificates_are_named(tmp_path):
    links = ZenohLinks(tls=tmp_path, name="agent_3")
    with pytest.raises(InputError, match=r"no ca\.pem, no agent_3\.pem, no agent_3\.key"):
        open_session(links, RUN, AGENTS)


def test_a_process_that_misses_the_start_begins_later():
    """Messages of the time in which it hung are lost."""
    hung = []

    def watch(status, fleet):
        if status.time < 0.0 and status.known == 4 and not hung:
            hung.append(fleet.pids[2])
            os.kill(hung[0], signal.SIGSTOP)
        elif status.time > 3.0 and len(hung) == 1:
            hung.append(0)
            os.kill(hung[0], signal.SIGCONT)

    run = run_fleet(scenario(6.0, patience=5.0), transport="zenoh", progress=False, watch=watch)
    assert (run.details.live.samples["agent"] == 2).any()


def test_a_fleet_over_zenoh_is_verified_and_a_killed_agent_returns():
    killed = []

    def watch(status, fleet):
        if status.time > 0.8 and not killed and 1 in fleet.pids:
            killed.append(status.time)
            os.kill(fleet.pids[1], signal.SIGKILL)

    run = run_fleet(scenario(4.0), transport="zenoh", progress=False, watch=watch)
    rows = run.details.live.samples
    assert set(rows["agent"]) == set(range(4))
    assert set(rows[rows["agent"] == 1]["boot"]) == {0, 1}
    assert not set(run.details.live.dropped) - {"old"}
    held(run)

"""Messages that must not count are dropped and counted; nothing is raised, no belief changes."""

import math
import socket

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.journal import read_fleet_journal
from dwell.fleet.transport import Arrival
from dwell.fleet.transport.udp import UdpTransport, udp_socket, udp_transport
from dwell.fleet.wire import OBSERVER, START, STOP, Codec
from dwell.live.beliefs import STOPPED, Announcement
from dwell.live.record import DOUBLE
from dwell.live.settings import MOST_ECHOES
from tests.fleet.messages import announced, host_of, plan_in, state, unchanged, until

KEY = bytes(range(32))
ELSEWHERE = ("127.0.0.1", 9)


class Given:
    """A transport that has received what a test gave it."""

    def __init__(self):
        self.here = []

    def send(self, datagram, now):
        pass

    def receive(self, now):
        here, self.here = self.here, []
        return here

    def close(self):
        pass


@pytest.fixture
def hears(tmp_path):
    """A host with agent 0 that knows agent 1, and a function that gives it datagrams."""
    plan, mail = plan_in(tmp_path, KEY), Given()
    host = host_of(
        plan,
        0,
        mail,
        {"own": (0,), "one": (1,), "two": (2,), "observer": (OBSERVER,)},
        shared=False,
    )

    def hear(datagram, source="one", time=1.0):
        mail.here.append(Arrival(datagram, time, source))
        host.hear(time)

    hear(host.codec.pack(announced(1, 5, boot=1, stamp=1.0)))
    assert host.beliefs.k[1] == 5
    yield host, hear
    host.close()


def refused(host, hear, datagram, reason, source="one", time=2.0):
    before = state(host.beliefs)
    hear(datagram, source, time)
    assert host.codec.refused[reason] == 1, host.codec.refused
    assert unchanged(before, host.beliefs)


def forged(host, **parts):
    """A datagram with a valid seal, of another run, with other numbers, and so on."""
    other = Codec(
        parts.pop("run", host.codec.run), 9, parts.pop("dimension", 2), parts.pop("key", KEY),
        parts.pop("scenario", host.codec.scenario),
    )  # fmt: skip
    return other.pack(announced(parts.pop("agent", 1), 9, boot=1, stamp=2.0, **parts))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"run": "another"}, "run or scenario"),
        ({"scenario": "another"}, "run or scenario"),
        ({"key": bytes(32)}, "seal"),
        ({"key": None}, "size"),
        ({"dimension": 3, "position": (0, 0, 0), "velocity": (0, 0, 0)}, "size"),
        ({"agent": 4}, "agent"),
        ({"position": (math.nan, 0.0)}, "numbers"),
        ({"position": (math.inf, 0.0)}, "numbers"),
        ({"velocity": (0.0, -1e300)}, "numbers"),
        ({"cruise": math.nan}, "numbers"),
        ({"cruise": -1.0}, "numbers"),
        ({"pose_age": math.nan}, "numbers"),
        ({"pose_age": math.inf}, "numbers"),
        ({"pose_age": -1.0}, "numbers"),
    ],
)
def test_a_message_with_a_wrong_part_is_dropped(hears, parts, reason):
    refused(*hears, forged(hears[0], **parts), reason)


@pytest.mark.parametrize("stamp", [math.nan, math.inf, -1e200])
def test_times_are_numbers(hears, stamp):
    host, hear = hears
    refused(host, hear, host.codec.pack(announced(1, 9, boot=1, stamp=stamp)), "numbers")


@pytest.mark.parametrize(("at", "value"), [(16, 99), (17, 77), (18, 3)])
def test_another_version_kind_or_dimension_is_dropped(hears, at, value):
    host, hear = hears
    inner = bytearray(forged(host)[:-16])
    inner[at] = value
    sealed = bytes(inner) + host.codec._seal(bytes(inner))
    refused(host, hear, sealed, "version")


def test_every_flipped_bit_breaks_the_seal(hears):
    host, hear = hears
    good = forged(host)
    before = state(host.beliefs)
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        hear(bytes(bad))
    assert host.codec.refused == {"seal": 8 * len(good)}
    assert unchanged(before, host.beliefs)


@pytest.mark.parametrize(("boot", "k"), [(1, 5), (1, 4), (0, 900), (0, 0), (1, 0)])
def test_a_replay_changes_nothing_not_even_the_clock(hears, boot, k):
    host, hear = hears
    before = state(host.beliefs)
    for later in (2.0, 50.0, 100.0):  # windows of the comparison of clocks pass
        hear(host.codec.pack(announced(1, k, boot=boot, stamp=later + 30.0)), time=later)
    assert unchanged(before, host.beliefs)
    assert host.codec.refused["old"] == (3 if k else 0)


def test_an_agent_speaks_for_itself_alone(hears):
    host, hear = hears
    refused(host, hear, forged(host), "source", source="two")


def test_own_messages_and_unknown_sources_are_dropped(hears):
    host, hear = hears
    before = state(host.beliefs)
    own = host.agents[0].incarnation
    hear(forged(host, agent=0, incarnation=own), "own")
    assert host.codec.refused == {"own": 1}
    hear(forged(host, agent=0, incarnation=own), "one")
    hear(forged(host, agent=1), ELSEWHERE)
    assert host.codec.refused == {"own": 1, "source": 2}
    assert unchanged(before, host.beliefs)


def test_only_the_observer_begins_a_run_and_anything_stops_it(hears):
    host, hear = hears
    origin = host.clock.origin
    hear(host.codec.control(START, 5.0), "two")
    assert (host.started, host.clock.origin) == (False, origin)
    assert host.codec.refused == {"source": 1}
    hear(host.codec.control(START, 5.0), "observer")
    assert (host.started, host.clock.origin) == (True, 5.0)
    hear(host.codec.control(START, 9.0), "observer")  # a repeat
    assert host.clock.origin == 5.0
    hear(host.codec.control(STOP, 0.0), "two")
    assert host.stopped


def test_an_agent_that_returns_hears_of_the_emergency_stop_from_the_others(hears):
    host, hear = hears
    hear(host.codec.pack(announced(1, 6, boot=1, stamp=2.0)._replace(kind=STOPPED)), "two", 2.0)
    assert not host.stopped  # agent 2 does not speak for agent 1
    hear(host.codec.pack(announced(1, 6, boot=1, stamp=2.0)._replace(kind=STOPPED)), "one", 2.0)
    assert host.stopped


def test_the_emergency_stop_does_not_depend_on_the_law(hears):
    host, hear = hears
    other = Codec(host.codec.run, 9, 2, KEY, "another scenario")
    hear(other.control(STOP, 0.0), ELSEWHERE)
    assert host.stopped


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.binary(min_size=92, max_size=92)), st.booleans())
def test_random_bytes_are_dropped(hears, data, sealed):
    host, hear = hears
    before, count = state(host.beliefs), sum(host.codec.refused.values())
    if sealed:  # by a key that was stolen: content is still checked
        data = bytes(16) + data[16:]
        data += host.codec._seal(data)
    hear(data)
    assert sum(host.codec.refused.values()) == count + 1
    assert unchanged(before, host.beliefs)


def test_a_wrong_address_is_dropped(tmp_path):
    plan = plan_in(tmp_path)
    ends = [udp_socket(("127.0.0.1", 0)) for _ in range(3)]
    places = [one.getsockname() for one in ends]
    sources = {place: (q,) for q, place in enumerate(places)}
    host = host_of(plan, 0, UdpTransport(ends[0], places[1:], Clock(0.0)), sources)
    try:
        ends[2].sendto(host.codec.pack(announced(1, 1)), places[0])
        ends[1].sendto(host.codec.pack(announced(1, 2)), places[0])

        def heard():
            host.hear(0.0)
            return host.beliefs.k[1] == 2

        assert until(heard)
        assert host.codec.refused == {"source": 1}
    finally:
        host.close()
        for one in ends[1:]:
            one.close()


def test_beyond_this_machine_a_key_is_needed():
    here, there = ("127.0.0.1", 0), ("192.0.2.7", 7400)
    for own, peers in ((here, [there]), (("0.0.0.0", 0), [here])):
        with pytest.raises(InputError, match=r"beyond this machine.*--key"):
            udp_transport(own, peers, Clock(0.0), None)
    with pytest.raises(InputError, match="5 bytes"):
        udp_transport(here, [there], Clock(0.0), b"short")
    udp_transport(here, [there], Clock(0.0), KEY).close()
    udp_transport(here, [here], Clock(0.0), None).close()


def test_a_socket_takes_any_datagram(tmp_path):
    own, other = udp_socket(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    transport, codec = UdpTransport(own, [], Clock(0.0)), Codec("1", 3, 2)
    try:
        for data in (b"", b"x" * 5000, codec.pack(announced(1, 1))):
            other.sendto(data, own.getsockname())
        found = []
        assert until(lambda: found.extend(transport.receive(0.0)) or len(found) == 3)
        assert [codec.unpack(one.datagram) is None for one in found] == [True, True, False]
        assert codec.refused == {"size": 2}
    finally:
        transport.close()
        other.close()


def test_a_socket_takes_the_echoes_of_the_largest_fleet():
    codec = Codec("1", MOST_ECHOES, 3, KEY, echoes=True)
    own, other = udp_socket(("127.0.0.1", 0)), udp_socket(("127.0.0.1", 0))
    transport = UdpTransport(own, [], Clock(0.0))
    sender = UdpTransport(other, [own.getsockname()], Clock(0.0))
    here = np.zeros(3)
    try:
        sender.send(codec.pack(Announcement(1, 0, 1, 0.0, 1.0, here, here)), 0.0)
        found = []
        assert until(lambda: found.extend(transport.receive(0.0)) or len(found) == 1)
        assert codec.unpack(found[0].datagram).agent == 1
    finally:
        transport.close()
        sender.close()


# Two processes with one number.


def test_an_agent_whose_number_another_process_has_stands_and_says_so(hears, capsys):
    host, hear = hears
    hear(forged(host, agent=0, velocity=(0.1, 0.0), incarnation=77), "own")
    assert host.codec.refused == {"double": 1}
    assert "another process runs as agent 0 too" in capsys.readouterr().err
    assert host._to_be_halted() == [0]
    host._halt([0])
    assert host._to_be_halted() == []
    last = read_fleet_journal(host.journal.path).samples[-1]
    assert last["flags"] & DOUBLE
    assert not last["hold"].any()
    assert not host.stopped  # the others go on


@pytest.mark.parametrize(("k", "reason"), [(0, "own"), (5, "own"), (6, "double")])
def test_late_messages_of_an_earlier_start_are_no_other_process(hears, k, reason):
    """Its journal has five samples of the start before."""
    host, hear = hears
    host.agents[0].boot, host.recorded[0] = 2, (1, 5)
    other = announced(0, k, boot=1, stamp=2.0, incarnation=77)
    hear(host.codec.pack(other), "own")
    assert host.codec.refused == {reason: 1}


def test_of_two_processes_with_one_number_the_first_is_believed(hears):
    host, hear = hears
    before = state(host.beliefs)
    hear(host.codec.pack(announced(1, 9, boot=1, stamp=2.0, incarnation=77)))
    assert host.codec.refused == {"old": 1}
    assert unchanged(before, host.beliefs)
    hear(host.codec.pack(announced(1, 1, boot=2, stamp=2.0, incarnation=77)))  # a restart
    assert host.beliefs.boot[1] == 2

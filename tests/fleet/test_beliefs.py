"""Beliefs: the newest announcement of each agent, and how old it is."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell
from dwell.cells.weighted_region import WeightedRegion
from dwell.errors import ScenarioError
from dwell.fleet.configuration import fleet_settings
from dwell.fleet.faults import FaultyTransport
from dwell.fleet.transport.memory import MemoryTransport
from dwell.fleet.wire import START, STOP, Codec
from dwell.live.beliefs import WINDOW, Announcement, Beliefs
from dwell.live.decision import neighbors_of
from dwell.live.faults import Faults, Partition
from dwell.scenario.build import build
from tests.fleet.fleets import scenario


def announced(k, boot=0, agent=1, stamp=None, velocity=(1.0, 0.0), cruise=0.5):
    at = float(k) if stamp is None else stamp
    return Announcement(agent, boot, k, at, cruise, np.array([k, 0.0]), np.array(velocity))


def beliefs(shared=True):
    return Beliefs(3, 2, math.inf, shared_clock=shared)


@given(st.permutations([(b, k) for b in range(2) for k in range(1, 4)]))
def test_whatever_the_order_of_arrival_the_newest_counts(order):
    own = beliefs()
    newest = (-1, 0)
    for boot, k in order:
        assert own.receive(announced(k, boot), 10.0) == ((boot, k) > newest)
        newest = max(newest, (boot, k))
    assert (own.boot[1], own.k[1]) == (1, 3)
    assert not own.receive(announced(3, 1), 11.0)


def test_a_velocity_ends_by_itself():
    own = beliefs()
    own.receive(announced(2, stamp=1.0, cruise=0.5), 1.0)
    at = [float(own.segments().at(t)[1, 0]) for t in (1.0, 1.25, 1.5, 9.0)]
    assert at == [2.0, 2.25, 2.5, 2.5]


def test_silence_makes_an_agent_unknown():
    own = beliefs()
    own.receive(announced(1, stamp=1.0), 1.0)
    assert own.known(3.0, 2.0).tolist() == [False, True, False]
    assert own.known(3.1, 2.0).tolist() == [False, False, False]


@settings(max_examples=50)
@given(
    offset=st.floats(-1e3, 1e3),
    delays=st.lists(st.floats(0.0, 0.2), min_size=1, max_size=20),
)
def test_an_offset_is_too_large_by_the_quickest_transit(offset, delays):
    own = beliefs(shared=False)
    for k, delay in enumerate(delays, 1):
        sent = 0.5 * k  # by the clock of the receiver
        own.receive(announced(k, stamp=sent - offset), sent + delay)
    assert abs(own.offset[1] - offset - min(delays)) < 1e-9


def test_a_restart_or_a_long_time_forgets_the_offset():
    own = beliefs(shared=False)
    own.receive(announced(1, stamp=0.0), 0.01)
    own.receive(announced(1, boot=1, stamp=0.0), 5.0)
    assert own.offset[1] == 5.0
    own.receive(announced(2, boot=1, stamp=WINDOW + 1.0), 6.5 + WINDOW)
    assert own.offset[1] == 5.0  # the least of this window and the one before
    own.receive(announced(3, boot=1, stamp=2 * WINDOW + 2.0), 7.6 + 2 * WINDOW)
    assert own.offset[1] == 5.5


def test_clocks_are_compared_anew_after_a_long_silence():
    own = beliefs(shared=False)
    own.receive(announced(1, stamp=0.0), 0.01)
    own.round_trip(1, 0.02)
    own.receive(announced(2, stamp=10.0 * WINDOW), 10.0 * WINDOW + 0.1)  # they have drifted
    assert own.offset[1] == pytest.approx(0.1)
    assert own.transits()[1] == math.inf


def received(faults, count=400):
    """How many copies of each message arrive at agent 0, and when."""
    ends = MemoryTransport.network(2)
    codec, own = Codec("", 2, 2), FaultyTransport(ends[0], faults, 0)
    found = []
    for k in range(count):
        ends[1].send(codec.pack(announced(k, stamp=float(k))), float(k))
        found += own.receive(float(k))
    return [(codec.unpack(one.datagram).k, one.time) for one in found + own.receive(1e9)]


def test_faults_are_a_function_of_the_seed():
    some = Faults(loss=0.3, delay=(0.1, 3.0), repeat=0.2, seed=7)
    assert received(some) == received(some)
    assert received(some) != received(Faults(loss=0.3, delay=(0.1, 3.0), repeat=0.2, seed=8))


def test_losses_delays_and_repeats_have_their_shares():
    found = received(Faults(loss=0.3, delay=(0.1, 3.0), repeat=0.2, seed=7))
    delays = np.array([time - k for k, time in found])
    assert delays.min() >= 0.1
    assert delays.max() <= 3.0
    times = [time for _, time in found]
    assert times == sorted(times)
    assert [k for k, _ in found] != sorted(k for k, _ in found)  # some overtake others
    assert abs(len(found) / 400 - 0.9) < 0.1
    heavy = received(Faults(delay=(0.1, 0.0), tail=1.5))
    late = np.array([time - k for k, time in heavy])
    assert late.min() >= 0.1 - 1e-9
    assert late.max() > 1.0


@pytest.mark.parametrize("tail", [1e-3, 5e-324])
def test_delays_beyond_all_numbers_never_end(tail):
    """A Pareto distribution of a small index has delays that no double holds."""
    found = received(Faults(delay=(0.1, 0.0), tail=tail))
    assert len(found) < 40
    assert all(math.isfinite(time) for _, time in found)


def test_messages_of_the_observer_are_not_lost():
    some = Faults(loss=1.0, delay=(5.0, 5.0), partitions=(Partition(0.0, 9.0, (0,)),))
    ends = MemoryTransport.network(2)
    ends[1].send(Codec("", 2, 2).control(START, 3.0), 1.0)
    assert [one.time for one in FaultyTransport(ends[0], some, 0).receive(1.0)] == [1.0]


def test_faults_spare_the_start_and_the_emergency_stop():
    ends = MemoryTransport.network(2)
    codec, own = Codec("", 2, 2), FaultyTransport(ends[0], Faults(loss=1.0), 0)
    sent = [codec.control(kind, 0.3) for kind in (START, START, STOP)]
    for datagram in (*sent, codec.pack(announced(1))):
        ends[1].send(datagram, 0.0)
    assert [one.datagram for one in own.receive(0.0)] == sent


def test_a_partition_cuts_both_ways_while_it_lasts():
    cut = Faults(partitions=(Partition(10.0, 20.0, (0,)),))
    assert [k for k, _ in received(cut, 30)] == [*range(10), *range(20, 30)]
    assert cut.cuts(0, 1, 15.0)
    assert not cut.cuts(1, 2, 15.0)


@pytest.mark.parametrize(("direction", "lost"), [("both", {0, 1}), ("out", {0}), ("in", {1})])
def test_a_partition_may_cut_one_direction_alone(direction, lost):
    cut = Faults(partitions=(Partition(10.0, 20.0, (0,), direction),))
    ways = {0: (0, 1), 1: (1, 0)}  # from the group, and into it
    assert {way for way, ends in ways.items() if cut.cuts(*ends, 15.0)} == lost
    assert not any(cut.cuts(*ends, 25.0) for ends in ways.values())
    assert not cut.cuts(1, 2, 15.0)


def test_the_direction_of_a_partition_is_a_key_of_scenarios():
    one = {"from": 1.0, "until": 2.0, "group": [0], "direction": "out"}
    found = fleet_settings(scenario(fleet={"faults": {"partitions": [one]}}))[1]
    assert found.partitions == (Partition(1.0, 2.0, (0,), "out"),)
    with pytest.raises(ScenarioError, match="direction"):
        scenario(fleet={"faults": {"partitions": [{**one, "direction": "up"}]}})


@pytest.mark.parametrize("dimension", [2, 3])
def test_neighbours_are_known_and_present(dimension):
    """Agent 1 has left, agent 2 is silent, agent 5 is not there yet."""
    upper = (4.0, 3.0, 2.0)[:dimension]
    start = np.random.default_rng(dimension).uniform(0.2, 1.8, (5, dimension))
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    switches = [dwell.Switch(at=1.0, leave=[1]), dwell.Switch(at=2.0, arrive=[upper])]
    run = dwell.simulate(
        dwell.Box((0,) * dimension, upper), None, start, law, until=2.5, switches=switches
    )
    places = run.positions(0.0)
    for now, silent in itertools.product((0.5, 1.5, 2.25), ((), (2,), (2, 4), (3,))):
        known = np.ones(6, dtype=bool)
        known[list(silent)] = False
        there = [p for p in run.world(now).agents if p not in silent]
        found = neighbors_of(run.system, places, 0, now, known).tolist()
        if dimension == 3:
            assert found == there[1:]
        else:
            cell = dwell.tessellate(run.workspace, places[there]).cells[0]
            assert found == [there[k] for k in np.sort(cell.neighbors)]
    assert neighbors_of(run.system, places, 0, 0.5, np.arange(6) > 0).tolist() == []


def test_a_sample_builds_the_world_of_its_time_alone(monkeypatch):
    hill = {"kind": "gaussian", "rate": 0.5}
    moving = {"center": {"times": [0.0, 9.0], "values": [[1.0, 1.0], [2.0, 2.0]]}}
    worlds = [{"from": t, "density": {**hill, **moving}} for t in (1.0, 2.0)]
    system, places, _ = build(scenario(density={**hill, **moving}, world=worlds))
    known = np.ones(6, dtype=bool)
    first = neighbors_of(system, places, 0, 0.25, known).tolist()
    made, at = [], WeightedRegion.at
    monkeypatch.setattr(WeightedRegion, "at", lambda self, t: made.append(self) or at(self, t))
    assert neighbors_of(system, places, 0, 0.5, known).tolist() == first
    assert made == [system.world_at(0.5).ground]

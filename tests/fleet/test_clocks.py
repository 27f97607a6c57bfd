"""Clocks that differ: what hosts make of them, and what the merge finds out."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell.fleet.clock import Clock
from dwell.fleet.merge import clock_shifts
from dwell.live.beliefs import Beliefs
from dwell.live.faults import Faults
from dwell.live.record import belief_type, sample_type
from tests.fleet.messages import announced

QUICK, SLOW = 1e-4, 0.15  # seconds that messages take


def test_a_clock_restarts_where_it_should():
    clock = Clock(100.0, offset=0.25, rate=2.0)
    before = clock.at(110 * 10**9)
    later = clock.restart(105.0)
    assert before - later == clock.at(110 * 10**9) == 10.25


def test_agents_that_stand_stay_known():
    own = Beliefs(3, 2, math.inf, shared_clock=True)
    for t in range(20):
        assert own.receive(announced(1, 0, stamp=float(t)), float(t))
    assert own.known(20.0, 2.0)[1]
    assert own.receive(announced(1, 1, stamp=20.0), 20.0)
    assert not own.receive(announced(1, 0, stamp=21.0), 21.0)


def test_agents_that_stand_are_known_although_their_clocks_begin_anew():
    """The common start reaches one process before another."""
    own = Beliefs(3, 2, math.inf, shared_clock=True)
    own.receive(announced(1, 0, stamp=-0.25), 9.0)  # of a clock that has begun anew already
    assert own.known(9.1, 2.0)[1]
    own.shift(9.25)
    assert own.known(-0.1, 2.0)[1]


@given(
    offset=st.floats(-1e3, 1e3), sender=st.floats(0.0, 60.0), receiver=st.floats(0.0, 60.0),
    sender_first=st.booleans(),
)  # fmt: skip
def test_ages_are_right_whoever_begins_first(offset, sender, receiver, sender_first):
    """Each clock begins anew when its agent does; messages of both before and after arrive."""
    own = Beliefs(3, 2, math.inf, shared_clock=False)
    for t in (0.0, 0.1, 0.2):
        own.receive(announced(1, 0, stamp=t + offset), t + QUICK)
    ages = []
    for number, t in enumerate((1.0, 1.3, 1.6), 1):
        if number == (2 if sender_first else 1):
            own.shift(receiver)
            begun = receiver
        if number == 1 and sender_first:
            begun = 0.0
        # The sender's clock has begun anew, or its last announcement came with the old one.
        late = number == 1 and not sender_first
        stamp = t + offset if late else t + offset - sender
        own.receive(announced(1, 0 if late else number, stamp=stamp), t + QUICK - begun)
        ages.append(own.ages(t + 0.05 - begun)[1])
    np.testing.assert_allclose(ages, 0.05 - QUICK, atol=1e-9)


def fleet_with(offsets, rates, seed, count=12):
    """Samples and beliefs of agents whose messages take some time, by clocks that differ."""
    chance = np.random.default_rng(seed)
    n = len(offsets)
    true = np.sort(chance.uniform(0.0, 5.0, (n, count)), axis=1)
    stamps = true * rates[:, None] + offsets[:, None]
    arrive = true[:, None, :] + chance.uniform(QUICK, SLOW, (n, n, count))  # sender, receiver, k
    arrive[:, :, 0] = true[:, None, 0] + QUICK
    samples, beliefs, counts = [], [], []
    hosts = [Beliefs(n, 2, math.inf, shared_clock=False) for _ in range(n)]
    for p in range(n):
        come = sorted((arrive[q, p, k], q, k) for q in range(n) if q != p for k in range(count))
        for j in range(count):
            while come and come[0][0] <= true[p, j]:
                at, q, k = come.pop(0)
                hosts[p].receive(
                    announced(q, k + 1, stamp=stamps[q, k]), at * rates[p] + offsets[p]
                )
            row = np.zeros((), sample_type(2))
            row["agent"], row["k"], row["time"] = p, j + 1, stamps[p, j]
            known = [q for q in hosts[p].announced if q != p]
            held = np.zeros(len(known), belief_type(2))
            held["agent"], held["k"] = known, hosts[p].k[known]
            held["age"] = hosts[p].ages(stamps[p, j])[known]
            samples.append(row)
            beliefs.append(held)
            counts.append(len(known))
    return np.array(samples), np.concatenate(beliefs), np.array(counts), true


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=5), st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1e-4]),
)  # fmt: skip
def test_the_merge_finds_the_offsets_within_its_uncertainty(offsets, seed, drift):
    offsets = np.array(offsets)
    rates = 1.0 + drift * np.linspace(-1.0, 1.0, len(offsets))
    samples, beliefs, counts, true = fleet_with(offsets, rates, seed)
    shifts, uncertainty, _ = clock_shifts(samples, beliefs, counts)
    by_first = true.ravel() * rates[0] + offsets[0]
    error = np.abs(samples["time"] + shifts - by_first).max()
    assert error <= uncertainty + 5.0 * 2.0 * drift + 1e-9


def test_boots_with_one_clock_are_one_clock():
    """An agent that has just returned has heard too little to compare its clock."""
    samples, beliefs, counts, _ = fleet_with(np.array([0.0, 3.0]), np.ones(2), 1)
    last = np.flatnonzero(samples["agent"] == 1)[-1]
    samples["boot"][last] = 1
    assert clock_shifts(samples, beliefs, counts)[1] == math.inf
    one = {(0, 0): 0, (1, 0): 0, (1, 1): 0}
    shifts, uncertainty, _ = clock_shifts(samples, beliefs, counts, one)
    assert uncertainty < SLOW
    assert len(set(shifts[samples["agent"] == 1])) == 1


def test_clocks_of_faults_are_what_hosts_find():
    """Offsets of hosts differ from those of the faults by the quickest transit alone."""
    faults = Faults(clock_offset=0.4, clock_rate=0.0, seed=3)
    offsets = np.array([faults.clock(q)[0] for q in range(4)])
    assert np.ptp(offsets) > 0.1
    own = Beliefs(4, 2, math.inf, shared_clock=False)
    for k, transit in enumerate((0.03, QUICK, 0.1), 1):
        for q in range(1, 4):
            sent = Clock(0.0, *faults.clock(q)).at(k * 10**9)
            arrived = Clock(0.0, *faults.clock(0)).at(int((k + transit) * 1e9))
            own.receive(announced(q, k, stamp=sent), arrived)
    found = own.offset[1:] - (offsets[0] - offsets[1:])
    np.testing.assert_allclose(found, QUICK, atol=1e-8)

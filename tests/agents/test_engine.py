"""The readable loop, the compiled engine and a naive loop of its own give one and the same arc."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from dwell.agents import CoverageSystem, table_of
from dwell.controllers import DiscreteLloyd, Timer
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.engine import run_compiled
from dwell.geometry import Box, Polygon
from dwell.hybrid import Event, StopReason, simulate
from dwell.verify.replay import philox_uniform
from tests.conftest import differing
from tests.oracles import brute

BOX = Box((0.0, 0.0), (4.0, 3.0))
START = np.array([(0.3, 0.4), (0.9, 0.5), (0.6, 1.2), (1.4, 0.2), (3.1, 2.7)])
HILL = Gaussian(center=(2.6, 1.9), rate=0.4)

RULES = {
    "uniform": {},
    "earliest": {},
    "latest": {},
    "periodic": {"period": 0.3},
    "sequence": {"intervals": (0.2, 0.5, 0.35)},
    "dropout": {"loss": 0.6},
}
DENSITIES = {
    "uniform": Uniform(),
    "gaussian": HILL,
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.3), (0, 1, 0.2)]),
    "mixture": Mixture(
        (Uniform(0.1), HILL, Gaussian((0.5, 0.5), covariance=((0.3, 0.1), (0.1, 0.2))))
    ),
}


def system(controller=None, density=HILL, workspace=BOX, seed=3, **options):
    law = controller or Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5)
    return CoverageSystem(workspace, density, law, len(START), seed, **options)


def both(coverage, until=4.0, start=START):
    """Tables of the readable loop and of the engine."""
    state = coverage.start(start)
    readable = simulate(coverage, state, until=until)
    compiled = run_compiled(coverage, state, until=until)
    assert readable.stop == compiled.stop
    return table_of(readable), table_of(compiled)


@pytest.mark.parametrize("rule", RULES)
def test_same_bits_for_every_reset_rule(rule):
    law = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5, reset=rule, **RULES[rule])
    readable, compiled = both(system(law))
    assert len(readable) > 30
    assert differing(readable, compiled) == []


@pytest.mark.parametrize("name", DENSITIES)
def test_same_bits_for_every_density(name):
    assert differing(*both(system(density=DENSITIES[name]))) == []


@pytest.mark.parametrize("spacing", [0.5, 0.07])
def test_same_bits_on_a_grid(spacing):
    assert differing(*both(system(spacing=spacing))) == []


def test_same_bits_with_one_interval_per_agent():
    law = Timer(k1=0.5, nu=0.4, t1=(0.1, 0.2, 0.3, 0.4, 0.1), t2=(0.2, 0.3, 0.4, 0.5, 0.9))
    assert differing(*both(system(law))) == []


def test_same_bits_for_the_paper(heptagon, thirty):
    law = Timer(k1=0.525, nu=0.7, t1=0.01, t2=0.03)
    weight = Gaussian(center=(7.5, 4.5), rate=0.03)
    coverage = CoverageSystem(Polygon(heptagon), weight, law, 30, 1)
    readable, compiled = both(coverage, until=0.5, start=thirty)
    assert len(readable) > 700
    assert differing(readable, compiled) == []


def test_a_naive_loop_agrees():
    """Pure Python, its own heap, its own positions; it is given centroids and draws only."""
    coverage = system()
    state = coverage.start(START)
    found = table_of(run_compiled(coverage, state, until=6.0))

    def centroid(positions, p):
        places = np.array(positions)
        return tuple(places[p] + coverage.look(places, p).error)

    def draw(p, k):
        u = philox_uniform(coverage.key, np.array([p]), np.array([k]))[0]
        return 0.2 + u * (0.5 - 0.2)

    law = coverage.controller
    events = brute.timer_run(
        START.tolist(),
        state.next_at.tolist(),
        centroid,
        draw,
        gain=law.k1,
        nu=law.reach,
        horizon=6.0,
        velocities=state.hold.tolist(),
    )
    assert [e.agent for e in events] == found.agent.tolist()
    assert [e.t for e in events] == pytest.approx(found.time.tolist(), abs=1e-14)
    assert np.array([e.x for e in events]) == pytest.approx(found.positions, abs=1e-13)
    assert np.array([e.eta for e in events]) == pytest.approx(found.holds, abs=1e-12)


@dataclass(frozen=True, eq=False)
class Reversed:
    """The same system with simultaneous jumps taken in the opposite order."""

    inner: CoverageSystem

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def next_event(self, state):
        time = state.next_at.min()
        return Event(float(time), int(np.flatnonzero(state.next_at == time)[-1]))


@pytest.mark.parametrize("rule", ["latest", "periodic", "uniform"])
def test_the_order_of_simultaneous_jumps_does_not_matter(rule):
    law = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5, reset=rule)
    coverage = system(law)
    state = coverage.start(START)
    forward = simulate(coverage, state, until=5.0)
    backward = simulate(Reversed(coverage), state, until=5.0)
    assert (forward.final.positions == backward.final.positions).all()
    assert (forward.final.hold == backward.final.hold).all()
    assert (forward.final.next_at == backward.final.next_at).all()
    a, b = table_of(forward), table_of(backward)
    for p in range(len(START)):
        assert a.errors[a.of_agent(p)].tobytes() == b.errors[b.of_agent(p)].tobytes()


@pytest.mark.parametrize("cut", [1, 7, 23, 24])
def test_stop_and_resume_changes_no_bit(cut):
    coverage = system()
    state = coverage.start(START)
    whole = run_compiled(coverage, state, until=5.0)
    resumed = run_compiled(coverage, whole.states[cut], until=5.0)
    table, rest = table_of(whole), table_of(resumed)
    assert rest.positions.tobytes() == table.positions[cut:].tobytes()
    assert rest.holds.tobytes() == table.holds[cut:].tobytes()
    assert rest.next_at.tobytes() == table.next_at[cut:].tobytes()


def test_a_shorter_horizon_is_a_prefix():
    coverage = system()
    state = coverage.start(START)
    long, short = (table_of(run_compiled(coverage, state, until=t)) for t in (6.0, 2.5))
    assert differing(long.head(len(short)), short) == []


def test_resuming_in_the_middle_of_a_hold():
    coverage = system()
    whole = run_compiled(coverage, coverage.start(START), until=5.0)
    middle = whole.at(2.2222)
    rest = run_compiled(coverage, middle, until=5.0)
    assert (rest.final.positions == whole.final.positions).all()


def test_buffers_of_any_size_give_the_same_run(monkeypatch):
    coverage = system()
    state = coverage.start(START)
    whole = table_of(run_compiled(coverage, state, until=5.0))
    monkeypatch.setattr("dwell.engine.stepper.FIRST_CHUNK", 3)
    monkeypatch.setattr("dwell.engine.stepper.LAST_CHUNK", 7)
    assert differing(whole, table_of(run_compiled(coverage, state, until=5.0))) == []


def test_a_jump_at_exactly_the_horizon_is_executed():
    law = Timer(k1=0.5, nu=0.4, t1=0.25, t2=0.25)
    coverage = system(law)
    arc = run_compiled(coverage, coverage.start(START), until=1.0)
    assert arc.jumps == 4 * len(START)
    assert arc.events[-1].time == 1.0


def test_jump_limit_and_meeting_agents_are_outcomes():
    coverage = system()
    arc = run_compiled(coverage, coverage.start(START), until=5.0, max_jumps=11)
    assert (arc.stop.reason, arc.jumps) == (StopReason.JUMP_LIMIT, 11)

    crossing = Timer(k1=1.0, nu=0.1, t1=1.0, t2=1.0, initial_hold=((1.0, 0.0), (-1.0, 0.0)))
    pair = np.array([(1.0, 1.0), (3.0, 1.0)])
    meeting = CoverageSystem(BOX, Uniform(), crossing, 2)
    for solve in (run_compiled, simulate):
        arc = solve(meeting, meeting.start(pair), until=5.0)
        assert arc.stop.reason is StopReason.COINCIDENT
        assert "agents 0 and 1" in arc.stop.detail
        assert arc.until == 1.0


def test_a_contact_of_agents_that_stand_names_their_place():
    """Who has made its move stands; the report says where it stands, not where it would be."""
    law = DiscreteLloyd(step=0.5, schedule="round-robin")
    pair = np.array([(1.0, 1.0), (2.0, 1.5)])
    meeting = CoverageSystem(Box((0.0, 0.0), (4.0, 3.0)), Uniform(), law, 2)
    state = meeting.start(pair)
    # Agent 0 goes to where agent 1 stands, within its first 0.5; agent 1 looks a little later.
    state = replace(state, hold=np.array([(2.0, 1.0), (0.0, 0.0)]), next_at=np.array([1.0, 0.75]))
    details = []
    for solve in (run_compiled, simulate):
        arc = solve(meeting, state, until=5.0)
        assert arc.stop.reason is StopReason.COINCIDENT
        assert arc.until == 0.75
        assert "[2.0, 1.5]" in arc.stop.detail
        details.append(arc.stop.detail)
    assert details[0] == details[1]


def test_draws_depend_on_seed_and_id_alone():
    alone = system(ids=(4, 3, 2, 1, 0))
    renamed = table_of(run_compiled(alone, alone.start(START), until=3.0))
    plain = system()
    usual = table_of(run_compiled(plain, plain.start(START), until=3.0))
    first = usual.next_at[usual.of_agent(0)[0]] - usual.time[usual.of_agent(0)[0]]
    swapped = renamed.next_at[renamed.of_agent(4)[0]] - renamed.time[renamed.of_agent(4)[0]]
    assert first == swapped

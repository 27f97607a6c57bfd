"""The readable loop, the compiled engines and a naive loop of its own give one and the same arc."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from dwell import (
    Ball,
    Box,
    DiscreteLloyd,
    Gaussian,
    Interval,
    Lloyd,
    Mixture,
    Polygon,
    Polynomial,
    Polytope,
    Timer,
    Uniform,
)
from dwell.agents import CoverageSystem, table_of
from dwell.density import Function
from dwell.engine import run_compiled
from dwell.hybrid import Event, StopReason, simulate
from dwell.verify.replay import philox_uniform
from tests.conftest import differing
from tests.oracles import brute

CORNERS = [(2, 0, 0), (-2, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 2), (0, 0, -2)]
PLACES = {
    1: np.array([[0.3], [0.9], [2.6], [1.4], [3.1]]),
    2: np.array([(0.3, 0.4), (0.9, 0.5), (0.6, 1.2), (1.4, 0.2), (3.1, 2.7)]),
    3: np.array([(0.3, 0.4, 0.1), (0.9, 0.5, -0.3), (-0.6, 0.2, 0.3), (0.4, -0.2, 0.9), (0, 0, 0)]),
}
WORLDS = {
    "interval": Interval(0.0, 4.0),
    "box-1": Box((0.0,), (4.0,)),
    "ball-1": Ball((2.0,), 2.0),
    "plane": Box((0.0, 0.0), (4.0, 3.0)),
    "space": Box((-1.0, -1.0, -1.0), (1.0, 2.0, 1.0)),
    "space-octahedron": Polytope(CORNERS),  # four walls at each corner
}
ONE_OF_EACH = ["interval", "plane", "space"]
RULES = {
    "uniform": {},
    "earliest": {},
    "latest": {},
    "periodic": {"period": 0.3},
    "sequence": {"intervals": (0.2, 0.5, 0.35)},
    "dropout": {"loss": 0.6},
}
OTHER_LAWS = {
    "own clocks": Timer(k1=0.5, nu=0.4, t1=(0.1, 0.2, 0.3, 0.4, 0.1), t2=0.9),
    "sampled lloyd": Lloyd(k2=1.0, dt=0.1),
    "overshooting": Lloyd(k2=15.0, dt=0.1),
    "synchronous": DiscreteLloyd(schedule="synchronous", step=0.2),
    "round-robin": DiscreteLloyd(schedule="round-robin", step=0.05, speed=1.5),
}
TIMER = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5)


def densities(n):
    hill = Gaussian((0.6,) * n, rate=0.4)
    narrow = Gaussian((0.5,) * n, rate=30.0)
    powers = [(*(0,) * n, 1.0), (2, *(0,) * (n - 1), 0.3)]
    return {
        "uniform": Uniform(),
        "gaussian": hill,
        "polynomial": Polynomial(powers),
        "mixture": Mixture((Uniform(0.1), hill, narrow)),
        "far": Gaussian((-90.0,) * n, rate=1.0),  # masses below the smallest double
        "beyond": Gaussian((-1e3,) * n, rate=1e3),
    }


def system(world="plane", law=TIMER, density=None, **options):
    workspace = WORLDS[world]
    weight = density or Gaussian((0.6,) * workspace.dimension, rate=0.4)
    return CoverageSystem(workspace, weight, law, 5, 3, **options)


def begun(coverage):
    return coverage.start(PLACES[coverage.dimension])


def both(coverage, state=None, until=3.0, **limits):
    state = state or begun(coverage)
    readable = simulate(coverage, state, until=until, **limits)
    compiled = run_compiled(coverage, state, until=until, **limits)
    assert coverage.compiles
    assert readable.stop == compiled.stop
    assert readable.jumps == compiled.jumps
    return table_of(readable), table_of(compiled)


@pytest.mark.parametrize("world", WORLDS)
def test_in_every_workspace(world):
    readable, compiled = both(system(world))
    assert len(readable) > 30
    assert differing(readable, compiled) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
@pytest.mark.parametrize("rule", RULES)
def test_every_reset_rule(world, rule):
    law = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5, reset=rule, **RULES[rule])
    assert differing(*both(system(world, law))) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
@pytest.mark.parametrize("law", OTHER_LAWS)
def test_every_other_law(world, law):
    readable, compiled = both(system(world, OTHER_LAWS[law]), until=4.0)
    assert len(readable) > 20
    assert differing(readable, compiled) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
@pytest.mark.parametrize("name", densities(1))
def test_every_density(world, name):
    coverage = system(world, density=densities(WORLDS[world].dimension)[name])
    assert differing(*both(coverage, until=1.5)) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
def test_one_agent(world):
    workspace = WORLDS[world]
    alone = CoverageSystem(workspace, Uniform(), TIMER, 1, 3)
    assert differing(*both(alone, alone.start(PLACES[workspace.dimension][:1]))) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
def test_draws_by_identity(world):
    assert differing(*both(system(world, ids=(9, 3, 2, 1, 0)))) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
def test_jump_limit(world):
    readable, compiled = both(system(world), max_jumps=11)
    assert len(compiled) == 11
    assert differing(readable, compiled) == []


@pytest.mark.parametrize("world", ONE_OF_EACH)
@pytest.mark.parametrize("cut", [1, 7, 23])
def test_stop_and_resume_changes_no_bit(world, cut):
    coverage = system(world)
    whole = run_compiled(coverage, begun(coverage), until=4.0)
    rest = table_of(run_compiled(coverage, whole.states[cut], until=4.0))
    for name, values in table_of(whole).columns().items():
        assert np.array_equal(values[cut:], getattr(rest, name)), name
    between = run_compiled(coverage, whole.at(2.2222), until=4.0)
    assert np.array_equal(between.final.positions, whole.final.positions)


@pytest.mark.parametrize("world", ONE_OF_EACH)
def test_buffers_of_any_size(world, monkeypatch):
    coverage = system(world)
    whole = table_of(run_compiled(coverage, begun(coverage), until=4.0))
    monkeypatch.setattr("dwell.engine.stepper.FIRST_CHUNK", 3)
    monkeypatch.setattr("dwell.engine.stepper.LAST_CHUNK", 7)
    assert differing(whole, table_of(run_compiled(coverage, begun(coverage), until=4.0))) == []


@pytest.mark.parametrize("n", [1, 2, 3], ids=["line", "plane", "space"])
def test_agents_that_meet(n):
    way = np.zeros((2, n))
    way[:, 0] = (1.0, -1.0)
    places = np.ones((2, n))
    places[1, 0] = 3.0
    law = Timer(k1=1.0, nu=0.1, t1=1.0, t2=1.0, initial_hold=way)
    meeting = CoverageSystem(Box((0.0,) * n, (4.0,) * n), Uniform(), law, 2)
    stops = [
        solve(meeting, meeting.start(places), until=5.0).stop for solve in (run_compiled, simulate)
    ]
    assert stops[0] == stops[1]
    assert stops[0].reason is StopReason.COINCIDENT
    assert "agents 0 and 1" in stops[0].detail


@pytest.mark.parametrize("n", [1, 2, 3], ids=["line", "plane", "space"])
def test_three_that_meet_among_many_are_named_alike(n):
    """Rows lie in the order of places; who is named goes by numbers."""
    rng = np.random.default_rng(5)
    coverage = CoverageSystem(Box((0.0,) * n, (1.0,) * n), Uniform(), TIMER, 150, 3)
    places = rng.uniform(0.0, 1.0, (150, n))
    places[:3] = 0.5
    hold = np.zeros((150, n))
    hold[:3, 0] = (0.25, -0.25, 0.5)
    # Three set off from places where each is alone and are at 0.5 after one unit of time.
    next_at = np.full(150, 3.0)
    next_at[1] = 1.0
    state = coverage.start(rng.uniform(0.0, 1.0, (150, n)))
    segments = replace(state.segments, place=places - hold, hold=hold, next_at=next_at)
    state = replace(state, segments=segments, first=next_at)
    stops = [solve(coverage, state, until=5.0).stop for solve in (run_compiled, simulate)]
    assert stops[0] == stops[1]
    assert "agents 0 and 1" in stops[0].detail


def test_what_has_no_engine():
    round_ = CoverageSystem(Ball((0.0, 0.0, 0.0), 1.0), Uniform(), TIMER, 5)
    high = CoverageSystem(Box((0.0,) * 4, (1.0,) * 4), Uniform(), TIMER, 5)
    weight = Function(lambda p: 1.0 + p[..., 0] ** 2)
    called = CoverageSystem(WORLDS["space"], weight, TIMER, 5)
    assert [s.compiles for s in (round_, high, called)] == [False] * 3


@pytest.mark.parametrize("spacing", [0.5, 0.07])
def test_same_bits_on_a_grid(spacing):
    assert differing(*both(system(spacing=spacing))) == []


def test_same_bits_for_the_paper(heptagon, thirty):
    law = Timer(k1=0.525, nu=0.7, t1=0.01, t2=0.03)
    weight = Gaussian(center=(7.5, 4.5), rate=0.03)
    coverage = CoverageSystem(Polygon(heptagon), weight, law, 30, 1)
    readable, compiled = both(coverage, coverage.start(thirty), until=0.5)
    assert len(readable) > 700
    assert differing(readable, compiled) == []


def test_a_naive_loop_agrees():
    """Pure Python, its own heap, its own positions; it is given centroids and draws only."""
    coverage = system()
    state = begun(coverage)
    found = table_of(run_compiled(coverage, state, until=6.0))

    def centroid(positions, p):
        places = np.array(positions)
        return tuple(places[p] + coverage.measurement(places, p).error)

    def draw(p, k):
        u = philox_uniform(coverage.key, np.array([p]), np.array([k]))[0]
        return 0.2 + u * (0.5 - 0.2)

    law = coverage.controller
    events = brute.timer_run(
        PLACES[2].tolist(),
        state.segments.next_at.tolist(),
        centroid,
        draw,
        gain=law.k1,
        nu=law.reach,
        horizon=6.0,
        velocities=state.segments.hold.tolist(),
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
        time = state.segments.next_at.min()
        return Event(float(time), int(np.flatnonzero(state.segments.next_at == time)[-1]))


@pytest.mark.parametrize("rule", ["latest", "periodic", "uniform"])
def test_the_order_of_simultaneous_jumps_does_not_matter(rule):
    law = Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5, reset=rule)
    coverage = system(law=law)
    state = begun(coverage)
    forward = simulate(coverage, state, until=5.0)
    backward = simulate(Reversed(coverage), state, until=5.0)
    assert (forward.final.positions == backward.final.positions).all()
    assert (forward.final.segments.hold == backward.final.segments.hold).all()
    assert (forward.final.segments.next_at == backward.final.segments.next_at).all()
    a, b = table_of(forward), table_of(backward)
    for p in range(5):
        assert a.errors[a.of_agent(p)].tobytes() == b.errors[b.of_agent(p)].tobytes()


def test_a_shorter_horizon_is_a_prefix():
    coverage = system()
    state = begun(coverage)
    long, short = (table_of(run_compiled(coverage, state, until=t)) for t in (6.0, 2.5))
    assert differing(long.head(len(short)), short) == []


def test_a_jump_at_exactly_the_horizon_is_executed():
    law = Timer(k1=0.5, nu=0.4, t1=0.25, t2=0.25)
    coverage = system(law=law)
    arc = run_compiled(coverage, begun(coverage), until=1.0)
    assert arc.jumps == 4 * 5
    assert arc.events[-1].time == 1.0


def test_a_contact_of_agents_that_stand_names_their_place():
    """Who has made its move stands; the report says where it stands, not where it would be."""
    law = DiscreteLloyd(step=0.5, schedule="round-robin")
    pair = np.array([(1.0, 1.0), (2.0, 1.5)])
    meeting = CoverageSystem(Box((0.0, 0.0), (4.0, 3.0)), Uniform(), law, 2)
    state = meeting.start(pair)
    # Agent 0 goes to where agent 1 stands, within its first 0.5; agent 1 looks a little later.
    holds, due = np.array([(2.0, 1.0), (0.0, 0.0)]), np.array([1.0, 0.75])
    state = replace(state, segments=replace(state.segments, hold=holds, next_at=due))
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
    renamed = table_of(run_compiled(alone, begun(alone), until=3.0))
    plain = system()
    usual = table_of(run_compiled(plain, begun(plain), until=3.0))
    first = usual.next_at[usual.of_agent(0)[0]] - usual.time[usual.of_agent(0)[0]]
    swapped = renamed.next_at[renamed.of_agent(4)[0]] - renamed.time[renamed.of_agent(4)[0]]
    assert first == swapped

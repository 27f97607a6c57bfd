"""Runs of laws that follow a moving world: verified, forged, and what such laws are given."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import dwell
from dwell.agents import Command, CoverageSystem, Information, Traits, table_of
from dwell.agents.network import PERFECT, Network
from dwell.agents.world import Timeline, World
from dwell.controllers import TVD, Lloyd, MinimumEnergy, Timer
from dwell.density.moving import Moving
from dwell.errors import ControllerError
from dwell.geometry.moving import MovingPolygon
from dwell.hybrid import simulate
from dwell.measure import measure
from dwell.motion import Keyframes
from dwell.verify import verify
from dwell.verify.flags import RunFacts, flags_of
from dwell.verify.replay import rederive
from dwell.verify.solution import Claims
from tests.worlds.test_following import FIVE, NEAR, hill, system_of

TIMER = {"k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.3}
LAWS = {
    "plain": Timer(**TIMER),
    "own": Timer(**TIMER, feedforward="own"),
    "ahead": Timer(**TIMER, feedforward="ahead", reset="periodic"),
    "neighbours": Timer(**TIMER, feedforward="neighbours", trust=0.9),
    "adaptive": Timer(**TIMER, feedforward="own", reset="adaptive", eta_max=0.5),
    "lloyd": Lloyd(dt=0.2, feedforward="neighbours", speed=0.7),
    "tvd": TVD(dt=0.25, speed=0.8),
    "tvd-1": TVD(dt=0.25, order=1),
    "minimum-energy": MinimumEnergy(dt=0.25),
}
SITE = dwell.Box((-9.0, -4.0), (1.0, 4.0))
DENSITY = dwell.Mixture((hill(2, 10.0, 0.4), dwell.Uniform(0.01)))
LATER = dwell.Gaussian((-4.0, 1.0), rate=0.3)


def changing(law, network=PERFECT, lives=False) -> CoverageSystem:
    """A moving density, and another one from t = 1.5 on.

    With `lives` an agent arrives at t = 1, and one leaves at t = 1.5.
    """
    phases = (
        World(0.0, SITE, DENSITY, network),
        World(1.0, SITE, DENSITY, network),
        World(1.5, SITE, LATER, network),
    )
    present = ([0.0, 0.0, 1.0, 0.0, 0.0], [np.inf, np.inf, np.inf, np.inf, 1.5])
    timeline = Timeline(phases, *map(np.array, present if lives else ()))
    first = phases[0].ground.at(0.0)
    return CoverageSystem(SITE, first.density, law, 5, seed=4, changes=timeline, network=network)


@pytest.fixture(scope="module")
def runs():
    made = {}
    for name, law in LAWS.items():
        system = changing(law)
        start = system.start(FIVE)
        made[name] = system, start, table_of(simulate(system, start, until=2.2))
    return made


def findings(system, start, table) -> dict:
    claims = Claims(metrics=measure(system, start, table, np.linspace(0.0, 2.2, 9)))
    return {f.name: f for f in verify(system, start, table, 2.2, claims).findings}


@pytest.mark.parametrize("name", LAWS)
def test_runs_in_a_changing_world_are_solutions(runs, name):
    found = findings(*runs[name])
    assert {f.name: f.status for f in found.values() if f.status == "violated"} == {}
    assert found["jump"].status == "holds"
    assert found["by-hand"].status == "holds"


@pytest.mark.parametrize("name", LAWS)
def test_a_forged_velocity_is_found(runs, name):
    system, start, table = runs[name]
    holds = table.holds.copy()
    holds[7] += (1e-6, 0.0)
    forged = replace(table, holds=holds)
    assert findings(system, start, forged)["jump"].status == "violated"


@pytest.mark.parametrize("name", ["tvd", "own"])
def test_a_forged_start_is_found(runs, name):
    system, start, table = runs[name]
    off = replace(start.segments, hold=start.segments.hold + 1e-6)
    forged = replace(start, segments=off)
    assert findings(system, forged, table)["start-hold"].status == "violated"


@pytest.mark.parametrize("name", [name for name in LAWS if name != "plain"])
def test_decisions_are_made_again_where_agents_come_and_go(name):
    system = changing(LAWS[name], lives=True)
    start = system.start(FIVE)
    table = table_of(simulate(system, start, until=2.2))
    gaps = rederive(system, start, table, lambda what, share: None)
    assert max(gaps["jump"].max(), gaps["counts"].max()) == 0.0
    if name.startswith("tvd"):  # all positions are counted where a law knows them
        assert set(table.column("received")[table.time > 1.6]) == {3}


@pytest.mark.parametrize("name", ["neighbours", "lloyd", "tvd", "minimum-energy"])
def test_lost_and_late_samples(name):
    system = changing(LAWS[name], Network(loss=0.3, delay=0.05))
    start = system.start(FIVE)
    table = table_of(simulate(system, start, until=2.2))
    assert (table.column("looked") == 0).any()
    claims = Claims()
    report = verify(system, start, table, 2.2, claims)
    assert [f.name for f in report.findings if f.status == "violated"] == []


@dataclass(frozen=True)
class Witness:
    """A law that keeps what it was given."""

    traits: Traits
    seen: list

    def begin(self, observation):
        return self.decide(observation)

    def decide(self, observation):
        self.seen.append(observation)
        return Command(np.array([0.3, 0.1 * observation.agent]), observation.time + 0.5)


def witnessed(others: str, world: str, network=PERFECT):
    law = Witness(Traits(information=Information(others=others, world=world)), [])
    system = system_of(SITE, DENSITY, law, 5, network=network)
    simulate(system, system.start(FIVE), until=1.2)
    return system, law.seen[5:]  # without the start


def test_a_law_gets_what_it_declares_and_nothing_more():
    for others in ("centroid", "samples", "velocities", "everybody"):
        for world in ("now", "rate", "forecast"):
            _, seen = witnessed(others, world)
            for one in seen:
                assert (one.rate is None) == (world == "now")
                assert (one.ahead is None) == (world != "forecast")
                assert (one.sample is None) == (others == "centroid")
                if one.sample is not None:
                    assert (one.sample.velocities is None) == (others != "velocities")
                    assert (one.agent in one.sample.agents) == (others == "everybody")


def test_what_is_known_of_the_world():
    _, seen = witnessed("centroid", "forecast")
    one = seen[0]
    now = one.measurement.error
    np.testing.assert_array_equal(one.ahead(one.time), now)
    step = (one.ahead(one.time + 1e-4) - one.ahead(one.time - 1e-4)) / 2e-4
    np.testing.assert_allclose(one.rate(), step, atol=1e-7)
    _, seen = witnessed("everybody", "rate")
    assert seen[0].rate().shape == (5, 2)
    np.testing.assert_allclose(seen[0].rate()[seen[0].agent], one.rate(), atol=1e-15)


@pytest.mark.parametrize("delay", [0.0, 0.07, 0.6])
def test_velocities_are_as_old_as_positions(delay):
    _, seen = witnessed("velocities", "now", Network(delay=delay))
    for one in seen:
        assert one.sample.time == max(one.time - delay, 0.0)
        wanted = np.column_stack([np.full(len(one.sample.agents), 0.3), 0.1 * one.sample.agents])
        np.testing.assert_array_equal(one.sample.velocities, wanted)


def test_flags():
    law = TVD(dt=0.2)
    system = system_of(NEAR, hill(2, 10.0), law, 5)
    start = system.start(FIVE + np.array([5.0, 0.0]))
    facts = RunFacts(start, start.positions, 1.0, 0, 0.0, 3, 0.0)
    codes = [flag.code for flag in flags_of(system, facts, None)]
    assert "ill-conditioned" in codes
    own = replace(system, controller=LAWS["own"])
    codes = [flag.code for flag in flags_of(own, facts, {"eta_max": 0.5, "lipschitz": 1.0})]
    assert "ill-conditioned" not in codes
    assert {"overshoot", "certificate-void"} <= set(codes)


REFUSED = [
    (Timer, TIMER, {"feedforward": "others"}, "feedforward"),
    (Timer, TIMER, {"trust": 0.5}, "trust"),
    *((Timer, TIMER, {"feedforward": "neighbours", "trust": t}, "trust") for t in (0, 1.1, "1")),
    (Timer, TIMER, {"feedforward": "ahead", "reset": "adaptive", "eta_max": 0.5}, "feedforward"),
    (Lloyd, {}, {"feedforward": "own", "mode": "ode"}, "feedforward"),
    (Lloyd, {}, {"feedforward": "own", "trust": 0.5}, "trust"),
    *((TVD, {}, {"order": order}, "order") for order in ("D", -1, 1.5, True, None)),
    *((TVD, {}, {key: 0.0}, key) for key in ("kappa", "dt", "speed")),
    *((MinimumEnergy, {}, {key: -1.0}, key) for key in ("alpha", "rho", "dt", "speed")),
]


@pytest.mark.parametrize(("law", "given", "wrong", "name"), REFUSED, ids=str)
def test_parameters_are_refused_by_name(law, given, wrong, name):
    with pytest.raises(ControllerError, match=f"law's {name} ") as caught:
        law(**given, **wrong)
    assert caught.value.key == f"controller.{name}"


def test_far_from_a_minimum_neighbours_are_left_out():
    """Two agents close together, far from the mass: the equation would lead them away from it."""
    law = Timer(**TIMER, feedforward="neighbours")
    path = Keyframes((0, 10), ((0, 0), (1, 0)))
    density = Moving(dwell.Gaussian, center=path, rate=0.2)
    system = system_of(dwell.Box((-8, -8), (8, 8)), density, law, 2)
    start = system.start(np.array([(6.0, 0.05), (6.0, -0.05)]))
    assert (start.marks == 1).any()
    assert (start.segments.hold[:, 0] < 0.0).all()


def test_moving_boundaries_too():
    corners = [(-9, -4), (1, -4), (1, 4), (-9, 4)]
    wider = [(-10, -4), (2, -5), (1, 5), (-9, 4)]
    site = MovingPolygon(Keyframes((0, 10), (corners, wider)))
    system = system_of(site, DENSITY, LAWS["neighbours"], 5)
    start = system.start(FIVE)
    table = table_of(simulate(system, start, until=1.0))
    report = verify(system, start, table, 1.0)
    assert [f.name for f in report.findings if f.status == "violated"] == []

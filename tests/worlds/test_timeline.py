"""Worlds that change: the compiled and the readable loop, pieces of a run, worlds that stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem, EventTable, table_of
from dwell.agents.network import PERFECT
from dwell.agents.world import Timeline, World
from dwell.density.moving import Moving
from dwell.engine.run_loop import run_compiled
from dwell.hybrid import simulate
from dwell.motion import Circle, Keyframes

SQUARE = dwell.Box((0.0, 0.0), (4.0, 4.0))
WIDE = dwell.Polygon([(-1, -1), (6, -1), (6, 5), (-1, 5)])
HILL = dwell.Gaussian((1.0, 3.0), rate=0.4)
TIMER = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3)
PATH = Keyframes((0.0, 4.0), ((1.0, 1.0), (3.0, 2.0)), after="hold")
MOVING = Moving(dwell.Gaussian, center=PATH, rate=Keyframes((0.0, 6.0), (0.4, 0.6)), weight=2.0)
ROUND = Moving(dwell.Gaussian, center=Circle((2.0, 2.0), 1.0, 5.0), rate=0.5)
SWITCHED = Timeline((World(0.0, SQUARE, HILL), World(1.0, WIDE, dwell.Uniform())))
LIVES = Timeline(
    (World(0.0, SQUARE, HILL), World(1.0, SQUARE, HILL), World(2.0, SQUARE, dwell.Uniform())),
    np.array([0.0, 0.0, 0.0, 1.0, 2.0, 0.0]),
    np.array([np.inf, 1.0, 2.0, np.inf, np.inf, 2.0]),
)
MIXED = dwell.Mixture((dwell.Uniform(0.1), HILL, MOVING, ROUND))


def timeline(density: object, workspace: object = SQUARE) -> Timeline:
    return Timeline((World(0.0, workspace, density),))


def system_of(changes: Timeline | None, law: object = TIMER, agents: int = 6) -> CoverageSystem:
    first = World(0.0, SQUARE, HILL) if changes is None else changes.worlds[0]
    ground = first.ground.at(0.0)
    return CoverageSystem(ground.workspace, ground.density, law, agents, seed=3, changes=changes)


def places(agents: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(0.2, 3.8, (agents, 2))


def same(one: EventTable, other: EventTable) -> None:
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, other.column(name), err_msg=name)


LAWS = {
    "timer": TIMER,
    "periodic": dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3, reset="periodic", period=0.25),
    "lloyd": dwell.Lloyd(k2=1.0, dt=0.1),
    "discrete": dwell.DiscreteLloyd(schedule="synchronous", step=0.4, speed=2.0),
}
WORLDS = {
    "switch": SWITCHED,
    "lives": LIVES,
    "moving": timeline(MOVING),
    "round": timeline(ROUND),
    "mixed": timeline(MIXED),
    "both": Timeline((World(0.0, SQUARE, MIXED), World(1.25, WIDE, ROUND))),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("world", WORLDS)
def test_compiled_and_readable_loop_agree(world: str, law: str) -> None:
    system = system_of(WORLDS[world], LAWS[law])
    assert system.compiles
    start = system.start(places(6))
    quick = table_of(run_compiled(system, start, until=3.0))
    plain = table_of(simulate(system, start, until=3.0))
    assert len(quick) > 20
    same(quick, plain)


@pytest.mark.parametrize("world", ["both", "lives"])
def test_many_agents_are_measured_alike_in_both_loops(world: str) -> None:
    agents = 90
    changes = WORLDS[world]
    if world == "lives":
        arrivals, departures = np.zeros(agents), np.full(agents, np.inf)
        arrivals[::7], departures[3::5] = 1.0, 2.0
        changes = Timeline(changes.worlds, arrivals, departures)
    system = system_of(changes, agents=agents)
    start = system.start(places(agents))
    quick = table_of(run_compiled(system, start, until=2.2))
    same(quick, table_of(simulate(system, start, until=2.2)))


@pytest.mark.parametrize("agents", [6, 90])
def test_a_world_that_switches_to_itself_changes_no_bit(agents: int) -> None:
    same_again = Timeline(tuple(World(t, SQUARE, HILL) for t in (0.0, 0.7, 1.0, 2.5)))
    still = timeline(
        Moving(dwell.Gaussian, center=Keyframes((0.0, 9.0), ((1, 3), (1, 3))), rate=0.4)
    )
    start = places(agents)
    tables = []
    for changes in (None, same_again, still):
        system = system_of(changes, agents=agents)
        tables.append(table_of(run_compiled(system, system.start(start), until=3.0)))
    same(tables[0], tables[1])
    same(tables[0], tables[2])


def test_a_sample_at_the_switch_sees_the_new_world() -> None:
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.5, t2=0.5, reset="periodic")
    system = system_of(SWITCHED, law)
    table = table_of(run_compiled(system, system.start(places(6)), until=1.0))
    at = np.flatnonzero(table.time == 1.0)
    assert len(at) == 6
    whole = system.start(places(6))
    now = simulate(system, whole, until=1.0).states[-1].positions
    for k in at:
        there = dwell.tessellate(WIDE, now).errors[table.agent[k]]
        np.testing.assert_array_equal(table.errors[k], there)


def test_absent_agents_have_no_cell_and_no_event() -> None:
    system = system_of(LIVES)
    arc = simulate(system, system.start(places(6)), until=3.0)
    table = table_of(arc)
    times = {p: table.time[table.agent == p] for p in range(6)}
    assert times[3][0] == 1.0
    assert times[4][0] == 2.0
    for p, end in ((1, 1.0), (2, 2.0), (5, 2.0)):
        assert times[p][-1] == end
        last = np.flatnonzero(table.agent == p)[-1]
        assert (table.holds[last] == 0.0).all()
        assert np.isinf(table.next_at[last])
    late = table.time > 2.0
    assert set(table.agent[late]) == {0, 3, 4}
    row = int(np.flatnonzero(late)[0])
    now = arc.states[row].at(float(table.time[row])).positions[[0, 3, 4]]
    p = [0, 3, 4].index(int(table.agent[row]))
    np.testing.assert_array_equal(table.errors[row], dwell.tessellate(SQUARE, now).errors[p])


def test_delays_and_losses_switch_too() -> None:
    lossy = dwell.Network(loss=0.5, delay=0.05)
    phases = (World(0.0, SQUARE, HILL, PERFECT), World(1.0, SQUARE, HILL, lossy))
    system = system_of(Timeline(phases))
    assert not system.compiles
    whole = table_of(simulate(system, system.start(places(6)), until=2.0))
    calm = system_of(None)
    first = table_of(simulate(calm, calm.start(places(6)), until=np.nextafter(1.0, 0.0)))
    same(first, whole.head(len(first)))
    always = replace(system, changes=None, network=lossy)
    other = table_of(simulate(always, always.start(places(6)), until=2.0))
    assert len(other) != len(whole) or (other.holds != whole.holds).any()


@pytest.mark.parametrize("shrinks", [0.5, 0.75])
def test_agents_outside_a_workspace_that_has_shrunk_are_no_violation(shrinks: float) -> None:
    small, even = dwell.Box((0, 0), (2, 3)), dwell.Switch(at=0.6, density=HILL)
    switches = sorted([dwell.Switch(at=shrinks, workspace=small), even], key=lambda one: one.at)
    start = [(3.5, 0.5), (3.0, 2.5), (0.5, 1.0)]
    run = dwell.simulate(SQUARE, None, start, TIMER, until=1.0, seed=1, switches=switches)
    still = dwell.simulate(SQUARE, None, start, TIMER, until=1.0, seed=1, switches=[even])
    assert (run.positions(1.0)[:2, 0] > 2.0).all()
    status = {finding.name: finding.status for finding in dwell.check(run).findings}
    assert dwell.check(run).ok
    assert status["workspace"] == "not applicable"
    assert {finding.name: finding.status for finding in dwell.check(still).findings}[
        "workspace"
    ] == "holds"


def test_a_workspace_changes_where_one_phase_has_another_or_moves() -> None:
    moving = dwell.MovingPolygon(
        Keyframes((0.0, 9.0), (((0, 0), (4, 0), (4, 4), (0, 4)), ((0, 0), (5, 0), (5, 4), (0, 4))))
    )
    for workspaces, changes in (
        ((SQUARE, SQUARE, SQUARE), False),
        ((SQUARE, WIDE, WIDE), True),
        ((SQUARE, SQUARE, WIDE), True),
        ((SQUARE, WIDE, SQUARE), True),
        ((SQUARE, SQUARE, moving), True),
        ((moving, moving, moving), True),
    ):
        phases = [World(float(k), one, HILL) for k, one in enumerate(workspaces)]
        assert Timeline(tuple(phases)).region_changes is changes


def test_a_switch_keeps_what_the_one_before_has_changed():
    small, late = dwell.Box((0, 0), (2, 3)), dwell.Network(loss=0.25, delay=0.1)
    given = [{"network": late}, {"workspace": small}, {"density": HILL}]
    for order in (given, given[::-1]):
        switches = [dwell.Switch(at=k + 1.0, **one) for k, one in enumerate(order)]
        start = [(0.5, 0.5), (1.5, 2.5)]
        run = dwell.simulate(SQUARE, None, start, TIMER, until=0.1, switches=switches)
        last = run.system.timeline.worlds[-1]
        assert (last.network, last.workspace, last.density) == (late, small, HILL)

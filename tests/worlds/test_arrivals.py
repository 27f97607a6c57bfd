"""Laws that begin later: agents that arrive, and groups that arrive together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem, EventTable, table_of
from dwell.agents.world import Timeline, World
from dwell.engine import run_compiled
from dwell.hybrid import simulate
from tests.controllers.examples import LAWS

SITES = {
    "box": dwell.Box((0, 0), (4, 4)),
    "region": dwell.Region([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)]),
    "stay": dwell.Region([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)], stay=True),
}
SAME_AGENTS = ("self-triggered", "event-triggered", "lloyd-ode")  # alone, from time 0 on
BEGUN = {
    **{name: law for name, law in LAWS.items() if not name.startswith(SAME_AGENTS)},
    "minimum-energy": dwell.MinimumEnergy(dt=0.1),
    "tvd": dwell.TVD(dt=0.1),
    "tvd-1": dwell.TVD(dt=0.1, order=1),
    "lloyd-neighbours": dwell.Lloyd(dt=0.1, feedforward="neighbours"),
    "timer-neighbours": dwell.Timer(k1=0.5, nu=0.4, t1=0.1, t2=0.2, feedforward="neighbours"),
}
PLAIN = [
    name for name in BEGUN
    if not name.startswith(("minimum", "tvd")) and "neighbours" not in name and "adapt" not in name
]  # fmt: skip
COMMON = "discrete-lloyd-random"  # one clock for all, whose multiples do not move along
START = np.array([(3.0, 0.5), (0.5, 0.5), (1.5, 0.3), (2.4, 0.6)])
ALONE = np.array([(0.4, 0.9)])
TIMES = (0.1, 0.25, 0.5, 1.3)


def begun_at(law: Any, site: Any, at: float, until: float, loop: Any = None) -> EventTable:
    """Events of agents 1 to 4 that arrive at a time, when agent 0 leaves; in their own time."""
    phases = tuple(World(t, site, dwell.Uniform()) for t in (0.0, at))
    arrivals, departures = np.full(5, at), np.full(5, np.inf)
    arrivals[0], departures[0] = 0.0, at
    changes = Timeline(phases, arrivals, departures)
    system = CoverageSystem(site, dwell.Uniform(), law, 5, 3, changes=changes)
    loop = loop or (run_compiled if system.compiles else simulate)
    start = system.start(np.vstack([ALONE, START]))
    table = table_of(loop(system, start, until=at + until))
    return table.take(table.agent > 0)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("name", BEGUN)
def test_a_group_that_arrives_later_does_the_same_later(name: str, site: str) -> None:
    if site != "box" and name not in PLAIN:
        return
    one = begun_at(BEGUN[name], SITES[site], TIMES[0], 1.05)
    for at in TIMES[1:]:
        if name == COMMON:
            at = round(at, 1)
        two = begun_at(BEGUN[name], SITES[site], at, 1.05)
        if name == COMMON:
            assert np.allclose(np.round(two.time / 0.1), two.time / 0.1, rtol=0.0, atol=1e-9)
            continue
        assert np.array_equal(one.agent, two.agent)
        assert two.time - at == pytest.approx(one.time - TIMES[0], abs=1e-12)
        assert two.next_at - at == pytest.approx(one.next_at - TIMES[0], abs=1e-12)
        assert two.positions == pytest.approx(one.positions, abs=1e-12)
        assert two.holds == pytest.approx(one.holds, abs=1e-11)


@pytest.mark.parametrize("name", ["lloyd", "discrete-lloyd", "discrete-lloyd-slow", "tvd"])
def test_a_law_that_begins_later_is_the_translate_of_one_that_begins_at_once(name: str) -> None:
    law, site = BEGUN[name], SITES["box"]
    system = CoverageSystem(site, dwell.Uniform(), law, 4, 3)
    first = table_of(simulate(system, system.start(START), until=1.05))
    later = begun_at(law, site, 0.25, 1.05)
    later = later.take(later.time > 0.25)
    assert np.array_equal(later.agent - 1, first.agent)
    assert later.time - 0.25 == pytest.approx(first.time, abs=1e-12)
    assert later.positions == pytest.approx(first.positions, abs=1e-12)


@pytest.mark.parametrize("site", ["stay", "region"])
@pytest.mark.parametrize("at", TIMES)
@pytest.mark.parametrize("name", [name for name in PLAIN if name.startswith(("disc", "lloyd"))])
def test_an_agent_that_arrives_in_a_region_samples_when_one_does_in_a_box(
    name: str, at: float, site: str
) -> None:
    """Whether or not agents stay in it, in both loops."""
    times = [
        [table.time[table.agent == p].tolist() for p in range(1, 5)]
        for table in (
            begun_at(BEGUN[name], SITES["box"], at, 2.0),
            begun_at(BEGUN[name], SITES["box"], at, 2.0, simulate),
            begun_at(BEGUN[name], SITES[site], at, 2.0),
        )
    ]
    assert times[0] == times[1] == times[2]


@pytest.mark.parametrize("schedule", ["synchronous", "round-robin"])
@pytest.mark.parametrize("at", TIMES)
def test_arrivals_under_discrete_lloyd_count_steps_from_their_arrival(
    at: float, schedule: str
) -> None:
    law = dwell.DiscreteLloyd(step=0.25, schedule=schedule)
    run = dwell.simulate(
        SITES["stay"], None, START[:2], law, until=4.0, seed=1,
        switches=[dwell.Switch(at=at, arrive=START[2:3])],
    )  # fmt: skip
    period = 0.25 if schedule == "synchronous" else 0.75
    times = run.events.time[run.events.agent == 2]
    assert times == pytest.approx(at + period * np.arange(len(times)), abs=1e-12)
    assert len(times) == 1 + int((4.0 - at) / period + 1e-9)
    assert dwell.check(run).ok


@pytest.mark.parametrize("at", [0.08, 0.1, 0.12, 0.3, 0.35])
def test_the_next_turn_of_a_random_schedule_is_the_first_one_after_the_arrival(at: float) -> None:
    law = dwell.DiscreteLloyd(step=0.1, schedule="random")
    table = begun_at(law, SITES["box"], at, 3.0)
    first = np.array([table.time[table.agent == p][1] for p in range(1, 5)]).min()
    turns = [0.1 * k for k in range(50)]
    assert first in turns
    taken = np.unique(np.round(table.time[table.time > at] / 0.1).astype(int))
    assert (np.diff(taken) >= 1).all()
    system = CoverageSystem(SITES["box"], dwell.Uniform(), law, 5, 3)
    observed = system.observation(system.start(np.vstack([ALONE, START])), 1, START, None)
    draws = [int(observed.shared_draw(k) * 5) for k in range(50)]
    wanted = next(k for k in range(50) if turns[k] > at and draws[k] > 0)
    assert first == turns[wanted]

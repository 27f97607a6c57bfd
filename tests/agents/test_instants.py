"""Agents that decide at one instant read what was true before it, in any order, after any cut."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.agents import AgentsState, CoverageSystem, EventTable, Network, table_of
from dwell.agents.world import Timeline, World
from dwell.engine.codec import names_of, plain, restored
from dwell.hybrid import Event, simulate
from dwell.verify.replay import rederive
from tests.conftest import differing
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

READERS = {
    "minimum-energy": dwell.MinimumEnergy(dt=0.1),
    "lloyd": dwell.Lloyd(dt=0.1, feedforward="neighbours", speed=1.0),
    "timer": dwell.Timer(k1=0.5, nu=0.4, t1=0.1, t2=0.2, reset="latest", feedforward="neighbours"),
}
TOGETHER = {
    **{name: law for name, law in LAWS.items() if name != "lloyd-ode"},
    **READERS,
    "timer-latest": dwell.Timer(k1=0.5, nu=0.4, t1=0.1, t2=0.2, reset="latest"),
    "tvd": dwell.TVD(dt=0.1),
}
NETWORKS = {
    "perfect": Network(),
    "lost": Network(loss=0.4),
    "late": Network(loss=0.2, delay=0.07),
    "later than all": Network(delay=1e-30),
}


def system_of(law: object, network: Network = NETWORKS["perfect"]) -> CoverageSystem:
    return CoverageSystem(BOX, HILL, law, len(START), 5, network=network)


def solved(law: object, until: float = 0.9) -> tuple[CoverageSystem, object]:
    system = system_of(law)
    return system, simulate(system, system.start(START), until=until)


def after(system: CoverageSystem, state: AgentsState, agents: list[int]) -> AgentsState:
    """The state after jumps of these agents at its time, in this order."""
    for agent in agents:
        state = system.jump(state, Event(state.time, agent))
    return state


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", TOGETHER)
def test_decisions_at_one_instant_may_come_in_any_order(name: str, network: str) -> None:
    system = system_of(TOGETHER[name], NETWORKS[network])
    state = system.start(START)
    for _ in range(4):
        first = system.next_event(state)
        due = np.flatnonzero(state.segments.next_at == first.time).tolist()
        now = system.flow(state, first.time)
        one, two = after(system, now, due), after(system, now, due[::-1])
        for name, values in one.segments.parts().items():
            assert np.array_equal(values, getattr(two.segments, name)), name
        for column in ("event_counts", "promised"):
            assert np.array_equal(getattr(one, column), getattr(two, column)), column
        law = names_of(system.controller)
        assert plain(one.memory, law) == plain(two.memory, law)
        for ours, others in zip(one.mail, two.mail, strict=True):
            assert {m.sender for _, m in ours.coming} == {m.sender for _, m in others.coming}
        state = one


@pytest.mark.parametrize("name", READERS)
def test_agents_read_velocities_from_before_the_instant(name: str) -> None:
    system, arc = solved(READERS[name])
    instants = 0
    for time, jumps in itertools.groupby(range(arc.jumps), key=lambda j: arc.events[j].time):
        own = list(jumps)
        before = system.flow(arc.states[own[0]], time).velocities
        for j in own:
            seen = system.flow(arc.states[j], time).velocities_then(time)
            assert np.array_equal(seen, before)
        instants += len(own) > 1
    assert instants >= 2


@pytest.mark.parametrize("name", READERS)
def test_a_run_may_be_cut_in_the_middle_of_an_instant(name: str) -> None:
    system, whole = solved(READERS[name])
    wanted = table_of(whole)
    for jumps in range(1, 14):
        first = simulate(system, whole.states[0], until=0.9, max_jumps=jumps)
        kept = plain(first.states[-1], names_of(system.controller))
        state = restored(kept, names_of(system.controller))
        rest = simulate(system, state, until=0.9)
        assert differing(EventTable.joined([table_of(first), table_of(rest)]), wanted) == []
        one = whole.at(whole.events[jumps].time, jumps)
        again = system.jump(one, whole.events[jumps])
        assert np.array_equal(again.segments.hold, whole.after(jumps + 1).segments.hold)


@pytest.mark.parametrize("name", READERS)
def test_a_stored_run_may_be_resumed_in_the_middle_of_an_instant(name: str, tmp_path: Path) -> None:
    def run(**options: object) -> dwell.Run:
        return dwell.simulate(BOX, HILL, START, READERS[name], until=0.5, seed=5, **options)

    whole = run()
    cut = run(max_jumps=9)
    assert cut.stop.reason.value == "jump-limit"
    assert np.count_nonzero(whole.events.time == cut.events.time[-1]) > 3
    cut.save(tmp_path / "cut.nc")
    again = dwell.resume_run(tmp_path / "cut.nc", max_jumps=10_000)
    assert differing(again.events, whole.events) == []
    assert dwell.check(again).ok


@pytest.mark.parametrize("name", READERS)
def test_a_run_whose_agents_read_newer_velocities_is_no_solution(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, arc = solved(READERS[name])
    with monkeypatch.context() as patch:
        patch.setattr(AgentsState, "noting", lambda state, agent: state)
        patch.setattr(AgentsState, "velocities_then", lambda state, time: state.velocities)
        other = table_of(simulate(system, arc.states[0], until=0.5))
    gaps = [
        rederive(system, arc.states[0], table, lambda what, share: None)["jump"]
        for table in (table_of(arc), other)
    ]
    assert gaps[0].max() == 0.0
    assert gaps[1].max() > 1e-6


def test_times_that_rounding_has_parted_are_one_instant() -> None:
    system = system_of(READERS["lloyd"])
    state = system.flow(system.start(START), 0.1)
    later = np.nextafter(0.1, 1.0)
    first = system.jump(state, Event(0.1, 2))
    assert not np.array_equal(first.segments.hold[2], state.segments.hold[2])
    assert np.array_equal(first.at(later).velocities_then(later), state.velocities)
    assert np.array_equal(first.at(0.11).velocities_then(0.11), first.segments.hold)
    twice = system.jump(first, Event(0.1, 2))
    assert np.array_equal(twice.velocities_then(0.1), state.velocities)


@pytest.mark.parametrize("delay", [0.0, 0.07, 0.1, 0.2])
def test_a_delay_of_whole_waits_reads_the_same_in_every_unit_of_time(delay: float) -> None:
    def places(unit: float) -> np.ndarray:
        law = dwell.Lloyd(k2=1 / unit, dt=0.1 * unit, feedforward="neighbours", speed=1 / unit)
        late = Network(delay=delay * unit)
        run = dwell.simulate(
            BOX, HILL, START, law, until=3.0 * unit, network=late, sample_every="off"
        )
        return run.positions(3.0 * unit)

    for unit in (3.0, 0.7, 1e3):
        assert np.abs(places(unit) - places(1.0)).max() < 1e-12


def test_waits_below_the_rounding_of_a_late_time_are_instants_of_their_own() -> None:
    late, wait = 1e6, 1e-7
    law = dwell.Timer(
        k1=0.5, nu=0.4, t1=wait, t2=2e6, reset="earliest", initial_timer=late,
        feedforward="neighbours",
    )  # fmt: skip
    system = system_of(law)
    arc = simulate(system, system.start(START), until=late + 4.5 * wait)
    for time, jumps in itertools.groupby(range(arc.jumps), key=lambda j: arc.events[j].time):
        own = list(jumps)
        before = system.flow(arc.states[own[0]], time).velocities
        for j in own:
            seen = system.flow(arc.states[j], time).velocities_then(time)
            assert np.array_equal(seen, before)
    assert arc.jumps == 5 * len(START)
    assert not np.array_equal(arc.states[0].segments.hold, before)


@pytest.mark.parametrize("comes", range(4))
def test_an_agent_that_arrives_at_an_instant_stood_before_it(comes: int) -> None:
    """And one that leaves then is nobody's neighbour any more, whatever its number."""
    goes = (comes + 2) % 4
    arrivals, departures = np.zeros(4), np.full(4, np.inf)
    arrivals[comes] = departures[goes] = 0.2
    phases = tuple(World(t, BOX, HILL) for t in (0.0, 0.2))
    for name, law in READERS.items():
        changes = Timeline(phases, arrivals, departures)
        system = CoverageSystem(BOX, HILL, law, 4, 5, changes=changes)
        arc = simulate(system, system.start(START[:4]), until=0.9)
        at = [j for j, event in enumerate(arc.events) if event.time == 0.2]
        assert len(at) == 4 if name != "timer" else len(at) >= 2
        for j in at[1:]:
            read = system.observation(
                arc.states[j], arc.events[j].source, arc.states[j].positions,
                system.measurement(arc.states[j].positions, arc.events[j].source, 0.2),
            ).sample  # fmt: skip
            assert goes not in read.agents
            if comes in read.agents:
                k = int(np.flatnonzero(read.agents == comes)[0])
                assert (read.velocities[k] == 0.0).all()
        table = table_of(arc)
        gaps = rederive(system, arc.states[0], table, lambda what, share: None)
        assert max(float(column.max()) for column in gaps.values()) == 0.0
        cut = simulate(system, arc.states[0], until=0.5, max_jumps=at[1])
        rest = simulate(system, cut.states[-1], until=0.9)
        joined = EventTable.joined([table_of(cut), table_of(rest)])
        assert differing(joined, table) == []


def test_a_state_of_an_earlier_file_is_still_read() -> None:
    """It lacks the velocities before the instant, which are then the present ones."""
    system = system_of(READERS["lloyd"])
    state = system.start(START)
    kept = plain(state)
    del kept["AgentsState"]["before"]
    old = restored(kept)
    assert old.before is None
    assert np.array_equal(old.velocities_then(0.0), state.segments.hold)
    assert dataclasses.replace(state, before=None).noting(0).before is None

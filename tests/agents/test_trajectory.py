"""The states of a trajectory are those of the loop, whichever is asked for, at a bounded price."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents import AgentsState, CoverageSystem, EventTable, Network, Trajectory, table_of
from dwell.agents import trajectory as module
from dwell.engine import run_compiled
from dwell.engine.codec import names_of, plain
from dwell.hybrid import simulate
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

EVENTFUL = [name for name in LAWS if name != "lloyd-ode"]
NETWORKS = {"perfect": None, "lossy": Network(loss=0.3, delay=0.13)}
UNTIL = 1.3


def same(one: AgentsState, other: AgentsState, law: Any, *, memories: bool) -> bool:
    """Whether two states have the same bits, with or without memories and messages.

    Lists of past segments are shared with later states, see `AgentsState`.
    """
    if memories:
        one, other = (
            replace(
                state,
                past=tuple(
                    past[:made] for past, made in zip(state.past, state.event_counts, strict=False)
                ),
            )
            for state in (one, other)
        )
        return plain(one, names_of(law)) == plain(other, names_of(law))
    parts = [
        [
            state.time,
            state.event_counts,
            state.first,
            state.positions,
            *state.segments.parts().values(),
        ]
        for state in (one, other)
    ]
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(*parts, strict=True)
    )


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", EVENTFUL)
def test_each_state_is_that_of_the_readable_loop(
    name: str, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another, and in any order."""
    monkeypatch.setattr(module, "MARKED", 4)
    law = LAWS[name]
    system = CoverageSystem(BOX, HILL, law, len(START), 5, network=NETWORKS[network] or Network())
    arc = simulate(system, system.start(np.array(START)), until=UNTIL)
    given = system, arc.states[0], table_of(arc), arc.until
    assert arc.jumps >= 2 * system.agents
    some = np.random.default_rng(3).permutation(arc.jumps + 1).tolist()
    for order in (range(arc.jumps + 1), some):
        states = Trajectory(*given)
        for k in order:
            memories = states.remembers
            assert same(states[k], arc.states[k], law, memories=memories), k
            assert same(states.state_after(k), arc.states[k], law, memories=False), k
    assert len(states[-3:]) == 3


def test_states_of_the_compiled_loop_are_those_of_the_readable_one() -> None:
    system = CoverageSystem(BOX, HILL, LAWS["timer"], len(START), 5)
    start = system.start(np.array(START))
    arc, other = run_compiled(system, start, until=3.0), simulate(system, start, until=3.0)
    assert arc.jumps == other.jumps > 20
    for k in range(arc.jumps + 1):
        assert same(arc.states[k], other.states[k], LAWS["timer"], memories=False), k


class Counted(np.ndarray):
    """A column that counts the numbers read from it."""

    touched = 0

    def __getitem__(self, rows: Any) -> Any:
        found = super().__getitem__(rows)
        Counted.touched += np.size(found)
        return found


def counted(jumps: int) -> Trajectory:
    """A trajectory of so many jumps whose table counts what is read."""
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.01, t2=0.02)
    system = CoverageSystem(BOX, HILL, law, len(START), 5)
    arc = run_compiled(system, system.start(np.array(START)), until=1e6, max_jumps=jumps)
    columns = {name: values.view(Counted) for name, values in table_of(arc).columns().items()}
    return Trajectory(system, arc.states[0], EventTable(**columns), arc.until)


def numbers_read(path: Trajectory) -> int:
    Counted.touched = 0
    assert sum(1 for _ in path) == len(path)
    return Counted.touched


def test_a_walk_over_all_states_reads_in_proportion_to_their_number() -> None:
    short, long = numbers_read(counted(2_000)), numbers_read(counted(8_000))
    assert long <= 4.2 * short


def test_a_state_far_on_reads_the_last_jumps_alone() -> None:
    path = counted(8_000)
    assert path[1].time < path[7_999].time  # what is noted once
    for k in (7_999, 5_000, 300):
        Counted.touched = 0
        assert path[k].time == float(path.table.time[k - 1])
        assert Counted.touched <= module.MARKED + 12 * path.agents


def test_both_coefficients_of_curved_pieces_have_columns_of_their_own() -> None:
    table = replace(EventTable.blank(3), bend=np.arange(12.0).reshape(3, 2, 2))
    row = list(table)[1]
    names = ("bend2_x", "bend2_y", "bend3_x", "bend3_y")
    assert [row[name] for name in names] == [4.0, 5.0, 6.0, 7.0]

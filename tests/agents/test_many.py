"""Many agents that move: the engine asks those near, the readable loop everybody; the same arc."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, DiscreteLloyd, Gaussian, Lloyd, Timer, Uniform
from dwell.agents import CoverageSystem, table_of
from dwell.engine import run_compiled, stepper
from dwell.engine.synchronous import step_together as together
from dwell.hybrid import StopReason, simulate
from tests.crowds import LAYOUTS, PLACES

SQUARE = Box((0, 0), (1, 1))
MOVES = {
    "timer": Timer(k1=0.05, nu=0.05, t1=0.01, t2=0.3),
    "fast": Timer(k1=3.0, nu=0.05, t1=0.01, t2=0.02),
    "lloyd": Lloyd(k2=1.0, dt=0.1),
    "round-robin": DiscreteLloyd(schedule="round-robin", step=0.01),
    "own-clocks": Timer(k1=0.05, nu=0.05, t1=tuple(np.linspace(0.01, 0.1, 120)), t2=0.3),
}


@pytest.mark.parametrize("law", MOVES)
@pytest.mark.parametrize("name", ["random", "lattice", "crowd", "row", "pairs", "sparse-side"])
def test_moving_agents(law, name):
    places, law = PLACES[name][:120], MOVES[law]
    system = CoverageSystem(SQUARE, Gaussian((0.3, 0.7), rate=5.0), law, len(places), seed=3)
    start = system.start(places)
    until = 2.5 * len(places) * 0.01 if isinstance(law, DiscreteLloyd) else 0.7
    fast = run_compiled(system, start, until=until, max_jumps=400)
    slow = simulate(system, start, until=until, max_jumps=400, max_simultaneous=10_000)
    assert fast.jumps == slow.jumps >= 300
    for field, values in table_of(fast).columns().items():
        assert np.array_equal(values, getattr(table_of(slow), field)), field


@pytest.mark.parametrize("law", ["timer", "fast", "round-robin"])
@pytest.mark.parametrize(
    "name", ["line", "even-rows", "parabola", "clusters", "far-one", "decades"]
)
def test_agents_that_set_off_on_lines_and_in_clusters(law, name):
    """Cells that reach too many agents are found in a tree, which is built anew on the way."""
    places, law = LAYOUTS[name](260), MOVES[law]
    system = CoverageSystem(SQUARE, Uniform(), law, len(places), seed=3)
    start = system.start(places)
    fast = run_compiled(system, start, until=9.0, max_jumps=700)
    slow = simulate(system, start, until=9.0, max_jumps=700, max_simultaneous=10_000)
    assert fast.jumps == slow.jumps == 700
    for field, values in table_of(fast).columns().items():
        assert np.array_equal(values, getattr(table_of(slow), field)), field


def test_a_run_cut_in_pieces_is_the_same_run():
    """Bins are made anew at each beginning, at other times than in one piece."""
    places = PLACES["random"]
    law = Timer(k1=0.2, nu=0.05, t1=0.01, t2=0.05)
    system = CoverageSystem(SQUARE, Uniform(), law, len(places), seed=3)
    whole = run_compiled(system, system.start(places), until=2.0)
    state, times = system.start(places), []
    for until in (0.3, 0.31, 1.1, 2.0):
        part = run_compiled(system, state, until=until)
        times.append(table_of(part).positions)
        state = part.states[part.jumps].at(until)
    assert whole.jumps > 10_000
    assert np.array_equal(np.concatenate(times), table_of(whole).positions)


def test_all_at_once_is_one_after_another(monkeypatch):
    """Synchronous laws of many agents are computed side by side."""
    places = np.random.default_rng(7).uniform(0, 1, (1200, 2))
    for law in (Lloyd(k2=1.0, dt=0.1), DiscreteLloyd(schedule="synchronous", step=0.3)):
        system = CoverageSystem(SQUARE, Gaussian((0.3, 0.7), rate=5.0), law, len(places), seed=3)
        steps = []
        monkeypatch.setattr(
            stepper, "step_together", lambda *given, kept=steps: kept.append(1) or together(*given)
        )
        side_by_side = run_compiled(system, system.start(places), until=1.05, max_jumps=3_000)
        assert len(steps) >= 3
        monkeypatch.setattr(stepper, "step_together", lambda *given: None)
        in_turn = run_compiled(system, system.start(places), until=1.05, max_jumps=3_000)
        assert side_by_side.jumps == in_turn.jumps == 3_000
        for field, values in table_of(in_turn).columns().items():
            assert np.array_equal(values, getattr(table_of(side_by_side), field)), field


def test_agents_that_meet_while_all_look():
    places = np.random.default_rng(7).uniform(0, 0.4, (1200, 2))
    places[:2] = [[0.5, 0.75], [0.75, 0.75]]

    class Straight(Lloyd):
        """The first two set off towards each other."""

        def begin_all(self, errors):
            first = super().begin_all(errors)
            first.hold[:2] = [[1.25, 0], [-1.25, 0]]
            return first

    law = Straight(k2=1.0, dt=0.1)
    system = CoverageSystem(SQUARE, Uniform(), law, len(places), seed=3)
    arc = run_compiled(system, system.start(places), until=1.0)
    assert arc.stop.reason is StopReason.COINCIDENT
    assert "agents 0 and 1" in arc.stop.detail


def test_agents_that_exceed_the_caches():
    agents = 20_005
    side = np.sqrt(agents)
    places = np.random.default_rng(1).uniform(0, side, (agents, 2))
    law = Timer(k1=0.5, nu=0.5, t1=0.5, t2=1.0)
    system = CoverageSystem(Box((0, 0), (side, side)), Uniform(), law, agents, seed=1)
    start = system.start(places)
    fast = run_compiled(system, start, until=2.0, max_jumps=40)
    slow = simulate(system, start, until=2.0, max_jumps=40)
    assert fast.jumps == slow.jumps == 40
    for field, values in table_of(fast).columns().items():
        assert np.array_equal(values, getattr(table_of(slow), field)), field

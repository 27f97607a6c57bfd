"""Many agents that move: the engine finds neighbours quickly, with the bits of all pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import Box, DiscreteLloyd, Gaussian, Lloyd, Timer, Uniform
from dwell._kernels._jit import ENABLED
from dwell.agents import CoverageSystem, EventTable, table_of
from dwell.cells.polyhedron import measure
from dwell.engine import run_compiled
from dwell.engine.compiled import CompiledRun
from dwell.hybrid import StopReason, simulate
from tests.conftest import differing
from tests.crowds import LAYOUTS, PLACES
from tests.crowds_any import LINE, SPACE

LAWS = {
    "timer": lambda n: Timer(k1=0.05, nu=0.05, t1=0.01, t2=0.3),
    "fast": lambda n: Timer(k1=3.0, nu=0.05, t1=0.01, t2=0.02),
    "slow": lambda n: Timer(k1=0.5, nu=0.5, t1=0.5, t2=1.0),
    "lloyd": lambda n: Lloyd(k2=1.0, dt=0.1),
    "synchronous": lambda n: DiscreteLloyd(schedule="synchronous", step=0.3),
    "round-robin": lambda n: DiscreteLloyd(schedule="round-robin", step=0.01),
    "own clocks": lambda n: Timer(k1=0.05, nu=0.05, t1=tuple(np.linspace(0.01, 0.1, n)), t2=0.3),
}


def same_arc(places, law, shift=0.0, jumps=300, hold=None, density=None, size=1.0):
    n, dimension = places.shape
    box = Box((shift,) * dimension, (size + shift,) * dimension)
    system = CoverageSystem(box, density or Uniform(), LAWS[law](n), n, seed=3)
    start = system.start(places + shift)
    if hold is not None:
        start = replace(start, segments=replace(start.segments, hold=hold))
    fast = run_compiled(system, start, until=100.0, max_jumps=jumps)
    slow = simulate(system, start, until=100.0, max_jumps=jumps, max_simultaneous=10_000)
    assert fast.jumps == slow.jumps == jumps
    assert differing(table_of(fast), table_of(slow)) == []


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SPACE)
def test_in_space(law, name):
    same_arc(SPACE[name], law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", LINE)
def test_on_the_line(law, name):
    same_arc(LINE[name], law)


@pytest.mark.parametrize("crowd", [SPACE["random"], LINE["random"], LINE["even"]])
def test_far_from_the_origin(crowd):
    same_arc(crowd, "fast", shift=1e6)


@pytest.mark.parametrize("places", [SPACE["random"], LINE["random"], LINE["pairs"]])
@pytest.mark.parametrize("speed", [0.01, 1.0])
def test_agents_that_pass_one_another(places, speed):
    hold = speed * np.random.default_rng(2).normal(size=places.shape)
    same_arc(places, "timer", jumps=400, hold=hold)


@pytest.mark.parametrize("places", [SPACE["random"], LINE["random"], PLACES["random"]])
def test_a_run_cut_in_pieces_is_the_same_run(places):
    """Cell lists and orders are rebuilt at each beginning, at other times than in one piece."""
    count, n = places.shape
    law = Timer(k1=0.2, nu=0.05, t1=0.01, t2=0.05)
    system = CoverageSystem(Box((0.0,) * n, (1.0,) * n), Uniform(), law, count, seed=3)
    whole = table_of(run_compiled(system, system.start(places), until=1.0))
    state, parts = system.start(places), []
    for until in (0.3, 0.31, 0.7, 1.0):
        part = run_compiled(system, state, until=until)
        parts.append(table_of(part))
        state = part.states[part.jumps].at(until)
    assert len(whole) > 5_000
    assert differing(EventTable.joined(parts), whole) == []


@pytest.mark.parametrize("name", SPACE)
def test_a_look_among_many_is_the_look_of_the_readable_loop(name):
    """After some moves, with bins that are worn: what the engine noted, everybody asked again."""
    places = SPACE[name]
    system = CoverageSystem(Box((0,) * 3, (1,) * 3), Uniform(), LAWS["fast"](0), len(places), 3)
    arc = run_compiled(system, system.start(places), until=100.0, max_jumps=3 * len(places))
    table, ground = table_of(arc), system.ground
    for j in range(len(places), len(table), 37):
        here = arc.states[j].at(float(table.time[j])).positions
        seen = measure(ground, here[None], np.array([0]), table.agent[j : j + 1])
        assert np.array_equal(seen.error[0], table.errors[j])
        assert seen.neighbors[0] == table.neighbors[j]
        assert seen.nearest[0] == table.nearest[j]


def legs_of(rng, count, dimension, speed, columns):
    """Random legs in one table: places, velocities, beginnings."""
    row = np.zeros((count, columns))
    kind = rng.integers(3)
    spread = [np.ones(dimension), rng.uniform(1e-3, 1, dimension), rng.integers(0, 2, dimension)]
    row[:, :dimension] = rng.uniform(-1, 1, (count, dimension)) * spread[kind]
    row[:, dimension : 2 * dimension] = speed * rng.normal(size=(count, dimension))
    row[:, 2 * dimension] = rng.uniform(-1, 0, count)
    return row


@cache
def callable_from_python(kernel):
    """A kernel that only other kernels may call, behind a door."""
    return numba.njit(lambda *args: kernel(*args)) if ENABLED else kernel


numbers = st.integers(0, 2**32 - 1)


@given(numbers, st.floats(0, 2), st.floats(1e-3, 3), st.sampled_from([0.1, 0.7, np.inf]))
def test_those_gathered_in_space(seed, later, radius, cruise):
    """All within the limit and no others, whatever happened since they were put into bins."""
    from dwell._kernels.common.segments import COLUMNS
    from dwell._kernels.space.neighbors import gather, make_grid, put_all
    from dwell.engine.compiled import places_in

    ask = callable_from_python(gather)
    rng = np.random.default_rng(seed)
    count = int(rng.integers(130, 220))
    row = legs_of(rng, count, 3, rng.choice([0.0, 0.01, 1.0]), COLUMNS[3])
    grid, key, seen = make_grid(count, True), np.empty(count), np.empty(count, dtype=np.int64)
    put_all(0.0, cruise, row, grid)
    here = places_in(row, later, cruise, 3)
    p = int(rng.integers(count))
    grid.x[0], grid.y[0], grid.z[0] = here[p]
    size, limit = ask(p, later, 0, -1.0, radius, cruise, row, grid, key, seen)
    found = np.column_stack([grid.x, grid.y, grid.z])[: size + 1]
    gap = here - here[p]
    square = gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1] + gap[:, 2] * gap[:, 2]
    wanted = [q for q in range(count) if square[q] <= limit and q != p]
    assert seen[:size].tolist() == list(range(1, size + 1))
    assert sorted(map(tuple, found[1:])) == sorted(map(tuple, here[wanted]))
    # Nobody is left out in a ball that holds all; else the limit is the radius, but for rounding.
    assert limit == np.inf or limit == pytest.approx(radius**2, rel=1e-6)


@given(numbers, st.floats(0, 2), st.sampled_from([0.1, 0.7, np.inf]))
def test_those_beside_on_the_line(seed, later, cruise):
    from dwell._kernels.line.engine import find_beside, make_order, sort_agents
    from dwell.engine.compiled import places_in

    find = callable_from_python(find_beside)
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    row = legs_of(rng, count, 1, rng.choice([0.0, 0.01, 1.0]), 8)
    here = places_in(row, later, cruise, 1)[:, 0]
    order = make_order(count)
    sort_agents(0.0, cruise, row, order)
    assert (np.diff(order.then) >= 0.0).all()
    for p in range(count):
        find(p, later, cruise, row, order)
        others = np.delete(here, p)
        below, above = others[others <= here[p]], others[others > here[p]]
        wanted = [here[p], max(below, default=-np.inf), min(above, default=np.inf)]
        assert order.near.tolist() == wanted


def test_who_keeps_its_distance_is_asked_again_and_again():
    """An agent alone far from all the others: its ball grows until it holds them."""
    places = np.vstack([1e-3 * SPACE["random"], (1.0, 1.0, 1.0)])
    same_arc(places, "fast", jumps=400)


SQUARE = Box((0, 0), (1, 1))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", PLACES)
def test_moving_agents(law, name):
    same_arc(PLACES[name][:120], law, density=Gaussian((0.3, 0.7), rate=5.0))


@pytest.mark.parametrize("law", ["timer", "fast", "synchronous", "round-robin"])
@pytest.mark.parametrize(
    "name", ["line", "even-rows", "parabola", "clusters", "far-one", "decades"]
)
def test_agents_that_set_off_on_lines_and_in_clusters(law, name):
    """Neighbours of very long cells are found in a tree, which is rebuilt during the run."""
    same_arc(LAYOUTS[name](260), law, jumps=700)


def test_agents_that_exceed_the_caches():
    agents = 20_005
    places = np.random.default_rng(1).uniform(0, np.sqrt(agents), (agents, 2))
    same_arc(places, "slow", jumps=40, size=np.sqrt(agents))


@pytest.mark.parametrize(("dimension", "crowded"), [(2, 1.0), (2, 0.3), (3, 0.3)])
def test_all_at_once_is_one_after_another(monkeypatch, dimension, crowded):
    """Synchronous laws of many agents are computed side by side.

    The last jumps are made one after another: their bins must take account of the earlier speeds.
    """
    places = np.random.default_rng(7).uniform(0, crowded, (1200, dimension))
    box, density = Box((0,) * dimension, (1,) * dimension), Gaussian((0.7,) * dimension, rate=5.0)
    name, together = "advance_together", CompiledRun.advance_together
    for law in (Lloyd(k2=1.0, dt=0.1), DiscreteLloyd(schedule="synchronous", step=0.3)):
        system = CoverageSystem(box, density, law, len(places), seed=3)
        start = system.start(places)
        still = np.zeros_like(start.segments.hold)
        start = replace(start, segments=replace(start.segments, hold=still))  # speeds grow
        steps = []
        monkeypatch.setattr(
            CompiledRun, name, lambda *given, kept=steps: kept.append(1) or together(*given)
        )
        side_by_side = run_compiled(system, start, until=1.05, max_jumps=3_000)
        assert len(steps) >= 3
        monkeypatch.setattr(CompiledRun, name, lambda *given: None)
        in_turn = run_compiled(system, start, until=1.05, max_jumps=3_000)
        assert side_by_side.jumps == in_turn.jumps == 3_000
        assert differing(table_of(in_turn), table_of(side_by_side)) == []


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

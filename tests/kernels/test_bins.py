"""Asking those near gives the same bits as asking everybody."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, DiscreteLloyd, Gaussian, Lloyd, Polygon, Timer, Uniform
from dwell._kernels import bins
from dwell.agents import CoverageSystem, run_compiled, table_of
from dwell.density.ground import ground_of
from dwell.density.looking import look_many
from dwell.hybrid import simulate

SQUARE = Box((0, 0), (1, 1))
SLANTED = Polygon([(5e6, 0), (5e6 + 3, 1), (5e6 + 2, 4), (5e6 - 1, 2)])


def grid(count):
    side = int(np.sqrt(count))
    x, y = np.meshgrid((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)
    return np.column_stack([x.ravel(), y.ravel()])


def crowd(count):
    """Most of them in one corner, a few far away."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.uniform(0, 1, (5, 2)), 1e-4 * rng.uniform(0, 1, (count - 5, 2))])


def row(count):
    return np.column_stack([(np.arange(count) + 0.5) / count, np.full(count, 0.5)])


def pairs(count):
    """Everybody twice, a hair apart."""
    one = np.random.default_rng(2).uniform(0.01, 0.98, (count // 2, 2))
    return np.stack([one, one + 1e-12], axis=1).reshape(-1, 2)


PLACES = {
    "random": np.random.default_rng(0).uniform(0, 1, (300, 2)),
    "lattice": grid(256),
    "crowd": crowd(150),
    "row": row(120),
    "pairs": pairs(200),
    "sparse-side": np.random.default_rng(3).uniform(0, 1, (200, 2)) * (1.0, 0.02),
}


@pytest.mark.parametrize(
    "weight", [Uniform(), Gaussian((0.3, 0.7), rate=5.0)], ids=["even", "hill"]
)
@pytest.mark.parametrize("name", PLACES)
def test_cells_at_rest(name, weight):
    places = PLACES[name]
    ground = ground_of(SQUARE, weight)
    everybody = np.arange(len(places))
    none = np.zeros_like(everybody)
    near = look_many(ground, places[None], none, everybody)
    turned = everybody[::-1]  # not in order: everybody is asked
    brute = look_many(ground, places[None], none, turned)
    for field in ("error", "mass", "polar", "neighbors", "nearest", "log_scale", "empty", "met"):
        assert np.array_equal(getattr(near, field), getattr(brute, field)[::-1]), field


def test_far_from_the_origin():
    rng = np.random.default_rng(5)
    places = np.array([p for p in rng.uniform((5e6 - 1, 0), (5e6 + 3, 4), (900, 2))
                       if SLANTED.contains(p[None])[0]])  # fmt: skip
    assert len(places) > 200
    ground, everybody = ground_of(SLANTED, Uniform()), np.arange(len(places))
    near = look_many(ground, places[None], np.zeros_like(everybody), everybody)
    brute = look_many(ground, places[None], np.zeros_like(everybody), everybody[::-1])
    assert np.array_equal(near.error, brute.error[::-1])


@pytest.mark.parametrize("name", PLACES)
def test_everybody_is_in_exactly_one_bin(name):
    x, y = np.ascontiguousarray(PLACES[name].T)
    found = bins.make_bins(len(x))
    sorted_x, sorted_y = bins.put_at_rest(x, y, found)
    count = int(found.frame[bins.COLUMNS] * found.frame[bins.ROWS])
    assert count <= 2 * len(x)
    assert sorted(found.who) == list(range(len(x)))
    assert found.first[0] == 0
    assert found.first[count] == len(x)
    assert (np.diff(found.first[: count + 1]) >= 0).all()
    left, low, side, columns, rows = found.frame
    across = np.clip((x - left) // side, 0, columns - 1)
    up = np.clip((y - low) // side, 0, rows - 1)
    for b in range(count):
        inside = found.who[found.first[b] : found.first[b + 1]]
        assert (np.diff(inside) > 0).all()
        assert (up[inside] * columns + across[inside] == b).all()
    assert np.array_equal(sorted_x, x[found.who])
    assert np.array_equal(sorted_y, y[found.who])


# Agents that move: the engine asks those near, the readable loop asks everybody.

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

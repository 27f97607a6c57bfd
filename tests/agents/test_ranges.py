"""Runs with sensing radii: both loops give the same bits, and what the law and the cost do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import Box, Gaussian, Interval, Lloyd, Mixture, Polygon, SelfTriggered, Timer, Uniform
from dwell._kernels._jit import ENABLED
from dwell.agents import CoverageSystem, table_of
from dwell.agents.world import Timeline, World
from dwell.density import Function
from dwell.engine import run_compiled
from dwell.hybrid import simulate
from dwell.measure.metrics import costs_of, measure_configurations

SITE = Polygon([(0.0, 0.0), (7.0, -1.0), (10.0, 3.0), (6.0, 7.0), (-1.0, 5.0)])
LAW = Timer(k1=0.5, nu=0.3, t1=0.2, t2=0.5)
DENSITIES = {
    "uniform": Uniform(),
    "gaussian": Gaussian((4, 3), rate=0.3),
    "mixture": Mixture((Uniform(0.2), Gaussian((4, 3), rate=0.3))),
}
RADII = {
    "small": lambda rng, count: np.full(count, 0.4),
    "usual": lambda rng, count: np.full(count, 1.3 * math.sqrt(40 / (math.pi * count))),
    "wide": lambda rng, count: np.full(count, 3.0),
    "unequal": lambda rng, count: rng.uniform(0.2, 2.0, count),
    "one large": lambda rng, count: np.where(np.arange(count) == 1, 4.0, 0.7),
}


def started(count, density, radius, law=LAW, site=SITE):
    """A system and its start."""
    points = np.random.default_rng(count).uniform((1, 0), (8, 5), (count, 2))
    given = None if radius is None else tuple(radius)
    system = CoverageSystem(site, density, law, count, 7, radius=given)
    return system, system.start(points)


def columns(arc):
    return {name: values.tobytes() for name, values in table_of(arc).columns().items()}


@pytest.mark.parametrize("kind", RADII)
@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("count", [7, 150])
def test_both_loops_give_the_same_bits(kind, name, count):
    radius = RADII[kind](np.random.default_rng(3), count)
    system, start = started(count, DENSITIES[name], radius)
    assert system.compiles
    jumps = 300 if ENABLED else 20
    compiled, readable = (
        run(system, start, until=2.0, max_jumps=jumps) for run in (run_compiled, simulate)
    )
    assert columns(compiled) == columns(readable)
    assert len(table_of(compiled)) >= min(20, jumps)


@pytest.mark.parametrize("count", [7, 150])
def test_a_radius_beyond_the_workspace_changes_no_bit_of_a_run(count):
    plain, limited = (
        started(count, DENSITIES["gaussian"], r) for r in (None, np.full(count, 30.0))
    )
    one, other = (run_compiled(*given, until=1.0, max_jumps=300) for given in (plain, limited))
    assert columns(one) == columns(other)
    places = plain[1].positions[None]
    now = np.zeros(1)
    costs = [
        costs_of(s, places, now, measure_configurations(s, places, now))
        for s, _ in (plain, limited)
    ]
    assert costs[0].tobytes() == costs[1].tobytes()


def test_agents_that_sample_together():
    """All cells at once, on all cores, give the bits of one event after another."""
    count = 1100 if ENABLED else 70
    law = Lloyd(k2=0.5, dt=0.2)
    for radius in (np.full(count, 0.15), np.random.default_rng(0).uniform(0.1, 0.2, count)):
        system, start = started(count, Uniform(), radius, law)
        arc = run_compiled(system, start, until=0.5)
        table = table_of(arc)
        again = system.measurements(start.at(float(table.time[0])).positions)
        assert np.array_equal(table.errors[:count], again.error)


def test_the_line_uses_the_readable_loop():
    radius = (0.1, 0.2, 0.15)
    system = CoverageSystem(Interval(0, 1), Uniform(), LAW, 3, radius=radius)
    assert not system.compiles
    arc = simulate(system, system.start(np.array([[0.1], [0.4], [0.9]])), until=30.0)
    final = arc.states[-1].positions
    found = dwell.tessellate(Interval(0, 1), final, radius=radius)
    assert np.abs(found.errors).max() < 1e-3
    assert math.fsum(found.masses) == pytest.approx(0.9, abs=1e-3)


def test_an_agent_whose_disc_weighs_nothing_stands_still():
    system = CoverageSystem(SITE, Uniform(), LAW, 2, radius=(0.5, 0.5))
    start = system.start(np.array([(3.0, 3.0), (20.0, 20.0)]))
    arc = run_compiled(system, start, until=2.0)
    assert np.array_equal(arc.states[-1].positions[1], [20.0, 20.0])
    assert table_of(arc).empty.tolist() == table_of(arc).agent.tolist()


def test_the_cost_falls():
    """Lloyd's flow with small steps descends, arcs and empty cells included."""
    law = Lloyd(k2=0.5, dt=0.05)
    radius = np.random.default_rng(1).uniform(0.5, 1.8, 12)
    system, start = started(12, DENSITIES["gaussian"], radius, law)
    arc = run_compiled(system, start, until=8.0)
    times = np.linspace(0, 8, 60)
    places = np.stack([arc.at(t).positions for t in times])
    costs = costs_of(system, places, times, measure_configurations(system, places, times))
    assert (np.diff(costs) < 1e-12 * costs[0]).all()
    assert costs[-1] < 0.98 * costs[0]


@pytest.mark.parametrize(
    "law", [SelfTriggered(v=0.4, delta=0.5), dwell.EventTriggered(s_max=0.4, dt=0.2)]
)
def test_laws_that_bound_cells_are_refused(law):
    with pytest.raises(dwell.InputError, match="knows no radius") as caught:
        CoverageSystem(SITE, Uniform(), law, 2, radius=(1.0, 1.0))
    assert caught.value.key == "agents.radius"


def test_bad_systems_are_refused():
    for radius, site in (
        ((1.0,), SITE),
        ((1.0, -1.0), SITE),
        ((1.0, 1.0), Box((0,) * 3, (1,) * 3)),
    ):
        with pytest.raises(dwell.InputError) as caught:
            CoverageSystem(site, Uniform(), LAW, 2, radius=radius)
        assert caught.value.key == "agents.radius"
    with pytest.raises(dwell.InputError, match="grid integration"):
        CoverageSystem(SITE, Uniform(), LAW, 2, spacing=0.5, radius=(1.0, 1.0))
    switched = Timeline(
        (World(0.0, SITE, Uniform()), World(1.0, SITE, Function(lambda z: z[:, 0])))
    )
    with pytest.raises(dwell.InputError, match="only Python evaluates"):
        CoverageSystem(SITE, Uniform(), LAW, 2, radius=1.0, changes=switched)


def test_one_radius_is_that_of_all_agents():
    assert CoverageSystem(SITE, Uniform(), LAW, 2, radius=1).radius == (1.0, 1.0)

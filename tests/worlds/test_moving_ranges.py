"""Sensing radii in worlds with moving densities: which loop runs them; equal bits in both loops."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell._kernels._jit import ENABLED
from dwell.agents import CoverageSystem, table_of
from dwell.agents.world import Timeline, World
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import changing_region
from dwell.density.moving import Moving
from dwell.engine.run_loop import run_compiled
from dwell.geometry.moving import MovingPolygon
from dwell.hybrid import simulate
from dwell.motion import Circle, Keyframes

SQUARE = dwell.Box((0.0, 0.0), (4.0, 4.0))
BAY = dwell.Region([(0, 0), (4, 0), (4, 4), (2.2, 4), (2.2, 1.5), (1.8, 1.5), (1.8, 4), (0, 4)])
PATH = Keyframes((0.0, 4.0), ((1.0, 1.0), (3.0, 2.0)), after="hold")
HILL = Moving(dwell.Gaussian, center=PATH, rate=Keyframes((0.0, 6.0), (0.4, 0.6)), weight=2.0)
ROUND = Moving(dwell.Gaussian, center=Circle((2.0, 2.0), 1.0, 5.0), rate=0.5)
MIXED = dwell.Mixture((dwell.Uniform(0.1), HILL, ROUND))
WIDER = Moving(
    dwell.Gaussian,
    center=(2.0, 2.0),
    covariance=Keyframes((0.0, 4.0), (((1, 0), (0, 1)), ((2, 0), (0, 1))), after="hold"),
)
GROWING = MovingPolygon(
    Keyframes((0.0, 4.0), ([(0, 0), (4, 0), (2, 4)], [(0, 0), (5, 0), (2, 4)]), after="hold")
)
LAWS = {
    "timer": dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3),
    "lloyd": dwell.Lloyd(k2=1.0, dt=0.1),
}
RADII = {
    "small": lambda agents: np.full(agents, 0.5),
    "wide": lambda agents: np.full(agents, 1.5),
    "unequal": lambda agents: np.linspace(0.3, 1.6, agents),
}


def system_of(phases, radius, law=LAWS["timer"]):
    """A system in a world of these phases, and its start."""
    agents, changes = len(radius), Timeline(tuple(phases))
    first = changes.worlds[0].ground.at(0.0)
    system = CoverageSystem(
        first.workspace, first.density, law, agents, seed=3, changes=changes, radius=tuple(radius)
    )
    return system, system.start(np.random.default_rng(5).uniform(0.2, 3.8, (agents, 2)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", RADII)
@pytest.mark.parametrize("density", [HILL, MIXED], ids=["hill", "mixed"])
@pytest.mark.parametrize("agents", [6, 90])
def test_both_loops_give_the_same_bits(agents, density, kind, law):
    system, start = system_of([World(0.0, SQUARE, density)], RADII[kind](agents), LAWS[law])
    assert system.compiles
    until = 2.0 if agents < 10 else 0.4
    jumps = 500 if ENABLED else 20
    quick, plain = (
        table_of(run(system, start, until=until, max_jumps=jumps))
        for run in (run_compiled, simulate)
    )
    assert len(quick) >= 20
    for name, column in quick.columns().items():
        np.testing.assert_array_equal(column, plain.column(name), err_msg=name)


@pytest.mark.parametrize("site", [SQUARE, BAY], ids=["square", "bay"])
@pytest.mark.parametrize("kind", ["small", "unequal"])
def test_regions_and_switches(kind, site):
    phases = [World(0.0, site, MIXED), World(0.3, SQUARE, ROUND), World(0.6, site, dwell.Uniform())]
    system, start = system_of(phases, RADII[kind](12))
    assert system.compiles
    quick, plain = (table_of(run(system, start, until=1.0)) for run in (run_compiled, simulate))
    for name, column in quick.columns().items():
        np.testing.assert_array_equal(column, plain.column(name), err_msg=name)


@pytest.mark.parametrize("kind", ["small", "unequal"])
def test_a_sample_measures_the_density_of_its_time(kind):
    """Kernels that move a density measure what the density of that time gives."""
    radius, rng = RADII[kind](9), np.random.default_rng(1)
    ground, times = changing_region(SQUARE, MIXED), np.array([0.0, 1.7, 3.1])
    places = rng.uniform(0.2, 3.8, (3, 9, 2))
    row, agent = np.repeat(np.arange(3), 9), np.tile(np.arange(9), 3)
    found = measure_cells(ground, places, row, agent, times=times, radius=radius)
    for k, t in enumerate(times):
        which, now = row == k, np.zeros(9, dtype=np.int64)
        still = measure_cells(ground.at(t), places[k : k + 1], now, np.arange(9), radius=radius)
        np.testing.assert_array_equal(found.error[which], still.error)
        np.testing.assert_array_equal(found.mass[which], still.mass)


@pytest.mark.parametrize(
    "phase",
    [World(0.0, SQUARE, WIDER), World(0.0, GROWING, dwell.Uniform())],
    ids=["wider", "site"],
)
def test_other_motion_runs_in_the_readable_loop(phase):
    system, start = system_of([phase], RADII["unequal"](5))
    assert not system.compiles
    assert len(table_of(simulate(system, start, until=0.5))) >= 5

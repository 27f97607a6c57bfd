"""What everybody sees where a run begins and ends is looked at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dwell import Box, Gaussian, Timer
from dwell.agents import CoverageSystem
from dwell.agents import system as systems
from dwell.agents.system import MOST_KEPT
from dwell.agents.world import Timeline, World
from dwell.cells.backend import measure_cells
from dwell.density.moving import Moving
from dwell.motion import Keyframes
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario

BOX = Box((0, 0), (1, 1))
LAW = Timer(k1=0.05, nu=0.05, t1=0.1, t2=0.3)
FIELDS = ("coincident", "empty", "error", "log_scale", "mass", "polar", "neighbors", "nearest")


def system_of(agents, box=BOX):
    return CoverageSystem(box, Gaussian((0.3, 0.7), rate=5.0), LAW, agents, seed=3)


@pytest.fixture
def counted(monkeypatch):
    """How many configurations were looked at by everybody through a system."""
    calls = []

    def look(*given, **how):
        calls.append(given)
        return measure_cells(*given, **how)

    monkeypatch.setattr(systems, "measure_cells", look)
    return calls


@pytest.mark.parametrize("agents", [1, 7, 400])
def test_the_same_bits_and_no_second_look(agents, counted):
    places = np.random.default_rng(agents).uniform(0, 1, (agents, 2))
    system = system_of(agents)
    all_agents = np.arange(agents)
    plain = measure_cells(system.ground, places[None], np.zeros_like(all_agents), all_agents)
    for threads in (1, 2):
        seen = system.measure_all(places.copy(), threads=threads)
        for name in FIELDS:
            assert getattr(seen, name).tobytes() == getattr(plain, name).tobytes(), name
    assert len(counted) == 1
    with pytest.raises(ValueError, match="read-only"):
        seen.error[0] = 0.0


def test_a_zero_with_a_sign_is_another_place_and_so_is_one_changed_afterwards(counted):
    system, places = system_of(2, Box((-1, -1), (1, 1))), np.array([[0.0, 0.5], [0.5, 0.0]])
    system.measure_all(places)
    system.measure_all(np.array([[-0.0, 0.5], [0.5, 0.0]]))
    assert len(counted) == 2
    places[0] += 0.1
    system.measure_all(places)
    assert len(counted) == 3


def test_only_the_last_few_are_kept(counted):
    system = system_of(3)
    several = np.random.default_rng(0).uniform(0, 1, (MOST_KEPT + 1, 3, 2))
    for places in (*several, *several[1:], several[0]):
        system.measure_all(places)
    assert len(counted) == MOST_KEPT + 2


def test_a_run_and_its_figures_look_twice_in_all(counted):
    asked = parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0, 0], "upper": [10, 10]},
            "agents": {"start": {"count": 100}},
            "controller": {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.5, "t2": 1.0},
            "run": {"horizon": 1.0, "seed": 1, "record": {"kind": "summary"}},
        }
    )
    run_scenario(asked).summary()
    assert len(counted) == 2


@pytest.mark.parametrize("hill", ["switches", "moves"])
def test_the_same_places_at_another_time_are_another_configuration(hill):
    later, track = Gaussian((0.8, 0.2), rate=5.0), Keyframes((0.0, 4.0), ((0.3, 0.7), (0.8, 0.2)))
    first = Gaussian((0.3, 0.7), rate=5.0)
    if hill == "moves":
        phases = [World(0.0, BOX, Moving(Gaussian, center=track, rate=5.0))]
    else:
        phases = [World(0.0, BOX, first), World(2.0, BOX, later)]
    system = CoverageSystem(BOX, first, LAW, 3, seed=3, changes=Timeline(tuple(phases)))
    places = np.array([(0.2, 0.3), (0.7, 0.9), (0.6, 0.1)])
    for time in (0.0, 4.0, 1.0, 3.0, 0.0):
        share = time / 4.0 if hill == "moves" else float(time >= 2.0)
        center = (1.0 - share) * np.array([0.3, 0.7]) + share * np.array([0.8, 0.2])
        plain = CoverageSystem(BOX, Gaussian(tuple(center), rate=5.0), LAW, 3, seed=3)
        seen, known = system.measure_all(places, time), plain.measure_all(places)
        np.testing.assert_allclose(seen.mass, known.mass, rtol=1e-12)
        np.testing.assert_allclose(seen.error, known.error, atol=1e-12)


def test_it_travels_empty():
    system = system_of(1)
    system.measure_all(np.zeros((1, 2)))
    assert system._kept
    assert not pickle.loads(pickle.dumps(system))._kept

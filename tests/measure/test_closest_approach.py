"""The closest that two agents came, held against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.measure import closest_approach as approach
from dwell.measure.closest_approach import closest_approach

SITE = dwell.Box((0, 0), (4, 3))

LAWS = [
    dwell.Timer(k1=1.5, nu=0.1, t1=0.2, t2=0.9),
    dwell.SelfTriggered(),
    dwell.SelfTriggeredCentroid(),
    dwell.Lloyd(mode="ode"),
    dwell.DiscreteLloyd(schedule="random", relaxation=1.9),
]


def closest(run):
    return closest_approach(run.details.trajectory)


def crowd(agents, seed, law=LAWS[0], until=4.0):
    rng = np.random.default_rng(seed)
    start = np.column_stack([rng.uniform(0.1, 3.9, agents), rng.uniform(0.1, 2.9, agents)])
    return dwell.simulate(SITE, None, start, law, until=until, seed=seed, sample_every="off")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("seed", [1, 4])
def test_no_sample_is_closer(law, seed):
    run = crowd(9, seed, law, until=6.0)
    found = closest(run)
    places = run.positions(np.linspace(0.0, 6.0, 30_001))
    a, b = np.triu_indices(run.agents, 1)
    seen = np.sqrt(((places[:, a] - places[:, b]) ** 2).sum(axis=-1)).min()
    assert found.thorough
    assert found.distance <= seen * (1.0 + 1e-12)
    there = run.positions(found.time)
    a, b = found.agents
    assert np.hypot(*(there[a] - there[b])) == pytest.approx(found.distance, rel=1e-6, abs=1e-12)
    assert found.distance >= seen - 6.0 / 30_000 * 2 * 1.5
    assert run.summary()["separation"]["min"] == found.distance


def test_many_agents_are_sought_near_each_other_only(monkeypatch):
    run = crowd(40, seed=3)
    dense = closest(run)
    monkeypatch.setattr(approach, "DENSE", 1)
    sparse = closest(run)
    for part in ("distance", "time", "agents"):
        assert getattr(sparse, part) == getattr(dense, part)
    monkeypatch.setattr(approach, "MOST", 0)
    assert not closest(run).thorough  # that there were too many pairs is admitted


def test_one_agent_comes_close_to_nobody_and_a_run_without_time_has_its_start():
    run = dwell.simulate(SITE, None, [(1, 1)], LAWS[0], until=1.0)
    assert closest(run).distance == math.inf
    nothing = {"min": None, "time": None, "agents": None, "seen": None}
    assert run.summary()["separation"] == nothing
    still = dwell.simulate(SITE, None, [(1, 1), (1, 2)], LAWS[0], until=0.0)
    assert closest(still).distance == 1.0


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("fewest", [2, 16])
def test_few_times_find_what_many_do(law, fewest, monkeypatch):
    """Of many agents all distances are known at few times, and pairs on lines all at once."""
    run = crowd(150, seed=5, law=law, until=1.0)
    monkeypatch.setattr(approach, "MOST", 10**6)
    monkeypatch.setattr(approach, "DENSE", 200)
    dense = closest(run)
    monkeypatch.setattr(approach, "DENSE", 1)
    monkeypatch.setattr(approach, "WORK", 1)
    monkeypatch.setattr(approach, "FEWEST", fewest)
    sparse = closest(run)
    assert dense.thorough
    assert sparse.thorough
    assert sparse.distance == pytest.approx(dense.distance, rel=1e-9, abs=1e-14)
    assert sparse.agents == dense.agents


def test_pairs_that_are_too_many_are_left_out_and_that_is_said(monkeypatch):
    run = crowd(150, seed=5, until=1.0)
    whole = closest(run)
    for name, value in (("WORK", 1), ("FEWEST", 2), ("MOST_PAIRS", 100)):
        monkeypatch.setattr(approach, name, value)
    found = closest(run)
    assert whole.thorough
    assert not found.thorough
    assert found.distance >= whole.distance


def test_the_work_for_many_agents_does_not_grow_with_their_square():
    """Counted in searches of a tree, each of n log n steps: a clock would measure the machine."""
    from scipy import spatial

    count = {}
    for agents in (5_000, 40_000):
        places = np.random.default_rng(0).uniform(0.0, 1.0, (agents, 2))
        law = dwell.Timer(k1=0.3, nu=0.1, t1=1.0, t2=2.0)
        run = dwell.simulate(
            dwell.Box((0, 0), (1, 1)), None, places, law, until=0.2, sample_every="off"
        )
        search = approach._PairSearch(run.details.trajectory, np.arange(agents), 0.0, 0.2)
        count[agents] = len(search.times) * agents
        nearest = spatial.cKDTree(places).query(places, k=2)[0][:, 1].min()
        assert 0.0 <= closest(run).distance <= nearest
    assert count[40_000] <= 1.1 * count[5_000]

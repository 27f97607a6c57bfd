"""The closest that two agents came, held against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.measure import closest_approach as approach
from dwell.measure.closest_approach import closest_approach
from dwell.measure.metrics import Paths

SITE = dwell.Box((0, 0), (4, 3))

LAWS = [
    dwell.Timer(k1=1.5, nu=0.1, t1=0.2, t2=0.9),
    dwell.SelfTriggered(),
    dwell.SelfTriggeredCentroid(),
    dwell.Lloyd(mode="ode"),
    dwell.DiscreteLloyd(schedule="random", relaxation=1.9),
]


def closest(run):
    return closest_approach(Paths(run.start, run.events), run.horizon)


def brute(run, times):
    """The smallest distance at some times, and when."""
    places = run.positions(times)
    a, b = np.triu_indices(run.agents, 1)
    gaps = np.sqrt(((places[:, a] - places[:, b]) ** 2).sum(axis=-1)).min(axis=1)
    return float(gaps.min()), float(times[int(np.argmin(gaps))])


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("seed", [1, 4])
def test_no_sample_is_closer(law, seed):
    rng = np.random.default_rng(seed)
    start = np.column_stack([rng.uniform(0.2, 3.8, 9), rng.uniform(0.2, 2.8, 9)])
    run = dwell.simulate(SITE, None, start, law, until=6.0, seed=seed, sample_every=0.5)
    found = closest(run)
    seen, _ = brute(run, np.linspace(0.0, 6.0, 30_001))
    assert found.thorough
    assert found.distance <= seen * (1.0 + 1e-12)
    there = run.positions(found.time)
    a, b = found.agents
    assert np.hypot(*(there[a] - there[b])) == pytest.approx(found.distance, rel=1e-6, abs=1e-12)
    assert found.distance >= seen - 6.0 / 30_000 * 2 * 1.5
    assert run.summary()["separation"]["min"] == found.distance


def test_many_agents_are_sought_near_each_other_only(monkeypatch):
    rng = np.random.default_rng(3)
    start = np.column_stack([rng.uniform(0.1, 3.9, 40), rng.uniform(0.1, 2.9, 40)])
    run = dwell.simulate(SITE, None, start, LAWS[0], until=4.0, seed=3, sample_every="off")
    dense = closest(run)
    monkeypatch.setattr(approach, "DENSE", 1)
    sparse = closest(run)
    assert (sparse.distance, sparse.time, sparse.agents) == (
        dense.distance, dense.time, dense.agents,
    )  # fmt: skip


def test_one_agent_comes_close_to_nobody():
    run = dwell.simulate(SITE, None, [(1, 1)], LAWS[0], until=1.0)
    assert closest(run).distance == math.inf
    nothing = {"min": None, "time": None, "agents": None, "seen": None}
    assert run.summary()["separation"] == nothing


def test_a_run_without_time_has_its_start():
    run = dwell.simulate(SITE, None, [(1, 1), (1, 2)], LAWS[0], until=0.0)
    assert closest(run).distance == 1.0


def test_too_many_pairs_are_admitted(monkeypatch):
    monkeypatch.setattr(approach, "MOST", 0)
    rng = np.random.default_rng(3)
    start = np.column_stack([rng.uniform(0.1, 3.9, 20), rng.uniform(0.1, 2.9, 20)])
    run = dwell.simulate(SITE, None, start, LAWS[0], until=4.0, seed=3, sample_every="off")
    assert not closest(run).thorough

"""The same system in every dimension: runs, contact, files, going on after a stop."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, DiscreteLloyd, Ellipsoid, Gaussian, Interval, Lloyd, Polytope, Timer
from dwell.agents import scatter
from dwell.errors import AgentsError
from dwell.hybrid import simulate as readable

TIMER = Timer(k1=0.5, nu=0.2, t1=0.1, t2=0.3)
WORLDS = {
    "interval": (Interval(0, 10), Gaussian((6,), rate=0.1), [[0.5], [1.0], [1.6], [9.0]]),
    "box-1": (Box((0,), (2,)), None, [[0.1], [0.4], [0.5]]),
    "box-3": (Box((0, 0, 0), (2, 1, 1)), None, [(0.2, 0.2, 0.2), (0.4, 0.3, 0.1), (0.1, 0.9, 0.9)]),
    "simplex": (
        Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        Gaussian((0.1, 0.1, 0.1), rate=1.0),
        [(0.1, 0.2, 0.1), (0.5, 0.1, 0.1), (0.1, 0.1, 0.6)],
    ),
    "disc": (Ball((0, 0), 2), Gaussian((1, 0), rate=0.5), [(-1, 0), (0, 0.5), (0.2, -1)]),
    "ellipse": (Ellipsoid((0, 0), (2, 1)), None, [(-1, 0), (0, 0.5), (0.2, -0.4)]),
}  # fmt: skip


@pytest.fixture(scope="module", params=WORLDS)
def run(request):
    site, weight, start = WORLDS[request.param]
    return dwell.simulate(site, weight, start, TIMER, until=12.0, seed=3)


def test_the_agents_share_out_the_workspace(run):
    assert run.positions(12.0).shape == run.start.positions.shape
    assert run.errors(12.0).max() < 0.05
    assert run.cost(12.0) < run.cost(0.0)
    assert run.reached_at is not None
    assert (run.workspace.outside_by(run.events.positions) <= 1e-12).all()


def test_it_is_a_solution(run):
    report = dwell.check(run)
    assert report.ok, [f for f in report.findings if f.status == "violated"]
    by_hand = next(f for f in report.findings if f.name == "by-hand")
    assert by_hand.status == "holds"
    assert int(by_hand.says.split()[0]) >= 20


def test_a_run_comes_back_from_its_file(run, tmp_path):
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    for name, column in run.events.columns().items():
        assert np.array_equal(getattr(again.events, name), column)
    assert dwell.check(again).ok
    assert again.summary()["dimension"] == run.workspace.dimension


def test_a_stopped_run_goes_on_to_the_same_bits(run):
    whole = run.arc
    first = readable(run.system, run.start, until=5.0)
    rest = readable(run.system, first.states[-1], until=12.0)
    assert first.jumps + rest.jumps == whole.jumps
    assert np.array_equal(rest.states[-1].segments.place, whole.states[-1].segments.place)


@pytest.mark.parametrize("law", [Lloyd(), Lloyd(mode="ode"), DiscreteLloyd()], ids=repr)
@pytest.mark.parametrize("world", ["interval", "box-3", "disc"])
def test_other_laws(world, law):
    site, weight, start = WORLDS[world]
    run = dwell.simulate(site, weight, start, law, until=4.0, seed=1, sample_every=1.0)
    assert run.cost(4.0) < run.cost(0.0)
    assert dwell.check(run).ok


@pytest.mark.parametrize(
    "site", [Interval(-1, 3), Box((0,) * 3, (1, 2, 3)), Ball((1, 1, 1), 2), Box((0,) * 5, (1,) * 5)]
)
def test_scattered_starts_lie_inside_and_depend_on_their_own_number(site):
    places = scatter(site, 20, seed=4)
    assert places.shape == (20, site.dimension)
    assert site.contains(places).all()
    assert np.array_equal(scatter(site, 7, seed=4), places[:7])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 31])
def test_places_are_spread_evenly_over_balls_of_any_dimension(n):
    """In a ball |z|**n is even over [0, 1], and each z_i**2 has the mean 1 / (n + 2)."""
    count = 4000
    places = scatter(Ball([3.0] * n, 2.0), count, seed=1)
    assert np.array_equal(scatter(Ball([3.0] * n, 2.0), 5, seed=1), places[:5])
    unit = (places - 3.0) / 2.0
    shares = np.sort(np.sqrt((unit**2).sum(axis=1)) ** n)
    assert np.abs(shares - (np.arange(count) + 0.5) / count).max() < 1.95 / np.sqrt(count)
    assert np.abs(unit.mean(axis=0)).max() < 5.0 * np.sqrt(1.0 / (n + 2) / count)
    spread = unit.T @ unit / count
    assert np.abs(spread * (n + 2) - np.eye(n)).max() < 5.0 * np.sqrt(2.0 / count)
    fourth = (unit**4).mean(axis=0) * (n + 2) * (n + 4) / 3.0
    assert np.abs(fourth - 1.0).max() < 5.0 * np.sqrt(32.0 / 3.0 / count)


def test_places_in_an_ellipsoid_follow_its_axes():
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0]
    sizes = 10.0 ** -np.arange(9.0)
    places = scatter(Ellipsoid([1.0] * 9, sizes, turned), 2000, seed=2)
    unit = (places - 1.0) @ turned.T / sizes
    assert (unit**2).sum(axis=1).max() < 1.0 + 1e-6
    assert (unit**2).mean(axis=0) * 11.0 == pytest.approx(np.ones(9), abs=0.2)


def test_where_no_place_is_found_the_sentence_says_what_was_tried(monkeypatch):
    monkeypatch.setattr("dwell.agents.start.MAX_TRIES", 1_000)
    thin = Polytope(np.vstack([np.zeros(11), np.eye(11)]))
    with pytest.raises(AgentsError, match="bounding box of the Polytope in 11") as refused:
        scatter(thin, 1, seed=0)
    assert "choose" not in str(refused.value)
    with pytest.raises(AgentsError, match="drawn from the region") as refused:
        scatter(Ball([0] * 20, 1), 1, seed=0, region=Box([-1] * 20, [1] * 20))
    assert refused.value.key == "agents.start.region"

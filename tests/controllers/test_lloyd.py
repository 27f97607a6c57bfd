"""Lloyd's laws against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem, Network
from dwell.controllers import DiscreteLloyd, Lloyd
from dwell.density import Uniform
from dwell.errors import ControllerError
from dwell.geometry import Box
from dwell.geometry.voronoi import coincident
from tests.controllers.worlds import BOX, HILL, START

STRIP = Box((0.0, 0.0), (1.0, 1e-3))
PAIR = np.array([(0.1, 5e-4), (0.4, 5e-4)])


@pytest.mark.parametrize("k2", [0.5, 1.0, 2.0])
def test_one_agent_decays_exponentially(k2):
    box = Box((0.0, 0.0), (2.0, 1.0))
    law = Lloyd(k2=k2, mode="ode", tolerance=1e-11)
    run = dwell.simulate(box, Uniform(), [(0.2, 0.1)], law, until=5.0)
    for t in (0.3, 1.0, 3.7):
        expected = np.array([1.0, 0.5]) - np.array([0.8, 0.4]) * math.exp(-k2 * t)
        assert run.positions(t)[0] == pytest.approx(expected, abs=1e-9)


def test_sampled_lloyd_is_eulers_method():
    box = Box((0.0, 0.0), (2.0, 1.0))
    run = dwell.simulate(box, Uniform(), [(0.2, 0.1)], Lloyd(dt=0.1), until=1.0)
    assert run.positions(1.0)[0] == pytest.approx(
        np.array([1.0, 0.5]) - np.array([0.8, 0.4]) * 0.9**10, rel=1e-14
    )


@pytest.mark.parametrize("mode", ["ode", "sampled"])
def test_a_largest_speed_saturates_the_velocity(mode):
    """At constant speed up to the distance speed / k2 from the centroid, then exponentially."""
    box, k2, speed = Box((0.0, 0.0), (2.0, 2.0)), 2.0, 0.25
    law = Lloyd(k2, mode, speed=speed, **({"tolerance": 1e-11} if mode == "ode" else {"dt": 1e-3}))
    run = dwell.simulate(box, Uniform(), [(0.5, 1.0)], law, until=4.0)
    since = (0.5 - speed / k2) / speed
    for t in (0.0, 0.7, since, 2.5, 4.0):
        late = max(0.0, t - since)
        left = 0.5 - speed * t if late == 0.0 else speed / k2 * math.exp(-k2 * late)
        assert 1.0 - run.positions(t)[0, 0] == pytest.approx(
            left, abs=1e-9 if mode == "ode" else 2e-4
        )
    assert run.summary()["top_speed"] == pytest.approx(
        speed, rel=1e-9 if mode == "sampled" else 1e-3
    )
    assert dwell.check(run).ok


def test_a_largest_speed_that_is_never_reached_changes_nothing():
    limited = dwell.simulate(BOX, HILL, START, Lloyd(dt=0.1, speed=2.0**20), until=2.0)
    free = dwell.simulate(BOX, HILL, START, Lloyd(dt=0.1), until=2.0)
    assert np.array_equal(limited.events.positions, free.events.positions)


def test_after_a_lost_look_the_largest_speed_holds():
    lossy = Network(loss=0.5)
    run = dwell.simulate(BOX, HILL, START, Lloyd(dt=0.3, speed=0.2), until=5.0, network=lossy)
    assert np.linalg.norm(run.events.holds, axis=1).max() <= 0.2 * (1 + 1e-12)
    assert dwell.check(run).ok


def test_two_agents_on_a_line_have_the_known_rates():
    """Their sum goes to 1 at the rate k/2, their difference to 1/2 at the rate k."""
    law = Lloyd(mode="ode", tolerance=1e-11)
    run = dwell.simulate(STRIP, Uniform(), PAIR, law, until=4.0)
    for t in (0.5, 1.5, 4.0):
        x = run.positions(t)[:, 0]
        assert x.sum() == pytest.approx(1.0 - 0.5 * math.exp(-0.5 * t), abs=1e-9)
        assert x[1] - x[0] == pytest.approx(0.5 - 0.2 * math.exp(-t), abs=1e-9)


def test_euler_converges_to_the_equation_at_first_order():
    exact = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode"), until=2.0).positions(2.0)
    gaps = []
    for dt in (0.1, 0.05, 0.025):
        gaps.append(
            np.abs(dwell.simulate(BOX, HILL, START, Lloyd(dt=dt), until=2.0).positions(2.0) - exact)
            .max()
        )  # fmt: skip
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.15)
    assert gaps[1] / gaps[2] == pytest.approx(2.0, rel=0.15)


def test_a_tighter_tolerance_is_tighter():
    best = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode", tolerance=1e-12), until=3.0)
    times = np.linspace(0.0, 3.0, 50)
    gaps = []
    for tolerance in (1e-5, 1e-7, 1e-9):
        run = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode", tolerance=tolerance), until=3.0)
        gaps.append(np.abs(run.positions(times) - best.positions(times)).max())
        assert gaps[-1] <= 10.0 * tolerance * BOX.diameter
    assert gaps[0] > gaps[1] > gaps[2]


def test_a_timer_law_with_reach_k1_t_is_discrete_lloyd():
    timer = dwell.Timer(k1=10.0, nu=5.0, epsilon=1e-15, t1=0.5, t2=0.5, reset="latest")
    one = dwell.simulate(BOX, HILL, START, timer, until=3.0).positions(3.0)
    two = dwell.simulate(BOX, HILL, START, DiscreteLloyd(step=0.5), until=3.0).positions(3.0)
    assert one == pytest.approx(two, abs=1e-12)


def test_moves_end_at_the_centroid():
    cells = dwell.tessellate(BOX, START, HILL)
    run = dwell.simulate(BOX, HILL, START, DiscreteLloyd(step=0.7), until=0.7)
    assert run.positions(0.7) == pytest.approx(cells.centroids, abs=1e-14)


@pytest.mark.parametrize("relaxation", [0.3, 1.0, 1.7])
def test_relaxed_and_slow_moves(relaxation):
    cells = dwell.tessellate(BOX, START, HILL)
    law = DiscreteLloyd(step=0.5, relaxation=relaxation, speed=0.4)
    run = dwell.simulate(BOX, HILL, START, law, until=0.5)
    wanted = relaxation * cells.errors
    length = np.hypot(*wanted.T)[:, None]
    assert run.positions(0.5) == pytest.approx(
        START + wanted * np.minimum(1.0, 0.2 / length), abs=1e-14
    )


def test_round_robin_goes_round():
    law = DiscreteLloyd(step=0.25, schedule="round-robin")
    run = dwell.simulate(BOX, HILL, START, law, until=4.0)
    first = run.events.agent[:12].tolist()
    assert first == [1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0]
    assert np.array_equal(run.events.time[:6], 0.25 * np.arange(1, 7))
    speeds = np.hypot(*np.moveaxis(run.holds(np.arange(0.1, 4.0, 0.25)), -1, 0))
    assert ((speeds > 0).sum(axis=1) <= 1).all()


def test_random_turns_are_fair_and_one_at_a_time():
    law = DiscreteLloyd(step=0.01, schedule="random")
    run = dwell.simulate(BOX, HILL, START, law, until=30.0, seed=3, sample_every="off")
    assert len(np.unique(run.events.time)) == len(run.events)
    turns = np.bincount(run.events.agent, minlength=6)
    assert turns.sum() == 3000
    assert (np.abs(turns - 500) < 5 * math.sqrt(3000 * 5 / 36)).all()


def test_poisson_clocks_have_their_rate():
    law = DiscreteLloyd(step=0.5, schedule="poisson", rate=4.0)
    run = dwell.simulate(BOX, HILL, START, law, until=200.0, seed=3, sample_every="off")
    waits = np.diff(run.events.time[run.events.of_agent(2)])
    assert waits.mean() == pytest.approx(0.25, rel=0.12)
    assert waits.std() == pytest.approx(0.25, rel=0.15)


@pytest.mark.parametrize(("dt", "until"), [(0.01, 20.0), (0.01, 150.0), (0.1, 3.0), (0.3, 2.7)])
def test_looks_come_at_exact_multiples(dt, until):
    box, start = Box((0.0, 0.0), (2.0, 1.0)), [(0.2, 0.1), (1.0, 0.5)]
    for law in (Lloyd(dt=dt), DiscreteLloyd(step=dt)):
        run = dwell.simulate(box, None, start, law, until=until, sample_every="off")
        times = run.events.time[run.events.of_agent(1)]
        steps = round(until / dt)
        assert times.tolist() == [k * dt for k in range(1, steps + 1) if k * dt <= until]
        assert len(times) in (steps - 1, steps)
    assert 2000 * 0.01 == 20.0
    assert 15_000 * 0.01 == 150.0


def test_the_equation_has_no_solution_on_a_grid():
    with pytest.raises(dwell.InputError, match="centroids jump"):
        dwell.simulate(BOX, HILL, START, Lloyd(mode="ode"), until=1.0, spacing=0.25)


def test_the_equation_counts_every_cell_that_its_solver_needs(monkeypatch):
    """Knots are where the solution is kept; on the way to each the solver looks several times."""
    looked = []
    real = CoverageSystem.measurements

    def counting(self, positions, **options):
        looked.append(len(positions))
        return real(self, positions, **options)

    monkeypatch.setattr("dwell.agents.continuous._tabulated", _quietly(monkeypatch, real, counting))
    run = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode"), until=3.0, sample_every="off")
    evaluations = len(looked) - 1  # one more for the state at the beginning, which is the first
    assert (run.counters.voronoi == evaluations).all()
    assert evaluations > 2 * run.counters.measurements[0]
    assert (run.counters.received > run.counters.voronoi).all()
    assert dwell.check(run).ok


def _quietly(monkeypatch, real, counting):
    """Count looks while solving, not while the table is put together."""
    from dwell.agents import continuous

    tabulated = continuous._tabulated
    monkeypatch.setattr(CoverageSystem, "measurements", counting)

    def quiet(*given):
        monkeypatch.setattr(CoverageSystem, "measurements", real)
        return tabulated(*given)

    return quiet


def test_an_equation_too_stiff_to_solve_is_refused():
    with pytest.raises(ControllerError, match="gain of Lloyd is 1e\\+30") as caught:
        dwell.simulate(BOX, HILL, START, Lloyd(mode="ode", k2=1e30), until=1.0)
    assert caught.value.code == caught.value.key == "controller.k2"


def test_a_contact_keeps_what_was_solved_before_it(monkeypatch):
    real, calls = CoverageSystem.measurements, []

    def meeting(self, positions, **options):
        calls.append(positions)
        if len(calls) == 200:
            raise coincident(1, 3, positions[1])
        return real(self, positions, **options)

    monkeypatch.setattr(CoverageSystem, "measurements", meeting)
    run = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode"), until=10.0, sample_every="off")
    assert run.stop.reason.value == "coincident"
    assert "agents 1 and 3" in run.stop.detail
    assert 0.1 < run.horizon < 10.0
    assert run.horizon == run.events.time[-1]
    whole = dwell.simulate(BOX, HILL, START, Lloyd(mode="ode"), until=10.0, sample_every="off")
    assert run.positions(0.9 * run.horizon) == pytest.approx(
        whole.positions(0.9 * run.horizon), abs=1e-8
    )


@pytest.mark.parametrize("law", [Lloyd(k2=10.0, dt=0.1), Lloyd(k2=15.0, dt=0.1)])
def test_without_looks_it_stops_at_the_last_centroid_it_saw(law):
    box, start = Box((0.0, 0.0), (2.0, 1.0)), [(0.2, 0.1)]
    run = dwell.simulate(box, None, start, law, until=5.0, seed=3, network=Network(loss=0.9))
    assert (run.events.count("looked") == 0).sum() > 30
    late = run.events.time > 0.5
    assert run.events.positions[late] == pytest.approx(
        np.tile([1.0, 0.5], (late.sum(), 1)), abs=1e-2
    )


def test_without_looks_the_timer_law_stops_at_the_last_centroid_it_saw():
    box, start = Box((0.0, 0.0), (2.0, 1.0)), [(0.2, 0.5)]
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.3, t2=0.3)  # would run past it: k1 t2 > nu
    run = dwell.simulate(box, None, start, law, until=30.0, seed=3, network=Network(loss=0.9))
    missed = np.flatnonzero(run.events.count("looked") == 0)
    again = missed[np.isin(missed - 1, missed)]  # after two lost looks in a row
    assert len(again) > 20
    late = again[run.events.time[again] > 3.0]
    assert run.events.positions[late, 0] == pytest.approx(np.ones(len(late)), abs=1e-12)
    assert dwell.check(run).ok

"""Cells that are easy to get wrong: agents outside, nearly singular Gaussians."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, Gaussian, Timer, Uniform, moments, simulate, tessellate
from dwell.agents import table_of
from dwell.engine import run_compiled
from dwell.measure import measure
from dwell.verify import verify
from tests.oracles import mp_moments

UNIT = Box((0.0, 0.0), (1.0, 1.0))
CORNERS = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize("away", [1.5, 10.0, 20.0, 25.0, 300.0])
@pytest.mark.parametrize("rate", [0.03, 1.0, 3.0])
def test_an_agent_far_outside_still_gets_the_whole_box(away, rate):
    """Alone outside, with the peak where it stands: its triangles would count with both signs."""
    exact = mp_moments.moments(CORNERS, mp_moments.Gaussian.isotropic((away, 0.5), rate))

    found = tessellate(UNIT, [(away, 0.5)], Gaussian((away, 0.5), rate))

    assert found.log_masses[0] == pytest.approx(float(exact.log_mass), rel=1e-11, abs=1e-12)
    assert mp_moments.distance(found.centroids[0].tolist(), exact.centroid) < 1e-12 * away
    assert found.second_moments[0] >= 0.0


def test_overshooting_agents_are_always_sent_back_inside():
    law = Timer(k1=8.0, nu=0.3, t1=0.1, t2=0.3)
    start = [(0.1, 0.1), (0.8, 0.2), (0.3, 0.9)]
    run = simulate(UNIT, Gaussian((6.0, 0.5), rate=3.0), start, law, until=20.0, seed=3)
    targets = run.events.positions + run.events.errors
    assert UNIT.outside_by(targets).max() < 1e-9
    assert {"overshoot", "outside"} <= {flag.code for flag in run.flags}


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_run_beside_a_near_pair_stays_in_its_corridor(width):
    site = Box((0.0, 0.0), (1.0, width))
    for x in (0.1445, 0.3, 0.55):
        start = width * np.array([[0.0, 0.45], [0.0, 0.45], [0.0, 0.1], [0.0, 0.96]])
        start[:, 0] = [x, np.nextafter(x, 1.0), 0.988, 0.0807]
        law = Timer(k1=1.0, nu=0.2, t1=0.05, t2=0.15)
        run = simulate(site, None, start, law, until=2.0, sample_every=0.5)
        targets = run.events.positions + run.events.errors
        assert site.outside_by(targets).max() <= 1e-12 * width
        assert site.outside_by(run.events.positions).max() <= 1e-12 * width


@pytest.mark.parametrize("correlation", [0.9, 0.999, 0.9999, 0.999999])
def test_nearly_singular_covariances_keep_their_digits(correlation):
    covariance = ((2.0, correlation * 2.0), (correlation * 2.0, 2.0))
    exact = mp_moments.moments(CORNERS, mp_moments.Gaussian.from_covariance((0.3, 0.4), covariance))
    found = moments(CORNERS, Gaussian((0.3, 0.4), covariance=covariance))
    assert mp_moments.relative_error(found.mass, exact.mass) < 1e-12


def test_measuring_a_resumed_run():
    law = Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)
    start = np.array([(0.2, 0.3), (0.7, 0.6), (0.4, 0.9)])
    whole = simulate(UNIT, Uniform(), start, law, until=4.0, seed=5)
    middle = whole.arc.at(1.7)
    rest = table_of(run_compiled(whole.system, middle, until=4.0))
    again = measure(whole.system, middle, rest, np.array([2.0, 3.5]))
    assert (again.costs == whole.cost(np.array([2.0, 3.5]))).all()
    report = verify(whole.system, middle, rest, 4.0)
    bad = {f.name for f in report.findings if f.status == "violated"}
    assert bad <= {"start-hold", "start-timer", "start-interval"}  # it did not start there


def test_coverage_is_not_claimed_without_a_measurement():
    """No samples, no event before the end: the start itself must be measured."""
    law = Timer(k1=0.1, nu=0.01, t1=5.0, t2=5.0)
    run = simulate(UNIT, None, [(0.1, 0.1), (0.9, 0.2)], law, until=1.0, sample_every="off")
    assert run.reached_at is None
    settled = simulate(UNIT, None, [(0.5, 0.5)], law, until=1.0, sample_every="off")
    assert settled.reached_at == 0.0


@pytest.mark.parametrize("every", ["off", 0.05])
def test_coverage_with_and_without_samples_is_the_same(every):
    law = Timer(k1=0.3, nu=0.05, t1=0.1, t2=0.3)
    start = [(0.1, 0.1), (0.2, 0.15), (0.15, 0.3)]
    run = simulate(UNIT, None, start, law, until=30.0, sample_every=every)
    fine = np.linspace(0.0, 30.0, 20001)
    late = fine[run.errors(fine).max(axis=1) > 0.05]
    assert run.reached_at == pytest.approx(float(late[-1]), abs=3e-3)

"""Findings and flags at the edge of their definition: limits, constants and spreads of 0."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Gaussian, Timer
from dwell.agents import CoverageSystem
from dwell.theory.design import setting_of
from dwell.verify import guarantees, reference_trigger, solution
from dwell.verify.finding import HOLDS, NOT_APPLICABLE, VIOLATED, if_guaranteed, spread, worst_of
from dwell.verify.quasi_monte_carlo import TOO_FAR, Counting
from dwell.verify.recorded import THOROUGH
from dwell.verify.run_certificate import _measured_lipschitz, held_against

SQUARE, CUBE, HYPERCUBE = Box((0, 0), (1, 1)), Box((0, 0, 0), (4, 3, 2)), Box([0] * 4, [1] * 4)
PAIR = [[0.3, 0.4, 0.5, 0.5], [0.6, 0.6, 0.5, 0.4]]


@pytest.mark.parametrize(
    ("values", "limit", "strict", "status", "worst"),
    [
        ([], 1.0, False, HOLDS, 0.0),
        ([0.2, 0.5, 0.1], 1.0, False, HOLDS, 0.5),
        ([-3.0, -1.0], 0.0, False, HOLDS, 0.0),
        ([1.0], 1.0, False, HOLDS, 1.0),
        ([1.0], 1.0, True, VIOLATED, 1.0),
        ([0.5, np.nextafter(1.0, 2.0)], 1.0, False, VIOLATED, 1.0 + 2.0**-52),
        ([0.5, math.inf], 1.0, False, VIOLATED, math.inf),
    ],
)
def test_the_worst_value_decides(values, limit, strict, status, worst):
    found = worst_of("name", "says", np.array(values), limit, str, strict)
    assert (found.status, found.worst, found.limit) == (status, worst, limit)
    assert found.where == (str(len(values) - 1) if status == VIOLATED else "")


def test_nan_is_a_violation():
    found = worst_of("name", "says", np.array([7.0, math.nan, 0.0]), 10.0, str)
    assert (found.status, found.where) == (VIOLATED, "1")
    assert if_guaranteed(found).status == NOT_APPLICABLE
    assert if_guaranteed(worst_of("name", "says", np.zeros(1), 1.0, str)).status == HOLDS


@pytest.mark.parametrize(
    ("count", "most"), [(0, 5), (1, 1), (5, 5), (6, 5), (1000, 7), (1001, 50), (9, None)]
)
def test_spread_includes_both_ends(count, most):
    rows = spread(count, most)
    assert len(rows) == (count if most is None else min(count, most))
    assert (np.diff(rows) > 0).all()
    assert not count or (rows[0], rows[-1]) == (0, count - 1) or most == 1
    assert np.diff(rows).max(initial=0) <= (1 if most is None else -(-count // max(1, most - 1)))


@pytest.mark.parametrize("lipschitz", [0.0, 1e-300, 5.0])
def test_one_agent_alone_meets_every_lipschitz_constant(lipschitz: float) -> None:
    """Its cell is the workspace, whose centroid is constant."""
    law = Timer(k1=0.5, nu=0.4, t1=0.02, t2=0.05)
    run = dwell.simulate(SQUARE, None, [(0.2, 0.3)], law, until=0.2, seed=1)
    setting = setting_of(run.system, 0.3, lipschitz)
    one = _measured_lipschitz(run.details.recorded, setting, THOROUGH, None)
    assert (one.status, one.worst, one.per_agent) == ("holds", 0.0, (0.0,))


@pytest.mark.parametrize("axis", [0, 1])
def test_an_axis_along_which_all_points_agree_decides_nothing(axis: int) -> None:
    """All points lie on a line through the centroid: their spread across the line is 0."""
    positions = np.array([(0.5, 0.5)])
    counting = Counting(SQUARE, dwell.Uniform())
    counting.places[:, axis] = 0.5
    right = counting.compare(positions, 0, np.zeros(2), 0.0)
    assert right is not None
    assert right.apart < 0.6 * TOO_FAR
    along = np.zeros(2)
    along[1 - axis] = 2.0 * right.sharp
    wrong = counting.compare(positions, 0, along, 0.0)
    assert wrong is not None
    assert wrong.apart > TOO_FAR


@pytest.mark.parametrize(("n", "sphere"), [(1, 2.0), (2, 2.0 * np.pi), (3, 4.0 * np.pi)])
def test_the_rays_of_the_plain_trigger_make_up_the_unit_sphere(n: int, sphere: float) -> None:
    """Their angles sum to its measure, their directions to 0, and a ball has its volume."""
    rays, angles = reference_trigger._rays(n)
    assert np.linalg.norm(rays, axis=1) == pytest.approx(np.ones(len(rays)))
    assert angles.sum() == pytest.approx(sphere)
    assert angles @ rays == pytest.approx(np.zeros(n), abs=1e-12)
    here, ends = np.arange(1.0, n + 1.0), np.full(len(rays), 2.0)
    mass, centroid = reference_trigger._weighed(dwell.Uniform(), here, rays, angles, ends)
    assert mass == pytest.approx(sphere * 2.0**n / n)
    assert centroid == pytest.approx(np.zeros(n), abs=1e-12)


@pytest.mark.parametrize(("nu", "status"), [(1e-3, "not applicable"), (20.0, "holds")])
def test_the_cost_after_leaving_u_is_judged_if_some_agent_left_it(nu: float, status: str) -> None:
    law = Timer(k1=0.5, nu=nu, t1=0.02, t2=0.05)
    site, start = dwell.Box((0, 0), (10, 10)), [(0.1, 0.1), (0.1, 9.9)]
    run = dwell.simulate(site, None, start, law, until=0.3, seed=1, sample_every=0.05)
    assumed = {"eta_max": 0.3, "lipschitz": 5.0}
    found = {f.name: f for f in held_against(run.details.recorded, assumed)}
    after = found["cost-after-u"]
    assert after.status == status
    assert (after.where == "no agent left U") is (status == "not applicable")


def test_a_law_without_messages_has_sent_none_in_any_row() -> None:
    law = Timer(k1=0.5, nu=0.2, t1=0.05, t2=0.1)
    run = dwell.simulate(SQUARE, None, [(0.1, 0.1), (0.9, 0.5)], law, until=1.0, seed=1)
    silent = np.full(len(run.events), -1.0)
    assert not solution._uncounted(run.system, replace(run.events, promise=silent)).any()
    for row in (0, 3, len(silent) - 1):
        answer = silent.copy()
        answer[row] = 0.5
        wrong = solution._uncounted(run.system, replace(run.events, promise=answer))
        assert np.flatnonzero(wrong).tolist() == [row]


@pytest.mark.parametrize(
    ("n", "limit"),
    [
        (1, 3e-5),
        (2, 3e-5),
        (3, 1e-3),
    ],
)
@pytest.mark.parametrize(("share", "status"), [(0.999, "holds"), (1.001, "violated")])
def test_decisions_of_the_trigger_have_a_limit_that_depends_on_the_dimension(
    monkeypatch: pytest.MonkeyPatch, n: int, limit: float, share: float, status: str
) -> None:
    """It is relative to the diameter; the plain code has fewer rays in space."""
    site = SimpleNamespace(diameter=7.0)
    monkeypatch.setattr(guarantees, "_misjudged", lambda *_: share * limit * site.diameter)
    system = SimpleNamespace(dimension=n, workspace=site)
    run: Any = SimpleNamespace(system=system, table=range(5))
    found = guarantees.trigger_by_hand(run, cast("Any", None), 3)
    assert (found.status, found.limit) == (status, pytest.approx(7.0 * limit))
    assert found.says.startswith("3 of 5 decisions")


@pytest.mark.parametrize(
    ("site", "start", "weight", "answer"),
    [
        (HYPERCUBE, PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (HYPERCUBE, PAIR, None, False),
        (Ball([0.5] * 4, 0.6), PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (CUBE, [(1, 1, 1), (3, 2, 1)], Gaussian((3, 2, 1), rate=0.3), False),
        (SQUARE, [(0.2, 0.3), (0.6, 0.5)], Gaussian((0.5, 0.5), 9.0), False),
    ],
    ids=["hill", "uniform", "rays", "space", "plane"],
)
def test_a_run_tells_how_well_cells_could_be_weighed(site, start, weight, answer):
    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    run = dwell.simulate(site, weight, start, law, until=0.3, seed=1, sample_every="off")
    says = [flag.says for flag in run.flags if flag.code == "quadrature"]
    assert len(says) == answer
    pattern = r"Masses of cells, and so centroids, are only known to \S+ of themselves\."
    assert all(re.fullmatch(pattern, text) for text in says)


@pytest.mark.parametrize("site", [Ball((3.0,), 3.0), dwell.Ellipsoid((3.0,), (3.0,))])
def test_centroids_of_a_ball_on_the_line_are_recomputed(site: Ball) -> None:
    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    run = dwell.simulate(site, None, [1.0, 2.0], law, until=2.0, seed=1)
    found = {one.name: one.status for one in dwell.check(run).findings}
    assert found["by-hand"] == "holds"


def test_sensing_radii_are_those_of_an_interval_in_a_ball_on_the_line() -> None:
    starts = [1.0, 2.0]
    ball, line = (
        dwell.tessellate(site, starts, radius=0.4)
        for site in (Ball((3.0,), 3.0), dwell.Interval(0.0, 6.0))
    )
    assert ball.masses.tolist() == line.masses.tolist()


def test_planar_runs_are_not_weighed_again_for_their_flags(monkeypatch):
    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    start = [(0.2, 0.3), (0.6, 0.5)]
    run = dwell.simulate(SQUARE, None, start, law, until=0.3, seed=1)
    monkeypatch.setattr(CoverageSystem, "measure", None)
    assert "quadrature" not in {flag.code for flag in run.flags}

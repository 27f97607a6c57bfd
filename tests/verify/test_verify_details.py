"""Parts of the verification by themselves: sizes, frames, numbers of findings, flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell._kernels.common.status import CEILING, FLOOR
from dwell.agents import Trajectory
from dwell.geometry import Ball, Box, Ellipsoid
from dwell.verify.finding import NOT_APPLICABLE, not_applicable
from dwell.verify.guarantees import _misjudged, follow_centroids
from dwell.verify.reference_trigger import _rays, _UncertainCell, _unit, wider

TILTED = Ellipsoid((1.0, 2.0), (3.0, 0.5), ((0.8, 0.6), (-0.6, 0.8)))


def test_what_does_not_apply_has_no_size() -> None:
    found = not_applicable("cost", "the cost falls", "nothing moved")
    assert (found.status, found.worst, found.limit) == (NOT_APPLICABLE, 0.0, 0.0)


def test_the_boundary_of_an_ellipse_is_the_unit_circle_in_its_frame() -> None:
    turn = np.linspace(0.0, 6.0, 13)
    local = np.column_stack([3.0 * np.cos(turn), 0.5 * np.sin(turn)])
    there = local @ np.array([(0.8, 0.6), (-0.6, 0.8)])
    assert TILTED.contains(there * 0.999 + np.array(TILTED.center)).all()
    np.testing.assert_allclose(np.hypot(*_unit(TILTED, there).T), 1.0, rtol=1e-14)


@pytest.mark.parametrize(
    ("site", "share"),
    [
        (Box((0, 0), (1, 1)), 0.0),
        (Ball((0, 0), 1.0), 2e-4),
        (Ball((0, 0, 0), 2.0), 0.02),
        (Ellipsoid((0, 0, 0), (3.0, 1.0, 1.0)), 0.18),
    ],
)
def test_by_which_share_dual_cells_may_be_larger(site: object, share: float) -> None:
    assert wider(site) == pytest.approx(share, rel=1e-15)


@pytest.mark.parametrize("site", [TILTED, Ellipsoid((0, 0, 0), (2.0, 1.0, 0.5))])
def test_the_outermost_points_reach_as_far_as_the_cell_in_every_direction(site: Ellipsoid) -> None:
    """Alone, an agent has the whole workspace, whose extent along its axes is known."""
    n = site.dimension
    here = np.array(site.center)
    cell = _UncertainCell(site, here, np.empty((0, n)), 0.0)
    rays, _ = _rays(n)
    points = cell.outermost(rays, cell.ends(rays, 0.0))
    lower, upper = site.bounds
    np.testing.assert_allclose(points.max(axis=0), upper - here, rtol=5e-3)
    np.testing.assert_allclose(points.min(axis=0), lower - here, rtol=5e-3)


def triggered(**options: object) -> dwell.Run:
    law = dwell.SelfTriggered(v=0.4, kappa=1.0, delta=0.1, tau_min=0.02, tau_max=2.0, **options)
    start = [(0.4, 0.5), (2.5, 0.7), (1.2, 2.0), (3.0, 2.4)]
    return dwell.simulate(Box((0, 0), (4, 3)), None, start, law, until=3.0, seed=1)


def test_a_longest_interval_is_judged_up_to_its_end() -> None:
    """An interval cut off at tau_max must satisfy the trigger; one that is too long does not."""
    run = triggered(stop="before")
    table = run.events
    row = int(np.argmax(table.next_at - table.time))
    mark = np.array(table.count("mark"))
    mark[row] = CEILING
    later = table.next_at.copy()
    later[row] = table.time[row] + 2.0
    forged = replace(table, mark=mark, next_at=later)
    recorded = Trajectory(run.system, run.start, forged, run.horizon)
    assert _misjudged(recorded, run.system.controller, row) > 1e-3
    honest = Trajectory(run.system, run.start, table, run.horizon)
    assert _misjudged(honest, run.system.controller, row) <= 1e-6


def test_intervals_that_end_with_the_run_are_followed() -> None:
    run = triggered()
    table = run.events
    last = float(table.time[-1])
    found = follow_centroids(Trajectory(run.system, run.start, table, last))
    assert (found.times == last).sum() > run.agents  # at spread times each agent counts once


def test_floors_are_flagged_for_the_law_that_has_them() -> None:
    law = dwell.SelfTriggered(v=0.4, kappa=1.0, delta=0.01, tau_min=0.5, tau_max=2.0)
    start = [(0.4, 0.5), (0.6, 0.7), (0.8, 0.5)]
    run = dwell.simulate(Box((0, 0), (4, 3)), None, start, law, until=3.0, seed=1)
    assert (run.events.count("mark") == FLOOR).any()
    assert "floor-hits" in {flag.code for flag in run.flags}


@pytest.mark.parametrize(("until", "beyond"), [(0.1, None), (0.4, 0.15), (0.6, None)])
def test_agents_that_are_outside_at_the_end_alone_are_flagged(until, beyond):
    """The first velocity leads out after 0.25; at 0.5 the agent samples, if nothing was wrong."""
    hold = ((-1.0, 0.0), (0.0, 0.0))
    law = dwell.Timer(k1=1.0, nu=0.1, t1=0.5, t2=0.5, initial_hold=hold)
    start = [(0.25, 1.0), (3.0, 2.0)]
    run = dwell.simulate(dwell.Box((0, 0), (4, 3)), None, start, law, until=until)
    found = [flag.says for flag in run.flags if flag.code == "outside"]
    if until == 0.6:  # it was outside at an event as well
        assert "up to 0.25 outside" in found[0]
    elif beyond is None:
        assert found == []
    else:
        assert len(run.events) == 0
        assert f"up to {beyond:g} outside" in found[0]


def test_centroids_over_functions_are_counted_in_the_world_of_their_time():
    def west(points):
        return 0.1 + np.exp(-3.0 * points[:, 0])

    def east(points):
        return 0.1 + np.exp(-3.0 * (4.0 - points[:, 0]))

    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.3, t2=0.5)
    later = [
        dwell.Switch(at=0.6, density=east),
        dwell.Switch(at=1.2, workspace=dwell.Box((0, 0), (5, 3))),
    ]
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), west, [(1, 1), (3, 2), (2.5, 0.5)], law, until=1.6, seed=1,
        switches=later, sample_every="off",
    )  # fmt: skip
    found = {one.name: one for one in dwell.check(run).findings}
    assert found["by-counting"].status == "holds"
    assert dwell.check(run).ok

"""Runs in regions that are not convex: masks, and agents that stay inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell._types import lengths
from dwell.hybrid import simulate as read_loop
from dwell.scenario import parse_scenario
from tests.regions.sites import U, agents, archipelago

LAW = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
HILL = dwell.Gaussian((0.5, 0.25), rate=0.5)


def test_a_mask_ends_at_the_centroid_in_the_notch() -> None:
    run = dwell.simulate(dwell.Region(U), None, [(0.5, 2.5)], LAW, until=60.0, seed=1)
    np.testing.assert_allclose(run.positions(60.0)[0], (1.5, 19 / 14), atol=1e-9)
    assert run.cost(60.0) == pytest.approx(12.0238095238095, rel=1e-9)


def test_agents_that_stay_end_at_the_nearest_point_of_the_region() -> None:
    site = dwell.Region(U, stay=True)
    run = dwell.simulate(site, None, [(0.5, 2.5)], LAW, until=60.0, seed=1)
    np.testing.assert_allclose(run.positions(60.0)[0], (1.5, 1.0), atol=1e-9)
    assert run.cost(60.0) == pytest.approx(12.9166666666667, rel=1e-9)
    path = run.positions(np.linspace(0.0, 60.0, 4001))[:, 0]
    assert site.outside_by(path).max() < 1e-12
    assert dwell.check(run).ok


@pytest.mark.parametrize("law", [LAW, dwell.Lloyd(dt=0.1), dwell.DiscreteLloyd(step=0.5)])
def test_agents_that_stay_never_leave(law: Any) -> None:
    site = archipelago(4, stay=True)
    start = agents(4, 40)
    start = start[site.covers(start)][:8]
    run = dwell.simulate(site, HILL, start, law, until=8.0, seed=2)
    times = np.linspace(0.0, 8.0, 801)
    for p in range(len(start)):
        assert site.outside_by(run.positions(times)[:, p]).max() < 1e-11
    assert dwell.check(run).ok


def test_every_agent_stays_in_its_part() -> None:
    site = dwell.Region(
        [[(0, 0), (1, 0), (1, 1), (0, 1)], [(3, 0), (4, 0), (4, 1), (3, 1)]], stay=True
    )
    run = dwell.simulate(site, None, [(0.2, 0.5), (0.8, 0.4)], LAW, until=20.0, seed=1)
    assert (run.positions(20.0)[:, 0] <= 1.0 + 1e-12).all()
    assert dwell.check(run).ok


def test_the_compiled_loop_is_the_readable_one() -> None:
    site, start = archipelago(5), agents(5, 9)
    run = dwell.simulate(site, HILL, start, LAW, until=3.0, seed=3)
    arc = read_loop(run.system, run.system.start(start), until=3.0)
    np.testing.assert_array_equal(arc.states[-1].at(3.0).positions, run.positions(3.0))


def test_the_cost_decreases_under_lloyd() -> None:
    site, start = archipelago(6), agents(6, 12)
    run = dwell.simulate(site, HILL, start, dwell.DiscreteLloyd(), until=20.0, seed=1)
    assert (np.diff(run.metrics.costs) <= 1e-12 * run.metrics.costs[0]).all()


def test_a_run_is_read_again_and_checked(tmp_path: Path) -> None:
    site, start = archipelago(7), agents(7, 6)
    run = dwell.simulate(site, HILL, start, LAW, until=4.0, seed=3)
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    for one, two in zip(site.rings, again.workspace.rings, strict=True):
        np.testing.assert_array_equal(one, two)
    report = dwell.check(again, thorough=True)
    assert report.ok
    assert next(f for f in report.findings if f.name == "by-hand").status == "holds"


def test_a_forged_centroid_is_found() -> None:
    site, start = archipelago(7), agents(7, 6)
    convex = dwell.simulate(site.hull, HILL, start, LAW, until=1.0, seed=3)
    run = dwell.simulate(site, HILL, start, LAW, until=1.0, seed=3)
    assert np.abs(lengths(convex.events.errors[0]) - lengths(run.events.errors[0])) > 1e-6


@pytest.mark.parametrize(
    "more",
    [
        {"radius": 0.8},
        {
            "sensors": [
                dwell.Sensor("a", HILL, (0, 1, 2)),
                dwell.Sensor("b", dwell.Uniform(), (2, 3, 4)),
            ]
        },
        {"switches": [dwell.Switch(at=1.0, workspace=archipelago(9))]},
    ],
)
def test_changing_worlds_in_regions(more: dict[str, Any]) -> None:
    site, start = archipelago(8), agents(8, 5)
    run = dwell.simulate(
        site, None if "sensors" in more else HILL, start, LAW, until=2.0, seed=1, **more
    )
    assert dwell.check(run).ok


def test_a_moving_hill_in_a_region() -> None:
    moving = dwell.Moving(
        dwell.Gaussian, center=dwell.Keyframes([0.0, 4.0], [(0.0, 0.0), (1.0, 0.5)]), rate=1.0
    )
    run = dwell.simulate(archipelago(8), moving, agents(8, 5), LAW, until=2.0, seed=1)
    assert dwell.check(run).ok


@pytest.mark.parametrize(
    "moving",
    [
        dwell.Moving(
            dwell.Polynomial,
            coefficients=dwell.Keyframes(
                [0.0, 2.0], [[(0, 0, 1.0), (2, 0, 0.1)], [(0, 0, 2.0), (2, 0, 0.0)]]
            ),
        ),
        dwell.Moving(
            dwell.Gaussian,
            center=(0.0, 0.0),
            covariance=dwell.Keyframes([0.0, 2.0], [[(1, 0), (0, 1)], [(2, 0.1), (0.1, 1)]]),
        ),
    ],
)
@pytest.mark.parametrize("stay", [False, True])
def test_densities_that_only_the_readable_loop_moves(moving: Any, stay: bool) -> None:
    site, start = archipelago(8), agents(8, 5)
    if stay:
        site = dwell.Region([{"outer": p.outer, "holes": p.holes} for p in site.parts], stay=True)
        start = site.nearest_inside(start)
    run = dwell.simulate(site, moving, start, LAW, until=2.0, seed=1)
    assert dwell.check(run).ok


def test_optimize_finds_a_rest_in_a_region() -> None:
    found = dwell.optimize(archipelago(3), HILL, 5, starts=3, seed=1)
    rest = dwell.tessellate(archipelago(3), found.positions, HILL)
    assert lengths(rest.errors).max() < 1e-6


@pytest.mark.parametrize("stay", [False, True])
def test_rates_in_a_region(tmp_path: Path, stay: bool) -> None:
    from tests.cli.shell import dwell as shell

    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.15)
    outline = [(0, 0), (9, 0), (9, 4), (8, 4), (8, 3), (0, 3)]
    site, start = dwell.Region(outline, stay=stay), [(1.5, 1.5), (4.5, 1.5), (7.5, 1.5)]
    dwell.simulate(site, None, start, law, until=20.0, seed=1).save(tmp_path / "run.nc")
    done = shell("rates", str(tmp_path / "run.nc"))
    assert done.code == 0, done.err
    if stay:
        assert "no decay rate is known under timer: agents go around corners" in done.out
        assert "observed" in done.out
    else:
        assert "small displacements shrink" in done.out
        assert "needs a convex workspace" in done.out


def test_agents_that_stay_do_not_run_past_their_targets() -> None:
    law = dwell.Timer(k1=5.0, nu=0.1, t1=0.1, t2=0.5)
    flags = {}
    for stay in (False, True):
        run = dwell.simulate(dwell.Region(U, stay=stay), None, [(0.5, 2.5)], law, until=2.0, seed=1)
        flags[stay] = {flag.code for flag in run.flags}
        assert dwell.check(run).ok
    assert "overshoot" in flags[False]
    assert "overshoot" not in flags[True]


LAWS_REFUSED = [
    dwell.SelfTriggered(),
    dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2, feedforward="own"),
]


@pytest.mark.parametrize("law", LAWS_REFUSED)
def test_laws_that_cannot_follow_detours_are_refused(law: Any) -> None:
    with pytest.raises(dwell.DwellError, match="stay"):
        dwell.simulate(dwell.Region(U, stay=True), None, [(0.5, 2.5)], law, until=1.0)


def test_a_scenario_of_a_region() -> None:
    table = {"kind": "region", "parts": [{"outer": U}], "stay": True}
    data = {"workspace": table, "agents": {"start": [[0.5, 2.5]]}, "run": {"horizon": 1.0}}
    data |= {"controller": {"kind": "timer", "k1": 0.5, "nu": 0.1, "t1": 0.1, "t2": 0.2}}
    scenario = parse_scenario(data)
    run = dwell.run_scenario(scenario, seed=1)
    assert run.workspace.stay
    assert run.workspace.area == 7.0


def test_starts_outside() -> None:
    notch = [(1.5, 2.0)]
    dwell.simulate(dwell.Region(U), None, notch, LAW, until=0.1)
    with pytest.raises(dwell.DwellError, match="outside the workspace"):
        dwell.simulate(dwell.Region(U, stay=True), None, notch, LAW, until=0.1)


def test_flags_say_what_a_region_takes_from_the_theorem() -> None:
    mask = dwell.simulate(archipelago(1), None, agents(1, 3), LAW, until=0.5, seed=1)
    assert [flag.code for flag in mask.flags if flag.code in ("region", "stay", "parts")] == [
        "region"
    ]
    site = archipelago(1, stay=True)
    start = agents(1, 30)
    start = start[site.covers(start)][:3]
    stays = dwell.simulate(site, None, start, LAW, until=0.5, seed=1)
    codes = {flag.code for flag in stays.flags}
    assert {"region", "stay", "parts"} <= codes


@pytest.mark.parametrize("feedforward", ["own", "neighbours"])
def test_feed_forward_is_refused_in_a_region(feedforward: str) -> None:
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2, feedforward=feedforward)
    with pytest.raises(dwell.DwellError, match="not convex"):
        dwell.simulate(dwell.Region(U), None, [(0.5, 2.5), (2.5, 2.5)], law, until=1.0)


def test_guaranteed_cells_are_refused_in_a_region() -> None:
    with pytest.raises(dwell.DwellError, match="not convex"):
        dwell.simulate(
            dwell.Region(U), None, [(0.5, 2.5), (2.5, 2.5)], dwell.SelfTriggered(), until=1.0
        )

"""Agents of limited range in scenario files: stored, resumed, checked, in worlds that change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from tests.worlds.test_runs import CHANGES, same, scenario

AGENTS = {"start": {"count": 6, "seed": 2}}
RADII = {"one": 1.2, "each": [0.6, 1.0, 1.4, 0.8, 1.2, 1.1]}


@pytest.mark.parametrize("radius", RADII.values(), ids=RADII)
@pytest.mark.parametrize("name", ["still", "switch", "moving", "walls", "network"])
def test_stored_resumed_and_checked(name: str, radius: Any, tmp_path: Path) -> None:
    data = scenario(**CHANGES.get(name, {}), agents={**AGENTS, "radius": radius})
    whole = dwell.run_scenario(data, out=tmp_path / "whole.nc")
    report = dwell.check(tmp_path / "whole.nc")
    assert report.ok, str(report)
    data["run"] = {**data["run"], "horizon": 2.0}
    dwell.run_scenario(data, out=tmp_path / "cut.nc")
    same(whole.events, dwell.resume_run(tmp_path / "cut.nc", horizon=4.0).events)


def test_agents_of_limited_range_may_leave_and_arrive() -> None:
    eight = [1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.3, 1.0]
    data = scenario(**CHANGES["lives"], agents={**AGENTS, "radius": eight})
    run = dwell.run_scenario(data)
    assert dwell.check(run).ok
    assert run.errors(1.5)[[1, 4]].tolist() == [0.0, 0.0]


def test_a_disc_inside_has_the_truncated_cost() -> None:
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    box = dwell.Box((0, 0), (4, 4))
    run = dwell.simulate(box, None, [(2.0, 2.0)], law, until=1.0, radius=1.0)
    assert run.cost(0.0) == pytest.approx(16.0 - 0.5 * np.pi, rel=1e-13)
    assert run.errors(1.0).tolist() == pytest.approx([0.0], abs=1e-15)
    assert run.scenario is not None
    assert run.scenario.agents.radius == 1.0
    same(run.events, dwell.run_scenario(run.scenario).events)


def test_every_radius_beyond_the_region_changes_no_bit() -> None:
    plain = dwell.run_scenario(scenario(agents=AGENTS))
    wide = dwell.run_scenario(scenario(agents={**AGENTS, "radius": 50.0}))
    same(plain.events, wide.events)
    np.testing.assert_array_equal(plain.metrics.costs, wide.metrics.costs)


@pytest.mark.parametrize(
    ("radius", "key"),
    [
        (0.0, "agents.radius"),
        (-1.0, "agents.radius"),
        (float("nan"), "agents.radius"),
        (1e-300, "agents.radius"),
        (1e300, "agents.radius"),
        ("far", "agents.radius"),
        ([1.0, 2.0], "agents.radius"),
        ([1.0, 2.0, 0.0, 1.0, 1.0, 1.0], "agents.radius[2]"),
    ],
)
def test_refused(radius: Any, key: str) -> None:
    with pytest.raises(dwell.InputError) as refused:
        dwell.run_scenario(scenario(agents={**AGENTS, "radius": radius}))
    assert refused.value.key == key


def test_a_radius_in_a_ball_is_refused() -> None:
    data = scenario(
        workspace={"kind": "ball", "center": [2, 2], "radius": 2.0},
        agents={"start": [[2, 2], [2.5, 2]], "radius": 1.0},
    )
    with pytest.raises(dwell.InputError, match="flat-sided") as refused:
        dwell.run_scenario(data)
    assert refused.value.key == "agents.radius"


@pytest.mark.parametrize("radius", [1e6, 1e8, 3e9, [1e8, 1e8 + 1e-7, 1e8, 1e8, 1e8, 1e8]])
def test_large_radii_are_checked(radius: Any) -> None:
    """Powers are differences of squares far larger than the workspace."""
    report = dwell.check(dwell.run_scenario(scenario(agents={**AGENTS, "radius": radius})))
    (found,) = [one for one in report.findings if one.name == "by-counting"]
    assert found.status == "holds", found.says

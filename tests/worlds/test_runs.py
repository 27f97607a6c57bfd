"""Runs in worlds that change: stored, resumed, cut, checked, and in closed form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents import EventTable
from dwell.engine.recorder import expected_events

LINE = {"kind": "interval", "bounds": [0.0, 1.0]}
WAITS = {"kind": "timer", "k1": 0.5, "nu": 0.25, "t1": 0.1, "t2": 0.3}


def scenario(**changes: Any) -> dict[str, Any]:
    return {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
        "density": {"kind": "gaussian", "center": [1, 3], "rate": 0.4},
        "agents": {"start": {"count": 6, "seed": 2}},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.3},
        "run": {"horizon": 4.0, "seed": 5, "record": {"sample_every": 0.25}},
        **changes,
    }


HILL = {
    "kind": "gaussian",
    "center": {"times": [0, 3], "values": [[1, 1], [3, 2]], "after": "hold"},
    "rate": {"times": [0, 5], "values": [0.4, 0.6]},
}
CHANGES = {
    "switch": {
        "world": [
            {"from": 1.0, "density": {"kind": "uniform"}},
            {"from": 2.5, "workspace": {"kind": "box", "lower": [-1, -1], "upper": [4, 5]}},
        ]
    },
    "lives": {
        "world": [
            {"from": 1.0, "leave": [1, 4]},
            {"from": 2.0, "leave": [0], "arrive": [[0.5, 0.5], [3.5, 3.0]]},
        ]
    },
    "moving": {"density": HILL},
    "circle": {
        "density": {
            "kind": "gaussian",
            "center": {"center": [2, 2], "radius": 1.0, "period": 6.0},
            "covariance": {"times": [0, 4], "values": [[[1, 0], [0, 1]], [[1, 0.2], [0.2, 2]]]},
        }
    },
    "walls": {
        "workspace": {
            "kind": "polygon",
            "vertices": {
                "times": [0, 4],
                "values": [
                    [[0, 0], [4, 0], [4, 4], [0, 4]],
                    [[1, 0], [5, 0.5], [5, 5], [0.5, 4]],
                ],
            },
        }
    },
    "network": {"world": [{"from": 1.5, "network": {"loss": 0.3, "delay": 0.05}}]},
    "mixed": {
        "density": {"kind": "mixture", "parts": [HILL, {"kind": "uniform", "level": 0.2}]},
        "world": [{"from": 2.0, "density": {"kind": "mixture", "parts": [HILL, HILL]}}],
    },
}


def same(one: EventTable, other: EventTable) -> None:
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, other.column(name), err_msg=name)


@pytest.mark.parametrize("name", CHANGES)
def test_stored_resumed_and_checked(name: str, tmp_path: Path) -> None:
    data = scenario(**CHANGES[name])
    whole = dwell.run_scenario(data, out=tmp_path / "whole.nc")
    report = dwell.check(tmp_path / "whole.nc")
    assert report.ok, str(report)
    again = dwell.load_run(tmp_path / "whole.nc")
    same(whole.events, again.events)
    for cut in (0.9, 2.0, 2.7):
        path = tmp_path / f"cut-{cut}.nc"
        data["run"] = {**data["run"], "horizon": cut}
        dwell.run_scenario(data, out=path)
        longer = dwell.resume_run(path, horizon=4.0)
        same(whole.events, longer.events)
        assert dwell.check(path).ok
    np.testing.assert_array_equal(whole.metrics.times, longer.metrics.times)
    np.testing.assert_array_equal(whole.metrics.costs, longer.metrics.costs)


@pytest.mark.parametrize("name", CHANGES)
def test_what_python_describes_is_the_same_scenario(name: str) -> None:
    run = dwell.run_scenario(scenario(**CHANGES[name]))
    from dwell.scenario.build import build_density, build_switches, build_workspace

    kept = run.scenario
    assert kept is not None
    first = run.positions(0.0)[: kept.agents.count]
    other = dwell.simulate(
        build_workspace(kept.workspace), build_density(kept.density), first,
        run.system.controller, until=4.0, seed=5, switches=build_switches(kept),
        network=run.system.network, sample_every=0.25,
    )  # fmt: skip
    same(run.events, other.events)
    assert other.scenario is not None
    again = dwell.run_scenario(other.scenario)
    same(run.events, again.events)


def test_the_cost_on_both_sides_of_a_switch() -> None:
    data = scenario(
        workspace=LINE,
        density={"kind": "uniform"},
        agents={"start": [[0.25], [0.75]]},
        controller=WAITS,
        world=[{"from": 2.0, "workspace": {"kind": "interval", "bounds": [0.0, 2.0]}}],
    )
    run = dwell.run_scenario(data)
    (switch,) = run.summary()["world"]["switches"]
    assert switch["time"] == 2.0
    assert switch["cost_before"] == pytest.approx(1 / 48, rel=1e-14)
    assert switch["cost_after"] == pytest.approx(2 / 3, rel=1e-14)
    assert run.cost(2.0) == switch["cost_after"]


def test_a_lag_behind_a_moving_hill_does_not_depend_on_the_waits() -> None:
    hill = {
        "kind": "gaussian",
        "center": {"times": [0, 100], "values": [[-20, -1], [20, 1]]},
        "rate": 1.0,
    }
    v = np.hypot(40.0, 2.0) / 100.0
    data = scenario(
        workspace={"kind": "box", "lower": [-60, -60], "upper": [60, 60]},
        density=hill,
        agents={"start": [[-20.0, -1.0]]},
        controller={"kind": "timer", "k1": 1.0, "nu": 0.8, "t1": 0.2, "t2": 0.65},
        run={"horizon": 60.0, "seed": 1},
    )
    run = dwell.run_scenario(data)
    late = run.events.errors[run.events.time > 40.0]
    lag = np.hypot(*late.T)
    reach = (1.0 - 1e-8) * 0.8
    np.testing.assert_allclose(lag, v * reach / 1.0, rtol=1e-6)


def test_agents_that_a_wall_overruns_come_back() -> None:
    ring = [[0, 0], [4, 0], [4, 4], [0, 4]]
    narrow = [[2, 0], [4, 0], [4, 4], [2, 4]]
    data = scenario(
        workspace={
            "kind": "polygon",
            "vertices": {"times": [0, 1], "values": [ring, narrow], "after": "hold"},
        },
        density={"kind": "uniform"},
        run={"horizon": 20.0, "seed": 5},
    )
    run = dwell.run_scenario(data)
    assert any(flag.code == "outside" for flag in run.flags)
    assert (run.positions(20.0)[:, 0] > 2.0).all()
    assert dwell.check(run).ok


def test_errors_of_absent_agents_are_zero() -> None:
    run = dwell.run_scenario(scenario(**CHANGES["lives"]))
    assert run.errors(1.5)[[1, 4, 6, 7]].tolist() == [0.0] * 4
    assert run.errors(2.5)[[0, 1, 4]].tolist() == [0.0] * 3
    assert (run.errors(2.5)[[2, 3, 5, 6, 7]] > 0.0).all()
    cells = dwell.tessellate(
        run.workspace, run.positions(2.5)[[2, 3, 5, 6, 7]], dwell.Gaussian((1, 3), rate=0.4)
    )
    assert run.cost(2.5) == pytest.approx(cells.cost, rel=1e-14)


def test_the_certificate_is_judged_in_each_phase() -> None:
    assumed = {"eta_max": 0.4, "lipschitz": 1.0}
    data = scenario(certificate=assumed, **CHANGES["switch"])
    run = dwell.run_scenario(data)
    report = dwell.check(run)
    assert report.ok
    names = [finding.name for finding in report.certificate]
    assert "dwell-time" in names
    assert "phi-1" in names
    whole = {f.name: f for f in report.certificate}
    limits = {"hold-limit", "adaptive-limit"}  # of the whole run, as in its summary
    assert {name for name, f in whole.items() if "in the world from" not in f.where} == limits
    assert " to t = 1, the end of what was followed, in the world from" in whole["attractor"].where
    data["world"] = [{"from": 1.0, "density": HILL}]
    data["density"] = HILL
    (_, *_), silent = names, dwell.check(dwell.run_scenario(data)).certificate
    assert {f.status for f in silent} == {"not applicable"}


def test_forged_rows_are_found() -> None:
    run = dwell.run_scenario(scenario(**CHANGES["lives"]))
    events = run.events
    left = int(np.flatnonzero(np.isinf(events.next_at))[0])
    for column, row, value in (
        ("holds", left, 0.1), ("next_at", left, 9.0), ("errors", left, 0.2), ("time", left, 1.1),
    ):  # fmt: skip
        values = getattr(events, column).copy()
        values[row] = value
        forged = type(events)(**{**events.columns(), column: values})
        from dwell.verify.solution import verify

        assert not verify(run.system, run.start, forged, run.horizon).ok, column


def test_the_world_at_a_time() -> None:
    run = dwell.run_scenario(scenario(**CHANGES["lives"], density=HILL))
    assert run.world(0.0).agents.tolist() == [0, 1, 2, 3, 4, 5]
    assert run.world(1.0).agents.tolist() == [0, 2, 3, 5]
    assert run.world(2.0).agents.tolist() == [2, 3, 5, 6, 7]
    assert run.world(1.5).density == dwell.Gaussian((2.0, 1.5), rate=0.46)
    assert run.world(1.5).workspace is run.workspace
    moving = dwell.run_scenario(scenario(**CHANGES["walls"]))
    assert moving.world(2.0).workspace.vertices.tolist()[0] == [0.5, 0.0]
    plain = dwell.run_scenario(scenario())
    assert plain.world(3.0).density is plain.system.density
    for bad in (-1.0, 4.1, [1.0], "now"):
        with pytest.raises(dwell.DwellError) as refused:
            plain.world(bad)
        assert refused.value.code == "run.time"


def test_the_summary_says_what_changes() -> None:
    found = dwell.run_scenario(scenario(**CHANGES["lives"], density=HILL)).summary()["world"]
    assert found["moving"] == [{"what": "density", "from": 0.0, "until": None}]
    assert [(one["leave"], one["arrive"]) for one in found["switches"]] == [
        ([1, 4], []),
        ([0], [6, 7]),
    ]
    round_trip = dwell.run_scenario(scenario(**CHANGES["circle"])).summary()["world"]
    assert round_trip["moving"] == [{"what": "density", "from": 0.0, "until": None}]
    later = {**HILL, "rate": 0.4}
    switch = [{"from": 1.0, "density": later}, {"from": 2.0, "network": {"loss": 0.1}}]
    found = dwell.run_scenario(scenario(world=switch)).summary()["world"]
    assert found["moving"] == [{"what": "density", "from": 1.0, "until": 3.0}]
    assert "world" not in dwell.run_scenario(scenario()).summary()


def test_ids_are_those_of_all_agents_that_ever_come() -> None:
    lives = scenario(**CHANGES["lives"])
    lives["agents"] = {**lives["agents"], "ids": list(range(6))}
    with pytest.raises(dwell.InputError, match="8 in all"):
        dwell.run_scenario(lives)
    lives["agents"]["ids"] = [7, 6, 5, 4, 3, 2, 1, 0]
    assert dwell.check(dwell.run_scenario(lives)).ok


def test_nothing_is_held_before_an_arrival() -> None:
    run = dwell.run_scenario(scenario(**CHANGES["lives"]))
    events = run.events
    first = int(np.flatnonzero(events.agent == 6)[0])
    assert events.time[first] == 2.0
    others = np.delete(events.hold_error, np.flatnonzero(np.isin(events.time, [1.0, 2.0])))
    assert run.summary()["hold_error"]["max"] == pytest.approx(
        max(others.max(), *run.hold_errors(np.array([0.0, 4.0])).max(axis=1)), rel=1e-12
    )


@pytest.mark.parametrize(("loss", "off"), [(0.0, 0.2), (0.01, 0.4)])
def test_expected_events_count_agents_while_they_are_present(loss: float, off: float) -> None:
    """With losses the number is estimated from the first dwell times, which are the longest."""
    data = scenario(**CHANGES["lives"], network={"loss": loss})
    places = [[0.5 + 0.1 * k, 3.0] for k in range(30)]
    data["world"] = [{"from": 3.0, "leave": [1], "arrive": places}]
    run = dwell.run_scenario(data)
    expected = expected_events(run.system, run.start, run.horizon)
    assert expected == pytest.approx(len(run.events), rel=off)

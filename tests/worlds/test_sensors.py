"""Sensors with densities of their own: closed forms, coincidence, one sensor for all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.errors import InputError

LINE = dwell.Interval(0.0, 1.0)
LAW = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)


def settled(owners: dict[str, tuple[int, ...]], start: list[float], beta: float = 1.0) -> dwell.Run:
    densities = {"a": dwell.Uniform(), "b": dwell.Uniform(beta)}
    sensors = [dwell.Sensor(name, densities[name], own) for name, own in owners.items()]
    return dwell.simulate(LINE, None, start, LAW, until=150.0, sensors=sensors)


@pytest.mark.parametrize("beta", [0.3, 1.0, 4.0])
def test_two_agents_with_one_sensor_in_common(beta: float) -> None:
    run = settled({"a": (0, 1), "b": (1,)}, [0.1, 0.8], beta)
    b = 0.25 * (3.0 * (1.0 + beta) - math.sqrt(9.0 * (1.0 + beta) ** 2 - 8.0 * (1.0 + beta)))
    found = run.positions(150.0).ravel()
    np.testing.assert_allclose(found, [0.5 * b, 1.5 * b], rtol=0.0, atol=1e-12)
    if beta == 1.0:
        assert run.cost(150.0) == pytest.approx(0.1215816948, abs=1e-10)
    assert dwell.check(run).ok


def test_agents_without_a_common_sensor_may_coincide() -> None:
    owners = {"a": (0, 1), "b": (0, 2)}
    run = settled(owners, [0.2, 0.8, 0.8])
    np.testing.assert_allclose(run.positions(150.0).ravel(), [0.25, 0.75, 0.75], atol=1e-12)
    assert run.cost(150.0) == pytest.approx(1 / 24, rel=1e-12)
    assert run.stop.reason.value == "horizon"
    assert not any(flag.code == "near-coincident" for flag in run.flags)
    assert dwell.check(run).ok
    other = settled(owners, [0.5, 0.1, 0.9])
    np.testing.assert_allclose(other.positions(150.0).ravel(), [0.5, 1 / 6, 5 / 6], atol=1e-12)
    assert other.cost(150.0) == pytest.approx(5 / 54, rel=1e-12)


def test_agents_with_a_common_sensor_must_not_coincide() -> None:
    with pytest.raises(dwell.DwellError, match="at the same place"):
        settled({"a": (0, 1, 2), "b": (0,)}, [0.2, 0.8, 0.8])


def test_one_sensor_for_all_changes_no_bit() -> None:
    site, weight = dwell.Box((0, 0), (4, 4)), dwell.Gaussian((1, 3), rate=0.4)
    start = np.random.default_rng(3).uniform(0.3, 3.7, (7, 2))
    plain = dwell.simulate(site, weight, start, LAW, until=8.0, seed=2)
    every = dwell.Sensor("eye", weight, tuple(range(7)))
    own = dwell.simulate(site, None, start, LAW, until=8.0, seed=2, sensors=[every])
    for name, column in plain.events.columns().items():
        np.testing.assert_array_equal(column, own.events.column(name), err_msg=name)
    np.testing.assert_array_equal(plain.metrics.costs, own.metrics.costs)


def test_sensors_in_the_plane_are_checked_and_counted(tmp_path: Path) -> None:
    data: dict[str, Any] = {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
        "sensor": [
            {"name": "smoke", "density": {"kind": "gaussian", "center": [1, 1], "rate": 0.5}},
            {
                "name": "heat",
                "density": {
                    "kind": "gaussian",
                    "center": {"times": [0, 5], "values": [[3, 3], [1, 3]]},
                    "rate": 0.5,
                },
            },
        ],
        "agents": {
            "start": [[0.5, 0.5], [1.5, 0.7], [3, 3], [2, 2]],
            "sensors": [["smoke"], ["smoke", "heat"], ["heat"], ["heat"], ["smoke"]],
        },
        "world": [{"from": 2.0, "leave": [2], "arrive": [[3.5, 0.5]]}],
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.3},
        "run": {"horizon": 5.0, "seed": 1},
    }
    run = dwell.run_scenario(data, out=tmp_path / "run.nc")
    report = dwell.check(tmp_path / "run.nc")
    assert report.ok, str(report)
    assert set(run.events.count("looked")[run.events.agent == 1]) == {2}
    assert set(run.events.count("looked")[run.events.agent == 0]) == {1}
    cut = {**data, "run": {"horizon": 2.0, "seed": 1}}
    dwell.run_scenario(cut, out=tmp_path / "cut.nc")
    longer = dwell.resume_run(tmp_path / "cut.nc", horizon=5.0)
    np.testing.assert_array_equal(longer.events.positions, run.events.positions)


BASE: dict[str, Any] = {
    "workspace": {"kind": "interval", "bounds": [0, 1]},
    "sensor": [{"name": n, "density": {"kind": "uniform"}} for n in "ab"],
    "agents": {"start": [[0.2], [0.8]], "sensors": [["a"], ["a", "b"]]},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.1, "t1": 0.1, "t2": 0.2},
    "run": {"horizon": 1.0},
}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"agents": {"start": [[0.2], [0.8]], "sensors": [["a"], ["a"]]}}, "sensor[1].name"),
        ({"agents": {"start": [[0.2], [0.8]], "sensors": [["a", "b"], []]}}, "agents.sensors[1]"),
        ({"agents": {"start": [[0.2], [0.8]], "sensors": [["a", "b"]]}}, "agents.sensors"),
        (
            {"agents": {"start": [[0.2], [0.8]], "sensors": [["a", "b"], ["c"]]}},
            "agents.sensors[1]",
        ),
        ({"agents": {"start": [[0.2], [0.8]]}}, "agents.sensors"),
        ({"density": {"kind": "uniform", "level": 2.0}}, "density"),
        ({"sensor": None}, "agents.sensors"),
        ({"world": [{"from": 0.5, "density": {"kind": "uniform"}}]}, "world"),
        ({"controller": {"kind": "self-triggered", "v": 0.5}}, "controller.kind"),
    ],
)
def test_refused(change: dict[str, Any], key: str) -> None:
    data = {name: value for name, value in {**BASE, **change}.items() if value is not None}
    with pytest.raises(InputError) as refused:
        dwell.run_scenario(data)
    assert refused.value.key == key


def test_a_cell_that_weighs_nothing_leaves_the_other_one() -> None:
    """The first sensor weighs nothing in the west, where agent 0 is; the second weighs all."""
    site = dwell.Box((0, 0), (4, 3))
    east = dwell.Raster([[0.0, 1.0], [0.0, 2.0]], origin=(0, 0), pixel=(2.0, 1.5))
    start = np.array([(0.3, 1.5), (3.0, 1.5), (0.3, 1.1)])
    owners = {"east": (0, 1, 2), "all": (0, 1)}
    densities = {"east": east, "all": dwell.Uniform(0.5)}
    sensors = [dwell.Sensor(name, densities[name], own) for name, own in owners.items()]
    run = dwell.simulate(site, None, start, LAW, until=0.3, seed=1, sensors=sensors)
    seen = run.system.measure_all(start)
    cells = {name: dwell.tessellate(site, start[list(own)], densities[name])
             for name, own in owners.items()}  # fmt: skip
    assert cells["east"].masses[[0, 2]].tolist() == [0.0, 0.0]
    assert seen.empty.tolist() == [False, False, True]  # agent 2 has the first sensor alone
    np.testing.assert_allclose(seen.error[0], cells["all"].errors[0], atol=1e-12)
    masses = [one.masses[1] for one in cells.values()]
    both = sum(m * one.errors[1] for m, one in zip(masses, cells.values(), strict=True))
    np.testing.assert_allclose(seen.error[1], both / sum(masses), atol=1e-12)
    assert not run.events.empty[run.events.agent < 2].any()
    assert run.events.empty[run.events.agent == 2].all()


def test_the_only_owner_of_a_sensor_has_no_nearest_agent() -> None:
    run = settled({"a": (0, 2), "b": (1,)}, [0.2, 0.5, 0.8])
    assert dwell.check(run).ok

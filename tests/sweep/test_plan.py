"""From a sweep file to cases: which, how many, with which seeds and keys."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell.errors import InputError
from dwell.sweep import parse_sweep, plan_of
from dwell.sweep.axes import Range, latin_hypercube
from dwell.sweep.plan import Impossible
from dwell.sweep.template import CaseTemplate
from tests.sweep.worlds import GRID, SCENARIO, small


def cases_of(sweep):
    plan = plan_of(sweep)
    return plan, [plan.case(k) for k in range(len(plan))]


def test_a_grid_is_every_combination_with_every_repeat():
    """All points have the starts and draws of a repeat in common; keys are digests."""
    plan, cases = cases_of(small())
    assert plan.points == 6
    seen = [(c.mapping["controller"]["t2"], c.mapping["controller"]["k1"]) for c in cases[::4]]
    assert seen == [(t2, k1) for t2 in GRID["controller.t2"] for k1 in GRID["controller.k1"]]
    assert [case.number for case in cases] == list(range(24))
    assert [case.repeat for case in cases[:5]] == [0, 1, 2, 3, 0]
    seeds = {(c.repeat, c.seed, c.mapping["agents"]["start"]["seed"]) for c in cases}
    assert len(seeds) == len({seed for _, seed, _ in seeds}) == 4
    keys = [case.key for case in cases]
    assert len(set(keys)) == len(cases)
    assert keys == [case.key for case in cases_of(small())[1]]
    assert not set(keys) & {case.key for case in cases_of(small(seed=4))[1]}


SEQUENCE = {
    **SCENARIO,
    "controller": {**SCENARIO["controller"], "reset": "sequence", "intervals": [0.1, 0.2]},
}
T1, T2, K1, KIND = (f"controller.{key}" for key in ("t1", "t2", "k1", "kind"))
COMBINATIONS = {
    "a zip goes in step and multiplies a grid": (
        {"grid": {K1: [0.25, 0.5]}, "zip": {T1: [0.1, 0.2], T2: [0.2, 0.4]}},
        [[0.25, 0.1, 0.2], [0.25, 0.2, 0.4], [0.5, 0.1, 0.2], [0.5, 0.2, 0.4]],
    ),
    "a zip may have a value in several rows": (
        {"grid": {}, "zip": {T1: [0.1, 0.1, 0.2], T2: [0.2, 0.4, 0.4]}},
        [[0.1, 0.2], [0.1, 0.4], [0.2, 0.4]],
    ),
    "rows that are equal for a law are run once": (
        {"grid": {KIND: ["timer", "lloyd"]}, "zip": {T2: [0.2, 0.3], "run.horizon": [1.0, 1.0]}},
        [["timer", 0.2, 1.0], ["timer", 0.3, 1.0], ["lloyd", None, 1.0]],
    ),
    "laws may be tied to other values": (
        {"grid": {}, "zip": {KIND: ["timer", "lloyd"], "run.horizon": [1.0, 2.0]}},
        [["timer", 1.0], ["lloyd", 2.0]],
    ),
    "entries of a list are keys": (
        {"scenario": SEQUENCE, "grid": {"controller.intervals[1]": [0.2, 0.3]}},
        [[0.2], [0.3]],
    ),
    "a law may need what only an axis gives": (
        {
            "scenario": {**SCENARIO, "controller": {"kind": "lloyd"}},
            "grid": {KIND: ["discrete-lloyd", "timer"], T2: [0.3]},
            "laws": {"timer": {"k1": 0.5, "nu": 0.1, "t1": 0.1}},
        },
        [["discrete-lloyd", None], ["timer", 0.3]],
    ),
    "keys need no quotes": ({"grid": {"controller": {"t2": [0.2, 0.3]}}}, [[0.2], [0.3]]),
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_combinations_of_values(name):
    change, rows = COMBINATIONS[name]
    plan, cases = cases_of(small(repeats=1, **change))
    assert [case.values for case in cases] == rows
    assert len({case.key for case in cases}) == len(cases)
    for case in cases:
        for key, value in zip(plan.keys, case.values, strict=True):
            if value is not None and key != "controller.intervals[1]":
                table, name = key.split(".")
                assert case.mapping[table][name] == value
        scenario = case.scenario()
        if "controller.intervals[1]" in plan.keys:
            assert scenario.controller.intervals == (0.1, case.values[0])


def test_the_digest_tells_sweeps_apart():
    digests = {
        plan_of(small(**change)).digest
        for change in (
            {}, {"seed": 4}, {"repeats": 5}, {"final": False}, {"starts": "scenario"},
            {"grid": {"controller.t2": [0.2, 0.3, 0.4], "controller.k1": [0.25, 0.6]}},
            {"grid": {"controller.t2": [0.2, 0.3], "controller.k1": [0.25, 0.5, 0.6]}},
            {"zip": {"run.horizon": [0.5, 0.6]}},
        )
    }  # fmt: skip
    assert len(digests) == 8
    assert plan_of(small()).digest == plan_of(small()).digest


def test_a_law_without_a_key_is_run_once_for_all_its_values():
    grid = {"controller.t2": [0.2, 0.3, 0.4], "controller.kind": ["timer", "lloyd"]}
    plan, cases = cases_of(small(grid=grid, repeats=2))
    assert plan.points == 4
    assert [c.mapping["controller"]["kind"] for c in cases[::2]] == ["timer"] * 3 + ["lloyd"]
    assert "t2" not in cases[-1].mapping["controller"]
    assert cases[-1].values == [None, "lloyd"]
    for case in cases:
        case.scenario()


def test_many_values_are_compared_at_once():
    values = [float(k) for k in range(1, 40_001)]
    assert plan_of(small(grid={"run.horizon": values})).points == 40_000


def test_random_starts_are_random_where_the_start_is_varied():
    grid = {"agents.start": [{"count": 2}, {"count": 3}]}
    sweep = small(grid=grid)
    _, cases = cases_of(sweep)
    assert len({case.mapping["agents"]["start"]["seed"] for case in cases}) == 4
    assert len({case.key for case in cases}) == 8
    assert sweep.groups[0].columns[0] == ({"count": 2}, {"count": 3})  # nothing is written there


def test_agents_given_by_place_are_scattered_when_runs_repeat():
    given = {**SCENARIO, "agents": {"start": [[0.1, 0.1], [0.3, 0.3]]}}
    _, cases = cases_of(small(scenario=given))
    assert {c.mapping["agents"]["start"]["count"] for c in cases} == {2}
    _, kept = cases_of(small(scenario=given, starts="scenario"))
    assert kept[0].mapping["agents"]["start"] == [[0.1, 0.1], [0.3, 0.3]]
    _, alone = cases_of(small(scenario=given, repeats=1))
    assert alone[0].mapping["agents"]["start"] == [[0.1, 0.1], [0.3, 0.3]]


@given(
    count=st.integers(1, 60),
    low=st.floats(0.1, 10),
    width=st.floats(0.1, 10),
    log=st.booleans(),
    seed=st.integers(0, 9),
)
def test_latin_hypercubes_have_one_point_in_every_part(count, low, width, log, seed):
    bounds = Range(low, low + width, log)
    group = latin_hypercube({"a": bounds, "b": bounds}, count, seed)
    for column in group.columns:
        values = np.array(column)
        shares = (values - low) / width
        if log:
            shares = np.log(values / low) / np.log((low + width) / low)
        inner = np.clip(shares * count, 1e-6, count - 1e-6)
        slack = np.minimum(inner % 1.0, 1.0 - inner % 1.0) < 1e-6  # on the edge of two parts
        parts = np.floor(inner)
        assert slack.any() or sorted(parts) == list(range(count))


def test_a_key_draws_the_same_beside_others():
    alone = latin_hypercube({"b": Range(0.0, 1.0)}, 20, 1)
    beside = latin_hypercube({"a": Range(2.0, 3.0), "b": Range(0.0, 1.0)}, 20, 1)
    assert alone.columns[0] == beside.columns[1]
    assert beside.columns[0] != beside.columns[1]


@pytest.mark.parametrize("log", [False, True])
def test_whole_numbers_reach_both_ends(log):
    values = latin_hypercube({"n": Range(1, 4, log, whole=True)}, 400, 0).columns[0]
    assert set(values) == {1, 2, 3, 4}
    assert all(isinstance(value, int) for value in values)
    if not log:
        assert min(values.count(k) for k in (1, 2, 3, 4)) == 100


@pytest.mark.parametrize("waits", [[0.05, 0.3], [0.3, 0.05]])
def test_points_whose_values_do_not_go_together_are_named(waits):
    sweep = small(grid={"controller.t1": [0.1, 0.2], "controller.t2": waits}, repeats=1)
    with pytest.raises(InputError, match=r"at point \d \(.*controller.t2 = 0.05.*\[zip\]") as fault:
        sweep.scenario(1)
    assert fault.value.code == "timer.order"


def test_a_scenario_is_not_a_sweep():
    with pytest.raises(InputError, match="this is a scenario, not a sweep: dwell run runs it"):
        parse_sweep(SCENARIO)


def test_seeds_may_be_as_large_as_those_of_a_run():
    huge = 123456789012345678901234567890
    plan = plan_of(small(seed=huge))
    assert plan.sweep.seed == huge
    with pytest.raises(InputError, match=r"run.seed needs whole numbers below 2\*\*63"):
        small(repeats=1, grid={"run.seed": [huge]})
    with pytest.raises(InputError, match="repeats must be at most 100000000"):
        small(repeats=2**60)


def test_laws_are_matched_unless_switched_off():
    grid = {"controller.kind": ["timer", "lloyd", "discrete-lloyd"]}
    matched, plain = (plan_of(small(grid=grid, repeats=1, **off)) for off in ({}, {"match": False}))
    assert matched.scenario(1).controller.k2 == 2.5
    assert matched.scenario(2).controller.speed == 0.5
    assert plain.scenario(1).controller.k2 == 1.0
    assert plain.scenario(2).controller.speed is None
    assert matched.scenario(1).controller.speed == 0.5
    assert "discrete-lloyd: no key sets the speed per distance" in matched.notes[0]
    assert plan_of(small()).notes == ()
    assert {matched.scenario(k).run.nu for k in (1, 2)} == {0.2}  # the timer law's, for all


@pytest.mark.parametrize("case", [-1, 24, 1.5, True])
def test_a_case_that_is_not_there(case):
    with pytest.raises(InputError, match="the sweep has cases 0 to 23"):
        plan_of(small()).scenario(case)


def test_a_template_travels_to_workers_and_files():
    grid = {"controller.t2": [0.2], "density": [{"kind": "uniform"}]}
    template = plan_of(small(grid=grid)).template
    assert template.keys == ["controller.t2", "density"]
    assert pickle.loads(pickle.dumps(template)) == template
    assert CaseTemplate(**json.loads(json.dumps(asdict(template)))) == template


def test_the_template_goes_with_its_scenario(tmp_path):
    from dwell.scenario import template_text
    from dwell.sweep import load_sweep
    from dwell.sweep.templates import SWEEPS, sweep_text

    (tmp_path / "two-hills.toml").write_text(template_text("two-hills"))
    for name in SWEEPS:
        (tmp_path / f"{name}.toml").write_text(sweep_text(name))
        assert len(plan_of(load_sweep(tmp_path / f"{name}.toml"))) == 25


def test_summaries_are_sampled_as_often_as_other_runs():
    def every(**changes):
        _, cases = cases_of(small(repeats=1, **changes))
        return [case.mapping["run"]["record"].get("sample_every") for case in cases]

    assert every(grid={"run.horizon": [1.0, 2.0]}) == [1.0 / 1000, 2.0 / 1000]
    assert every(grid={"run.record.sample_every": ["off", 0.25]}) == ["off", 0.25]
    own = {**SCENARIO, "run": {**SCENARIO["run"], "record": {"sample_every": 0.125}}}
    assert every(scenario=own, grid={}) == [0.125]
    kept = {**SCENARIO, "run": {**SCENARIO["run"], "record": {"kind": "summary"}}}
    assert every(scenario=kept, grid={}, record="scenario") == [None]


def test_points_that_cannot_be_run_are_counted_without_building_anything(monkeypatch):
    monkeypatch.setattr("dwell.scenario.build.build", None)
    grid = {"controller.t1": [0.1, 0.5], "controller.t2": [0.2, 0.4]}
    plan = plan_of(small(grid=grid))
    found = plan.impossible
    assert (found.points, found.checked) == (2, 4)
    assert found.first.startswith("at point 2 (controller.t1 = 0.5, controller.t2 = 0.2): ")
    assert plan_of(small()).impossible == Impossible(0, plan_of(small()).points, None)
    monkeypatch.setattr("dwell.sweep.plan.MOST_CHECKED", 3)
    assert plan_of(small(grid=grid)).impossible.checked == 3


@pytest.mark.parametrize("laws", [["timer", "lloyd", "python"], ["python"]], ids=str)
def test_a_law_of_the_paper_s_kind_has_its_certificate_varied(laws):
    scenario = {
        **SCENARIO,
        "controller": {"kind": "python", "class": "tests.agents.own_laws:OwnTimer"},
        "certificate": {"eta_max": 0.3, "lipschitz": 1.5},
    }
    timer = {"k1": 0.8, "nu": 0.8, "t1": 0.1, "t2": 0.2}
    varied = {KIND: laws} if len(laws) > 1 else {}
    own = {"laws": {"timer": timer}} if len(laws) > 1 else {}
    grid = {**varied, "certificate.lipschitz": [1.0, 2.0]}
    plan = plan_of(small(scenario=scenario, grid=grid, repeats=1, **own))
    found = [plan.scenario(k) for k in range(len(plan))]
    assert [
        (one.controller.kind, one.certificate and one.certificate.lipschitz) for one in found
    ] == [(law, each) for law in laws for each in ([None] if law == "lloyd" else [1.0, 2.0])]


def test_a_certificate_of_a_law_of_another_kind_is_not_varied():
    scenario = {**SCENARIO, "controller": {"kind": "lloyd"}}
    with pytest.raises(InputError, match=r"certificate\.lipschitz is varied, but lloyd has no"):
        plan_of(small(scenario=scenario, grid={"certificate.lipschitz": [1.0, 2.0]}))

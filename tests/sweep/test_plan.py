"""From a sweep file to cases: which, how many, with which seeds and keys."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dwell
from dwell.errors import InputError
from dwell.sweep import parse_sweep, plan_of
from dwell.sweep.axes import Range, latin_hypercube
from dwell.sweep.plan import CaseTemplate, Impossible
from tests.sweep.worlds import GRID, SCENARIO, small


def cases_of(sweep):
    plan = plan_of(sweep)
    template = CaseTemplate(plan.template)
    return plan, [template.case(plan.spec(k)) for k in range(len(plan))]


def test_a_grid_is_every_combination_with_every_repeat():
    plan, cases = cases_of(small())
    assert plan.points == 6
    assert len(cases) == 24
    seen = [(c.mapping["controller"]["t2"], c.mapping["controller"]["k1"]) for c in cases[::4]]
    assert seen == [(t2, k1) for t2 in GRID["controller.t2"] for k1 in GRID["controller.k1"]]
    assert [case.number for case in cases] == list(range(24))
    assert [case.repeat for case in cases[:5]] == [0, 1, 2, 3, 0]


def test_every_point_sees_the_same_starts_and_draws():
    _, cases = cases_of(small())
    seeds = {(c.repeat, c.seed, c.mapping["agents"]["start"]["seed"]) for c in cases}
    assert len(seeds) == 4
    assert len({seed for _, seed, _ in seeds}) == 4


def test_adding_a_value_changes_no_other_case():
    _, few = cases_of(small())
    wider = {**GRID, "controller.t2": [0.15, *GRID["controller.t2"]]}
    _, many = cases_of(small(grid=wider, repeats=6))
    assert {case.key for case in few} < {case.key for case in many}


def test_keys_are_told_apart_and_repeat():
    _, cases = cases_of(small())
    assert len({case.key for case in cases}) == len(cases)
    assert [case.key for case in cases] == [case.key for case in cases_of(small())[1]]
    other = [case.key for case in cases_of(small(seed=4))[1]]
    assert not {case.key for case in cases} & set(other)


def test_a_seed_may_be_of_any_size():
    large = 123456789012345678901234567890
    plan, cases = cases_of(small(seed=large))
    assert plan.sweep.seed == large
    assert 0 <= cases[0].seed < 2**63
    with pytest.raises(InputError, match=r"repeats needs a whole number from 1 to \d+, got"):
        small(repeats=2**60)


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


def test_a_law_may_need_what_only_an_axis_gives():
    grid = {"controller.kind": ["discrete-lloyd", "timer"], "controller.t2": [0.3]}
    scenario = {**SCENARIO, "controller": {"kind": "lloyd"}}
    laws = {"timer": {"k1": 0.5, "nu": 0.1, "t1": 0.1}}
    plan = plan_of(parse_sweep({"scenario": scenario, "grid": grid, "laws": laws}))
    assert plan.points == 2


def test_a_zip_goes_in_step_and_multiplies_a_grid():
    grid = {"controller.k1": [0.25, 0.5]}
    tied = {"controller.t1": [0.1, 0.2, 0.3], "controller.t2": [0.2, 0.4, 0.6]}
    plan, cases = cases_of(small(grid=grid, zip=tied, repeats=1))
    assert plan.points == 6
    for case in cases:
        law = case.mapping["controller"]
        assert law["t2"] == pytest.approx(2 * law["t1"])


def test_a_zip_may_have_a_value_in_several_rows():
    tied = {"controller.t1": [0.1, 0.1, 0.2], "controller.t2": [0.2, 0.4, 0.4]}
    plan, cases = cases_of(small(grid={}, zip=tied, repeats=1))
    assert plan.points == 3
    got = [(c.mapping["controller"]["t1"], c.mapping["controller"]["t2"]) for c in cases]
    assert got == [(0.1, 0.2), (0.1, 0.4), (0.2, 0.4)]


def test_rows_that_a_law_cannot_tell_apart_are_run_once():
    grid = {"controller.kind": ["timer", "lloyd"]}
    tied = {"controller.t2": [0.2, 0.3, 0.4], "run.horizon": [1.0, 1.0, 2.0]}
    plan, cases = cases_of(small(grid=grid, zip=tied, repeats=1))
    assert plan.points == 3 + 2
    assert len({case.key for case in cases}) == len(cases)


def test_many_values_are_looked_through_at_once():
    values = [float(k) for k in range(1, 40_001)]
    assert plan_of(small(grid={"run.horizon": values})).points == 40_000


def test_random_starts_are_random_where_the_start_is_varied():
    grid = {"agents.start": [{"count": 2}, {"count": 3}]}
    sweep = small(grid=grid)
    _, cases = cases_of(sweep)
    assert len({case.mapping["agents"]["start"]["seed"] for case in cases}) == 4
    assert len({case.key for case in cases}) == 8
    assert sweep.groups[0].columns[0] == ({"count": 2}, {"count": 3})  # nothing is written there


def test_entries_of_a_law_s_list_are_keys_too():
    law = {**SCENARIO["controller"], "reset": "sequence", "intervals": [0.1, 0.2]}
    grid = {"controller.intervals[1]": [0.2, 0.3]}
    _, cases = cases_of(small(scenario={**SCENARIO, "controller": law}, grid=grid, repeats=1))
    assert [c.mapping["controller"]["intervals"] for c in cases] == [[0.1, 0.2], [0.1, 0.3]]
    for case in cases:
        case.scenario()


def test_laws_may_be_tied_to_other_values():
    tied = {"controller.kind": ["timer", "lloyd"], "run.horizon": [1.0, 2.0]}
    _, cases = cases_of(small(grid={}, zip=tied, repeats=1))
    got = [(c.mapping["controller"]["kind"], c.mapping["run"]["horizon"]) for c in cases]
    assert got == [("timer", 1.0), ("lloyd", 2.0)]


def test_keys_need_no_quotes():
    nested = {"controller": {"t2": [0.2, 0.3]}}
    quoted = {"controller.t2": [0.2, 0.3]}
    assert plan_of(small(grid=nested)).digest == plan_of(small(grid=quoted)).digest


def test_agents_given_by_place_are_scattered_when_runs_repeat():
    given = {**SCENARIO, "agents": {"start": [[0.1, 0.1], [0.3, 0.3]]}}
    _, cases = cases_of(small(scenario=given))
    assert {c.mapping["agents"]["start"]["count"] for c in cases} == {2}
    _, kept = cases_of(small(scenario=given, starts="scenario"))
    assert kept[0].mapping["agents"]["start"] == [[0.1, 0.1], [0.3, 0.3]]
    _, alone = cases_of(small(scenario=given, repeats=1))
    assert alone[0].mapping["agents"]["start"] == [[0.1, 0.1], [0.3, 0.3]]


def test_the_number_of_agents_is_an_axis():
    _, cases = cases_of(small(grid={"agents.start.count": [2, 7]}, repeats=2))
    assert [dwell.run_scenario(case.scenario()).agents for case in cases] == [2, 2, 7, 7]


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


HUGE = {f"run.k{k}": list(range(1000)) for k in range(7)}

WRONG = {
    "an unknown key": ({"gird": {}}, "did you mean grid"),
    "no scenario": ({"scenario": None}, "is missing"),
    "a scenario that is a number": ({"scenario": 4}, "got 4"),
    "no repeats": ({"repeats": 0}, "from 1 on"),
    "half a repeat": ({"repeats": 1.5}, "got 1.5"),
    "a seed below zero": ({"seed": -1}, "from 0 on"),
    "unknown starts": ({"starts": "anywhere"}, '"random" or "scenario"'),
    "final as a word": ({"final": "yes"}, "true or false"),
    "an axis without values": ({"grid": {"controller.t2": []}}, "at least one value"),
    "an axis with one value": ({"grid": {"controller.t2": 0.2}}, "a list"),
    "a value twice": ({"grid": {"controller.t2": [0.2, 0.3, 0.2]}}, "twice"),
    "a key twice": ({"zip": {"controller.t2": [0.2]}}, "varied twice"),
    "one inside the other": ({"zip": {"controller": [{"kind": "lloyd"}]}}, "inside the other"),
    "unequal lists": ({"zip": {"run.horizon": [1], "run.max_jumps": [1, 2]}}, "run.horizon has 1"),
    "a sample without a count": ({"sample": {"run.horizon": [1, 2]}}, "sample.count"),
    "a sample of nothing": ({"sample": {"count": 3}}, "no key to draw"),
    "a range backwards": ({"sample": {"count": 3, "run.horizon": [2, 1]}}, "low < high"),
    "a range of words": ({"sample": {"count": 3, "run.horizon": ["a", "b"]}}, "low < high"),
    "logarithms of zero": (
        {"sample": {"count": 3, "run.horizon": {"low": 0, "high": 1, "scale": "log"}}},
        "low above 0",
    ),
    "an unknown word in a range": (
        {"sample": {"count": 3, "run.horizon": {"low": 0, "high": 1, "step": 1}}},
        "low < high",
    ),
    "halves as whole numbers": (
        {"sample": {"count": 3, "run.horizon": {"low": 0.5, "high": 1, "whole": True}}},
        "whole bounds",
    ),
    "a key that no law has": ({"grid": {"controller.t3": [0.2]}}, "no such key"),
    "a key that no scenario has": ({"grid": {"run.horizont": [0.2]}}, "did you mean run.horizon"),
    "an unknown law": ({"grid": {"controller.kind": ["timre"]}}, 'did you mean "timer"'),
    "a law that is not swept": ({"laws": {"lloyd": {"k2": 1.0}}}, "not in the sweep"),
    "a law's table as a number": ({"laws": {"lloyd": 3}}, "needs a table"),
    "an unknown key of a law": ({"laws": {"timer": {"k9": 3}}}, "no key k9"),
    "seeds beside repeats": ({"grid": {"run.seed": [1, 2]}}, "do one of the two"),
    "too many": ({"repeats": 2**40}, "at most"),
    "a broken key": ({"grid": {"run..horizon": [1.0]}}, "dotted"),
    "nan": ({"grid": {"run.horizon": [float("nan")]}}, "horizon"),
    "infinity later on": ({"grid": {"run.horizon": [1.0, float("inf")]}}, "grid.run.horizon"),
    "nan inside": ({"grid": {"workspace.upper": [[1.0, float("nan")]]}}, "got nan"),
    "a date": ({"grid": {"run.horizon": [1.0, datetime.date(2020, 1, 1)]}}, "grid.run.horizon"),
    "nothing": ({"grid": {"run.horizon": [1.0, None]}}, "got nothing"),
    "a number beyond all": ({"grid": {"run.max_jumps": [1, 10**30]}}, "grid.run.max_jumps"),
    "one and one": ({"grid": {"run.horizon": [1, 2.0, 1.0]}}, "has 1.0 twice"),
    "a row twice": ({"zip": {"run.horizon": [1, 2, 1], "run.max_jumps": [5, 6, 5]}}, "zip has"),
    "an entry inside": (
        {"grid": {"agents.start": [[[0.1, 0.1]]], "agents.start[0]": [[0.2, 0.2]]}},
        "inside the other",
    ),
    "more than can be counted": ({"repeats": 2**53, "grid": HUGE}, "at most"),
    "more points than can be counted": ({"grid": HUGE, "zip": {}}, "at most"),
    "a sample beyond all memory": ({"sample": {"count": 2**53, "run.horizon": [1, 2]}}, "at most"),
    "the run's whole table": ({"grid": {"run": [{"horizon": 1.0}]}}, "vary its keys"),
    "all about the agents": ({"grid": {"agents": [{"start": {"count": 2}}]}}, "vary its keys"),
    "places that would be scattered": (
        {"grid": {"agents.start": [{"count": 2}, [[0.1, 0.1]]]}},
        'starts = "scenario"',
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_files_are_refused_with_a_sentence(name):
    change, says = WRONG[name]
    with pytest.raises(InputError, match=says.replace("[", r"\[")):
        plan_of(small(**change))


def test_one_bad_point_is_no_reason_to_refuse_the_others():
    plan = plan_of(small(grid={"controller.t2": [0.3, 0.05]}))  # the second is below t1
    with pytest.raises(InputError, match=r"at point 1 \(controller.t2 = 0.05\): .*t2"):
        CaseTemplate(plan.template).case(plan.spec(4)).scenario()


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
    with pytest.raises(InputError, match="repeats needs a whole number from 1 to 9007199254740992"):
        small(repeats=2**60)


def test_laws_are_matched_unless_told_otherwise():
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


def test_a_plan_travels_as_text():
    plan = plan_of(small(grid={"controller.t2": [0.2], "density": [{"kind": "uniform"}]}))
    assert json.loads(plan.template)["keys"] == ["controller.t2", "density"]


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

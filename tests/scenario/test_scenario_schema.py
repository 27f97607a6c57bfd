"""What a scenario may say, and the sentence for everything that it may not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from dwell.errors import ScenarioError
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.places import DENSITY_TABLES, BoxSpec, MixtureSpec, uniform
from dwell.scenario.schema import ExactSpec, RecordSpec
from dwell.scenario.team import ScatterSpec


def test_defaults(parsed):
    scenario = parsed()
    assert scenario.schema_version == 1
    assert scenario.name is None
    assert scenario.density == uniform()
    assert scenario.certificate is None
    assert scenario.network is None
    assert scenario.controller.epsilon == 1e-8
    assert scenario.controller.reset == "uniform"
    assert scenario.controller.period is None
    assert scenario.agents.ids is None
    assert scenario.agents.count == 3
    assert scenario.run.integration == ExactSpec(kind="exact")
    assert scenario.run.record == RecordSpec()
    assert scenario.run.record.sample_every is None
    assert scenario.run.max_jumps == 50_000_000


def test_is_frozen_all_through_and_hashable(parsed):
    scenario = parsed("controller.t1=[0.1, 0.1, 0.1]", "agents.ids=[3, 1, 2]")
    with pytest.raises(ValidationError):
        scenario.name = "x"
    with pytest.raises(ValidationError):
        scenario.run.horizon = 3.0
    assert isinstance(hash(scenario), int)


def test_integers_become_floats(parsed):
    scenario = parsed("run.horizon=10", "controller.k1=1", "agents.start=[[1, 2]]")
    assert isinstance(scenario.run.horizon, float)
    assert isinstance(scenario.controller.k1, float)
    assert all(isinstance(x, float) for x in scenario.agents.start[0])


ACCEPTED = {
    "P4-tiny-t1-without-horizon": ["controller.t1=1e-60", "run.horizon=0"],
    "P5-just-enough": [f"controller.t1={16 * math.ulp(10.0)!r}"],
    "P12-scatter": ["agents.start={count = 2}", "controller.t1=[0.1, 0.1]"],
    "P13-timer": ["controller.initial_timer=[0.1, 0.15, 0.2]"],
    "P13-hold": ["controller.initial_hold=[[1, 0], [0, 0], [0.6, 0.8]]"],
    "covariance": ["density={kind='gaussian', center=[0, 0], covariance=[[2, 1], [1, 1]]}"],
    "tiny-covariance": [
        "density={kind='gaussian', center=[0, 0], covariance=[[1e-139, 0], [0, 1e-139]]}"
    ],
    "earliest": ["controller.reset=earliest"],
    "periodic": ["controller.reset=periodic"],
    "dropout": ["controller.reset=dropout", "controller.loss=0"],
}  # and whatever `mappings` of test_scenario_write draws


@pytest.mark.parametrize("overrides", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepts(parsed, overrides):
    assert isinstance(parsed(*overrides), Scenario)


MISSING = ["workspace", "agents", "controller", "run", "run.horizon", "agents.start"]
MISSING += ["workspace.lower", *(f"controller.{key}" for key in ("kind", "k1", "nu", "t1", "t2"))]


@pytest.mark.parametrize("name", MISSING)
def test_missing(base, name):
    *table, key = name.split(".")
    del (base[table[0]] if table else base)[key]
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(base)
    assert (caught.value.key, caught.value.code) == (name, "scenario.missing-key")
    assert len(str(caught.value)) > len(f"{name} is missing; it is .") + 5


def test_p19_missing_seed_is_left_open(base):
    del base["run"]["seed"]
    assert parse_scenario(base).run.seed is None
    base["run"]["seed"] = None
    assert parse_scenario(base).run.seed is None


def test_several_problems_come_in_file_order(refused):
    error = refused("run.seed=-1", "controller.k1=0", "workspace.lower=[1]", "controller.q=1")
    keys = [line.split()[0] for line in str(error).splitlines()]
    assert keys == ["workspace.lower", "controller.k1", "controller.q", "run.seed"]
    assert error.key == "workspace.lower"


def test_at_most_five_problems_are_shown(refused):
    error = refused(*(f"unknown{k}=1" for k in range(8)))
    lines = str(error).splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith("(and 3 more)")


def test_a_flood_of_problems_is_quick(base):
    base |= {f"k{i}": 1 for i in range(50_000)}
    with pytest.raises(ScenarioError, match="and 49995 more"):
        parse_scenario(base)


def test_a_wrong_kind_hides_what_may_fit_another_kind(refused):
    error = refused("controller={kind = 'swarm', gain = 3}")
    assert str(error).count("\n") == 0


def test_a_misspelt_key_is_not_also_missing(base):
    base["run"] = {"horizn": 3}
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(base)
    assert str(caught.value) == "run.horizn is not a known key; did you mean run.horizon?"


def test_direct_construction_checks_the_same_rules(parsed):
    with pytest.raises(ValidationError, match="must be at most"):
        Scenario.model_validate(
            {
                **parsed().model_dump(),
                "controller": {"kind": "timer", "k1": 1.0, "nu": 1.0, "t1": 2.0, "t2": 1.0},
            }
        )


def test_models_can_be_made_in_python():
    peak = DENSITY_TABLES["gaussian"](kind="gaussian", center=(0.0, 0.0), rate=1.0)
    assert MixtureSpec(kind="mixture", parts=(peak,)).parts == (peak,)
    assert ScatterSpec(count=3).region == "workspace"
    assert BoxSpec(kind="box", lower=(0.0, 0.0), upper=(1.0, 1.0)).upper == (1.0, 1.0)


def test_arrays_and_tuples_stand_for_lists(base):
    expected = parse_scenario(base)
    base["agents"]["start"] = np.array([[1, 1], [2, 2], [3, 3]], dtype="float32")
    base["controller"]["k1"] = np.float64(1.0)
    base["run"]["seed"] = np.int64(1)
    base["workspace"]["lower"] = (0, 0)
    assert parse_scenario(base) == expected


@pytest.mark.parametrize("value", [None, 3, [1], "x"])
def test_not_a_table(value):
    with pytest.raises(ScenarioError, match="must be a table"):
        parse_scenario(value)


ODD = [  # that no file holds: a table, a key, its value, and words of the refusal
    ("run", 3, 4, "names as keys only, got 3"),
    *(
        ("controller", "k1", value, "controller.k1 needs a number, got a value of")
        for value in (b"x", object(), 1j, {1}, lambda: 0)
    ),
]


@pytest.mark.parametrize(("table", "key", "value", "words"), ODD)
def test_odd_mappings(base, table, key, value, words):
    base[table][key] = value
    with pytest.raises(ScenarioError, match=words):
        parse_scenario(base)


def test_a_mapping_that_contains_itself(base):
    base["run"]["x"] = base
    with pytest.raises(ScenarioError, match="nested too deep"):
        parse_scenario(base)

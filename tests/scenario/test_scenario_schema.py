"""What a scenario may say, and the sentence for everything that it may not."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from dwell.errors import ScenarioError
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.places import BoxSpec, GaussianSpec, MixtureSpec, UniformSpec
from dwell.scenario.schema import ExactSpec, RecordSpec, ScatterSpec


def test_defaults(parsed):
    scenario = parsed()
    assert scenario.schema_version == 1
    assert scenario.name is None
    assert scenario.density == UniformSpec(kind="uniform", level=1.0)
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
    "P4-tiny-t1-without-horizon": ["controller.t1=1e-300", "run.horizon=0"],
    "P5-just-enough": [f"controller.t1={16 * math.ulp(10.0)!r}"],
    "P12-scatter": ["agents.start={count = 2}", "controller.t1=[0.1, 0.1]"],
    "P13-timer": ["controller.initial_timer=[0.1, 0.15, 0.2]"],
    "P13-hold": ["controller.initial_hold=[[1, 0], [0, 0], [0.6, 0.8]]"],
    "polygon": ["workspace={kind = 'polygon', vertices = [[0, 0]]}"],
    "uniform": ["density={kind = 'uniform', level = 3}"],
    "polynomial": ["density={kind = 'polynomial', terms = [[0, 12, -1.5]], origin = [1, 2]}"],
    "covariance": ["density={kind='gaussian', center=[0, 0], covariance=[[2, 1], [1, 1]]}"],
    "tiny-covariance": [
        "density={kind='gaussian', center=[0, 0], covariance=[[1e-200, 0], [0, 1e-200]]}"
    ],
    "callable": ["density={kind = 'callable', function = 'my.module:weight'}"],
    "region": ["agents.start={count = 4, region = {lower = [0, 0], upper = [1, 1]}, seed = 9}"],
    "earliest": ["controller.reset=earliest"],
    "latest": ["controller.reset=latest"],
    "periodic": ["controller.reset=periodic"],
    "periodic-each": ["controller.reset=periodic", "controller.period=[0.1, 0.2, 0.15]"],
    "sequence": ["controller.reset=sequence", "controller.intervals=[0.1, 0.2]"],
    "sequence-each": ["controller.reset=sequence", "controller.intervals=[[0.1], [0.2], [0.1]]"],
    "dropout": ["controller.reset=dropout", "controller.loss=0"],
    "grid": ["run.integration={kind = 'grid', spacing = 0.25}"],
    "certificate": ["certificate={eta_max = 0.3, lipschitz = [5, 5, 4]}"],
    "name": ["name=Überdeckung 7"],
}


@pytest.mark.parametrize("overrides", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepts(parsed, overrides):
    assert isinstance(parsed(*overrides), Scenario)


@pytest.mark.parametrize("key", ["workspace", "agents", "controller", "run"])
def test_missing_tables(base, key):
    del base[key]
    with pytest.raises(ScenarioError, match=f"^{key} is missing; it is the|^{key} is missing"):
        parse_scenario(base)


@pytest.mark.parametrize(
    ("table", "key"),
    [("controller", k) for k in ("kind", "k1", "nu", "t1", "t2")]
    + [("run", "horizon"), ("agents", "start"), ("workspace", "lower")],
)
def test_missing_keys(base, table, key):
    del base[table][key]
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(base)
    assert caught.value.key == f"{table}.{key}"
    assert caught.value.code == "scenario.missing-key"
    assert len(str(caught.value)) > len(f"{table}.{key} is missing; it is .") + 5


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
    peak = GaussianSpec(kind="gaussian", center=(0.0, 0.0), rate=1.0)
    assert MixtureSpec(kind="mixture", parts=(peak,)).parts == (peak,)
    assert ScatterSpec(count=3).region == "workspace"
    assert BoxSpec(kind="box", lower=(0.0, 0.0), upper=(1.0, 1.0)).upper == (1.0, 1.0)


class TestMappings:
    """Mappings made in Python, not read from a file."""

    def test_arrays_and_tuples_stand_for_lists(self, base):
        numpy = pytest.importorskip("numpy")
        expected = parse_scenario(base)
        base["agents"]["start"] = numpy.array([[1, 1], [2, 2], [3, 3]], dtype="float32")
        base["controller"]["k1"] = numpy.float64(1.0)
        base["run"]["seed"] = numpy.int64(1)
        base["workspace"]["lower"] = (0, 0)
        assert parse_scenario(base) == expected

    @pytest.mark.parametrize("value", [None, 3, [1], "x"])
    def test_not_a_table(self, value):
        with pytest.raises(ScenarioError, match="must be a table"):
            parse_scenario(value)

    def test_keys_are_names(self, base):
        base["run"][3] = 4
        with pytest.raises(ScenarioError, match="names as keys only, got 3"):
            parse_scenario(base)

    def test_recursive(self, base):
        base["run"]["x"] = base
        with pytest.raises(ScenarioError, match="nested too deep"):
            parse_scenario(base)

    @pytest.mark.parametrize("value", [b"x", object(), 1j, {1}, lambda: 0])
    def test_odd_values(self, base, value):
        base["controller"]["k1"] = value
        with pytest.raises(ScenarioError, match=r"controller\.k1 needs a number, got a value of"):
            parse_scenario(base)

    def test_huge_integers(self, base):
        base["run"]["seed"] = 10**5000
        with pytest.raises(
            ScenarioError, match=r"run\.seed must be a whole number of at most 3900"
        ):
            parse_scenario(base)

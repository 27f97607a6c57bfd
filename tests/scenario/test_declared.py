"""Tables and classes agree: both follow from one declaration of each parameter."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import Network
from dwell import _parameters as declared
from dwell._parameters import parameters_of
from dwell.density import DECLARED as DENSITIES
from dwell.errors import InputError, ScenarioError
from dwell.live.faults import Faults, Partition
from dwell.live.settings import LiveSettings
from dwell.scenario import parse_scenario, scenario_schema
from dwell.scenario.build import build_controller, build_density
from dwell.scenario.laws import LAW_KINDS
from tests.scenario.conftest import small

AGENTS = 3
# Beside ordinary values those at which limits lie, and some that nothing takes.
EDGES = (0.0, 1.0, 2.0, -1.0, 1e-13, 1e-70, 9e-71, 1e70, 1.1e70, 5e-324, 1e300, 0.01)
numbers = st.sampled_from(EDGES) | st.floats(0.01, 3.0)
several = st.lists(numbers, min_size=AGENTS, max_size=AGENTS)
odd = st.sampled_from([True, "1", [], [1.0], float("nan"), {}])


def values_of(kind: Any, dimension: int) -> st.SearchStrategy[Any]:
    """Values of a kind, mostly right."""
    point = st.lists(numbers, min_size=dimension, max_size=dimension)
    if isinstance(kind, declared.Word):
        return st.sampled_from(list(kind.choices))
    if isinstance(kind, declared.WordOrWhole):
        return st.sampled_from([kind.word, 0, 3, kind.most, kind.most + 1])
    if isinstance(kind, declared.Each):
        return numbers | several
    if isinstance(kind, declared.Times):
        lists = st.lists(several, min_size=AGENTS, max_size=AGENTS)
        return several | lists
    if isinstance(kind, declared.Vectors):
        return st.lists(point, min_size=AGENTS, max_size=AGENTS)
    if isinstance(kind, declared.Levels):
        return st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=4)
    if isinstance(kind, declared.Whole):
        return st.sampled_from([0, 1, 2, 3, 20, 21, -1, 1.0])
    if isinstance(kind, declared.Wholes):
        return st.lists(st.sampled_from([0, 1, 2, -1]), max_size=2)
    if isinstance(kind, declared.Range):
        return st.lists(numbers, min_size=2, max_size=2) | several
    if isinstance(kind, declared.Matrix):
        return st.lists(point, min_size=dimension, max_size=dimension)
    if isinstance(kind, declared.Terms):
        power = st.sampled_from([0, 1, 2, 9, -1])
        term = st.tuples(*[power] * dimension, numbers).map(list)
        return st.lists(term, min_size=1, max_size=3)
    return point if isinstance(kind, declared.Point) else numbers


@st.composite
def keys_of(draw: st.DrawFn, cls: Any) -> dict[str, Any]:
    """Keys of a class's table; those that belong to a choice mostly with that choice."""
    keys, by_name = {}, parameters_of(cls)
    some = draw(st.sets(st.sampled_from(sorted(by_name)), max_size=3))
    for name, one in by_name.items():
        if one.default is MISSING or name in some:
            wrong = draw(st.integers(0, 40)) == 0
            keys[name] = draw(odd if wrong else values_of(one.kind, 2))
    for name in sorted(some):
        if (owner := by_name[name].belongs) is not None and draw(st.integers(0, 9)):
            keys[owner[0]] = owner[1]
    return keys


def tuples(value: Any) -> Any:
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def refusal(call: Any) -> InputError | None:
    """What a call is refused with, if it is."""
    try:
        call()
    except InputError as fault:
        return fault
    return None


@pytest.mark.parametrize("kind", LAW_KINDS)
@given(data=st.data())
def test_a_table_of_a_law_is_accepted_where_its_class_is(kind: str, data: st.DataObject) -> None:
    keys = data.draw(keys_of(LAW_KINDS[kind]))
    law = {"kind": kind, **keys}
    scenario = {**small(), "controller": law, "run": {"horizon": 0.0}}
    of_table = refusal(lambda: parse_scenario(scenario))
    of_class = refusal(lambda: LAW_KINDS[kind](**{k: tuples(v) for k, v in keys.items()}))
    assert (of_table is None) == (of_class is None), (of_table, of_class)
    if of_table is None:
        made = build_controller(parse_scenario(scenario).controller)
        assert made == LAW_KINDS[kind](**{k: tuples(v) for k, v in keys.items()})


@pytest.mark.parametrize("cls", DENSITIES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_a_table_of_a_density_is_accepted_where_its_class_is(cls: Any, data: st.DataObject) -> None:
    keys = data.draw(keys_of(cls))
    table = {parameters_of(cls)[name].key or name: value for name, value in keys.items()}
    density = {"kind": cls.declaration.kind, **table}
    of_table = refusal(lambda: parse_scenario({**small(), "density": density}))
    of_class = refusal(lambda: cls(**{k: tuples(v) for k, v in keys.items()}))
    assert (of_table is None) == (of_class is None), (of_table, of_class)
    if of_table is None:
        spec = parse_scenario({**small(), "density": density}).density
        assert build_density(spec) == cls(**{k: tuples(v) for k, v in keys.items()})


@given(keys_of(Network))
def test_a_table_of_a_network_is_accepted_where_its_class_is(keys: dict[str, Any]) -> None:
    of_table = refusal(lambda: parse_scenario({**small(), "network": keys}))
    assert (of_table is None) == (refusal(lambda: Network(**keys)) is None)


@pytest.mark.parametrize("cls", [LiveSettings, Faults, Partition], ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_a_table_of_a_fleet_is_accepted_where_its_class_is(cls: Any, data: st.DataObject) -> None:
    keys = data.draw(keys_of(cls))
    keys.pop("partitions", None)
    table: Any = {parameters_of(cls)[name].key or name: value for name, value in keys.items()}
    fleet = {LiveSettings: table, Faults: {"faults": table}}.get(
        cls, {"faults": {"partitions": [table]}}
    )
    of_table = refusal(lambda: parse_scenario({**small(), "fleet": fleet}))
    of_class = refusal(lambda: cls(**{k: tuples(v) for k, v in keys.items()}))
    assert of_table is not None or of_class is None, of_class
    # What more is refused is beyond the scenario's agents or horizon, or only for virtual time.
    wide = {"quorum", "clock_offset", "group"} & set(keys)
    wide |= {name for name in ("margin", "loss") if keys.get(name) in (0.0, 1.0)}
    assert wide or (of_table is None) == (of_class is None), (of_table, of_class)


def test_the_schema_says_what_is_declared() -> None:
    tables = scenario_schema()["$defs"]
    for cls in (*LAW_KINDS.values(), *DENSITIES, Network, Faults, Partition):
        properties = dict(tables[f"{cls.__name__}Spec"]["properties"])
        properties.pop("kind", None)
        by_key = {one.key or name: one for name, one in parameters_of(cls).items()}
        assert list(properties) == list(by_key)
        for key, one in by_key.items():
            assert properties[key]["description"].startswith(one.description)
            assert tuple(properties[key].get("x-unit", (0, 0))) == one.unit
            assert properties[key].get("x-role", "") == one.role
            assert properties[key].get("x-per-agent", False) == one.per_agent
            assert properties[key].get("x-belongs", {}) == dict(
                [one.belongs] if one.belongs else []
            )


def test_a_key_that_needs_another_choice_names_both() -> None:
    for kind, cls in LAW_KINDS.items():
        for key, one in parameters_of(cls).items():
            if one.belongs is None or not isinstance(one.kind, declared.Number):
                continue
            law = {**(small()["controller"] if kind == "timer" else {"kind": kind}), key: 0.005}
            owner, choice = one.belongs
            if parameters_of(cls)[owner].default == choice:
                continue
            with pytest.raises(ScenarioError, match=f'belongs to {owner} = "{choice}"') as caught:
                parse_scenario({**small(), "controller": law})
            assert caught.value.key == f"controller.{key}"

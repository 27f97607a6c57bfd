"""Whatever comes in, a scenario comes out or a ScenarioError does."""

from __future__ import annotations

import copy
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell.errors import ScenarioError
from dwell.scenario import (
    TEMPLATES,
    Scenario,
    apply_overrides,
    dump_toml,
    parse_scenario,
    template_text,
    text_to_mapping,
)
from dwell.scenario.guards import decode

PIECES = [
    "[workspace]", "[density]", "[agents]", "[controller]", "[network]", "[run]", "[[run]]",
    "kind", "=", "\n", "\"box\"", "\"polygon\"", "\"mixture\"", "\"timer\"", "\"lloyd\"",
    "\"event-triggered\"", "levels", "loss", "parts", "start", "t1", "t2", "seed", "1", "-1",
    "0.5", "nan", "inf", "1e400", "true", "[", "]", "{", "}", ",", ".", "'", "\"", "\"\"\"",
    "'''", "#", "\\", " ", "\t", "\r", "\x00", "\ufeff", "é", "1979-05-27", "07:32:00", "0x", "_",
]  # fmt: skip
WORDS = [
    "workspace", "density", "agents", "controller", "network", "certificate", "run", "kind",
    "parts", "start", "count", "region", "t1", "seed", "record", "integration", "covariance",
    "levels", "dt", "factor", "~one", "~table",
]  # fmt: skip
KINDS = ["box", "polygon", "gaussian", "mixture", "grid", "events", "workspace", "off"]
KINDS += ["timer", "lloyd", "discrete-lloyd", "self-triggered", "event-triggered"]

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(KINDS)
    | st.dates()
    | st.times()
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=25,
)


def outcome(make):
    """The scenario, or None if it was refused in the right way."""
    refusal = None
    try:
        return make()
    except ScenarioError as error:
        refusal = error
    assert 1 <= len(str(refusal).splitlines()) <= 5
    assert refusal.code != "input"
    return None


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join))
def test_small_texts(text):
    for source in ("x.toml", "x.json", "x"):
        outcome(lambda source=source: parse_scenario(text_to_mapping(text, source)))


@given(st.binary(max_size=60))
def test_bytes(raw):
    outcome(lambda: text_to_mapping(decode(raw)))


@pytest.mark.exhaustive
@given(st.dictionaries(st.sampled_from(WORDS), trees, max_size=6))
def test_trees(mapping):
    outcome(lambda: parse_scenario(mapping))


def places(tree, where=()):
    """Every place of a tree."""
    yield where
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, item in items if isinstance(tree, (dict, list)) else ():
        yield from (
            places(item, (*where, key)) if isinstance(item, (dict, list)) else [(*where, key)]
        )


def exchanged(tree, where, value):
    """A copy of a tree with another value at one place."""
    whole = copy.deepcopy(tree)
    inside = whole
    for part in where[:-1]:
        inside = inside[part]
    inside[where[-1]] = value
    return whole


GOOD = [text_to_mapping(template_text(name)) for name in TEMPLATES if name != "paper-30"]


@pytest.mark.exhaustive
@given(st.sampled_from(GOOD), st.randoms(use_true_random=False), trees)
def test_one_thing_exchanged(good, chance: random.Random, tree):
    mapping = exchanged(good, chance.choice([where for where in places(good) if where]), tree)
    scenario = outcome(lambda: parse_scenario(mapping))
    if scenario is not None:
        assert isinstance(scenario, Scenario)
        assert parse_scenario(text_to_mapping(dump_toml(scenario))) == scenario


@given(st.text(max_size=12), st.sampled_from(["", "run.seed=", "agents.start[0]=", "run.record."]))
def test_overrides(text, head):
    outcome(lambda: parse_scenario(apply_overrides(GOOD[0], [head + text])))


@given(trees)
def test_json(tree):
    text = json.dumps(tree, default=str)
    outcome(lambda: parse_scenario(text_to_mapping(text, "x.json")))

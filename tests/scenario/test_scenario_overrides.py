"""Keys set from outside."""

from __future__ import annotations

import copy
from functools import reduce
from operator import getitem

import pytest

from dwell.errors import ScenarioError
from dwell.scenario import apply_overrides, parse_scenario

SET = {  # an override, and the place and value that it sets
    "number": ("controller.t2=0.5", ("controller", "t2"), 0.5),
    "integer": ("run.seed=7", ("run", "seed"), 7),
    "spaces": (" run.seed = 7 ", ("run", "seed"), 7),
    "bare": ("controller.reset=latest", ("controller", "reset"), "latest"),
    "quoted": ('name="a=b"', ("name",), "a=b"),
    "attribute": ("site.feature=name=North basin", ("site", "feature"), "name=North basin"),
    "words": ("name=two hills", ("name",), "two hills"),
    "function": ("density.function=a.b:c", ("density", "function"), "a.b:c"),
    "true": ("x=true", ("x",), True),
    "list": ("agents.start=[[0,0],[1,1]]", ("agents", "start"), [[0, 0], [1, 1]]),
    "table": ("agents.start={count = 3}", ("agents", "start"), {"count": 3}),
    "index-dot": ("agents.start.0=[9, 9]", ("agents", "start", 0), [9, 9]),
    "index-bracket": ("agents.start[2]=[9, 9]", ("agents", "start", 2), [9, 9]),
    "index-deep": ("agents.start[1][0]=9", ("agents", "start", 1), [9, 2]),
    "new-table": ("certificate.eta_max=1", ("certificate",), {"eta_max": 1}),
    "new-deep": ("run.record.sample_every=off", ("run", "record"), {"sample_every": "off"}),
    "dashed": ("controller.kind=self-triggered", ("controller", "kind"), "self-triggered"),
}


@pytest.mark.parametrize(("override", "where", "value"), SET.values(), ids=SET)
def test_sets(base, override, where, value):
    before = copy.deepcopy(base)
    assert reduce(getitem, where, apply_overrides(base, [override])) == value
    assert base == before


def test_the_last_one_wins_and_one_string_is_one_override(base):
    assert apply_overrides(base, ["run.seed=1", "run.seed=2"])["run"]["seed"] == 2
    assert apply_overrides(base, "run.seed=5")["run"]["seed"] == 5


def test_values_are_copied(base):
    twice = apply_overrides(base, ["agents.start[0]=[0, 0]"])
    twice["agents"]["start"][1][0] = 77
    assert base["agents"]["start"][1][0] == 2


WRONG = {
    "no-equals": ("run.seed", None, "key=value"),
    "no-key": ("=3", None, "key=value"),
    "bad-key": ("run..seed=3", None, "key=value"),
    "bad-index": ("agents.start[x]=3", None, "key=value"),
    "many-parts": (".".join(["a"] * 20) + "=1", None, "key=value"),
    "no-value": ("run.seed=", "run.seed", "TOML value"),
    "half": ("run.seed=[[", "run.seed", "TOML value"),
    "smuggled": ("run.seed=1\nrun.horizon=3", "run.seed", "TOML value"),
    "smuggled-table": ("run.seed=1\n[x]\n", "run.seed", "TOML value"),
    "deep": ("x=" + "[" * 100, None, "nested brackets"),
    "digits": ("run.seed=" + "9" * 5000, None, "digits"),
    "past-the-end": ("agents.start[3]=[0, 0]", "agents.start", "entries 0 to 2, got 3"),
    "not-an-index": ("agents.start.first=[0, 0]", "agents.start", 'got "first"'),
    "into-a-number": ("run.seed.x=1", "run.seed", "must be a table"),
    "index-into-a-table": ("run[0]=1", "run", "must be a list"),
}


@pytest.mark.parametrize(("override", "key", "words"), WRONG.values(), ids=WRONG)
def test_refuses(base, override, key, words):
    with pytest.raises(ScenarioError) as caught:
        apply_overrides(base, [override])
    assert caught.value.key == key
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_keys_are_named_by_the_parser(base):
    with pytest.raises(ScenarioError, match=r"did you mean controller\.t2\?"):
        parse_scenario(apply_overrides(base, ["controller.t_2=0.5"]))

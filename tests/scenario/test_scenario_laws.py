"""The tables of the laws and of the network: every key, right and wrong."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from dwell.scenario import dump_toml, parse_scenario, scenario_schema, text_to_mapping
from dwell.scenario.laws import LAW_TABLES as SPECS
from dwell.scenario.laws import NetworkSpec
from tests.scenario.conftest import refusal_of, small

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = scenario_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TIMER = small()["controller"]
DEFAULTS: dict[str, dict[str, Any]] = {
    "lloyd": {
        "k2": 1.0, "mode": "sampled", "dt": None, "tolerance": None, "speed": None,
        "feedforward": "none", "trust": None,
    },
    "discrete-lloyd": {
        "step": 1.0, "relaxation": 1.0, "speed": None, "schedule": "synchronous", "rate": None,
    },
    "self-triggered": {
        "kappa": 1.0, "v": 0.35, "tau_min": 0.01, "tau_max": 0.75, "delta": 3.0, "scan": 0.01,
        "preset": "default", "factor": None, "own": None, "second": None, "bound": None,
        "stop": None,
    },
    "self-triggered-centroid": {
        "v_max": 1.0, "dt": 0.025, "epsilon": 0.1, "t_max": None, "decision": "multi-step",
        "bound": "circumradius",
    },
    "event-triggered": {
        "s_max": 1.0, "dt": 0.05, "levels": (0.0, 0.25, 0.5, 1.0), "k_v": 1.0, "d_stop": 0.01,
        "d_start": 0.02, "heartbeat": None, "bound": "diameter",
    },
    "tvd": {"kappa": 1.0, "order": "C", "dt": 0.01, "speed": None},
    "minimum-energy": {"alpha": 2.0, "rho": 100.0, "dt": 0.01, "speed": None},
}  # fmt: skip

# Each key of each law is given somewhere here, and each word of each key.
GIVEN: list[dict[str, Any]] = [
    TIMER,
    {"kind": "lloyd", "k2": 2, "mode": "sampled", "dt": 0.5, "speed": 3},
    {"kind": "lloyd", "k2": 1e-3, "mode": "ode", "tolerance": 1e-6},
    {"kind": "lloyd", "feedforward": "neighbours", "trust": 0.5},
    {"kind": "lloyd", "feedforward": "own"},
    {"kind": "lloyd", "feedforward": "ahead"},
    {"kind": "lloyd", "feedforward": "none"},
    {"kind": "tvd", "kappa": 2, "order": "C", "dt": 0.5, "speed": 3},
    {"kind": "tvd", "order": 2},
    {"kind": "minimum-energy", "alpha": 2, "rho": 1e4, "dt": 0.5, "speed": 3},
    {"kind": "discrete-lloyd", "step": 0.5, "relaxation": 1.999, "speed": 3},
    {"kind": "discrete-lloyd", "schedule": "poisson", "rate": 4, "relaxation": 5e-324},
    {"kind": "discrete-lloyd", "schedule": "poisson"},
    {"kind": "discrete-lloyd", "schedule": "round-robin"},
    {"kind": "discrete-lloyd", "schedule": "random"},
    {"kind": "discrete-lloyd", "schedule": "synchronous"},
    {"kind": "self-triggered", "kappa": 2, "v": 0.1, "tau_min": 0.1, "tau_max": 0.1, "delta": 9},
    {"kind": "self-triggered", "scan": 0.75, "preset": "paper-like", "factor": 1, "own": "exact"},
    {"kind": "self-triggered", "preset": "default", "factor": 2, "own": "ball"},
    {"kind": "self-triggered", "second": "gv-centroid", "bound": "diameter", "stop": "before"},
    {"kind": "self-triggered", "second": "sampled", "bound": "circumradius", "stop": "after"},
    {"kind": "self-triggered-centroid", "v_max": 2, "dt": 0.5, "epsilon": 0, "t_max": 0.25},
    {"kind": "self-triggered-centroid", "decision": "one-step", "bound": "diameter"},
    {"kind": "self-triggered-centroid", "decision": "multi-step", "bound": "circumradius"},
    {"kind": "event-triggered", "s_max": 2, "dt": 0.5, "levels": [0, 1], "k_v": 3},
    {"kind": "event-triggered", "d_stop": 0, "d_start": 1e-70, "heartbeat": 1},
    {"kind": "event-triggered", "d_stop": 0.5, "d_start": 0.75, "bound": "circumradius"},
    {"kind": "event-triggered", "levels": [0.0, 1e-9, 0.5, 0.75, 1.0], "bound": "diameter"},
]


def with_law(law: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """The small scenario with another law, and further tables."""
    return {**small(), "controller": law, **tables}


def valid(mapping: dict[str, Any]) -> bool:
    """Whether the published schema takes a mapping."""
    return VALIDATOR.is_valid(mapping)


class TestAccepted:
    """What may be said."""

    @pytest.mark.parametrize("kind", DEFAULTS)
    def test_defaults(self, kind):
        law = parse_scenario(with_law({"kind": kind})).controller
        assert law.model_dump() == {"kind": kind, **DEFAULTS[kind]}

    @pytest.mark.parametrize("law", GIVEN, ids=str)
    def test_given_written_and_read_back(self, law):
        links = {"loss": 0.0 if law.get("mode") == "ode" else 0.5, "delay": 0.0}
        scenario = parse_scenario(with_law(law, network=links))
        kept = json.loads(scenario.controller.model_dump_json())
        assert {key: kept[key] for key in law} == law
        assert isinstance(hash(scenario), int)
        written = dump_toml(scenario)
        assert parse_scenario(text_to_mapping(written)) == scenario
        assert parse_scenario(json.loads(scenario.model_dump_json())) == scenario
        assert valid(text_to_mapping(written))
        assert f"[network]\nloss = {links['loss']}\ndelay = 0.0\n" in written

    def test_every_key_and_word_is_given_above(self):
        for kind, spec in SPECS.items():
            tables = [law for law in GIVEN if law["kind"] == kind]
            if kind == "timer":
                continue  # the other files here are about it
            assert {key for law in tables for key in law} == set(spec.model_fields)
            properties = spec.model_json_schema()["properties"]
            for key, field in properties.items():
                inner = [field, *field.get("anyOf", [])]
                words = {word for part in inner for word in part.get("enum", [])}
                assert {law[key] for law in tables if key in law and words} == words, key

    def test_numbers_become_floats_and_lists_tuples(self):
        law = parse_scenario(with_law({"kind": "event-triggered", "levels": [0, 1]})).controller
        assert law.levels == (0.0, 1.0)
        assert all(isinstance(level, float) for level in law.levels)

    def test_no_law_is_slower_than_the_clock(self):
        least = 16 * math.ulp(10.0)
        for kind, key in (("lloyd", "dt"), ("discrete-lloyd", "step"), ("event-triggered", "dt")):
            parse_scenario(with_law({"kind": kind, key: least}))
        waits = {"tau_min": least, "scan": least, "tau_max": 1e-9}
        parse_scenario(with_law({"kind": "self-triggered", **waits}))
        parse_scenario(
            with_law({"kind": "discrete-lloyd", "schedule": "poisson", "rate": 1 / least})
        )
        tiny = {"kind": "lloyd", "dt": 1e-60}
        parse_scenario(with_law(tiny, run={"horizon": 0.0}))


POSITIVE = {
    "lloyd": ["k2", "dt", "speed"],
    "discrete-lloyd": ["step", "relaxation", "speed", "rate"],
    "self-triggered": ["kappa", "v", "tau_min", "tau_max", "delta", "scan"],
    "self-triggered-centroid": ["v_max", "dt", "t_max"],
    "event-triggered": ["s_max", "dt", "k_v", "d_start", "heartbeat"],
    "tvd": ["kappa", "dt", "speed"],
    "minimum-energy": ["alpha", "rho", "dt", "speed"],
}
NOT_NEGATIVE = {"self-triggered-centroid": ["epsilon"], "event-triggered": ["d_stop"]}
OTHERS = {  # whose wrong values are rows of refused.txt
    "kind", "levels", "factor", "tolerance", "mode", "schedule", "preset", "own", "second",
    "bound", "stop", "decision", "feedforward", "trust", "order",
}  # fmt: skip
BAD = [  # a value, the code, and what the sentence says after the key
    *((value, "scenario.type", "needs a number, got ") for value in ("1", True, [1.0], {})),
    *((x, "scenario.not-finite", "needs a finite") for x in (math.nan, math.inf, -math.inf)),
    (-1.5, "scenario.range", "must be {}, got -1.5."),
    (0, "scenario.range", "must be {}, got 0."),
]
NUMBERS = [
    (kind, key, limit)
    for table, limit in ((POSITIVE, "greater than 0"), (NOT_NEGATIVE, "at least 0"))
    for kind, keys in table.items()
    for key in keys
]


@pytest.mark.parametrize(("kind", "key", "limit"), NUMBERS)
def test_refused_values(kind, key, limit):
    for value, code, says in BAD:
        mapping = with_law({"kind": kind, key: value})
        if value == 0 and limit == "at least 0":
            assert parse_scenario(mapping)
            continue
        error = refusal_of(mapping)
        assert (error.code, error.key) == (code, f"controller.{key}")
        assert str(error).startswith(f"controller.{key} {says.format(limit)}")
        assert code == "scenario.not-finite" or not valid(mapping)


def test_every_key_is_spoiled_above():
    for kind, fields in DEFAULTS.items():
        numbers = {key for law, key, _ in NUMBERS if law == kind}
        assert set(fields) - OTHERS == numbers


class TestStrangers:
    """A law is exchanged, and the keys of the old one stay behind."""

    def test_keys_that_both_laws_have_may_stay(self, refused):
        error = refused("controller.kind=self-triggered-centroid", "controller.epsilon=0.5")
        assert "so do nu, t1 and t2" in str(error)

    def test_keys_of_several_laws_are_several_sentences(self, refused):
        error = refused("controller={kind='lloyd', delta=1, v=1, levels=[0, 1], tau_min=0.1}")
        first, second = str(error).splitlines()
        assert first.startswith('controller.delta belongs to kind = "self-triggered", and so do v')
        assert second.startswith('controller.levels belongs to kind = "event-triggered", got')

    def test_the_whole_table_set_anew(self, parsed):
        assert parsed("controller={kind = 'lloyd'}").controller.kind == "lloyd"


def test_networks(parsed):
    """Samples and messages that are lost or late, beside every law."""
    assert parsed().network is None
    assert "[network]" not in dump_toml(parsed())
    for kind in SPECS:
        law = TIMER if kind == "timer" else {"kind": kind}
        scenario = parse_scenario(with_law(law, network={"loss": 0.25, "delay": 2}))
        assert scenario.network == NetworkSpec(loss=0.25, delay=2.0)
    ode = {"kind": "lloyd", "mode": "ode"}
    parse_scenario(with_law(ode, network={"delay": 0.0}))
    parse_scenario(with_law(ode, run={"horizon": 1e16}))  # no wait, so no resolution either
    assert parsed("network={}").network == NetworkSpec(loss=0.0, delay=0.0)
    assert parsed("network.loss=0").network == NetworkSpec()


def test_the_published_schema_has_every_law():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    known = set(SCHEMA["properties"]["controller"]["discriminator"]["mapping"])
    assert known == {*SPECS, "python"}
    levels = SCHEMA["$defs"]["EventTriggeredSpec"]["properties"]["levels"]
    assert (levels["minItems"], levels["items"]["maximum"]) == (2, 1)
    relaxation = SCHEMA["$defs"]["DiscreteLloydSpec"]["properties"]["relaxation"]
    assert (relaxation["exclusiveMinimum"], relaxation["exclusiveMaximum"]) == (0, 2)


def test_further_keys_of_a_law_in_python_are_parameters():
    """Nothing is imported until the law is built."""
    given = {
        "k": 1, "wait": 0.25, "word": "x y", "on": True, "rows": [[1, 2.5], []],
        "table": {"a": [False], "b": {"c": "d"}}, "law": 2,
    }  # fmt: skip
    law = {"kind": "python", "class": "nowhere.mine:Law", **given}
    scenario = parse_scenario(with_law(law, modules="some folder"))
    assert scenario.controller.model_extra == given
    assert scenario.controller.law == "nowhere.mine:Law"
    assert isinstance(hash(scenario), int)
    assert parse_scenario(text_to_mapping(dump_toml(scenario))) == scenario
    assert parse_scenario(json.loads(scenario.model_dump_json())) == scenario
    assert valid(text_to_mapping(dump_toml(scenario)))

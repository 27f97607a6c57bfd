"""Scenarios written and read back; templates; the published schema."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell.errors import ScenarioError
from dwell.geometry import Ball, Box, Interval
from dwell.scenario import (
    TEMPLATES,
    dump_toml,
    parse_scenario,
    scenario_schema,
    template_text,
    text_to_mapping,
)
from dwell.scenario.build import build
from tests.scenario.test_scenario_laws import GIVEN

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-34, max_value=1e34)
point = st.tuples(finite, finite).map(list)
corners = {"lower": [-1.5, -2.0], "upper": [3.25, 1e-3]}
uniform = st.builds(lambda level: {"kind": "uniform", "level": level}, positive)
gaussian = st.builds(
    lambda c, r, w: {"kind": "gaussian", "center": c, "rate": r, "weight": w},
    point,
    positive,
    positive,
)
wide = st.builds(
    lambda c, a, d: {"kind": "gaussian", "center": c, "covariance": [[a, 0.0], [0.0, d]]},
    point,
    positive,
    positive,
)
polynomial = st.builds(
    lambda ts, o: {"kind": "polynomial", "terms": [list(t) for t in ts], "origin": o},
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), finite), min_size=1, max_size=4),
    point,
)
part = uniform | gaussian | wide | polynomial
density = (
    part
    | st.lists(part, min_size=1, max_size=3).map(lambda parts: {"kind": "mixture", "parts": parts})
    | st.just({"kind": "callable", "function": "a.b:c"})
)
workspace = st.just({"kind": "box", **corners}) | st.lists(point, min_size=3, max_size=9).map(
    lambda vertices: {"kind": "polygon", "vertices": vertices}
)
# Laws other than the timer law, with horizons of any length: no wait shorter than the default.
others = st.sampled_from([law for law in GIVEN if law["kind"] != "timer"])
network = st.fixed_dictionaries(
    {}, optional={"loss": st.floats(0, 0.999), "delay": st.floats(0, 1e300)}
)
text = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=30)


@st.composite
def mappings(draw):
    """Scenarios of every kind, all of them right."""
    n = draw(st.integers(1, 12))
    waits = st.floats(0.25, 0.75)
    each = waits | st.lists(waits, min_size=n, max_size=n)
    controller = {
        "kind": "timer",
        "k1": draw(positive),
        "nu": draw(positive),
        "t1": 0.25,
        "t2": draw(st.sampled_from([0.75, [0.75] * n])),
        "epsilon": draw(st.floats(1e-13, 0.01)),
    }
    extra = draw(
        st.sampled_from(
            [
                {},
                {"reset": "latest"},
                {"reset": "periodic", "period": draw(each)},
                {"reset": "sequence", "intervals": draw(st.lists(waits, min_size=1, max_size=3))},
                {"reset": "sequence", "intervals": [[0.5]] * n},
                {"reset": "dropout", "loss": 0.1},
                {"initial_timer": draw(each), "initial_hold": [[0.0, -0.0]] * n},
            ]
        )
    )
    start = st.lists(point, min_size=n, max_size=n) | st.sampled_from(
        [{"count": n}, {"count": n, "region": corners, "seed": 2**80}]
    )
    data = {
        "workspace": draw(workspace),
        "density": draw(density),
        "agents": {"start": draw(start)},
        "controller": {**controller, **extra},
        "run": {"horizon": draw(st.floats(0, 1e6)), "seed": draw(st.integers(0, 2**300))},
    }
    if draw(st.booleans()):
        data["name"] = draw(text)
        data["agents"]["ids"] = list(range(n, 2 * n))
        data["certificate"] = {"eta_max": draw(positive), "lipschitz": draw(each)}
        data["network"] = draw(network)
        data["run"] |= {
            "integration": {"kind": "grid", "spacing": draw(positive)},
            "record": {"sample_every": "off"},
            "max_jumps": 3,
        }
    if draw(st.booleans()):
        data["controller"] = draw(others)
        data.pop("certificate", None)
        if data["controller"].get("mode") == "ode":
            data.pop("network", None)
    return data


@given(mappings())
def test_round_trip(mapping):
    scenario = parse_scenario(mapping)
    written = dump_toml(scenario)
    again = parse_scenario(text_to_mapping(written))
    assert again == scenario
    assert dump_toml(again) == written
    assert parse_scenario(scenario.model_dump()) == scenario
    assert parse_scenario(json.loads(scenario.model_dump_json())) == scenario


def test_written_toml_is_plain_and_keeps_every_digit(parsed):
    written = dump_toml(parsed("controller.k1=0.1234567890123456789", "controller.nu=1e22"))
    assert "k1 = 0.12345678901234568\n" in written
    assert tomllib.loads(written)["controller"]["nu"] == 1e22
    assert "[controller]\n" in written
    assert "None" not in written


def test_long_lists_are_broken_into_lines(parsed):
    written = dump_toml(parsed(f"agents.start={[[k, 0.5] for k in range(60)]}"))
    assert max(map(len, written.splitlines())) <= 100


BUILT = {"line-8": (Interval, (8, 1)), "space-12": (Box, (12, 3)), "disc-9": (Ball, (9, 2))}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name):
    written = template_text(name)
    scenario = parse_scenario(text_to_mapping(written))
    if name in BUILT:
        system, start, repairs = build(scenario)
        assert (type(system.workspace), start.shape, repairs) == (*BUILT[name], ())
        assert scenario.controller.kind == "timer"
        assert "our own" in written
    assert parse_scenario(text_to_mapping(dump_toml(scenario))) == scenario
    assert written.startswith("# ")
    assert max(map(len, written.splitlines())) <= 100
    assert TEMPLATES[name]


def test_paper_templates_have_the_parameters_of_the_paper():
    thirty, twelve = (
        parse_scenario(text_to_mapping(template_text(f"paper-{n}"))) for n in (30, 12)
    )
    law = thirty.controller
    assert (law.k1, law.nu, law.epsilon, law.t1, law.t2) == (0.525, 0.7, 1e-8, 0.01, 0.03)
    assert (thirty.certificate.eta_max, thirty.certificate.lipschitz) == (0.4, 5.0)
    law = twelve.controller
    assert (law.k1, law.nu, law.epsilon, law.t1, law.t2) == (0.5, 0.5, 1e-8, 0.2, 0.65)
    assert (twelve.certificate.eta_max, twelve.certificate.lipschitz) == (0.3, 5.0)
    for scenario, count in ((thirty, 30), (twelve, 12)):
        assert scenario.agents.count == count
        assert len(set(scenario.agents.start)) == count
        assert len(scenario.workspace.vertices) == 7
        assert (scenario.density.center, scenario.density.rate) == ((7.5, 4.5), 0.03)
        assert (scenario.run.horizon, scenario.run.seed) == (150.0, 1)
        assert scenario.run.record.sample_every == 0.05
        assert "reconstruction" in template_text(f"paper-{count}")


@pytest.mark.parametrize("name", ["paper-31", "", "../x", "zzz"])
def test_unknown_template(name):
    with pytest.raises(ScenarioError, match="a template must be two-hills, paper-12, paper-30, "):
        template_text(name)


def test_the_paper_compares_three_laws_from_one_start():
    timer, lloyd, triggered = (
        parse_scenario(text_to_mapping(template_text(f"paper-12{law}")))
        for law in ("", "-lloyd", "-self-triggered")
    )
    law = lloyd.controller
    assert (law.kind, law.k2, law.mode, law.dt) == ("lloyd", 1.0, "sampled", 0.01)
    law = triggered.controller
    assert law.kind == "self-triggered"
    assert (law.kappa, law.v, law.delta) == (1.0, 0.35, 3.0)
    assert (law.tau_min, law.tau_max, law.scan, law.preset) == (0.01, 0.75, 0.01, "default")
    for other in (lloyd, triggered):
        assert other.certificate is None
        for table in ("workspace", "density", "agents", "run"):
            assert getattr(other, table) == getattr(timer, table)
    for name in ("paper-12-lloyd", "paper-12-self-triggered"):
        assert "pictures only" in template_text(name)
        assert "reconstruction" in template_text(name)
    assert "equation of the self-trigger is\n# reconstructed" in template_text(
        "paper-12-self-triggered"
    )


def test_the_event_triggered_template_starts_in_a_corner():
    scenario = parse_scenario(text_to_mapping(template_text("event-triggered-8")))
    assert scenario.agents.count == 8
    assert (scenario.workspace.lower, scenario.workspace.upper) == ((0.0, 0.0), (4.0, 4.0))
    assert [part.center for part in scenario.density.parts] == [(2.0, 3.0), (3.0, 1.0)]
    assert all(0 < x < 1.25 and 0 < y < 1.25 for x, y in scenario.agents.start)
    assert scenario.controller.kind == "event-triggered"
    assert "our own" in template_text("event-triggered-8")


class TestSchema:
    """The published JSON Schema."""

    def test_head(self):
        schema = scenario_schema()
        assert schema["$schema"].endswith("draft/2020-12/schema")
        assert schema["title"] == "dwell scenario"
        assert schema["required"] == ["agents", "controller", "run"]
        assert json.loads(json.dumps(schema, allow_nan=False)) == schema

    def test_every_field_is_described_and_no_table_takes_unknown_keys(self):
        schema = scenario_schema()
        tables = [schema, *(d for d in schema["$defs"].values() if d["type"] == "object")]
        assert len(tables) >= 21
        own = schema["$defs"]["PythonSpec"]  # the keys of a class in Python are its own
        for table in tables:
            assert table["description"]
            assert table["additionalProperties"] == ({} if table is own else False)
            for key, field in table["properties"].items():
                assert len(field.get("description", "")) > 10, key

    def test_kinds_and_bounds_are_in_it(self):
        defs = scenario_schema()["$defs"]
        timer = defs["TimerSpec"]["properties"]
        assert timer["kind"]["const"] == "timer"
        assert timer["k1"]["exclusiveMinimum"] == 0
        assert timer["epsilon"]["exclusiveMaximum"] == 1
        assert timer["t1"]["oneOf"][0]["exclusiveMinimum"] == 0
        assert defs["RunSpec"]["properties"]["horizon"]["minimum"] == 0
        assert "dropout" in timer["reset"]["enum"]
        kinds = scenario_schema()["properties"]["workspace"]["discriminator"]["mapping"]
        flat = ["box", "interval", "polygon", "polytope", "region"]
        assert sorted(kinds) == sorted([*flat, "ball", "ellipsoid"])

"""Sweep files are tables with declared keys: their JSON Schema, and all their faults at once."""

from __future__ import annotations

import tomllib
from typing import Any

import jsonschema
import pytest

from dwell.errors import InputError
from dwell.sweep import parse_sweep
from dwell.sweep.schema import SweepTable, sweep_schema
from dwell.sweep.templates import SWEEPS, sweep_text
from tests.cli.shell import dwell as shell
from tests.sweep.worlds import SCENARIO

WRONG: dict[str, dict[str, Any]] = {
    "repeats": {"repeats": 0}, "seed": {"seed": -1}, "starts": {"starts": "anywhere"},
    "final": {"final": "yes"}, "grid.run.horizon": {"grid": {"run.horizon": []}},
    "grid": {"grid": 3}, "laws.lloyd": {"laws": {"lloyd": 3}}, "gird": {"gird": {}},
    "sample.count": {"sample": {"count": 0, "run.horizon": [1, 2]}},
    "sample.run.horizon.step": {"sample": {"count": 3, "run.horizon": {"low": 1, "high": 2,
                                                                       "step": 1}}},
    "sample.run.horizon.scale": {"sample": {"count": 3, "run.horizon": {"low": 1, "high": 2,
                                                                        "scale": "ln"}}},
}  # fmt: skip


@pytest.mark.parametrize("name", SWEEPS)
def test_templates_have_the_form_of_the_schema(name: str) -> None:
    jsonschema.validate(tomllib.loads(sweep_text(name)), sweep_schema())


@pytest.mark.parametrize("key", WRONG)
def test_what_the_schema_refuses_is_refused(key: str) -> None:
    sweep = {"scenario": SCENARIO, **WRONG[key]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(sweep, sweep_schema())
    with pytest.raises(InputError) as caught:
        parse_sweep(sweep)
    assert caught.value.key == key
    assert str(caught.value.code).startswith("sweep.")


def test_all_faults_are_named_in_the_order_of_the_file() -> None:
    sweep = {"final": 1, "scenario": SCENARIO, "reapeats": 2, "grid": {"run.horizon": [1, 1]}}
    with pytest.raises(InputError) as caught:
        parse_sweep(sweep)
    lines = str(caught.value).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["final", "reapeats", "grid.run.horizon"]
    assert "did you mean repeats?" in lines[1]


def test_the_shell_prints_the_schema() -> None:
    assert shell("schema", "--sweep").json == sweep_schema()
    described = sweep_schema()["properties"]
    assert set(described) == set(SweepTable.model_fields)
    assert all(one["description"] for one in described.values())

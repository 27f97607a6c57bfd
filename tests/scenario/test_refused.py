"""Every refusal of the parser and the builder, once; one per family through the command line."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from dwell.errors import DwellError, ScenarioError
from dwell.scenario import apply_overrides, parse_scenario
from dwell.scenario.build import build
from tests.catalogue.kit import rows_of
from tests.cli.shell import dwell
from tests.scenario.conftest import small
from tests.scenario.test_any_dimension import box, scenario_of
from tests.scenario.test_scenario_laws import VALIDATOR


class Row(NamedTuple):
    """One line of refused.txt."""

    changes: list[str]
    key: str
    code: str
    words: list[str]
    base: str


REFUSED = {
    name: Row(changes.split(" & "), key, code, words.split(" & "), base)
    for base, name, (changes, key, code, words) in rows_of(Path(__file__).with_name("refused.txt"))
}
BASES = {"plane": small} | {f"box-{n}": partial(scenario_of, box(n)) for n in (1, 3, 4)}
# What the published schema can say as well.
IN_SCHEMA = ("scenario.kind", "scenario.range", "scenario.unknown-key")
LONG = {
    "P19-too-long": Row(["run.seed=0x" + "f" * 5000], "run.seed", "scenario.range", ["3900"], ""),
    "P22-long-int": Row(
        ["run.horizon=1" + "0" * 400], "run.horizon", "scenario.not-finite", ["finite"], ""
    ),
}


@pytest.mark.parametrize("row", [*REFUSED.values(), *LONG.values()], ids=[*REFUSED, *LONG])
def test_refused(row: Row) -> None:
    data = apply_overrides(BASES[row.base or "plane"](), row.changes)
    with pytest.raises(DwellError) as caught:
        build(parse_scenario(data))
    error, text = caught.value, str(caught.value)
    assert (error.key, error.code) == (row.key, row.code)
    assert all(word in text for word in row.words), text
    assert not any(word in text for word in ("pydantic", "http", "~"))
    if row.code in IN_SCHEMA and row.base:
        assert not VALIDATOR.is_valid(data)
    if isinstance(error, ScenarioError):
        first, *rest = text.splitlines()
        assert first.startswith(f"{row.key} ")
        assert all(line[-1] in ".?)" for line in [first, *rest])
        assert len(rest) == (row.words == ["controller.t2"])  # where two keys are wrong


FAMILIES = {row.code.partition(".")[0]: row for row in REFUSED.values()} | {
    f"scenario {row.code}": row for row in REFUSED.values() if row.code.startswith("scenario.")
}


@pytest.mark.parametrize("row", FAMILIES.values(), ids=FAMILIES)
def test_refused_through_the_command_line(tmp_path: Path, row: Row) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(BASES[row.base]()))
    sets = [word for change in row.changes for word in ("--set", change)]
    outcome = dwell("run", file, "--json", "--out", tmp_path / "run.nc", *sets)
    error = outcome.json["error"]
    assert (error["key"], error["code"]) == (row.key, row.code)
    assert all(word in "\n".join(outcome.sentences) for word in [row.key, *row.words])
    assert list(tmp_path.iterdir()) == [file]

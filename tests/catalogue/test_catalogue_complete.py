"""Every case of README.md is tested, or says there where else, or why not; accepted inputs."""

from __future__ import annotations

import math
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.catalogue.kit import NAMED, Bench, holds_words, rows_of, table
from tests.scenario.test_refused import LONG, REFUSED
from tests.scenario.test_scenario_files import ACCEPTED, BAD_BYTES, BAD_JSON

ROOT = Path(__file__).parents[2]
ELSEWHERE = re.compile(r"in `(tests/\w+)`: ")
PARTS = ("agents", "density", "files", "parameters", "process", "resume", "workspace")


def test_every_case_is_tested_or_has_a_reason() -> None:
    for part in PARTS:
        import_module(f"tests.catalogue.test_catalogue_{part}")
    listed = dict(
        re.findall(r"^- ([AWDP]\d+) (.+)$", Path(__file__).with_name("README.md").read_text(), re.M)
    )
    tables = (NAMED, REFUSED, LONG, ACCEPTED, BAD_BYTES, BAD_JSON)
    named = {name.partition("-")[0] for names in tables for name in names}
    assert len(listed) == 95
    elsewhere = {case: at[1] for case, says in listed.items() if (at := ELSEWHERE.match(says))}
    assert all(any(ROOT.joinpath(folder).glob("test_*.py")) for folder in elsewhere.values())
    untested = {case for case, says in listed.items() if says.startswith("none: ")}
    here = set(listed) - set(elsewhere) - untested
    assert {name for name in named if re.fullmatch(r"[AWDP]\d+", name)} == here


RUN = {name: columns for _, name, columns in rows_of(Path(__file__).with_name("accepted.txt"))}


@table(RUN)
def test_accepted(bench: Bench, row: list[str]) -> None:
    changes, words, flags = (column.split(" & ") for column in row)
    figures = bench.repaired(*changes) if words != [""] else bench.accepted(*changes)
    assert bool(figures["repairs"]) == (words != [""])
    assert holds_words("; ".join(figures["repairs"]), words)
    assert " ".join(sorted(flag["code"] for flag in figures["flags"])) == flags[0]
    assert all(flag["says"].endswith(".") for flag in figures["flags"])
    if "density=" not in row[0]:
        assert math.fsum(figures["final_masses"]) == pytest.approx(16.0, rel=1e-13, abs=0.0)

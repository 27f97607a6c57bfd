"""Every case of README.md is tested, or says there why not."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from tests.catalogue.kit import NAMED
from tests.scenario.test_refused import LONG, REFUSED
from tests.scenario.test_scenario_files import ACCEPTED, BAD_BYTES, BAD_JSON

PARTS = ("accepted", "agents", "density", "files", "parameters", "process", "resume", "workspace")


def test_every_case_is_tested_or_has_a_reason() -> None:
    for part in PARTS:
        import_module(f"tests.catalogue.test_catalogue_{part}")
    listed = dict(
        re.findall(r"^- ([AWDP]\d+) (.+)$", Path(__file__).with_name("README.md").read_text(), re.M)
    )
    tables = (NAMED, REFUSED, LONG, ACCEPTED, BAD_BYTES, BAD_JSON)
    named = {name.partition("-")[0] for names in tables for name in names}
    assert len(listed) == 95
    untested = {case for case, says in listed.items() if says.startswith("none: ")}
    assert {name for name in named if re.fullmatch(r"[AWDP]\d+", name)} == set(listed) - untested

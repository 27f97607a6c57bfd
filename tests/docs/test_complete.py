"""The docs name every key, column, finding and reason there is: they cannot go stale silently."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.controllers.timer import RESET_RULES
from dwell.hybrid import StopReason
from dwell.results import Run
from dwell.scenario import TEMPLATES, parse_scenario, scenario_schema
from dwell.verify import flags
from tests.docs.blocks import ROOT, blocks_of


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def assert_named(names: set[str], text: str) -> None:
    """Each name stands in `text` as code, alone or with others around it."""
    spans = re.findall(r"`([^`\n]+)`", text)
    words = {word for span in spans for word in re.findall(r"[\w-]+", span)}
    phrases = {name for name in names if " " in name and any(f'"{name}"' in s for s in spans)}
    assert names - words - phrases == set()


def tables_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Every table of a JSON Schema, at any depth."""
    if isinstance(schema, dict):
        yield schema
    parts = schema.values() if isinstance(schema, dict) else schema
    for part in parts if isinstance(schema, dict | list) else ():
        yield from tables_in(part)


def module_at(path: Path) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def run() -> Run:
    """A short run with everything in it that a run can have."""
    return dwell.run_scenario(
        parse_scenario(
            {
                "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
                "agents": {"start": [[1, 1], [2, 1], [2, 2]]},
                "controller": {"kind": "timer", "k1": 0.5, "nu": 0.2, "t1": 0.1, "t2": 0.2},
                "certificate": {"eta_max": 0.3, "lipschitz": 5.0},
                "run": {"horizon": 1.0, "seed": 1},
            }
        )
    )


@pytest.fixture(scope="module")
def stored(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("docs") / "run.nc"
    run.save(path)
    return path


def test_every_key_and_choice_in_a_scenario_is_explained() -> None:
    tables = list(tables_in(scenario_schema()))
    keys = {key for table in tables for key in table.get("properties", {})}
    words = {word for t in tables for word in (t.get("const"), *(t.get("enum") or []))}
    words = {word for word in words if isinstance(word, str)}
    assert {"horizon", "covariance", "initial_hold"} <= keys
    assert {"polygon", "dropout", "grid"} <= words
    text = page("scenario.md") + page("worlds.md")
    assert_named(keys | words | set(RESET_RULES) | set(TEMPLATES), text)


def test_tables_of_keys_are_what_classes_declare() -> None:
    tables = module_at(ROOT / "docs" / "tables.py")
    texts = [page.read_text(encoding="utf-8") for page in tables.PAGES]
    named = [found["name"] for text in texts for found in tables.MARKED.finditer(text)]
    assert set(named) == set(tables.TABLES)
    assert [tables.written(text) for text in texts] == texts, "run docs/tables.py"


def test_the_page_of_what_goes_with_what_is_the_table() -> None:
    tables = module_at(ROOT / "docs" / "tables.py")
    text = tables.TOGETHER.read_text(encoding="utf-8")
    assert tables.compatibility(text) == text, "run docs/tables.py"
    assert text.count("| no |") > 20


def test_every_key_of_the_summary_is_explained(run: Run) -> None:
    summary = run.summary()
    inner = {k for value in summary.values() if isinstance(value, dict) for k in value}
    assert_named(set(summary) | inner, page("results.md"))


def test_every_variable_and_attribute_of_the_file_is_explained(stored: Path) -> None:
    import xarray as xr

    with xr.open_dataset(stored, engine="h5netcdf", decode_times=False) as data:
        names = {str(name) for name in (*data.variables, *data.attrs, *data.sizes)}
    assert_named(names, page("results.md"))


def test_every_finding_is_explained(stored: Path) -> None:
    report = dwell.check(dwell.load_run(stored))
    assert report.ok
    assert_named({finding.name for finding in report.findings}, page("results.md"))


def test_every_stop_reason_and_flag_is_explained() -> None:
    source = Path(str(flags.__file__)).read_text(encoding="utf-8")
    codes = set(re.findall(r'Flag\(\s*"([\w-]+)"', source))
    assert "overshoot" in codes
    assert_named(codes | {reason.value for reason in StopReason}, page("results.md"))


def test_every_exit_code_is_explained() -> None:
    main = importlib.import_module("dwell.cli.main")

    text = page("results.md").split("## Exit codes")[1]
    for code in (0, main.BADLY, main.WRONG_INPUT, main.INTERRUPTED, main.TERMINATED):
        assert f"| {code} |" in text


def test_the_front_door_is_in_the_reference() -> None:
    text = page("reference.md")
    for name in dwell.__all__:
        assert f"dwell.{name}" in text, name


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = re.findall(r"^([\w-]+)$", page("index.md"), flags=re.MULTILINE)
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(listed)


def test_versions_agree() -> None:
    assert f"version: {dwell.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert dwell.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


PACKAGES = (
    "", "geometry", "density", "controllers", "agents", "hybrid", "theory", "scenario", "results",
    "plotting", "studies",
)  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package: str) -> None:
    text = page("reference.md")
    documented = set(re.findall(r"^\.\. auto\w+:: [\w.]*?(\w+)$", text, flags=re.M))
    spoken_of = {
        word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", span)
    }
    offered = set(importlib.import_module(f"dwell.{package}".rstrip(".")).__all__)
    assert offered - documented - spoken_of == set()


def test_every_name_in_the_reference_exists() -> None:
    for name in re.findall(r"^\.\. auto\w+:: dwell\.([\w.]+)$", page("reference.md"), flags=re.M):
        *package, last = name.split(".")
        assert hasattr(importlib.import_module(".".join(["dwell", *package])), last), name


def test_samples_of_output_are_those_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the pages print under a command, compared with what it prints; times taken differ."""
    from tests.cli.shell import dwell as command

    monkeypatch.chdir(tmp_path)
    command("init", "two-hills")
    start = next(b.body for b in blocks_of(page("start.md")) if b.kind == "text")
    shown = command("run", "two-hills.toml", "--out", "run.nc").out
    lines = zip(start.splitlines(), shown.splitlines(), strict=True)
    assert [(a, b) for a, b in lines if a != b and not a.startswith("time taken")] == []
    samples = [b.body for b in blocks_of(page("results.md")) if b.body.startswith("$ dwell")]
    for said in (body for body in samples if "\n{" in body):
        asked, answer = said.splitlines()
        assert command(*asked.split()[2:]).out == f"{answer}\n"

"""Every example in the README and the docs runs as written."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.sweep import parse_sweep, plan_of
from tests.docs.blocks import PAGES, ROOT, Block, blocks_of, commands_of, run_command, run_python

pytestmark = pytest.mark.slow

FIRST_PAGES = ("README.md", "start.md")  # the others run with --all


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if page.name in FIRST_PAGES else pytest.mark.exhaustive)
        for page in PAGES
    ],
    ids=[page.name for page in PAGES],
)
def test_blocks_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            run_python(block, page, names)
        for arguments in commands_of(block):
            code = run_command(arguments)
            assert code == 0, f"dwell {' '.join(arguments)}: {capsys.readouterr().err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_blocks_are_sweeps_or_parts_of_a_scenario(page: Path) -> None:
    whole = text_to_mapping(template_text("two-hills"))
    whole["agents"] = {"start": [[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.kind != "toml":
            continue
        given = text_to_mapping(block.body)
        if "scenario" in given:
            plan_of(parse_sweep({**given, "scenario": whole}))
        else:
            own = [key for key in whole if key != "density" or "sensor" not in given]
            parse_scenario({**{key: whole[key] for key in own}, **given})


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\n```console\n$ dwell init a  # b\nout\n$ ls\n```\n"
    first, second = blocks_of(text)
    assert first == Block("python", "x = 1\n", 3)
    assert commands_of(second) == [["init", "a"]]


def test_the_readme_is_the_first_screen() -> None:
    top = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
    assert all(f"make {target}" in top for target in ("install", "run", "test"))
    picture = ROOT / "docs" / "images" / "paper-30.png"
    assert "docs/images/paper-30.png" in top
    assert picture.stat().st_size < 300_000
    example = next(b.body for b in blocks_of(top) if b.kind == "python")
    assert len(example.splitlines()) <= 10


def public_modules() -> list[str]:
    """Every module outside the kernels."""
    found = pkgutil.walk_packages(dwell.__path__, "dwell.")
    return ["dwell", *(m.name for m in found if not m.name.startswith("dwell._kernels"))]


@pytest.fixture(scope="module")
def folder_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples in docstrings read."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "site.toml").write_text(template_text("two-hills"))
    (folder / "sweep.toml").write_text(
        'scenario = "site.toml"\nrepeats = 2\n[grid]\n"run.horizon" = [1.0]\n'
    )
    ring = "[-8.8, 52.2], [-8.7, 52.2], [-8.7, 52.25], [-8.75, 52.22], [-8.8, 52.25], [-8.8, 52.2]"
    outline = f'{{"type": "Polygon", "coordinates": [[{ring}]]}}'
    (folder / "harbour.geojson").write_text(outline)
    dwell.run_scenario(
        dwell.load_scenario(folder / "site.toml", ["run.horizon=2"]), out=folder / "run.nc"
    )
    return folder


@pytest.mark.parametrize("name", public_modules())
def test_docstring_examples(
    name: str, folder_of_examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder_of_examples)
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


SECTIONS = {"function": ("Parameters", "Returns", "Examples"), "class": ("Examples",)}


@pytest.mark.parametrize("name", dwell.__all__)
def test_front_door_names_are_documented_with_examples(name: str) -> None:
    """In numpydoc form: parameters, what is returned, and an example that is run above."""
    value = getattr(dwell, name)
    text = inspect.getdoc(value) or ""
    needed = SECTIONS["class" if isinstance(value, type) else "function"]
    assert [s for s in needed if f"\n{s}\n{'-' * len(s)}\n" not in text] == []
    if isinstance(value, type) and value is not dwell.DwellError:
        assert re.search(r"\n(Parameters|Attributes)\n-{10}\n", text)
    assert ">>> " in text.partition("\nExamples\n")[2]
    assert text.splitlines()[0].endswith(".")

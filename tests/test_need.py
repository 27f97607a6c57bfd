"""Libraries that are not installed: one sentence, with packages that exist."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from dwell import InputError
from dwell._need import need

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"pandas", "robotarium-python-simulator"}  # no extra has these


def test_a_module_that_is_there_is_imported() -> None:
    assert need("json", "this needs", "", code="a") is sys.modules["json"]


def test_a_module_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError) as caught:
        need("pyarrow", "tables need", "pyarrow dask", code="a.code")
    says = "tables need pyarrow, which is not installed; install it with: pip install pyarrow dask"
    assert str(caught.value) == says
    assert caught.value.code == "a.code"
    with pytest.raises(InputError, match="not installed; source the setup file"):
        need("pyarrow", "tables need", "", code="a", advice="source the setup file")


def test_a_module_that_is_damaged_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "damaged_module.py").write_text("import no_such_module_anywhere")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"installed but cannot be loaded .No module named"):
        need("damaged_module", "this needs", "damaged", code="a")


def test_packages_are_those_of_the_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {
        re.split(r"[<>=\\[]", one)[0]
        for several in extras["optional-dependencies"].values()
        for one in several
    }
    named = set()
    for path in (ROOT / "src" / "dwell").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and ast.unparse(node.func) == "need"
            if called and isinstance(node.args[2], ast.Constant):
                named |= set(node.args[2].value.split())
    assert {"matplotlib", "anywidget", "foxglove-sdk"} <= named
    assert named <= names | ELSEWHERE

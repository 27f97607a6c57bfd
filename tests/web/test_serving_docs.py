"""The page about serving names everything there is, and options are what they seem."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from dwell.cli.command import COMMANDS
from dwell.web.app import create_app
from dwell.web.limits import Limits
from tests.cli.shell import dwell as shell
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
OPTIONS = {
    option.names[0].removeprefix("--"): option.how.get("default")
    for option in COMMANDS["serve"].options
    if option.names[0].startswith("--")
}


def test_every_route_is_on_the_page():
    for path, methods in create_app(Limits(), Path()).openapi()["paths"].items():
        for method in methods:
            assert f"| {method.upper()} `{path}`" in PAGE


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_on_the_page_with_its_default(name):
    row = re.search(rf"^\| `--{name}` \|([^|]*)\|", PAGE, re.MULTILINE)
    assert row, name
    if isinstance(OPTIONS[name], (int, float)):
        assert float(row[1]) == OPTIONS[name]


def test_options_have_the_defaults_of_the_limits():
    limits = {field.name: field.default for field in fields(Limits)}
    for name, default in limits.items():
        if name in OPTIONS:
            assert OPTIONS[name] == default
    own = {"body", "depth", "numbers", "keyframes", "worlds", "sensors"}
    assert limits.keys() - OPTIONS.keys() == own
    for name in ("keyframes", "worlds", "sensors"):
        assert re.search(rf"\b{limits[name]} {name}", PAGE), name


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "websockets"])
def test_without_the_extra_there_is_a_sentence(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    (sentence,) = shell("serve", "--port", "0").sentences
    assert "pip install fastapi uvicorn websockets" in sentence
    assert f"needs {missing}, which is not installed" in sentence


def test_the_command_line_does_not_load_the_server():
    code = (
        "import sys; import dwell.cli; "
        "print([n for n in ('fastapi', 'uvicorn', 'dwell.web') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_invalid_limits_are_refused():
    done = shell("serve", "--port", "0", "--seconds", "-1")
    assert done.code == 2
    assert "seconds" in done.sentences[0]

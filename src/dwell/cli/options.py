"""Arguments and options that several commands share, and what is done with them."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dwell.errors import InputError

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (.toml or .json).")
]
RunFile = Annotated[
    Path, typer.Argument(metavar="RUN.nc", help="Stored run, as written by dwell run --out.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key; may be given many times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at a time; as many as processors by default.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse input that would be repaired.")]


class Format(StrEnum):
    """File formats of plots."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


Formats = Annotated[
    list[Format] | None,
    typer.Option("--format", metavar="FORMAT", help="png, pdf or svg; may be repeated."),
]


def load(path: Path, overrides: list[str] | None) -> Any:
    """A scenario file with some keys changed."""
    from dwell.scenario import load_scenario

    return load_scenario(path, overrides or ())


def stored_run(path: Path) -> Any:
    """A stored run; a note on stderr if its file was changed."""
    from dwell.results import load_run
    from dwell.verify.flags import ALTERED

    run = load_run(path)
    if run.intact is False:
        typer.echo(f"dwell: {path}: {ALTERED.says}", err=True)
    return run


def refuse_repairs(scenario: Any) -> None:
    """Refuse a scenario of which something would be repaired."""
    from dwell.scenario.build import build

    refuse(build(scenario)[2])


def refuse(repairs: tuple[str, ...]) -> None:
    """Refuse input of which `repairs` were made."""
    if repairs:
        raise InputError(
            f"with --strict nothing is repaired, but this would be: {'; '.join(repairs)}",
            code="strict",
        )


class Printed:
    """Whether this command has printed its JSON object: there is one at most."""

    done = False


def print_json(value: dict[str, Any]) -> None:
    """One object, or nothing at all."""
    from dwell.cli.json_text import json_text

    text = json_text(value)  # whole before anything is printed
    Printed.done = True
    sys.stdout.write(f"{text}\n")

"""Commands for scenario files."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from dwell.cli.options import (
    AsJson,
    Force,
    Overrides,
    ScenarioFile,
    Strict,
    load,
    print_json,
    refuse,
)
from dwell.cli.root import app

FEW = 1000  # agents that plain Python checks in less time than Numba takes to load


@app.command(epilog="Example: dwell validate site.toml --set agents.start.count=40")
def validate(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    as_json: AsJson = False,
    strict: Strict = False,
) -> None:
    """Check a scenario file without running it."""
    checked = load(scenario, overrides)
    _leave_uncompiled(checked.agents.count)

    from dwell._types import counted
    from dwell.scenario.build import build, is_in_scale

    system, start, repairs = build(checked)
    if strict:
        refuse(repairs)
    notes = [] if is_in_scale(system) else _notes(system, start)
    if as_json:
        found = {"repairs": list(repairs), "flags": [asdict(note) for note in notes]}
        print_json({"schema": 1, "ok": True, "agents": system.agents, **found})
        return
    typer.echo(f"{scenario}: ok, {counted(system.agents, 'agent')}")
    for repair in repairs:
        typer.echo(f"  repaired: {repair}")
    for note in notes:
        typer.echo(f"  note: {note.says}")


def _notes(system: Any, start: Any) -> list[Any]:
    from dwell.verify.flags import about_scale

    return list(about_scale(system, start))


def _leave_uncompiled(agents: int) -> None:
    """Let the kernels stay plain Python, if none is loaded yet: few agents do without Numba."""
    if agents <= FEW and "dwell._kernels._jit" not in sys.modules:
        os.environ.setdefault("DWELL_JIT", "0")


@app.command(epilog="Example: dwell schema > dwell.schema.json")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from dwell.scenario import scenario_schema

    print_json(scenario_schema())


@app.command(epilog="Example: dwell init paper-30 --out site.toml")
def init(
    template: Annotated[
        str, typer.Argument(metavar="TEMPLATE", help="Which template; see --list.")
    ] = "two-hills",
    out: Annotated[
        Path | None, typer.Option(help="File to write; TEMPLATE.toml by default.")
    ] = None,
    force: Force = False,
    names: Annotated[bool, typer.Option("--list", help="List the templates and stop.")] = False,
) -> None:
    """Write a commented scenario or sweep file to start from."""
    from dwell.results.files import check_target, written_whole
    from dwell.scenario import TEMPLATES, template_text
    from dwell.scenario.templates import WITH_CODE
    from dwell.sweep.templates import SWEEPS, sweep_text

    if names:
        for name, about in {**TEMPLATES, **WITH_CODE, **SWEEPS}.items():
            typer.echo(f"{name:24} {about}")
        return
    text = (
        sweep_text(template) if template in SWEEPS else template_text(template, others=list(SWEEPS))
    )
    target = check_target(out or Path(f"{template}.toml"), force=force)
    texts = {target: text}
    if template in WITH_CODE:
        module = target.with_name(f"{template.replace('-', '_')}.py")
        texts[check_target(module, force=force)] = template_text(template, "py")
    for path, content in texts.items():
        with written_whole(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
    command = f"sweep {target} --out sweep" if template in SWEEPS else f"run {target}"
    typer.echo(f"wrote {' and '.join(map(str, texts))}; run it with: dwell {command}")

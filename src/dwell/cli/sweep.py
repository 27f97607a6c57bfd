"""Sweeps for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from dwell._types import counted
from dwell.cli.show import _console

if TYPE_CHECKING:
    from dwell.sweep import Outcome, Plan

FIRST = 5  # failures shown


def complain(text: str) -> None:
    """What people should know while a sweep goes on."""
    print(f"dwell: {text}", file=sys.stderr)


def show_plan(plan: Plan, as_json: bool) -> None:
    """What a sweep file comes to."""
    wrong = plan.impossible
    if as_json:
        about: dict[str, Any] = {"schema": 1, "ok": True, "cases": len(plan)}
        about |= {"points": plan.points, "keys": list(plan.keys), "notes": list(plan.notes)}
        about["impossible"] = asdict(wrong)
        print(json.dumps(about))
        return
    console = _console()
    repeats = plan.sweep.repeats
    console.print(
        f"{counted(plan.points, 'point')}, {counted(repeats, 'run')} each: "
        f"{counted(len(plan), 'case')}"
    )
    for group in plan.sweep.groups:
        for key, column in zip(group.keys, group.columns, strict=True):
            few = ", ".join(str(value) for value in column[:6])
            more = ", ..." if len(column) > 6 else ""
            console.print(escape(f"  {key}: {few}{more}"), soft_wrap=True)
    if wrong.points:
        part = "first " if wrong.checked < plan.points else ""
        count = f"{wrong.points:,} of the {part}{counted(wrong.checked, 'point')}"
        says = f"{count} cannot be run; the first is {wrong.first}"
        console.print(f"[bold red]impossible[/]  {escape(says)}", soft_wrap=True)
    for note in plan.notes:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def write_case(plan: Plan, case: int, out: Path | None, force: bool) -> None:
    """The scenario of one case as a file, or on standard output."""
    from dwell.results.files import check_target, written_whole
    from dwell.scenario.write import dump_toml

    text = dump_toml(plan.scenario(case))
    if out is None:
        sys.stdout.write(text)
        return
    with written_whole(check_target(out, force=force)) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"wrote {out}; run it with: dwell run {out}")


def show_outcome(found: Outcome) -> None:
    """How many cases there are, and where the table is."""
    console = _console()
    rate = found.computed / max(found.wall_seconds, 1e-9)
    says = f"{found.done:,} of {found.cases:,} cases done"
    if found.computed:
        says += f", {found.computed:,} now in {found.wall_seconds:.3g} s ({rate:,.3g} a second)"
    console.print(says)
    for name in found.damaged:
        console.print(escape(f"{name}: damaged, so its cases were run again"), soft_wrap=True)
    if found.failed:
        console.print(f"[bold red]{found.failed:,} failed[/]; --retry runs them again:")
        for failure in found.failures[:FIRST]:
            console.print(escape(f"  case {failure.case}: {failure.reason}"), soft_wrap=True)
    if found.interrupted:
        console.print("the same command goes on from here")
    elif found.done == found.cases:
        console.print(escape(f"one row per run in {found.out / 'runs.parquet'}"), soft_wrap=True)
        console.print(
            escape(f"one row per point in {found.out / 'summary.parquet'}"), soft_wrap=True
        )


def plot_sweep(folder: Path, out: Path, formats: Sequence[str]) -> None:
    """The plots of a sweep's table."""
    from dwell.plotting.sweeps import save_sweep_figures
    from dwell.sweep.reading import read_sweep

    for path in save_sweep_figures(read_sweep(folder), out, formats=formats):
        print(path)

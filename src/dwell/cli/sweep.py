"""Sweeps for people."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import counted
from dwell.cli.output import coloured, print_json

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
        print_json(about)
        return
    runs = f"{counted(plan.sweep.repeats, 'run')} each: {counted(len(plan), 'case')}"
    print(f"{counted(plan.points, 'point')}, {runs}")
    for group in plan.sweep.groups:
        for key, column in zip(group.keys, group.columns, strict=True):
            few = ", ".join(str(value) for value in column[:6])
            more = ", ..." if len(column) > 6 else ""
            print(f"  {key}: {few}{more}")
    if wrong.points:
        part = "first " if wrong.checked < plan.points else ""
        count = f"{wrong.points:,} of the {part}{counted(wrong.checked, 'point')}"
        says = f"{count} cannot be run; the first is {wrong.first}"
        print(coloured(f"impossible  {says}"))
    for note in plan.notes:
        print(coloured(f"note  {note}"))


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
    rate = found.computed / max(found.wall_seconds, 1e-9)
    says = f"{found.done:,} of {found.cases:,} cases done"
    if found.computed:
        says += f", {found.computed:,} now in {found.wall_seconds:.3g} s ({rate:,.3g} a second)"
    print(says)
    for name in found.damaged:
        print(f"{name}: damaged, so its cases were run again")
    if found.failed:
        print(f"{found.failed:,} failed; --retry runs them again:")
        for failure in found.failures[:FIRST]:
            print(f"  case {failure.case}: {failure.reason}")
    if found.interrupted:
        print("the same command goes on from here")
    elif found.done == found.cases:
        print(f"one row per run in {found.out / 'runs.parquet'}")
        print(f"one row per point in {found.out / 'summary.parquet'}")

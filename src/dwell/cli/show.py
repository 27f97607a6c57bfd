"""Short tables on the terminal: of runs, checks, comparisons, claims, deployments and sweeps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import counted
from dwell.cli.output import coloured, print_json, print_table, width
from dwell.results.words import rows_of

if TYPE_CHECKING:
    from dwell.results import Run
    from dwell.studies import Claim, Comparison, Reproduction
    from dwell.studies.deployment import Deployment
    from dwell.sweep import Outcome, Plan
    from dwell.verify import Report

_WORDS = {  # for one start, and after a number
    "minimum": ("a strict minimum", "strict minima"),
    "degenerate": ("a degenerate minimum", "degenerate minima"),
    "saddle": ("a saddle", "saddles"),
    "confined": ("1 confined to the region", "confined to the region"),
    "unfinished": ("1 unfinished", "unfinished"),
    "weightless": ("1 with a cell that weighs nothing", "with a cell that weighs nothing"),
}
MOST_LISTED = 12  # agents whose positions are shown
FIRST = 5  # failures shown


def show_summary(summary: dict[str, Any], out: Path | None, resumed: bool = False) -> None:
    """The numbers of a run."""
    rows = rows_of(summary, out, resumed)
    print_table(rows if out is None else [*rows, ("kept in", str(out))])


def show_report(report: Report, stored: Path, run: Run) -> None:
    """What `dwell check` found."""
    from dwell.verify.finding import FINDING_HEAD, finding_rows

    print_table(finding_rows(report.findings), FINDING_HEAD)
    silent = {f.where for f in report.certificate if f.status == "not applicable"}
    if report.certificate and all(f.status == "not applicable" for f in report.certificate):
        print(f"Theorem: not tested, since {'; '.join(sorted(silent))}.")
    elif report.certificate:
        print("Hypotheses and conclusions of the theorem for this run:")
        print_table(finding_rows(report.certificate), FINDING_HEAD)
    last = run.details.units.after(f"t = {run.horizon:g}", "time")
    until = f" up to {last}, where it ended ({run.stop.reason.value})"
    text = f"{stored} ({counted(len(run.events), 'jump')}) {report.says}"
    text += "" if run.stop.reason.ok else until
    print(text + (f"; {report.left_out} (--thorough recomputes all)." if report.left_out else "."))


def show_comparison(found: Comparison, out: Path | None) -> None:
    """A column for each law, in as many tables as the width of the terminal needs."""
    rows = [["", *found.figures], *found.rows()]
    names, *columns = (list(column) for column in zip(*rows, strict=True))
    while columns:
        widths = accumulate(max(map(len, column)) + 2 for column in (names, *columns))
        fits = max(sum(wide <= width() for wide in widths) - 1, 1)
        heads, *cells = zip(names, *columns[:fits], strict=True)
        print_table(cells, heads, right=True)
        columns = columns[fits:]
    where = f"; runs and plots in {out}" if out is not None else ""
    print(f"Counts are means over the agents, with the largest in brackets{where}.")
    for note in found.notes:
        print(coloured(f"note  {note}"))


def show_claims(done: Reproduction) -> None:
    """A row for each claim, and where the report is."""
    from dwell.studies.paper.claims import borne_out

    print_table(map(_claim, done.claims), ("claim", "", "paper", "exact", "grid", "says"))
    print(f"{borne_out(done.claims)} Read {done.report}")


def _claim(claim: Claim) -> tuple[str, ...]:
    numbers = map(_short, (claim.paper, claim.exact, claim.grid))
    return (claim.id, claim.verdict, *numbers, claim.says)


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def show_deployment(found: Deployment, out: Path | None) -> None:
    """The best deployment, how sure one may be of it, and what it compares with."""
    rows = [*_deployment(found), *(("note", note) for note in found.notes)]
    if found.interrupted:
        rows.append(("note", "interrupted: this is the best so far"))
    print_table(rows if out is None else [*rows, ("kept in", str(out))])


def _deployment(found: Deployment) -> Iterator[tuple[str, str]]:
    if found.log_scale == 0.0:
        yield "cost", f"{found.cost:.10g}"
    else:
        yield "cost", f"exp({found.log_cost:.10g}), near or beyond the range of numbers"
    yield "agents", counted(found.agents, "agent")
    yield "this is", found.says
    yield "gradient", f"{found.gradient_norm:.2g} (largest error, over the workspace's diameter)"
    if found.spectral_gap is not None:
        yield "spectral gap", _gap(found.spectral_gap)
    yield "starts", _starts(found)
    best, worst = float(found.costs[0]), float(found.costs[-1])
    unit = "" if found.log_scale == 0.0 else f" (times exp({found.log_scale:.6g}))"
    three = f"{best:.7g} at best, {found.median:.7g} in the median, {worst:.7g} at worst"
    yield "", f"cost {three}{unit}"
    reference = found.reference
    if reference.value > 0.0:
        ratio = f"(the cost is {found.cost / reference.value:.4g} of it)"
        yield "reference", f"{reference.value:.7g}, the estimate for many agents {ratio}"
    for bound in reference.lower_bounds:
        yield "lower bound", f"{bound.value:.7g}: {bound.says}"
    cells = found.evaluations / max(len(found.descents), 1) / found.agents
    yield "cells", f"{found.evaluations} computed ({cells:.3g} per start and agent)"
    digits = _digits(found)
    shown = "  ".join(_place(place, digits) for place in found.positions[:MOST_LISTED].tolist())
    more = found.agents - MOST_LISTED
    where = found.units.beside("positions", "length")
    yield where, shown if more <= 0 else f"{shown}  and {more} more; see --json"
    yield "time taken", f"{found.wall_seconds:.3g} s"


def _gap(gap: float) -> str:
    if not 0.0 < gap < 1.0:
        return f"{gap:.3g}"
    steps = math.log(10.0) / -math.log1p(-gap)
    return f"{gap:.4g} (one digit takes {max(steps, 1.0):,.0f} of Lloyd's steps)"


def _starts(found: Deployment) -> str:
    kinds = [descent.kind for descent in found.descents.values()]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    listed = ", ".join(
        _WORDS[kind][0] if count == 1 else f"{count} {_WORDS[kind][1]}"
        for kind, count in counts.items()
    )
    return (
        f"{found.times_found} of {len(kinds)} led here, the first of them number {found.best}; "
        f"in all {listed}; seed {found.seed}"
    )


def _digits(found: Deployment) -> int:
    """How many digits of coordinates tell places in a workspace apart: more far from 0."""
    farthest = float(abs(found.positions).max())
    return 6 + max(0, math.ceil(math.log10(max(farthest, 1e-300) / found.workspace.diameter)))


def _place(place: list[float], digits: int) -> str:
    """A place as people write it: on the line a number, elsewhere (x, y, ...)."""
    numbers = ", ".join(f"{v:.{digits}g}" for v in place)
    return numbers if len(place) == 1 else f"({numbers})"


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

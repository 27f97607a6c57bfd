"""Figures for people: short tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from dwell.results import Run
    from dwell.theory import Finding, Report

WIDE = 70  # columns from which a table has room for sentences
PIPE_WIDTH = 160


def show_summary(summary: dict[str, Any], out: Path | None) -> None:
    """The figures of a run."""
    console = _console()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _rows(summary):
        table.add_row(name, escape(value))
    for repair in summary["repairs"]:
        table.add_row("[yellow]repaired[/]", escape(repair))
    for flag in summary["flags"]:
        table.add_row("[yellow]note[/]", escape(flag["says"]))
    if out is not None:
        table.add_row("kept in", escape(str(out)))
    console.print(table)


def _rows(s: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stop = s["stop"]
    ended = f"{stop['reason']} at t = {stop['time']:g}"
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    looks = s["events"]["per_agent"]
    yield (
        "events",
        f"{s['events']['total']}  (per agent {looks['min']} to {looks['max']}, "
        f"mean {looks['mean']:.1f})",
    )
    yield "cells", _cells(s["cells"])
    yield "messages", _messages(s)
    initial, final = s["cost"]["initial"], s["cost"]["final"]
    if final is None:
        yield "cost", f"{initial:.6g} at the start; not defined at the end"
    else:
        yield "cost", f"{initial:.6g} at the start, {final:.6g} at the end"
        yield "error", f"{s['error']['final_max']:.3g} at the end (largest of all agents)"
    yield "coverage", _coverage(s["coverage"])
    if s["hold_error"]["max"] is not None:
        limit = s["hold_error"]["limit"]
        text = f"{s['hold_error']['max']:.4g} at most"
        yield "hold error", text if limit is None else f"{text}; limit {limit:g}"
    if s["separation"]["min"] is not None:
        near = s["separation"]
        pair = "{} and {}".format(*near["agents"])
        yield "separation", f"{near['min']:.4g} at least (agents {pair} at t = {near['time']:.4g})"
    if s["certificate"] is not None:
        yield from _certificate(s["certificate"])
    d = s["distance"]
    yield "distance", f"{d['min']:.4g} to {d['max']:.4g} per agent, mean {d['mean']:.4g}"
    yield "time taken", f"{s['wall_seconds']:.3g} s"


def _certificate(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the theorem's hypotheses and conclusions came to, and the constants it assumes."""
    broken = [f for f in found["findings"] if f["status"] == "violated"]
    listed = "; ".join(f"{f['name']} ({f['where']})" for f in broken)
    if not broken and not found["holds"]:
        yield "certificate", f"not applicable: {found['findings'][0]['where']}"
        return
    rest = f"{len(found['holds'])} properties hold"
    yield "certificate", f"{rest}; violated: {listed}" if broken else f"{rest}, none is violated"
    seen, assumed = found["measured_lipschitz"], found["assumed_lipschitz"]
    if seen is not None:
        value = "infinite" if seen["value"] is None else f"{seen['value']:.4g}"
        text = f"{max(assumed):g} at most" if isinstance(assumed, list) else f"{assumed:g}"
        yield "Lipschitz", f"{text} assumed, {value} measured: {seen['says']}"


def _cells(cells: dict[str, Any]) -> str:
    """How many were computed, by kind where there are several."""
    spread = cells["per_agent"]
    each = f"(per agent {spread['min']} to {spread['max']})"
    if not cells["guaranteed"]:
        return f"{cells['voronoi']} computed  {each}"
    total = cells["voronoi"] + cells["guaranteed"] + cells["dual_guaranteed"]
    kinds = f"{cells['voronoi']} Voronoi, {cells['guaranteed']} guaranteed, as many dual"
    return f"{total} computed: {kinds}  {each}"


def _messages(s: dict[str, Any]) -> str:
    received = f"{s['messages']} positions received"
    return f"{received}, {s['broadcasts']} broadcast" if s["broadcasts"] else received


def _coverage(coverage: dict[str, Any]) -> str:
    if coverage["nu"] is None:
        return "not measured, since the law has no nu; run.nu gives one"
    if coverage["reached_at"] is None:
        return f"errors do not stay within nu = {coverage['nu']:g}"
    return f"every error within nu = {coverage['nu']:g} from t = {coverage['reached_at']:.4g} on"


def show_report(report: Report, stored: Path, run: Run) -> None:
    """What `dwell check` found."""
    console = _console()
    wide = console.width >= WIDE
    console.print(_findings(report.findings, wide))
    silent = {f.where for f in report.certificate if f.status == "not applicable"}
    if report.certificate and all(f.status == "not applicable" for f in report.certificate):
        why = escape("; ".join(sorted(silent)))
        console.print(f"The theorem is not held against this run: {why}.", style="dim")
    elif report.certificate:
        console.print("The theorem, held against this run:", style="dim")
        console.print(_findings(report.certificate, wide))
    verdict = "is a solution of its scenario" if report.ok else "is NOT a solution of its scenario"
    until = "" if run.stop.reason.ok else f" up to t = {run.horizon:g}, where it ended by "
    reason = "" if run.stop.reason.ok else run.stop.reason.value
    text = f"{escape(str(stored))}: {len(run.events)} jumps; this {verdict}{until}{reason}."
    console.print(text, soft_wrap=True)


def _findings(findings: Iterable[Finding], wide: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("check", "", "worst", "limit", "says")[: 5 if wide else 4]:
        table.add_column(name, no_wrap=name != "says")
    colours = {"holds": "green", "violated": "bold red", "not applicable": "yellow"}
    for f in findings:
        says = f.says if not f.where else f"{f.says}; {f.where}"
        status = f"[{colours[f.status]}]{f.status}[/]"
        row = (f.name, status, f"{f.worst:.3g}", f"{abs(f.limit):.3g}", escape(says))
        table.add_row(*row[: 5 if wide else 4])
    return table


def _console() -> Console:
    """Standard output; not folded at 80 characters when it goes to a file or a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_WIDTH)


def counted(count: int, noun: str) -> str:
    """1 agent, 2 agents."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

"""Numbers for people: short tables on the terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dwell._types import apart, counted
from dwell.hybrid import StopReason

if TYPE_CHECKING:
    from dwell.results import Run
    from dwell.verify import Finding, Report

WIDE = 70  # columns from which a table is wide enough for sentences
PIPE_WIDTH = 160


def show_summary(summary: dict[str, Any], out: Path | None, resumed: bool = False) -> None:
    """The numbers of a run."""
    table = listing(_rows(summary, out, resumed))
    for repair in summary["repairs"]:
        table.add_row("[yellow]repaired[/]", escape(repair))
    for flag in summary["flags"]:
        table.add_row("[yellow]note[/]", escape(flag["says"]))
    if out is not None:
        table.add_row("kept in", escape(str(out)))
    _console().print(table)


def listing(rows: Iterable[tuple[str, str]]) -> Table:
    """A table of names and values."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, escape(value))
    return table


def _rows(s: dict[str, Any], out: Path | None, resumed: bool) -> Iterator[tuple[str, str]]:
    stop = s["stop"]
    ended = f"{stop['reason']} at t = {stop['time']:g}"
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    if not stop["ok"]:
        yield "advice", StopReason(stop["reason"]).advice_about(None if out is None else str(out))
    looks = s["events"]["per_agent"]
    yield (
        "events",
        f"{s['events']['total']}  (per agent {looks['min']} to {looks['max']}, "
        f"mean {looks['mean']:.1f})",
    )
    yield "cells", _cells(s["cells"])
    yield "messages", _messages(s)
    initial, final = (_cost(s, end) for end in ("initial", "final"))
    if final is None:
        yield "cost", f"{initial} at the start; not defined at the end"
    else:
        yield "cost", f"{initial} at the start, {final} at the end"
        yield "error", f"{s['error']['final_max']:.3g} at the end (largest of all agents)"
    yield "coverage", _coverage(s["coverage"], {flag["code"] for flag in s["flags"]})
    if s["hold_error"]["max"] is not None:
        most, limit = s["hold_error"]["max"], s["hold_error"]["limit"]
        both = apart(most, most if limit is None else limit)
        yield "hold error", " at most; limit ".join(both) if limit else f"{both[0]} at most"
    if s["separation"]["min"] is not None:
        near = s["separation"]
        pair = "{} and {}".format(*near["agents"])
        yield "separation", f"{near['min']:.4g} at least (agents {pair} at t = {near['time']:.4g})"
    if s["certificate"] is not None:
        yield from _certificate(s["certificate"])
    d = s["distance"]
    yield "distance", f"{d['min']:.4g} to {d['max']:.4g} per agent, mean {d['mean']:.4g}"
    parts = ", all parts of the run together" if resumed else ""
    yield "time taken", f"{s['wall_seconds']:.3g} s{parts}"


def _cost(s: dict[str, Any], end: str) -> str | None:
    """The cost at an end of the run; as a power of e where it is below the smallest double."""
    cost, log_cost = s["cost"][end], s["log_cost"][end]
    words = f"exp({log_cost or 0.0:.6g})" if cost == 0.0 and log_cost else f"{cost or 0.0:.6g}"
    return None if cost is None else words


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


def _coverage(coverage: dict[str, Any], flags: set[str]) -> str:
    if coverage["nu"] is None:
        return "not measured, since the law has no nu; run.nu gives one"
    if coverage["reached_at"] is None and "coverage-unseen" in flags:
        return f"every error within nu = {coverage['nu']:g} at the end; since when is not known"
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
        console.print(f"Theorem: not tested, since {why}.", style="dim")
    elif report.certificate:
        console.print("Hypotheses and conclusions of the theorem for this run:", style="dim")
        console.print(_findings(report.certificate, wide))
    until = f" up to t = {run.horizon:g}, where it ended ({run.stop.reason.value})"
    text = f"{escape(str(stored))} ({counted(len(run.events), 'jump')}) {report.says}"
    text += "" if run.stop.reason.ok else until
    text += f"; {report.left_out} (--thorough recomputes all)." if report.left_out else "."
    console.print(text, soft_wrap=True)


def _findings(findings: Iterable[Finding], wide: bool) -> Table:
    from dwell.verify.finding import FINDING_HEAD, finding_rows

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in FINDING_HEAD[: 5 if wide else 4]:
        table.add_column(name, no_wrap=name != "says")
    colours = {"holds": "green", "violated": "bold red"}  # yellow for any other
    for name, status, *numbers, says in finding_rows(findings):
        row = (name, f"[{colours.get(status, 'yellow')}]{status}[/]", *numbers, escape(says))
        table.add_row(*row[: 5 if wide else 4])
    return table


class _Trimmed(io.TextIOBase):
    """Standard output, without the blanks that pad the lines of a table."""

    def write(self, text: str) -> int:
        return sys.stdout.write("\n".join(line.rstrip() for line in text.split("\n")))


def _console() -> Console:
    """Standard output; a file or a pipe has COLUMNS characters to a line, or many, not padded."""
    console = Console(highlight=False)
    if console.is_terminal:
        return console
    wanted = os.environ.get("COLUMNS", "")
    width = int(wanted) if wanted.isascii() and wanted.isdigit() and int(wanted) else PIPE_WIDTH
    return Console(highlight=False, width=width, file=cast(IO[str], _Trimmed()))

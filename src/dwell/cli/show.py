"""Numbers for people: short tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import apart, counted
from dwell.cli.output import print_table
from dwell.hybrid import StopReason

if TYPE_CHECKING:
    from dwell.results import Run
    from dwell.verify import Report


def show_summary(summary: dict[str, Any], out: Path | None, resumed: bool = False) -> None:
    """The numbers of a run."""
    rows = [*_rows(summary, out, resumed)]
    rows += [("repaired", repair) for repair in summary["repairs"]]
    rows += [("note", flag["says"]) for flag in summary["flags"]]
    print_table(rows if out is None else [*rows, ("kept in", str(out))])


def _rows(s: dict[str, Any], out: Path | None, resumed: bool) -> Iterator[tuple[str, str]]:
    stop = s["stop"]
    ended = f"{stop['reason']} at t = {stop['time']:g}"
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    if not stop["ok"]:
        yield "advice", StopReason(stop["reason"]).advice_about(None if out is None else str(out))
    each = "(per agent {min} to {max}, mean {mean:.1f})".format(**s["events"]["per_agent"])
    yield "events", f"{s['events']['total']}  {each}"
    yield "cells", _cells(s["cells"])
    sent = f", {s['broadcasts']} broadcast" if s["broadcasts"] else ""
    yield "messages", f"{s['messages']} positions received{sent}"
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
    each = "(per agent {min} to {max})".format(**cells["per_agent"])
    if not cells["guaranteed"]:
        return f"{cells['voronoi']} computed  {each}"
    total = cells["voronoi"] + cells["guaranteed"] + cells["dual_guaranteed"]
    kinds = f"{cells['voronoi']} Voronoi, {cells['guaranteed']} guaranteed, as many dual"
    return f"{total} computed: {kinds}  {each}"


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
    from dwell.verify.finding import FINDING_HEAD, finding_rows

    print_table(finding_rows(report.findings), FINDING_HEAD)
    silent = {f.where for f in report.certificate if f.status == "not applicable"}
    if report.certificate and all(f.status == "not applicable" for f in report.certificate):
        print(f"Theorem: not tested, since {'; '.join(sorted(silent))}.")
    elif report.certificate:
        print("Hypotheses and conclusions of the theorem for this run:")
        print_table(finding_rows(report.certificate), FINDING_HEAD)
    until = f" up to t = {run.horizon:g}, where it ended ({run.stop.reason.value})"
    text = f"{stored} ({counted(len(run.events), 'jump')}) {report.says}"
    text += "" if run.stop.reason.ok else until
    print(text + (f"; {report.left_out} (--thorough recomputes all)." if report.left_out else "."))

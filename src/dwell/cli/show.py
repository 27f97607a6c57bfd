"""Short tables on the terminal: of runs, checks, comparisons, claims, deployments and sweeps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import apart, counted
from dwell._units import Units
from dwell.cli.output import coloured, print_json, print_table, width
from dwell.hybrid import StopReason

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
    "unfinished": ("1 unfinished", "unfinished"),
    "weightless": ("1 with a cell that weighs nothing", "with a cell that weighs nothing"),
}
MOST_LISTED = 12  # agents whose positions are shown
MOST_SWITCHES = 4  # of the world, that are shown
FIRST = 5  # failures shown


def show_summary(summary: dict[str, Any], out: Path | None, resumed: bool = False) -> None:
    """The numbers of a run."""
    rows = [*_rows(summary, out, resumed)]
    rows += [("repaired", repair) for repair in summary["repairs"]]
    rows += [("note", flag["says"]) for flag in summary["flags"]]
    print_table(rows if out is None else [*rows, ("kept in", str(out))])


def _rows(s: dict[str, Any], out: Path | None, resumed: bool) -> Iterator[tuple[str, str]]:
    stop, units = s["stop"], Units(**s.get("units", {}))
    ended = units.after(f"{stop['reason']} at t = {stop['time']:g}", "time")
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    yield from _live(s.get("live"))
    yield from _world(s.get("world"), units)
    if not stop["ok"] and "live" not in s:  # only the fleet itself could continue a live run
        file = None if out is None else str(out)
        yield "advice", StopReason(stop["reason"]).advice_about(file, stop["detail"])
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
        most, nu = s["error"]["final_max"], s["coverage"]["nu"]
        error = _length(apart(most, most if nu is None else nu, 3)[0], units)
        yield "error", f"{error} at the end (largest of all agents)"
    yield "coverage", _coverage(s["coverage"], {flag["code"] for flag in s["flags"]}, units)
    if s["hold_error"]["max"] is not None:
        most, limit = s["hold_error"]["max"], s["hold_error"]["limit"]
        speeds = apart(most, most if limit is None else limit)
        both = [units.after(one, "length / time") for one in speeds]
        yield "hold error", " at most; limit ".join(both) if limit else f"{both[0]} at most"
    if s["separation"]["min"] is not None:
        near = s["separation"]
        least = _length(f"{near['min']:.4g}", units)
        pair = "{} and {}".format(*near["agents"])
        when = units.after(f"t = {near['time']:.4g}", "time")
        yield "separation", f"{least} at least (agents {pair} at {when})"
    if s["certificate"] is not None:
        yield from _certificate(s["certificate"])
    low, high, mean = (
        _length(f"{s['distance'][key]:.4g}", units) for key in ("min", "max", "mean")
    )
    yield "distance", f"{low} to {high} per agent, mean {mean}"
    parts = ", all parts of the run together" if resumed else ""
    yield "time taken", f"{s['wall_seconds']:.3g} s{parts}"


def _live(live: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """The fleet of a live run, and what its network and its safety limits did."""
    if live is None:
        return
    starts = counted(live["boots"], "boot")
    samples, late = counted(live["samples"], "sample"), counted(live["gaps_over_t2"], "gap")
    clocks = "" if live["exact"] else ", measured positions"
    yield "live", f"{counted(live['agents'], 'agent')}, {starts}, {samples}, {late} over T2{clocks}"
    for name in ("interventions", "dropped"):
        listed = ", ".join(f"{count} {reason}" for reason, count in live[name].items())
        yield name, listed or "none"


def _length(number: str, units: Units) -> str:
    """A length with its unit; metres without a power of ten."""
    return units.after(
        f"{float(number):.0f}" if units.length and "e+" in number else number, "length"
    )


def _world(world: dict[str, Any] | None, units: Units) -> Iterator[tuple[str, str]]:
    """What changes during the run, and who has which sensor."""
    if world is None:
        return
    says = [_motion(span, units) for span in world["moving"]]
    says += [_switch(switch, units) for switch in world["switches"][:MOST_SWITCHES]]
    more = len(world["switches"]) - MOST_SWITCHES
    says += [f"{more} more switches"] if more > 0 else []
    if says:
        yield "world", "; ".join(says)
    sensors = [f"{one['name']} ({_numbers(one['owners'])})" for one in world["sensors"]]
    if sensors:
        yield "sensors", ", ".join(sensors)


def _motion(span: dict[str, Any], units: Units) -> str:
    until, since = "the end", ""
    if span["until"] is not None:
        until = units.after(f"t = {span['until']:g}", "time")
    if span["from"]:
        since = units.after(f" from t = {span['from']:g}", "time")
    return f"{span['what']} moves{since} until {until}"


def _switch(switch: dict[str, Any], units: Units) -> str:
    """One switch: the costs before and after, and how many agents leave and arrive."""
    costs = [switch["cost_before"], switch["cost_after"]]
    says = [] if None in costs else ["cost {:.4g} -> {:.4g}".format(*costs)]
    agents: list[str] = []
    for key in ("leave", "arrive"):
        count = len(switch[key])
        who = str(count) if agents else counted(count, "agent")
        agents += [f"{who} {key}{'s' * (count == 1)}"] if count else []
    says += [", ".join(agents)] if agents else []
    when = units.after(f"switches at t = {switch['time']:g}", "time")
    return when + (f" ({'; '.join(says)})" if says else "")


def _numbers(agents: list[int]) -> str:
    """Numbers of agents in few words: a range where they are in a row."""
    if len(agents) > 2 and agents[-1] - agents[0] == len(agents) - 1:
        return f"agents {agents[0]} to {agents[-1]}"
    few = ", ".join(map(str, agents[:MOST_LISTED]))
    more = f" and {len(agents) - MOST_LISTED} more" if len(agents) > MOST_LISTED else ""
    return f"agent{'s' * (len(agents) > 1)} {few}{more}"


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


def _coverage(coverage: dict[str, Any], flags: set[str], units: Units) -> str:
    if coverage["nu"] is None:
        return "not measured, since the law has no nu; run.nu gives one"
    nu = units.after(f"nu = {coverage['nu']:g}", "length")
    if coverage["reached_at"] is None and "coverage-unseen" in flags:
        return f"every error within {nu} at the end; since when is not known"
    if coverage["reached_at"] is None:
        return f"errors do not stay within {nu}"
    since = units.after(f"t = {coverage['reached_at']:.4g}", "time")
    return f"every error within {nu} from {since} on"


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

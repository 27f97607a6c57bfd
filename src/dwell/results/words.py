"""The numbers of a run in words: rows for people, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dwell._types import apart, counted
from dwell._units import Units
from dwell.hybrid import StopReason

MOST_LISTED = 12  # agents whose numbers are shown
MOST_SWITCHES = 4  # of the world, that are shown
FIGURES = frozenset({
    "law", "ended", "events", "messages", "cost", "error", "hold error", "separation", "distance",
    "time taken",
})  # rows that are figures; the others are remarks  # fmt: skip
# Flags of a run in which something did not hold that the law or the theorem guarantees.
BROKEN = frozenset({"floor-hits", "adaptive-floor", "hold-error-exceeded", "outside"})


def rows_of(
    summary: dict[str, Any], out: Path | None = None, resumed: bool = False
) -> list[tuple[str, str]]:
    """The rows of a summary, as `dwell run` and `dwell show` print them."""
    rows = [*_rows(summary, out, resumed)]
    rows += [("repaired", repair) for repair in summary["repairs"]]
    return rows + [("note", flag["says"]) for flag in summary["flags"]]


def remarks_of(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """What is to be said of a run beside its figures; first what was to hold and did not.

    Each remark has a `label`, the text that it `says`, and whether it is `broken`.
    """
    broken = {flag["says"] for flag in summary["flags"] if flag["code"] in BROKEN}
    found = [
        {"label": label, "says": says, "broken": says in broken or _violated(label, summary)}
        for label, says in rows_of(summary)
        if label not in FIGURES and not (label == "coverage" and summary["coverage"]["nu"])
    ]
    return sorted(found, key=lambda one: not one["broken"])


def _violated(label: str, summary: dict[str, Any]) -> bool:
    """Whether a row is about properties of the certificate that the run violates."""
    return label == "certificate" and bool(summary["certificate"]["violated"])


def _rows(s: dict[str, Any], out: Path | None, resumed: bool) -> Iterator[tuple[str, str]]:
    stop, units = s["stop"], Units(**s.get("units", {}))
    ended = units.after(f"{stop['reason']} at t = {stop['time']:g}", "time")
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    yield from _live(s.get("live"))
    yield from _world(s.get("world"), units)
    if not stop["ok"] and not s.get("live"):  # nothing continues a live run
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
    places = "" if live["exact"] else ", measured positions"
    yield "live", f"{counted(live['agents'], 'agent')}, {starts}, {samples}, {late} over T2{places}"
    unsure = live["clock_uncertainty"]
    if unsure != 0.0:
        yield "clocks", "not comparable" if unsure is None else f"known to {unsure:.2g} s"
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
    sensors = [f"{one['name']} ({numbers_in_words(one['owners'])})" for one in world["sensors"]]
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


def numbers_in_words(agents: list[int]) -> str:
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
    rest += f"; not met: {listed}" if broken else ", none is violated"
    later = [f["where"] for f in found["findings"] if f["status"] == "not yet"]
    yield "certificate", "; ".join([rest, *(f"within nu {where}" for where in later)])
    seen, assumed = found["measured_lipschitz"], found["assumed_lipschitz"]
    if seen is not None:
        value = "infinite" if seen["value"] is None else f"{seen['value']:.4g}"
        text = f"{max(assumed):g} at most" if isinstance(assumed, list | tuple) else f"{assumed:g}"
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

"""The numbers of a run in words: rows for people, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dwell._types import apart, counted
from dwell._units import Units
from dwell.hybrid import StopReason
from dwell.results.figures import Figure, figures
from dwell.results.summary import flat

MOST_LISTED = 12  # agents whose numbers are shown
MOST_SWITCHES = 4  # of the world, that are shown
# Rows that say more than figures.
REMARKS = frozenset({
    "live", "clocks", "interventions", "dropped", "world", "sensors", "advice", "cells", "coverage",
    "certificate", "Lipschitz", "repaired", "note",
})  # fmt: skip
Rows = Iterator[tuple[str, str]]
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
        if label in REMARKS and not (label == "coverage" and summary["coverage"]["nu"])
    ]
    return sorted(found, key=lambda one: not one["broken"])


def _violated(label: str, summary: dict[str, Any]) -> bool:
    """Whether a row is about properties of the certificate that the run violates."""
    return label == "certificate" and bool(summary["certificate"]["violated"])


def _rows(summary: dict[str, Any], out: Path | None, resumed: bool) -> Rows:
    """The rows of the figures, in the order of their table."""
    units, columns = Units(**summary.get("units", {})), flat(summary)
    rows: dict[str, list[Figure]] = {}
    for figure in figures().values():
        if figure.row:
            rows.setdefault(figure.row, []).append(figure)
    for row, several in rows.items():
        if row == "ended":
            yield from _ended(summary, units, out)
        elif row == "time taken":
            parts = ", all parts of the run together" if resumed else ""
            yield row, f"{summary['wall_seconds']:.3g} s{parts}"
        elif row in SENTENCES:
            yield from SENTENCES[row](summary, units)
        else:
            yield from ((row, text) for one in several if (text := _plain(one, columns, units)))


def _plain(figure: Figure, columns: Mapping[str, Any], units: Units) -> str:
    """The value of a figure with its unit; nothing where a run has none."""
    values = [columns.get(name) for name in figure.columns]
    if None in values:
        return ""
    texts = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
    words = "{0} to {2} per agent, mean {1}".format(*texts) if figure.spread else texts[0]
    return units.after(words, figure.dimension.replace("$", ""))


def _law(s: dict[str, Any], units: Units) -> Rows:
    who = counted(s["agents"], "agent")
    yield "law", f"{s['law']}, {who}, {s['integration']} integrals, seed {s['seed']}"


def _ended(s: dict[str, Any], units: Units, out: Path | None) -> Rows:
    """Why and when the run ended, and what to do where that was early."""
    stop = s["stop"]
    ended = units.after(f"{stop['reason']} at t = {stop['time']:g}", "time")
    yield "ended", ended if not stop["detail"] else f"{ended}: {stop['detail']}"
    # Nothing continues a live run.
    if not stop["ok"] and not s.get("live"):
        file = None if out is None else str(out)
        yield "advice", StopReason(stop["reason"]).advice_about(file, stop["detail"])


def _events(s: dict[str, Any], units: Units) -> Rows:
    each = "(per agent {min} to {max}, mean {mean:.1f})".format(**s["events"]["per_agent"])
    yield "events", f"{s['events']['total']}  {each}"


def _messages(s: dict[str, Any], units: Units) -> Rows:
    sent = f", {s['broadcasts']} broadcast" if s["broadcasts"] else ""
    yield "messages", f"{s['messages']} positions received{sent}"


def _costs(s: dict[str, Any], units: Units) -> Rows:
    initial, final = (_cost(s, end) for end in ("initial", "final"))
    ended = "; not defined at the end" if final is None else f", {final} at the end"
    yield "cost", f"{initial} at the start{ended}"


def _error(s: dict[str, Any], units: Units) -> Rows:
    most, nu = s["error"]["final_max"], s["coverage"]["nu"]
    if most is not None:
        error = _length(apart(most, most if nu is None else nu, 3)[0], units)
        yield "error", f"{error} at the end (largest of all agents)"


def _hold_error(s: dict[str, Any], units: Units) -> Rows:
    most, limit = s["hold_error"]["max"], s["hold_error"]["limit"]
    if most is not None:
        speeds = apart(most, most if limit is None else limit)
        both = [units.after(one, "length / time") for one in speeds]
        yield "hold error", " at most; limit ".join(both) if limit else f"{both[0]} at most"


def _separation(s: dict[str, Any], units: Units) -> Rows:
    near = s["separation"]
    if near["min"] is not None:
        least = _length(f"{near['min']:.4g}", units)
        pair = "{} and {}".format(*near["agents"])
        when = units.after(f"t = {near['time']:.4g}", "time")
        yield "separation", f"{least} at least (agents {pair} at {when})"


def _distance(s: dict[str, Any], units: Units) -> Rows:
    low, high, mean = (
        _length(f"{s['distance'][key]:.4g}", units) for key in ("min", "max", "mean")
    )
    yield "distance", f"{low} to {high} per agent, mean {mean}"


def _live(s: dict[str, Any], units: Units) -> Rows:
    """The fleet of a live run, and what its network and its safety limits did."""
    if (live := s.get("live")) is None:
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


def _world(s: dict[str, Any], units: Units) -> Rows:
    """What changes during the run, and who has which sensor."""
    if (world := s.get("world")) is None:
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
        if not count:
            continue
        who = str(count) if agents else counted(count, "agent")
        agents.append(f"{who} {key}s" if count == 1 else f"{who} {key}")
    says += [", ".join(agents)] if agents else []
    when = units.after(f"switches at t = {switch['time']:g}", "time")
    return when + (f" ({'; '.join(says)})" if says else "")


def numbers_in_words(agents: list[int]) -> str:
    """Numbers of agents in few words: a range where they are in a row."""
    if len(agents) > 2 and agents[-1] - agents[0] == len(agents) - 1:
        return f"agents {agents[0]} to {agents[-1]}"
    few = ", ".join(map(str, agents[:MOST_LISTED]))
    more = f" and {len(agents) - MOST_LISTED} more" if len(agents) > MOST_LISTED else ""
    return f"{'agents' if len(agents) > 1 else 'agent'} {few}{more}"


def _cost(s: dict[str, Any], end: str) -> str | None:
    """The cost at an end of the run; as a power of e where it is below the smallest double."""
    cost, log_cost = s["cost"][end], s["log_cost"][end]
    words = f"exp({log_cost or 0.0:.6g})" if cost == 0.0 and log_cost else f"{cost or 0.0:.6g}"
    return None if cost is None else words


def _certificate(s: dict[str, Any], units: Units) -> Rows:
    """What the theorem's hypotheses and conclusions came to, and the constants it assumes."""
    if (found := s["certificate"]) is None:
        return
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


def _cells(s: dict[str, Any], units: Units) -> Rows:
    """How many cells were computed, by kind where there are several."""
    cells = s["cells"]
    each = "(per agent {min} to {max})".format(**cells["per_agent"])
    if not cells["guaranteed"]:
        yield "cells", f"{cells['voronoi']} computed  {each}"
        return
    total = cells["voronoi"] + cells["guaranteed"] + cells["dual_guaranteed"]
    as_many = cells["dual_guaranteed"] == cells["guaranteed"]
    dual = "as many dual" if as_many else f"{cells['dual_guaranteed']} dual guaranteed"
    kinds = f"{cells['voronoi']} Voronoi, {cells['guaranteed']} guaranteed, {dual}"
    yield "cells", f"{total} computed: {kinds}  {each}"


def _covered(s: dict[str, Any], units: Units) -> Rows:
    yield "coverage", _coverage(s["coverage"], {flag["code"] for flag in s["flags"]}, units)


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


# Rows that put several figures into one sentence; others are values with their units.
SENTENCES: dict[str, Callable[[dict[str, Any], Units], Rows]] = {
    "law": _law, "live": _live, "world": _world, "events": _events, "cells": _cells,
    "messages": _messages, "cost": _costs, "error": _error, "coverage": _covered,
    "hold error": _hold_error, "separation": _separation, "certificate": _certificate,
    "distance": _distance,
}  # fmt: skip

"""Pictures over time: errors, hold errors, cost, cells computed.

Curves are thinned to what print can show, without losing a peak.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from dwell._types import Floats, Ints, lengths
from dwell._units import OPEN, Units
from dwell.agents.state import counts_of
from dwell.measure.metrics import hold_program
from dwell.plotting import worlds
from dwell.plotting.style import PLAIN, Axes, Style, agent_label, number, quantity_label
from dwell.results import Run, RunLike, as_run

Curve: TypeAlias = tuple[Floats, Floats]  # ascending times, values; both (n,)

DEEPEST = 1e-20  # of the largest value: a log axis goes no deeper
FAR_BELOW = 4.0  # times below their limit: hold errors then need a log axis
MOST_TEETH = 320  # that one column of print can show
CELLS = ("looked", "guaranteed", "dual_guaranteed")  # counts of events that compute a cell
NO_SAMPLES = "no samples were kept"


def draw_errors(ax: Axes, run: RunLike, *, style: Style = PLAIN) -> None:
    """|e_p| of every agent over time, on a log axis, with nu and the time it is kept from."""
    run = as_run(run)
    curves = error_curves(run)
    nu, units = run.system.nu, run.details.units
    label = quantity_label("error", units) + whose(run, style)
    time_axis(ax, 0.0, run.horizon, label, style, units)
    if not any(len(curve[0]) for curve in curves):
        ax.set_yscale("log")
        style.placeholder(ax, NO_SAMPLES)
        return
    marks = [] if nu is None else [float(nu)]
    floor = log_axis(ax, [*(values for _, values in curves), np.array(marks)])
    draw_curves(ax, curves, run.horizon, style, floor)
    if nu is not None:
        _level(ax, float(nu), units.after(rf"$\nu = {number(float(nu))}$", "length"), style)
    if nu is not None and run.reached_at is not None:
        own: Any = {"color": style.ink, "lw": style.line, "ls": (0, (1, 1.2)), "zorder": 4}
        since = rf"within $\nu$ from $t = {number(run.reached_at)}$"
        own["label"] = units.after(since, "time")
        ax.axvline(run.reached_at, **own)
    worlds.draw_switches(ax, run, 0.0, run.horizon, style)
    style.explain(ax, 4)
    note_zeros(ax, curves, style)
    if not len(run.metrics.times):
        style.annotate(ax, "at the agents' own samples only", at=(0.5, 0.93))


def draw_hold_errors(ax: Axes, run: RunLike, *, style: Style = PLAIN) -> None:
    """Hold error |eta~_p| of every agent over time, with the limit that is assumed."""
    run = as_run(run)
    units, speed = run.details.units, "length / time"
    label = quantity_label("hold error", units) + whose(run, style)
    time_axis(ax, 0.0, run.horizon, label, style, units)
    if hold_program(run.system) is None:
        style.placeholder(ax, "this law has no hold error")
        return
    curves = _hold_curves(run)
    if not any(len(curve[0]) for curve in curves):
        style.placeholder(ax, NO_SAMPLES)
        return
    limit = None if run.details.assumed is None else float(run.details.assumed["eta_max"])
    times, values = (np.concatenate(part) for part in zip(*curves, strict=True))
    k = int(np.nanargmax(values))
    top, floor = float(values[k]), -np.inf
    peaks = _peaks(curves, run, style)
    if limit is not None and 0.0 < FAR_BELOW * top < limit:
        floor = log_axis(ax, [*(values for _, values in peaks), np.array([limit])])
    else:
        edge = max(top, limit or 0.0) or 1.0
        ax.set_ylim(-0.02 * edge, 1.08 * edge)
    draw_curves(ax, peaks, run.horizon, style, floor)
    if limit is not None:
        label = units.after(rf"$\tilde{{\eta}}_{{\max}} = {number(limit)}$", speed)
        _level(ax, limit, label, style)
    largest = units.after(f"largest: ${number(top)}$", speed)
    largest += units.after(f" at $t = {number(float(times[k]))}$", "time")
    _mark(ax, float(times[k]), top, largest, style)
    worlds.draw_switches(ax, run, 0.0, run.horizon, style)
    style.explain(ax, 4)


def _mark(ax: Axes, t: float, value: float, label: str, style: Style) -> None:
    """A dot that may sit on the very edge of the picture."""
    dot: Any = {"ms": 3.5, "color": style.ink, "ls": "none", "label": label}
    ax.plot([t], [value], "o", clip_on=False, zorder=6, **dot)


def draw_cost(ax: Axes, run: RunLike, *, style: Style = PLAIN) -> None:
    """Locational cost over time, on a log axis, with its last value."""
    run = as_run(run)
    time_axis(ax, 0.0, run.horizon, quantity_label("cost"), style, run.details.units)
    times, costs = cost_curve(run)
    if not len(times):
        ax.set_yscale("log")
        style.placeholder(ax, NO_SAMPLES)
        return
    floor = log_axis(ax, [costs])
    own: Any = {"color": style.limit, "lw": style.bold}
    draw_curve(ax, (times, costs), run.horizon, style, floor, **own)
    end, last = float(times[-1]), float(costs[-1])
    value = rf"$\mathcal{{L}} = {number(last)}$ at $t = {number(end)}$"
    _mark(ax, end, max(last, floor), run.details.units.after(value, "time"), style)
    worlds.draw_switches(ax, run, 0.0, run.horizon, style)
    style.explain(ax, 2)
    note_zeros(ax, [(times, costs)], style)


def cost_curve(run: Run) -> Curve:
    """The cost at the metric samples, with the values before and after each switch."""
    metrics = worlds.both_sides(run)
    return metrics.times, metrics.costs


def draw_cell_counts(
    ax: Axes,
    run: RunLike,
    *,
    style: Style = PLAIN,
    among: Sequence[Run] = (),
    explained: bool = True,
) -> None:
    """Cells of all kinds that each agent has computed up to each time, on a log axis.

    The axis also fits the runs `among` which this one is shown.
    """
    run = as_run(run)
    time_axis(ax, 0.0, run.horizon, f"cells computed{whose(run, style)}", style, run.details.units)
    every = [values for shown in (run, *among) for _, values in count_curves(shown)]
    draw_curves(ax, count_curves(run), run.horizon, style, log_axis(ax, every))
    worlds.draw_switches(ax, run, 0.0, run.horizon, style, named=explained)
    if explained:
        style.explain(ax, 4)


def count_curves(run: Run) -> list[Curve]:
    """The cumulative count of cells of each agent, as steps."""
    made = sum(run.events.count(kind) for kind in CELLS)
    begin = sum(counts_of(run.start.spent, kind) for kind in CELLS)
    curves: list[Curve] = []
    for p in range(run.agents):
        rows = run.events.of_agent(p)
        totals = np.cumsum(np.append(np.asarray(begin)[p], np.asarray(made)[rows]))
        times = np.concatenate([[0.0], np.repeat(run.events.time[rows], 2), [run.horizon]])
        own = worlds.while_present(run, p, times)
        curves.append((times[own], np.repeat(totals, 2).astype(np.float64)[own]))
    return curves


def error_curves(run: Run) -> list[Curve]:
    """Each agent's errors at the metric samples; at its own samples if there are none."""
    metrics = worlds.both_sides(run)
    if len(metrics.times):
        parts = [worlds.while_present(run, p, metrics.times) for p in range(run.agents)]
        return [(metrics.times[own], metrics.errors[own, p]) for p, own in enumerate(parts)]
    table, seen = run.events, lengths(run.events.errors)
    return [(table.time[rows], seen[rows]) for rows in map(table.of_agent, range(run.agents))]


def _hold_curves(run: Run) -> list[Curve]:
    """Each agent's hold errors: at samples, at the end of each hold, and 0 just after it."""
    metrics, table = worlds.both_sides(run), run.events
    curves = []
    for p in range(run.agents):
        rows, own = _own_rows(run, p), worlds.while_present(run, p, metrics.times)
        ends, before = table.time[rows], table.hold_error[rows]
        sampled = metrics.hold_errors[own, p] if len(metrics.times) else np.empty(0)
        times = np.concatenate([ends, ends, metrics.times[own]])
        values = np.concatenate([before, np.zeros(len(rows)), sampled])
        order = np.argsort(times, kind="stable")
        curves.append((times[order], values[order]))
    return curves


def _own_rows(run: Run, p: int) -> Ints:
    """The rows of an agent at the end of a hold: those in which it arrives or leaves are not."""
    rows, (arrivals, departures) = run.events.of_agent(p), worlds.lives(run)
    times = run.events.time[rows]
    own: Ints = rows[((times > arrivals[p]) | (arrivals[p] == 0.0)) & (times < departures[p])]
    return own


def _peaks(curves: Sequence[Curve], run: Run, style: Style) -> list[Curve]:
    """Hold errors tooth by tooth where a page can show that; else the peaks, column by column."""
    holds = len(run.events) // run.agents
    if holds <= 20 or holds * run.agents <= MOST_TEETH:
        return list(curves)
    columns = min(style.columns, holds // 2)
    return [maxima(curve, run.horizon, columns) for curve in curves]


def draw_curves(
    ax: Axes, curves: Sequence[Curve], until: float, style: Style, floor: float = -np.inf
) -> None:
    """One thinned line per agent, not below `floor`; bands where the agents are many."""
    agents = len(curves)
    if agents > style.most_lines:
        _draw_bands(ax, curves, until, style, floor)
        return
    for p, curve in enumerate(curves):
        own: Any = {"color": style.colour(p), "ls": style.dashes(p), "lw": style.width(agents)}
        label = agent_label(p) if 1 < agents <= style.most_named else None
        draw_curve(ax, curve, until, style, floor, label=label, **own)


def draw_curve(
    ax: Axes, curve: Curve, until: float, style: Style, floor: float, **properties: Any
) -> None:
    """One thinned line, not below `floor`; a dot where there is one point only."""
    times, values = extremes(curve, until, style.columns)
    dot: dict[str, Any] = {"marker": "o", "ms": 3.0} if len(times) == 1 else {}
    ax.plot(times, np.maximum(values, floor), solid_joinstyle="round", **properties, **dot)


def _draw_bands(
    ax: Axes, curves: Sequence[Curve], until: float, style: Style, floor: float
) -> None:
    """The spread over all agents: whole range, middle 80 %, median, largest."""
    thinned = [extremes(curve, until, style.columns) for curve in curves]
    drawn = [(times, np.maximum(values, floor)) for times, values in thinned]
    times, spread = bands(drawn, until, style.columns, (0.0, 0.1, 0.5, 0.9, 1.0))
    least, low, middle, high, most = spread
    band: Any = {"color": style.band, "lw": 0}
    if len(times) > 1:
        ax.fill_between(times, least, most, alpha=0.3, label=f"all {len(curves)} agents", **band)
        ax.fill_between(times, low, high, alpha=0.8, label="middle 80 %", **band)
    for values, label, dashes in ((middle, "median", (0, (4, 1.2))), (most, "largest", "-")):
        own: Any = {"color": style.ink, "lw": style.line, "ls": dashes, "label": label}
        draw_curve(ax, (times, values), until, style, floor, **own)


def whose(run: Run, style: Style) -> str:
    """Which agents the curves belong to, where they are too many to be named one by one."""
    return rf",  $p = 0, \ldots, {run.agents - 1}$" if run.agents > style.most_named else ""


def time_axis(
    ax: Axes, begin: float, end: float, y_label: str, style: Style = PLAIN, units: Units = OPEN
) -> None:
    """The horizontal axis is time, from `begin` to `end`."""
    style.dress(ax, quantity_label("time", units), y_label)
    ax.set_xlim((begin, end) if end > begin else (begin - 0.5, begin + 0.5))


def log_axis(ax: Axes, parts: Sequence[Floats]) -> float:
    """Make the vertical axis logarithmic and fit it; gives where zeros go, at its lower edge."""
    from matplotlib.ticker import LogFormatterSciNotation

    values = np.concatenate([np.ravel(part) for part in parts])
    positive = values[values > 0.0]
    top = float(positive.max()) if len(positive) else 1.0
    bottom = max(float(positive.min()), DEEPEST * top) if len(positive) else 0.1
    margin = 1.15 * math.pow(top / bottom, 0.06)
    top, bottom = top * margin, bottom / margin
    if top < 10.0 * bottom:  # always a whole decade, so that some tick is a power of ten
        stretch = math.sqrt(10.0 * bottom / top)
        top, bottom = top * stretch, bottom / stretch
    ax.set_yscale("log")
    ax.set_ylim(bottom, top)
    if top < 500.0 * bottom:
        ax.yaxis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(3.0, 0.5)))
    return bottom * math.pow(top / bottom, 0.01)


def _level(ax: Axes, value: float, label: str, style: Style) -> None:
    ax.axhline(value, color=style.ink, lw=style.bold, ls=(0, (6, 2)), label=label, zorder=4)


def note_zeros(ax: Axes, curves: Sequence[Curve], style: Style) -> None:
    """Note where values of 0 are on a log axis, if there are any."""
    if any(len(values) and values.min() <= 0.0 for _, values in curves):
        style.annotate(ax, "values of 0 are drawn at the lower edge", at=(0.5, 0.07))


def columns_of(times: Floats, until: float, columns: int) -> Ints:
    """Which of `columns` equal columns of [0, until] each time falls into."""
    scale = columns / until if until > 0.0 else 0.0
    return np.minimum((times * scale).astype(np.int64), columns - 1)


def extremes(curve: Curve, until: float, columns: int) -> Curve:
    """The first, last, smallest and largest point in each column, in order."""
    times, values = curve
    if len(times) <= 4 * columns:
        return curve
    keep = np.unique(_landmarks(curve, until, columns))
    return times[keep], values[keep]


def maxima(curve: Curve, until: float, columns: int) -> Curve:
    """The largest point in each column: the upper envelope of a saw-tooth."""
    times, values = curve
    highest = _landmarks(curve, until, columns)[3]
    return times[highest], values[highest]


def _landmarks(curve: Curve, until: float, columns: int) -> Ints:
    """Rows of the first, last, smallest and largest value of each column that has any, (4, k)."""
    times, values = curve
    column = columns_of(times, until, columns)
    by_value = np.lexsort((values, column))
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(starts, len(times))[1:] - 1
    return np.stack([starts, ends, by_value[starts], by_value[ends]])


def bands(
    curves: Sequence[Curve], until: float, columns: int, shares: Sequence[float]
) -> tuple[Floats, Floats]:
    """Quantiles of all curves together, column by column: times (n,), values (len(shares), n)."""
    times = np.concatenate([curve[0] for curve in curves])
    values = np.concatenate([curve[1] for curve in curves])
    distinct = len(np.unique(times))
    column = columns_of(times, until, min(columns, max(distinct // 2, 1)))
    order = np.argsort(column, kind="stable")
    times, values, column = times[order], values[order], column[order]
    groups = np.split(np.arange(len(times)), np.flatnonzero(np.diff(column)) + 1)
    middles = np.array([times[rows].mean() for rows in groups])
    found = np.array([np.quantile(values[rows], shares) for rows in groups]).T
    return middles, found

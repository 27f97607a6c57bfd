"""The saw-tooth of the agents' timers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.plotting import worlds
from dwell.plotting.style import COLOURS, PLAIN, Axes, Style, agent_label, number, quantity_label
from dwell.plotting.timelines import Curve, time_axis
from dwell.results import Run, RunLike, as_run

PAPER_WINDOW = (0.1, 0.15)
FEWEST, MOST = 2.0, 8.0  # resets per agent that a window should show
NAMED = 6  # agents in colour, where there are too many to name them all
SHADES = 60  # agents that are not named are drawn faintly, up to so many


def draw_timers(
    ax: Axes, run: RunLike, *, window: tuple[float, float] | None = None, style: Style = PLAIN
) -> None:
    """Timers tau_p over a short window: exact, with a vertical line at every reset.

    Where the agents are many, some are named and the others are drawn faintly behind them.
    """
    run = as_run(run)
    begin, end = default_window(run) if window is None else window
    time_axis(ax, begin, end, quantity_label("timer", run.details.units), style, run.details.units)
    if end - begin < 0.999 * run.horizon:
        last = run.details.units.after(f"${number(run.horizon)}$", "time")
        of_whole = f" (a window of the run, which ends at {last})"
        ax.set_xlabel(quantity_label("time") + of_whole)
    named = run.agents if run.agents <= style.most_named else NAMED
    shown = min(run.agents, named + SHADES)
    top = 0.0
    for p in [*range(named, shown), *range(named)]:
        times, values = saw_tooth(run, p, begin, end)
        top = max(top, float(np.nanmax(values, initial=0.0)))
        line: Any = {"color": style.colour(p), "ls": style.dashes(p), "lw": style.line}
        label = agent_label(p)
        if p >= named:
            line = {"color": style.faint, "lw": 0.6 * style.thin}
            rest = run.agents - named
            label = f"the other {rest}"
            if shown < run.agents:
                label = f"{shown - named} of {label}"
        dot: Any = {} if end > begin or p >= named else {"marker": "o", "ms": 3.0}
        first = p <= named  # one entry in the legend for all agents without a name
        line |= {"zorder": 2 if p < named else 1, "label": label if first else None}
        ax.plot(times, values, **line, **dot)
    resets = [run.events.time[run.events.of_agent(p)] for p in range(run.agents)]
    alike = all(np.array_equal(resets[0], own) for own in resets[1:])
    together = run.agents > 1 and len(resets[0]) > 0 and alike
    ax.set_ylim(0.0, (1.2 if together else 1.06) * top if top > 0.0 else 1.0)
    worlds.draw_switches(ax, run, begin, end, style)
    style.explain(ax, 4)
    if together:
        style.annotate(ax, "all agents at the same times", at=(0.5, 0.93))


def default_window(run: Run) -> tuple[float, float]:
    """The paper's window if it shows a few resets; else one that does, a little into the run."""
    waits = run.events.next_at - run.events.time
    waits = waits[np.isfinite(waits) & (waits > 0.0)]
    if not len(waits):
        return 0.0, run.horizon
    first, last = PAPER_WINDOW
    inside = np.count_nonzero((run.events.time >= first) & (run.events.time <= last))
    if FEWEST <= inside / run.agents <= MOST and run.horizon >= last:
        return PAPER_WINDOW
    step = _rounded(0.6 * float(waits.mean()))
    begin = math.ceil(3.0 * float(waits.max()) / step) * step
    if begin + 5.0 * step > run.horizon:
        return max(0.0, run.horizon - 5.0 * step), run.horizon
    return begin, begin + 5.0 * step


def saw_tooth(run: Run, agent: int, begin: float, end: float) -> Curve:
    """Vertices of one agent's timer on [begin, end]: falling with slope -1, vertical at resets."""
    rows = run.events.of_agent(agent)
    begin = max(begin, float(worlds.lives(run)[0][agent]))
    if begin > end:
        return np.empty(0), np.empty(0)
    sampled = np.concatenate([[0.0], run.events.time[rows]])
    due = np.concatenate([run.start.segments.next_at[[agent]], run.events.next_at[rows]])
    first = int(np.searchsorted(sampled, begin, side="right")) - 1
    last = int(np.searchsorted(sampled, end, side="right"))
    sampled, due = sampled[max(first, 0) : last], due[max(first, 0) : last]
    starts = np.maximum(sampled, begin)
    ends = np.append(sampled[1:], end)
    times: Floats = np.column_stack([starts, ends]).ravel()
    left = np.maximum(np.repeat(due, 2) - times, 0.0)
    return times, np.where(np.isfinite(left), left, np.nan)  # never again: nothing to draw


def time_since(run: Run, agent: int) -> Curve:
    """Vertices of the time since an agent's last event: rising with slope 1, vertical at events."""
    events = run.events.time[run.events.of_agent(agent)]
    starts, ends = np.append(0.0, events), np.append(events, run.horizon)
    times: Floats = np.column_stack([starts, ends]).ravel()
    values = np.column_stack([np.zeros(len(ends)), ends - starts]).ravel()
    arrival, departure = (when[agent] for when in worlds.lives(run))
    own = slice(2 if arrival > 0.0 else 0, -2 if departure <= run.horizon else None)
    return times[own], values[own]


def draw_time_since(ax: Axes, run: RunLike, agents: Sequence[int], *, style: Style = PLAIN) -> None:
    """The saw-tooth sigma_p of a few agents over the whole run, and a line along its peaks.

    A peak is the interval that ends there.
    """
    run = as_run(run)
    since = quantity_label("time since event", run.details.units)
    time_axis(ax, 0.0, run.horizon, since, style, run.details.units)
    top = 0.0
    for k, p in enumerate(agents):
        times, values = time_since(run, p)
        top = max(top, float(values.max(initial=0.0)))
        ax.plot(times, values, color=style.colour(k), lw=0.4 * style.thin, alpha=0.35, zorder=1)
        line: Any = {"color": style.colour(k), "ls": style.dashes(k * len(COLOURS))}
        peaks = times[1:-1:2], values[1:-1:2]
        ax.plot(*peaks, lw=style.bold, label=f"$p = {p}$", zorder=3 + len(agents) - k, **line)
    ax.set_ylim(0.0, 1.06 * top if top > 0.0 else 1.0)
    worlds.draw_switches(ax, run, 0.0, run.horizon, style)
    style.explain(ax, 3)


def _rounded(length: float) -> float:
    """1, 2 or 5 times a power of ten, near `length`."""
    power = 10.0 ** math.floor(math.log10(length))
    return power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(math.log(k * power / length)))

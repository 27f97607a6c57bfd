"""Several runs in one figure: a panel for each, in one style and on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.errors import InputError
from dwell.plotting import cell_counts, timelines, timers
from dwell.plotting.downsample import extremes
from dwell.plotting.figures import (
    ONE_COLUMN,
    TALLEST,
    TWO_COLUMNS,
    blank,
    draw_paths,
    entitled,
    name_of,
    panel_height,
)
from dwell.plotting.style import (
    COLOURS,
    DASHES,
    PLAIN,
    Style,
    annotate,
    dress,
    explain_all,
    placeholder,
)
from dwell.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3  # panels side by side
WORDS = 0.65  # inches above and below a map, for its title and the names of its axes
LEGEND, NAME = 0.3, 0.2  # inches for the legend of all panels, and for the scenario's name

Runs = Mapping[str, Run]


def compared_trajectories(runs: Runs, style: Style = PLAIN) -> Figure:
    """The paths of every law, side by side."""
    across = min(ACROSS, _checked(runs))
    rows = -(-len(runs) // across)
    width = TWO_COLUMNS if across > 1 else ONE_COLUMN
    once = LEGEND + (NAME if name_of(*runs.values()) else 0.0)
    height_left = (TALLEST - once) / rows - WORDS
    height = panel_height(next(iter(runs.values())), width / across - 0.5, 0.8, height_left)
    figure = blank(width, rows * (height + WORDS) + once)
    axes = _grid(figure, rows, across, len(runs))
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        draw_paths(ax, run, style=style, explained=False)
        _name(ax, name, style)
    explain_all(figure, axes, style, 8)
    return entitled(figure, *runs.values())


def compared_errors(runs: Runs, style: Style = PLAIN) -> Figure:
    """Tracking errors of every law, one above another, on one log axis."""
    figure = blank(TWO_COLUMNS, max(2.5, min(TALLEST, 1.7 * _checked(runs) + 0.3)))
    axes = _grid(figure, len(runs), 1, len(runs))
    _draw_errors(axes, runs, style)
    for ax in axes[:-1]:
        ax.set_xlabel("")
    explain_all(figure, axes, style, 8)
    return entitled(figure, *runs.values())


def errors_side_by_side(
    pairs: Mapping[str, tuple[Run, Run]], heads: tuple[str, str], style: Style = PLAIN
) -> Figure:
    """Tracking errors of pairs of runs: a row for each pair, all on one log axis."""
    figure = blank(TWO_COLUMNS, max(2.5, min(TALLEST, 1.7 * _checked(pairs) + 0.3)))
    axes = _grid(figure, len(pairs), 2, 2 * len(pairs))
    panels = {
        f"{name}, {head}": run
        for name, pair in pairs.items()
        for head, run in zip(heads, pair, strict=True)
    }
    _draw_errors(axes, panels, style)
    for ax in axes[1::2]:
        ax.set_ylabel("")
        ax.tick_params(labelleft=False)
    for ax in axes[:-2]:
        ax.set_xlabel("")
    return figure


def compared_cells(runs: Runs, style: Style = PLAIN) -> Figure:
    """Cells computed under every law, side by side, on one log axis."""
    across = min(ACROSS, _checked(runs))
    rows = -(-len(runs) // across)
    figure = blank(TWO_COLUMNS if across > 1 else ONE_COLUMN, min(TALLEST, 2.35 * rows + 0.1))
    axes = _grid(figure, rows, across, len(runs))
    for k, (ax, (name, run)) in enumerate(zip(axes, runs.items(), strict=True)):
        others = [other for other in runs.values() if other is not run]
        cell_counts.draw_cell_counts(ax, run, style=style, among=others, explained=False)
        _name(ax, name, style)
        annotate(ax, style, cell_counts.total_in_words(run), at=(0.55, 0.06))
        _few_ticks(ax)
        if k % across:
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)
    return entitled(figure, *runs.values())


def compared_costs(runs: Runs, style: Style = PLAIN) -> Figure:
    """The cost under every law, in one picture."""
    _checked(runs)
    figure = blank(ONE_COLUMN, 2.6)
    ax = figure.subplots()
    longest = max(runs.values(), key=lambda run: run.horizon)
    timelines.time_axis(ax, longest, style, r"$\mathcal{L}(x)$")
    sampled = {name: run for name, run in runs.items() if len(run.metrics.times)}
    if not sampled:
        placeholder(ax, style, timelines.NO_SAMPLES)
        return figure
    floor = timelines.log_axis(ax, [run.metrics.costs for run in sampled.values()])
    for k, (name, run) in enumerate(sampled.items()):
        curve = (run.metrics.times, run.metrics.costs)
        t, values = extremes(curve, longest.horizon, style.columns)
        dashed: Any = {"color": COLOURS[k % len(COLOURS)], "ls": DASHES[k % len(DASHES)]}
        timelines.plot_line(ax, t, np.maximum(values, floor), lw=style.bold, label=name, **dashed)
    explain_all(figure, [ax], style, 2 if len(sampled) > 3 else 3)
    return entitled(figure, *runs.values())


COMPARED = {
    "trajectories": compared_trajectories,
    "errors": compared_errors,
    "cells": compared_cells,
    "costs": compared_costs,
}


def time_since_events(run: Run, per_panel: int = 3, style: Style = PLAIN) -> Figure:
    """The saw-tooth of the time since each agent's last event, a few agents to a panel."""
    panels = -(-run.agents // per_panel)
    across = 2 if panels > 1 else 1
    rows = -(-panels // across)
    figure = blank(TWO_COLUMNS, min(TALLEST, 1.9 * rows))
    for k, ax in enumerate(_grid(figure, rows, across, panels)):
        agents = range(k * per_panel, min((k + 1) * per_panel, run.agents))
        timers.draw_time_since(ax, run, agents, style=style)
    return figure


def quartiles(
    samples: Mapping[str, Mapping[str, Sequence[float | None]]],
    log: Sequence[str] = (),
    style: Style = PLAIN,
) -> Figure:
    """Boxes from quartile to quartile, with every value as a dot; a panel for each quantity.

    `samples` holds, by quantity and then by law, one value per start; None where there is none.
    `log` names the quantities that go on log axes.
    """
    across = min(4, _checked(samples))
    rows = -(-len(samples) // across)
    figure = blank(TWO_COLUMNS, min(TALLEST, 2.2 * rows))
    for ax, (quantity, by_law) in zip(
        _grid(figure, rows, across, len(samples)), samples.items(), strict=True
    ):
        _draw_boxes(ax, quantity, by_law, quantity in log, style)
    return figure


def _draw_boxes(
    ax: Axes,
    quantity: str,
    by_law: Mapping[str, Sequence[float | None]],
    log: bool,
    style: Style,
) -> None:
    known = {
        law: np.array([v for v in values if v is not None], dtype=float)
        for law, values in by_law.items()
    }
    dress(ax, style, "", "")
    if log:
        timelines.log_axis(ax, list(known.values()))
        ax.yaxis.set_minor_formatter("")
    for k, values in enumerate(known.values()):
        if not len(values):
            continue
        colour = COLOURS[k % len(COLOURS)]
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
        ax.fill_between([k - 0.32, k + 0.32], low, high, color=colour, alpha=0.25, lw=0)
        ax.plot([k - 0.32, k + 0.32], [middle, middle], color=colour, lw=1.6)
        ax.plot(k + _strewn(len(values)), values, "o", ms=2.2, color=colour, mew=0)
    missing = {k: len(by_law[law]) - len(values) for k, (law, values) in enumerate(known.items())}
    if any(missing.values()):
        _reserve(ax, log)
    for k, count in missing.items():
        if count:
            annotate(ax, style, f"{count} never", at=((k + 0.5) / len(known), 0.94))
    ax.set_xlim(-0.5, len(known) - 0.5)
    ax.set_xticks(range(len(known)), [law.replace("-", "-\n", 1) for law in known])
    ax.set_title(quantity, fontsize=style.label_size, pad=4.0)


def _reserve(ax: Axes, log: bool) -> None:
    """Lengthen the vertical axis upwards, for words above the data."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.15 if log else high + 0.15 * (high - low))


def _strewn(count: int) -> Floats:
    """Small sideways shifts, so that dots at one height do not overlap; deterministic."""
    shifts: Floats = 0.24 * (2.0 * ((np.arange(float(count)) * 0.6180339887498949) % 1.0) - 1.0)
    return shifts


def _draw_errors(axes: Sequence[Axes], runs: Runs, style: Style) -> None:
    """Errors in a panel for each run, all on one log axis."""
    curves = {name: timelines.error_curves(run) for name, run in runs.items()}
    values = [v for own in curves.values() for _, v in own]
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        timelines.time_axis(ax, run, style, r"$\Vert e_p \Vert$")
        _name(ax, name, style)
        floor = timelines.log_axis(ax, values)
        ax.yaxis.set_minor_formatter("")  # panels are low
        if not any(len(t) for t, _ in curves[name]):
            placeholder(ax, style, timelines.NO_SAMPLES)
            continue
        thinned = [extremes(curve, run.horizon, style.columns) for curve in curves[name]]
        drawn = [(t, np.maximum(v, floor)) for t, v in thinned]
        timelines.draw_curves(ax, drawn, run.horizon, style)
        timelines.say_zeros(ax, curves[name], style)


def _grid(figure: Figure, rows: int, across: int, panels: int) -> list[Axes]:
    axes = np.atleast_1d(figure.subplots(rows, across)).ravel()
    for ax in axes[panels:]:
        ax.remove()
    return list(axes[:panels])


def _few_ticks(ax: Axes) -> None:
    """Round times, so few that they do not meet those of the next panel."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))


def _name(ax: Axes, name: str, style: Style) -> None:
    ax.set_title(name, fontsize=style.label_size, pad=4.0)


def _checked(panels: Mapping[str, Any]) -> int:
    if not panels:
        raise InputError("there is nothing to draw; give at least one run", code="plot.nothing")
    return len(panels)

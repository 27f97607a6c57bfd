"""Several runs in one figure: a panel for each, in one style and on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.errors import InputError
from dwell.plotting import timelines, timers
from dwell.plotting.figures import (
    ONE_COLUMN,
    TALLEST,
    TWO_COLUMNS,
    blank,
    draw_paths,
    entitled,
    name_of,
    panel_grid,
    panel_height,
)
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Axes, Figure, quantity_label, round_ticks
from dwell.plotting.worlds import draw_switches, scope_of
from dwell.results import Run

ACROSS = 3  # panels side by side
WORDS = 0.65  # inches above and below a map, for its title and the names of its axes
LEGEND, NAME = 0.3, 0.2  # inches for the legend of all panels, and for the scenario's name
HALF = 0.32  # of the width of a box
FEWEST = 4  # values that have quartiles

Runs = Mapping[str, Run]


def compared_trajectories(runs: Runs) -> Figure:
    """The paths of every law, side by side."""
    across = min(ACROSS, _checked(runs))
    rows = -(-len(runs) // across)
    width = TWO_COLUMNS if across > 1 else ONE_COLUMN
    once = LEGEND + (NAME if name_of(*runs.values()) else 0.0)
    height_left = (TALLEST - once) / rows - WORDS
    first = scope_of(next(iter(runs.values())))
    height = panel_height(first, width / across - 0.5, 0.8, height_left)
    figure, axes = panel_grid(len(runs), height + WORDS, extra=once)
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        draw_paths(ax, run)
        PLAIN.entitle(ax, name)
    PLAIN.explain_all(figure, axes, 8)
    return entitled(figure, *runs.values())


def compared_errors(runs: Runs) -> Figure:
    """Tracking errors of every law, one above another, on one log axis."""
    figure, axes = _error_panels(runs, 1)
    PLAIN.explain_all(figure, axes, 8)
    return entitled(figure, *runs.values())


def errors_side_by_side(pairs: Mapping[str, tuple[Run, Run]], heads: tuple[str, str]) -> Figure:
    """Tracking errors of pairs of runs: a row for each pair, all on one log axis."""
    panels = {
        f"{name}, {head}": run
        for name, pair in pairs.items()
        for head, run in zip(heads, pair, strict=True)
    }
    figure, axes = _error_panels(panels, 2)
    for ax in axes[1::2]:
        _without_numbers(ax)
    return figure


def _error_panels(runs: Runs, across: int) -> tuple[Figure, list[Axes]]:
    """Errors in a panel for each run, all on one log axis; time is named below them."""
    height = 1.7 if _checked(runs) > across else 2.2
    figure, axes = panel_grid(len(runs), height, across, 0.3, TWO_COLUMNS)
    curves = {name: timelines.error_curves(run) for name, run in runs.items()}
    values = [v for own in curves.values() for _, v in own]
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        label = quantity_label("error", run.details.units)
        timelines.time_axis(ax, 0.0, run.horizon, label, units=run.details.units)
        PLAIN.entitle(ax, name)
        floor = timelines.log_axis(ax, values)
        ax.yaxis.set_minor_formatter("")  # panels are low
        if not any(len(t) for t, _ in curves[name]):
            PLAIN.placeholder(ax, timelines.NO_SAMPLES)
            continue
        timelines.draw_curves(ax, curves[name], run.horizon, PLAIN, floor)
        timelines.note_zeros(ax, curves[name], PLAIN)
        draw_switches(ax, run, 0.0, run.horizon)
    for ax in axes[:-across]:
        ax.set_xlabel("")
    return figure, axes


def compared_cells(runs: Runs) -> Figure:
    """Cells computed under every law, side by side, on one log axis."""
    figure, axes = panel_grid(_checked(runs), 2.35, ACROSS, 0.1)
    every = list(runs.values())
    for k, (ax, (name, run)) in enumerate(zip(axes, runs.items(), strict=True)):
        timelines.draw_cell_counts(ax, run, among=every, explained=False)
        PLAIN.entitle(ax, name)
        low, high = int(run.counters.cells.min()), int(run.counters.cells.max())
        total = f"{low:,} per agent" if low == high else f"{low:,} to {high:,} per agent"
        PLAIN.annotate(ax, total, at=(0.55, 0.06))
        round_ticks(ax.xaxis, 4)
        if k % ACROSS:
            _without_numbers(ax)
    return entitled(figure, *every)


def compared_costs(runs: Runs) -> Figure:
    """The cost under every law, in one picture."""
    _checked(runs)
    figure = blank(ONE_COLUMN, 2.6)
    ax = figure.subplots()
    longest = max(runs.values(), key=lambda run: run.horizon)
    label = quantity_label("cost")
    timelines.time_axis(ax, 0.0, longest.horizon, label, units=longest.details.units)
    sampled = {name: run for name, run in runs.items() if len(run.metrics.times)}
    if not sampled:
        PLAIN.placeholder(ax, timelines.NO_SAMPLES)
        return figure
    curves = {name: timelines.cost_curve(run) for name, run in sampled.items()}
    floor = timelines.log_axis(ax, [costs for _, costs in curves.values()])
    for k, (name, curve) in enumerate(curves.items()):
        own: Any = {"color": COLOURS[k % len(COLOURS)], "ls": DASHES[k % len(DASHES)]}
        own |= {"lw": PLAIN.bold, "label": name}
        timelines.draw_curve(ax, curve, longest.horizon, PLAIN, floor, **own)
    draw_switches(ax, longest, 0.0, longest.horizon)
    PLAIN.explain_all(figure, [ax], 2 if len(sampled) > 3 else 3)
    return entitled(figure, *runs.values())


COMPARED = {
    "trajectories": compared_trajectories,
    "errors": compared_errors,
    "cells": compared_cells,
    "costs": compared_costs,
}


def time_since_events(run: Run, per_panel: int = 3) -> Figure:
    """The saw-tooth of the time since each agent's last event, a few agents to a panel."""
    panels = -(-run.agents // per_panel)
    figure, axes = panel_grid(panels, 1.9, 2, width=TWO_COLUMNS)
    for k, ax in enumerate(axes):
        agents = range(k * per_panel, min((k + 1) * per_panel, run.agents))
        timers.draw_time_since(ax, run, agents)
    return figure


def quartiles(
    samples: Mapping[str, Mapping[str, Sequence[float | None]]], log: Sequence[str] = ()
) -> Figure:
    """Boxes from quartile to quartile, with every value as a dot; a panel for each quantity.

    `samples` holds, by quantity and then by law, one value per start; None where there is none.
    `log` names the quantities that go on log axes.
    """
    figure, axes = panel_grid(_checked(samples), 2.2, 4, width=TWO_COLUMNS)
    for ax, (quantity, by_law) in zip(axes, samples.items(), strict=True):
        PLAIN.dress(ax, "", "")
        PLAIN.entitle(ax, quantity)
        _draw_boxes(ax, by_law, quantity in log)
    return figure


def _draw_boxes(ax: Axes, by_law: Mapping[str, Sequence[float | None]], log: bool) -> None:
    known = [np.array([v for v in values if v is not None]) for values in by_law.values()]
    if log:
        timelines.log_axis(ax, known)
        ax.yaxis.set_minor_formatter("")
    for k, values in enumerate(known):
        if len(values):
            quartile_box(ax, k, values)
    missing = [list(values).count(None) for values in by_law.values()]
    if any(missing):  # lengthen the vertical axis upwards, for words above the data
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * (high / low) ** 0.15 if log else high + 0.15 * (high - low))
    for k, count in enumerate(missing):
        if count:
            PLAIN.annotate(ax, f"{count} never", at=((k + 0.5) / len(known), 0.94))
    ax.set_xlim(-0.5, len(known) - 0.5)
    ax.set_xticks(range(len(known)), [law.replace("-", "-\n", 1) for law in by_law])


def quartile_box(
    ax: Axes, k: int, values: Floats, most_dots: int = 10_000, whiskers: bool = False
) -> None:
    """A box from quartile to quartile at x = k, with the median, and a dot for each value.

    Few values have no box. More than `most_dots` dots are left out; `whiskers` reach from 5 to
    95 % of the values.
    """
    colour = COLOURS[k % len(COLOURS)]
    bottom, low, middle, high, top = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    if len(values) <= most_dots:  # shifted sideways, so that dots at one height do not overlap
        aside = 0.24 * (2.0 * ((np.arange(float(len(values))) * 0.6180339887498949) % 1.0) - 1.0)
        ax.plot(k + aside, values, "o", ms=2.0, color=colour, mew=0, alpha=0.6)
    if whiskers and len(values) > 4:
        ax.vlines([k, k], [bottom, high], [low, top], color=colour, lw=PLAIN.line)
    if len(values) >= FEWEST:
        ax.fill_between([k - HALF, k + HALF], low, high, color=colour, alpha=0.25, lw=0)
    ax.plot([k - HALF, k + HALF], [middle, middle], color=colour, lw=1.6, zorder=4)


def _without_numbers(ax: Axes) -> None:
    """Leave the vertical axis to the panel at the left."""
    ax.set_ylabel("")
    ax.tick_params(labelleft=False)


def _checked(panels: Mapping[str, Any]) -> int:
    if not panels:
        raise InputError("there is nothing to draw; give at least one run", code="plot.nothing")
    return len(panels)

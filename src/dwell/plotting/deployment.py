"""Figures of a deployment: where the agents stand, and what the starts came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.errors import InputError
from dwell.geometry import Workspace
from dwell.plotting.figures import (
    ONE_COLUMN,
    TALLEST,
    TWO_COLUMNS,
    blank,
    draw_paths,
    draw_places,
    proportion,
)
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Style, number
from dwell.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEARBY = 1.0  # a level is drawn up to so many ranges of the costs away from them
SAME = 1e-9  # range of costs, relative to them, up to which they are one


def deployment(
    workspace: Workspace, density: Density, positions: Points, cost: float, style: Style = PLAIN
) -> Figure:
    """The agents and their cells; over the density, unless it is the same everywhere."""
    figure = blank(ONE_COLUMN, _map_height(workspace) + 0.75, "compressed")
    ax = figure.subplots()
    draw_places(ax, workspace, density, positions, style=style)
    agents = f"{len(positions)} agents" if len(positions) > 1 else "1 agent"
    style.entitle(ax, rf"{agents}, $\mathcal{{L}} = {number(cost, 7)}$")
    return figure


def overview(run: Run, style: Style = PLAIN) -> Figure:
    """Start and end of a run side by side: cells over the density, and the paths to the end."""
    figure = blank(TWO_COLUMNS, _map_height(run.workspace) + 0.75, "compressed")
    axes = figure.subplots(1, 2)
    for ax, t in zip(axes, (0.0, run.horizon), strict=True):
        if t > 0.0 and run.details.record == "events":
            draw_paths(ax, run, style=style)
        else:
            draw_places(ax, run.workspace, run.system.density, run.positions(t), style=style)
        style.entitle(ax, f"$t = {number(t, 6)}$")
    return figure


def minima(
    costs: Mapping[str, Sequence[float]], levels: Mapping[str, float], style: Style = PLAIN
) -> Figure:
    """What every start came to, from the best to the worst.

    `costs` are by kind of the place that was come to; of the `levels`, those near the costs are
    drawn as lines.
    """
    every = np.array([cost for values in costs.values() for cost in values], dtype=float)
    if not len(every):
        raise InputError("there is nothing to draw; give at least one cost", code="plot.nothing")
    figure = blank(ONE_COLUMN, 2.6)
    ax = figure.subplots()
    along: Any = {"color": style.faint, "lw": style.thin, "drawstyle": "steps-mid"}
    ax.plot(np.arange(1, len(every) + 1), np.sort(every), **along)
    ranks = 1 + np.argsort(np.argsort(every, kind="stable"))
    parts = np.split(ranks, np.cumsum([len(values) for values in costs.values()])[:-1])
    for k, (kind, values) in enumerate(costs.items()):
        ax.plot(parts[k], values, "o", ms=2.6, mew=0, color=COLOURS[k % len(COLOURS)], label=kind)
    _draw_levels(ax, every, levels, style)
    ax.set_xlim(0.0, len(every) + 1.0)
    ax.locator_params(axis="x", nbins=6, integer=True)
    style.dress(ax, "starts, from the best on", r"$\mathcal{L}$ at the end")
    style.explain(ax, 2)
    return figure


def _draw_levels(ax: Axes, every: Floats, levels: Mapping[str, float], style: Style) -> None:
    low, high = float(every.min()), float(every.max())
    span = high - low if high - low > SAME * high else 0.01 * high
    ax.set_ylim(low - 0.06 * span, high + 0.06 * span)
    for k, (name, level) in enumerate(levels.items()):
        if low - NEARBY * span <= level <= high + NEARBY * span:
            ax.axhline(level, color=style.ink, lw=style.line, ls=DASHES[(k + 1) % 4], label=name)
            bottom, top = ax.get_ylim()
            ax.set_ylim(min(bottom, level - 0.06 * span), max(top, level + 0.06 * span))


def _map_height(workspace: Workspace) -> float:
    return float(np.clip(2.6 * proportion(workspace), 0.8, TALLEST - 3.0))

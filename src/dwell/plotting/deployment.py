"""Figures of a deployment: where the agents stand, and what the starts came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density, Uniform
from dwell.errors import InputError
from dwell.geometry import Workspace
from dwell.plotting import coordinate_pairs, line, maps, scene
from dwell.plotting.figures import ONE_COLUMN, TALLEST, TWO_COLUMNS, blank, draw_paths, proportion
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Style, dress, explain, number
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
    _draw_places(ax, workspace, density, positions, style)
    agents = f"{len(positions)} agents" if len(positions) > 1 else "1 agent"
    title = rf"{agents}, $\mathcal{{L}} = {number(cost, 7)}$"
    ax.set_title(title, fontsize=style.label_size, pad=4.0)
    return figure


def overview(run: Run, style: Style = PLAIN) -> Figure:
    """Start and end of a run side by side: cells over the density, and the paths to the end."""
    figure = blank(TWO_COLUMNS, _map_height(run.workspace) + 0.75, "compressed")
    axes = figure.subplots(1, 2)
    for ax, t in zip(axes, (0.0, run.horizon), strict=True):
        if t > 0.0 and run.details.record == "events":
            draw_paths(ax, run, style=style)
        else:
            _draw_places(ax, run.workspace, run.system.density, run.positions(t), style)
        ax.set_title(f"$t = {number(t, 6)}$", fontsize=style.label_size, pad=4.0)
    return figure


def _draw_places(
    ax: Axes, workspace: Workspace, density: Density, positions: Points, style: Style
) -> None:
    """Agents and cells on given axes, in any dimension."""
    n = workspace.dimension
    if n == 1:
        line.draw_line(ax, workspace, density, positions, style=style)
    elif n == 3:
        scene.draw_scene(ax, scene.View(workspace, positions), style=style)
    elif n > 3:
        coordinate_pairs.draw_places(ax, workspace, positions, style=style)
    else:
        _draw_map(ax, workspace, density, positions, style)


def _draw_map(
    ax: Axes, workspace: Workspace, density: Density, positions: Points, style: Style
) -> None:
    figure: Any = ax.figure
    if isinstance(density, Uniform):
        maps.draw_cells(ax, workspace, positions, style=style)
    else:
        image, label = maps.draw_density(ax, workspace, density, style=style)
        maps.draw_cells(ax, workspace, positions, style=replace(style, cell="white"))
        bar = figure.colorbar(image, ax=ax, aspect=30, pad=0.02)
        bar.set_label(label, fontsize=style.label_size)
        bar.ax.tick_params(labelsize=style.text_size, width=style.frame, length=3.0)
    maps.draw_workspace(ax, workspace, style=style)
    maps.draw_agents(ax, positions, style=style)


def minima(
    costs: Mapping[str, Sequence[float]], levels: Mapping[str, float], style: Style = PLAIN
) -> Figure:
    """What every start came to, from the best to the worst.

    `costs` are by kind of the place that was come to; of the `levels`, those near the costs are
    drawn as lines.
    """
    figure = blank(ONE_COLUMN, 2.6)
    draw_minima(figure.subplots(), costs, levels, style=style)
    return figure


def draw_minima(
    ax: Axes,
    costs: Mapping[str, Sequence[float]],
    levels: Mapping[str, float],
    *,
    style: Style = PLAIN,
) -> None:
    """Draw a deployment on given axes."""
    from matplotlib.ticker import MaxNLocator

    every = np.array([cost for values in costs.values() for cost in values], dtype=float)
    if not len(every):
        raise InputError("there is nothing to draw; give at least one cost", code="plot.nothing")
    rank = np.empty(len(every), dtype=np.int64)
    rank[np.argsort(every, kind="stable")] = np.arange(1, len(every) + 1)
    along: Any = {"color": style.faint, "lw": style.thin, "drawstyle": "steps-mid"}
    ax.plot(np.arange(1, len(every) + 1), np.sort(every), **along)
    first = 0
    for k, (kind, values) in enumerate(costs.items()):
        mine = rank[first : first + len(values)]
        first += len(values)
        ax.plot(mine, values, "o", ms=2.6, mew=0, color=COLOURS[k % len(COLOURS)], label=kind)
    _draw_levels(ax, every, levels, style)
    ax.set_xlim(0.0, len(every) + 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    dress(ax, style, "starts, from the best on", r"$\mathcal{L}$ at the end")
    explain(ax, style, 2)


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

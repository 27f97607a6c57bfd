"""Pictures of the line: density with cells, and the space-time diagram of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.geometry import Workspace
from dwell.plotting.maps import DENSITY, ticked
from dwell.plotting.style import PLAIN, Style, dress, explain, number
from dwell.plotting.timelines import time_axis
from dwell.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE = 801  # points of a density's curve
POINTS = 120_000  # of all paths together
MOST_DOTS = 300  # samples that are marked one by one
PALE = 0.4  # of the colour of a cell


def borders_of(workspace: Workspace, places: Floats) -> Floats:
    """Where cells meet, for agents at `places` (..., N): (..., N - 1), ascending."""
    lower, upper = (float(end[0]) for end in workspace.bounds)
    row = np.sort(places, axis=-1)
    middle = row[..., :-1] + 0.5 * np.diff(row, axis=-1)
    return np.clip(middle, lower, upper)


def curve_of(workspace: Workspace, density: Density) -> tuple[Floats, Floats]:
    """The density along the line."""
    lower, upper = (float(end[0]) for end in workspace.bounds)
    along = np.linspace(lower, upper, CURVE)
    return along, np.asarray(density.at(along[:, None]), dtype=float)


def slices(
    workspace: Workspace, curve: tuple[Floats, Floats], places: Floats
) -> tuple[list[Points], list[int]]:
    """The area under the curve in each cell, as rings (s, value), and whose it is."""
    along, values = curve
    lower, upper = (float(end[0]) for end in workspace.bounds)
    edges = np.concatenate([[lower], borders_of(workspace, places), [upper]])
    rings, owners = [], np.argsort(places, kind="stable").tolist()
    for left, right in pairwise(edges.tolist()):
        inside = along[(along > left) & (along < right)]
        foot = np.concatenate([[left], inside, [right]])
        heights = np.interp(foot, along, values)
        ends = ([[left, 0.0]], np.column_stack([foot, heights]), [[right, 0.0]])
        rings.append(np.vstack(ends))
    return rings, owners


def draw_line(
    ax: Axes,
    workspace: Workspace,
    density: Density,
    positions: Points,
    *,
    style: Style = PLAIN,
    marker: str = "o",
) -> None:
    """The density's curve, coloured by cells, and the agents on the axis; positions across."""
    from matplotlib.collections import LineCollection, PolyCollection

    places = positions[:, 0]
    curve = curve_of(workspace, density)
    rings, owners = slices(workspace, curve, places)
    ax.add_collection(PolyCollection(rings, facecolors=tints(owners, style), lw=0), autolim=False)
    borders = borders_of(workspace, places)
    heights = np.interp(borders, *curve)
    lines = [[(s, 0.0), (s, top)] for s, top in zip(borders, heights, strict=True)]
    ax.add_collection(LineCollection(lines, colors=style.cell, lw=style.thin), autolim=False)
    ax.plot(*curve, color=style.ink, lw=style.line)
    size = style.dot(len(places))
    ax.plot(
        places, np.zeros(len(places)), marker, ms=size, mfc=style.start, mec="white", mew=0.3,
        ls="none", clip_on=False, zorder=5,
    )  # fmt: skip
    fit_line(ax, workspace, curve, places, style)


def fit_line(
    ax: Axes, workspace: Workspace, curve: tuple[Floats, Floats], places: Floats, style: Style
) -> None:
    """Axes that hold the curve, and agents that left the workspace."""
    low, high = reach(workspace, places)
    ax.set_xlim(low, high)
    ax.set_ylim(0.0, 1.06 * float(curve[1].max()) or 1.0)
    dress(ax, style, ticked(ax.xaxis, workspace, 0), DENSITY)


def reach(workspace: Workspace, places: Floats) -> tuple[float, float]:
    """From where to where positions are drawn."""
    lower, upper = (float(end[0]) for end in workspace.bounds)
    margin = 0.02 * (upper - lower)
    return min(lower, float(places.min())) - margin, max(upper, float(places.max())) + margin


def tints(owners: Sequence[int], style: Style) -> list[Any]:
    """The colours of agents, pale."""
    from matplotlib.colors import to_rgba

    return [to_rgba(style.colour(p), PALE) for p in owners]


def draw_line_configurations(axes: Sequence[Axes], run: Run, *, style: Style = PLAIN) -> None:
    """Before (first axes) and after (second)."""
    for ax, t in zip(axes, (0.0, run.horizon), strict=True):
        draw_line(ax, run.workspace, run.system.density, run.positions(t), style=style)
        title = f"Density and cells, $t = {number(t, 6)}$"
        ax.set_title(title, fontsize=style.label_size, pad=4.0)


def draw_space_time(ax: Axes, run: Run, *, style: Style = PLAIN, explained: bool = True) -> None:
    """Every agent's path, time across and position up, with the borders of the cells."""
    from matplotlib.collections import LineCollection

    times = instants(run)
    places = run.positions(times)[..., 0]
    time_axis(ax, run, style, "")
    fit_space_time(ax, run, places, style)
    width = style.line if run.agents <= 30 else style.thin
    borders = borders_of(run.workspace, places)
    between = [np.column_stack([times, row]) for row in borders.T]
    lines = LineCollection(
        between, colors=style.cell, lw=0.5 * width, ls=[(0, (3, 2))], label="borders of cells"
    )
    ax.add_collection(lines, autolim=False)
    for p in range(run.agents):
        colour: Any = {"color": style.colour(p), "lw": width, "label": _named(run, p, style)}
        ax.plot(times, places[:, p], ls=style.dashes(p), zorder=3, **colour)
    _mark_samples(ax, run, style)
    if explained:
        explain(ax, style, 4)


def fit_space_time(ax: Axes, run: Run, places: Floats, style: Style) -> None:
    """The vertical axis of a space-time diagram, and the ends of the workspace."""
    ax.set_ylim(*reach(run.workspace, places))
    ax.set_ylabel(ticked(ax.yaxis, run.workspace, 0), fontsize=style.label_size)
    for end in run.workspace.bounds:
        ax.axhline(float(end[0]), color=style.ink, lw=style.line, zorder=1)


def _named(run: Run, p: int, style: Style) -> str | None:
    if run.agents <= style.most_named:
        return f"$p = {p}$"
    return r"paths $x_p$" if p == 0 else None


def _mark_samples(ax: Axes, run: Run, style: Style) -> None:
    """A dot at every sample, where they are few."""
    looked = run.events.count("looked") > 0
    if not 0 < looked.sum() <= MOST_DOTS:
        return
    when, where = run.events.time[looked], run.events.positions[looked, 0]
    ax.plot(when, where, "o", ms=1.6, mec="none", color=style.ink, zorder=4, label="looks")


def instants(run: Run) -> Floats:
    """Times at which paths are drawn: evenly spaced ones, and events unless they are too many."""
    most = int(np.clip(POINTS // run.agents, 40, 800))
    even = np.linspace(0.0, run.horizon, most)
    if len(run.events) > most:
        return even
    return np.unique(np.concatenate([even, run.events.time]))


def side_of(ax: Axes, share: float = 0.22) -> Axes:
    """Axes to the right of `ax`, in its place and with its vertical axis."""
    place: Any = ax.get_subplotspec()
    main, side = place.subgridspec(1, 2, width_ratios=[1.0 - share, share], wspace=0.03)
    ax.set_subplotspec(main)
    figure: Any = ax.figure
    beside: Axes = figure.add_subplot(side, sharey=ax)
    return beside


def draw_side(ax: Axes, run: Run, t: float, *, style: Style = PLAIN) -> None:
    """The density at the side of a space-time diagram, coloured by the cells at time t."""
    from matplotlib.collections import PolyCollection

    places = run.positions(t)[:, 0]
    curve = curve_of(run.workspace, run.system.density)
    rings, owners = slices(run.workspace, curve, places)
    upright = [ring[:, ::-1] for ring in rings]
    ax.add_collection(PolyCollection(upright, facecolors=tints(owners, style), lw=0), autolim=False)
    draw_upright_curve(ax, curve, style)
    size = style.dot(len(places))
    ax.plot(
        np.zeros(len(places)), places, "s", ms=size, mfc=style.final, mec="white", mew=0.3,
        clip_on=False, zorder=5,
    )  # fmt: skip


def draw_upright_curve(ax: Axes, curve: tuple[Floats, Floats], style: Style) -> None:
    """The density's curve beside the vertical axis."""
    along, values = curve
    ax.plot(values, along, color=style.ink, lw=style.line)
    ax.set_xlim(0.0, 1.1 * float(values.max()) or 1.0)
    dress(ax, style, DENSITY, "")
    ax.xaxis.set_major_locator(_two_ticks())
    ax.tick_params(labelleft=False)


def _two_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=2, steps=[1, 2, 5, 10])

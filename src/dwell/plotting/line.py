"""Pictures of the line: density with cells, and the space-time diagram of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.geometry import Workspace
from dwell.plotting.maps import ticked
from dwell.plotting.style import (
    LABELS,
    PLAIN,
    Axes,
    add_lines,
    add_polygons,
    number,
    rgba,
    round_ticks,
)
from dwell.plotting.timelines import time_axis
from dwell.results import Run

CURVE = 801  # points of a density's curve
POINTS = 120_000  # of all paths together
MOST_DOTS = 300  # samples that are marked one by one
PALE = 0.4  # of the colour of a cell
BETWEEN = [(0, (3, 2))]  # dashes of the borders of cells


def _ends(workspace: Workspace) -> tuple[float, float]:
    lower, upper = workspace.bounds
    return float(lower[0]), float(upper[0])


def borders_of(workspace: Workspace, places: Floats) -> Floats:
    """Where cells meet, for agents at `places` (..., N): (..., N - 1), ascending."""
    row = np.sort(places, axis=-1)
    middle = row[..., :-1] + 0.5 * np.diff(row, axis=-1)
    return np.clip(middle, *_ends(workspace))


def curve_of(workspace: Workspace, density: Density) -> tuple[Floats, Floats]:
    """The density along the line."""
    along = np.linspace(*_ends(workspace), CURVE)
    return along, np.asarray(density.at(along[:, None]), dtype=float)


def slices(
    workspace: Workspace, curve: tuple[Floats, Floats], places: Floats
) -> tuple[list[Points], list[int]]:
    """The area under the curve in each cell, as rings (s, value), and whose it is."""
    along, values = curve
    lower, upper = _ends(workspace)
    edges = np.concatenate([[lower], borders_of(workspace, places), [upper]])
    rings, owners = [], np.argsort(places, kind="stable").tolist()
    for left, right in pairwise(edges.tolist()):
        inside = along[(along > left) & (along < right)]
        foot = np.concatenate([[left], inside, [right]])
        top = np.column_stack([foot, np.interp(foot, along, values)])
        rings.append(np.vstack([(left, 0.0), top, (right, 0.0)]))
    return rings, owners


def draw_places(ax: Axes, workspace: Workspace, density: Density, positions: Points) -> None:
    """The density's curve, coloured by cells, and the agents on the axis; positions across."""
    curve = _draw_slices(ax, workspace, density, positions[:, 0], False)
    borders = borders_of(workspace, positions[:, 0])
    ax.vlines(borders, 0.0, np.interp(borders, *curve), colors=PLAIN.cell, lw=PLAIN.thin)
    ax.set_xlim(*reach(workspace, positions))
    ax.set_ylim(0.0, 1.06 * float(curve[1].max()) or 1.0)
    PLAIN.dress(ax, ticked(ax.xaxis, workspace, 0), LABELS["density"])


def _draw_slices(
    ax: Axes, workspace: Workspace, density: Density, places: Floats, final: bool
) -> tuple[Floats, Floats]:
    """The area under the density's curve in the agents' colours, and agents; upright at the end."""
    curve, turn = curve_of(workspace, density), slice(None, None, -1 if final else 1)
    rings, owners = slices(workspace, curve, places)
    add_polygons(ax, [ring[:, turn] for ring in rings], facecolors=tints(owners), lw=0)
    ax.plot(*curve[turn], color=PLAIN.ink, lw=PLAIN.line)
    ax.plot(
        *(places, np.zeros(len(places)))[turn], "s" if final else "o", ms=PLAIN.dot(len(places)),
        mfc=PLAIN.final if final else PLAIN.start, mec="white", mew=0.3, ls="none", clip_on=False,
        zorder=5,
    )  # fmt: skip
    return curve


def reach(workspace: Workspace, places: Floats) -> tuple[float, float]:
    """From where to where positions are drawn."""
    lower, upper = _ends(workspace)
    margin = 0.02 * (upper - lower)
    return min(lower, float(places.min())) - margin, max(upper, float(places.max())) + margin


def tints(owners: Sequence[int]) -> list[Any]:
    """The colours of agents, pale."""
    return [rgba(PLAIN.colour(p), PALE) for p in owners]


def draw_line_configurations(axes: Sequence[Axes], run: Run) -> None:
    """Before (first axes) and after (second)."""
    for ax, t in zip(axes, (0.0, run.horizon), strict=True):
        draw_places(ax, run.workspace, run.system.density, run.positions(t))
        PLAIN.entitle(ax, f"Density and cells, $t = {number(t, 6)}$")


def draw_space_time(ax: Axes, run: Run) -> None:
    """Every agent's path, time across and position up, with the borders of the cells."""
    times = instants(run)
    places = run.positions(times)[..., 0]
    time_axis(ax, 0.0, run.horizon, "")
    fit_space_time(ax, run, places)
    width = PLAIN.line if run.agents <= 30 else PLAIN.thin
    borders = borders_of(run.workspace, places)
    dashed: Any = {"colors": PLAIN.cell, "lw": 0.5 * width, "ls": BETWEEN}
    add_lines(ax, curves_over(times, borders), label="borders of cells", **dashed)
    for p in range(run.agents):
        named = run.agents <= PLAIN.most_named
        label = f"$p = {p}$" if named else r"paths $x_p$" if p == 0 else None
        way: Any = {"color": PLAIN.colour(p), "ls": PLAIN.dashes(p), "lw": width}
        ax.plot(times, places[:, p], zorder=3, label=label, **way)
    sampled = run.events.count("looked") > 0
    if 0 < sampled.sum() <= MOST_DOTS:
        when, where = run.events.time[sampled], run.events.positions[sampled, 0]
        ax.plot(when, where, "o", ms=1.6, mec="none", color=PLAIN.ink, zorder=4, label="samples")


def curves_over(times: Floats, values: Floats) -> list[Points]:
    """Curves of the columns of `values` over time."""
    return [np.column_stack([times, column]) for column in values.T]


def fit_space_time(ax: Axes, run: Run, places: Floats) -> None:
    """The vertical axis of a space-time diagram, and the ends of the workspace."""
    ax.set_ylim(*reach(run.workspace, places))
    ax.set_ylabel(ticked(ax.yaxis, run.workspace, 0), fontsize=PLAIN.label_size)
    for end in _ends(run.workspace):
        ax.axhline(end, color=PLAIN.ink, lw=PLAIN.line, zorder=1)


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


def draw_side(ax: Axes, run: Run) -> None:
    """The density at the side of a space-time diagram, coloured by the cells at the end."""
    places = run.positions(run.horizon)[:, 0]
    fit_side(ax, _draw_slices(ax, run.workspace, run.system.density, places, True))


def fit_side(ax: Axes, curve: tuple[Floats, Floats]) -> None:
    """Axes that hold the density's curve beside a vertical axis of positions."""
    ax.set_xlim(0.0, 1.1 * float(curve[1].max()) or 1.0)
    PLAIN.dress(ax, LABELS["density"], "")
    round_ticks(ax.xaxis, 2)
    ax.tick_params(labelleft=False)

"""Pictures of the line: density with cells, and the space-time diagram of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.geometry import Workspace
from dwell.plotting import worlds
from dwell.plotting.maps import ticked
from dwell.plotting.style import (
    PLAIN,
    Axes,
    add_lines,
    add_polygons,
    number,
    quantity_label,
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


def curves_at(run: Run, t: float) -> list[tuple[Floats, Floats]]:
    """The densities along the line at time t: one, or one for each sensor."""
    workspace = run.world(t).workspace
    return [curve_of(workspace, one.density) for one in worlds.divisions_at(run, t)]


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
    every = np.arange(len(positions))
    whole = worlds.Division(every, density, BETWEEN[0], None)
    top = _draw_division(ax, workspace, whole, positions[:, 0], final=False)
    _draw_dots(ax, positions[:, 0], len(positions), final=False)
    _fit(ax, workspace, positions, top)


def draw_moment(ax: Axes, run: Run, t: float) -> tuple[Floats, float]:
    """A run at time t, as `draw_places` draws it; gives the limits of positions and density.

    Of agents with different sensors, the density of each sensor, without colours of cells.
    """
    top, here = _draw_at(ax, run, t, final=False), run.world(t).agents
    return _fit(ax, worlds.scope_of(run), run.positions(t)[here], top)


def _fit(ax: Axes, scope: Workspace, positions: Points, top: float) -> tuple[Floats, float]:
    """Axes with positions across and a density up; gives their limits."""
    limits, high = np.array(reach(scope, positions)), 1.06 * top or 1.0
    ax.set_xlim(*limits)
    ax.set_ylim(0.0, high)
    PLAIN.dress(ax, ticked(ax.xaxis, scope, 0), quantity_label("density"))
    return limits, high


def _draw_at(ax: Axes, run: Run, t: float, final: bool) -> float:
    """Densities, cells and agents at time t, upright at the end; gives the largest density."""
    workspace, places = run.world(t).workspace, run.positions(t)[:, 0]
    parts = worlds.divisions_at(run, t)
    top = max(_draw_division(ax, workspace, one, places[one.agents], final) for one in parts)
    for group in worlds.groups_of(run, run.world(t).agents):
        _draw_dots(ax, places[group.agents], run.agents, final, group.marker)
    return top


def _draw_division(
    ax: Axes, workspace: Workspace, one: worlds.Division, places: Floats, final: bool
) -> float:
    """The density of a division and its cells, upright at the end; gives the largest density."""
    curve, turn = curve_of(workspace, one.density), slice(None, None, -1 if final else 1)
    own: Any = {"color": PLAIN.ink, "lw": PLAIN.line, "ls": one.line if one.name else "-"}
    if one.name is None:
        rings, owners = slices(workspace, curve, places)
        tinted = tints(one.agents[owners].tolist())
        add_polygons(ax, [ring[:, turn] for ring in rings], facecolors=tinted, lw=0)
    ax.plot(*curve[turn], **own)
    if not final:
        borders = borders_of(workspace, places)
        thin: Any = {"colors": PLAIN.cell, "lw": PLAIN.thin}
        thin |= {} if one.name is None else {"linestyles": [one.line]}
        ax.vlines(borders, 0.0, np.interp(borders, *curve), **thin)
    return float(curve[1].max())


def _draw_dots(
    ax: Axes, places: Floats, crowd: int, final: bool, marker: str | None = None
) -> None:
    """Agents on the axis of positions, in the size for a crowd."""
    turn = slice(None, None, -1 if final else 1)
    ax.plot(
        *(places, np.zeros(len(places)))[turn], marker or ("s" if final else "o"),
        ms=PLAIN.dot(crowd), mfc=PLAIN.final if final else PLAIN.start, mec="white", mew=0.3,
        ls="none", clip_on=False, zorder=5,
    )  # fmt: skip


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
    found = []
    for ax, t in zip(axes, (0.0, run.horizon), strict=True):
        found.append(draw_moment(ax, run, t))
        PLAIN.entitle(ax, f"Density and cells, $t = {number(t, 6)}$")
    limits, tops = zip(*found, strict=True)
    for ax in axes:
        ax.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
        ax.set_ylim(0.0, max(tops))
    worlds.explain_sensors(axes[0], run)


def draw_space_time(ax: Axes, run: Run) -> None:
    """Every agent's path, time across and position up, with the borders of the cells."""
    times = instants(run)
    places = run.positions(times)[..., 0]
    time_axis(ax, 0.0, run.horizon, "")
    fit_space_time(ax, run, times, places)
    width = PLAIN.line if run.agents <= 30 else PLAIN.thin
    named_lines = set()
    for curves, line, name in border_curves(run, times, places):
        words = "borders of cells" if name is None else f"borders of cells, {name}"
        dashed: Any = {"colors": PLAIN.cell, "lw": 0.5 * width, "ls": line}
        add_lines(ax, curves, label=None if name in named_lines else words, **dashed)
        named_lines.add(name)
    for p, path in enumerate(path_curves(run, times, places)):
        named = run.agents <= PLAIN.most_named
        label = f"$p = {p}$" if named else r"paths $x_p$" if p == 0 else None
        way: Any = {"color": PLAIN.colour(p), "ls": PLAIN.dashes(p), "lw": width}
        ax.plot(*path.T, zorder=3, label=label, **way)
    worlds.draw_switches(ax, run, 0.0, run.horizon)
    sampled = run.events.count("looked") > 0
    if 0 < sampled.sum() <= MOST_DOTS:
        when, where = run.events.time[sampled], run.events.positions[sampled, 0]
        ax.plot(when, where, "o", ms=1.6, mec="none", color=PLAIN.ink, zorder=4, label="samples")


def curves_over(times: Floats, values: Floats) -> list[Points]:
    """Curves of the columns of `values` over time."""
    return [np.column_stack([times, column]) for column in values.T]


def path_curves(run: Run, times: Floats, places: Floats) -> list[Points]:
    """The path of each agent over time, while it is present."""
    arrivals, departures = worlds.lives(run)
    lasting = (times[:, None] >= arrivals) & (times[:, None] <= departures)
    every = np.arange(run.agents)
    return [np.column_stack([times, places[:, p]])[lasting[:, p]] for p in every]


def border_curves(
    run: Run, times: Floats, places: Floats
) -> list[tuple[list[Points], Any, str | None]]:
    """The borders of cells over time, phase by phase: curves, their line, and the sensor."""
    found = []
    for begin, end, _ in worlds.phases_of(run):
        inside = (times >= begin) & (times <= end)
        workspace = run.world(begin).workspace
        for one in worlds.divisions_at(run, begin):
            borders = borders_of(workspace, places[inside][:, one.agents])
            line = BETWEEN if one.name is None else [one.line]
            found.append((curves_over(times[inside], borders), line, one.name))
    return found


def fit_space_time(ax: Axes, run: Run, times: Floats, places: Floats) -> None:
    """The vertical axis of a space-time diagram, and the ends of the workspace."""
    scope = worlds.scope_of(run)
    ax.set_ylim(*reach(scope, places[worlds.presence(run, times)]))
    ax.set_ylabel(ticked(ax.yaxis, scope, 0), fontsize=PLAIN.label_size)
    if scope is run.workspace:
        for end in _ends(run.workspace):
            ax.axhline(end, color=PLAIN.ink, lw=PLAIN.line, zorder=1)
        return
    for begin, until, _ in worlds.phases_of(run):
        ends: Any = _ends(run.world(begin).workspace)
        ax.hlines(ends, begin, until, colors=PLAIN.ink, lw=PLAIN.line, zorder=1)


def instants(run: Run) -> Floats:
    """Times at which paths are drawn: evenly spaced ones, and events unless they are too many."""
    most = int(np.clip(POINTS // run.agents, 40, 800))
    even = np.linspace(0.0, run.horizon, most)
    switches = worlds.switch_times(run)
    if len(run.events) > most:
        return np.unique([*even, *switches]) if switches else even
    return np.unique(np.concatenate([even, run.events.time, switches]))


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
    fit_side(ax, _draw_at(ax, run, run.horizon, final=True))


def fit_side(ax: Axes, top: float) -> None:
    """Axes that hold a density up to `top` beside a vertical axis of positions."""
    ax.set_xlim(0.0, 1.1 * top or 1.0)
    PLAIN.dress(ax, quantity_label("density"), "")
    round_ticks(ax.xaxis, 2)
    ax.tick_params(labelleft=False)

"""The six plots of a run, as in the paper's first simulation, at the size they are printed.

Also start and end of a run side by side, a deployment, and what many starts came to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from dwell._need import need
from dwell._types import Floats, Points
from dwell.density import Density
from dwell.errors import InputError
from dwell.geometry import Workspace
from dwell.measure.metrics import hold_program
from dwell.plotting import line, maps, pairs, scene, timelines, timers
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Axes, Figure, number
from dwell.plotting.worlds import scope_of
from dwell.results import Run

ONE_COLUMN = 3.5  # inches
TWO_COLUMNS = 7.0
TALLEST = 9.0
MAP = (2.6, 0.8, 6.0)  # width of a map of a deployment, its least and its largest height
SCREEN = 110  # dots to the inch of pictures in notebooks
NEARBY = 1.0  # a level is drawn up to so many ranges of the costs away from them
SAME = 1e-9  # range of costs, relative to them, up to which they are one


def require_matplotlib() -> None:
    """Refuse, with the remedy, where matplotlib is not installed."""
    need("matplotlib.figure", "plots need", "matplotlib jinja2", code="plot.missing")


def configurations(run: Run) -> Figure:
    """Cells and density, before and after."""
    n, site = run.workspace.dimension, scope_of(run)
    if n == 1:
        figure = blank(TWO_COLUMNS, 3.6)
        line.draw_line_configurations(figure.subplots(2, 1, sharex=True, sharey=True), run)
    elif n == 2 and proportion(site) > 1.5:  # tall: all four side by side
        figure = blank(TWO_COLUMNS, panel_height(site, 1.15, 0.0, 5.0) + 0.7)
        maps.draw_configurations(np.reshape(figure.subplots(1, 4), (2, 2)), run)
    elif n <= 3:
        words, *height = (1.2, 2.55, 0.6, 4.0) if n == 2 else (0.5, 2.9, 1.2, 4.0)
        figure = blank(TWO_COLUMNS, 2.0 * panel_height(site, *height) + words, "compressed")
        draw = maps.draw_configurations if n == 2 else scene.draw_space_configurations
        draw(figure.subplots(2, 2), run)
    else:
        figure = blank(TWO_COLUMNS, TWO_COLUMNS)
        pairs.draw_pair_configurations(figure, run)
    # The legend of sensors, where agents have different ones.
    PLAIN.explain_all(figure, figure.axes, 6)
    return figure


def trajectories(run: Run) -> Figure:
    """Paths over the final cells; on the line, a space-time diagram with the density beside it."""
    n = run.workspace.dimension
    if n > 3:
        figure = blank(TWO_COLUMNS, 0.8 * TWO_COLUMNS)
        pairs.draw_pair_trajectories(figure, run)
        return figure
    figure = blank(ONE_COLUMN, 3.0 if n == 1 else panel_height(scope_of(run), 3.0, 0.8, 6.0) + 0.75)
    ax = figure.subplots()
    side = line.side_of(ax) if n == 1 else None
    draw_paths(ax, run)
    if side is None:
        PLAIN.explain(ax, 3)
    else:
        line.draw_side(side, run)
        PLAIN.explain_all(figure, [ax], 4)
    return figure


def draw_paths(ax: Axes, run: Run) -> None:
    """The paths of a run on one pair of axes, in whatever dimension, without a legend."""
    by_dimension: dict[int, Callable[[Axes, Run], None]] = {
        1: line.draw_space_time,
        2: partial(maps.draw_trajectories, explained=False),
        3: scene.draw_space_trajectories,
    }
    by_dimension.get(run.workspace.dimension, pairs.draw_pair_paths)(ax, run)


def draw_places(
    ax: Axes, workspace: Workspace, density: Density, positions: Points, **options: Any
) -> None:
    """Agents and cells on one pair of axes, in whatever dimension.

    options: `radius` or `weights` of the agents, and `units`, which are drawn in the plane.
    """
    if workspace.dimension == 2:
        maps.draw_places(ax, workspace, density, positions, **options)
        return
    by_dimension = {1: line.draw_places, 3: scene.draw_places}
    draw = by_dimension.get(workspace.dimension, pairs.draw_pair_places)
    draw(ax, workspace, density, positions)


def draw_moment(ax: Axes, run: Run, t: float) -> None:
    """The agents of a run and their cells at time t, on one pair of axes, in whatever dimension."""
    by_dimension = {1: line.draw_moment, 2: maps.draw_moment, 3: scene.draw_moment}
    by_dimension.get(run.workspace.dimension, pairs.draw_pair_moment)(ax, run, t)


def timer_teeth(run: Run, window: tuple[float, float] | None = None) -> Figure:
    """Timers over a short window."""
    return _over_time(partial(timers.draw_timers, window=window), run)


def _over_time(draw: Callable[..., None], run: Run) -> Figure:
    figure = blank(ONE_COLUMN, 2.5)
    draw(figure.subplots(), run)
    return figure


FIGURES: dict[str, Callable[[Run], Figure]] = {
    "configurations": configurations,
    "trajectories": trajectories,
    "errors": partial(_over_time, timelines.draw_errors),
    "hold_errors": partial(_over_time, timelines.draw_hold_errors),
    "cost": partial(_over_time, timelines.draw_cost),
    "timers": timer_teeth,
}


def figures_of(run: Run) -> list[str]:
    """The names of the plots that fit a run: hold errors are those of the timer law alone."""
    others = hold_program(run.system) is None
    return [name for name in FIGURES if not (others and name == "hold_errors")]


def name_of(*runs: Run) -> str | None:
    """The name of the scenario that runs were made from, if there is one."""
    return next((run.scenario.name for run in runs if run.scenario is not None), None)


def entitled(figure: Figure, *runs: Run) -> Figure:
    """`figure` with the name of the scenario above everything, if there is one."""
    name = name_of(*runs)
    if name:
        words = filter(None, [name.replace("$", r"\$")[:80], figure.get_suptitle()])
        figure.suptitle(", ".join(words), fontsize=PLAIN.text_size, color=PLAIN.cell)
    return figure


def blank(
    width: float, height: float, layout: Any = "constrained", dpi: float | None = None
) -> Figure:
    """An empty figure of its own, unknown to any window or global list."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout, dpi=dpi)
    FigureCanvasAgg(figure)

    def png() -> bytes:
        file = BytesIO()
        figure.savefig(file, format="png", dpi=SCREEN)
        return file.getvalue()

    vars(figure)["_repr_png_"] = png  # notebooks show it without pyplot
    return figure


def panel_grid(
    count: int, height: float, across: int = 3, extra: float = 0.0, width: float | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels in rows of `height` inches; `extra` inches are for words."""
    across = min(across, count)
    rows = -(-count // across)
    width = width or (TWO_COLUMNS if across > 1 else ONE_COLUMN)
    figure = blank(width, min(TALLEST, rows * height + extra))
    axes = np.atleast_1d(figure.subplots(rows, across)).ravel()
    for ax in axes[count:]:
        ax.remove()
    return figure, list(axes[:count])


def panel_height(workspace: Workspace, width: float, least: float, most: float) -> float:
    """Height of a map so wide that the workspace fills it."""
    return float(np.clip(width * proportion(workspace), least, most))


def proportion(workspace: Workspace) -> float:
    """Height over width of a picture of the workspace."""
    n = workspace.dimension
    if n == 3:
        return scene.proportion(workspace)
    if n != 2 or maps.is_slim(workspace):
        return 0.6
    lower, upper = workspace.bounds
    return float((upper[1] - lower[1]) / (upper[0] - lower[0]))


def deployment(
    workspace: Workspace,
    density: Density,
    positions: Points,
    cost: float,
    **options: Any,
) -> Figure:
    """The agents and their cells; over the density, unless it is the same everywhere."""
    figure = blank(ONE_COLUMN, panel_height(workspace, *MAP) + 0.75, "compressed")
    ax = figure.subplots()
    draw_places(ax, workspace, density, positions, **options)
    agents = f"{len(positions)} agents" if len(positions) > 1 else "1 agent"
    PLAIN.entitle(ax, rf"{agents}, $\mathcal{{L}} = {number(cost, 7)}$")
    return figure


def overview(run: Run) -> Figure:
    """Start and end of a run side by side: cells over the density, and the paths to the end."""
    figure = blank(TWO_COLUMNS, panel_height(scope_of(run), *MAP) + 0.75, "compressed")
    for ax, t in zip(figure.subplots(1, 2), (0.0, run.horizon), strict=True):
        if t > 0.0 and run.details.record == "events":
            draw_paths(ax, run)
            PLAIN.explain(ax, 4 if run.workspace.dimension == 1 else 3)
        else:
            draw_moment(ax, run, t)
        PLAIN.entitle(ax, run.details.units.after(f"$t = {number(t, 6)}$", "time"))
    return figure


def minima(costs: Mapping[str, Sequence[float]], levels: Mapping[str, float]) -> Figure:
    """What every start came to, from the best to the worst.

    `costs` are by kind of the place that was come to; of the `levels`, those near the costs are
    drawn as lines.
    """
    every = np.array([cost for values in costs.values() for cost in values], dtype=float)
    if not len(every):
        raise InputError("there is nothing to draw; give at least one cost", code="plot.nothing")
    figure = blank(ONE_COLUMN, 2.6)
    ax = figure.subplots()
    along: Any = {"color": PLAIN.faint, "lw": PLAIN.thin, "drawstyle": "steps-mid"}
    ax.plot(np.arange(1, len(every) + 1), np.sort(every), **along)
    ranks = 1 + np.argsort(np.argsort(every, kind="stable"))
    parts = np.split(ranks, np.cumsum([len(values) for values in costs.values()])[:-1])
    for k, (kind, values) in enumerate(costs.items()):
        ax.plot(parts[k], values, "o", ms=2.6, mew=0, color=COLOURS[k % len(COLOURS)], label=kind)
    _draw_levels(ax, every, levels)
    ax.set_xlim(0.0, len(every) + 1.0)
    ax.locator_params(axis="x", nbins=6, integer=True)
    PLAIN.dress(ax, "starts, from the best on", r"cost $\mathcal{L}$ at the end")
    PLAIN.explain(ax, 2)
    return figure


def _draw_levels(ax: Axes, every: Floats, levels: Mapping[str, float]) -> None:
    low, high = float(every.min()), float(every.max())
    span = high - low if high - low > SAME * high else 0.01 * high
    ax.set_ylim(low - 0.06 * span, high + 0.06 * span)
    for k, (name, level) in enumerate(levels.items()):
        if low - NEARBY * span <= level <= high + NEARBY * span:
            ax.axhline(level, color=PLAIN.ink, lw=PLAIN.line, ls=DASHES[(k + 1) % 4], label=name)
            bottom, top = ax.get_ylim()
            ax.set_ylim(min(bottom, level - 0.06 * span), max(top, level + 0.06 * span))

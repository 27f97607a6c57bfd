"""Pictures of places of four coordinates and more, two coordinates at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dwell._types import Points
from dwell.density import Density
from dwell.geometry import Workspace
from dwell.plotting import worlds
from dwell.plotting.maps import coordinate_name, paths_of, ticked
from dwell.plotting.style import PLAIN, Axes, Figure, number, round_ticks
from dwell.results import Run

MOST_PAIRED = 5  # coordinates whose pairs fit on a page


def draw_pair_configurations(figure: Figure, run: Run) -> None:
    """Every pair of coordinates: below the diagonal at the beginning, above it at the end."""
    large = replace(PLAIN, text_size=1.3 * PLAIN.label_size)
    for row, column, ax in _panels(figure, min(MOST_PAIRED, run.workspace.dimension)):
        if row == column:
            ax.set_axis_off()
            large.annotate(ax, coordinate_name(run.workspace, row))
        else:
            _frame(ax, worlds.scope_of(run), column, row)
            places = _present_at(run, 0.0 if row > column else run.horizon)
            _dots(ax, places[:, [column, row]], "o" if row > column else "s")
    end = f"above it $t = {number(run.horizon, 6)}$"
    _entitle(figure, run, f"below the diagonal $t = 0$, {end}")


def draw_pair_trajectories(figure: Figure, run: Run) -> None:
    """The paths in every pair of coordinates."""
    for row, column, ax in _panels(figure, min(MOST_PAIRED, run.workspace.dimension) - 1):
        if column > row:
            ax.set_axis_off()
        else:
            _draw_pair(ax, run, column, row + 1)
    _entitle(figure, run, f"circles $t = 0$, squares $t = {number(run.horizon, 6)}$")


def _panels(figure: Figure, count: int) -> Iterator[tuple[int, int, Axes]]:
    """Rows and columns of a square of panels; numbers and names are at the outer ones only."""
    axes = figure.subplots(count, count, squeeze=False)
    for (row, column), ax in np.ndenumerate(axes):
        yield row, column, ax
        for axis in (ax.xaxis, ax.yaxis):
            round_ticks(axis, 3)
        ax.label_outer()


def _entitle(figure: Figure, run: Run, words: str) -> None:
    n = run.workspace.dimension
    which = f"{n} coordinates"
    if n > MOST_PAIRED:
        which = f"the first {MOST_PAIRED} of {which}"
    figure.suptitle(f"{which}: {words}", fontsize=PLAIN.label_size)


def draw_pair_places(ax: Axes, workspace: Workspace, density: Density, positions: Points) -> None:
    """Agents in the first two coordinates, saying so."""
    _frame(ax, workspace, 0, 1)
    _dots(ax, positions[:, :2], "o")
    PLAIN.annotate(ax, f"2 of {workspace.dimension} coordinates", at=(0.5, 0.05))


def draw_pair_moment(ax: Axes, run: Run, t: float) -> None:
    """The agents of a run at time t in the first two coordinates, saying so."""
    draw_pair_places(ax, worlds.scope_of(run), run.world(t).density, _present_at(run, t))


def draw_pair_paths(ax: Axes, run: Run) -> None:
    """Paths in the first two coordinates, saying so."""
    _draw_pair(ax, run, 0, 1)
    PLAIN.annotate(ax, f"2 of {run.workspace.dimension} coordinates", at=(0.5, 0.05))


def _draw_pair(ax: Axes, run: Run, i: int, j: int) -> None:
    """Paths in coordinates i (across) and j (up)."""
    _frame(ax, worlds.scope_of(run), i, j)
    for p, path in enumerate(paths_of(run, 20_000)):
        ax.plot(path[:, i], path[:, j], color=PLAIN.colour(p), lw=PLAIN.thin, zorder=2)
    _dots(ax, _present_at(run, 0.0)[:, [i, j]], "o")
    _dots(ax, _present_at(run, run.horizon)[:, [i, j]], "s")


def _present_at(run: Run, t: float) -> Points:
    """Positions of the agents present at time t."""
    return run.positions(t)[run.world(t).agents]


def _frame(ax: Axes, workspace: Workspace, i: int, j: int) -> None:
    """Axes that hold two coordinates of the workspace."""
    across, up = (ticked(axis, workspace, k) for k, axis in ((i, ax.xaxis), (j, ax.yaxis)))
    PLAIN.dress(ax, across, up)
    lower, upper = workspace.bounds
    margin = 0.05 * (upper - lower)
    ax.set_xlim(lower[i] - margin[i], upper[i] + margin[i])
    ax.set_ylim(lower[j] - margin[j], upper[j] + margin[j])


def _dots(ax: Axes, places: Points, marker: str) -> None:
    ax.plot(
        *places.T, marker, ms=0.8 * PLAIN.dot(len(places)), mec="white", mew=0.2, ls="none",
        mfc=PLAIN.start if marker == "o" else PLAIN.final, zorder=5,
    )  # fmt: skip

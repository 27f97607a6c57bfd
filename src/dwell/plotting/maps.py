"""Pictures of the plane: workspace, density, cells, agents, paths.

Also of places of four coordinates and more, two coordinates at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.cells import cones, polygon
from dwell.cells.power import power_cells
from dwell.density import Density, Uniform
from dwell.errors import AgentsError
from dwell.geometry import Curved, Workspace, is_flat
from dwell.plotting.style import (
    LABELS,
    PLAIN,
    Axes,
    Axis,
    Figure,
    Style,
    add_lines,
    add_polygons,
    number,
    round_ticks,
)
from dwell.results import Run, RunLike, as_run

PIXELS = 240  # of the density's image, along the longer side of the workspace
SLIMMEST = 12.0  # a longer and thinner workspace is not drawn to scale: it would be a line
PER_TURN = 720  # chords of a whole ellipse: in print, indistinguishable from an arc
MOST_PAIRED = 5  # coordinates whose pairs fit on a page
FAR = 1e3  # sizes away from the origin, from where on ticks count from a round number nearby


def outline_of(workspace: Workspace) -> Points:
    """The boundary of a planar workspace as a closed ring, (k, 2)."""
    if not isinstance(workspace, Curved):
        return workspace.vertices
    angle = np.linspace(0.0, 2.0 * np.pi, PER_TURN, endpoint=False)
    return on_ellipsoid(workspace, np.column_stack([np.cos(angle), np.sin(angle)]))


def on_ellipsoid(workspace: Curved, directions: Points) -> Points:
    """Points of the boundary of a ball or an ellipsoid, from unit vectors (k, n)."""
    sizes: Floats = np.asarray(workspace.semi_axes)
    points: Points = np.asarray(workspace.center) + (directions * sizes) @ workspace.axes
    return points


def cell_rings(
    workspace: Workspace,
    positions: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> list[Points] | None:
    """The cells of planar agents as rings; None where two agents coincide."""
    try:
        if radius is not None:
            found: Any = power_cells(workspace, positions, radius=radius)
            return [cell.outline(PER_TURN) for cell in found if not cell.empty]
        if weights is not None:
            cut = power_cells(workspace, positions, weights=weights)
            return [cell.vertices for cell in cut if not cell.empty]
        if is_flat(workspace):
            flat = polygon.cells(workspace, positions)
            return [cell.vertices for cell in flat if len(cell.offsets)]
        curved: Any = cones.cells(workspace, positions)
        return [cell.outline(PER_TURN) for cell in curved if not cell.empty]
    except AgentsError:
        return None


def draw_workspace(ax: Axes, workspace: Workspace, *, style: Style = PLAIN) -> None:
    """The region's boundary, on axes that fit it, to scale."""
    ax.fill(*outline_of(workspace).T, fill=False, ec=style.ink, lw=style.line, zorder=3)
    lower, upper = workspace.bounds
    wide, high = 0.04 * np.where(is_slim(workspace), upper - lower, (upper - lower).max())
    ax.set_xlim(lower[0] - wide, upper[0] + wide)
    ax.set_ylim(lower[1] - high, upper[1] + high)
    ax.set_aspect("auto" if is_slim(workspace) else "equal")
    scale = " (not to scale)" if is_slim(workspace) else ""
    across, up = (ticked(axis, workspace, k) for k, axis in enumerate((ax.xaxis, ax.yaxis)))
    style.dress(ax, across + scale, up)


def is_slim(workspace: Workspace) -> bool:
    """Whether the workspace is too long and thin to be drawn to scale."""
    lower, upper = workspace.bounds
    size = upper - lower
    return bool(size.max() > SLIMMEST * size.min())


def draw_cells(
    ax: Axes,
    workspace: Workspace,
    positions: Points,
    *,
    style: Style = PLAIN,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> None:
    """The cells of `positions`; a remark instead where two agents coincide."""
    rings = cell_rings(workspace, positions, radius, weights)
    if rings is None:
        style.annotate(ax, "two agents coincide: no cells", at=(0.5, 0.06))
        return
    width = style.thin if len(rings) <= 100 else 0.5 * style.thin
    add_polygons(ax, rings, facecolors="none", edgecolors=style.cell, lw=width, zorder=2)


def draw_agents(
    ax: Axes,
    positions: Points,
    *,
    style: Style = PLAIN,
    colour: str | None = None,
    marker: str = "o",
    label: str | None = None,
    layer: float = 5.0,
) -> None:
    """A dot for every agent, on axes that are widened where one is outside."""
    size = style.dot(len(positions))
    ax.plot(
        positions[:, 0], positions[:, 1], marker, ms=size, mfc=colour or style.start,
        mec="white" if size > 2.0 else "none", mew=0.3, ls="none", label=label, zorder=layer,
        scalex=False, scaley=False,
    )  # fmt: skip
    include(ax, positions)


def draw_density(
    ax: Axes, workspace: Workspace, density: Density, *, style: Style = PLAIN
) -> tuple[Any, str]:
    """The density as colours, inside the workspace only; gives the image and its label."""
    from matplotlib.patches import Polygon as Patch

    lower, upper = workspace.bounds
    values = _raster(workspace, density)
    peak = float(values.max())
    power = math.floor(math.log10(1.0005 * peak)) if peak > 0.0 else 0
    power = 0 if -3 < power < 4 else power
    values = values * 10.0 ** (-power / 2) * 10.0 ** (-power / 2)  # in halves: no overflow
    image = ax.imshow(
        values, extent=(lower[0], upper[0], lower[1], upper[1]), origin="lower", vmin=0.0,
        vmax=_rounded_up(float(values.max())), cmap=style.density_map, interpolation="bilinear",
        aspect="auto" if is_slim(workspace) else "equal", zorder=1,
    )  # fmt: skip
    image.set_clip_path(Patch(outline_of(workspace), transform=ax.transData))
    return image, LABELS["density"] + rf"$\;/\;10^{{{power}}}$" * (power != 0)


def draw_places(
    ax: Axes,
    workspace: Workspace,
    density: Density,
    positions: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> None:
    """The agents and their cells; over the density, unless it is the same everywhere."""
    power: dict[str, Any] = {"radius": radius, "weights": weights}
    if isinstance(density, Uniform):
        draw_cells(ax, workspace, positions, **power)
    else:
        image, label = draw_density(ax, workspace, density)
        draw_cells(ax, workspace, positions, style=replace(PLAIN, cell="white"), **power)
        PLAIN.colour_bar(image, [ax], label)
    draw_workspace(ax, workspace)
    draw_agents(ax, positions)


def draw_configurations(axes: Any, run: RunLike, *, style: Style = PLAIN) -> None:
    """Before (above) and after (below): cells on the left, density on the right; axes (2, 2)."""
    run = as_run(run)
    image, label = None, ""
    for (left, right), t in zip(axes, (0.0, run.horizon), strict=True):
        radius = run.system.radii
        draw_cells(left, run.workspace, run.positions(t), style=style, radius=radius)
        image, label = draw_density(right, run.workspace, run.system.density, style=style)
        for ax, what in ((left, "Cells"), (right, "Density")):
            draw_workspace(ax, run.workspace, style=style)
            draw_agents(ax, run.positions(t), style=style)
            style.entitle(ax, f"{what}, $t = {number(t, 6)}$")
    style.colour_bar(image, list(np.ravel(axes)), label)


def draw_trajectories(
    ax: Axes, run: RunLike, *, style: Style = PLAIN, explained: bool = True
) -> None:
    """Every agent's path from its start to its end, over the final cells; with a legend or not."""
    run = as_run(run)
    final = run.positions(run.horizon)
    draw_cells(ax, run.workspace, final, style=style, radius=run.system.radii)
    draw_workspace(ax, run.workspace, style=style)
    width = style.thin if run.agents <= 100 else 0.6 * style.thin
    paths = paths_of(run)
    add_lines(ax, paths, colors=style.ink, lw=width, label=r"path of $x_p$", zorder=4)
    include(ax, np.vstack(paths))
    draw_agents(ax, run.positions(0.0), style=style, label=r"$t = 0$", layer=6.0)
    end = f"$t = {number(run.horizon, 6)}$"
    draw_agents(ax, final, style=style, colour=style.final, marker="s", label=end)
    if explained:
        style.explain(ax, 3)


def include(ax: Axes, points: Points) -> None:
    """Widen the axes where points lie outside them."""
    for name, values in zip(("xlim", "ylim"), points.T, strict=True):
        low, high = getattr(ax, f"get_{name}")()
        least, most = float(values.min()), float(values.max())
        margin = 0.03 * (max(high, most) - min(low, least))
        wider = (least - margin if least < low else low, most + margin if most > high else high)
        if wider != (low, high):
            ax.set(**{name: wider})


def paths_of(run: Run, points: int = 120_000) -> list[Points]:
    """Each agent's path: its vertices, or points along it where the vertices are too many."""
    most = int(np.clip(points // run.agents, 40, 600))
    rows = [run.events.of_agent(p) for p in range(run.agents)]
    if max(map(len, rows)) + 2 > most or run.events.bend is not None:
        sampled = run.positions(np.linspace(0.0, run.horizon, most))
        return [sampled[:, p] for p in range(run.agents)]
    first, last, turns = run.positions(0.0), run.positions(run.horizon), run.events.positions
    return [np.vstack([first[p], turns[mine], last[p]]) for p, mine in enumerate(rows)]


def _raster(workspace: Workspace, density: Density) -> Floats:
    """The density at pixel centres; outside, at the nearest point of the workspace."""
    lower, upper = workspace.bounds
    size = upper - lower
    corners = len(workspace.vertices) if is_flat(workspace) else 1
    longest = min(PIXELS, int(math.sqrt(2e7 / corners)))
    shape = np.clip(longest * size / size.max(), min(longest, 64), longest).astype(int)
    x, y = (lower[k] + (np.arange(shape[k]) + 0.5) * size[k] / shape[k] for k in (0, 1))
    pixels = np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])
    values: Floats = density.at(workspace.nearest(pixels)).reshape(len(y), len(x))
    return values


def ticked(axis: Axis, workspace: Workspace, k: int) -> str:
    """Set ticks for coordinate k; gives the label. Far from 0 they count from a round number."""
    round_ticks(axis, 5)
    origin = round_origin(workspace, k)
    if origin != 0.0:
        axis.set_major_formatter(lambda value, _: f"{value - origin:.6g}")
    return axis_name(workspace, k)


def axis_name(workspace: Workspace, k: int) -> str:
    """What the axis of coordinate k is called."""
    return f"position {coordinate_name(workspace, k)}"


def coordinate_name(workspace: Workspace, k: int) -> str:
    """The symbol of coordinate k, with what it is counted from."""
    origin = round_origin(workspace, k)
    name = "xyz"[k] if workspace.dimension <= 3 else f"x_{k + 1}"
    if origin == 0.0:
        return f"${name}$"
    far = f"{abs(origin):.17g}"
    if abs(origin) < 1e12 and origin == int(origin):  # its digits in threes
        far = f"{int(abs(origin)):,}".replace(",", r"\,")
    return rf"${name} {'-' if origin > 0 else '+'} {far}$"


def round_origin(workspace: Workspace, k: int) -> float:
    """What coordinate k is counted from: 0, or a round number near a workspace far from 0."""
    lower, upper = (float(corner[k]) for corner in workspace.bounds)
    if max(abs(lower), abs(upper)) < FAR * (upper - lower):
        return 0.0
    unit = 10.0 ** math.ceil(math.log10(upper - lower))
    return math.floor(lower / unit) * unit


def _rounded_up(peak: float) -> float:
    """The end of a colour scale: `peak` with three digits, not smaller."""
    if peak <= 0.0:
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(peak)) - 2)
    return math.ceil(peak / unit - 1e-9) * unit


# Four coordinates and more: pictures of pairs.


def draw_pair_configurations(figure: Figure, run: Run) -> None:
    """Every pair of coordinates: below the diagonal at the beginning, above it at the end."""
    large = replace(PLAIN, text_size=1.3 * PLAIN.label_size)
    for row, column, ax in _panels(figure, min(MOST_PAIRED, run.workspace.dimension)):
        if row == column:
            ax.set_axis_off()
            large.annotate(ax, coordinate_name(run.workspace, row))
        else:
            _frame(ax, run.workspace, column, row)
            places = run.positions(0.0 if row > column else run.horizon)
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
    which = f"the first {MOST_PAIRED} of " * (n > MOST_PAIRED) + f"{n} coordinates: "
    figure.suptitle(which + words, fontsize=PLAIN.label_size)


def draw_pair_places(ax: Axes, workspace: Workspace, density: Density, positions: Points) -> None:
    """Agents in the first two coordinates, saying so."""
    _frame(ax, workspace, 0, 1)
    _dots(ax, positions[:, :2], "o")
    PLAIN.annotate(ax, f"2 of {workspace.dimension} coordinates", at=(0.5, 0.05))


def draw_pair_paths(ax: Axes, run: Run) -> None:
    """Paths in the first two coordinates, saying so."""
    _draw_pair(ax, run, 0, 1)
    PLAIN.annotate(ax, f"2 of {run.workspace.dimension} coordinates", at=(0.5, 0.05))


def _draw_pair(ax: Axes, run: Run, i: int, j: int) -> None:
    """Paths in coordinates i (across) and j (up)."""
    _frame(ax, run.workspace, i, j)
    for p, path in enumerate(paths_of(run, 20_000)):
        ax.plot(path[:, i], path[:, j], color=PLAIN.colour(p), lw=PLAIN.thin, zorder=2)
    _dots(ax, run.positions(0.0)[:, [i, j]], "o")
    _dots(ax, run.positions(run.horizon)[:, [i, j]], "s")


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

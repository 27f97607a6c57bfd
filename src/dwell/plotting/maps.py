"""Pictures of the plane: workspace, density, cells, agents, paths."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell._units import OPEN, Units
from dwell.cells.rings import cell_rings
from dwell.density import Density, Uniform
from dwell.geometry import Workspace, is_flat
from dwell.geometry.outlines import outline_of
from dwell.plotting import worlds
from dwell.plotting.outlines import clip_lines, clip_of, draw_outline
from dwell.plotting.scale import mark_scale
from dwell.plotting.style import (
    PLAIN,
    Axes,
    Axis,
    Style,
    add_lines,
    add_polygons,
    number,
    quantity_label,
    round_ticks,
)
from dwell.results import Run, RunLike, as_run

PIXELS = 240  # of the density's image, along the longer side of the workspace
SLIMMEST = 12.0  # a longer and thinner workspace is not drawn to scale: it would be a line
FAR = 1e3  # sizes away from the origin, from where on ticks count from a round number nearby


def draw_workspace(
    ax: Axes, workspace: Workspace, *, style: Style = PLAIN, scope: Workspace | None = None
) -> None:
    """The region's boundary, on axes that fit it, or a larger region `scope`, to scale."""
    draw_outline(ax, workspace, style)
    workspace = workspace if scope is None else scope
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
    own: Any = {"facecolors": "none", "edgecolors": style.cell, "lw": width, "zorder": 2}
    clip_lines(ax, add_polygons(ax, rings, **own), workspace)


def draw_agents(
    ax: Axes,
    positions: Points,
    *,
    style: Style = PLAIN,
    colour: str | None = None,
    marker: str = "o",
    label: str | None = None,
    layer: float = 5.0,
    crowd: int | None = None,
) -> None:
    """A dot for every agent, on axes that are widened where one is outside.

    Dots have the size of so many as there are, or of a `crowd`.
    """
    if not len(positions):
        return
    size = style.dot(crowd or len(positions))
    ax.plot(
        positions[:, 0], positions[:, 1], marker, ms=size, mfc=colour or style.start,
        mec="white" if size > 2.0 else "none", mew=0.3, ls="none", label=label, zorder=layer,
        scalex=False, scaley=False,
    )  # fmt: skip
    include(ax, positions)


def draw_density(
    ax: Axes,
    workspace: Workspace,
    density: Density,
    *,
    style: Style = PLAIN,
    peak: float | None = None,
) -> tuple[Any, str]:
    """The density as colours, inside the workspace only; gives the image and its label.

    Colours reach up to the largest value here, or to `peak`.
    """
    values = raster(workspace, density)
    peak = float(values.max()) if peak is None else peak
    power, (lower, upper) = _power(peak), workspace.bounds
    image = ax.imshow(
        _scaled(values, power), extent=(lower[0], upper[0], lower[1], upper[1]), origin="lower",
        vmin=0.0, vmax=_rounded_up(float(_scaled(np.array(peak), power))), zorder=1,
        cmap=style.density_map, interpolation="bilinear",
        aspect="auto" if is_slim(workspace) else "equal",
    )  # fmt: skip
    image.set_clip_path(clip_of(ax, workspace))
    label = quantity_label("density")
    return image, rf"{label}$\;/\;10^{{{power}}}$" if power else label


def renew_density(
    ax: Axes, image: Any, workspace: Workspace, density: Density, peak: float
) -> None:
    """Bring the image of a density to another time, with the colours of the same `peak`."""
    lower, upper = workspace.bounds
    image.set_data(_scaled(raster(workspace, density), _power(peak)))
    image.set_extent((lower[0], upper[0], lower[1], upper[1]))
    image.set_clip_path(clip_of(ax, workspace))


def _power(peak: float) -> int:
    """The power of ten by which densities up to `peak` are divided."""
    power = math.floor(math.log10(1.0005 * peak)) if peak > 0.0 else 0
    return 0 if -3 < power < 4 else power


def _scaled(values: Floats, power: int) -> Floats:
    """Values over a power of ten, in halves: no overflow."""
    scaled: Floats = values * 10.0 ** (-power / 2) * 10.0 ** (-power / 2)
    return scaled


def draw_places(
    ax: Axes,
    workspace: Workspace,
    density: Density,
    positions: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
    units: Units = OPEN,
) -> None:
    """The agents and their cells; over the density, unless it is the same everywhere."""
    style = _draw_shades(ax, workspace, density)
    draw_cells(ax, workspace, positions, style=style, radius=radius, weights=weights)
    draw_workspace(ax, workspace)
    mark_scale(ax, workspace, units)
    draw_agents(ax, positions)


def draw_moment(ax: Axes, run: Run, t: float) -> None:
    """The agents of a run and their cells at time t, as `draw_places` draws them."""
    world = run.world(t)
    style = _draw_shades(ax, world.workspace, world.density)
    _draw_divisions(ax, run, t, style)
    draw_workspace(ax, world.workspace, scope=worlds.scope_of(run))
    mark_scale(ax, world.workspace, run.details.units)
    _draw_present(ax, run, t)


def _draw_shades(ax: Axes, workspace: Workspace, density: Density) -> Style:
    """The density and its scale, unless it is the same everywhere; gives the style of cells."""
    if isinstance(density, Uniform):
        return PLAIN
    image, label = draw_density(ax, workspace, density)
    PLAIN.colour_bar(image, [ax], label)
    return replace(PLAIN, cell="white")


def _draw_divisions(ax: Axes, run: Run, t: float, style: Style) -> None:
    """The cells at time t; of agents with different sensors, those of each sensor."""
    workspace, positions = run.world(t).workspace, run.positions(t)
    for one in worlds.divisions_at(run, t):
        if one.name is None:
            radii = run.system.radii
            radius = None if radii is None else radii[one.agents]
            draw_cells(ax, workspace, positions[one.agents], style=style, radius=radius)
        else:
            edges = worlds.shared_edges(cell_rings(workspace, positions[one.agents]) or [])
            own: Any = {"colors": style.cell, "lw": style.line, "ls": [one.line], "zorder": 2}
            clip_lines(ax, add_lines(ax, edges, **own), workspace)


def _draw_present(ax: Axes, run: Run, t: float, marker: str = "o", **options: Any) -> None:
    """The agents present at time t; where they have different sensors, by different markers."""
    positions = run.positions(t)
    for group in worlds.groups_of(run, run.world(t).agents):
        if group.marker is not None:
            options = {**options, "label": None}
        some = positions[group.agents]
        draw_agents(ax, some, marker=group.marker or marker, crowd=run.agents, **options)


def draw_configurations(axes: Any, run: RunLike, *, style: Style = PLAIN) -> None:
    """Before (above) and after (below): cells on the left, density on the right; axes (2, 2)."""
    run = as_run(run)
    image, label = None, ""
    scope, ends = worlds.scope_of(run), [run.world(t) for t in (0.0, run.horizon)]
    peak = max(float(raster(world.workspace, world.density).max()) for world in ends)
    for (left, right), t, world in zip(axes, (0.0, run.horizon), ends, strict=True):
        _draw_divisions(left, run, t, style)
        image, label = draw_density(right, world.workspace, world.density, style=style, peak=peak)
        summed = "Sum of densities" if len(run.system.sensors) > 1 else "Density"
        for ax, what in ((left, "Cells"), (right, summed)):
            draw_workspace(ax, world.workspace, style=style, scope=scope)
            mark_scale(ax, world.workspace, run.details.units, style)
            _draw_present(ax, run, t, style=style)
            style.entitle(ax, run.details.units.after(f"{what}, $t = {number(t, 6)}$", "time"))
    worlds.explain_sensors(axes[0][0], run, style)
    style.colour_bar(image, list(np.ravel(axes)), label)


def draw_trajectories(
    ax: Axes, run: RunLike, *, style: Style = PLAIN, explained: bool = True
) -> None:
    """Every agent's path from its start to its end, over the final cells; with a legend or not."""
    run = as_run(run)
    _draw_divisions(ax, run, run.horizon, style)
    workspace = run.world(run.horizon).workspace
    draw_workspace(ax, workspace, style=style, scope=worlds.scope_of(run))
    mark_scale(ax, workspace, run.details.units, style)
    width = style.thin if run.agents <= 100 else 0.6 * style.thin
    paths = paths_of(run)
    add_lines(ax, paths, colors=style.ink, lw=width, label=r"path of $x_p$", zorder=4)
    include(ax, np.vstack(paths))
    end = run.details.units.after(f"$t = {number(run.horizon, 6)}$", "time")
    _draw_present(ax, run, 0.0, style=style, label=r"$t = 0$", layer=6.0)
    _draw_present(
        ax, run, run.horizon, "s", style=style, colour=style.final, label=end
    )  # fmt: skip
    _draw_comings(ax, run, style)
    if worlds.kinds_of(run):  # markers are those of sensors, and colours those of times
        for label, colour in ((r"$t = 0$", style.start), (end, style.final)):
            ax.plot([], [], "o", ms=4.0, mec="white", mew=0.3, color=colour, label=label)
    worlds.explain_sensors(ax, run, style)
    if explained:
        style.explain(ax, 3)


def _draw_comings(ax: Axes, run: Run, style: Style) -> None:
    """Where agents arrive and leave during the run, and the first outline if it is another."""
    if worlds.scope_of(run) is not run.workspace:
        own: Any = {"color": style.cell, "lw": style.line, "ls": (0, (1, 1.5)), "zorder": 2.5}
        ring = outline_of(run.workspace.hull)
        ax.plot(*np.vstack([ring, ring[:1]]).T, label="outline, $t = 0$", **own)
    size = 1.1 * style.dot(run.agents)
    for agents, t, marker, label in (
        (worlds.arrived(run), 0.0, "o", "arrives"),
        (worlds.departed(run), run.horizon, "x", "leaves"),
    ):
        if len(agents):
            own = {"color": style.start if marker == "o" else style.ink, "ls": "none"}
            own |= {"mfc": "white", "mew": style.line, "label": label, "zorder": 6.0}
            ax.plot(*run.positions(t)[agents].T, marker, ms=size, **own)


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
    """Each agent's path: its vertices, or points along it where the vertices are too many.

    Agents stay where they arrive until they do, and where they leave; of one that never arrives
    there is no point.
    """
    most = int(np.clip(points // run.agents, 40, 600))
    rows = [run.events.of_agent(p) for p in range(run.agents)]
    there = (worlds.lives(run)[0] <= run.horizon).tolist()
    if max(map(len, rows)) + 2 > most or run.events.bend is not None:
        sampled = run.positions(np.linspace(0.0, run.horizon, most))
        return [sampled[:, p] if there[p] else sampled[:0, p] for p in range(run.agents)]
    first, last, turns = run.positions(0.0), run.positions(run.horizon), run.events.positions
    return [
        np.vstack([first[p], turns[mine], last[p]]) if there[p] else first[:0]
        for p, mine in enumerate(rows)
    ]


def raster(workspace: Workspace, density: Density) -> Floats:
    """The density at pixel centres; outside, at the nearest point of the workspace."""
    lower, upper = workspace.bounds
    size = upper - lower
    corners = len(workspace.hull.vertices) if is_flat(workspace.hull) else 1
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
    """What coordinate k is counted from: 0, or a round number near a workspace far from 0.

    If one coordinate is far from 0, all are counted from round numbers.
    """
    size = workspace.bounds[1] - workspace.bounds[0]
    if (np.abs(workspace.bounds).max(axis=0) < FAR * size).all():
        return 0.0
    lower, upper = (float(corner[k]) for corner in workspace.bounds)
    unit = 10.0 ** math.ceil(math.log10(upper - lower))
    return math.floor(lower / unit) * unit


def _rounded_up(peak: float) -> float:
    """The end of a colour scale: `peak` with three digits, not smaller."""
    if peak <= 0.0:
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(peak)) - 2)
    return math.ceil(peak / unit - 1e-9) * unit

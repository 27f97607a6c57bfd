"""What moves in a film, by dimension: each gives its artists and what brings them to a frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Uniform
from dwell.plotting import line, maps, scene, timelines
from dwell.plotting.camera import Camera, camera_for
from dwell.plotting.film_frames import FilmFrames
from dwell.plotting.style import (
    LABELS,
    PLAIN,
    Artist,
    Axes,
    add_lines,
    add_polygons,
    number,
    pale_map,
    plain_log_ticks,
    rgba,
)

TALL = 30.0  # a log axis so much higher than low has powers of ten enough
RINGS = "      rings: sampled just now"
HIDING = 0.16  # how much a face in space hides of what is behind it


class Moving(NamedTuple):
    """Artists that are drawn anew for each frame, in order, and what brings them to frame k."""

    artists: Sequence[Artist]
    show: Callable[[int], None]


def line_scene(ax: Axes, frames: FilmFrames) -> Moving:
    """The space-time diagram, which grows, and agents that slide along the density at its side."""
    run, places = frames.run, frames.places[..., 0]
    borders = line.borders_of(run.workspace, places)
    curve = line.curve_of(run.workspace, run.system.density)
    key = f"dashed: borders of cells;  at the side, lines: held velocity{RINGS * frames.flashes}"
    timelines.time_axis(ax, *frames.span, "")
    ax.set_xlabel(f"{LABELS['time']}\n{key}", fontsize=PLAIN.text_size, loc="left")
    line.fit_space_time(ax, run, places)
    side = line.side_of(ax)
    side.plot(*curve[::-1], color=PLAIN.ink, lw=PLAIN.line)
    line.fit_side(side, curve)

    width = PLAIN.bold if run.agents <= 30 else PLAIN.thin
    colours = [PLAIN.colour(p) for p in range(run.agents)]
    between = add_lines(ax, [], colors=PLAIN.cell, lw=0.6 * width, ls=line.BETWEEN)
    paths = add_lines(ax, [], colors=colours, lw=width)
    cells = add_polygons(side, [], lw=0)
    arrows = add_lines(side, [], colors=PLAIN.ink, lw=1.4 * width)
    rings = side.scatter([], [], facecolors="none", lw=width, clip_on=False, zorder=5)
    dot: Any = {"s": (1.35 * PLAIN.dot(run.agents)) ** 2, "c": "none", "zorder": 6}
    heads, dots = (where.scatter([], [], clip_on=False, **dot) for where in (ax, side))
    for agents in (heads, dots):
        agents.set(facecolors=colours, edgecolors="white", linewidths=0.4)

    def show(k: int) -> None:
        now = places[k]
        since = slice(k + 1 - len(frames.trail(k)), k + 1)
        paths.set_segments(line.curves_over(frames.times[since], places[since]))
        between.set_segments(line.curves_over(frames.times[since], borders[since]))
        heads.set_offsets(np.column_stack([np.full(len(now), frames.times[k]), now]))
        areas, owners = line.slices(run.workspace, curve, now)
        cells.set_verts([ring[:, ::-1] for ring in areas])
        cells.set(facecolors=line.tints(owners))
        stand = np.column_stack([np.zeros(len(now)), now])
        ahead = stand + frames.arrows[k] * (0.0, 1.0)
        arrows.set_segments(list(np.stack([stand, ahead], axis=1)))
        _flash(rings, stand, frames.fresh[k])
        dots.set_offsets(stand)

    return Moving([between, paths, heads, cells, arrows, rings, dots], show)


def plane_scene(ax: Axes, frames: FilmFrames) -> Moving:
    """The map: cells, agents, held velocities, trails, recent samples."""
    run = frames.run
    shaded = not isinstance(run.system.density, Uniform)
    if shaded:
        image, _ = maps.draw_density(ax, run.workspace, run.system.density)
        image.set(cmap=pale_map(), zorder=0.5)
    maps.draw_workspace(ax, run.workspace)
    maps.include(ax, frames.places.reshape(-1, 2))
    key = "shade: density      " * shaded + "lines: held velocity" + RINGS * frames.flashes
    ax.set_xlabel(f"{ax.get_xlabel()}\n{key}", fontsize=PLAIN.label_size)

    size = 1.35 * PLAIN.dot(run.agents)
    width = PLAIN.line if run.agents <= 100 else PLAIN.thin
    cells = add_polygons(ax, [], facecolors="none", edgecolors=PLAIN.cell, lw=width)
    trails = add_lines(ax, [], colors=PLAIN.limit, lw=width, alpha=0.75)
    arrows = add_lines(ax, [], colors=PLAIN.ink, lw=1.5 * width)
    rings = ax.scatter([], [], facecolors="none", lw=1.2 * width)
    (dots,) = ax.plot([], [], "o", ms=size, mfc=PLAIN.start, mec="white", mew=0.4, clip_on=False)

    def show(k: int) -> None:
        places = frames.places[k]
        cells.set_verts(maps.cell_rings(run.workspace, places) or [])
        trails.set_segments(list(frames.trail(k).transpose(1, 0, 2)))
        arrows.set_segments(list(np.stack([places, places + frames.arrows[k]], axis=1)))
        _flash(rings, places, frames.fresh[k])
        dots.set_data(places[:, 0], places[:, 1])

    return Moving([cells, trails, arrows, rings, dots], show)


def space_scene(ax: Axes, frames: FilmFrames) -> Moving:
    """The scene while time goes on and the camera goes round."""
    workspace, still = frames.run.workspace, frames.stands
    first = camera_for(workspace).azimuth
    angles = np.linspace(frames.camera.min(), frames.camera.max(), 60).tolist()
    cameras = [Camera(workspace, first + angle) for angle in angles]
    artists, draw = scene.moving_scene(ax, cameras)
    key = "dark lines: held velocity      " * (not still) + "grey: shadows"
    ax.text(
        0.5, 0.0, key + RINGS * (frames.flashes and not still), transform=ax.transAxes,
        ha="center", va="bottom", fontsize=PLAIN.text_size,
    )  # fmt: skip

    def show(k: int) -> None:
        view = scene.View(
            workspace, frames.places[k], list(frames.trail(k).transpose(1, 0, 2)),
            arrows=None if still else frames.arrows[k], fresh=None if still else frames.fresh[k],
            hiding=HIDING,
        )  # fmt: skip
        draw(view, Camera(workspace, first + float(frames.camera[k])))

    return Moving(artists, show)


def _flash(rings: Any, places: Points, fresh: Floats) -> None:
    """Rings round agents that sampled just now; they widen and vanish."""
    rings.set_offsets(places)
    rings.set_sizes((1.35 * PLAIN.dot(len(places))) ** 2 * (2.0 + 5.0 * (1.0 - fresh)))
    rings.set_edgecolors([rgba(PLAIN.flash, float(share)) for share in fresh])


def time_above(ax: Axes, frames: FilmFrames) -> Moving:
    """The time, above the picture."""
    step = float(np.diff(frames.times[:2]).sum()) or 1.0
    digits = min(max(0, math.ceil(-math.log10(step))), 9)
    above: Any = {"ha": "center", "va": "bottom", "fontsize": 1.25 * PLAIN.label_size}
    text = ax.text(0.5, 1.015, "", transform=ax.transAxes, **above)
    return Moving([text], lambda k: text.set_text(f"t = {frames.times[k]:.{digits}f}"))


def growing_curves(cost: Axes, error: Axes, frames: FilmFrames) -> list[Moving]:
    """Cost and largest error, growing as time goes on."""
    metrics, nu = frames.run.metrics, frames.run.system.nu
    errors = metrics.errors.max(axis=1) if len(metrics.times) else np.empty(0)
    return [
        _growing_curve(cost, frames, metrics.costs, LABELS["cost"], None),
        _growing_curve(error, frames, errors, LABELS["largest error"], nu),
    ]


def _growing_curve(
    ax: Axes, frames: FilmFrames, values: Floats, name: str, level: float | None
) -> Moving:
    """A curve over time: all of it faintly, and what has been by now in ink."""
    times, (begin, end) = frames.run.metrics.times, frames.span
    timelines.time_axis(ax, begin, end, "")
    inside = (times >= begin) & (times <= end)
    if not inside.any():
        PLAIN.placeholder(ax, timelines.NO_SAMPLES)
        return Moving([], lambda k: None)
    levels = np.array([] if level is None else [level])
    floor = timelines.log_axis(ax, [values[inside], levels])
    _few_ticks(ax)
    shown = times[inside], np.maximum(values[inside], floor)
    times, values = timelines.extremes(shown, end, PLAIN.columns)
    ax.plot(times, values, color=PLAIN.faint, lw=PLAIN.thin)
    if level is not None:
        ax.axhline(level, color=PLAIN.ink, lw=PLAIN.thin, ls=(0, (6, 2)))
        ax.text(
            0.99, level, rf"$\nu = {number(level)}$", transform=ax.get_yaxis_transform(),
            ha="right", va="bottom", fontsize=PLAIN.text_size,
        )  # fmt: skip
    (grown,) = ax.plot([], [], color=PLAIN.limit, lw=PLAIN.bold)
    (head,) = ax.plot([], [], "o", color=PLAIN.limit, ms=3.5, clip_on=False)
    above: Any = {"transform": ax.transAxes, "fontsize": PLAIN.label_size, "va": "bottom"}
    ax.text(0.0, 1.02, name, **above)
    text = ax.text(1.0, 1.02, "", ha="right", **above)

    def show(k: int) -> None:
        now = int(np.searchsorted(times, frames.times[k], side="right"))
        grown.set_data(times[:now], values[:now])
        head.set_data(times[:now][-1:], values[:now][-1:])
        text.set_text(f"{values[now - 1]:.4g}" if now else "")

    return Moving([grown, head, text], show)


def _few_ticks(ax: Axes) -> None:
    """At least two numbers on a log axis, and few where it has powers of ten enough."""
    low, high = ax.get_ylim()
    if math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 1:  # one power of ten, or none
        plain_log_ticks(ax.yaxis, (1.0, 3.0) if high > TALL * low else (1.0, 2.0, 5.0))
    elif high > TALL * low:
        ax.yaxis.set_minor_formatter("")

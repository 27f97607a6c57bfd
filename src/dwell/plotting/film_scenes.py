"""What moves in a film, by dimension.

Each scene gives its artists and what brings them to a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.rings import cell_rings
from dwell.density import Uniform
from dwell.geometry import Workspace
from dwell.plotting import line, maps, scene, timelines, worlds
from dwell.plotting.camera import Camera, camera_for
from dwell.plotting.film_frames import Animated, FilmFrames
from dwell.plotting.outlines import clip_lines, path_of
from dwell.plotting.scale import mark_scale
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
    quantity_label,
    rgba,
)
from dwell.results import Run

PROBES = 60  # frames at which the largest value of a density that changes is taken
TALL = 30.0  # a log axis so much higher than low has powers of ten enough
RINGS = "      rings: sampled just now"
HIDING = 0.16  # how much a face in space hides of what is behind it


def line_scene(ax: Axes, frames: FilmFrames) -> Animated:
    """The space-time diagram, which grows, and agents that slide along the density at its side."""
    run, places = frames.run, frames.places[..., 0]
    borders, rings = worlds.border_words(run), RINGS * frames.flashes
    key = f"{borders};  at the side, lines: held velocity{rings}"
    timelines.time_axis(ax, *frames.span, "")
    ax.set_xlabel(f"{quantity_label('time')}\n{key}", fontsize=PLAIN.text_size, loc="left")
    line.fit_space_time(ax, run, frames.times, places)
    worlds.draw_switches(ax, run, *frames.span, named=False)
    side = line.side_of(ax)
    show_densities, densities = _densities(side, frames)

    width = PLAIN.bold if run.agents <= 30 else PLAIN.thin
    colours = np.array([PLAIN.colour(p) for p in range(run.agents)])
    between = add_lines(ax, [], colors=PLAIN.cell, lw=0.6 * width, ls=line.BETWEEN)
    paths = add_lines(ax, [], colors=colours, lw=width)
    cells = add_polygons(side, [], lw=0)
    arrows = add_lines(side, [], colors=PLAIN.ink, lw=1.4 * width)
    fresh = side.scatter([], [], facecolors="none", lw=width, clip_on=False, zorder=5)
    dot: Any = {"s": (1.35 * PLAIN.dot(run.agents)) ** 2, "c": "none", "zorder": 6}
    heads, dots = (where.scatter([], [], clip_on=False, **dot) for where in (ax, side))
    for agents in (heads, dots):
        agents.set(edgecolors="white", linewidths=0.4)

    def show(k: int) -> None:
        here, t = np.flatnonzero(frames.present[k]), float(frames.times[k])
        now = places[k, here]
        since = slice(k + 1 - len(frames.trail(k)), k + 1)
        paths.set_segments(line.path_curves(run, frames.times[since], places[since]))
        borders = line.border_curves(run, frames.times[since], places[since])
        between.set_segments([curve for curves, _, _ in borders for curve in curves])
        between.set_linestyle([own[0] for curves, own, _ in borders for _ in curves])
        heads.set_offsets(np.column_stack([np.full(len(now), t), now]))
        curves = show_densities(t)
        areas, owners = line.slices(run.world(t).workspace, curves[0], now)
        cells.set_verts([ring[:, ::-1] for ring in areas] if len(curves) == 1 else [])
        cells.set(facecolors=line.tints(here[owners].tolist()))
        stand = np.column_stack([np.zeros(len(now)), now])
        ahead = stand + frames.arrows[k, here] * (0.0, 1.0)
        arrows.set_segments(list(np.stack([stand, ahead], axis=1)))
        _flash(fresh, stand, frames.fresh[k, here], run.agents)
        dots.set_offsets(stand)
        for agents in (heads, dots):
            agents.set(facecolors=colours[here])

    return Animated([between, paths, heads, cells, *densities, arrows, fresh, dots], show)


def _densities(
    side: Axes, frames: FilmFrames
) -> tuple[Callable[[float], list[tuple[Floats, Floats]]], list[Artist]]:
    """The densities at the side: what gives and shows them at a time, and artists that move."""
    run, changes = frames.run, worlds.changes(frames.run)
    first = line.curves_at(run, float(frames.times[0]))
    lines: list[Any] = []
    for curve, one in zip(first, worlds.divisions_at(run, 0.0), strict=True):
        own: Any = {"ls": one.line if one.name else "-", "lw": PLAIN.line}
        lines += side.plot(*curve[::-1], color=PLAIN.ink, **own)
    shown = frames.times if changes else frames.times[:1]
    every = [curve for t in shown.tolist() for curve in line.curves_at(run, t)]
    line.fit_side(side, max(float(values.max()) for _, values in every))

    def show(t: float) -> list[tuple[Floats, Floats]]:
        now = line.curves_at(run, t) if changes else first
        for artist, curve in zip(lines, now, strict=True):
            artist.set_data(*curve[::-1])
        return now

    return show, lines if changes else []


def plane_scene(ax: Axes, frames: FilmFrames) -> Animated:
    """The map: cells, agents, held velocities, trails, recent samples."""
    run = frames.run
    show_ground, behind, outline = _ground(ax, frames)
    maps.include(ax, frames.places[frames.present])
    key = "shade: density      lines: held velocity" if _is_shaded(run) else "lines: held velocity"
    if frames.flashes:
        key += RINGS
    words = filter(None, [ax.get_xlabel(), key, worlds.sensor_words(run)])
    ax.set_xlabel("\n".join(words), fontsize=PLAIN.label_size)

    size = 1.35 * PLAIN.dot(run.agents)
    width = PLAIN.line if run.agents <= 100 else PLAIN.thin
    cells = add_polygons(ax, [], facecolors="none", edgecolors=PLAIN.cell, lw=width)
    edges = [add_lines(ax, [], colors=PLAIN.cell, lw=width, ls=[own]) for own in worlds.LINES]
    trails = add_lines(ax, [], colors=PLAIN.limit, lw=width, alpha=0.75)
    arrows = add_lines(ax, [], colors=PLAIN.ink, lw=1.5 * width)
    rings = ax.scatter([], [], facecolors="none", lw=1.2 * width)
    dot: Any = {"ms": size, "mfc": PLAIN.start, "mec": "white", "mew": 0.4, "clip_on": False}
    groups = worlds.groups_of(run, np.arange(run.agents))
    dots = [ax.plot([], [], group.marker or "o", ls="none", **dot)[0] for group in groups]

    def show(k: int) -> None:
        here, t = np.flatnonzero(frames.present[k]), float(frames.times[k])
        every, places, workspace = frames.places[k], frames.places[k, here], show_ground(t)
        for one, lines in zip(worlds.divisions_at(run, t), edges, strict=False):
            radii = run.system.radii
            radius = None if radii is None else radii[one.agents]
            found = cell_rings(workspace, every[one.agents], radius) or []
            cells.set_verts(found if one.name is None else [])
            lines.set_segments([] if one.name is None else worlds.shared_edges(found))
            for artist in (cells, lines):
                clip_lines(ax, artist, workspace)
        trails.set_segments([path for path in frames.trails(k) if len(path)])
        arrows.set_segments(list(np.stack([places, places + frames.arrows[k, here]], axis=1)))
        _flash(rings, places, frames.fresh[k, here], run.agents)
        for group, artist in zip(worlds.groups_of(run, here), dots, strict=True):
            artist.set_data(*every[group.agents].T)

    return Animated([*behind, cells, *edges, *outline, trails, arrows, rings, *dots], show)


def _is_shaded(run: Run) -> bool:
    """Whether the density is not the same everywhere, in some phase of the run."""
    begins = [begin for begin, _, _ in worlds.phases_of(run)]
    return not all(isinstance(run.world(t).density, Uniform) for t in begins)


def _ground(
    ax: Axes, frames: FilmFrames
) -> tuple[Callable[[float], Workspace], list[Artist], list[Artist]]:
    """Density and outline: what brings them to a time, and what of them moves."""
    run, changes, image = frames.run, worlds.changes(frames.run), None
    now, peak = run.world(float(frames.times[0])), None
    if _is_shaded(run):
        some = frames.times[np.linspace(0, len(frames) - 1, PROBES).astype(int)] if changes else []
        seen = [run.world(t) for t in np.unique(some).tolist()]
        tops = [float(maps.raster(world.workspace, world.density).max()) for world in seen]
        peak = max(tops, default=None)
        image, _ = maps.draw_density(ax, now.workspace, now.density, peak=peak)
        image.set(cmap=pale_map(), zorder=0.5)
    maps.draw_workspace(ax, now.workspace, scope=worlds.scope_of(run))
    outline: Any = ax.patches[-1]
    mark_scale(ax, now.workspace, run.details.units)

    def show(t: float) -> Workspace:
        nonlocal now
        before, now = now, run.world(t)
        same = before.workspace is now.workspace and before.density is now.density
        if changes and not same:
            outline.set_path(path_of(now.workspace))
            if image is not None and peak is not None:
                maps.renew_density(ax, image, now.workspace, now.density, peak)
        return now.workspace

    return show, [image] if changes and image is not None else [], [outline] if changes else []


def space_scene(ax: Axes, frames: FilmFrames) -> Animated:
    """The scene while time goes on and the camera goes round."""
    run, scope, still = frames.run, worlds.scope_of(frames.run), frames.stands
    first = camera_for(scope).azimuth
    angles = np.linspace(frames.camera.min(), frames.camera.max(), 60).tolist()
    cameras = [Camera(scope, first + angle) for angle in angles]
    artists, draw = scene.moving_scene(ax, cameras)
    key = "grey: shadows" if still else "dark lines: held velocity      grey: shadows"
    if len(run.system.sensors) > 1:
        key += "      no cells: each sensor has its own"
    if frames.flashes and not still:
        key += RINGS
    ax.text(
        0.5, 0.0, key, transform=ax.transAxes,
        ha="center", va="bottom", fontsize=PLAIN.text_size,
    )  # fmt: skip

    def show(k: int) -> None:
        here = np.flatnonzero(frames.present[k])
        view = scene.view_of(
            run, float(frames.times[k]), frames.places[k], paths=frames.trails(k),
            arrows=None if still else frames.arrows[k, here],
            fresh=None if still else frames.fresh[k, here], hiding=HIDING,
        )  # fmt: skip
        draw(view, Camera(scope, first + float(frames.camera[k])))

    return Animated(artists, show)


def _flash(rings: Any, places: Points, fresh: Floats, crowd: int) -> None:
    """Rings round agents that sampled just now; they widen and vanish."""
    rings.set_offsets(places)
    rings.set_sizes((1.35 * PLAIN.dot(crowd)) ** 2 * (2.0 + 5.0 * (1.0 - fresh)))
    rings.set_edgecolors([rgba(PLAIN.flash, float(share)) for share in fresh])


def time_above(ax: Axes, frames: FilmFrames) -> Animated:
    """The time, above the picture."""
    step = float(np.diff(frames.times[:2]).sum()) or 1.0
    digits = min(max(0, math.ceil(-math.log10(step))), 9)
    above: Any = {"ha": "center", "va": "bottom", "fontsize": 1.25 * PLAIN.label_size}
    text = ax.text(0.5, 1.015, "", transform=ax.transAxes, **above)
    units = frames.run.details.units

    def show(k: int) -> None:
        text.set_text(units.after(f"t = {frames.times[k]:.{digits}f}", "time"))

    return Animated([text], show)


def growing_curves(cost: Axes, error: Axes, frames: FilmFrames) -> list[Animated]:
    """Cost and largest error, growing as time goes on."""
    metrics, nu = worlds.both_sides(frames.run), frames.run.system.nu
    errors = metrics.errors.max(axis=1) if len(metrics.times) else np.empty(0)
    return [
        _growing_curve(cost, frames, (metrics.times, metrics.costs), "cost", None),
        _growing_curve(error, frames, (metrics.times, errors), "largest error", nu),
    ]


def _growing_curve(
    ax: Axes, frames: FilmFrames, curve: timelines.Curve, name: str, level: float | None
) -> Animated:
    """A curve over time: all of it faintly, and what has been by now in ink."""
    (times, values), (begin, end) = curve, frames.span
    units, (_, dimension) = frames.run.details.units, LABELS[name]
    timelines.time_axis(ax, begin, end, "", units=units)
    inside = (times >= begin) & (times <= end)
    if not inside.any():
        PLAIN.placeholder(ax, timelines.NO_SAMPLES)
        return Animated([], lambda k: None)
    levels = np.array([] if level is None else [level])
    floor = timelines.log_axis(ax, [values[inside], levels])
    _few_ticks(ax)
    shown = times[inside], np.maximum(values[inside], floor)
    times, values = timelines.extremes(shown, end, PLAIN.columns)
    ax.plot(times, values, color=PLAIN.faint, lw=PLAIN.thin)
    worlds.draw_switches(ax, frames.run, begin, end, named=False)
    if level is not None:
        ax.axhline(level, color=PLAIN.ink, lw=PLAIN.thin, ls=(0, (6, 2)))
        ax.text(
            0.99, level, units.after(rf"$\nu = {number(level)}$", dimension), ha="right",
            va="bottom", transform=ax.get_yaxis_transform(), fontsize=PLAIN.text_size,
        )  # fmt: skip
    (grown,) = ax.plot([], [], color=PLAIN.limit, lw=PLAIN.bold)
    (head,) = ax.plot([], [], "o", color=PLAIN.limit, ms=3.5, clip_on=False)
    above: Any = {"transform": ax.transAxes, "fontsize": PLAIN.label_size, "va": "bottom"}
    ax.text(0.0, 1.02, quantity_label(name), **above)
    text = ax.text(1.0, 1.02, "", ha="right", **above)

    def show(k: int) -> None:
        now = int(np.searchsorted(times, frames.times[k], side="right"))
        grown.set_data(times[:now], values[:now])
        head.set_data(times[:now][-1:], values[:now][-1:])
        text.set_text(units.after(f"{values[now - 1]:.4g}", dimension) if now else "")

    return Animated([grown, head, text], show)


def _few_ticks(ax: Axes) -> None:
    """At least two numbers on a log axis, and few where it has powers of ten enough."""
    low, high = ax.get_ylim()
    if math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 1:  # one power of ten, or none
        plain_log_ticks(ax.yaxis, (1.0, 3.0) if high > TALL * low else (1.0, 2.0, 5.0))
    elif high > TALL * low:
        ax.yaxis.set_minor_formatter("")

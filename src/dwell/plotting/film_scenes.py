"""What a film shows: the run at the time of each frame, and what moves, by dimension.

Each scene gives its artists and what brings them to a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Points, finite_number, in_short, lengths
from dwell.density import Uniform
from dwell.errors import InputError
from dwell.plotting import line, maps, scene, timelines
from dwell.plotting.camera import Camera, camera_for
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
from dwell.results import Run

FPS = 25.0
SECONDS = 12.0
SWAY = (-15.0, 40.0)  # degrees that the camera goes round while time goes on
FLASH = 0.3  # seconds of film for which a sample shows
POINTS = 20_000  # of all trails together: more would not be drawn in time
ARROW = 0.08  # of the workspace's diameter: the velocity of the faster agents
SHORTEST, RESTING = 0.25, 1e-3  # of that length and of that velocity
CROWD = 0.4  # the same for many agents, times the square root of their number
TALL = 30.0  # a log axis so much higher than low has powers of ten enough
RINGS = "      rings: sampled just now"
HIDING = 0.16  # how much a face in space hides of what is behind it


@final
@dataclass(frozen=True, eq=False)
class FilmFrames:
    """A run at the frames of a film; `rate` is how much of its time goes by in a second."""

    run: Run
    times: Floats  # (F,)
    span: tuple[float, float]  # that the film is about
    rate: float
    camera: Floats  # (F,) degrees that the camera has gone round

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def places(self) -> Points:
        """Positions, (F, N, n)."""
        return self.run.positions(self.times)

    @cached_property
    def holds(self) -> Points:
        """The velocities, (F, N, n)."""
        return self.run.holds(self.times)

    @cached_property
    def fresh(self) -> Floats:
        """How recently each agent sampled, (F, N): 1 just now, 0 from half the usual wait on."""
        events = self.run.events
        sampling = events.count("looked") > 0
        fresh = np.zeros((len(self), self.run.agents))
        span = max(min(FLASH * self.rate, 0.5 * self._wait), 1e-300)
        for p in range(self.run.agents if self.flashes else 0):
            rows = events.of_agent(p)
            sampled = np.append(0.0, events.time[rows][sampling[rows]])
            last = sampled[np.searchsorted(sampled, self.times, side="right") - 1]
            fresh[:, p] = np.clip(1.0 - (self.times - last) / span, 0.0, 1.0)
        return fresh

    @property
    def flashes(self) -> bool:
        """Whether samples are distinguishable: a frame is well shorter than the usual wait."""
        return bool(np.diff(self.times[:2]).sum() < 0.75 * self._wait)

    @cached_property
    def _wait(self) -> float:
        """The usual time between two samples of an agent."""
        count = int(np.count_nonzero(self.run.events.count("looked")))
        return self.run.horizon * self.run.agents / max(count, 1)

    @cached_property
    def arrows(self) -> Points:
        """The velocities as lengths on the picture, (F, N, n): a quarter of the longest or more."""
        workspace = self.run.workspace
        lower, upper = workspace.bounds
        size = np.where(maps.is_slim(workspace), upper - lower, workspace.diameter)
        unit = size * min(ARROW, CROWD / math.sqrt(self.run.agents))
        seen = self.holds / unit
        speed = lengths(seen)
        moving = speed[speed > 0.0]
        usual = float(np.quantile(moving, 0.9)) if moving.size else 1.0
        long = np.clip(speed / usual, np.where(speed > RESTING * usual, SHORTEST, 0.0), 1.0)
        arrows: Points = seen * (unit * (long / np.where(speed > 0.0, speed, 1.0))[..., None])
        return arrows

    @property
    def stands(self) -> bool:
        """Whether time stands still, and only the camera goes round."""
        return len(self) > 1 and bool(self.times[0] == self.times[-1])

    def trail(self, k: int) -> Points:
        """The paths up to frame k, (points, N, n); of many agents only its last part."""
        most = max(2, POINTS // self.run.agents)
        if self.stands:
            return self.run.positions(np.linspace(*self.span, min(most, 400)))
        return self.places[max(0, k + 1 - most) : k + 1]


def frames_of(
    run: Run,
    *,
    fps: float = FPS,
    seconds: float = SECONDS,
    since: float | None = None,
    until: float | None = None,
    turn: bool = False,
) -> FilmFrames:
    """What each frame shows."""
    for name, value in (("fps", fps), ("seconds", seconds)):
        given = finite_number(value)
        if given is None or not given > 0.0:
            need = "a positive number is needed"
            raise InputError(f"{name} is {in_short(value)}; {need}", code="film.time")
    fps, seconds = float(fps), float(seconds)
    begin = 0.0 if since is None else finite_number(since)
    end = run.horizon if until is None else finite_number(until)
    if begin is None or end is None or not 0.0 <= begin <= end <= run.horizon:
        raise InputError(
            f"the film was to go from {in_short(since)} to {in_short(until)}; the run "
            f"knows times from 0 to {run.horizon!r}",
            code="film.time",
        )
    count = max(1, round(fps * seconds))
    if turn:
        n = run.workspace.dimension
        if n != 3:
            raise InputError(
                f"a camera can turn round agents in space, and these have {n} coordinates; leave "
                "out turn",
                code="film.turn",
            )
        angles = np.linspace(0.0, 360.0, count, endpoint=False)
        return FilmFrames(run, np.full(count, end), (begin, end), 1.0, angles)
    times = np.linspace(begin, end, count) if count > 1 else np.array([end])
    sway = np.linspace(*SWAY, count)
    return FilmFrames(run, times, (begin, end), (end - begin) / seconds, sway)


# What moves.


class Animated(NamedTuple):
    """Artists that are drawn anew for each frame, in order, and what brings them to frame k."""

    artists: Sequence[Artist]
    show: Callable[[int], None]


def line_scene(ax: Axes, frames: FilmFrames) -> Animated:
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

    return Animated([between, paths, heads, cells, arrows, rings, dots], show)


def plane_scene(ax: Axes, frames: FilmFrames) -> Animated:
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

    return Animated([cells, trails, arrows, rings, dots], show)


def space_scene(ax: Axes, frames: FilmFrames) -> Animated:
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

    return Animated(artists, show)


def _flash(rings: Any, places: Points, fresh: Floats) -> None:
    """Rings round agents that sampled just now; they widen and vanish."""
    rings.set_offsets(places)
    rings.set_sizes((1.35 * PLAIN.dot(len(places))) ** 2 * (2.0 + 5.0 * (1.0 - fresh)))
    rings.set_edgecolors([rgba(PLAIN.flash, float(share)) for share in fresh])


def time_above(ax: Axes, frames: FilmFrames) -> Animated:
    """The time, above the picture."""
    step = float(np.diff(frames.times[:2]).sum()) or 1.0
    digits = min(max(0, math.ceil(-math.log10(step))), 9)
    above: Any = {"ha": "center", "va": "bottom", "fontsize": 1.25 * PLAIN.label_size}
    text = ax.text(0.5, 1.015, "", transform=ax.transAxes, **above)
    return Animated([text], lambda k: text.set_text(f"t = {frames.times[k]:.{digits}f}"))


def growing_curves(cost: Axes, error: Axes, frames: FilmFrames) -> list[Animated]:
    """Cost and largest error, growing as time goes on."""
    metrics, nu = frames.run.metrics, frames.run.system.nu
    errors = metrics.errors.max(axis=1) if len(metrics.times) else np.empty(0)
    return [
        _growing_curve(cost, frames, metrics.costs, LABELS["cost"], None),
        _growing_curve(error, frames, errors, LABELS["largest error"], nu),
    ]


def _growing_curve(
    ax: Axes, frames: FilmFrames, values: Floats, name: str, level: float | None
) -> Animated:
    """A curve over time: all of it faintly, and what has been by now in ink."""
    times, (begin, end) = frames.run.metrics.times, frames.span
    timelines.time_axis(ax, begin, end, "")
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

    return Animated([grown, head, text], show)


def _few_ticks(ax: Axes) -> None:
    """At least two numbers on a log axis, and few where it has powers of ten enough."""
    low, high = ax.get_ylim()
    if math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 1:  # one power of ten, or none
        plain_log_ticks(ax.yaxis, (1.0, 3.0) if high > TALL * low else (1.0, 2.0, 5.0))
    elif high > TALL * low:
        ax.yaxis.set_minor_formatter("")

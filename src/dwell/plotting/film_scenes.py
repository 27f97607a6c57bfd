"""What moves in a film, by dimension: each gives its artists and what brings them to a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Uniform
from dwell.plotting import maps, scene
from dwell.plotting.camera import Camera, camera_for
from dwell.plotting.film_frames import FilmFrames
from dwell.plotting.line import (
    borders_of,
    curve_of,
    fit_side,
    fit_space_time,
    side_of,
    slices,
    tints,
)
from dwell.plotting.style import Style, pale_map

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

RINGS = "      rings: sampled just now"
HIDING = 0.16  # how much a face in space hides of what is behind it


class Moving(NamedTuple):
    """Artists that are drawn anew for each frame, in order, and what brings them to frame k."""

    artists: Sequence[Artist]
    show: Callable[[int], None]


def line_scene(ax: Axes, frames: FilmFrames, style: Style) -> Moving:
    """The space-time diagram, which grows, and agents that slide along the density at its side."""
    from matplotlib.collections import LineCollection, PolyCollection

    run, places = frames.run, frames.places[..., 0]
    borders = borders_of(run.workspace, places)
    curve = curve_of(run.workspace, run.system.density)
    key = f"dashed: borders of cells;  at the side, lines: held velocity{RINGS * frames.flashes}"
    style.dress(ax, f"time $t$\n{key}", "")
    ax.set_xlabel(ax.get_xlabel(), fontsize=style.text_size, loc="left")
    ax.set_xlim(*frames.shown_span)
    fit_space_time(ax, run, places, style)
    side = side_of(ax)
    side.plot(*curve[::-1], color=style.ink, lw=style.line)
    fit_side(side, curve, style)

    width = style.bold if run.agents <= 30 else style.thin
    colours = [style.colour(p) for p in range(run.agents)]
    between = LineCollection([], colors=style.cell, lw=0.6 * width, ls=[(0, (3, 2))])
    paths = LineCollection([], colors=colours, lw=width)
    cells = PolyCollection([], lw=0)
    arrows = LineCollection([], colors=style.ink, lw=1.4 * width)
    for where, collection in ((ax, between), (ax, paths), (side, cells), (side, arrows)):
        where.add_collection(collection, autolim=False)
    rings = side.scatter([], [], facecolors="none", lw=width, clip_on=False, zorder=5)
    dot: Any = {"s": (1.35 * style.dot(run.agents)) ** 2, "c": "none", "zorder": 6}
    heads, dots = (where.scatter([], [], clip_on=False, **dot) for where in (ax, side))
    for agents in (heads, dots):
        agents.set(facecolors=colours, edgecolors="white", linewidths=0.4)

    def show(k: int) -> None:
        now = places[k]
        since = slice(k + 1 - len(frames.trail(k)), k + 1)
        paths.set_segments(_over(frames.times[since], places[since]))
        between.set_segments(_over(frames.times[since], borders[since]))
        heads.set_offsets(np.column_stack([np.full(len(now), frames.times[k]), now]))
        areas, owners = slices(run.workspace, curve, now)
        cells.set_verts([ring[:, ::-1] for ring in areas])
        cells.set(facecolors=tints(owners, style))
        stand = np.column_stack([np.zeros(len(now)), now])
        ahead = np.column_stack([np.zeros(len(now)), now + frames.arrows[k, :, 0]])
        arrows.set_segments(list(np.stack([stand, ahead], axis=1)))
        _flash(rings, stand, frames.fresh[k], style)
        dots.set_offsets(stand)

    return Moving([between, paths, heads, cells, arrows, rings, dots], show)


def plane_scene(ax: Axes, frames: FilmFrames, style: Style) -> Moving:
    """The map: cells, agents, held velocities, trails, recent samples."""
    from matplotlib.collections import LineCollection, PolyCollection

    run = frames.run
    shaded = not isinstance(run.system.density, Uniform)
    if shaded:
        image, _ = maps.draw_density(ax, run.workspace, run.system.density, style=style)
        image.set_cmap(pale_map())
        image.set_zorder(0.5)
    maps.draw_workspace(ax, run.workspace, style=style)
    maps.include(ax, frames.places.reshape(-1, 2))
    key = "shade: density      " * shaded + "lines: held velocity" + RINGS * frames.flashes
    ax.set_xlabel(f"{ax.get_xlabel()}\n{key}", fontsize=style.label_size)

    size = 1.35 * style.dot(run.agents)
    width = style.line if run.agents <= 100 else style.thin
    cells = PolyCollection([], facecolors="none", edgecolors=style.cell, lw=width)
    trails = LineCollection([], colors=style.limit, lw=width, alpha=0.75)
    arrows = LineCollection([], colors=style.ink, lw=1.5 * width)
    for collection in (cells, trails, arrows):
        ax.add_collection(collection, autolim=False)
    rings = ax.scatter([], [], facecolors="none", lw=1.2 * width)
    (dots,) = ax.plot([], [], "o", ms=size, mfc=style.start, mec="white", mew=0.4, clip_on=False)

    def show(k: int) -> None:
        places = frames.places[k]
        cells.set_verts(maps.cell_rings(run.workspace, places) or [])
        trails.set_segments(list(frames.trail(k).transpose(1, 0, 2)))
        arrows.set_segments(list(np.stack([places, places + frames.arrows[k]], axis=1)))
        _flash(rings, places, frames.fresh[k], style)
        dots.set_data(places[:, 0], places[:, 1])

    return Moving([cells, trails, arrows, rings, dots], show)


def space_scene(ax: Axes, frames: FilmFrames, style: Style) -> Moving:
    """The scene while time goes on and the camera goes round."""
    workspace, still = frames.run.workspace, frames.stands
    first = camera_for(workspace).azimuth
    angles = np.linspace(frames.camera.min(), frames.camera.max(), 60).tolist()
    cameras = [Camera(workspace, first + angle) for angle in angles]
    artists, draw = scene.moving_scene(ax, cameras, style)
    key = "dark lines: held velocity      " * (not still) + "grey: shadows"
    ax.text(
        0.5, 0.0, key + RINGS * (frames.flashes and not still), transform=ax.transAxes,
        ha="center", va="bottom", fontsize=style.text_size,
    )  # fmt: skip

    def show(k: int) -> None:
        view = scene.View(
            workspace, frames.places[k], list(frames.trail(k).transpose(1, 0, 2)),
            arrows=None if still else frames.arrows[k], fresh=None if still else frames.fresh[k],
            hiding=HIDING,
        )  # fmt: skip
        draw(view, Camera(workspace, first + float(frames.camera[k])))

    return Moving(artists, show)


def _over(times: Floats, values: Floats) -> list[Points]:
    """Curves of the columns of `values` over time."""
    return [np.column_stack([times, column]) for column in values.T]


def _flash(rings: Any, places: Points, fresh: Floats, style: Style) -> None:
    """Rings round agents that sampled just now; they widen and vanish."""
    from matplotlib.colors import to_rgba

    rings.set_offsets(places)
    rings.set_sizes((1.35 * style.dot(len(places))) ** 2 * (2.0 + 5.0 * (1.0 - fresh)))
    rings.set_edgecolors([to_rgba(style.flash, float(share)) for share in fresh])

"""The line, moving: the space-time diagram grows, and agents slide along the density."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from dwell.plotting.film_frames import RINGS, FilmFrames
from dwell.plotting.line import (
    borders_of,
    curve_of,
    draw_upright_curve,
    fit_space_time,
    side_of,
    slices,
    tints,
)
from dwell.plotting.plane_film import flash_rings
from dwell.plotting.style import Style, dress

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

KEY = "dashed: borders of cells;  at the side, lines: held velocity"


@final
class LineFilm:
    """The growing space-time diagram, with the density at its side."""

    def __init__(self, ax: Axes, frames: FilmFrames, style: Style) -> None:
        self._shots, self._style, run = frames, style, frames.run
        self._places = frames.places[..., 0]
        self._borders = borders_of(run.workspace, self._places)
        self._curve = curve_of(run.workspace, run.system.density)
        dress(ax, style, f"time $t$\n{KEY}{RINGS * frames.flashes}", "")
        ax.set_xlabel(ax.get_xlabel(), fontsize=style.text_size, loc="left")
        begin, end = frames.span
        ax.set_xlim(*((begin, end) if end > begin else (begin - 0.5, begin + 0.5)))
        fit_space_time(ax, run, self._places, style)
        side = side_of(ax)
        draw_upright_curve(side, self._curve, style)
        self._make(ax, side)

    def _make(self, ax: Axes, side: Axes) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        style, agents = self._style, self._shots.run.agents
        width = style.bold if agents <= 30 else style.thin
        size = 1.35 * style.dot(agents)
        colours = [style.colour(p) for p in range(agents)]
        self._between = LineCollection([], colors=style.cell, lw=0.6 * width, ls=[(0, (3, 2))])
        self._paths = LineCollection([], colors=colours, lw=width)
        self._cells = PolyCollection([], lw=0)
        self._arrows = LineCollection([], colors=style.ink, lw=1.4 * width)
        self._rings = side.scatter([], [], facecolors="none", lw=width, clip_on=False, zorder=5)
        self._heads = ax.scatter([], [], s=size**2, c="none", clip_on=False, zorder=6)
        self._dots = side.scatter([], [], s=size**2, c="none", clip_on=False, zorder=6)
        for dots in (self._heads, self._dots):
            dots.set(facecolors=colours, edgecolors="white", linewidths=0.4)
        for lines in (self._between, self._paths):
            ax.add_collection(lines, autolim=False)
        side.add_collection(self._cells, autolim=False)
        side.add_collection(self._arrows, autolim=False)
        self.artists: list[Artist] = [
            self._between, self._paths, self._heads, self._cells, self._arrows, self._rings,
            self._dots,
        ]  # fmt: skip

    def show(self, k: int) -> None:
        """Bring everything to frame k."""
        frames, now = self._shots, self._places[k]
        first = k + 1 - len(frames.trail(k))
        times = frames.times[first : k + 1]
        self._paths.set_segments(_over(times, self._places[first : k + 1]))
        self._between.set_segments(_over(times, self._borders[first : k + 1]))
        self._heads.set_offsets(np.column_stack([np.full(len(now), frames.times[k]), now]))
        rings, owners = slices(frames.run.workspace, self._curve, now)
        self._cells.set_verts([ring[:, ::-1] for ring in rings])
        self._cells.set(facecolors=tints(owners, self._style))
        stand = np.column_stack([np.zeros(len(now)), now])
        ahead = np.column_stack([np.zeros(len(now)), now + frames.arrows[k, :, 0]])
        self._arrows.set_segments(list(np.stack([stand, ahead], axis=1)))
        flash_rings(self._rings, stand, frames.fresh[k], self._style)
        self._dots.set_offsets(stand)


def _over(times: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Curves of the columns of `values` over time."""
    return [np.column_stack([times, column]) for column in values.T]

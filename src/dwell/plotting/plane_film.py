"""The plane, moving: cells, agents, held velocities, trails, recent samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell.density import Uniform
from dwell.plotting import maps
from dwell.plotting.film_frames import RINGS, FilmFrames
from dwell.plotting.outlines import cell_rings, outline_of
from dwell.plotting.style import Style, pale_map

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

KEY = "lines: held velocity"
SHADED = "shade: density      "


@final
class PlaneFilm:
    """The moving map."""

    def __init__(self, ax: Axes, frames: FilmFrames, style: Style) -> None:
        self._shots, run = frames, frames.run
        shaded = not isinstance(run.system.density, Uniform)
        maps.draw_workspace(ax, run.workspace, style=style)
        if shaded:
            image, _ = maps.draw_density(ax, run.workspace, run.system.density, style=style)
            image.set_cmap(pale_map())
            image.set_zorder(0.5)
            maps.draw_workspace(ax, run.workspace, style=style)
        maps._include(ax, frames.places.reshape(-1, 2))
        key = (SHADED if shaded else "") + KEY + RINGS * frames.flashes
        ax.set_xlabel(f"{ax.get_xlabel()}\n{key}", fontsize=style.label_size)
        self._make(ax, style)

    def _make(self, ax: Axes, style: Style) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        agents = self._shots.run.agents
        size = 1.35 * style.dot(agents)
        width = style.line if agents <= 100 else style.thin
        self._style = style
        self._cells = PolyCollection([], facecolors="none", edgecolors=style.cell, lw=width)
        self._trails = LineCollection([], colors=style.limit, lw=width, alpha=0.75)
        self._arrows = LineCollection([], colors=style.ink, lw=1.5 * width)
        self._rings = ax.scatter([], [], facecolors="none", lw=1.2 * width)
        (self._dots,) = ax.plot(
            [], [], "o", ms=size, mfc=style.start, mec="white", mew=0.4, clip_on=False
        )
        for lines in (self._cells, self._trails, self._arrows):
            ax.add_collection(lines, autolim=False)
        self.artists: list[Artist] = [
            self._cells, self._trails, self._arrows, self._rings, self._dots
        ]  # fmt: skip

    def show(self, k: int) -> None:
        """Bring everything to frame k."""
        frames, places = self._shots, self._shots.places[k]
        rings: Any = cell_rings(frames.run.workspace, places) or []
        self._cells.set_verts(rings)
        trail = frames.trail(k)
        self._trails.set_segments(list(trail.transpose(1, 0, 2)))
        self._arrows.set_segments(list(np.stack([places, places + frames.arrows[k]], axis=1)))
        flash_rings(self._rings, places, frames.fresh[k], self._style)
        self._dots.set_data(places[:, 0], places[:, 1])


def flash_rings(rings: Any, places: Any, fresh: Any, style: Style) -> None:
    """Rings round agents that sampled just now; they widen and vanish."""
    from matplotlib.colors import to_rgba

    base = (1.35 * style.dot(len(places))) ** 2
    rings.set_offsets(places)
    rings.set_sizes(base * (2.0 + 5.0 * (1.0 - fresh)))
    rings.set_edgecolors([to_rgba(style.flash, float(share)) for share in fresh])


def plane_proportion(frames: FilmFrames) -> float:
    """Height over width of what is drawn."""
    ring = outline_of(frames.run.workspace)
    width, height = np.ptp(ring, axis=0)
    return 0.6 if maps.is_slim(frames.run.workspace) else float(height / width)

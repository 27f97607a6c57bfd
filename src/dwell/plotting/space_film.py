"""Space, moving: the scene while time goes on and the camera goes round."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from dwell.plotting.box import draw_box, move_box
from dwell.plotting.camera import azimuth_for, camera_for
from dwell.plotting.film_frames import RINGS, FilmFrames
from dwell.plotting.scene import View, ink_of, prepare
from dwell.plotting.style import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

KEY = "dark lines: held velocity      grey: shadows"
STANDING = "grey: shadows"
HIDING = 0.16  # how much a face hides of what is behind it


@final
class SpaceFilm:
    """The moving scene."""

    def __init__(self, ax: Axes, frames: FilmFrames, style: Style) -> None:
        from matplotlib.collections import PolyCollection

        self._shots, self._style = frames, style
        workspace = frames.run.workspace
        angles = np.linspace(frames.camera.min(), frames.camera.max(), 60)
        self._from = azimuth_for(workspace)
        prepare(ax, workspace, [camera_for(workspace, self._from + float(a)) for a in angles])
        self._box = draw_box(ax, workspace, camera_for(workspace), style)
        self._solids = PolyCollection([], joinstyle="round", capstyle="round")
        ax.add_collection(self._solids, autolim=False)
        ax.text(
            0.5, 0.0, STANDING if frames.stands else KEY + RINGS * frames.flashes,
            transform=ax.transAxes, ha="center", va="bottom", fontsize=style.text_size,
        )  # fmt: skip
        panes, grid, *words = self._box
        self.artists: list[Artist] = [panes, grid, self._solids, *words]

    def show(self, k: int) -> None:
        """Bring everything to frame k."""
        frames, workspace = self._shots, self._shots.run.workspace
        camera = camera_for(workspace, self._from + float(frames.camera[k]))
        still = frames.stands
        view = View(
            workspace, frames.places[k], list(frames.trail(k).transpose(1, 0, 2)),
            arrows=None if still else frames.arrows[k], fresh=None if still else frames.fresh[k],
            hiding=HIDING,
        )  # fmt: skip
        move_box(self._box, workspace, camera, self._style)
        ink_of(view, camera, self._style).onto(self._solids)

"""Films of runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from dwell._checks import check_flag
from dwell._types import finite_number, in_short, is_whole
from dwell.errors import InputError
from dwell.plotting.figures import blank, entitled, proportion, require_matplotlib
from dwell.plotting.film_frames import FPS, SECONDS, Animated, FilmFrames, frames_of
from dwell.plotting.film_scenes import (
    growing_curves,
    line_scene,
    plane_scene,
    space_scene,
    time_above,
)
from dwell.plotting.film_writer import Frame, check_film, check_load, write_film
from dwell.plotting.style import Artist, Figure
from dwell.plotting.worlds import scope_of
from dwell.progress import Progress, reported
from dwell.results import RunLike, as_run
from dwell.scenario.guards import as_path

SIZE = {"mp4": (1280, 720), "gif": (960, 540), "webp": (960, 540)}
WIDE = 8.0  # inches that the longer side counts for, unless dpi says otherwise
LEAST, MOST = 160, 8192  # pixels along a side
SCENES = {1: line_scene, 2: plane_scene, 3: space_scene}
WIDEST = 2.6  # a workspace so much wider than high has its curves below, not beside


def animate(
    run: RunLike,
    path: str | os.PathLike[str],
    *,
    fps: float = FPS,
    seconds: float = SECONDS,
    since: float | None = None,
    until: float | None = None,
    size: tuple[int, int] | None = None,
    dpi: float | None = None,
    turn: bool = False,
    force: bool = False,
    progress: Progress | bool | None = None,
) -> Path:
    """Write a film of a run.

    The file appears whole or not at all. A film made here before is replaced; any other file only
    with `force`. Equal runs give equal frames.

    Parameters
    ----------
    run : Run or path
        The run, or the path of its .nc file.
    path : str or path
        The film; it ends in .mp4 (needs ffmpeg), .gif or .webp.
    fps, seconds : float
        Frames per second, and the length of the film.
    since, until : float, optional
        Times of the run to begin and end with; the whole run by default.
    size : tuple of int, optional
        Width and height in pixels.
    dpi : float, optional
        Pixels per inch; more makes text and lines larger.
    turn : bool
        In space, turn once round the agents at the time `until`; otherwise the camera turns a
        little as time passes.
    force : bool
        Whether any existing file may be replaced.
    progress : callable or bool, optional
        As in `run_scenario`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import dwell
    >>> dwell.animate("run.nc", "run.gif", fps=2, seconds=1).name
    'run.gif'
    """
    target, run = as_path(path), as_run(run)
    require_matplotlib()
    n = run.workspace.dimension
    if n not in SCENES:
        raise InputError(
            f"a film shows places of 1, 2 or 3 coordinates, and these have {n}; dwell plot draws "
            "the plots of such a run",
            code="film.dimension",
        )
    check_flag("turn", turn)
    check_flag("force", force)
    kind = check_film(target, force=force)
    frames = frames_of(run, fps=fps, seconds=seconds, since=since, until=until, turn=turn)
    fps = float(fps)
    pixels = _checked_size(SIZE[kind] if size is None else size)
    check_load(kind, pixels, len(frames), fps)
    canvas = canvas_of(frames, pixels, _checked_dpi(dpi, pixels))
    with reported(progress) as tell:
        write_film(canvas.frame, len(frames), target, fps=fps, progress=tell)
    return target


def size_from_words(words: str) -> tuple[int, int]:
    """Width and height in pixels out of words such as 1280x720."""
    parts = words.lower().split("x")
    return _checked_size([int(v) if v.isascii() and v.isdigit() else v for v in parts])


def _checked_size(size: Any) -> tuple[int, int]:
    pair = list(size) if isinstance(size, tuple | list) else []
    good = len(pair) == 2 and all(is_whole(v) and LEAST <= v <= MOST for v in pair)
    if not good:
        raise InputError(
            f"the size is {in_short(size)}; width and height are needed, two whole numbers of "
            f"pixels from {LEAST} to {MOST}, such as 1280x720",
            code="film.size",
        )
    return int(pair[0]), int(pair[1])


def _checked_dpi(dpi: float | None, pixels: tuple[int, int]) -> float:
    if dpi is None:
        return max(pixels) / WIDE
    given = finite_number(dpi)
    if given is None or not 20.0 <= given <= 1000.0:
        raise InputError(
            f"dpi is {in_short(dpi)}; a number from 20 to 1000 is needed", code="film.dpi"
        )
    return given


@final
class Canvas:
    """A figure and its moving parts; gives frames as pixels, in any order."""

    def __init__(self, figure: Figure, parts: list[Animated]) -> None:
        self.figure, self.parts = figure, parts
        self._canvas = cast(Any, figure.canvas)  # Agg: it can keep what was drawn
        for artist in self._moving():
            artist.set_animated(True)
            artist.set_in_layout(hasattr(artist, "get_text"))  # words need space of their own
        for part in parts:
            part.show(0)  # so that the layout has space for everything
        self._canvas.draw()
        figure.set_layout_engine("none")
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(figure.bbox)

    def _moving(self) -> list[Artist]:
        return [artist for part in self.parts for artist in part.artists]

    def frame(self, k: int) -> Frame:
        """The pixels of frame k, (height, width, 3)."""
        self._canvas.restore_region(self._still)
        for part in self.parts:
            part.show(k)
        renderer = self._canvas.get_renderer()
        for artist in self._moving():
            if artist.get_visible():
                artist.draw(renderer)
        return np.array(np.asarray(self._canvas.buffer_rgba())[..., :3])


def canvas_of(frames: FilmFrames, pixels: tuple[int, int], dpi: float) -> Canvas:
    """The figure and what moves on it."""
    width, height = ((side + 1e-3) / dpi for side in pixels)  # never one pixel short
    figure = entitled(blank(width, height, dpi=dpi), frames.run)
    workspace = scope_of(frames.run)
    below = workspace.dimension == 2 and proportion(workspace) * WIDEST < 1.0
    if below:
        panels = figure.subplot_mosaic("ss;ce", height_ratios=[1.3, 1.0])
    else:
        panels = figure.subplot_mosaic("sc;se", width_ratios=[1.75, 1.0])
    ax, cost, error = (panels[key] for key in "sce")
    scene = SCENES[workspace.dimension](ax, frames)
    return Canvas(figure, [scene, time_above(ax, frames), *growing_curves(cost, error, frames)])

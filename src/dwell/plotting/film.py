"""Films of runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import finite_number, in_short, is_whole
from dwell.errors import InputError
from dwell.plotting.canvas import Canvas, curves_beside, time_above
from dwell.plotting.figures import blank, entitled, proportion, require_matplotlib
from dwell.plotting.film_frames import FilmFrames
from dwell.plotting.film_scenes import line_scene, plane_scene, space_scene
from dwell.plotting.film_writer import check_film, check_load, write_film
from dwell.plotting.style import PLAIN, Style
from dwell.progress import Progress, reported
from dwell.results import Run, RunLike, as_run
from dwell.scenario.guards import as_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FPS = 25.0
SECONDS = 12.0
SIZE = {"mp4": (1280, 720), "gif": (960, 540), "webp": (960, 540)}
WIDE = 8.0  # inches that the longer side counts for, unless dpi says otherwise
LEAST, MOST = 160, 8192  # pixels along a side
SWAY = (-15.0, 40.0)  # degrees that the camera goes round while time goes on
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
    kind = check_film(target, force=force)
    frames = frames_of(run, fps=fps, seconds=seconds, since=since, until=until, turn=turn)
    pixels = _checked_size(SIZE[kind] if size is None else size)
    check_load(kind, pixels, len(frames), fps)
    canvas = canvas_of(frames, pixels, _checked_dpi(dpi, pixels))
    with reported(progress) as tell:
        write_film(canvas.frame, len(frames), target, fps=fps, progress=tell)
    return target


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
    begin, end = _span(run, since, until)
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


def _span(run: Run, since: float | None, until: float | None) -> tuple[float, float]:
    begin = 0.0 if since is None else finite_number(since)
    end = run.horizon if until is None else finite_number(until)
    if begin is None or end is None or not 0.0 <= begin <= end <= run.horizon:
        raise InputError(
            f"the film was to go from {in_short(since)} to {in_short(until)}; the run "
            f"knows times from 0 to {run.horizon!r}",
            code="film.time",
        )
    return begin, end


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


def canvas_of(
    frames: FilmFrames, pixels: tuple[int, int], dpi: float, style: Style = PLAIN
) -> Canvas:
    """The figure and what moves on it."""
    width, height = ((side + 1e-3) / dpi for side in pixels)  # never one pixel short
    figure = entitled(blank(width, height, dpi=dpi), frames.run)
    workspace = frames.run.workspace
    below = workspace.dimension == 2 and proportion(workspace) * WIDEST < 1.0
    ax, cost, error = _panels(figure, below)
    moving = [SCENES[workspace.dimension](ax, frames, style), time_above(ax, frames, style)]
    return Canvas(figure, [*moving, *curves_beside(cost, error, frames, style)])


def _panels(figure: Figure, below: bool) -> tuple[Axes, Axes, Axes]:
    """Axes for the scene, the cost and the errors: the last two beside the first, or below it."""
    if below:
        grid: Any = figure.add_gridspec(2, 2, height_ratios=[1.3, 1.0])
        parts = grid[0, :], grid[1, 0], grid[1, 1]
    else:
        grid = figure.add_gridspec(2, 2, width_ratios=[1.75, 1.0])
        parts = grid[:, 0], grid[0, 1], grid[1, 1]
    scene, cost, errors = (figure.add_subplot(part) for part in parts)
    return scene, cost, errors

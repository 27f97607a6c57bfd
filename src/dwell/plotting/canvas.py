"""A film's figure: still parts drawn once, moving parts drawn anew for each frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from dwell._types import Floats
from dwell.plotting import timelines
from dwell.plotting.downsample import extremes
from dwell.plotting.film_frames import FilmFrames
from dwell.plotting.film_scenes import Moving
from dwell.plotting.film_writer import Frame
from dwell.plotting.style import Style, number, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TALL = 30.0  # a log axis so much higher than low has powers of ten enough


@final
class Canvas:
    """A figure and its moving parts; gives frames as pixels, in any order."""

    def __init__(self, figure: Figure, parts: list[Moving]) -> None:
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


def time_above(ax: Axes, frames: FilmFrames, style: Style) -> Moving:
    """The time, above the picture."""
    step = float(np.diff(frames.times[:2]).sum()) or 1.0
    digits = min(max(0, math.ceil(-math.log10(step))), 9)
    text = ax.text(
        0.5, 1.015, "", transform=ax.transAxes, ha="center", va="bottom",
        fontsize=1.25 * style.label_size,
    )  # fmt: skip
    return Moving([text], lambda k: text.set_text(f"t = {frames.times[k]:.{digits}f}"))


def growing_curve(
    ax: Axes, frames: FilmFrames, values: Floats, name: str, level: float | None, style: Style
) -> Moving:
    """A curve over time: all of it faintly, and what has been by now in ink."""
    times, (begin, end) = frames.run.metrics.times, frames.span
    style.dress(ax, "time $t$", "")
    ax.set_xlim(*frames.shown_span)
    inside = (times >= begin) & (times <= end)
    if not inside.any():
        style.placeholder(ax, timelines.NO_SAMPLES)
        return Moving([], lambda k: None)
    levels = np.array([] if level is None else [level])
    floor = timelines.log_axis(ax, [values[inside], levels])
    _few_ticks(ax)
    times, values = extremes((times[inside], np.maximum(values[inside], floor)), end, style.columns)
    ax.plot(times, values, color=style.faint, lw=style.thin)
    if level is not None:
        ax.axhline(level, color=style.ink, lw=style.thin, ls=(0, (6, 2)))
        ax.text(
            0.99, level, rf"$\nu = {number(level)}$", transform=ax.get_yaxis_transform(),
            ha="right", va="bottom", fontsize=style.text_size,
        )  # fmt: skip
    (line,) = ax.plot([], [], color=style.limit, lw=style.bold)
    (head,) = ax.plot([], [], "o", color=style.limit, ms=3.5, clip_on=False)
    above: Any = {"transform": ax.transAxes, "fontsize": style.label_size, "va": "bottom"}
    ax.text(0.0, 1.02, name, **above)
    text = ax.text(1.0, 1.02, "", ha="right", **above)

    def show(k: int) -> None:
        now = int(np.searchsorted(times, frames.times[k], side="right"))
        line.set_data(times[:now], values[:now])
        head.set_data(times[max(now - 1, 0) : now], values[max(now - 1, 0) : now])
        text.set_text(f"{values[now - 1]:.4g}" if now else "")

    return Moving([line, head, text], show)


def _few_ticks(ax: Axes) -> None:
    """At least two numbers on a log axis, and few where it has powers of ten enough."""
    low, high = ax.get_ylim()
    if math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 1:  # one power of ten, or none
        plain_log_ticks(ax.yaxis, (1.0, 3.0) if high > TALL * low else (1.0, 2.0, 5.0))
    elif high > TALL * low:
        ax.yaxis.set_minor_formatter("")


def curves_beside(cost: Axes, error: Axes, frames: FilmFrames, style: Style) -> list[Moving]:
    """Cost and largest error, growing as time goes on."""
    metrics, nu = frames.run.metrics, frames.run.system.nu
    errors = metrics.errors.max(axis=1) if len(metrics.times) else np.empty(0)
    level = None if nu is None else float(nu)
    return [
        growing_curve(cost, frames, metrics.costs, r"$\mathcal{L}(x)$", None, style),
        growing_curve(error, frames, errors, r"$\max_p \Vert e_p \Vert$", level, style),
    ]

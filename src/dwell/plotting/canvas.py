"""A film's figure: still parts drawn once, moving parts drawn anew for each frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, cast, final

import numpy as np

from dwell._types import Floats
from dwell.plotting import timelines
from dwell.plotting.downsample import extremes
from dwell.plotting.film_frames import FilmFrames
from dwell.plotting.film_writer import Frame
from dwell.plotting.style import Style, dress, number, placeholder

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


TALL = 30.0  # a log axis so much higher than low has powers of ten enough


class Part(Protocol):
    """Something on the picture that moves."""

    @property
    def artists(self) -> list[Artist]:
        """What is drawn anew for each frame, in this order."""

    def show(self, k: int) -> None:
        """Bring the artists to frame k."""


@final
class Canvas:
    """A figure and its moving parts; gives frames as pixels, in any order."""

    def __init__(self, figure: Figure, parts: list[Part]) -> None:
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


@final
class Clock:
    """The time, above the picture."""

    def __init__(self, ax: Axes, frames: FilmFrames, style: Style) -> None:
        self._times = frames.times
        step = float(np.diff(frames.times[:2]).sum()) or 1.0
        self._digits = min(max(0, math.ceil(-math.log10(step))), 9)
        self._text = ax.text(
            0.5, 1.015, "", transform=ax.transAxes, ha="center", va="bottom",
            fontsize=1.25 * style.label_size,
        )  # fmt: skip
        self.artists: list[Artist] = [self._text]

    def show(self, k: int) -> None:
        """Bring the text to frame k."""
        self._text.set_text(f"t = {self._times[k]:.{self._digits}f}")


@final
class Growing:
    """A curve over time: all of it faintly, and what has been by now in ink."""

    def __init__(
        self,
        ax: Axes,
        frames: FilmFrames,
        values: Floats,
        name: str,
        level: float | None,
        style: Style,
    ) -> None:
        run, (begin, end) = frames.run, frames.span
        self._shots = frames
        self.artists: list[Artist] = []
        self._times, self._values = run.metrics.times, values
        dress(ax, style, "time $t$", "")
        ax.set_xlim(*((begin, end) if end > begin else (begin - 0.5, begin + 0.5)))
        inside = (self._times >= begin) & (self._times <= end)
        if not inside.any():
            placeholder(ax, style, timelines.NO_SAMPLES)
            return
        self._times, self._values = self._times[inside], values[inside]
        floor = timelines.log_axis(ax, [self._values, np.array([] if level is None else [level])])
        _few_ticks(ax)
        self._values = np.maximum(self._values, floor)
        self._times, self._values = extremes((self._times, self._values), end, style.columns)
        ax.plot(self._times, self._values, color=style.faint, lw=style.thin)
        if level is not None:
            ax.axhline(level, color=style.ink, lw=style.thin, ls=(0, (6, 2)))
            ax.text(
                0.99, level, rf"$\nu = {number(level)}$", transform=ax.get_yaxis_transform(),
                ha="right", va="bottom", fontsize=style.text_size,
            )  # fmt: skip
        (self._line,) = ax.plot([], [], color=style.limit, lw=style.bold)
        (self._head,) = ax.plot([], [], "o", color=style.limit, ms=3.5, clip_on=False)
        said: Any = {"transform": ax.transAxes, "fontsize": style.label_size, "va": "bottom"}
        ax.text(0.0, 1.02, name, **said)
        self._text = ax.text(1.0, 1.02, "", ha="right", **said)
        self.artists = [self._line, self._head, self._text]

    def show(self, k: int) -> None:
        """Bring the curve to frame k."""
        if not self.artists:
            return
        now = int(np.searchsorted(self._times, self._shots.times[k], side="right"))
        self._line.set_data(self._times[:now], self._values[:now])
        self._head.set_data(self._times[max(now - 1, 0) : now], self._values[max(now - 1, 0) : now])
        self._text.set_text(f"{self._values[now - 1]:.4g}" if now else "")


def _few_ticks(ax: Axes) -> None:
    """At least two numbers on a log axis, and few where it has powers of ten enough."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    low, high = ax.get_ylim()
    if math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 1:  # one power of ten, or none
        between = (1.0, 3.0) if high > TALL * low else (1.0, 2.0, 5.0)
        ax.yaxis.set_major_locator(LogLocator(subs=between))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"${number(value, 3)}$"))
        ax.yaxis.set_minor_formatter("")
    elif high > TALL * low:
        ax.yaxis.set_minor_formatter("")


def curves_beside(axes: tuple[Axes, Axes], frames: FilmFrames, style: Style) -> list[Part]:
    """Cost and largest error, growing as time goes on."""
    metrics = frames.run.metrics
    errors = metrics.errors.max(axis=1) if len(metrics.times) else np.empty(0)
    nu = frames.run.system.nu
    level = None if nu is None else float(nu)
    return [
        Growing(axes[0], frames, metrics.costs, r"$\mathcal{L}(x)$", None, style),
        Growing(axes[1], frames, errors, r"$\max_p \Vert e_p \Vert$", level, style),
    ]

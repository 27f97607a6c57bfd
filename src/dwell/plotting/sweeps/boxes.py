"""Boxes: how runs of each law, or of each word that was varied, spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats
from dwell.plotting.figures import panel_grid
from dwell.plotting.panels import HALF, quartile_box
from dwell.plotting.style import COLOURS, PLAIN, Style
from dwell.plotting.sweeps.axes import entitle, name_panel, upward_axis
from dwell.plotting.sweeps.quantities import Quantity
from dwell.plotting.sweeps.varied import Line, VariedKeys
from dwell.plotting.sweeps.words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DOTS = 200  # runs of a box up to which each has its dot


def boxes(
    varied: VariedKeys, shown: Sequence[Quantity], key: str | None, style: Style = PLAIN
) -> Figure:
    """Every quantity for each value of a key, a panel for each; one box of all runs without."""
    lines = varied.lines_of([key]) if key else varied.lines()[0]
    figure, axes = panel_grid(len(shown), 2.1, extra=0.75)
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, "", style)
        draw_boxes(ax, quantity, lines, style)
    what = f"By {short(key)}" if key else "All runs"
    left = [k for k in (*varied.words, *varied.numeric) if k != key]
    entitle(figure, varied, f"{what}: medians, quartiles, 5 to 95 %", left)
    return figure


def draw_boxes(ax: Axes, quantity: Quantity, lines: Sequence[Line], style: Style) -> None:
    """From quartile to quartile with the median, whiskers, and every run where they are few."""
    floor = upward_axis(ax, quantity, [_drawn(quantity, line) for line in lines], style)
    for k, line in enumerate(lines):
        values = quantity.values[line.runs]
        values = values[~np.isnan(values)]
        if not len(values):
            style.annotate(ax, _without(quantity, line), at=((k + 0.5) / len(lines), 0.5))
        elif quantity.share:
            _bar(ax, k, quantity.middle(line.runs), style)
        else:
            quartile_box(ax, k, np.maximum(values, floor), style, MOST_DOTS, whiskers=True)
    ax.set_xlim(-0.5, len(lines) - 0.5)
    ax.set_xticks(range(len(lines)), [_wrapped(line.label) for line in lines])
    if len(lines) > 3:
        ax.tick_params(axis="x", rotation=30)


def _without(quantity: Quantity, line: Line) -> str:
    """Why no run of a box has a value."""
    defined = quantity.reached is not None and not np.isnan(quantity.reached[line.runs]).all()
    return "never" if defined else "not defined"


def _drawn(quantity: Quantity, line: Line) -> Floats:
    """The values that the axis must hold."""
    values = quantity.values[line.runs]
    values = values[~np.isnan(values)]
    few = quantity.share or len(values) <= MOST_DOTS
    return values if few else np.quantile(values, (0.05, 0.95))


def _bar(ax: Axes, k: int, part: float, style: Style) -> None:
    """A share in per cent, with its number."""
    colour = COLOURS[k % len(COLOURS)]
    ax.fill_between([k - HALF, k + HALF], 0.0, part, color=colour, alpha=0.25, lw=0)
    ax.plot([k - HALF, k + HALF], [part, part], color=colour, lw=1.6)
    below = part > 50.0
    ax.annotate(
        f"{part:.3g} %", (k, part), xytext=(0, -3 if below else 3), textcoords="offset points",
        ha="center", va="top" if below else "bottom", fontsize=style.text_size,
    )  # fmt: skip


def _wrapped(words: str) -> str:
    """Long names in two lines, cut at a hyphen or a comma."""
    if len(words) < 11:
        return words or "all"
    return words.replace(", ", ",\n", 1) if ", " in words else words.replace("-", "-\n", 1)

"""Boxes: how runs of each law, or of each word that was varied, spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.style import COLOURS, PLAIN, Style, annotate
from dwell.plotting.sweeps.axes import entitle, name_panel, panels, upward_axis
from dwell.plotting.sweeps.design import Design, Line
from dwell.plotting.sweeps.quantities import Quantity
from dwell.plotting.sweeps.words import letter, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HALF = 0.32  # of the width of a box
MOST_DOTS = 200  # runs of a box up to which each has its dot
WHISKERS = (0.05, 0.95)


def boxes(
    design: Design, shown: Sequence[Quantity], key: str | None, style: Style = PLAIN
) -> Figure:
    """Every quantity for each value of a key, a panel for each; one box of all runs without."""
    lines = design.of_word(key) if key else design.lines()[0]
    figure, axes = panels(len(shown), height=2.1)
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, "", style)
        draw_boxes(ax, quantity, lines, style)
    left = [k for k in (*design.words, *design.numeric) if k != key]
    together = f"; all values of {', '.join(map(letter, left))} together" if left else ""
    what = f"By {short(key)}" if key else "All runs"
    says = f"{what}: medians, quartiles, 5 to 95 %{together}"
    entitle(figure, design.table, says, style)
    return figure


def draw_boxes(ax: Axes, quantity: Quantity, lines: Sequence[Line], style: Style) -> None:
    """From quartile to quartile with the median, whiskers, and every run where they are few."""
    floor = upward_axis(ax, quantity, [_drawn(quantity, line) for line in lines], style)
    for k, line in enumerate(lines):
        colour = COLOURS[k % len(COLOURS)]
        if quantity.share:
            _bar(ax, k, quantity.middle(line.runs), colour, style)
        else:
            values = quantity.values[line.runs]
            _box(ax, k, np.maximum(values[~np.isnan(values)], floor), colour, style)
            if np.isnan(values).all():
                annotate(ax, style, _without(quantity, line), at=((k + 0.5) / len(lines), 0.5))
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
    if quantity.share or not len(values) or len(values) <= MOST_DOTS:
        return values
    found: Floats = np.quantile(values, WHISKERS)
    return found


def _box(ax: Axes, k: int, values: Floats, colour: str, style: Style) -> None:
    if not len(values):
        return
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    if len(values) <= MOST_DOTS:
        ax.plot(k + _strewn(len(values)), values, "o", ms=1.8, color=colour, mew=0, alpha=0.5)
    if len(values) > 4:
        ends: Any = np.quantile(values, WHISKERS)
        ax.vlines([k, k], [ends[0], high], [low, ends[1]], color=colour, lw=style.line)
    ax.fill_between([k - HALF, k + HALF], low, high, color=colour, alpha=0.25, lw=0)
    ax.plot([k - HALF, k + HALF], [middle, middle], color=colour, lw=1.6, zorder=4)


def _bar(ax: Axes, k: int, part: float, colour: str, style: Style) -> None:
    if np.isnan(part):
        return
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


def _strewn(count: int) -> Floats:
    """Small sideways shifts, so that dots at one height do not overlap; deterministic."""
    shifts: Floats = 0.24 * (2.0 * ((np.arange(float(count)) * 0.6180339887498949) % 1.0) - 1.0)
    return shifts

"""Trade-off curves: medians over one number that was varied, with bands from quartile to quartile.

Where values were drawn rather than chosen, dots and the medians of neighbouring runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.figures import panel_grid
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Style
from dwell.plotting.sweeps.axes import (
    across_axis,
    entitle,
    explain,
    line_style,
    name_panel,
    upward_axis,
)
from dwell.plotting.sweeps.quantities import Quantity, groups
from dwell.plotting.sweeps.varied import Line, VariedKeys
from dwell.plotting.sweeps.words import label, letter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 8  # neighbouring runs together, where values were drawn
MOST_DOTS = 2_000  # of one line


def curves(varied: VariedKeys, shown: Sequence[Quantity], key: str, style: Style = PLAIN) -> Figure:
    """Every quantity over one key, a panel for each."""
    lines, left = varied.lines(key)
    figure, axes = panel_grid(len(shown), 1.95, extra=0.75)
    x = varied.table.numbers(key)
    scattered = varied.scattered(key)
    draw = draw_dots if scattered else draw_curves
    others = ", ".join(map(letter, varied.tied.get(key, ())))
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, label(key) + (f"; with it {others}" if others else ""), style)
        across_axis(ax, x[~np.isnan(x)])
        _draw_marks(ax, varied.table.marks.get(key, ()), style)
        draw(ax, quantity, x, lines, style=style, key=key)
        if quantity.limit is not None:
            ax.axhline(
                quantity.limit, color=style.ink, lw=style.line, ls=(0, (6, 2)),
                label=quantity.limit_label, zorder=2.5,
            )  # fmt: skip
    what = "medians, and quartiles as bands"
    if scattered:
        what = f"{int((~np.isnan(x)).sum()):,} runs, and medians of neighbouring ones"
    entitle(figure, varied, f"Over {letter(key)}: {what}", left)
    explain(figure, axes, style)
    return figure


def draw_curves(
    ax: Axes, quantity: Quantity, x: Floats, lines: Sequence[Line], *, style: Style, key: str
) -> None:
    """Median and quartiles of each line's runs at each value of x."""
    spreads = [spread_over(quantity, x, line) for line in lines]
    flat = [np.array([quantity.spread(line.runs & np.isnan(x))]) for line in lines]
    marks = [] if quantity.limit is None else [np.array([quantity.limit])]
    floor = upward_axis(ax, quantity, [*(s for _, s in spreads), *flat, *marks], style)
    for k, (line, (values, spread)) in enumerate(zip(lines, spreads, strict=True)):
        low, middle, high = np.maximum(spread, floor).T
        there = ~np.isnan(middle)
        if there.any():
            _band(ax, values[there], low[there], high[there], k)
            ax.plot(
                values[there], middle[there], lw=style.bold, ms=3.0, mew=0, **line_style(k),
                label=line.label or "median", zorder=3 + 0.01 * k,
            )  # fmt: skip
        if not np.isnan(flat[k]).any():
            _level(ax, flat[k][0], k, f"{line.label} (has no {letter(key)})", style)


def spread_over(quantity: Quantity, x: Floats, line: Line) -> tuple[Floats, Floats]:
    """The values of x of a line's runs, and the three quartiles at each, (n, 3)."""
    values, parts = groups(line.runs, x)
    return values[:, 0], np.array([quantity.spread(part) for part in parts]).reshape(-1, 3)


def _draw_marks(ax: Axes, marks: Sequence[tuple[float, str]], style: Style) -> None:
    """Values of the key that mean something, where the axis reaches them."""
    low, high = ax.get_xlim()
    for k, (value, words) in enumerate(marks):
        if low <= value <= high:
            dashes = DASHES[1 + k % (len(DASHES) - 1)]
            ax.axvline(value, color=style.cell, lw=style.line, ls=dashes, label=words, zorder=2.0)


def _band(ax: Axes, x: Floats, low: Floats, high: Floats, k: int) -> None:
    if not (high > low).any():
        return
    if len(x) > 1:
        ax.fill_between(x, low, high, color=COLOURS[k % len(COLOURS)], alpha=0.18, lw=0)
    else:
        ax.vlines(x, low, high, color=COLOURS[k % len(COLOURS)], alpha=0.5, lw=1.5)


def _level(ax: Axes, spread: Floats, k: int, words: str, style: Style) -> None:
    """Runs of a law that does not have the key: the same all along the axis."""
    low, middle, high = spread
    own: Any = {**line_style(k), "marker": ""}
    ax.axhspan(low, high, color=own["color"], alpha=0.1, lw=0)
    ax.axhline(middle, lw=style.bold, label=words, **own)


def draw_dots(
    ax: Axes, quantity: Quantity, x: Floats, lines: Sequence[Line], *, style: Style, key: str
) -> None:
    """Every run as a dot, unless it is a share, and the median of each eighth of a line's runs."""
    marks = np.array([] if quantity.limit is None else [quantity.limit])
    floor = upward_axis(ax, quantity, [quantity.values[~np.isnan(x)], marks], style)
    for k, line in enumerate(lines):
        runs = np.flatnonzero(line.runs & ~np.isnan(x) & ~np.isnan(quantity.values))
        own: Any = line_style(k)
        if not quantity.share:
            few = runs[:: max(1, len(runs) // MOST_DOTS)]
            dots = np.maximum(quantity.values[few], floor)
            ax.plot(x[few], dots, **{**own, "ls": "none"}, ms=2.0, mew=0, alpha=0.45)
            own["marker"] = ""
        parts = in_bins(x, runs)
        middles = np.maximum([quantity.middle(part) for part in parts], floor)
        ax.plot(
            [np.median(x[part]) for part in parts], middles, lw=1.6, ms=3.0, mew=0, zorder=4,
            label=line.label or "median of each eighth", **own,
        )  # fmt: skip


def in_bins(x: Floats, runs: Any) -> list[Any]:
    """Runs in order of x, in at most eight parts as equal as can be."""
    ordered = runs[np.argsort(x[runs], kind="stable")]
    parts = min(BINS, max(1, len(ordered) // 3))
    return [part for part in np.array_split(ordered, parts) if len(part)]

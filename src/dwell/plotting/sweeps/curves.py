"""Trade-off curves: medians over one number that was varied, with bands from quartile to quartile.

Where values were drawn rather than chosen, dots and the medians of neighbouring runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Style
from dwell.plotting.sweeps.axes import (
    across_axis,
    entitle,
    explain,
    line_style,
    name_panel,
    panels,
    upward_axis,
)
from dwell.plotting.sweeps.design import Design, Line
from dwell.plotting.sweeps.quantities import Quantity
from dwell.plotting.sweeps.table import groups
from dwell.plotting.sweeps.words import label, letter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 8  # neighbouring runs together, where values were drawn
MOST_DOTS = 2_000  # of one line


def curves(design: Design, shown: Sequence[Quantity], key: str, style: Style = PLAIN) -> Figure:
    """Every quantity over one key, a panel for each."""
    lines, left = design.lines(key)
    figure, axes = panels(len(shown))
    x = design.numbers(key)
    scattered = design.scattered(key)
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, _x_label(design, key), style)
        across_axis(ax, x[~np.isnan(x)])
        _draw_marks(ax, design.table.marks.get(key, ()), style)
        draw = draw_dots if scattered else draw_curves
        draw(ax, quantity, x, lines, style=style, key=key)
    entitle(figure, design.table, _title(design, key, left, scattered), style)
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
    _draw_limit(ax, quantity, style)


def spread_over(quantity: Quantity, x: Floats, line: Line) -> tuple[Floats, Floats]:
    """The values of x of a line's runs, and the three quartiles at each, (n, 3)."""
    values, parts = groups(line.runs, x)
    return values[:, 0], np.array([quantity.spread(part) for part in parts]).reshape(-1, 3)


def _draw_limit(ax: Axes, quantity: Quantity, style: Style) -> None:
    if quantity.limit is not None:
        ax.axhline(
            quantity.limit, color=style.ink, lw=style.line, ls=(0, (6, 2)),
            label=quantity.limit_label, zorder=2.5,
        )  # fmt: skip


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
    """Every run as a dot, and the median of each eighth of a line's runs."""
    if quantity.share:
        draw_shares(ax, quantity, x, lines, style)
        return
    marks = np.array([] if quantity.limit is None else [quantity.limit])
    floor = upward_axis(ax, quantity, [quantity.values[~np.isnan(x)], marks], style)
    _draw_limit(ax, quantity, style)
    values = np.maximum(quantity.values, floor)
    for k, line in enumerate(lines):
        runs = np.flatnonzero(line.runs & ~np.isnan(x) & ~np.isnan(values))
        own: Any = line_style(k)
        few = runs[:: max(1, len(runs) // MOST_DOTS)]
        ax.plot(
            x[few], values[few], ls="none", marker=own["marker"], color=own["color"], ms=2.0,
            mew=0, alpha=0.45,
        )  # fmt: skip
        middles = [(np.median(x[some]), np.median(values[some])) for some in in_bins(x, runs)]
        ax.plot(
            *np.array(middles).reshape(-1, 2).T, lw=1.6, color=own["color"], ls=own["ls"],
            label=line.label or "median of each eighth", zorder=4,
        )  # fmt: skip


def draw_shares(
    ax: Axes, quantity: Quantity, x: Floats, lines: Sequence[Line], style: Style
) -> None:
    """The share of runs in each eighth of a line's runs."""
    upward_axis(ax, quantity, [], style)
    for k, line in enumerate(lines):
        runs = np.flatnonzero(line.runs & ~np.isnan(x) & ~np.isnan(quantity.values))
        own: Any = line_style(k)
        shares = [
            (np.median(x[some]), 100.0 * quantity.values[some].mean()) for some in in_bins(x, runs)
        ]
        ax.plot(*np.array(shares).reshape(-1, 2).T, lw=1.6, ms=3.0, mew=0, **own)


def in_bins(x: Floats, runs: Any) -> list[Any]:
    """Runs in order of x, in at most eight parts as equal as can be."""
    ordered = runs[np.argsort(x[runs], kind="stable")]
    parts = min(BINS, max(1, len(ordered) // 3))
    return [part for part in np.array_split(ordered, parts) if len(part)]


def _x_label(design: Design, key: str) -> str:
    others = ", ".join(letter(other) for other in design.tied.get(key, ()))
    return label(key) + (f"; with it {others}" if others else "")


def _title(design: Design, key: str, left: Sequence[str], scattered: bool) -> str:
    x = design.numbers(key)
    runs = int((~np.isnan(x)).sum())
    if scattered:
        says = f"{runs:,} runs, and medians of neighbouring ones"
    else:
        says = "medians, and quartiles as bands"
    together = f"; all values of {', '.join(map(letter, left))} together" if left else ""
    return f"Over {letter(key)}: {says}{together}"

"""Panels of a sweep's figures: curves over a number that was varied, and boxes by a word.

A curve is the median, with a band from quartile to quartile, or over all runs where these are
fewer than four. Where values were drawn rather than
chosen, dots and the medians of neighbouring runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.figures import TWO_COLUMNS, panel_grid
from dwell.plotting.panels import FEWEST, HALF, quartile_box
from dwell.plotting.style import (
    DASHES,
    PLAIN,
    Axes,
    Figure,
    label,
    letter,
    plain_log_ticks,
    round_ticks,
    short,
)
from dwell.plotting.sweeps.quantities import Quantity, coverage_unseen, groups
from dwell.plotting.sweeps.varied import Line, VariedKeys
from dwell.plotting.timelines import log_axis

DECADES = 30.0  # largest over smallest from which an axis is logarithmic
RATIO = 10.0  # the same for values that were chosen, if they grow by factors
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BINS = 8  # neighbouring runs together, where values were drawn
MANY_DOTS = 2_000  # of one line
MOST_DOTS = 200  # runs of a box up to which each has its dot


def curves(varied: VariedKeys, shown: Sequence[Quantity], key: str) -> Figure:
    """Every quantity over one key, a panel for each."""
    lines, left = varied.lines(key)
    figure, axes = panel_grid(len(shown), 1.95, extra=0.75)
    x, marks = varied.table.numbers(key), varied.table.marks.get(key, ())
    scattered, units = varied.scattered(key), varied.table.units
    draw = _draw_dots if scattered else _draw_curves
    others = ", ".join(map(letter, varied.tied.get(key, ())))
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, label(key, units) + (f"; with it {others}" if others else ""))
        across_axis(ax, x[~np.isnan(x)])
        low, high = ax.get_xlim()
        for k, (value, words) in enumerate(marks):  # where the axis reaches them
            if low <= value <= high:
                own: Any = {"color": PLAIN.cell, "ls": DASHES[1 + k % 3], "label": words}
                ax.axvline(value, lw=PLAIN.line, zorder=2.0, **own)
        draw(ax, quantity, x, lines, key)
        if np.isfinite(quantity.limit):
            own = {"color": PLAIN.ink, "ls": (0, (6, 2)), "label": quantity.limit_label}
            ax.axhline(quantity.limit, lw=PLAIN.line, zorder=2.5, **own)
    parts = [part for line in lines for part in groups(line.runs, x)[1]]
    few = max(map(len, parts), default=0) < FEWEST
    what = (
        "medians, and the range of the runs as bands" if few else "medians, and quartiles as bands"
    )
    if scattered:
        what = f"{int((~np.isnan(x)).sum()):,} runs, and medians of neighbouring ones"
    entitle(figure, varied, f"Over {letter(key)}: {what}", left)
    longest = max(len(word) for ax in axes for word in ax.get_legend_handles_labels()[1])
    columns = 4 if longest < 24 else 3 if longest < 34 else 2
    PLAIN.explain_all(figure, axes, columns if figure.get_figwidth() >= TWO_COLUMNS else 2)
    return figure


def _draw_curves(ax: Axes, quantity: Quantity, x: Floats, lines: Sequence[Line], key: str) -> None:
    """Median and quartiles, or range, of each line's runs at each value of x."""
    grouped = [groups(line.runs, x) for line in lines]
    spreads = [np.reshape([quantity.spread(p) for p in parts], (-1, 3)) for _, parts in grouped]
    flat = [np.array(quantity.spread(line.runs & np.isnan(x))) for line in lines]
    floor = upward_axis(ax, quantity, [*spreads, *flat, quantity.limit])
    for k, (line, (values, _)) in enumerate(zip(lines, grouped, strict=True)):
        there = ~np.isnan(spreads[k][:, 1])
        at, (low, middle, high) = values[there, 0], np.maximum(spreads[k][there], floor).T
        if len(at) > 1 and (high > low).any():
            ax.fill_between(at, low, high, color=PLAIN.colour(k), alpha=0.18, lw=0)
        elif (high > low).any():
            ax.vlines(at, low, high, color=PLAIN.colour(k), alpha=0.5, lw=1.5)
        if there.any():
            ax.plot(
                at, middle, lw=PLAIN.bold, ms=3.0, mew=0, **_line_style(k),
                label=line.label or "median", zorder=3 + 0.01 * k,
            )  # fmt: skip
        if not np.isnan(flat[k]).any():  # a law that does not have the key: the same all along
            low, middle, high = flat[k]
            own: Any = {**_line_style(k), "marker": ""}
            ax.axhspan(low, high, color=own["color"], alpha=0.1, lw=0)
            ax.axhline(middle, lw=PLAIN.bold, label=f"{line.label} (has no {letter(key)})", **own)


def _draw_dots(ax: Axes, quantity: Quantity, x: Floats, lines: Sequence[Line], key: str) -> None:
    """Every run as a dot, unless it is a share, and the median of each eighth of a line's runs."""
    floor = upward_axis(ax, quantity, [quantity.values[~np.isnan(x)], quantity.limit])
    for k, line in enumerate(lines):
        runs = np.flatnonzero(line.runs & ~np.isnan(x) & ~np.isnan(quantity.values))
        own: Any = _line_style(k)
        if not quantity.share:
            few = runs[:: max(1, len(runs) // MANY_DOTS)]
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


def boxes(varied: VariedKeys, shown: Sequence[Quantity], key: str | None) -> Figure:
    """Every quantity for each value of a key, a panel for each; one box of all runs without."""
    lines = varied.lines_of([key]) if key else varied.lines()[0]
    figure, axes = panel_grid(len(shown), 2.1, extra=0.75)
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, "")
        _draw_boxes(ax, quantity, lines)
    what = f"By {short(key)}" if key else "All runs"
    left = [k for k in (*varied.words, *varied.numeric) if k != key]
    entitle(figure, varied, f"{what}: medians, quartiles, 5 to 95 %", left)
    return figure


def _draw_boxes(ax: Axes, quantity: Quantity, lines: Sequence[Line]) -> None:
    """From quartile to quartile with the median, whiskers, and every run where they are few."""
    known = [quantity.known(line.runs) for line in lines]
    many = [len(v) > MOST_DOTS and not quantity.share for v in known]
    ends = [np.quantile(v, (0.05, 0.95)) if m else v for v, m in zip(known, many, strict=True)]
    floor = upward_axis(ax, quantity, ends)
    for k, (line, values) in enumerate(zip(lines, known, strict=True)):
        if not len(values):
            reached = quantity.reached
            defined = reached is not None and not np.isnan(reached[line.runs]).all()
            why = "never" if defined else "not defined"
            PLAIN.annotate(ax, why, at=((k + 0.5) / len(lines), 0.5))
        elif quantity.share:
            _bar(ax, k, quantity.middle(line.runs))
        else:
            quartile_box(ax, k, np.maximum(values, floor), MOST_DOTS, whiskers=True)
    ax.set_xlim(-0.5, len(lines) - 0.5)
    ax.set_xticks(range(len(lines)), [_wrapped(line.label) for line in lines])
    if len(lines) > 3:
        ax.tick_params(axis="x", rotation=30)


def _bar(ax: Axes, k: int, part: float) -> None:
    """A share in per cent, with its number."""
    ax.fill_between([k - HALF, k + HALF], 0.0, part, color=PLAIN.colour(k), alpha=0.25, lw=0)
    ax.plot([k - HALF, k + HALF], [part, part], color=PLAIN.colour(k), lw=1.6)
    below = part > 50.0
    ax.annotate(
        f"{part:.3g} %", (k, part), xytext=(0, -3 if below else 3), textcoords="offset points",
        ha="center", va="top" if below else "bottom", fontsize=PLAIN.text_size,
    )  # fmt: skip


def _wrapped(words: str) -> str:
    """Long names in two lines, cut at a hyphen or a comma."""
    if len(words) < 11:
        return words or "all"
    return words.replace(", ", ",\n", 1) if ", " in words else words.replace("-", "-\n", 1)


# Axes.


def spans_decades(values: Floats) -> bool:
    """Whether numbers are better shown on a log axis: none is negative, and they differ much."""
    there = values[np.isfinite(values) & (values != 0.0)]
    return bool(len(there) and there.min() > 0.0 and there.max() >= DECADES * there.min())


def in_ratios(values: Floats) -> bool:
    """Whether numbers lie more evenly on a log axis, and far enough apart to need one."""
    there = np.unique(values[np.isfinite(values)])
    if len(there) < 2 or there[0] <= 0.0 or there[-1] < RATIO * there[0]:
        return False
    steps, ratios = np.diff(there), np.diff(np.log(there))
    return bool(ratios.std() / ratios.mean() <= steps.std() / steps.mean())


def across_axis(ax: Axes, values: Floats) -> None:
    """The scale and the ticks of the horizontal axis, with margins at both ends."""
    low, high = float(values.min()), float(values.max())
    if in_ratios(values):
        margin = math.pow(high / low, 0.04)
        ax.set_xscale("log")
        ax.set_xlim(low / margin, high * margin)
        plain_log_ticks(ax.xaxis, (1.0, 3.0) if high < 100.0 * low else (1.0,), 6)
    else:
        margin = 0.04 * (high - low) or 0.5
        ax.set_xlim(low - margin, high + margin)
        round_ticks(ax.xaxis, 5)


def upward_axis(ax: Axes, quantity: Quantity, drawn: Sequence[Floats | float]) -> float:
    """The scale of the vertical axis; gives the least value that can be drawn on it."""
    if quantity.share:
        ax.set_ylim(-4.0, 104.0)
        return -np.inf
    values = np.concatenate([np.ravel(part) for part in drawn])
    values = values[np.isfinite(values)]
    if not spans_decades(values):
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        margin = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
        ax.set_ylim(low - margin, high + margin)
        return -np.inf
    floor = log_axis(ax, [values])
    ax.yaxis.set_minor_formatter("")
    if (values <= 0.0).any():
        PLAIN.annotate(ax, "0 is drawn at the lower edge", at=(0.5, 0.06))
    return floor


def name_panel(ax: Axes, quantity: Quantity, x_label: str) -> None:
    """The words of a panel."""
    PLAIN.dress(ax, x_label, quantity.unit)
    PLAIN.entitle(ax, quantity.title)


def _line_style(k: int) -> dict[str, Any]:
    """Colour, dashes and marker of line k: three ways to tell it from the others."""
    marker = MARKERS[k % len(MARKERS)]
    return {"color": PLAIN.colour(k), "ls": DASHES[k % len(DASHES)], "marker": marker}


def entitle(figure: Figure, varied: VariedKeys, title: str, left: Sequence[str] = ()) -> None:
    """A title above all panels, with the keys whose values are mixed, and what is not shown."""
    if left:
        title += f"; all values of {', '.join(map(letter, left))} together"
    if coverage_unseen(varied.table):
        title += "\nno times of coverage: runs took no samples (run.record.sample_every)"
    figure.suptitle(title, fontsize=PLAIN.label_size)

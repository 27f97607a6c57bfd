"""Axes of a sweep's panels: their scales, words and legends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.figures import TWO_COLUMNS
from dwell.plotting.style import COLOURS, DASHES, PLAIN, Style, plain_log_ticks, round_ticks
from dwell.plotting.sweeps.quantities import Quantity, coverage_unseen
from dwell.plotting.sweeps.varied import VariedKeys
from dwell.plotting.sweeps.words import letter
from dwell.plotting.timelines import log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES = 30.0  # largest over smallest from which an axis is logarithmic
RATIO = 10.0  # the same for values that were chosen, if they grow by factors
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def spans_decades(values: Floats) -> bool:
    """Whether numbers are better shown on a log axis."""
    there = values[np.isfinite(values)]
    if not len(there) or there.min() < 0.0 or not (there > 0.0).any():
        return False
    positive = there[there > 0.0]
    return bool(positive.max() >= DECADES * positive.min())


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


def upward_axis(ax: Axes, quantity: Quantity, drawn: Sequence[Floats], style: Style) -> float:
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
        style.annotate(ax, "0 is drawn at the lower edge", at=(0.5, 0.06))
    return floor


def name_panel(ax: Axes, quantity: Quantity, x_label: str, style: Style) -> None:
    """The words of a panel."""
    style.dress(ax, x_label, quantity.unit)
    style.entitle(ax, quantity.title)


def line_style(k: int) -> dict[str, Any]:
    """Colour, dashes and marker of line k: three ways to tell it from the others."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "ls": DASHES[k % len(DASHES)],
        "marker": MARKERS[k % len(MARKERS)],
    }


def entitle(figure: Figure, varied: VariedKeys, title: str, left: Sequence[str] = ()) -> None:
    """A title above all panels, with the keys whose values are mixed, and what is not shown."""
    if left:
        title += f"; all values of {', '.join(map(letter, left))} together"
    if coverage_unseen(varied.table):
        title += "\nno times of coverage: runs took no samples (run.record.sample_every)"
    figure.suptitle(title, fontsize=PLAIN.label_size)


def explain(figure: Figure, axes: Sequence[Axes], style: Style) -> None:
    """One legend for all panels, below them, in as many columns as fit."""
    longest = max(
        (len(word) for ax in axes for word in ax.get_legend_handles_labels()[1]), default=0
    )
    columns = 4 if longest < 24 else 3 if longest < 34 else 2
    style.explain_all(figure, axes, columns if figure.get_figwidth() >= TWO_COLUMNS else 2)

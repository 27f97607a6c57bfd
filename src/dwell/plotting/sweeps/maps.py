"""Maps of medians over two numbers that were varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.figures import panel_grid
from dwell.plotting.style import PLAIN, Axes, Figure, label, letter, number
from dwell.plotting.sweeps.panels import across_axis, entitle, in_ratios, name_panel, spans_decades
from dwell.plotting.sweeps.quantities import Quantity, groups
from dwell.plotting.sweeps.varied import Line, VariedKeys

WRITTEN = 5  # values in a row up to which a cell's median is written into it
TICKS = 8  # values in a row up to which each has its number


def maps(
    varied: VariedKeys,
    shown: Sequence[Quantity],
    keys: tuple[str, str],
    part: Line,
) -> Figure:
    """Every quantity over a pair of keys, a panel for each; of some runs."""
    figure, axes = panel_grid(len(shown), 2.05, extra=0.75)
    scattered = any(varied.scattered(key) for key in keys)
    points, groups_of_runs = groups(part.runs, *(varied.table.numbers(key) for key in keys))
    empty = False
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, label(keys[0], varied.table.units))
        ax.set_ylabel(label(keys[1], varied.table.units), fontsize=PLAIN.label_size)
        middles = np.array([quantity.middle(runs) for runs in groups_of_runs])
        empty |= bool(np.isnan(middles).any())
        image = (_draw_dots if scattered else _draw_cells)(ax, quantity, points, middles)
        small = replace(PLAIN, text_size=PLAIN.text_size - 1.0, label_size=PLAIN.text_size)
        small.colour_bar(image, [ax], quantity.unit, aspect=18)
    what = "the median of each point's runs" if scattered else "medians"
    sign = "crosses" if scattered else "hatched"
    hatched = f"; {sign} where no run has a value" if empty else ""
    about = f" ({part.label})" if part.label else ""
    entitle(figure, varied, f"{letter(keys[0])} and {letter(keys[1])}{about}: {what}{hatched}")
    return figure


def _draw_cells(ax: Axes, quantity: Quantity, points: Floats, middles: Floats) -> Any:
    """One cell for each pair of values, coloured by its median; hatched where there is none."""
    from matplotlib.patches import Rectangle

    across, columns = np.unique(points[:, 0], return_inverse=True)
    upward, rows = np.unique(points[:, 1], return_inverse=True)
    table = np.full((len(upward), len(across)), np.nan)
    table[rows, columns] = middles
    image = ax.pcolormesh(
        np.arange(len(across) + 1) - 0.5, np.arange(len(upward) + 1) - 0.5,
        np.ma.masked_invalid(table), cmap=PLAIN.density_map, norm=_norm(quantity, middles),
        rasterized=True,
    )  # fmt: skip
    _ticks(ax.xaxis, across)
    _ticks(ax.yaxis, upward)
    for column, row in zip(columns[np.isnan(middles)], rows[np.isnan(middles)], strict=True):
        corner = (column - 0.5, row - 0.5)
        hatched: Any = {"fill": False, "hatch": "////", "ec": PLAIN.faint, "lw": 0}
        ax.add_patch(Rectangle(corner, 1.0, 1.0, **hatched))
    if max(table.shape) <= WRITTEN:
        _write(ax, image, table)
    return image


def _draw_dots(ax: Axes, quantity: Quantity, points: Floats, middles: Floats) -> Any:
    """A dot for each point, coloured by the median of its runs; a cross if none has a value."""
    across_axis(ax, points[:, 0])
    if in_ratios(points[:, 1]):
        ax.set_yscale("log")
    there = ~np.isnan(middles)
    ax.plot(*points[~there].T, "x", ms=3.0, mew=0.6, color=PLAIN.cell)
    return ax.scatter(
        points[there, 0], points[there, 1], c=middles[there], s=9.0, cmap=PLAIN.density_map, lw=0,
        norm=_norm(quantity, middles),
    )  # fmt: skip


def _norm(quantity: Quantity, middles: Floats) -> Any:
    from matplotlib.colors import LogNorm, Normalize

    there = middles[np.isfinite(middles)]
    if quantity.share or not len(there):
        return Normalize(0.0, 100.0)
    if spans_decades(there) and there.min() > 0.0:
        return LogNorm(float(there.min()), float(there.max()))
    low, high = float(there.min()), float(there.max())
    return Normalize(low, high if high > low else low + (abs(low) or 1.0))


def _ticks(axis: Any, values: Floats) -> None:
    """The values themselves, so few that they do not meet."""
    step = -(-len(values) // TICKS)
    places = range(0, len(values), step)
    axis.set_ticks(list(places), [f"${number(values[k], 3)}$" for k in places])


def _write(ax: Axes, image: Any, middles: Floats) -> None:
    """The medians in their cells, in ink that can be read there."""
    for (row, column), value in np.ndenumerate(middles):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            pale = 0.3 * red + 0.59 * green + 0.11 * blue > 0.55
            ax.text(
                column, row, _compact(value), ha="center", va="center",
                fontsize=PLAIN.text_size - 2.0, color=PLAIN.ink if pale else "white",
            )  # fmt: skip


def _compact(value: float) -> str:
    """A number in few characters: 469, 0.012, 6.5e-4."""
    if value == 0.0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.2g}"
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(power)}"

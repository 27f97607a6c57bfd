"""Maps of medians over two numbers that were varied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.plotting.style import PLAIN, Style, number
from dwell.plotting.sweeps.axes import (
    across_axis,
    entitle,
    in_ratios,
    name_panel,
    panels,
    spans_decades,
)
from dwell.plotting.sweeps.design import Design
from dwell.plotting.sweeps.quantities import Quantity
from dwell.plotting.sweeps.table import Mask, groups
from dwell.plotting.sweeps.words import label, letter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRITTEN = 5  # values in a row up to which a cell's median is written into it
TICKS = 8  # values in a row up to which each has its number


def maps(
    design: Design,
    shown: Sequence[Quantity],
    keys: tuple[str, str],
    runs: Mask,
    whose: str,
    style: Style = PLAIN,
) -> Figure:
    """Every quantity over a pair of keys, a panel for each; of some runs, which `whose` names."""
    figure, axes = panels(len(shown), height=2.05)
    scattered = any(design.scattered(key) for key in keys)
    empty = False
    for ax, quantity in zip(axes, shown, strict=True):
        name_panel(ax, quantity, label(keys[0]), style)
        ax.set_ylabel(label(keys[1]), fontsize=style.label_size)
        if scattered:
            empty |= _draw_scattered(ax, quantity, design, keys, runs, style)
        else:
            empty |= draw_map(ax, quantity, design, keys, runs, style)
    says = "the median of each point's runs" if scattered else "medians"
    sign = "crosses" if scattered else "hatched"
    hatched = f"; {sign} where no run has a value" if empty else ""
    about = f" ({whose})" if whose else ""
    title = f"{letter(keys[0])} and {letter(keys[1])}{about}: {says}{hatched}"
    entitle(figure, design.table, title, style)
    return figure


def draw_map(
    ax: Axes,
    quantity: Quantity,
    design: Design,
    keys: tuple[str, str],
    runs: Mask,
    style: Style = PLAIN,
) -> bool:
    """One cell for each pair of values; gives whether runs without a value are shown."""
    across, upward, middles, counts = medians(quantity, design, keys, runs)
    image = ax.pcolormesh(
        np.arange(len(across) + 1) - 0.5, np.arange(len(upward) + 1) - 0.5,
        np.ma.masked_invalid(middles), cmap=style.density_map,
        norm=_norm(quantity, middles), rasterized=True,
    )  # fmt: skip
    _ticks(ax.xaxis, across)
    _ticks(ax.yaxis, upward)
    without = (counts > 0) & np.isnan(middles)
    for row, column in np.argwhere(without):
        _hatch(ax, column, row, style)
    if max(middles.shape) <= WRITTEN:
        _write(ax, image, middles, style)
    _bar(ax, image, quantity, style)
    return bool(without.any())


def medians(
    quantity: Quantity, design: Design, keys: tuple[str, str], runs: Mask
) -> tuple[Floats, Floats, Floats, Any]:
    """Values of both keys; the median of each pair, rows by the second key; how many runs."""
    pairs, parts = groups(runs, *(design.numbers(key) for key in keys))
    across, columns = np.unique(pairs[:, 0], return_inverse=True)
    upward, rows = np.unique(pairs[:, 1], return_inverse=True)
    middles = np.full((len(upward), len(across)), np.nan)
    counts = np.zeros(middles.shape, dtype=np.int64)
    middles[rows, columns] = [quantity.middle(part) for part in parts]
    counts[rows, columns] = [len(part) for part in parts]
    return across, upward, middles, counts


def _draw_scattered(
    ax: Axes,
    quantity: Quantity,
    design: Design,
    keys: tuple[str, str],
    runs: Mask,
    style: Style,
) -> bool:
    """A dot for each point, coloured by the median of its runs; a cross if none has a value."""
    points, parts = groups(runs, *(design.numbers(key) for key in keys))
    middles = np.array([quantity.middle(part) for part in parts])
    across_axis(ax, points[:, 0])
    if in_ratios(points[:, 1]):
        ax.set_yscale("log")
    there = ~np.isnan(middles)
    ax.plot(*points[~there].T, "x", ms=3.0, mew=0.6, color=style.cell)
    image = ax.scatter(
        points[there, 0], points[there, 1], c=middles[there], s=9.0, cmap=style.density_map, lw=0,
        norm=_norm(quantity, middles),
    )  # fmt: skip
    _bar(ax, image, quantity, style)
    return not there.all()


def _norm(quantity: Quantity, middles: Floats) -> Any:
    from matplotlib.colors import LogNorm, Normalize

    there = middles[np.isfinite(middles)]
    if quantity.share:
        return Normalize(0.0, 100.0)
    if not len(there):
        return Normalize(0.0, 1.0)
    if spans_decades(there) and there.min() > 0.0:
        return LogNorm(float(there.min()), float(there.max()))
    low, high = float(there.min()), float(there.max())
    return Normalize(low, high if high > low else low + (abs(low) or 1.0))


def _ticks(axis: Any, values: Floats) -> None:
    """The values themselves, so few that they do not meet."""
    step = -(-len(values) // TICKS)
    places = range(0, len(values), step)
    axis.set_ticks(list(places), [f"${number(values[k], 3)}$" for k in places])


def _hatch(ax: Axes, column: int, row: int, style: Style) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(
        Rectangle(
            (column - 0.5, row - 0.5), 1.0, 1.0, fill=False, hatch="////", ec=style.faint, lw=0
        )
    )


def _write(ax: Axes, image: Any, middles: Floats, style: Style) -> None:
    """The medians in their cells, in ink that can be read there."""
    for (row, column), value in np.ndenumerate(middles):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            pale = 0.3 * red + 0.59 * green + 0.11 * blue > 0.55
            ax.text(
                column, row, _compact(value), ha="center", va="center",
                fontsize=style.text_size - 2.0, color=style.ink if pale else "white",
            )  # fmt: skip


def _compact(value: float) -> str:
    """A number in few characters: 469, 0.012, 6.5e-4."""
    if value == 0.0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.2g}"
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(power)}"


def _bar(ax: Axes, image: Any, quantity: Quantity, style: Style) -> None:
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=18)
    bar.ax.tick_params(which="both", labelsize=style.text_size - 1.0, width=style.frame, pad=1.5)
    bar.ax.yaxis.get_offset_text().set_fontsize(style.text_size - 1.0)
    bar.set_label(quantity.unit, fontsize=style.text_size, labelpad=2.0)
    bar.outline.set_linewidth(style.frame)

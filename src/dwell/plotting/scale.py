"""Marks of a map: axes in metres east and north, and a bar that shows the scale."""

from __future__ import annotations

import math
from typing import Any

from dwell._units import Units
from dwell.plotting.style import PLAIN, Axes, Style

SHARE = 0.3  # of the width: the longest bar
ROUND = (1.0, 2.0, 5.0)


def mark_scale(ax: Axes, units: Units, style: Style = PLAIN) -> None:
    """Name the axes east and north, in metres, and add a scale bar, if there are units."""
    if not units.length:
        return
    from matplotlib.font_manager import FontProperties
    from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

    for axis in (ax.xaxis, ax.yaxis):
        formatter: Any = axis.get_major_formatter()
        if hasattr(formatter, "set_scientific"):  # coordinates in full, as on a map
            formatter.set_scientific(False)
            formatter.set_useOffset(False)
    for name, words in (("xlabel", "east"), ("ylabel", "north")):
        label = getattr(ax, f"get_{name}")().replace("position", words)
        ax.set(**{name: units.beside(label, "length") if label else ""})
    west, east = ax.get_xlim()
    size = round_length(SHARE * (east - west))
    text = f"{size / 1e3:g} km" if size >= 1e3 else f"{size:g} m"
    bar = AnchoredSizeBar(
        ax.transData,
        size,
        text,
        "lower right",
        pad=0.4,
        sep=2.0,
        frameon=False,
        color=style.ink,
        fontproperties=FontProperties(size="small"),
    )
    bar.set_zorder(7.0)
    ax.add_artist(bar)


def round_length(most: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is at most `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(digit * power for digit in ROUND if digit * power <= most * (1.0 + 1e-12))

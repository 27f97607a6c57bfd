"""Marks of a map: axes in metres east and north, and a bar that shows the scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dwell._units import Units
from dwell.geometry import Workspace
from dwell.plotting.style import PLAIN, Axes, Style

SHARE = 0.2  # of the width: the longest bar
ROUND = (1.0, 2.0, 5.0)


def mark_scale(ax: Axes, workspace: Workspace, units: Units, style: Style = PLAIN) -> None:
    """Name the axes east and north, in metres, and add a scale bar, if there are units.

    The bar is in that corner of the axes which is farthest from the workspace.
    """
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
        _free_corner(ax, workspace),
        pad=0.4,
        sep=2.0,
        frameon=False,
        color=style.ink,
        fontproperties=FontProperties(size="small"),
    )
    bar.set_zorder(7.0)
    ax.add_artist(bar)


def _free_corner(ax: Axes, workspace: Workspace) -> str:
    (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
    names = ("lower right", "lower left", "upper left", "upper right")
    corners = np.array([(east, south), (west, south), (west, north), (east, north)])
    return names[int(np.argmax(workspace.outside_by(corners)))]


def round_length(most: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is at most `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(digit * power for digit in ROUND if digit * power <= most * (1.0 + 1e-12))

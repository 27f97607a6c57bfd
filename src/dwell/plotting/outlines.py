"""Outlines of planar workspaces, for drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dwell._types import Points
from dwell.geometry import Workspace
from dwell.geometry.outlines import boundary_rings, outline_of
from dwell.plotting.style import Axes, Style

BEYOND = "0.9"  # the shade of what a convex hull has beyond its region


def path_of(workspace: Workspace) -> Any:
    """The boundary as a path of Matplotlib, with a part for each ring."""
    from matplotlib.path import Path

    return Path.make_compound_path(*map(_closed, boundary_rings(workspace)))


def _closed(ring: Points) -> Any:
    """A ring as a closed path."""
    from matplotlib.path import Path

    return Path(np.vstack([ring, ring[:1]]), closed=True)


def clip_of(ax: Axes, workspace: Workspace) -> Any:
    """The inside of a workspace, to which artists are clipped."""
    from matplotlib.patches import PathPatch

    return PathPatch(path_of(workspace), transform=ax.transData)


def clip_lines(ax: Axes, artist: Any, workspace: Workspace) -> None:
    """Leave out what of the borders of cells lies beyond a region."""
    if workspace.mask is not None:
        artist.set_clip_path(clip_of(ax, workspace))


def draw_outline(ax: Axes, workspace: Workspace, style: Style) -> None:
    """The boundary; of a region also, in grey, what its convex hull has beyond it."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    path = path_of(workspace)
    if workspace.mask is not None:
        hull = _closed(outline_of(workspace.hull)[::-1])
        around = Path.make_compound_path(hull, path)
        ax.add_patch(PathPatch(around, fc=BEYOND, lw=0, zorder=0.3))
    ax.add_patch(PathPatch(path, fill=False, ec=style.ink, lw=style.line, zorder=3))

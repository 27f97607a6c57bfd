"""A small map of agents with their cells and paths as SVG, for notebooks; it needs no extra."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import cycle

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.rings import cell_rings
from dwell.geometry import Workspace, is_planar
from dwell.geometry.outlines import boundary_rings

LONGEST, MARGIN = 280.0, 4.0  # pixels
MOST = 500  # agents with cells and paths
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#7a3fd0", "#777777")


def small_map(
    workspace: Workspace, positions: Points, paths: Sequence[Points] = (), cells: bool = True,
    radius: Floats | None = None, weights: Floats | None = None,
) -> str:  # fmt: skip
    """Return a map as SVG; nothing for a workspace that is not in the plane."""
    if not is_planar(workspace):
        return ""
    lower, upper = workspace.bounds
    scale = LONGEST / float((upper - lower).max())
    origin = np.array([lower[0], upper[1]]) + np.array([-MARGIN, MARGIN]) / scale
    width, height = ((upper - lower) * scale + 2.0 * MARGIN).tolist()

    def line(points: Points, end: str) -> str:
        """Return a line as a path; y goes up."""
        drawn = ((points - origin) * [scale, -scale]).round(1).tolist()
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in drawn) + end

    few = len(positions) <= MOST
    edges = cell_rings(workspace, positions, radius, weights) if few and cells else None
    found = [_path("".join(line(ring, "Z") for ring in edges or ()), "currentColor", 0.5)]
    coloured = zip(paths if few else (), cycle(COLOURS), strict=False)
    found += [_path(line(path, ""), colour, 1.0) for path, colour in coloured]
    found.append(
        _path("".join(line(ring, "Z") for ring in boundary_rings(workspace)), "currentColor", 1.5)
    )
    dots = ((positions - origin) * [scale, -scale]).round(1).tolist()
    for (x, y), colour in zip(dots, cycle(COLOURS), strict=False):
        found.append(f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="{colour}"/>')
    about = f'width="{width:.0f}" height="{height:.0f}" role="img"'
    title = f"<title>{escape(f'Map of {len(positions)} agents')}</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {about}>{title}{"".join(found)}</svg>'


def _path(data: str, colour: str, width: float) -> str:
    return (
        f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>' if data else ""
    )

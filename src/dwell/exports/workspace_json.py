"""Workspaces as JSON, for drawing."""

from __future__ import annotations

from typing import Any

from dwell.geometry import Curved, Workspace

MOST = 3  # dimensions with vertices: more cannot be drawn, and there may be many


def workspace_json(workspace: Workspace) -> dict[str, Any]:
    """Return kind and bounding box, and vertices and faces or center and axes of the hull."""
    lower, upper = workspace.bounds
    n = workspace.dimension
    found: dict[str, Any] = {
        "kind": type(workspace).__name__.lower(),
        "dimension": n,
        "box": [lower.tolist(), upper.tolist()],
    }
    if n == 1:
        return {**found, "bounds": [float(lower[0]), float(upper[0])]}
    hull = workspace.hull
    if isinstance(hull, Curved):
        return {
            **found,
            "center": [float(x) for x in hull.center],
            "semi_axes": [float(x) for x in hull.semi_axes],
            "axes": hull.axes.tolist(),
        }
    if n <= MOST:
        found["vertices"] = hull.vertices.tolist()
    if n == MOST:
        found["faces"] = [face.tolist() for face in hull.faces]
    return found

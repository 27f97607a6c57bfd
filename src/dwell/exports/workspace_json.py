"""Workspaces as JSON, for drawing."""

from __future__ import annotations

from typing import Any

from dwell.geometry import Curved, Workspace

MOST = 3  # dimensions with vertices: more cannot be drawn, and there may be many


def workspace_json(workspace: Workspace) -> dict[str, Any]:
    """Return kind and bounding box, and vertices and faces or center and axes."""
    lower, upper = workspace.bounds
    n = workspace.dimension
    found: dict[str, Any] = {
        "kind": type(workspace).__name__.lower(),
        "dimension": n,
        "box": [lower.tolist(), upper.tolist()],
    }
    if n == 1:
        return {**found, "bounds": [float(lower[0]), float(upper[0])]}
    if isinstance(workspace, Curved):
        return {
            **found,
            "center": [float(x) for x in workspace.center],
            "semi_axes": [float(x) for x in workspace.semi_axes],
            "axes": workspace.axes.tolist(),
        }
    if n <= MOST:
        found["vertices"] = workspace.vertices.tolist()
    if n == MOST:
        found["faces"] = [face.tolist() for face in workspace.faces]
    return found

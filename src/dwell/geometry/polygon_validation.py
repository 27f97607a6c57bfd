"""Validation of polygons: from points to a strictly convex ring, with every repair named."""

from __future__ import annotations

import math

import numpy as np

from dwell._types import Floats, Points, as_numbers, in_short
from dwell.errors import WorkspaceError
from dwell.geometry.validation import (
    ROUNDING,
    degenerate,
    refuse_nonfinite,
    refuse_range,
    repeats_removed,
)

SLENDER = 1e12  # diameter**2 / area beyond which a polygon has no inside to speak of
OTHERS = "other regions are made by Interval, Box, Polytope, Ball and Ellipsoid"
KEY = "workspace.vertices"


def as_points(vertices: object) -> Points:
    """Return `vertices` as an (n, 2) array of finite doubles."""
    points = as_numbers(vertices)
    if points is None or points.ndim != 2 or points.shape[1] != 2:
        fault = (
            "a polygon's vertices must be a list of [x, y] pairs of numbers; "
            f"{in_short(vertices)} cannot be read as that"
            if points is None
            else f"the vertices of the polygon have shape {points.shape}; a list of [x, y] pairs, "
            "shape (k, 2), is needed"
        )
        raise WorkspaceError(f"{fault}; {OTHERS}", code="workspace.shape", key=KEY)
    refuse_nonfinite(points, "vertex {} of the workspace", KEY)
    return points


def clean_ring(points: Points) -> tuple[Points, tuple[str, ...]]:
    """Return `points` as a strictly convex counter-clockwise ring, and what was repaired."""
    repairs: list[str] = []
    diameter = _extent(points)
    ring = _without_repeats(points, diameter, repairs)
    if len(ring) < 3:
        raise degenerate(f"it has {len(ring)} distinct vertices; at least 3 are needed", KEY)
    refuse_range(diameter, float(np.abs(ring).max()), 2, KEY)
    if _on_one_line(ring, diameter):
        raise degenerate("its vertices lie on one line", KEY)
    if signed_area(ring) < 0.0:
        repairs.append("reversed the workspace's vertices: they came clockwise")
        ring = ring[::-1].copy()
    _refuse_winding(ring, diameter)
    ring = _without_flat_vertices(ring, repairs)
    if len(ring) < 3:
        raise degenerate("its vertices lie on one line", KEY)
    area, extent = signed_area(ring), _extent(ring)
    if area <= 0.0 or extent * extent > SLENDER * area:
        raise degenerate(f"its area is {area:.3g} at a length of {extent:.3g}", KEY)
    return ring, tuple(repairs)


def turns(ring: Points) -> Floats:
    """Return the signed distance of each vertex from the line through its neighbours.

    It is positive where the ring is convex.
    """
    before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
    chord = after - before
    step = ring - before
    length = np.hypot(chord[:, 0], chord[:, 1])
    crossing = step[:, 0] * chord[:, 1] - step[:, 1] * chord[:, 0]
    depth: Floats = np.divide(crossing, length, out=np.zeros_like(length), where=length > 0)
    return depth


def signed_area(ring: Points) -> float:
    """Return the area of the ring, negative if clockwise; taken about its first vertex."""
    local: Points = ring - ring[0]
    after = np.roll(local, -1, axis=0)
    return 0.5 * math.fsum(local[:, 0] * after[:, 1] - local[:, 1] * after[:, 0])


def _extent(points: Points) -> float:
    return float(np.hypot(*np.ptp(points, axis=0))) if len(points) else 0.0


def _without_repeats(points: Points, diameter: float, repairs: list[str]) -> Points:
    """Drop vertices that repeat the one before; where the last repeats the first, the last."""
    if len(points) == 0:
        return points
    least = ROUNDING * diameter
    keep = np.hypot(*(points - np.roll(points, 1, axis=0)).T) > least
    if len(points) > 1 and not keep[0]:
        keep[0] = True
        last = len(points) - 1
        while last > 0 and (not keep[last] or np.hypot(*(points[last] - points[0])) <= least):
            keep[last] = False
            last -= 1
    if not keep.all():
        repairs.append(repeats_removed(int((~keep).sum())))
    kept: Points = points[keep]
    return kept


def _on_one_line(ring: Points, diameter: float) -> bool:
    """Whether no vertex leaves the line from the first to the one farthest from it."""
    local = ring - ring[0]
    distance = np.hypot(local[:, 0], local[:, 1])
    far = local[int(np.argmax(distance))] / distance.max()
    width = np.abs(local[:, 0] * far[1] - local[:, 1] * far[0]).max()
    return bool(width <= 1e-15 * diameter)


def _refuse_winding(ring: Points, diameter: float) -> None:
    """Refuse what is clearly not convex, and rings that go round more or less than once."""
    edges = np.roll(ring, -1, axis=0) - ring
    heading = np.arctan2(edges[:, 1], edges[:, 0])
    turning = np.diff(np.append(heading, heading[0]))
    turning = np.mod(turning + np.pi, 2.0 * np.pi) - np.pi
    rounds = float(turning.sum()) / (2.0 * np.pi)
    if abs(rounds - 1.0) > 0.5:
        raise WorkspaceError(
            f"the workspace's boundary goes round {round(rounds)} times instead of once: it "
            "crosses itself; list the vertices in order along the boundary",
            code="workspace.selfintersecting",
            key=KEY,
        )
    depth = turns(ring)
    worst = int(np.argmin(depth))
    if depth[worst] < -ROUNDING * diameter:
        raise WorkspaceError(
            f"the workspace must be convex, but vertex {ring[worst].tolist()} lies "
            f"{-depth[worst]:.3g} inside the line through its neighbours; leave it out, or take "
            'the convex hull with kind = "polytope" (in Python, Polygon.hull_of(points))',
            code="workspace.nonconvex",
            key=KEY,
        )


def _without_flat_vertices(ring: Points, repairs: list[str]) -> Points:
    """Drop vertices on the line through their neighbours, or inside it by rounding only."""
    removed, deepest = 0, 0.0
    while len(ring) >= 3:
        depth = turns(ring)
        flat = depth <= 0.0
        if not flat.any():
            break
        deepest = max(deepest, float(-depth[flat].min()))
        removed += int(flat.sum())
        ring = ring[~flat]
    if removed:
        inward = f", up to {deepest:.3g} inside it" if deepest > 0 else ""
        repairs.append(f"removed {removed} workspace vertices on a straight edge{inward}")
    return ring

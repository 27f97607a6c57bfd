"""From a list of points to a clean convex ring: every repair is named, every refusal explained."""

from __future__ import annotations

import math

import numpy as np

from dwell._types import Floats, Points, as_numbers, in_short
from dwell.errors import WorkspaceError

ROUNDING = 1e-12  # of the diameter: what repairs may move a boundary by
SLENDER = 1e12  # diameter**2 / area beyond which a polygon has no inside to speak of
OTHERS = "other regions are made by Interval, Box, Polytope, Ball and Ellipsoid"
SMALLEST, LARGEST = 1e-70, 1e70  # so that fourth powers of lengths stay within doubles


def as_points(vertices: object) -> Points:
    """`vertices` as an (n, 2) array of finite doubles."""
    points = as_numbers(vertices)
    if points is None:
        raise WorkspaceError(
            "a polygon's vertices must be a list of [x, y] pairs of numbers; "
            f"{in_short(vertices)} cannot be read as that; {OTHERS}",
            code="workspace.shape",
            key="workspace.vertices",
        )
    if points.ndim != 2 or points.shape[1] != 2:
        raise WorkspaceError(
            f"the vertices of the polygon have shape {points.shape}; a list of [x, y] pairs, "
            f"shape (k, 2), is needed; {OTHERS}",
            code="workspace.shape",
            key="workspace.vertices",
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise WorkspaceError(
            f"vertex {bad[0]} of the workspace is {points[bad[0]].tolist()}; "
            "every coordinate must be a finite number",
            code="workspace.nonfinite",
            key=f"workspace.vertices[{bad[0]}]",
        )
    return points


def without_repeats(count: int) -> str:
    """What a repair says of vertices that repeated others."""
    return f"removed {count} repeated {'vertex' if count == 1 else 'vertices'} of the workspace"


def clean_ring(points: Points) -> tuple[Points, tuple[str, ...]]:
    """`points` as a strictly convex counter-clockwise ring, with what was repaired on the way."""
    repairs: list[str] = []
    diameter = _extent(points)
    ring = _without_repeats(points, diameter, repairs)
    if len(ring) < 3:
        raise _degenerate(f"it has {len(ring)} distinct vertices; at least 3 are needed")
    _refuse_bad_range(ring, diameter)
    if _on_one_line(ring, diameter):
        raise _degenerate("its vertices lie on one line")
    ring = _counter_clockwise(ring, repairs)
    _refuse_winding(ring, diameter)
    ring = _without_flat_vertices(ring, diameter, repairs)
    if len(ring) < 3:
        raise _degenerate("its vertices lie on one line")
    _refuse_needle(ring)
    return ring, tuple(repairs)


def turns(ring: Points) -> Floats:
    """Signed distance of each vertex from the line through its neighbours; > 0 is convex."""
    before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
    chord = after - before
    step = ring - before
    length = np.hypot(chord[:, 0], chord[:, 1])
    crossing = step[:, 0] * chord[:, 1] - step[:, 1] * chord[:, 0]
    depth: Floats = np.divide(crossing, length, out=np.zeros_like(length), where=length > 0)
    return depth


def signed_area(ring: Points) -> float:
    """Area of the ring, negative if clockwise; taken about its first vertex."""
    local: Points = ring - ring[0]
    after = np.roll(local, -1, axis=0)
    return 0.5 * math.fsum(local[:, 0] * after[:, 1] - local[:, 1] * after[:, 0])


def _extent(points: Points) -> float:
    if len(points) == 0:
        return 0.0
    spread = points.max(axis=0) - points.min(axis=0)
    return float(np.hypot(spread[0], spread[1]))


def _refuse_bad_range(ring: Points, diameter: float) -> None:
    if not (SMALLEST <= diameter <= LARGEST) or np.abs(ring).max() > LARGEST:
        raise WorkspaceError(
            f"the workspace is {diameter:g} across; lengths between {SMALLEST:g} and {LARGEST:g} "
            "can be handled: choose another unit of length",
            code="workspace.range",
            key="workspace.vertices",
        )


def _without_repeats(points: Points, diameter: float, repairs: list[str]) -> Points:
    if len(points) == 0:
        return points
    gap = np.hypot(*(points - np.roll(points, 1, axis=0)).T)
    keep = gap > ROUNDING * diameter
    if len(points) > 1 and not keep[0]:  # the last repeats the first: keep the first
        keep[0] = True
        keep[-1] = False
        while (
            not keep.all() and np.flatnonzero(keep).size > 1 and _same_end(points[keep], diameter)
        ):
            keep[np.flatnonzero(keep)[-1]] = False
    if not keep.all():
        repairs.append(without_repeats(int((~keep).sum())))
    kept: Points = points[keep]
    return kept


def _same_end(points: Points, diameter: float) -> bool:
    gap = points[-1] - points[0]
    return bool(np.hypot(gap[0], gap[1]) <= ROUNDING * diameter)


def _on_one_line(ring: Points, diameter: float) -> bool:
    """Whether no vertex leaves the line from the first to the one farthest from it."""
    local = ring - ring[0]
    distance = np.hypot(local[:, 0], local[:, 1])
    far = local[int(np.argmax(distance))] / distance.max()
    width = np.abs(local[:, 0] * far[1] - local[:, 1] * far[0]).max()
    return bool(width <= 1e-15 * diameter)


def _counter_clockwise(ring: Points, repairs: list[str]) -> Points:
    if signed_area(ring) < 0.0:
        repairs.append("reversed the workspace's vertices: they came clockwise")
        return ring[::-1].copy()
    return ring


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
            key="workspace.vertices",
        )
    depth = turns(ring)
    worst = int(np.argmin(depth))
    if depth[worst] < -ROUNDING * diameter:
        raise WorkspaceError(
            f"the workspace must be convex, but vertex {ring[worst].tolist()} lies "
            f"{-depth[worst]:.3g} inside the line through its neighbours; leave it out, or take "
            'the convex hull with kind = "polytope" (in Python, Polygon.hull_of(points))',
            code="workspace.nonconvex",
            key="workspace.vertices",
        )


def _without_flat_vertices(ring: Points, diameter: float, repairs: list[str]) -> Points:
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


def _refuse_needle(ring: Points) -> None:
    area = signed_area(ring)
    extent = _extent(ring)
    if area <= 0.0 or extent * extent > SLENDER * area:
        raise _degenerate(f"its area is {area:.3g} at a length of {extent:.3g}")


def _degenerate(why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the workspace has no inside: {why}; give the corners of a convex region",
        code="workspace.degenerate",
        key="workspace.vertices",
    )

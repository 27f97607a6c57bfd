"""Validation: of numbers, of polygons, of points, of what an agent knows of the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dwell._types import Floats, Points, as_numbers, counted, finite_numbers, in_short
from dwell.errors import AgentsError, WorkspaceError

ROUNDING = 1e-12  # of the diameter: what repairs may move a boundary by
USUAL = 70  # lengths lie between 1e-70 and 1e70: fourth powers stay within doubles
DECADES = 280  # powers of lengths lie between 1e-280 and 1e280
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no guaranteed cell
FLAT = 1e-12  # width over length below which a region has no inside to speak of
SLENDER = 1e12  # diameter**2 / area beyond which a polygon has none
OTHERS = "other regions are made by Interval, Box, Polytope, Ball and Ellipsoid"
VERTICES = "workspace.vertices"


class MissingPartError(WorkspaceError, AttributeError):
    """A property that this kind of workspace does not have."""


def need_dimension(workspace: Any, dimension: int, part: str) -> None:
    """Refuse a part that workspaces have in one dimension only."""
    if workspace.dimension != dimension:
        raise missing(workspace, workspace.dimension, part)


def missing(workspace: object, dimension: int, part: str) -> MissingPartError:
    """The error for the area of an interval, the vertices of a ball and the like."""
    kind = type(workspace).__name__
    article = "An" if kind[0] in "AEIOU" else "A"
    return MissingPartError(
        f"{article} {kind} in {counted(dimension, 'dimension')} has no {part}; "
        "what was asked for needs another kind of workspace",
        code="workspace.kind",
        key="workspace",
    )


def as_vector(value: object, what: str, key: str) -> Floats:
    """`value` as a vector of finite doubles, at least one; on the line a plain number will do."""
    vector = as_numbers(value)
    if vector is None or vector.ndim > 1 or vector.size == 0:
        raise WorkspaceError(
            f"{what} is {in_short(value)}; a list of numbers, one per dimension, is needed",
            code="workspace.shape",
            key=key,
        )
    if not np.isfinite(vector).all():
        raise WorkspaceError(
            f"{what} is {in_short(value)}; every coordinate must be a finite number",
            code="workspace.nonfinite",
            key=key,
        )
    return vector.reshape(-1)


def as_number(value: object, what: str, key: str) -> float:
    """`value` as one finite double; a list of one number will do."""
    found = as_numbers(value)
    if found is None or found.size != 1:
        raise WorkspaceError(
            f"{what} is {in_short(value)}; a number is needed", code="workspace.shape", key=key
        )
    number = float(found.reshape(-1)[0])
    if not np.isfinite(number):
        raise WorkspaceError(
            f"{what} is {number}; a finite number is needed", code="workspace.nonfinite", key=key
        )
    return number


def as_table(value: object, what: str, need: str, key: str) -> Points:
    """`value` as a (rows, n) array of finite doubles; each bad row is named."""
    table = as_numbers(value)
    if table is None or table.ndim != 2 or table.shape[1] == 0:
        came = "cannot be read as that" if table is None else f"have shape {table.shape}"
        raise WorkspaceError(
            f"{what} must be {need}; what came {came}", code="workspace.shape", key=key
        )
    refuse_nonfinite(table, f"row {{}} of {what}", key)
    return table


def refuse_nonfinite(table: Points, row: str, key: str) -> None:
    """Refuse a table with a number that is not finite; `row` names one of its rows."""
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if bad.size:
        came = f"{row.format(bad[0])} is {table[bad[0]].tolist()}"
        raise WorkspaceError(
            f"{came}; every coordinate must be a finite number",
            code="workspace.nonfinite",
            key=f"{key}[{bad[0]}]",
        )


def degenerate(why: str, key: str) -> WorkspaceError:
    """Return the error for a region without an inside."""
    corners = not key.endswith("halfspaces")
    advice = "give the corners of a convex region" if corners else "loosen one of them"
    return WorkspaceError(
        f"the workspace has no inside: {why}; {advice}", code="workspace.degenerate", key=key
    )


def repeats_removed(count: int) -> str:
    """Return the repair that removed vertices which repeated others."""
    return f"removed {count} repeated {'vertex' if count == 1 else 'vertices'} of the workspace"


def refuse_range(length: float, farthest: float, dimension: int, key: str) -> None:
    """Refuse lengths whose powers up to n + 2, which second moments need, leave the doubles."""
    allowed = DECADES // (dimension + 2)
    if allowed < 1:
        raise WorkspaceError(
            f"the workspace has {dimension} dimensions, and powers of lengths as high as that are "
            f"no numbers any more, whatever the unit; at most {DECADES - 2} dimensions can be "
            "handled",
            code="workspace.dimension",
            key=key,
        )
    decades = min(USUAL, allowed)
    where = f" in {dimension} dimensions" if allowed < USUAL else ""
    smallest, largest = 10.0**-decades, 10.0**decades
    if not (smallest <= length <= largest and farthest <= largest):
        raise WorkspaceError(
            f"the workspace is {length:g} across; lengths between {smallest:g} and {largest:g} "
            f"can be handled{where}: choose another unit of length",
            code="workspace.range",
            key=key,
        )


def refuse_lost(center: Points, smallest: float, key: str) -> None:
    """Refuse a region so far out that doubles cannot tell its middle from its boundary."""
    step = float(np.spacing(np.abs(center).max()))
    if smallest <= step:
        raise WorkspaceError(
            f"the workspace reaches {smallest:g} from its center {in_short(center)}, where "
            f"neighbouring numbers are {step:g} apart; shift the coordinates nearer to 0",
            code="workspace.range",
            key=key,
        )


def as_rows(points: object, dimension: int) -> Points:
    """Points to ask about, (k, n); a single point will do, and plain numbers on the line."""
    clean = type(points) is np.ndarray and points.dtype == np.float64
    rows: Points | None = np.asarray(points) if clean else as_numbers(points)
    if rows is None:
        raise AgentsError(
            f"the points are {in_short(points)}; an array of finite numbers, shape "
            f"(k, {dimension}), is needed",
            code="agents.shape",
        )
    shape, rows = rows.shape, on_line(np.atleast_1d(rows), dimension)
    if rows.ndim > 2 or rows.shape[-1] != dimension:
        raise AgentsError(
            f"points of shape {shape} came for a workspace in {dimension} dimensions; "
            f"shape (k, {dimension}) is needed",
            code="agents.dimension",
        )
    return np.atleast_2d(rows)


def on_line(points: Points, dimension: int) -> Points:
    """`points` as they are; numbers on the line as (k, 1)."""
    return points[:, None] if dimension == 1 and points.ndim == 1 else points


def read_only(array: np.ndarray) -> np.ndarray:
    """`array` in one piece, and not to be changed."""
    kept = np.ascontiguousarray(array)
    kept.setflags(write=False)
    return kept


def as_place(value: object, name: str, dimension: int) -> Points:
    """`value` as a point, read-only."""
    place = as_numbers(value)
    place = None if place is None else np.atleast_1d(place)
    if place is None or place.shape != (dimension,) or not np.isfinite(place).all():
        shown = {2: " [x, y]", 3: " [x, y, z]"}.get(dimension, "")
        be = "is" if dimension == 1 else "are"
        raise AgentsError(
            f"{name} is at {in_short(value)}; {finite_numbers(dimension)}{shown} {be} needed",
            code="agents.shape",
            key="position",
        )
    return read_only(place)


def as_others(value: object, dimension: int) -> Points:
    """`value` as (k, n) points, read-only; k may be 0."""
    points = as_numbers(value)
    if points is not None and points.size == 0:
        return read_only(np.empty((0, dimension)))
    points = None if points is None else on_line(points, dimension)
    shaped = points is not None and points.ndim == 2 and points.shape[1] == dimension
    if points is None or not shaped or not np.isfinite(points).all():
        need = "pairs [x, y]" if dimension == 2 else f"points with {dimension} coordinates"
        raise AgentsError(
            f"the other agents are at {in_short(value)}; a list of {need} of finite numbers, shape "
            f"(n, {dimension}), is needed",
            code="agents.shape",
            key="others",
        )
    return read_only(np.ascontiguousarray(points))


def as_radii(value: object, count: int) -> Floats:
    """`value` as one radius per other agent, read-only."""
    radii = as_numbers(value)
    if radii is not None and radii.ndim == 0:
        radii = np.full(count, radii)
    fits = radii is not None and radii.shape == (count,)
    if radii is None or not fits or not np.isfinite(radii).all() or (radii < 0.0).any():
        raise AgentsError(
            f"the radii are {in_short(value)}; one number that is not negative, or {count} of "
            "them, one per other agent, is needed",
            code="agents.radii",
            key="radii",
        )
    return read_only(radii)


def refuse_outside(place: Points, distance: float, size: float) -> None:
    """Refuse an agent this far outside a workspace of this size."""
    if distance > BEYOND * size:
        raise AgentsError(
            f"the agent at {place.tolist()} is {distance:.3g} outside the workspace; a guaranteed "
            "cell needs its agent inside",
            code="agents.outside",
            key="position",
        )


# Polygons: from points to a strictly convex ring, with every repair named.


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
        raise WorkspaceError(f"{fault}; {OTHERS}", code="workspace.shape", key=VERTICES)
    refuse_nonfinite(points, "vertex {} of the workspace", VERTICES)
    return points


def clean_ring(points: Points) -> tuple[Points, tuple[str, ...]]:
    """Return `points` as a strictly convex counter-clockwise ring, and what was repaired."""
    repairs: list[str] = []
    diameter = _extent(points)
    ring = _without_repeats(points, diameter, repairs)
    if len(ring) < 3:
        raise degenerate(f"it has {len(ring)} distinct vertices; at least 3 are needed", VERTICES)
    refuse_range(diameter, float(np.abs(ring).max()), 2, VERTICES)
    if _on_one_line(ring, diameter):
        raise degenerate("its vertices lie on one line", VERTICES)
    if signed_area(ring) < 0.0:
        repairs.append("reversed the workspace's vertices: they came clockwise")
        ring = ring[::-1].copy()
    _refuse_winding(ring, diameter)
    ring = _without_flat_vertices(ring, repairs)
    if len(ring) < 3:
        raise degenerate("its vertices lie on one line", VERTICES)
    area, extent = signed_area(ring), _extent(ring)
    if area <= 0.0 or extent * extent > SLENDER * area:
        raise degenerate(f"its area is {area:.3g} at a length of {extent:.3g}", VERTICES)
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
    return np.divide(crossing, length, out=np.zeros_like(length), where=length > 0)


def signed_area(ring: Points) -> float:
    """Return the area of the ring, negative if clockwise; taken about its first vertex."""
    local: Points = ring - ring[0]
    after = np.roll(local, -1, axis=0)
    return 0.5 * math.fsum(local[:, 0] * after[:, 1] - local[:, 1] * after[:, 0])


def _extent(points: Points) -> float:
    return float(np.hypot(*np.ptp(points, axis=0))) if len(points) else 0.0


def _without_repeats(points: Points, diameter: float, repairs: list[str]) -> Points:
    """Drop vertices that repeat the one before; where the last repeats the first, the last."""
    least = ROUNDING * diameter
    keep = np.hypot(*(points - np.roll(points, 1, axis=0)).T) > least
    if not keep[:1].all():
        at_first = ~keep | (np.hypot(*(points - points[0]).T) <= least)
        keep &= ~np.logical_and.accumulate(at_first[::-1])[::-1]  # from some vertex to the last
        keep[0] = True
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
            key=VERTICES,
        )
    depth = turns(ring)
    worst = int(np.argmin(depth))
    if depth[worst] < -ROUNDING * diameter:
        raise WorkspaceError(
            f"the workspace must be convex, but vertex {ring[worst].tolist()} lies "
            f"{-depth[worst]:.3g} inside the line through its neighbours; leave it out, or take "
            'the convex hull with kind = "polytope" (in Python, Polygon.hull_of(points))',
            code="workspace.nonconvex",
            key=VERTICES,
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

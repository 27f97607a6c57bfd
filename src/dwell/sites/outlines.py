"""Outlines in map coordinates: validity, longitudes about the middle, sides along parallels."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Points, counted
from dwell.sites.libraries import library, refused

HALF_TURN = 180.0
MOST_LOST = 0.1  # of the area, by `simplify`
SEAM = 1e-9  # degrees: vertices this close to the antimeridian lie on it


def shapely() -> Any:
    """The library shapely."""
    return library("shapely", "an outline of a map")


def rings_of(shape: Any) -> list[Any]:
    """The rings of all parts of a polygon or a multipolygon, each outer one before its holes."""
    return [
        ring for part in shapely().get_parts(shape) for ring in (part.exterior, *part.interiors)
    ]


def shape_of(workspace: Any) -> Any:
    """A polygon or a region as shapely has it."""
    lib, parts = shapely(), getattr(workspace, "parts", None)
    if parts is None:
        return lib.Polygon(workspace.vertices)
    found = [lib.Polygon(part.outer, list(part.holes)) for part in parts]
    return found[0] if len(found) == 1 else lib.MultiPolygon(found)


def mapped(shape: Any, change: Callable[[Points], Points]) -> Any:
    """A shape with its vertices changed, (k, 2) to (k, 2)."""
    return shapely().transform(shape, change)


def cleaned(shape: Any, path: Path) -> tuple[Any, list[str]]:
    """A polygon or multipolygon without heights and repeated vertices, and what was repaired."""
    lib, repairs, name = shapely(), list[str](), path.name
    if lib.is_empty(shape):
        raise refused(path, "has an outline without a point; draw a polygon", "empty")
    points = lib.get_coordinates(shape)
    bad = points[~np.isfinite(points).all(axis=1)]
    if len(bad):
        raise refused(
            path, f"has the vertex {bad[0].tolist()}; finite numbers are needed", "vertex"
        )
    if lib.has_z(shape):
        shape = lib.force_2d(shape)
        repairs.append(f"left out the heights of {name}")
    once = lib.remove_repeated_points(shape)
    removed = lib.get_num_coordinates(shape) - lib.get_num_coordinates(once)
    if removed:
        what = "vertex" if removed == 1 else "vertices"
        repairs.append(f"removed {removed} repeated {what} of {name}")
    return once, repairs


def wound(shape: Any, name: str) -> tuple[Any, list[str], bool]:
    """A shape with outer rings counterclockwise and holes clockwise, what was turned, and if all.

    All of them have the wrong direction where the coordinates of points are exchanged.
    """
    lib = shapely()
    parts = lib.get_parts(shape)
    wrong = sum(not lib.is_ccw(part.exterior) for part in parts)
    wrong += sum(bool(lib.is_ccw(hole)) for part in parts for hole in part.interiors)
    if not wrong:
        return shape, [], False
    turned = lib.orient_polygons(shape)
    every = wrong == len(rings_of(shape))
    return turned, [f"reversed {counted(wrong, 'ring')} of {name}"], every


def simplified(shape: Any, path: Path, metres: float) -> tuple[Any, list[str]]:
    """A shape without vertices that move it by at most so many metres, and what was left out."""
    found = shapely().simplify(shape, metres)
    kept, whole = shapely().area(found), shapely().area(shape)
    if not abs(kept / whole - 1.0) <= MOST_LOST:
        says = f"has an area of {whole:.3g} m2, which simplify = {metres:g} makes {kept:.3g} m2"
        raise refused(path, f"{says}; fewer metres are needed", "simplify")
    before, left = (sum(len(r.coords) - 1 for r in rings_of(one)) for one in (shape, found))
    return found, [f"simplified {path.name} by {metres:g} m: {before} to {left} vertices"]


def refuse_invalid(shape: Any, path: Path) -> None:
    """Refuse rings that cross, holes outside and parts that overlap; names both edges."""
    reason = shapely().is_valid_reason(shape)
    if reason == "Valid Geometry":
        return
    what, _, place = reason.partition("[")
    at = [float(word) for word in re.findall(r"[-+.\deE]+|nan", place)][:2]
    where = f" at ({at[0]:.9g}, {at[1]:.9g})" if len(at) == 2 else ""
    crossing = len(at) == 2 and "intersection" in what
    edges = _edges_at(shape, at) if crossing else []
    between = f", between {' and '.join(edges)}" if edges else ""
    repair = (
        "repair it in a GIS (QGIS: Fix geometries; or shapely.make_valid) and look at the result"
    )
    raise refused(path, f"is not valid: {what.lower()}{where}{between}; {repair}", "invalid")


def _edges_at(shape: Any, at: list[float]) -> list[str]:
    """The two edges nearest to a point, by ring and number."""
    lib, found = shapely(), []
    for k, ring in enumerate(rings_of(shape)):
        points = lib.get_coordinates(ring)
        edges = lib.linestrings(np.stack([points[:-1], points[1:]], axis=1))
        for j, distance in enumerate(lib.distance(edges, lib.points(*at))):
            ends = " to ".join(f"({x:.9g}, {y:.9g})" for x, y in points[j : j + 2])
            found.append((float(distance), f"edge {j} of ring {k} from {ends}"))
    return [words for _, words in sorted(found)[:2]]


def about_middle(shape: Any, path: Path) -> tuple[Any, float, float, list[str]]:
    """A shape in degrees with longitudes about its middle, that middle, and what was repaired."""
    lib = shapely()
    points = lib.get_coordinates(shape)
    low, high = float(points[:, 1].min()), float(points[:, 1].max())
    if np.abs(points[:, 0]).max() > 2 * HALF_TURN or max(-low, high) > 90.0:
        far = points[np.argmax(np.abs(points).max(axis=1))].tolist()
        says = f"claims degrees, but has the vertex {far}; give the system that it is in, by "
        raise refused(path, f"{says}ogr2ogr -a_srs EPSG:... out.gpkg {path.name}", "extent")
    order = np.unique(np.mod(points[:, 0], 2 * HALF_TURN))
    gaps = np.diff(order, append=order[0] + 2 * HALF_TURN)
    widest = int(np.argmax(gaps))
    if gaps[widest] < HALF_TURN or max(-low, high) == 90.0:
        says = "goes round a pole, or more than half round the Earth; a site of at most 2000 km "
        raise refused(path, f"{says}without a pole is needed", "pole")
    first = order[(widest + 1) % len(order)]  # the westernmost longitude
    width = 2 * HALF_TURN - gaps[widest]
    middle = first + 0.5 * width
    middle -= 2 * HALF_TURN * np.floor(middle / (2 * HALF_TURN) + 0.5)

    def near(table: Points) -> Points:
        turns = np.floor((table[:, 0] - middle) / (2 * HALF_TURN) + 0.5)
        return np.column_stack([table[:, 0] - 2 * HALF_TURN * turns, table[:, 1]])

    turned = mapped(shape, near)
    joined, repairs = _joined(turned, path.name)
    return joined, float(middle), 0.5 * (low + high), repairs


def _joined(shape: Any, name: str) -> tuple[Any, list[str]]:
    """Parts that share an edge of the antimeridian as one part."""
    lib = shapely()
    parts = lib.get_parts(shape)
    if len(parts) < 2 or not _on_seam(lib.get_coordinates(shape)).any():
        return shape, []
    whole = lib.union_all(parts)
    fewer = len(parts) - len(lib.get_parts(whole))
    if not fewer:
        return shape, []
    return rebuilt(whole, _without_seam), [f"joined {fewer + 1} parts of {name} at 180 degrees"]


def _on_seam(points: Points) -> np.ndarray:
    """Which points lie on the antimeridian."""
    found: np.ndarray = np.abs(np.abs(points[:, 0]) - HALF_TURN) <= SEAM
    return found


def _without_seam(ring: Points) -> Points:
    """A closed ring without vertices on the antimeridian at which it goes straight on."""
    points = ring[:-1]
    ahead, behind = np.roll(points, -1, axis=0) - points, points - np.roll(points, 1, axis=0)
    turn = ahead[:, 0] * behind[:, 1] - ahead[:, 1] * behind[:, 0]
    straight = np.abs(turn) <= SEAM * np.hypot(*ahead.T) * np.hypot(*behind.T)
    kept = points[~(_on_seam(points) & straight)]
    return np.vstack([kept, kept[:1]])


def rebuilt(shape: Any, change: Callable[[Points], Points]) -> Any:
    """A shape with its closed rings changed, (k, 2) to (m, 2)."""
    lib = shapely()
    parts = [
        lib.Polygon(
            change(lib.get_coordinates(part.exterior)),
            [change(lib.get_coordinates(hole)) for hole in part.interiors],
        )
        for part in lib.get_parts(shape)
    ]
    return lib.MultiPolygon(parts) if len(parts) > 1 else parts[0]


def largest_sagitta(shape: Any, to_metres: Callable[[Points], Points]) -> tuple[float, Points]:
    """By how many metres a side that is straight in degrees bends, and the middle of that side."""
    worst, place = 0.0, np.zeros(2)
    for ring in rings_of(shape):
        points = shapely().get_coordinates(ring)
        middles = 0.5 * (points[:-1] + points[1:])
        ends = to_metres(points)
        off = np.hypot(*(to_metres(middles) - 0.5 * (ends[:-1] + ends[1:])).T)
        if off.max() > worst:
            worst, place = float(off.max()), middles[np.argmax(off)]
    return worst, place


def densified(shape: Any, to_metres: Callable[[Points], Points], step: float) -> Any:
    """A shape in degrees with vertices added along its sides, at most `step` metres apart."""

    def divided(points: Points) -> Points:
        sizes = np.hypot(*np.diff(to_metres(points), axis=0).T)
        counts = np.maximum(np.ceil(sizes / step), 1).astype(int)
        rows = [
            a + (b - a) * np.arange(count)[:, None] / count
            for a, b, count in zip(points[:-1], points[1:], counts, strict=True)
        ]
        return np.vstack([*rows, points[-1:]])

    return rebuilt(shape, divided)

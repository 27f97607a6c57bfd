"""Outlines in map coordinates: validity, clips, parts, longitudes about the middle, sides."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Points, counted, in_short, is_one_of, is_whole
from dwell.errors import SiteError
from dwell.sites.libraries import as_keys, library, refused

HALF_TURN = 180.0
FARTHEST = 1e12  # metres, feet or degrees: no place on the Earth has larger coordinates
LARGEST = "largest"  # of the parts
MOST_LOST = 0.1  # of the area, by `simplify`
SLIVER = 1e-10  # area over squared extent of a ring that has none to speak of
MOST_REPAIRED = 0.01  # of the area, by `repair`
REPAIR = {"repair": True}
BOX_STEPS = 64  # vertices along each side of a clip, so that its sides follow parallels
BOX_DEGREES = 4.0  # half the height of a box that is advised
SEAM = 1e-9  # degrees: vertices this close to the antimeridian lie on it
AWAY = 1e-8  # degrees: vertices this close to the side through their neighbours lie on it


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
    lib = shapely()
    if workspace.mask is None:
        return lib.Polygon(workspace.vertices)
    found = [lib.Polygon(part.outer, list(part.holes)) for part in workspace.mask.parts]
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
    bad = points[~(np.abs(points) <= FARTHEST).all(axis=1)]
    if len(bad):
        says = f"has the vertex {bad[0].tolist()}; finite numbers of at most {FARTHEST:g} are "
        raise refused(path, f"{says}needed", "vertex")
    if lib.has_z(shape):
        shape = lib.force_2d(shape)
        repairs.append(f"left out the heights of {name}")
    once = lib.remove_repeated_points(shape)
    removed = lib.get_num_coordinates(shape) - lib.get_num_coordinates(once)
    if removed:
        what = "vertex" if removed == 1 else "vertices"
        repairs.append(f"removed {removed} repeated {what} of {name}")
    return once, repairs


def wound(shape: Any, name: str) -> tuple[Any, list[str]]:
    """A shape with outer rings counterclockwise and holes clockwise, and what was turned."""
    lib = shapely()
    parts = lib.get_parts(shape)
    wrong = sum(not lib.is_ccw(part.exterior) for part in parts)
    wrong += sum(bool(lib.is_ccw(hole)) for part in parts for hole in part.interiors)
    if not wrong:
        return shape, []
    return lib.orient_polygons(shape), [f"reversed {counted(wrong, 'ring')} of {name}"]


def only_areas(shape: Any) -> Any:
    """The polygons of a shape as one polygon or multipolygon; None without any."""
    lib = shapely()
    flat = lib.get_parts(lib.get_parts(lib.get_parts(shape)))
    while any(one.geom_type in ("GeometryCollection", "MultiPolygon") for one in flat):
        flat = lib.get_parts(flat)
    parts = [one for one in flat if one.geom_type == "Polygon"]
    if not parts:
        return None
    return lib.MultiPolygon(parts) if len(parts) > 1 else parts[0]


def simplified(shape: Any, path: Path, metres: float) -> tuple[Any, list[str]]:
    """A shape without vertices that move it by at most so many metres, and what was left out."""
    found = shapely().simplify(shape, metres)
    kept, whole = shapely().area(found), shapely().area(shape)
    if not abs(kept / whole - 1.0) <= MOST_LOST:
        says = f"has an area of {whole:.3g} m2, which simplify = {metres:g} makes {kept:.3g} m2"
        raise refused(path, f"{says}; fewer metres are needed", "simplify")
    before, left = (sum(len(r.coords) - 1 for r in rings_of(one)) for one in (shape, found))
    return found, [f"simplified {path.name} by {metres:g} m: {before} to {left} vertices"]


def sound(shape: Any, path: Path, repair: bool, source: Any = None) -> tuple[Any, list[str]]:
    """A shape without rings that cross, holes outside and parts that overlap, and repairs.

    Refused without `repair`, and where that would change the area. `source` is the same shape
    in the coordinates of the file, if `shape` was mapped from it.
    """
    lib = shapely()
    reason = lib.is_valid_reason(shape)
    if reason == "Valid Geometry":
        if not any(map(_is_sliver, rings_of(shape))):
            return shape, []
        reason = "ring without an area"
    what, at, edges = _fault(shape, reason, shape if source is None else source)
    if source is None:
        says = f"is not valid: {what}{at}{edges}"
    else:
        says = f"is valid as it stands, but where it is mapped to metres it has a {what}{at}{edges}"
    made = _without_slivers(lib.make_valid(shape, method="structure", keep_collapsed=False))
    before, after = lib.area(shape), 0.0 if made is None else lib.area(made)
    change = abs(after / before - 1.0) if before > 0.0 else np.inf
    if made is None or not change <= MOST_REPAIRED or not lib.is_valid(made):
        says += f"; {as_keys(REPAIR)} would change its area by "
        says += "all of it" if change == np.inf else f"{100 * change:.3g} %"
        raise refused(path, f"{says}, so correct the outline there", "invalid")
    if not repair:
        says += f"; {as_keys(REPAIR)} makes it valid, which changes its area by {100 * change:.2g} "
        raise refused(path, f"{says}%, or correct the outline there", "invalid", REPAIR)
    parts = [counted(len(lib.get_parts(one)), "part") for one in (shape, made)]
    kept = parts[0] if parts[0] == parts[1] else f"{parts[0]} became {parts[1]}"
    says = f"made {path.name} valid ({what}{at}): its area changed by {100 * change:.2g} %, {kept}"
    return made, [says]


def _is_sliver(ring: Any) -> bool:
    """Whether a ring has no area to speak of."""
    west, south, east, north = ring.bounds
    area = shapely().area(shapely().Polygon(ring))
    return bool(area <= SLIVER * ((east - west) ** 2 + (north - south) ** 2))


def _without_slivers(shape: Any) -> Any:
    """The polygons of a shape without those, and without holes, that have no area to speak of."""
    lib, areas = shapely(), only_areas(shape)
    parts = [
        lib.Polygon(part.exterior, [hole for hole in part.interiors if not _is_sliver(hole)])
        for part in ([] if areas is None else lib.get_parts(areas))
        if not _is_sliver(part.exterior)
    ]
    return only_areas(lib.GeometryCollection(parts))


def _fault(shape: Any, reason: str, source: Any) -> tuple[str, str, str]:
    """What is wrong with a shape, where, and between which edges, in coordinates of `source`."""
    what, _, place = reason.partition("[")
    at = [float(word) for word in re.findall(r"[-+.\deE]+|nan", place)][:2]
    if len(at) < 2 or not np.isfinite(at).all():
        return what.lower(), "", ""
    rings = [shapely().get_coordinates(ring) for ring in rings_of(source)]
    near = _edges_at(shape, at)
    if source is not shape:
        ring, edge = near[0]
        at = rings[ring][edge].tolist()
    where = f" {'at' if source is shape else 'about'} ({at[0]:.9g}, {at[1]:.9g})"
    if "intersection" not in what:
        return what.lower(), where, ""
    edges = []
    for ring, edge in near:
        ends = " to ".join(f"({x:.9g}, {y:.9g})" for x, y in rings[ring][edge : edge + 2])
        edges.append(f"edge {edge} of ring {ring} from {ends}")
    return what.lower(), where, f", between {' and '.join(edges)}"


def _edges_at(shape: Any, at: list[float]) -> list[tuple[int, int]]:
    """The two edges nearest to a point, by ring and number."""
    lib, found = shapely(), []
    for k, ring in enumerate(rings_of(shape)):
        points = lib.get_coordinates(ring)
        edges = lib.linestrings(np.stack([points[:-1], points[1:]], axis=1))
        far = lib.distance(edges, lib.points(*at))
        found += [(float(far[j]), k, int(j)) for j in np.argsort(far)[:2]]
    return [(k, j) for _, k, j in sorted(found)[:2]]


def clipped(shape: Any, path: Path, box: Any, degrees: bool) -> tuple[Any, list[str]]:
    """The part of a shape in a box (west, south, east, north) in the coordinates of the file.

    In degrees a box whose west is greater than its east crosses the antimeridian.
    """
    lib = shapely()
    west, south, east, north = (float(value) for value in box)
    turn = 2 * HALF_TURN
    if degrees and west > east:
        east += turn
    if not (west < east and south < north):
        says = f"clip is {in_short(list(box))}; [west, south, east, north] is needed, with west "
        says += "less than east and south less than north"
        raise SiteError(f"{says} (in degrees, west > east crosses 180)", code="site.clip",
                        key="site.clip")  # fmt: skip
    window = lib.segmentize(lib.box(west, south, east, north), max(east - west, north - south)
                            / BOX_STEPS)  # fmt: skip
    moves = (-turn, 0.0, turn) if degrees else (0.0,)
    found = [lib.intersection(_beside(shape, move), window) for move in moves]
    whole = only_areas(lib.union_all([one for one in found if not lib.is_empty(one)]))
    if whole is None:
        reach = [f"{value:.9g}" for value in shape.bounds]
        says = f"has nothing in clip = {in_short(list(box))}; it reaches from ({reach[0]}, "
        says += f"{reach[1]}) to ({reach[2]}, {reach[3]})"
        raise refused(path, says, "clip")
    before, after = (counted(len(lib.get_parts(one)), "part") for one in (shape, whole))
    return whole, [f"clipped {path.name} to {in_short(list(box))}: {before}, {after} left"]


def by_size(shape: Any, degrees: bool) -> list[Any]:
    """The parts of a shape, the largest first; in degrees by their area on the ground."""
    parts, lib = list(shapely().get_parts(shape)), shapely()
    sizes = lib.area(parts)
    if degrees:
        bounds = lib.bounds(parts)
        sizes = sizes * np.cos(np.radians(0.5 * (bounds[:, 1] + bounds[:, 3])))
    return [parts[k] for k in np.argsort(-sizes, kind="stable")]


def with_parts(shape: Any, path: Path, parts: Any, degrees: bool) -> tuple[Any, list[str]]:
    """Some parts of a shape: the largest, or those of some numbers, the largest being 0."""
    ordered = by_size(shape, degrees)
    given = [0] if is_one_of(parts, (LARGEST,)) else [parts] if is_whole(parts) else parts
    good = isinstance(given, list | tuple) and len(given) > 0
    if not good or not all(is_whole(k) and 0 <= k < len(ordered) for k in given):
        says = f'parts is {in_short(parts)}; "{LARGEST}", a number from 0 (the largest) to '
        says += f"{len(ordered) - 1}, or a list of such numbers is needed"
        raise SiteError(says, code="site.parts", key="site.parts")
    kept = [ordered[k] for k in dict.fromkeys(given)]
    chosen = shapely().MultiPolygon(kept) if len(kept) > 1 else kept[0]
    if len(kept) == len(ordered):
        return chosen, []
    return chosen, [f"kept {len(kept)} of {len(ordered)} parts of {path.name}"]


def box_within(shape: Any, degrees: bool, metres: float = 1.0) -> dict[str, object]:
    """A clip, as advice, that is some hundred kilometres wide about a place in the largest part.

    `metres` is the unit of coordinates that are no degrees.
    """
    part = by_size(shape, degrees)[0]
    x, y = shapely().get_coordinates(part.representative_point())[0].tolist()
    if not degrees:
        half = 4e5 / metres
        return {"clip": [float(round(v)) for v in (x - half, y - half, x + half, y + half)]}
    y = min(max(y, BOX_DEGREES - 85.0), 85.0 - BOX_DEGREES)
    wide = BOX_DEGREES / np.cos(np.radians(y))
    west, east = ((x + way * wide + HALF_TURN) % 360.0 - HALF_TURN for way in (-1.0, 1.0))
    ends = (west, y - BOX_DEGREES, east, y + BOX_DEGREES)
    return {"clip": [round(float(value), 1) + 0.0 for value in ends]}


def refuse_far(shape: Any, path: Path) -> None:
    """Refuse coordinates that are no degrees."""
    points = shapely().get_coordinates(shape)
    if (np.abs(points) <= [2 * HALF_TURN, 90.0]).all():
        return
    far = points[np.argmax(np.abs(points).max(axis=1))].tolist()
    says = f"claims degrees, but has the vertex {far}; "
    if (np.abs(points) <= [90.0, 2 * HALF_TURN]).all():
        says += "latitude and longitude seem to be exchanged: longitude comes first, so exchange "
        raise refused(path, f"{says}the two numbers of each vertex in the file", "exchanged")
    raise refused(path, f'{says}state the system that it is in by crs = "EPSG:..."', "extent")


def unwrapped(shape: Any) -> Any:
    """A shape in degrees with rings that do not jump where they cross 180 degrees."""
    lib, turn = shapely(), 2 * HALF_TURN

    def continuous(points: Points) -> Points:
        steps = np.diff(points[:, 0])
        turns = np.round(steps / turn)
        moved = points - np.column_stack(
            [np.append(0.0, np.cumsum(turns)) * turn, 0.0 * points[:, 1]]
        )
        if turns.sum():  # round a pole, which is a side of the map
            if lib.is_valid(lib.Polygon(points)):
                return points
            pole = np.copysign(90.0, points[:, 1].mean())
            ends = [[moved[-1, 0], pole], [moved[0, 0], pole]]
            return np.vstack([moved, ends, moved[:1]])
        return moved if lib.Polygon(moved).area > 0.0 else points

    parts = []
    for part in lib.get_parts(shape):
        outer = continuous(lib.get_coordinates(part.exterior))
        middle = 0.5 * (outer[:, 0].min() + outer[:, 0].max())
        if abs(middle) > HALF_TURN:
            outer = outer - [turn * np.round(middle / turn), 0.0]
            middle -= turn * np.round(middle / turn)
        holes = [continuous(lib.get_coordinates(hole)) for hole in part.interiors]
        holes = [hole - [turn * np.round((hole[0, 0] - middle) / turn), 0.0] for hole in holes]
        parts.append(lib.Polygon(outer, holes))
    return lib.MultiPolygon(parts) if len(parts) > 1 else parts[0]


def about_middle(shape: Any, path: Path) -> tuple[Any, float, float, list[str]]:
    """A shape in degrees with longitudes about its middle, that middle, and what was repaired."""
    points = shapely().get_coordinates(shape)
    low, high = float(points[:, 1].min()), float(points[:, 1].max())
    order = np.unique(np.mod(points[:, 0], 2 * HALF_TURN))
    gaps = np.diff(order, append=order[0] + 2 * HALF_TURN)
    widest = int(np.argmax(gaps))
    if gaps[widest] < HALF_TURN or max(-low, high) == 90.0:
        advice = box_within(shape, degrees=True)
        says = "goes round a pole, or more than half round the Earth; a site of at most 2000 km "
        says += f"without a pole is needed, such as {as_keys(advice)}, in degrees"
        raise refused(path, says, "pole", advice)
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


def _beside(shape: Any, degrees: float) -> Any:
    """A shape moved by so many degrees of longitude."""
    return mapped(shape, lambda points: points + np.array([degrees, 0.0]))


def cut_at_seam(shape: Any) -> Any:
    """A shape with continuous longitudes, cut at 180 degrees into parts within -180 and 180."""
    lib, turn = shapely(), 2 * HALF_TURN
    west, _, east, _ = lib.bounds(shape)
    if lib.is_empty(shape) or (west >= -HALF_TURN and east <= HALF_TURN):
        return shape
    pieces, kind = [], int(lib.get_dimensions(shape))
    first, last = np.floor((west + HALF_TURN) / turn), np.ceil((east - HALF_TURN) / turn)
    for k in range(int(first), int(last) + 1):
        band = lib.box(k * turn - HALF_TURN, -90.0, k * turn + HALF_TURN, 90.0)
        parts = lib.get_parts(_beside(lib.intersection(shape, band), -k * turn))
        pieces += [one for one in parts if lib.get_dimensions(one) == kind and not one.is_empty]
    kinds = (lib.MultiPoint, lib.MultiLineString, lib.MultiPolygon)
    return pieces[0] if len(pieces) == 1 else kinds[kind](pieces)


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
    straight = np.abs(turn) <= AWAY * np.hypot(*(ahead + behind).T)
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


class Bowed(NamedTuple):
    """The side of an outline that is least straight where it is mapped to metres."""

    sagitta: float  # metres
    place: Points  # its middle, in coordinates of the file
    length: float  # metres


def largest_sagitta(shape: Any, to_metres: Callable[[Points], Points]) -> Bowed:
    """The side that is farthest from straight in metres, though straight in the file."""
    worst = Bowed(0.0, np.zeros(2), 0.0)
    for ring in rings_of(shape):
        points = shapely().get_coordinates(ring)
        middles = 0.5 * (points[:-1] + points[1:])
        ends = to_metres(points)
        off = np.hypot(*(to_metres(middles) - 0.5 * (ends[:-1] + ends[1:])).T)
        if off.max() > worst.sagitta:
            k = int(np.argmax(off))
            worst = Bowed(float(off[k]), middles[k], float(np.hypot(*(ends[k + 1] - ends[k]))))
    return worst


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

"""GeoJSON and TopoJSON, read without a library that would follow what they name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Points, in_short
from dwell.sites.formats import NEEDED
from dwell.sites.frames import DEGREES, NAMED
from dwell.sites.libraries import library, refused

DAMAGED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
SHAPES = ("Polygon", "MultiPolygon", "GeometryCollection")
OTHERS = ("Point", "MultiPoint", "LineString", "MultiLineString")


class Drawn(NamedTuple):
    """A feature: its attributes and its geometry in the form of GeoJSON."""

    id: object
    attributes: Mapping[str, Any]
    geometry: Any


class JsonMap(NamedTuple):
    """The layers of a file in JSON."""

    format: str  # "GeoJSON" or "TopoJSON"
    layers: dict[str, list[Drawn]]
    system: str | None


def read_json(file: Path, given: Path) -> JsonMap:
    """The layers of a GeoJSON or a TopoJSON; `given` is what the user named."""
    try:
        table = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        says = f"cannot be read as a map ({fault}); {NEEDED}"
        raise refused(given, says, "unreadable") from None
    if table.get("type") == "Topology":
        try:
            return JsonMap("TopoJSON", _topology(table), _system(table.get("crs"), given))
        except DAMAGED:
            says = "cannot be read as TopoJSON: its objects or arcs are damaged; write it again"
            raise refused(given, says, "unreadable") from None
    if table.get("type") == "FeatureCollection":
        rows = table.get("features")
    else:
        rows = [table] if table.get("type") in ("Feature", *SHAPES, *OTHERS) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        came = f'with "type": {json.dumps(table["type"])}' if "type" in table else "without a type"
        raise refused(given, f"is JSON {in_short(came)}; {NEEDED}", "unreadable")
    name = table["name"] if isinstance(table.get("name"), str) else given.stem
    features = [
        Drawn(row.get("id"), _attributes(row), row.get("geometry"))
        if row.get("type") == "Feature"
        else Drawn(None, {}, row)
        for row in rows
    ]
    crs = table.get("crs")
    system = DEGREES if crs is None else _system(crs, given)
    return JsonMap("GeoJSON", {name: features}, system)


def _attributes(row: Mapping[str, Any]) -> Mapping[str, Any]:
    table = row.get("properties")
    return table if isinstance(table, Mapping) else {}


def _system(crs: object, given: Path) -> str | None:
    """The name of a system; refused if it is a link, or another text."""
    if crs is None:
        return None
    table = crs.get("properties") if isinstance(crs, Mapping) else None
    name = table.get("name") if isinstance(table, Mapping) else None
    if isinstance(name, str) and NAMED.fullmatch(name):
        return name
    says = 'has a "crs" that is not a name such as "EPSG:32632"; give that, or leave it out for '
    raise refused(given, f"{says}degrees", "crs")


def _topology(table: Mapping[str, Any]) -> dict[str, list[Drawn]]:
    """The objects of a TopoJSON, each a layer, with their arcs joined to rings."""
    arcs = [np.asarray(arc, dtype=np.float64)[:, :2] for arc in table["arcs"]]
    if (change := table.get("transform")) is not None:
        scale, start = np.array(change["scale"]), np.array(change["translate"])
        arcs = [np.cumsum(arc, axis=0) * scale + start for arc in arcs]

    def joined(numbers: list[int]) -> list[Any]:
        pieces = [arcs[n] if n >= 0 else arcs[~n][::-1] for n in numbers]
        rows = [piece if k == 0 else piece[1:] for k, piece in enumerate(pieces)]
        return list(np.concatenate(rows).tolist())

    def drawn(one: Mapping[str, Any]) -> dict[str, Any] | None:
        kind = one["type"]
        if kind is None:
            return None
        if kind == "GeometryCollection":
            return {"type": kind, "geometries": [drawn(part) for part in one["geometries"]]}
        if kind == "Polygon":
            return {"type": kind, "coordinates": [joined(ring) for ring in one["arcs"]]}
        if kind == "MultiPolygon":
            rings = [[joined(ring) for ring in part] for part in one["arcs"]]
            return {"type": kind, "coordinates": rings}
        return {"type": kind, "coordinates": []}

    layers = {}
    for name, one in table["objects"].items():
        rows = one["geometries"] if one["type"] == "GeometryCollection" else [one]
        layers[name] = [Drawn(row.get("id"), _attributes(row), drawn(row)) for row in rows]
    return layers


class Shape(NamedTuple):
    """The shape of a feature as shapely has it, and what was needed to draw it."""

    drawn: Any  # None where there are no coordinates, or some are no numbers
    repairs: list[str]
    small: int = 0  # rings of fewer than three points, which are left out


def shape_of_json(geometry: Any, name: str) -> Shape:
    """The shape of a geometry of a file; of points and lines only their kind is drawn."""
    lib, seen = (
        library("shapely", "an outline of a map"),
        dict.fromkeys(("close", "high", "few"), 0),
    )

    def ring(positions: Any) -> Points:
        points = np.array([position[:2] for position in positions], dtype=np.float64)
        points = points.reshape(-1, 2)
        if np.isnan(points).any():
            raise ValueError
        seen["high"] |= any(len(position) > 2 for position in positions)
        if len(points) and (points[0] != points[-1]).any():
            points = np.vstack([points, points[:1]])
            seen["close"] = 1
        return points

    def polygons(rings: Any) -> list[Any]:
        read = [ring(positions) for positions in rings]
        good = [len(np.unique(points, axis=0)) > 2 for points in read]
        seen["few"] += good.count(False)
        if not good or not good[0]:
            return []
        holes = [hole for hole, whole in zip(read[1:], good[1:], strict=True) if whole]
        return [lib.Polygon(read[0], holes)]

    def drawn(one: Any) -> Any:
        kind, coordinates = one["type"], one.get("coordinates")
        if kind == "Polygon":
            return next(iter(polygons(coordinates)), lib.Polygon())
        if kind == "MultiPolygon":
            return lib.MultiPolygon([found for part in coordinates for found in polygons(part)])
        if kind == "GeometryCollection":
            return lib.GeometryCollection([drawn(part) for part in one["geometries"] if part])
        empty = {"Point": lib.Point(), "MultiPoint": lib.MultiPoint()}
        empty |= {"LineString": lib.LineString(), "MultiLineString": lib.MultiLineString()}
        return empty[kind]

    try:
        shape = None if geometry is None else drawn(geometry)
    except DAMAGED:
        shape = None
    repairs = [f"closed a ring of {name}"] * seen["close"]
    return Shape(shape, repairs + [f"left out the heights of {name}"] * seen["high"], seen["few"])

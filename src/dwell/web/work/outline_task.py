"""Outlines of the page: from the text of a GeoJSON to a workspace in metres."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dwell.errors import SiteError
from dwell.scenario import text_to_mapping
from dwell.scenario.places import describe_workspace
from dwell.web.limits import Limits
from dwell.web.request_parsing import checked_text, names_its_place

USUAL = "outline.geojson"  # the name where none is given
ENDINGS = (".geojson", ".json")
LONGEST = 80  # characters of a file's name
SYSTEM = re.compile(r"(urn:ogc:def:crs:)?\w{1,20}:[\w.]{0,20}:?\w{1,20}")


def outline(raw: bytes, limits: Limits, name: str = USUAL) -> dict[str, Any]:
    """Return the workspace table of all polygons of a GeoJSON, its site, and what was repaired.

    Only coordinates and the name of their system are handed to the library that reads map files:
    a GeoJSON may also name other files and addresses.
    """
    text = checked_text(raw, limits)
    if not text.lstrip().startswith("{"):
        raise _refused("the request must be the text of a GeoJSON, a JSON object {...}")
    mapping = text_to_mapping(text, source="the GeoJSON")
    polygons = list(_polygons(mapping))
    if not polygons:
        raise _refused("the GeoJSON has no polygon; a Polygon or a MultiPolygon is needed")
    shapes = [{"type": "Polygon", "coordinates": polygon} for polygon in polygons]
    features = [{"type": "Feature", "properties": {}, "geometry": shape} for shape in shapes]
    plain: dict[str, Any] = {"type": "FeatureCollection", "features": features}
    if mapping.get("crs") is not None:
        plain["crs"] = {"type": "name", "properties": {"name": _system(mapping["crs"])}}
    return _workspace(json.dumps(plain), plain_name(name))


def plain_name(name: str) -> str:
    """Return the name of a file as messages show it: without folders, and of a map in GeoJSON."""
    found = re.sub(r"[^\w .()+-]", "_", name).strip(" .")[-LONGEST:].strip(" .") or USUAL
    return found if found.lower().endswith(ENDINGS) else f"{found}{ENDINGS[0]}"


def _workspace(text: str, name: str) -> dict[str, Any]:
    from dwell.sites import Site

    with TemporaryDirectory(prefix="dwell-outline-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        site = Site.read(path, feature="all")
    place = {"file": name, "crs": site.frame.crs}
    return {
        "workspace": describe_workspace(site.workspace),
        "repairs": [*site.repairs, *site.notes],
        "site": place if names_its_place(place) else None,
    }


def _polygons(table: Mapping[str, Any]) -> Iterator[Any]:
    """The coordinates of each polygon in a GeoJSON object; lines and points are left out."""
    kind = table.get("type")
    if kind == "Polygon":
        yield _positions(table.get("coordinates"), 3)
    elif kind == "MultiPolygon":
        yield from _positions(table.get("coordinates"), 4)
    inside = [table.get("geometry"), *_listed(table, "features"), *_listed(table, "geometries")]
    for one in inside:
        if isinstance(one, Mapping):
            yield from _polygons(one)


def _listed(table: Mapping[str, Any], key: str) -> list[Any]:
    found = table.get(key)
    return found if isinstance(found, list) else []


def _positions(value: Any, depth: int) -> Any:
    """Lists of numbers, nested `depth` times, and nothing else."""
    number = depth == 0 and isinstance(value, int | float) and not isinstance(value, bool)
    if number or (depth > 0 and isinstance(value, list)):
        return float(value) if number else [_positions(one, depth - 1) for one in value]
    raise _refused("the GeoJSON has coordinates that are not lists of rings of numbers")


def _system(crs: object) -> str:
    """The name of a coordinate system, such as EPSG:32632; links and other texts are refused."""
    properties = crs.get("properties") if isinstance(crs, Mapping) else None
    name = properties.get("name") if isinstance(properties, Mapping) else None
    if not isinstance(name, str) or not SYSTEM.fullmatch(name):
        says = 'the GeoJSON has a "crs" that is not the name of a system in degrees, such as '
        raise _refused(f'{says}"EPSG:4326"; give that name, or leave "crs" out')
    return name


def _refused(says: str) -> SiteError:
    return SiteError(says, code="web.outline", key="workspace")

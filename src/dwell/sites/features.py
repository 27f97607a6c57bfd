"""Features of map files: their layers, attributes and shapes, and those that an outline is of."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._types import counted, in_short, is_one_of, is_whole
from dwell.errors import SiteError
from dwell.sites import outlines
from dwell.sites.formats import JSON, NEEDED, SHAPEFILE, Opened, opened
from dwell.sites.frames import named, system_of
from dwell.sites.libraries import as_keys, library, refused
from dwell.sites.map_json import Shape, read_json, shape_of_json

ALL = "all"  # features, as one outline
LATIN = "ISO-8859-1"  # in which attributes of Shapefiles are that are not UTF-8
MOST_LISTED = 10  # features and layers
NO_SHAPE = "no geometry, or one with coordinates that are not numbers,"
AREAS = ("Polygon", "MultiPolygon")
One = int | str | None
Choice = One | list[int | str] | tuple[int | str, ...]


class Features(NamedTuple):
    """The features of one layer of a file."""

    layers: list[str]  # of the file
    layer: str
    format: str
    system: str | None  # that the file names
    ids: list[object]
    fields: dict[str, list[Any]]  # attributes by name
    shape_at: Callable[[int], Shape]


def layers_of(path: Path) -> list[str]:
    """The names of the layers of a file."""
    with opened(path) as found:
        if found.format == JSON:
            return list(read_json(found.files[""], path).layers)
        if "" not in found.files:
            return list(found.files)
        return _listed(found.files[""], path)


def read_features(path: Path, layer: str | None) -> Features:
    """The features of the layer that is meant; refused with a list if there is not one."""
    with opened(path) as found:
        if found.format == JSON:
            return _from_json(found.files[""], path, layer)
        return _from_library(found, path, layer)


def _from_json(file: Path, path: Path, layer: str | None) -> Features:
    table = read_json(file, path)
    layer = _chosen_layer(path, list(table.layers), layer)
    rows = table.layers[layer]
    names = dict.fromkeys(str(name) for row in rows for name in row.attributes)
    fields = {name: [_plain(row.attributes.get(name)) for row in rows] for name in names}
    ids = [k if row.id is None else row.id for k, row in enumerate(rows)]

    def shape_at(k: int) -> Shape:
        return shape_of_json(rows[k].geometry, path.name)

    return Features(list(table.layers), layer, table.format, table.system, ids, fields, shape_at)


def _plain(value: object) -> object:
    """An attribute as a feature is chosen by it: nested tables as JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _from_library(found: Opened, path: Path, layer: str | None) -> Features:
    pyogrio, raw = (library(name, f"reading {path.name}") for name in ("pyogrio", "pyogrio.raw"))
    layers = _listed(found.files[""], path) if "" in found.files else list(found.files)
    layer = _chosen_layer(path, layers, layer)
    file = found.files.get("") or found.files[layer]
    for encoding in (None, LATIN) if found.format == SHAPEFILE else (None,):
        try:
            driver = pyogrio.read_info(file, layer=layer, encoding=encoding)["driver"]
            if driver != found.format:
                break
            with warnings.catch_warnings():  # of rings that are not closed, which `_shape` closes
                warnings.simplefilter("ignore", RuntimeWarning)
                meta, ids, shapes, columns = raw.read(
                    file, layer=layer, encoding=encoding, return_fids=True
                )
            break
        except UnicodeDecodeError as fault:
            why = fault
        except Exception as fault:  # a damaged file fails in many ways within the library
            raise _unreadable(path, file, fault) from None
    else:
        raise _unreadable(path, file, why)
    if driver != found.format:
        raise refused(path, f"is a {driver}; {NEEDED}", "unreadable")
    fields = {str(name): list(column) for name, column in zip(meta["fields"], columns, strict=True)}

    def shape_at(k: int) -> Shape:
        return _shape(path, shapes[k])

    return Features(
        layers, layer, found.format, meta["crs"], np.asarray(ids).tolist(), fields, shape_at
    )


def _listed(file: Path, path: Path) -> list[str]:
    """The layers of a file as the library lists them."""
    pyogrio = library("pyogrio", f"reading {path.name}")
    try:
        return [str(name) for name in pyogrio.list_layers(file)[:, 0]]
    except Exception as fault:  # a damaged file fails in many ways within the library
        raise _unreadable(path, file, fault) from None


def _unreadable(path: Path, file: Path, fault: Exception) -> Exception:
    why = " ".join(str(fault).partition(";")[0].rstrip(".").replace(str(file), path.name).split())
    return refused(path, f"cannot be read as a map ({why}); {NEEDED}", "unreadable")


def _shape(path: Path, wkb: bytes | None) -> Shape:
    """The shape of some WKB, with rings closed; without one that has too few points."""
    lib = outlines.shapely()
    try:
        return Shape(lib.from_wkb(wkb), [])
    except lib.errors.GEOSException:
        closed = lib.from_wkb(wkb, on_invalid="fix")
    if closed is None or lib.is_empty(closed):
        return Shape(None, [], 1)
    return Shape(closed, [f"closed a ring of {path.name}"])


def _chosen_layer(file: Path, layers: list[str], layer: str | None) -> str:
    if not layers:
        raise refused(file, "has no layers; one with a polygon is needed", "layer")
    if layer is None and len(layers) == 1:
        return layers[0]
    if layer is not None and is_one_of(layer, layers):
        return layer
    shown = layers if len(layers) <= MOST_LISTED else [*layers[:MOST_LISTED], "..."]
    listed = ", ".join(shown)
    came = f"has {len(layers)} layers" if layer is None else f"has no layer {in_short(layer)}"
    raise refused(file, f"{came}; choose one by layer = ...: {listed}", "layer")


def outline_among(
    file: Path, features: Features, feature: Choice, repair: bool, crs: Any
) -> tuple[Any, list[str]]:
    """The area of the features that are meant, dissolved where they are several, and repairs.

    Of a layer in the system `crs`.
    """
    whole = is_one_of(feature, (ALL,))
    many = whole or isinstance(feature, list | tuple)
    if isinstance(feature, list | tuple):
        chosen = [_chosen_feature(file, one, features) for one in feature]
    elif whole:
        chosen = list(range(len(features.ids)))
    else:
        chosen = [_chosen_feature(file, feature, features)]
    shapes, repairs, left_out = [], list[str](), 0
    for k in dict.fromkeys(chosen):
        shape, closed, small = features.shape_at(k)
        areas = polygons_of(shape)
        if small:
            closed = [*closed, _left_out(file, small, areas, repair)]
        if areas is None:
            left_out += 1
            if many:
                continue
            kind = NO_SHAPE if shape is None else f"a {shape.geom_type}"
            says = f"has {kind} in feature {k}; a Polygon or MultiPolygon is needed"
            raise refused(file, says, "geometry")
        areas, cleaned = outlines.cleaned(areas, file)
        if crs.is_geographic:
            areas = outlines.unwrapped(areas)
        areas, sound = outlines.sound(areas, file, repair)
        shapes.append(areas)
        repairs += [*closed, *cleaned, *sound]
    if not shapes:
        raise refused(file, "has no feature with an area; a polygon is needed", "geometry")
    if left_out:
        repairs.append(f"left out {counted(left_out, 'feature')} of {file.name} without an area")
    if len(shapes) == 1:
        return shapes[0], repairs
    area = outlines.only_areas(outlines.shapely().union_all(shapes))
    return area, [*repairs, f"dissolved {len(shapes)} features of {file.name}"]


def _left_out(file: Path, small: int, areas: Any, repair: bool) -> str:
    """The repair that left out rings of too few points; refused without `repair`."""
    what = counted(small, "ring") + " of fewer than three points"
    if areas is None or areas.is_empty:
        raise refused(file, f"has {what} and nothing else; draw it again", "invalid")
    if not repair:
        says = f"has {what}; {as_keys(outlines.REPAIR)} leaves them out, or draw them again"
        raise refused(file, says, "invalid", outlines.REPAIR)
    return f"left out {what} of {file.name}"


def outline_of(shape: Any, repair: bool, crs: Any) -> tuple[Any, list[str]]:
    """The area of a shape in memory, dissolved if it has several features, and repairs."""
    file = Path("the shape")
    table = getattr(shape, "__geo_interface__", shape)
    if not isinstance(table, Mapping) or "type" not in table:
        says = f"the shape is {in_short(shape)}; one of shapely or GeoPandas is needed, or a dict "
        raise SiteError(f"{says}of GeoJSON", code="site.shape", key="site")
    rows = table.get("features") if table["type"] == "FeatureCollection" else [table]
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        says = f"the features of the shape are {in_short(rows)}; a list of dicts is needed"
        raise SiteError(says, code="site.shape", key="site")
    drawn = [row.get("geometry") if row.get("type") == "Feature" else row for row in rows]

    def shape_at(k: int) -> Shape:
        return shape_of_json(drawn[k], file.name)

    features = Features([""], "", "", None, list(range(len(drawn))), {}, shape_at)
    return outline_among(file, features, ALL if len(drawn) > 1 else 0, repair, crs)


def polygons_of(shape: Any) -> Any:
    """The polygons of a shape; None without any."""
    if shape is None or shape.geom_type in AREAS:
        return shape
    return outlines.only_areas(shape) if shape.geom_type == "GeometryCollection" else None


def _chosen_feature(file: Path, feature: One, features: Features) -> int:
    """The place of the feature that is meant; refused with a list if there is not one."""
    ids, fields = features.ids, features.fields
    every = list(range(len(ids)))
    if feature is None:
        found = every
    elif is_whole(feature):
        found = [k for k in every if k == feature]
    else:
        key, _, value = str(feature).partition("=")
        column = fields.get(key, ids if key in ("id", "fid") else [None] * len(ids))
        found = [k for k in every if str(column[k]) == value]
    if len(found) == 1:
        return found[0]
    if not ids:
        raise refused(file, "has no features; one with a polygon is needed", "feature")
    among = found or every
    about = [_about_feature(k, features) for k in among[:MOST_LISTED]]
    if len(among) > MOST_LISTED:
        about.append("...")
    listed = "; ".join(about)
    came = f"has {counted(len(ids), 'feature')}"
    if feature is not None:
        came += f", of which {len(found) or 'none'} match feature = {in_short(feature)}"
    alike = len(among) > 1 and all(
        len({str(column[k]) for k in among}) == 1 for column in fields.values()
    )
    advice = "choose one by feature = its number from 0"
    if not alike:
        advice += ', or "key=value"'
    says = f'{came}; one is needed, {advice}, or "{ALL}": {listed}'
    raise refused(file, says, "feature")


def _about_feature(k: int, features: Features) -> str:
    """A feature in a list: its number, some of its attributes, and where it lies."""
    words = [str(k), *(f"{key}={features.fields[key][k]}" for key in list(features.fields)[:3])]
    bounds = bounds_of(features, k)
    if bounds is not None:
        west, south, east, north = bounds
        words.append(f"about ({0.5 * (west + east):.6g}, {0.5 * (south + north):.6g})")
    return ", ".join(words)


def bounds_of(features: Features, k: int) -> tuple[float, float, float, float] | None:
    """West, south, east and north of a feature; None where it has no coordinates."""
    shape = features.shape_at(k).drawn
    if shape is None or not np.isfinite(shape.bounds).all():
        return None
    west, south, east, north = shape.bounds
    return west, south, east, north


def system_among(file: Path, features: Features, crs: str | None) -> tuple[Any, list[str]]:
    """The coordinate reference system of a layer, as pyproj has it, and notes on it.

    `crs` is what the user states; refused where there is none, or one without a place.
    """
    given = features.system
    if crs is not None:
        found, stated = system_of(crs, "crs"), f"crs = {in_short(crs)}"
        named_in_file = None if given is None else _read_system(file, given)
        if named_in_file is not None and not named_in_file.equals(found, ignore_axis_order=True):
            notes = [f"{file.name} names {named(named_in_file)}, but is read as {named(found)}"]
        else:
            notes = []
    elif given is None:
        raise _without_system(file, features)
    else:
        found, notes, stated = _read_system(file, given), [], f"{file.name}"
    refuse_placeless(file, found, stated)
    return found, notes


def refuse_placeless(file: Path, crs: Any, stated: str) -> None:
    """Refuse a system without a place, as of heights, or of a drawing."""
    if not (crs.is_geographic or crs.is_projected):
        says = f"is in {crs.name}, which has no place on the Earth ({stated}); state its system "
        raise refused(file, f'{says}by crs = "EPSG:..."', "crs")


def _read_system(file: Path, given: str) -> Any:
    try:
        return system_of(given, "crs")
    except ValueError:
        says = f"names a system that PROJ does not know ({in_short(given)}); state it "
        raise refused(file, f'{says}by crs = "EPSG:..."', "crs") from None


def _without_system(file: Path, features: Features) -> Exception:
    """The error about a file that names no system."""
    says = "has no coordinate reference system (a Shapefile has it in its .prj, a TopoJSON never); "
    bounds = [found for k in range(len(features.ids)) if (found := bounds_of(features, k))]
    table = np.array(bounds).reshape(-1, 2)
    advice = {"crs": "EPSG:4326"}
    if len(table) and (np.abs(table) <= [360.0, 90.0]).all():
        says += f"its coordinates lie within those of degrees: state them by {as_keys(advice)}"
        return refused(file, says, "crs", advice)
    return refused(file, f'{says}state it by crs = "EPSG:..."', "crs")

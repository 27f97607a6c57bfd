"""Features of map files: the outline, its layer, and its coordinate reference system."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import counted, in_short, is_whole
from dwell.sites import outlines
from dwell.sites.frames import DEGREES
from dwell.sites.libraries import library, refused

MOST_LISTED = 10  # features and layers
NO_SHAPE = "no geometry, or one with coordinates that are not numbers,"


def read_outline(
    file: Path, layer: str | None, feature: int | str | None
) -> tuple[Any, Any, list[str]]:
    """The polygon or multipolygon of one feature of a file, its system, and what was repaired."""
    pyogrio, raw = (library(name, f"reading {file.name}") for name in ("pyogrio", "pyogrio.raw"))
    try:
        layers = [str(name) for name in pyogrio.list_layers(file)[:, 0]]
        layer = _chosen_layer(file, layers, layer)
        driver = pyogrio.read_info(file, layer=layer)["driver"]
        with warnings.catch_warnings():  # of rings that are not closed, which `_shape_of` closes
            warnings.simplefilter("ignore", RuntimeWarning)
            meta, ids, shapes, columns = raw.read(file, layer=layer, return_fids=True)
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as fault:
        if file.is_file() and not file.stat().st_size:
            raise refused(file, "is empty; a map is needed", "unreadable") from None
        why = str(fault).partition(";")[0].rstrip(".").replace(str(file), file.name)
        says = f"cannot be read as a map ({why}); GeoJSON, GeoPackage or Shapefile is needed"
        raise refused(file, says, "unreadable") from None
    fields = dict(zip(map(str, meta["fields"]), columns, strict=True))
    index = _chosen_feature(file, feature, np.asarray(ids), fields, shapes)
    crs = _system(file, meta["crs"], driver)
    shape, repairs = _shape_of(file, shapes[index])
    if shape is None or shape.geom_type not in ("Polygon", "MultiPolygon"):
        kind = NO_SHAPE if shape is None else f"a {shape.geom_type}"
        says = f"has {kind} in feature {index}; a Polygon or MultiPolygon is needed"
        raise refused(file, says, "geometry")
    return shape, crs, repairs


def _shape_of(file: Path, wkb: bytes | None) -> tuple[Any, list[str]]:
    """The shape of some WKB, with rings closed, and what was repaired; None without one."""
    lib = outlines.shapely()
    try:
        return lib.from_wkb(wkb), []
    except lib.errors.GEOSException:
        closed = lib.from_wkb(wkb, on_invalid="fix")
    if closed is None or lib.is_empty(closed):
        raise refused(file, "has a ring of fewer than three points; draw it again", "invalid")
    return closed, [f"closed a ring of {file.name}"]


def _chosen_layer(file: Path, layers: list[str], layer: str | None) -> str:
    if layer is None and len(layers) == 1:
        return layers[0]
    if layer is not None and layer in layers:
        return layer
    listed = ", ".join(layers[:MOST_LISTED]) + ", ..." * (len(layers) > MOST_LISTED)
    came = f"has {len(layers)} layers" if layer is None else f"has no layer {in_short(layer)}"
    raise refused(file, f"{came}; choose one by layer = ...: {listed}", "layer")


def _chosen_feature(
    file: Path,
    feature: int | str | None,
    ids: np.ndarray,
    fields: dict[str, np.ndarray],
    shapes: np.ndarray,
) -> int:
    """The number of the feature that is meant; refused with a list if there is not one."""
    every = np.arange(len(ids))
    if feature is None:
        found = every
    elif is_whole(feature):
        found = every[every == feature]
    else:
        key, _, value = str(feature).partition("=")
        column = fields.get(key, ids if key in ("id", "fid") else np.full(len(ids), None))
        found = every[[str(one) == value for one in column]]
    if len(found) == 1:
        return int(found[0])
    if not len(ids):
        raise refused(file, "has no features; one with a polygon is needed", "feature")
    among = found if len(found) else every
    listed = "; ".join(_about_feature(k, fields, shapes[k]) for k in among[:MOST_LISTED])
    listed += "; ..." * (len(among) > MOST_LISTED)
    came = f"has {counted(len(ids), 'feature')}"
    if feature is not None:
        came += f", of which {len(found) or 'none'} match feature = {in_short(feature)}"
    alike = len(among) > 1 and all(len(set(map(str, c[among]))) == 1 for c in fields.values())
    advice = "choose one by feature = its number from 0" + ', or "key=value"' * (not alike)
    raise refused(file, f"{came}; one is needed, {advice}: {listed}", "feature")


def _about_feature(k: int, fields: dict[str, np.ndarray], wkb: bytes | None) -> str:
    """A feature in a list: its number, some of its attributes, and where it lies."""
    words = [str(k), *(f"{key}={fields[key][k]}" for key in list(fields)[:3])]
    lib = outlines.shapely()
    west, south, east, north = lib.bounds(lib.from_wkb(wkb, on_invalid="ignore"))
    if np.isfinite(west):
        words.append(f"about ({0.5 * (west + east):.6g}, {0.5 * (south + north):.6g})")
    return ", ".join(words)


def _system(file: Path, given: str | None, driver: str) -> Any:
    """The coordinate reference system of a layer; refused where there is none, or an old one."""
    assign = f"by ogr2ogr -a_srs EPSG:... out.gpkg {file.name}"
    if given is None:
        says = "has no coordinate reference system (a Shapefile has it in its .prj); state it "
        raise refused(file, f"{says}{assign}", "crs")
    crs = library("pyproj", f"reading {file.name}").CRS.from_user_input(given).to_2d()
    if driver.startswith("GeoJSON") and not crs.equals(DEGREES, ignore_axis_order=True):
        says = f"names {crs.name} as its system, but GeoJSON is in degrees on WGS 84 (RFC 7946); "
        says += f"convert it by ogr2ogr -t_srs {DEGREES} degrees.geojson {file.name}"
        raise refused(file, says, "crs")
    if not (crs.is_geographic or crs.is_projected):
        says = f"is in {crs.name}, which has no place on the Earth; state the system {assign}"
        raise refused(file, says, "crs")
    return crs

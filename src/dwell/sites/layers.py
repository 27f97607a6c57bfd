"""Layers of features, written as GeoPackage or GeoJSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dwell.errors import InputError
from dwell.sites.frames import DEGREES, Frame
from dwell.sites.libraries import library
from dwell.sites.outlines import cut_at_seam, mapped

DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON", ".json": "GeoJSON"}
DECIMALS = 9  # of degrees in GeoJSON: 0.1 mm
UTC = 100  # the time zone in the words of GDAL


class Layer(NamedTuple):
    """Features of one kind, with a column per attribute."""

    name: str
    kind: str  # of geometry
    shapes: Sequence[Any]  # in metres of the frame
    columns: Mapping[str, np.ndarray]
    absent: Mapping[str, np.ndarray] = MappingProxyType({})  # by column: where it has no value


def driver_of(path: Path) -> str:
    """The driver of GDAL for a file of this name."""
    if path.suffix.lower() not in DRIVERS:
        says = (
            f"{path.name} ends in {path.suffix or 'nothing'}; a map is written as .gpkg or .geojson"
        )
        raise InputError(says, code="export.format", key="gis")
    return DRIVERS[path.suffix.lower()]


def write_layers(path: Path, layers: Sequence[Layer], frame: Frame) -> None:
    """Write layers to a new file.

    A GeoPackage has them in the coordinates of the frame. GeoJSON has one list of features in
    degrees, with the name of the layer as the property `layer`.
    """
    raw, driver = library("pyogrio.raw", "writing a map"), driver_of(path)
    if driver == "GeoJSON":
        layers = [_in_degrees(layers, frame)]
    for k, layer in enumerate(layers):
        own: dict[str, Any] = {"crs": frame.crs, "append": k > 0}
        if driver == "GeoJSON":
            own = {"crs": DEGREES, "COORDINATE_PRECISION": DECIMALS}
        times = [name for name, one in layer.columns.items() if one.dtype.kind == "M"]
        raw.write(
            path, _wkb(layer.shapes), list(layer.columns.values()), list(layer.columns),
            field_mask=[layer.absent.get(name) for name in layer.columns], layer=layer.name,
            driver=driver, geometry_type=layer.kind,
            gdal_tz_offsets={name: np.full(len(layer.shapes), UTC) for name in times}, **own,
        )  # fmt: skip


def _wkb(shapes: Sequence[Any]) -> np.ndarray:
    found: np.ndarray = np.asarray(library("shapely", "writing a map").to_wkb(list(shapes)), object)
    return found


def _in_degrees(layers: Sequence[Layer], frame: Frame) -> Layer:
    """All layers as one, in degrees, cut at the antimeridian (RFC 7946, 3.1.9).

    An attribute that a layer does not have is empty there.
    """
    sizes = [len(layer.shapes) for layer in layers]
    words = [np.full(size, layer.name, object) for size, layer in zip(sizes, layers, strict=True)]
    columns, absent = {"layer": np.concatenate(words)}, {}
    for name in dict.fromkeys(name for layer in layers for name in layer.columns):
        kind = next(one.columns[name].dtype for one in layers if name in one.columns)
        parts = [
            layer.columns.get(name, np.zeros(size, kind))
            for size, layer in zip(sizes, layers, strict=True)
        ]
        columns[name] = np.concatenate(parts)
        absent[name] = np.repeat([name not in layer.columns for layer in layers], sizes)
    metres = np.array([shape for layer in layers for shape in layer.shapes], dtype=object)
    degrees = mapped(metres, frame.to_map_continuous)
    shapes = [cut_at_seam(shape) for shape in degrees]
    return Layer("dwell", "Unknown", shapes, columns, absent)

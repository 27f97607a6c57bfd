"""Map files that the tests write, and advice that they follow."""

import json
import re
from pathlib import Path

import numpy as np
import pyogrio.raw
import rasterio
import shapely
from rasterio.transform import from_origin

import dwell
from dwell.errors import SiteError

SQUARE = [[4.0, 52.0], [4.1, 52.0], [4.1, 52.05], [4.0, 52.05], [4.0, 52.0]]


def geojson(path: Path, *geometries: dict, **more: object) -> Path:
    """A GeoJSON file of some geometries, the k-th with the name `part k`."""
    features = [
        {"type": "Feature", "properties": {"name": f"part {k}"}, "geometry": one}
        for k, one in enumerate(geometries)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **more}))
    return path


def polygon(*rings: list) -> dict:
    """A polygon of GeoJSON."""
    return {"type": "Polygon", "coordinates": list(rings)}


def vector(path: Path, shape: object, crs: str | None, driver: str, layer: str = "site") -> Path:
    """A file of one feature, written by GDAL; a layer more if it exists."""
    shape = shapely.Polygon(shape) if isinstance(shape, list) else shape
    pyogrio.raw.write(
        path, np.array([shapely.to_wkb(shape)], dtype=object), [np.array(["one"], dtype=object)],
        ["name"], layer=layer, driver=driver, geometry_type="Unknown" if driver == "GPKG" else
        shape.geom_type, crs=crs, append=path.exists(),
    )  # fmt: skip
    return path


def tiff(path: Path, values: np.ndarray, crs: str | None, corner=(0.0, 0.0), pixel=10.0, **more):
    """A GeoTIFF with its north-west corner and the size of its pixels."""
    bands = values[None] if values.ndim == 2 else values
    count, height, width = bands.shape
    tags = more.pop("tags", {})
    with rasterio.open(
        path, "w", driver="GTiff", height=height, width=width, count=count, dtype=bands.dtype,
        crs=crs, transform=from_origin(*corner, pixel, pixel), **more,
    ) as file:  # fmt: skip
        file.write(bands)
        file.update_tags(**tags)
    return path


def followed(path: Path, **keys: object) -> tuple[dwell.Site, list[dict]]:
    """The site of a file, read as the messages about it advise, word for word; and this advice."""
    steps: list[dict] = []
    while len(steps) < 6:
        try:
            return dwell.Site.read(path, **keys), steps
        except SiteError as fault:
            advice = _advice(fault)
            steps.append(advice)
            keys |= advice
    raise AssertionError(steps)


def _advice(fault: SiteError) -> dict:
    """The keys that a message names, as its words give them."""
    words = dict(re.findall(r'(\w+) = (\[[^\]]*\]|"[^"]*"|true|[\d.e+]+)', str(fault)))
    advice = {key: json.loads(words[key]) for key in fault.advice}
    assert advice, fault
    assert advice == fault.advice
    return advice


def topology(path, transform=None):
    """Two basins with a common side, as TopoJSON."""
    arcs = [[[4.1, 52.0], [4.1, 52.05]], [[4.1, 52.05], [4.0, 52.05], [4.0, 52.0], [4.1, 52.0]],
            [[4.1, 52.0], [4.3, 52.0], [4.3, 52.05], [4.1, 52.05]]]  # fmt: skip
    table = {"type": "Topology"}
    if transform:
        scale, start = np.array([1e-4, 2e-4]), np.array([4.0, 52.0])
        whole = [np.round((np.array(arc) - start) / scale).astype(int) for arc in arcs]
        arcs = [np.diff(arc, axis=0, prepend=[[0, 0]]).tolist() for arc in whole]
        table["transform"] = {"scale": scale.tolist(), "translate": start.tolist()}
    rows = [
        {"type": "Polygon", "arcs": [[0, 1]], "id": "w", "properties": {"name": "west"}},
        {"type": "MultiPolygon", "arcs": [[[2, -1]]], "properties": {"name": "east"}},
        {"type": None, "properties": {}},
    ]
    table |= {"arcs": arcs, "objects": {"basins": {"type": "GeometryCollection",
                                                   "geometries": rows}}}  # fmt: skip
    path.write_text(json.dumps(table))
    return path

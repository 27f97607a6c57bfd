"""Makes the bay of docs/places.md: an outline with islands as GeoJSON, and depths as GeoTIFF.

Run as ``python docs/studies/bay.py FOLDER``. It needs the extra geo; nothing is downloaded.
"""

import json
import sys
from pathlib import Path

import numpy as np
import rasterio
from rasterio.transform import from_origin

from dwell import Frame

ZONE = Frame("EPSG:32629")
MIDDLE = (512_000.0, 5_790_000.0)  # off the west coast of Ireland
COAST, ISLANDS = 140, ((-1500.0, 900.0, 700.0), (1900.0, -600.0, 450.0))
PIXEL, SIZE = 50.0, (200, 240)


def coast() -> np.ndarray:
    """The shore: a round bay with headlands, (k, 2) in metres about the middle."""
    angle = 2.0 * np.pi * np.arange(COAST) / COAST
    radius = 4000.0 + 500.0 * np.cos(3.0 * angle + 0.4) + 300.0 * np.sin(7.0 * angle)
    radius += 120.0 * np.cos(19.0 * angle)
    return np.column_stack([1.25 * radius * np.cos(angle), radius * np.sin(angle)])


def island(x: float, y: float, radius: float) -> np.ndarray:
    """An island, clockwise, (k, 2) in metres about the middle."""
    angle = -2.0 * np.pi * np.arange(24) / 24
    away = radius * (1.0 + 0.2 * np.cos(2.0 * angle + x))
    return np.column_stack([x + 1.3 * away * np.cos(angle), y + away * np.sin(angle)])


def depth(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The depth in metres at points about the middle: a channel towards the south-west."""
    channel = np.exp(-(((x - y) / 2200.0) ** 2)) * (1.0 + 0.5 * np.tanh(-(x + y) / 4000.0))
    return np.round(2.0 + 28.0 * channel, 2)


def main(folder: Path) -> None:
    """Write bay.geojson, bay.gpkg and depth.tif."""
    rings = [coast(), *(island(*one) for one in ISLANDS)]
    degrees = [ZONE.to_map(ring + MIDDLE).round(9).tolist() for ring in rings]
    shape = {"type": "Polygon", "coordinates": [[*ring, ring[0]] for ring in degrees]}
    feature = {"type": "Feature", "properties": {"name": "bay"}, "geometry": shape}
    text = json.dumps({"type": "FeatureCollection", "features": [feature]})
    (folder / "bay.geojson").write_text(text)
    height, width = SIZE
    x = PIXEL * (np.arange(width) + 0.5 - width / 2)
    y = PIXEL * (height / 2 - 0.5 - np.arange(height))  # north first
    values = depth(*np.meshgrid(x, y)).astype(np.float32)
    corner = (MIDDLE[0] - PIXEL * width / 2, MIDDLE[1] + PIXEL * height / 2)
    with rasterio.open(
        folder / "depth.tif", "w", driver="GTiff", height=height, width=width, count=1,
        dtype="float32", crs=ZONE.crs, transform=from_origin(*corner, PIXEL, PIXEL), tiled=True,
        blockxsize=64, blockysize=64,
    ) as file:  # fmt: skip
        file.write(values[None])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))

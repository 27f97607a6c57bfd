"""Raster files: where their pixels lie, in which system, and how windows of them are read."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Floats, in_short
from dwell.errors import DwellWarning
from dwell.sites.libraries import library
from dwell.sites.libraries import refused_raster as refused
from dwell.sites.netcdf_files import open_grid
from dwell.sites.pixels import (
    Packing,
    Pixels,
    counted_back,
    oriented,
    reading,
    refuse_outside,
)

LARGE_BLOCK = 10_000_000  # pixels that a file gives only together
# How files begin that are read, and by what: GDAL would choose a driver by the content of any file,
# also one that reads other files or the network.
BEGINNINGS = {
    b"II*\0": "GTiff",
    b"MM\0*": "GTiff",
    b"II+\0": "GTiff",
    b"MM\0+": "GTiff",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\x89HDF\r\n\x1a\n": "NetCDF-4",
    b"CDF\x01": "NetCDF-3",
    b"CDF\x02": "NetCDF-3",
    b"CDF\x05": "CDF-5",
}
# Only the file itself is opened: files beside it may name others, or an address.
ALONE = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "GDAL_PAM_ENABLED": "NO"}
MEANT = re.compile(r"<(NoDataValue|Offset|Scale|SRS|GeoTransform|GCPList|MaskBand|VRT)\b", re.I)


def open_pixels(
    path: Path,
    band: int | str | None,
    origin: tuple[float, float] | None = None,
    pixel: float | tuple[float, float] | None = None,
    time: int | str | None = None,
) -> Pixels:
    """The grid of a file; `origin`, in the south-west, and `pixel` place a file without a place."""
    kind = _kind(path)
    if kind in ("GTiff", "PNG"):
        if time is not None:
            says = "has no times, which only NetCDF has; leave time out, or choose a band"
            raise refused(path, says, "time")
        return _by_gdal(path, kind, band, origin, pixel)
    return open_grid(path, kind, band, time)


def _kind(path: Path) -> str:
    """What a file is by its first bytes."""
    try:
        with path.open("rb") as file:
            begin = file.read(8)
    except OSError as fault:
        raise refused(path, f"cannot be read ({fault.strerror or fault})", "unreadable") from None
    for beginning, kind in BEGINNINGS.items():
        if begin.startswith(beginning):
            return kind
    says = f"is no GeoTIFF, NetCDF or PNG: it begins with {in_short(begin)}, whatever its name; "
    says += "convert it by `rio convert`, as from .asc or .img, if it comes from where you trust"
    raise refused(path, says, "unreadable")


def _by_gdal(path: Path, kind: str, band: Any, origin: Any, pixel: Any) -> Pixels:
    rasterio = library("rasterio", f"reading {path.name}")
    _refuse_beside(path)
    file_of_gdal = str(path.resolve())  # never a name that GDAL would take for more than a file
    with rasterio.Env(**ALONE), warnings.catch_warnings(), reading(path, "GeoTIFF or PNG"):
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        file = rasterio.open(file_of_gdal, driver=kind)
    band = _chosen_band(path, band, file)
    if "complex" in (kind_of_number := file.dtypes[band - 1]):
        says = f"has {kind_of_number} numbers; real ones are needed: write their sizes to a file"
        raise refused(path, says, "band")
    (rows, columns), to_map = file.shape, file.transform
    block = file.block_shapes[band - 1]
    if math.prod(block) > LARGE_BLOCK:
        says = f"{path.name} has blocks of {block[0]} x {block[1]} pixels and is read nearly "
        says += (
            f"whole; `rio convert --co TILED=YES {path.name} tiled.tif` makes windows of it quick"
        )
        warnings.warn(DwellWarning(says), stacklevel=2)
    if origin is not None and pixel is not None:
        wide, high = np.broadcast_to(pixel, 2).tolist()
        corner, size, crs = tuple(origin), (wide, high), None
        north_first, east_first = True, False
    elif file.crs is None:
        says = "has no coordinate reference system; give origin = [x, y] of its south-west corner "
        says += f"and pixel = metres, or state it by `rio edit-info --crs EPSG:... {path.name}`"
        raise refused(path, says, "raster-crs")
    else:
        if to_map.b or to_map.d or not (to_map.a and to_map.e):
            code = f"EPSG:{file.crs.to_epsg()}" if file.crs.to_epsg() else "its own system"
            says = f"has rows that are not along the axes; `rio warp {path.name} north-up.tif "
            raise refused(path, f"{says}--dst-crs {code}` turns it", "raster-rotated")
        words = file.crs.to_wkt()
        refuse_outside(path, words)
        crs = library("pyproj", f"reading {path.name}").CRS.from_wkt(words)
        north_first, east_first = to_map.e < 0.0, to_map.a < 0.0
        south = to_map.f + to_map.e * rows if north_first else to_map.f
        west = to_map.c + to_map.a * columns if east_first else to_map.c
        corner, size = (west, south), (abs(to_map.a), abs(to_map.e))
    masked = bool({flag.name for flag in file.mask_flag_enums[band - 1]} & {"per_dataset", "alpha"})
    missing = () if file.nodata is None else (float(file.nodatavals[band - 1]),)
    packing = Packing(
        missing, scale=float(file.scales[band - 1]), offset=float(file.offsets[band - 1])
    )

    def read(which: slice, across: slice) -> Floats:
        lines = counted_back(which, rows) if north_first else which
        aside = counted_back(across, columns) if east_first else across
        window = ((lines.start, lines.stop), (aside.start, aside.stop))
        with rasterio.Env(**ALONE), reading(path, "GeoTIFF or PNG"):
            stored = file.read(band, window=window)
            present = file.read_masks(band, window=window) > 0 if masked else None
        return oriented(packing.values(stored, present), north_first, east_first)

    return Pixels(path, crs, corner, size, (rows, columns), read)


def _refuse_beside(path: Path) -> None:
    """Refuse a file whose mask, place or meaning is in another one beside it."""
    mask = path.with_name(f"{path.name}.msk")
    notes = path.with_name(f"{path.name}.aux.xml")
    into = f"only {path.name} itself is read: `rio convert {path.name} whole.tif` puts both into "
    into += "one file, if they come from where you trust"
    if mask.exists():
        raise refused(path, f"has its mask in {mask.name}; {into}", "beside")
    if notes.is_file() and (found := MEANT.search(notes.read_text(errors="replace"))):
        says = f"has its {found.group(1)} in {notes.name}; {into}"
        raise refused(path, says, "beside")


def _chosen_band(path: Path, band: Any, file: Any) -> int:
    """The number of the band: the only one that is not an alpha band, unless one is chosen."""
    kinds = [one.name for one in file.colorinterp]
    data = [k for k, kind in enumerate(kinds, 1) if kind != "alpha"]
    if band is None and len(data) == 1:
        return data[0]
    if isinstance(band, int) and not isinstance(band, bool) and 1 <= band <= file.count:
        return band
    came = "has" if band is None else f"has no band {in_short(band)}, but"
    raise refused(path, f"{came} bands 1 to {file.count}; choose one by band = ...", "band")

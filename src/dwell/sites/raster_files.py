"""Raster files: where their pixels lie, in which system, and how windows of them are read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, in_short
from dwell.errors import DwellWarning
from dwell.sites.libraries import library
from dwell.sites.libraries import refused_raster as refused

EVEN = 1e-6  # of a pixel: by how much coordinates may differ from evenly spaced ones
LARGE_BLOCK = 10_000_000  # pixels that a file gives only together
NETCDF = (".nc", ".nc4", ".cdf", ".h5")


class Pixels(NamedTuple):
    """The grid of a raster file; its rows are counted from the south."""

    path: Path
    crs: Any  # of pyproj; None if the user states the place
    corner: tuple[float, float]  # outer corner in the south-west
    size: tuple[float, float]  # of a pixel
    shape: tuple[int, int]  # rows, columns
    missing: float | None  # the value that stands for none
    read: Callable[[slice, slice], Floats]  # rows from the south, columns


def open_pixels(
    path: Path,
    band: int | str | None,
    origin: tuple[float, float] | None = None,
    pixel: float | tuple[float, float] | None = None,
) -> Pixels:
    """The grid of a file; `origin`, in the south-west, and `pixel` place a file without a place."""
    if path.suffix.lower() in NETCDF:
        return _netcdf(path, band)
    return _by_gdal(path, band, origin, pixel)


def _by_gdal(path: Path, band: Any, origin: Any, pixel: Any) -> Pixels:
    rasterio = library("rasterio", f"reading {path.name}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            file = rasterio.open(path)
    except rasterio.errors.RasterioIOError as fault:
        why = " ".join(str(fault).replace(str(path), path.name).split())[:160].rstrip(".")
        says = f"cannot be read as a raster ({why}); GeoTIFF, NetCDF, PNG or .npy is needed"
        raise refused(path, says, "unreadable") from None
    band = _chosen_band(path, band, file.count)
    (rows, columns), to_map = file.shape, file.transform
    if file.block_shapes[band - 1][0] * columns > LARGE_BLOCK:
        says = f"{path.name} has blocks of {file.block_shapes[band - 1]} pixels and is read nearly "
        says += "whole; gdal_translate -co TILED=YES makes windows of it quick"
        warnings.warn(DwellWarning(says), stacklevel=2)
    if origin is not None and pixel is not None:
        wide, high = np.broadcast_to(pixel, 2).tolist()
        corner, size, north_first, crs = tuple(origin), (wide, high), True, None
    elif file.crs is None:
        says = (
            "has no coordinate reference system; give origin = [x, y] of its south-west corner and "
        )
        raise refused(
            path, f"{says}pixel = metres, or state it by gdal_edit.py -a_srs", "raster-crs"
        )
    else:
        if to_map.b or to_map.d:
            says = "has rows that are not along the axes; gdalwarp makes it north up"
            raise refused(path, says, "raster-rotated")
        crs = library("pyproj", f"reading {path.name}").CRS.from_wkt(file.crs.to_wkt())
        north_first = to_map.e < 0.0
        south = to_map.f + to_map.e * rows if north_first else to_map.f
        corner, size = (to_map.c, south), (to_map.a, abs(to_map.e))

    def read(which: slice, across: slice) -> Floats:
        first, last = which.start, which.stop
        if north_first:
            first, last = rows - which.stop, rows - which.start
        window = ((first, last), (across.start, across.stop))
        values = file.read(band, window=window)  # never masked: legal zeros stay
        return np.ascontiguousarray(values[::-1] if north_first else values)

    return Pixels(path, crs, corner, size, (rows, columns), file.nodata, read)


def _chosen_band(path: Path, band: Any, count: int) -> int:
    if band is None and count == 1:
        return 1
    if isinstance(band, int) and not isinstance(band, bool) and 1 <= band <= count:
        return band
    came = "has" if band is None else f"has no band {in_short(band)}, but"
    raise refused(path, f"{came} bands 1 to {count}; choose one by band = ...", "band")


def _netcdf(path: Path, band: Any) -> Pixels:
    """A grid of a NetCDF file, whose coordinates are centres of pixels by the CF conventions."""
    import xarray as xr

    try:
        data = xr.open_dataset(path, engine="h5netcdf", decode_times=False, mask_and_scale=False)
    except (OSError, ValueError) as fault:
        says = f"cannot be read as NetCDF-4 ({' '.join(str(fault).split())[:160]})"
        raise refused(path, says, "unreadable") from None
    grids = [str(name) for name, one in data.data_vars.items() if one.ndim >= 2]
    if band not in grids and (band is not None or len(grids) != 1):
        listed = ", ".join(grids) or "none"
        came = f"has {len(grids)} grids" if band is None else f"has no grid {in_short(band)}"
        raise refused(path, f"{came}; choose one by band = its name: {listed}", "band")
    grid = data[grids[0] if band is None else band].squeeze(drop=True)
    if grid.ndim != 2:
        says = f"has a grid of dimensions {', '.join(map(str, grid.dims))}; two are needed: select "
        raise refused(path, f"{says}one slice, as by ncks or xarray.isel", "band")
    up, across = (str(name) for name in grid.dims)
    if up not in data.variables or across not in data.variables:
        says = "has no coordinates of one dimension (a curvilinear grid?); gdalwarp makes a "
        says += "regular one"
        raise refused(path, says, "curvilinear")
    lines, columns = (_evenly_spaced(path, name, data[name].values) for name in (up, across))
    crs, north_first = _grid_mapping(path, data, grid), lines[1] < 0.0
    rows, width = grid.shape
    south = min(lines[0], lines[0] + (rows - 1) * lines[1]) - 0.5 * abs(lines[1])
    west = columns[0] - 0.5 * columns[1]

    def read(which: slice, aside: slice) -> Floats:
        rows_of = slice(rows - which.stop, rows - which.start) if north_first else which
        values = grid[rows_of, aside].values
        return np.ascontiguousarray(values[::-1] if north_first else values)

    missing = grid.attrs.get("_FillValue", grid.attrs.get("missing_value"))
    size = (columns[1], abs(lines[1]))
    value = None if missing is None else float(np.ravel(missing)[0])
    return Pixels(path, crs, (west, south), size, (rows, width), value, read)


def _evenly_spaced(path: Path, name: str, values: Floats) -> tuple[float, float]:
    """The first of some coordinates and the step between them."""
    centres = np.asarray(values, dtype=np.float64)
    step = (centres[-1] - centres[0]) / max(len(centres) - 1, 1)
    off = np.abs(centres - (centres[0] + step * np.arange(len(centres))))
    if len(centres) < 2 or step == 0.0 or off.max() > EVEN * abs(step) * len(centres):
        says = f"has coordinates {name} that are not evenly spaced; gdalwarp makes a regular grid"
        raise refused(path, says, "uneven")
    return float(centres[0]), float(step)


def _grid_mapping(path: Path, data: Any, grid: Any) -> Any:
    """The system that a grid names by the CF conventions."""
    named = grid.attrs.get("grid_mapping")
    if named is not None and named not in data.variables:
        says = f"has the grid {grid.name}, whose grid_mapping {in_short(named)} is not in the file"
        raise refused(path, f"{says}; state the system by gdal_edit.py -a_srs", "raster-crs")
    table = {} if named is None else data[named].attrs
    words = table.get("crs_wkt", table.get("spatial_ref"))
    crs = library("pyproj", f"reading {path.name}").CRS
    if words is not None:
        return crs.from_wkt(words)
    if table:
        return crs.from_cf(table)
    degrees = {str(data[name].attrs.get("units", "")) for name in grid.dims}
    if any(unit.startswith("degree") for unit in degrees):
        return crs.from_epsg(4326)
    says = (
        "has no coordinate reference system (grid_mapping with crs_wkt); state it by gdal_edit.py "
    )
    raise refused(path, f"{says}-a_srs", "raster-crs")

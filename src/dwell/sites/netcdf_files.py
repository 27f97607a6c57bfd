"""Grids of NetCDF files, by the CF conventions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Floats, in_short
from dwell.sites.libraries import library
from dwell.sites.libraries import refused_raster as refused
from dwell.sites.pixels import (
    Packing,
    Pixels,
    counted_back,
    oriented,
    reading,
    refuse_outside,
)

EVEN = 1e-6  # of a pixel: by how much coordinates may differ from evenly spaced ones
ENGINES = {"NetCDF-4": "h5netcdf", "NetCDF-3": "scipy"}
# What says where a dimension leads: the attribute `axis`, the standard name, the unit, the name.
STANDARD = {
    "projection_x_coordinate": "X", "longitude": "X", "grid_longitude": "X",
    "projection_y_coordinate": "Y", "latitude": "Y", "grid_latitude": "Y", "time": "T",
}  # fmt: skip
UNITS = {"degrees_east": "X", "degree_east": "X", "degrees_north": "Y", "degree_north": "Y"}
NAMES = {
    "x": "X", "lon": "X", "longitude": "X", "easting": "X", "east": "X",
    "y": "Y", "lat": "Y", "latitude": "Y", "northing": "Y", "north": "Y",
    "t": "T", "time": "T", "valid_time": "T",
}  # fmt: skip
METRES = {
    **dict.fromkeys(("", "1", "m", "metre", "metres", "meter", "meters"), 1.0),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), 1e3),
}
FILL = {"f4": 9.969209968386869e36, "f8": 9.969209968386869e36, "i2": -32767, "i4": -2147483647}


def open_grid(path: Path, kind: str, band: Any, time: Any) -> Pixels:
    """A grid of a NetCDF file, whose coordinates are centres of pixels."""
    import xarray as xr

    if kind not in ENGINES:
        says = "is NetCDF of the kind CDF-5, which is not read; `nccopy -k nc4` converts it"
        raise refused(path, says, "unreadable")
    if kind == "NetCDF-4":
        _refuse_foreign(path)
    options: Any = {"engine": ENGINES[kind], "decode_times": False, "mask_and_scale": False}
    with reading(path, kind):
        data = xr.open_dataset(str(path.resolve()), **options)
    grid = _chosen_grid(path, data, band)
    axes = {str(name): _axis_of(str(name), data) for name in grid.dims}
    grid = _at_time(path, data, grid, axes, time).squeeze(drop=True)
    if grid.ndim != 2:
        listed = ", ".join(map(str, grid.dims))
        says = f"has the grid {grid.name} of dimensions {listed}; two are needed, beside that of "
        says += "time: write one slice to a file, as by isel of xarray"
        raise refused(path, says, "band")
    for name in grid.dims:
        if name not in data.variables or data[name].ndim != 1:
            says = "has no coordinates of one dimension (a curvilinear grid?); interpolate it to a "
            raise refused(path, f"{says}regular grid, as by interp of xarray", "curvilinear")
    up, across = _up_and_across(path, [str(name) for name in grid.dims], axes)
    grid = grid.transpose(up, across)
    lines = [_evenly_spaced(path, name, data[name].values) for name in (up, across)]
    crs = _grid_mapping(path, data, grid)
    factors = [_metres(path, name, data[name], crs) for name in (up, across)]
    (first_y, dy), (first_x, dx) = np.array(lines) * np.array(factors)[:, None]
    north_first, east_first = dy < 0.0, dx < 0.0
    rows, width = grid.shape
    south = min(first_y, first_y + (rows - 1) * dy) - 0.5 * abs(dy)
    west = min(first_x, first_x + (width - 1) * dx) - 0.5 * abs(dx)
    with reading(path, kind):
        unsigned, packing = _packing(grid)

    def read(which: slice, aside: slice) -> Floats:
        taken = counted_back(which, rows) if north_first else which
        places = counted_back(aside, width) if east_first else aside
        with reading(path, kind):
            stored = np.asarray(grid[taken, places].values)
            stored = stored.view(stored.dtype.str.replace("i", "u")) if unsigned else stored
            values = packing.values(stored)
        return oriented(values, north_first, east_first)

    return Pixels(path, crs, (west, south), (abs(dx), abs(dy)), (rows, width), read)


def _refuse_foreign(path: Path) -> None:
    """Refuse a file that takes numbers from other files, before anything of it is read."""
    import h5py

    def links(group: Any) -> Iterator[str]:
        for name in group:
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink | h5py.SoftLink):
                yield f"a link to another file ({in_short(name)})"
                continue
            one = group.get(name) if isinstance(link, h5py.HardLink) else None
            address = None if one is None else h5py.h5o.get_info(one.id).addr
            if one is None or address in seen:
                continue
            seen.add(address)
            if isinstance(one, h5py.Group):
                yield from links(one)
            elif isinstance(one, h5py.Dataset):
                if one.id.get_create_plist().get_external_count() > 0:
                    yield f"the numbers of {in_short(name)}, which lie in another file"
                if one.is_virtual:
                    yield f"{in_short(name)}, which is put together from other files"

    seen: set[Any] = set()
    with reading(path, "NetCDF-4"), h5py.File(path, "r") as file:
        what = next(links(file), None)
    if what is not None:
        says = f"has {what}; only the file itself is read: store the numbers in it"
        raise refused(path, says, "beside")


def _chosen_grid(path: Path, data: Any, band: Any) -> Any:
    """The variable with the name `band`; the only grid if that is not given."""
    beside = {str(one.attrs.get("bounds", "")) for one in data.variables.values()}
    grids = [
        str(name)
        for name, one in data.data_vars.items()
        if one.ndim >= 2 and one.dtype.kind in "iuf" and str(name) not in beside
    ]
    if band not in grids and (band is not None or len(grids) != 1):
        listed = ", ".join(grids) or "none"
        came = f"has {len(grids)} grids" if band is None else f"has no grid {in_short(band)}"
        raise refused(path, f"{came}; choose one by variable = its name: {listed}", "band")
    return data[grids[0] if band is None else band]


def _axis_of(name: str, data: Any) -> str | None:
    """X, Y or T; None for a dimension of which the file does not say it."""
    if name not in data.variables:
        return None
    attributes = data[name].attrs
    axis = str(attributes.get("axis", "")).upper()
    if axis in ("X", "Y", "Z", "T"):
        return axis
    unit = str(attributes.get("units", "")).strip()
    if " since " in unit:
        return "T"
    return (
        STANDARD.get(str(attributes.get("standard_name", "")))
        or UNITS.get(unit.lower())
        or NAMES.get(name.lower())
    )


def _up_and_across(path: Path, names: list[str], axes: Mapping[str, str | None]) -> tuple[str, str]:
    """The dimension that leads north and the one that leads east."""
    one, other = names
    if "X" in (axes[one], axes[other]) or "Y" in (axes[one], axes[other]):
        if axes[one] in ("Y", None) and axes[other] in ("X", None):
            return one, other
        if axes[one] in ("X", None) and axes[other] in ("Y", None):
            return other, one
    says = f"has the dimensions {one} and {other}, of which nothing says which one leads east; "
    says += 'name them y and x, or give their coordinates the attribute axis, "X" or "Y"'
    raise refused(path, says, "axes")


def _at_time(path: Path, data: Any, grid: Any, axes: Mapping[str, str | None], time: Any) -> Any:
    """The slice of a grid at a time: a number from 0, or a date as text."""
    name = next((name for name, axis in axes.items() if axis == "T"), None)
    if name is None:
        if time is None:
            return grid
        raise refused(path, "has no times; leave time out", "time")
    count, dates = grid.sizes[name], _dates(path, data, name)
    if time is None and count == 1:
        return grid
    ends = "" if dates is None else f", from {_as_text(dates[0])} to {_as_text(dates[-1])}"
    says = f"has {count} times{ends}; choose one by time = its number from 0, or its date as text"
    if isinstance(time, int) and not isinstance(time, bool) and 0 <= time < count:
        return grid.isel({name: time})
    if isinstance(time, str) and dates is not None:
        try:
            wanted = np.datetime64(time.strip().removesuffix("Z"), "s")
        except ValueError:
            raise refused(path, f"{says}; {in_short(time)} is no date", "time") from None
        same = np.flatnonzero(np.abs(dates - wanted) <= np.timedelta64(1, "s"))
        if len(same):
            return grid.isel({name: int(same[0])})
    came = "" if time is None else f" and none at {in_short(time)}"
    raise refused(path, says.replace(" times", f" times{came}", 1), "time")


def _dates(path: Path, data: Any, name: str) -> np.ndarray | None:
    """The dates of a dimension; None where its unit or its calendar has none."""
    import xarray as xr

    if " since " not in str(data[name].attrs.get("units", "")):
        return None
    try:
        found = xr.decode_cf(data[[name]])[name].values
    except (ValueError, ImportError, OverflowError):
        return None
    return found.astype("datetime64[s]") if found.dtype.kind == "M" else None


def _as_text(date: Any) -> str:
    return str(date).replace("T", " ") if not str(date).endswith("00:00:00") else str(date)[:10]


def _packing(grid: Any) -> tuple[bool, Packing]:
    """Whether stored numbers are meant without sign, and how they become values."""
    attributes, kind = grid.attrs, grid.dtype
    unsigned = kind.kind == "i" and str(attributes.get("_Unsigned", "")).lower() == "true"
    stored = np.dtype(kind.str.replace("i", "u")) if unsigned else kind

    def numbers(name: str) -> list[float]:
        given = np.ravel(attributes[name]) if name in attributes else np.empty(0)
        if unsigned and given.dtype.kind == "i":
            given = given.astype(kind).view(stored)
        return [float(one) for one in given]

    missing = (*numbers("_FillValue"), *numbers("missing_value"))
    usual = FILL.get(kind.str[1:])
    if "_FillValue" not in attributes and usual is not None and not unsigned:
        missing = (*missing, float(kind.type(usual)))
    scale, offset = (
        float(np.ravel(attributes.get(name, usual))[0])
        for name, usual in (("scale_factor", 1.0), ("add_offset", 0.0))
    )
    ends = [*numbers("valid_min"), -math.inf][:1] + [*numbers("valid_max"), math.inf][:1]
    ends = numbers("valid_range") or ends
    if len(ends) != 2:
        ends = [-math.inf, math.inf]
    of_values = any(
        np.asarray(attributes[name]).dtype.kind == "f"
        for name in ("valid_min", "valid_max", "valid_range")
        if name in attributes
    )
    if of_values and stored.kind != "f" and scale != 0.0:  # limits of values, not of what is stored
        ends = sorted((end - offset) / scale for end in ends)
    return unsigned, Packing(missing, ends[0], ends[1], scale, offset)


def _metres(path: Path, name: str, coordinate: Any, crs: Any) -> float:
    """What coordinates are multiplied by: those of projected systems become metres."""
    unit = str(coordinate.attrs.get("units", "")).strip().lower()
    if not crs.is_projected:
        if unit in ("", "1") or unit.startswith(("degree", "radian")):
            return math.degrees(1.0) if unit.startswith("radian") else 1.0
    elif {axis.unit_name for axis in crs.axis_info[:2]} != {"metre"}:
        return 1.0  # the system itself is refused
    elif unit in METRES:
        return METRES[unit]
    says = f"has coordinates {name} in {in_short(unit)}, but its system is {crs.name}; metres or "
    raise refused(path, f"{says}km are needed, or degrees in a system of degrees", "units")


def _evenly_spaced(path: Path, name: str, values: Floats) -> tuple[float, float]:
    """The first of some coordinates and the step between them."""
    centres = np.asarray(values, dtype=np.float64)
    if len(centres) < 2:
        says = f"has a single coordinate {name}, which does not say how large a pixel is"
        raise refused(path, f"{says}; two rows and columns are needed", "uneven")
    step = (centres[-1] - centres[0]) / (len(centres) - 1)
    off = np.abs(centres - (centres[0] + step * np.arange(len(centres))))
    # Coordinates in single precision are even but for their rounding.
    size = np.abs(centres).max()
    rounding = float(np.spacing(size if values.dtype.itemsize > 4 else np.float32(size)))
    if not off.max() <= max(EVEN * abs(step) * len(centres), rounding) or step == 0.0:
        says = f"has coordinates {name} that are not evenly spaced; interpolate the grid to even "
        raise refused(path, f"{says}ones, as by interp of xarray", "uneven")
    return float(centres[0]), float(step)


def _grid_mapping(path: Path, data: Any, grid: Any) -> Any:
    """The system that a grid names by the CF conventions."""
    named = grid.attrs.get("grid_mapping", grid.encoding.get("grid_mapping"))
    if named is not None and named not in data.variables:
        says = f"has the grid {grid.name}, whose grid_mapping {in_short(named)} is not in the file"
        raise refused(path, f"{says}; add it, with crs_wkt", "raster-crs")
    table = {} if named is None else data[named].attrs
    for value in table.values():
        refuse_outside(path, str(value))
    words = table.get("crs_wkt", table.get("spatial_ref"))
    pyproj = library("pyproj", f"reading {path.name}")
    try:
        if words is not None:
            return pyproj.CRS.from_wkt(words)
        if table:
            return pyproj.CRS.from_cf(table)
    except (pyproj.exceptions.CRSError, KeyError, TypeError) as fault:
        says = f"has a grid_mapping that is no coordinate reference system ({in_short(str(fault))})"
        raise refused(path, f"{says}; give it crs_wkt", "raster-crs") from None
    degrees = {str(data[name].attrs.get("units", "")) for name in grid.dims}
    if any(unit.startswith("degree") for unit in degrees):
        return pyproj.CRS.from_epsg(4326)
    says = "has no coordinate reference system; give the grid a grid_mapping with crs_wkt, as by "
    raise refused(path, f"{says}rio.write_crs of rioxarray", "raster-crs")

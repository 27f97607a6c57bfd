"""Rasters from georeferenced files: the window around a workspace, checked, as a density."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._checks import check_flag
from dwell._types import (
    Floats,
    as_numbers,
    counted,
    finite_number,
    in_short,
    is_one_of,
    is_whole,
)
from dwell.density import Raster
from dwell.density.raster import MOST_PIXELS
from dwell.density.raster import refused as refused_option
from dwell.density.support import UNCOVERED
from dwell.geometry import Workspace
from dwell.sites.frames import Frame, code_of, transformed, unsuited, zone_of
from dwell.sites.libraries import existing
from dwell.sites.libraries import refused_raster as refused
from dwell.sites.outlines import shape_of, shapely
from dwell.sites.pixels import Pixels
from dwell.sites.raster_files import open_pixels

AGREE = 1e-3  # metres: systems that differ by less have the same coordinates
STRIP = 4_000_000  # pixels that are read at a time


class Grid(NamedTuple):
    """The values of pixels, rows from the south, and where they lie in the frame."""

    values: Floats  # (rows, columns)
    origin: tuple[float, float]  # outer corner in the south-west
    pixel: tuple[float, float]


def read_raster(
    path: str | os.PathLike[str],
    frame: Frame | None,
    workspace: Workspace,
    *,
    interpolation: str = "constant",
    amounts: bool = False,
    **options: Any,
) -> Raster:
    """The density of a raster file around a workspace; the options are those of `read_grid`."""
    bilinear = is_one_of(interpolation, ("bilinear",))
    check_flag("amounts", amounts)
    grid = read_grid(path, frame, workspace, amounts=amounts, beyond=int(bilinear), **options)
    return Raster(
        grid.values, origin=grid.origin, pixel=grid.pixel, interpolation=interpolation,
        amounts=amounts,
    )  # fmt: skip


def read_grid(
    path: str | os.PathLike[str],
    frame: Frame | None,
    workspace: Workspace,
    *,
    band: int | str | None = None,
    variable: str | None = None,
    time: int | str | None = None,
    nodata: float | None = None,
    outside: float | None = None,
    scale: float = 1.0,
    clip: float | Sequence[float] | None = None,
    coarsen: int = 1,
    amounts: bool = False,
    origin: tuple[float, float] | None = None,
    pixel: float | tuple[float, float] | None = None,
    beyond: int = 0,
) -> Grid:
    """The pixels of a file around a workspace; refused where they give no density.

    `nodata` and `outside` are the values in place of missing pixels and beyond the raster; `band`
    is a number from 1; in NetCDF `variable` is the name of the grid, and `time` its slice. Values
    are multiplied by `scale`, then kept within `clip`, least or (least, most). Blocks of
    `coarsen` pixels squared become one. `origin` and `pixel` place a picture. So many pixels
    `beyond` the workspace count as well.
    """
    _check_options(nodata, outside, scale, coarsen)
    _check_place(origin, pixel)
    limits = None if clip is None else _limits(clip)
    chosen = band if variable is None else variable
    pixels = open_pixels(existing(path), chosen, origin, pixel, time)
    _check_system(pixels, frame, workspace, amounts)
    _check_covered(pixels, workspace, outside)
    rows, columns = _window(pixels, workspace, coarsen, outside is None)
    missing = np.nan if nodata is None else nodata

    def fill(values: Floats) -> Floats:
        found = changed(values, scale, limits)
        found[np.isnan(found)] = missing
        return found

    filling = fill, np.nan if outside is None else outside
    values = _read(pixels, rows, columns, coarsen, amounts, filling)
    (wide, high), k = pixels.size, coarsen
    corner = (pixels.corner[0] + columns[0] * wide, pixels.corner[1] + rows[0] * high)
    grid = Grid(values, corner, (k * wide, k * high))
    inside = _touched(grid, workspace, beyond)
    _check_values(pixels.path, grid, inside)
    values[~inside & ~(np.isfinite(values) & (values >= 0.0))] = 0.0
    return grid


def _check_options(nodata: object, outside: object, scale: object, coarsen: object) -> None:
    """Refuse numbers with which values cannot be read."""
    for name, value in (("nodata", nodata), ("outside", outside)):
        number = finite_number(value)
        if value is not None and not (number is not None and number >= 0.0):
            raise refused_option(name, f"is {in_short(value)}; a number from 0 on is needed")
    if not finite_number(scale):
        raise refused_option("scale", f"is {in_short(scale)}; a number other than 0 is needed")
    if not (is_whole(coarsen) and 1 <= coarsen <= MOST_PIXELS):
        raise refused_option("coarsen", f"is {in_short(coarsen)}; a whole number from 1 is needed")


def _check_place(origin: object, pixel: object) -> None:
    """Refuse a place that is none; without any, it is that of the file."""
    if origin is None and pixel is None:
        return
    for name, value, shapes in (
        ("origin", origin, [(2,)]),
        ("pixel", pixel, [(), (1,), (2,)]),
    ):
        table = as_numbers(value)
        if table is None or table.shape not in shapes or not np.isfinite(table).all():
            need = "[x, y] is needed" if name == "origin" else "a length, or two, is needed"
            raise refused_option(
                name, f"is {in_short(value)}; {need}, and both of origin and pixel"
            )
        if name == "pixel" and (table <= 0.0).any():
            raise refused_option(name, f"is {in_short(value)}; a positive length is needed")


def _limits(clip: object) -> tuple[float, ...]:
    """The least value, and the most if that is given."""
    table = as_numbers(clip)
    if (
        table is None
        or table.shape not in ((), (1,), (2,))
        or not (np.diff(table.ravel()) >= 0.0).all()
        or np.isnan(table).any()
    ):
        raise refused_option("clip", f"is {in_short(clip)}; a number, or [least, most], is needed")
    return tuple(table.ravel().tolist())


def _check_system(pixels: Pixels, frame: Frame | None, workspace: Workspace, amounts: bool) -> None:
    """Refuse a raster in another system than the site."""
    crs, path = pixels.crs, pixels.path
    if crs is None:
        return
    if frame is None:
        says = f"is in {crs.name}, but the workspace has no place on the Earth; use a [site]"
        raise refused(path, says, "raster-crs")
    if not (crs.is_geographic or crs.is_projected):
        says = f"is in {crs.name}, which has no place on the Earth; give it a system of EPSG, as "
        raise refused(path, f"{says}by `rio edit-info --crs EPSG:... {path.name}`", "raster-crs")
    (west, south), (east, north) = (corner.tolist() for corner in workspace.bounds)
    corners = np.array([[west, south], [east, south], [east, north], [west, north]])
    there = transformed(corners, frame.system, crs)
    if np.abs(there - corners).max() <= AGREE:
        return
    longitude, latitude = frame.to_map(0.5 * (corners[0] + corners[2]))[0].tolist()
    known, code = code_of(frame.system), "raster-crs"
    system = known or zone_of(longitude, latitude)
    way = "sum" if amounts else "bilinear"
    warp = f"`rio warp {path.name} metres.tif --dst-crs {system} --resampling {way}`"
    says, other = f"is in {crs.name}, and the site is not; ", ""
    if not crs.is_projected:
        says = f"is in degrees ({crs.name}), in which pixels are not rectangles of metres; "
        code = "raster-degrees"
    elif code_of(crs) and unsuited(crs, there) is None:
        other = f"give the site frame = '{code_of(crs)}'"
    if known:
        other = f", or {other}" if other else ""
        raise refused(path, f"{says}convert it by {warp}{other}", code)
    other = other or f'convert it by {warp}, and give the site frame = "{system}"'
    raise refused(path, f"{says}{other}", code)


def _check_covered(pixels: Pixels, workspace: Workspace, outside: float | None) -> None:
    lib, (west, south) = shapely(), pixels.corner
    (high, wide), (dx, dy) = pixels.shape, pixels.size
    extent, region = lib.box(west, south, west + wide * dx, south + high * dy), shape_of(workspace)
    share = 1.0 - lib.area(lib.intersection(extent, region)) / lib.area(region)
    reach = f"from ({west:.9g}, {south:.9g}) to ({west + wide * dx:.9g}, {south + high * dy:.9g})"
    if share > 1.0 - UNCOVERED:
        says = f"covers nothing of the workspace: it reaches {reach}; check its place and system"
        raise refused(pixels.path, says, "uncovered")
    if share > UNCOVERED and outside is None:
        says = f"leaves {100 * share:.3g} % of the workspace uncovered: it reaches {reach}; "
        raise refused(pixels.path, f"{says}outside = 0.0 accepts that", "uncovered")


def _window(pixels: Pixels, workspace: Workspace, coarsen: int, covered: bool) -> Any:
    """First and last row and column, a pixel beyond the workspace, in whole blocks.

    Of a raster that covers the workspace none beyond the raster: its outermost values go on there.
    """
    spans = []
    for axis in (1, 0):
        low, high = (float(corner[axis]) for corner in workspace.bounds)
        start, step = pixels.corner[axis], pixels.size[axis]
        first = int(np.floor((low - start) / step)) - 1
        last = int(np.ceil((high - start) / step)) + 1
        if covered and coarsen == 1:
            first, last = max(first, 0), min(last, pixels.shape[1 - axis])
        spans.append((first, first + coarsen * -(-(last - first) // coarsen)))
    count = (spans[0][1] - spans[0][0]) * (spans[1][1] - spans[1][0]) // coarsen**2
    if count > MOST_PIXELS:
        says = f"has {count:.3g} pixels around the workspace; at most {MOST_PIXELS:.0e} are read: "
        raise refused(pixels.path, f"{says}coarsen = k takes means of k by k pixels", "pixels")
    return spans


def changed(values: Floats, scale: float, clip: tuple[float, ...] | None) -> Floats:
    """A copy of values, multiplied by `scale` and kept within `clip`; NaN stays NaN."""
    found: Floats = values * scale
    if clip is not None:
        least, most = (*clip, np.inf)[:2]
        found = np.clip(found, least, most)
    return found


def _read(
    pixels: Pixels, rows: Any, columns: Any, coarsen: int, amounts: bool, filling: Any
) -> Floats:
    """The values of a window; what lies beyond the file is filled."""
    fill, beyond = filling
    height, width = rows[1] - rows[0], columns[1] - columns[0]
    found = np.empty((height // coarsen, width // coarsen))
    west, east = (int(np.clip(k, 0, pixels.shape[1])) for k in columns)
    each = max(STRIP // width // coarsen, 1) * coarsen
    for first in range(0, height, each):
        last = min(first + each, height)
        strip = np.full((last - first, width), beyond)
        low, high = (int(np.clip(rows[0] + k, 0, pixels.shape[0])) for k in (first, last))
        if low < high and west < east:
            inside = fill(pixels.read(slice(low, high), slice(west, east)))
            at = low - rows[0] - first, west - columns[0]
            strip[at[0] : at[0] + high - low, at[1] : at[1] + east - west] = inside
        blocks = strip.reshape(-1, coarsen, width // coarsen, coarsen)
        means = blocks.sum(axis=(1, 3)) if amounts else blocks.mean(axis=(1, 3))
        found[first // coarsen : last // coarsen] = means
    return found


def _touched(grid: Grid, workspace: Workspace, beyond: int) -> np.ndarray:
    """Which pixels the workspace touches, or are so many pixels from one that it does."""
    from rasterio.features import geometry_mask
    from rasterio.transform import Affine
    from scipy.ndimage import binary_dilation

    (west, south), (wide, high) = grid.origin, grid.pixel
    place = Affine(wide, 0.0, west, 0.0, high, south)
    shape = grid.values.shape
    found: np.ndarray = geometry_mask(
        [shape_of(workspace)], shape, place, all_touched=True, invert=True
    )
    if beyond:
        found = binary_dilation(found, np.ones((3, 3)), iterations=beyond)
    return found


def _check_values(path: Path, grid: Grid, inside: np.ndarray) -> None:
    """Refuse pixels of the workspace without a value, or with a negative one; and all zeros."""
    values, count = grid.values, int(inside.sum())
    for bad, what, key in (
        (inside & ~np.isfinite(values), "without a finite value", "nodata = 0.0 puts one there"),
        (
            inside & (values < 0.0),
            "below 0",
            "a density is at least 0: scale = -1 turns depths round that count downwards, and "
            "clip = 0 puts 0 there",
        ),
    ):
        number = int(bad.sum())
        if number:
            row, column = np.argwhere(bad)[0]
            x = grid.origin[0] + (column + 0.5) * grid.pixel[0]
            y = grid.origin[1] + (row + 0.5) * grid.pixel[1]
            says = f"has {counted(number, 'pixel')} {what} in the workspace "
            says += f"({100 * number / count:.3g} % "
            code = "nodata" if "without" in what else "negative"
            raise refused(path, f"{says}of it), the first at ({x:.9g}, {y:.9g}); {key}", code)
    if not (values[inside] > 0.0).any():
        raise refused(path, "is 0 in all of the workspace; positive values are needed", "zero")

"""Raster: a density given by values on a grid of pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from dwell._kernels.common.density_terms import RasterTerms, Terms
from dwell._types import (
    Floats,
    Points,
    as_numbers,
    finite_number,
    has_truth_value,
    in_short,
    is_masked,
    is_one_of,
    is_positive,
)
from dwell.errors import DensityError
from dwell.geometry.validation import as_rows, signed_area

KINDS = ("uint8", "uint16", "int16", "float32", "float64")
MOST_PIXELS = 100_000_000
ROWS = ("south first", "north first")
INTERPOLATIONS = ("constant", "bilinear")
FLAT = 1e-9  # determinant of directions of length 1 below which they count as parallel


@final
@dataclass(frozen=True, eq=False)
class Raster:
    """Values on a grid of pixels: constant per pixel, or bilinear between pixel centres.

    Outside the grid the density is 0. A bilinear one is continued by the values of the outermost
    centres over the last half pixel. Moments are exact, as for other densities.

    Parameters
    ----------
    values : array_like
        The values, (rows, columns): uint8, uint16, int16, float32 or float64, none negative.
    origin : tuple of float
        The corner of the grid from which rows and columns extend: the lower left one.
    pixel : float or tuple of float
        The side of a pixel; or its width and height.
    rows : str
        ``"south first"`` or ``"north first"``: where values[0] lies.
    interpolation : str
        ``"constant"`` or ``"bilinear"``.
    amounts : bool
        Whether values are totals per pixel, to be divided by its area.
    axes : array_like, optional
        Directions of rows and of columns, [[x, y], [x, y]], scaled to length 1, for a grid that is
        turned.
    nodata : float, optional
        What takes the place of NaN and of masked values; without it both are refused.
    outside : float, optional
        0.0 accepts a workspace that the grid does not cover.
    coarsen : int
        Pixels along each side that are replaced by their mean.

    Examples
    --------
    >>> import dwell
    >>> two = dwell.Raster([[1.0, 3.0]], origin=(0, 0), pixel=1.0)
    >>> round(dwell.moments([(0, 0), (2, 0), (0, 1)], two).mass, 12)
    1.5
    """

    values: Any
    _: KW_ONLY
    origin: tuple[float, float]
    pixel: float | tuple[float, float]
    rows: str = "south first"
    interpolation: str = "constant"
    amounts: bool = False
    axes: Any = None
    nodata: float | None = None
    outside: float | None = None
    coarsen: int = 1
    dimension: ClassVar[int] = 2

    def __post_init__(self) -> None:
        for name, allowed in (("rows", ROWS), ("interpolation", INTERPOLATIONS)):
            if not is_one_of(getattr(self, name), allowed):
                words = " or ".join(f'"{word}"' for word in allowed)
                raise refused(name, f"is {in_short(getattr(self, name))}; {words} is needed")
        for name in ("nodata", "outside"):
            value = getattr(self, name)
            if value is not None and not (finite_number(value) is not None and value >= 0.0):
                raise refused(name, f"is {in_short(value)}; a number from 0 on is needed")
        if self.outside:
            raise refused(
                "outside", f"is {in_short(self.outside)}; only 0.0 is known, or leave it out"
            )
        object.__setattr__(self, "origin", _pair(self.origin, "origin"))
        sides = (self.pixel, self.pixel) if np.isscalar(self.pixel) else self.pixel
        wide, high = _pair(sides, "pixel", positive=True)
        object.__setattr__(self, "pixel", (wide, high))
        if not 1e-300 < wide * high < 1e300:
            raise refused(
                "pixel", f"is {in_short(self.pixel)}; an area from 1e-300 to 1e300 is needed"
            )
        object.__setattr__(self, "axes", _directions(self.axes))
        object.__setattr__(self, "values", self._checked(self.values))

    def _checked(self, given: Any) -> np.ndarray:
        """The values, read-only, in the type they came in."""
        odd = isinstance(given, list | tuple) and has_truth_value(given)
        try:
            values = None if odd else np.asarray(given)
        except (TypeError, ValueError):
            values = None
        if values is None:
            raise refused("values", f"are {in_short(given)}; a table of numbers is needed")
        if values.dtype == np.int64 and not isinstance(given, np.ndarray):
            values = values.astype(np.float64)  # of a list of whole numbers
        if values.dtype.name not in KINDS:
            raise refused(
                "values", f"are of type {values.dtype}; one of {', '.join(KINDS)} is needed: "
                "convert them with numpy.astype",
            )  # fmt: skip
        if values.ndim != 2 or values.size == 0:
            raise refused(
                "values", f"have the shape {values.shape}; rows and columns are needed, "
                "(rows, columns), at least one of each",
            )  # fmt: skip
        values = _unmasked(values, given, self.nodata)
        values = _coarse(values, self.coarsen)
        if values.size > MOST_PIXELS:
            need = int(np.ceil(np.sqrt(values.size / MOST_PIXELS)))
            raise refused(
                "values", f"are {values.size} pixels; at most {MOST_PIXELS} are handled: "
                f"crop the raster to the workspace, or give coarsen = {need}",
            )  # fmt: skip
        values = self._filled(values)
        if not values.any():
            raise refused("values", "are all 0; give some pixels a positive value", "density.zero")
        values = values.view()
        values.flags.writeable = False
        return values

    def _filled(self, values: np.ndarray) -> np.ndarray:
        """The values with `nodata` for NaN; refuse what is negative or not finite."""
        if values.dtype.kind == "f":
            if self.nodata is not None and np.isnan(values).any():
                values = np.where(np.isnan(values), values.dtype.type(self.nodata), values)
            need = "finite ones are needed: give nodata = 0.0 to put a value in place of NaN"
            _refuse_some(~np.isfinite(values), values, need, "density.nonfinite")
        if values.dtype.kind != "u":
            need = "a density must not be negative: mark pixels without data as NaN, or mend them"
            _refuse_some(values < 0, values, need, "density.negative")
        return values

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was done to the values."""
        k = self.coarsen
        return () if k == 1 else (f"the raster was coarsened: means of {k} x {k} pixels",)

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height of a pixel, after coarsening."""
        wide, high = self.pixel  # type: ignore[misc]
        return wide * self.coarsen, high * self.coarsen

    @cached_property
    def grid(self) -> np.ndarray:
        """The values with the southernmost row first."""
        found: np.ndarray = self.values[:: 1 if self.rows == ROWS[0] else -1]
        return found

    @cached_property
    def place(self) -> Floats:
        """Where the grid lies: see `RasterTerms`."""
        (wide, high), (along, across) = self.sides, self.axes
        xu, xv, yu, yv = along[0] * wide, across[0] * high, along[1] * wide, across[1] * high
        area = xu * yv - xv * yu
        return np.array(
            [*self.origin, yv / area, -xv / area, -yu / area, xu / area, xu, xv, yu, yv, area]
        )

    def like(self, values: np.ndarray, origin: tuple[float, float] | None = None) -> Raster:
        """A raster of the same kind with other values, the southernmost row first; or elsewhere."""
        return Raster(
            values, origin=self.origin if origin is None else origin, pixel=self.sides,
            interpolation=self.interpolation, amounts=self.amounts, axes=self.axes,
            outside=self.outside,
        )  # fmt: skip

    def difference(self, other: Raster) -> str | None:
        """Why values of two rasters cannot be added one by one, in words; None if they can."""
        for name, own, theirs in (
            ("pixels of the size", tuple(self.sides), tuple(other.sides)),
            ("the origin", tuple(self.origin), tuple(other.origin)),
            ("axes", self.axes, other.axes),
            ("values of the shape", self.values.shape, other.values.shape),
            ("interpolation =", self.interpolation, other.interpolation),
            ("amounts =", self.amounts, other.amounts),
        ):
            if own != theirs:
                return f"has {name} {theirs} instead of {own}"
        return None

    @property
    def corners(self) -> Points:
        """The corners of the grid in the plane, counter-clockwise unless it is mirrored, (4, 2)."""
        rows, columns = self.values.shape
        ends = np.array([(0.0, 0.0), (columns, 0.0), (columns, rows), (0.0, rows)])
        return self.origin + ends @ self.place[[6, 8, 7, 9]].reshape(2, 2)

    def to_pixels(self, points: Points) -> Points:
        """Points as columns and rows, counted from `origin` on, (k, 2)."""
        x, y = (as_rows(points, 2) - self.origin).T
        _, _, ux, uy, vx, vy, *_ = self.place
        return np.column_stack([ux * x + uy * y, vx * x + vy * y])

    def window(self, points: Points) -> np.ndarray:
        """The values of all pixels in the smallest rectangle of pixels round some points."""
        low, high = self.to_pixels(points).min(axis=0), self.to_pixels(points).max(axis=0)
        most = np.array(self.values.shape[::-1])
        first = np.clip(np.floor(low), 0, most).astype(np.int64)
        last = np.clip(np.ceil(high), 0, most).astype(np.int64)
        return self.grid[first[1] : last[1], first[0] : last[0]]

    def uncovered(self, vertices: Points) -> float:
        """The share of the area of a convex polygon that lies outside the grid."""
        ring = whole = self.to_pixels(vertices)
        for axis in (0, 1):
            most = float(self.values.shape[1 - axis])
            ring = cut_off(cut_off(ring, axis, 0.0, 1.0), axis, most, -1.0)
        inside = abs(signed_area(ring)) if len(ring) else 0.0
        return max(0.0, 1.0 - inside / abs(signed_area(whole)))

    @cached_property
    def scale(self) -> float:
        """What values are multiplied by: 1, or 1 over the area of a pixel."""
        return 1.0 / abs(float(self.place[10])) if self.amounts else 1.0

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the values, their type, their shape and where they lie."""
        about = (
            self.grid.dtype.name,
            self.grid.shape,
            self.interpolation,
            self.scale,
            self.outside,
        )
        found = hashlib.sha256(f"{about} {self.place.tolist()}".encode())
        found.update(np.ascontiguousarray(self.grid).data)
        return found.hexdigest()

    def at(self, points: Points) -> Floats:
        """The weight at each point; 0 outside the grid."""
        rows, columns = self.values.shape
        u, v = self.to_pixels(points).T
        inside = (u >= 0.0) & (u <= columns) & (v >= 0.0) & (v <= rows)
        u, v = np.where(inside, u, 0.0), np.where(inside, v, 0.0)
        if self.interpolation == INTERPOLATIONS[0]:
            i = np.minimum(u.astype(np.int64), columns - 1)
            j = np.minimum(v.astype(np.int64), rows - 1)
            found = self.grid[j, i].astype(np.float64)
        else:
            u, v = np.clip(u - 0.5, 0.0, columns - 1.0), np.clip(v - 0.5, 0.0, rows - 1.0)
            i, j = u.astype(np.int64), v.astype(np.int64)
            right, above = np.minimum(i + 1, columns - 1), np.minimum(j + 1, rows - 1)
            x, y, f = u - i, v - j, self.grid
            low = (1.0 - x) * f[j, i] + x * f[j, right]
            found = (1.0 - y) * low + y * ((1.0 - x) * f[above, i] + x * f[above, right])
        return np.where(inside, self.scale * found, 0.0)

    @cached_property
    def _terms(self) -> Terms:
        return Terms(raster=raster_terms([self]))

    def terms(self) -> Terms:
        """The grid with its sums over blocks, made once."""
        return self._terms


def raster_terms(frames: Sequence[Raster]) -> RasterTerms:
    """Frames on one grid, with their sums over blocks and tiles."""
    from dwell._kernels.polygon.raster_cells import TILE
    from dwell._kernels.polygon.raster_runs import fill_blocks

    first, count = frames[0], len(frames)
    bilinear, (rows, columns) = INTERPOLATIONS.index(first.interpolation), first.grid.shape
    kind = np.result_type(*(one.grid.dtype for one in frames))
    high, wide = -(-rows // TILE), -(-columns // TILE)
    values = np.zeros((count, high, wide, TILE, TILE), dtype=kind)
    blocks = np.zeros((count, high, columns // TILE, TILE, 3))
    tiles = np.zeros((count, rows // TILE, columns // TILE, 6))
    for k, one in enumerate(frames):
        _fill_tiles(one.grid, values[k])
        fill_blocks(values[k], rows, bilinear, blocks[k], tiles[k])
    return RasterTerms(
        values, rows, columns, bilinear, first.scale, first.place, blocks, tiles, np.zeros(1)
    )


def _fill_tiles(grid: np.ndarray, found: np.ndarray) -> None:
    """Write values tile by tile, (rows of tiles, columns of tiles, side, side), into zeros."""
    side, columns = found.shape[-1], grid.shape[1]
    for k, tiles in enumerate(found):
        part = grid[k * side : (k + 1) * side]
        wide = np.zeros((side, len(tiles) * side), dtype=grid.dtype)
        wide[: len(part), :columns] = part
        tiles[:] = wide.reshape(side, len(tiles), side).swapaxes(0, 1)


def refused(name: str, says: str, code: str = "density.raster") -> DensityError:
    """The error about a parameter of a raster."""
    return DensityError(f"the {name} of a raster {says}", code=code, key=f"density.{name}")


def cut_off(ring: Points, axis: int, bound: float, sign: float) -> Points:
    """The part of a polygon where sign * (coordinate - bound) is at least 0."""
    found: list[Points] = []
    for k, b in enumerate(ring):
        a = ring[k - 1]
        da, db = sign * (a[axis] - bound), sign * (b[axis] - bound)
        if da * db < 0.0:
            found.append(a + da / (da - db) * (b - a))
        if db >= 0.0:
            found.append(b)
    return np.array(found).reshape(-1, 2)


def _pair(given: object, name: str, *, positive: bool = False) -> tuple[float, float]:
    found = as_numbers(given)
    if (
        found is None
        or found.shape != (2,)
        or not np.isfinite(found).all()
        or (positive and not all(is_positive(float(v)) for v in found))
    ):
        need = "a positive number, or width and height," if positive else "[x, y]"
        raise refused(name, f"is {in_short(given)}; {need} is needed")
    return float(found[0]), float(found[1])


def _directions(given: object) -> tuple[tuple[float, float], ...]:
    """Directions of columns and rows, of length 1."""
    if given is None:
        return (1.0, 0.0), (0.0, 1.0)
    found = as_numbers(given)
    need = "two directions [[x, y], [x, y]] that are not parallel are needed"
    if found is None or found.shape != (2, 2) or not np.isfinite(found).all():
        raise refused("axes", f"are {in_short(given)}; {need}")
    sizes = np.hypot(found[:, 0], found[:, 1])
    unit = found / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    if not abs(unit[0, 0] * unit[1, 1] - unit[0, 1] * unit[1, 0]) > FLAT:
        raise refused("axes", f"are {in_short(given)}; {need}")
    return tuple((float(x), float(y)) for x, y in unit)


def _unmasked(values: np.ndarray, given: object, nodata: object) -> np.ndarray:
    """The values with `nodata`, or NaN, where they were masked."""
    if not is_masked(given):
        return values
    mask = np.ma.getmaskarray(np.ma.asarray(given))
    instead = finite_number(nodata)
    kind = values.dtype
    if instead is None or float(np.asarray(instead).astype(kind)) != instead:
        kind = np.result_type(kind, np.float32)
    found: np.ndarray = np.where(mask, kind.type(np.nan if instead is None else instead), values)
    return found


def _coarse(values: np.ndarray, k: object) -> np.ndarray:
    """Means of k x k values; of whole numbers as float32."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise refused("coarsen", f"is {in_short(k)}; a whole number from 1 on is needed")
    if k == 1:
        return values
    rows, columns = values.shape
    if rows % k or columns % k:
        grid = f"there are {rows} rows and {columns} columns"
        raise refused(
            "coarsen", f"is {in_short(k)}, but {grid}; a number that divides both is needed: "
            "crop the raster, or choose another number",
        )  # fmt: skip
    means = values.reshape(rows // k, k, columns // k, k).mean(axis=(1, 3), dtype=np.float64)
    found: np.ndarray = means.astype(np.float64 if values.dtype == np.float64 else np.float32)
    return found


def _refuse_some(bad: np.ndarray, values: np.ndarray, need: str, code: str) -> None:
    if not bad.any():
        return
    count = int(bad.sum())
    row, column = (int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape))
    share = f"{count} of {values.size} values ({count / values.size:.2g} of the area)"
    value = values[row, column]
    raise refused(
        "values", f"are wrong in {share}, first {value} in row {row}, column {column}; {need}", code
    )

"""The grid of a raster file: its place, how stored numbers become values, and their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats
from dwell.sites.frames import OUTSIDE
from dwell.sites.libraries import refused_raster as refused

WHY = 160  # characters of another library's message


class Pixels(NamedTuple):
    """The grid of a raster file; its rows are counted from the south, columns from the west."""

    path: Path
    crs: Any  # of pyproj; None if the user states the place
    corner: tuple[float, float]  # outer corner in the south-west
    size: tuple[float, float]  # of a pixel
    shape: tuple[int, int]  # rows, columns
    read: Callable[[slice, slice], Floats]  # the values of rows and columns; NaN where none are


class Packing(NamedTuple):
    """How stored numbers become values: which stand for none, and then factor and summand."""

    missing: tuple[float, ...] = ()
    least: float = -math.inf  # stored numbers outside are missing
    most: float = math.inf
    scale: float = 1.0
    offset: float = 0.0

    def values(self, stored: np.ndarray, present: np.ndarray | None = None) -> Floats:
        """The values; NaN where there is none. `present`: where a mask says that there is one."""
        found = stored.astype(np.float64)
        absent = ~np.isfinite(found)
        with np.errstate(invalid="ignore"):
            absent |= (found < self.least) | (found > self.most)
        for one in self.missing:
            absent |= stored == one
        if present is not None:
            absent |= ~present
        if (self.scale, self.offset) != (1.0, 0.0):
            found = found * self.scale + self.offset
        found[absent] = np.nan
        return found


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn what libraries raise about a damaged file into one sentence."""
    try:
        yield
    except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as fault:
        if type(fault).__module__.startswith("dwell"):
            raise
        why = " ".join(str(fault.__cause__ or fault).replace(str(path), path.name).split())
        says = f"cannot be read as {what} ({why[:WHY].rstrip('.')}): it is damaged, or was not "
        raise refused(path, f"{says}copied to its end", "unreadable") from None


def counted_back(which: slice, count: int) -> slice:
    """Rows, or columns, counted from the other end."""
    return slice(count - which.stop, count - which.start)


def oriented(values: Floats, north_first: bool, east_first: bool) -> Floats:
    """Values with the southernmost row and the westernmost column first."""
    rows, columns = (slice(None, None, -1 if turned else 1) for turned in (north_first, east_first))
    return np.ascontiguousarray(values[rows, columns])


def refuse_outside(path: Path, words: str) -> None:
    """Refuse a coordinate reference system that names files, which PROJ would open."""
    if OUTSIDE.search(words):
        says = "has a coordinate reference system that names files; give it one of EPSG, as by "
        raise refused(path, f"{says}`rio edit-info --crs EPSG:... {path.name}`", "raster-crs")

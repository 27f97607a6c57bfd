"""The table of a raster density."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator

from dwell._types import counted

from .problems import Problem, listing, needs
from .tracks import FileKeyframes, FileTrack, frames_of
from .values import (
    Counted,
    Matrix,
    NotNegative,
    Point,
    Table,
    Text,
    Whole,
    as_number,
    doc,
    listed,
    numbers_validator,
)

MOST_INLINE = 256  # rows and columns of values in a scenario; more belong into a file
CLIP = "a number, or two [least, most]"
PixelRow: TypeAlias = Annotated[tuple[NotNegative, ...], listed("a list of numbers")]


def as_band(value: object) -> object:
    """The number of a band, or the name of a grid."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise needs("the number of a band from 1, or the name of a grid in quotes")
    return value


def as_slice(value: object) -> object:
    """The number of a time, or its date as text."""
    if isinstance(value, datetime.datetime):
        zoned = value if value.tzinfo is None else value.astimezone(datetime.UTC)
        return zoned.replace(tzinfo=None).isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise needs('the number of a time from 0, or its date, such as "2026-05-01T06:00"')
    return value


Slice: TypeAlias = Annotated[Whole | Text, BeforeValidator(as_slice)]


def as_slices(value: object) -> object:
    """A list of them."""
    if not isinstance(value, list | tuple) or not value:
        raise needs("a list with a number or a date for each keyframe")
    return tuple(value)


def as_factor(value: object) -> float:
    """A finite number other than 0."""
    number = as_number(value)
    if number == 0.0:
        raise needs("a number other than 0")
    return number


class RasterSpec(Table):
    """Values on a grid of pixels, from a file or in the scenario."""

    kind: Literal["raster"] = doc("which form of density this is")
    file: FileTrack | None = doc(
        "the file with the values, from the scenario's folder: .npy, or with the extra geo .tif, "
        ".nc and others that say where they lie; {times, values} for one file per keyframe; or "
        "give inline",
        None,
    )
    inline: Annotated[tuple[PixelRow, ...], listed("a list of rows of numbers")] | None = doc(
        f"the values themselves, row by row, at most {MOST_INLINE} rows and columns, in place of "
        "file",
        None,
    )
    origin: Point | None = doc(
        "the lower left corner of the grid, in units of length; .npy and inline need it", None
    )
    pixel: Point | None = doc(
        "the side of a pixel, or [width, height], in units of length; .npy and inline need it", None
    )
    rows: Literal["south first", "north first"] | None = doc(
        "where the first row of values lies; .npy and inline need it", None
    )
    interpolation: Literal["constant", "bilinear"] = doc(
        "constant per pixel, or bilinear between pixel centres", "constant"
    )
    values: Literal["density", "amount"] = doc(
        "whether values are per area, or totals per pixel", "density"
    )
    axes: Matrix | None = doc(
        "directions of rows and of columns, one per row, for a grid that is turned", None
    )
    nodata: NotNegative | None = doc("what takes the place of pixels without data, NaN", None)
    outside: NotNegative | None = doc("0.0 accepts a workspace that the grid does not cover", None)
    band: Annotated[Counted | Text, BeforeValidator(as_band)] | None = doc(
        "which band of a file with several, from 1; of NetCDF, the name of the grid", None
    )
    variable: Text | None = doc(
        "the name of the grid in a NetCDF file with several; band takes it, too", None
    )
    time: Annotated[tuple[Slice, ...], BeforeValidator(as_slices)] | Slice | None = doc(
        "which of the times of a NetCDF file: the number from 0, or the date; or a list with one "
        "for each keyframe",
        None,
    )
    scale: Annotated[float, BeforeValidator(as_factor)] = doc(
        "what values are multiplied by; -1 for depths that count downwards", 1.0
    )
    clip: Annotated[tuple[float, ...], numbers_validator(CLIP, "density.clip", 1, 2)] | None = doc(
        "least, or [least, most]: after scale, values beyond become these", None
    )
    coarsen: Counted = doc("pixels along each side that are replaced by their mean", 1)
    sha256: Annotated[tuple[Text, ...], listed("a list of digests")] | Text | None = doc(
        "the digest that values and place must have, or one for each keyframe; set by runs", None
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, one for each keyframe; none for inline values."""
        given = [name for _, name in frames_of(self.file, ("file",))]
        return tuple(given)

    def frames(self) -> Iterator[RasterSpec]:
        """A table for each keyframe; itself if there are none."""
        if not isinstance(self.file, FileKeyframes):
            yield self
            return
        count = len(self.files)
        digests = self.sha256 or (None,) * count
        times = self.time if isinstance(self.time, tuple) else (self.time,) * count
        for name, digest, time in zip(self.files, digests, times, strict=False):
            yield self.model_copy(update={"file": name, "sha256": digest, "time": time})

    def _problems(self) -> Iterator[Problem]:
        if (self.file is None) == (self.inline is None):
            says = "or inline is needed: the file with the values, or the values; give one of them"
            yield Problem(("file",), "density.values", says)
        bare = "inline values do" if self.inline else "a .npy file does"
        for name in ("origin", "pixel", "rows"):
            placed = self.inline is None and not any(
                file.lower().endswith(".npy") for file in self.files
            )
            if not placed and getattr(self, name) is None:
                says = f"is missing; {bare} not say where the values lie"
                yield Problem((name,), "scenario.missing-key", says)
        if self.clip is not None and not 0.0 <= self.clip[0] < (*self.clip, math.inf)[1]:
            says = "is not in order; the least value from 0 on is needed, then a larger one"
            yield Problem(("clip",), "density.clip", says)
        if isinstance(self.time, tuple) and (
            not isinstance(self.file, FileKeyframes) or len(self.time) != len(self.files)
        ):
            says = "is a list, which needs a file for each keyframe, and one time for each of them"
            yield Problem(("time",), "density.time", says)
        if self.band is not None and self.variable is not None:
            says = "cannot be given beside band, which chooses the same; keep one of the two"
            yield Problem(("variable",), "density.variable", says)
        if self.inline is not None:
            yield from self._inline_problems(self.inline)

    def _inline_problems(self, rows: tuple[tuple[float, ...], ...]) -> Iterator[Problem]:
        """Rows of different lengths, and too many values."""
        lengths = sorted({len(row) for row in rows})
        if len(lengths) != 1 or not 0 < lengths[0] <= MOST_INLINE or len(rows) > MOST_INLINE:
            says = (
                f"needs 1 to {MOST_INLINE} rows of equal length, 1 to {MOST_INLINE} numbers each, "
                f"got {len(rows)} rows of {listing([*map(str, lengths)]) or 'no'} numbers; put "
                "more values into a .npy file"
            )
            yield Problem(("inline",), "density.inline", says)

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """A raster outside the plane."""
        if n != 2:
            given = counted(n, "dimension")
            says = f'= "raster" needs a workspace of the plane, got {given}'
            yield Problem(("kind",), "density.dimension", says)

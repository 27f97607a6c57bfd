"""Shapes and units, once: lengths in the unit of the workspace, times in one unit of your own.

And what counts as a number when it comes from outside, and how numbers are put in sentences.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # any shape; the comment beside a field says which
Ints: TypeAlias = NDArray[np.int64]
Points: TypeAlias = NDArray[np.float64]  # (..., n): the last axis is that of the coordinates
T = TypeVar("T")


def lengths(vectors: Points) -> Floats:
    """The length of each vector of (..., n)."""
    return np.sqrt(dots(vectors, vectors))


def dots(a: Points, b: Points) -> Floats:
    """The inner product of each pair of vectors, summed in the order of the coordinates.

    Not by a matrix product: what that rounds to depends on the processor.
    """
    total: Floats = a[..., 0] * b[..., 0]
    for k in range(1, a.shape[-1]):
        total = total + a[..., k] * b[..., k]
    return total


def columns(points: Points) -> tuple[Floats, ...]:
    """The coordinates of (k, n) points as n contiguous arrays, as the kernels take them."""
    return tuple(np.ascontiguousarray(points[:, k]) for k in range(points.shape[1]))


def in_columns(rows: int, dimension: int) -> Points:
    """An empty array of (rows, n) points in which every coordinate is contiguous."""
    return np.empty((dimension, rows)).T


def finite_number(value: object) -> float | None:
    """`value` as a float if it is a finite real number (true is not 1, text is no number)."""
    if isinstance(value, float):  # the usual case
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    return number if math.isfinite(number) else None


def finite_numbers(count: int) -> str:
    """So many finite numbers, in words."""
    words = {1: "one finite number", 2: "two finite numbers", 3: "three finite numbers"}
    return words.get(count, f"{count} finite numbers")


def is_masked(value: object) -> bool:
    """Whether `value`, or an element of a list, is masked: an array would forget it."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    return isinstance(value, list | tuple) and any(
        is_masked(one) for one in value if isinstance(one, np.ma.MaskedArray | list | tuple)
    )


def has_truth_value(value: object) -> bool:
    """Whether an element of a list is true or false: an array would take it for 1 or 0."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "b" or (value.dtype == object and has_truth_value([*value.flat]))
    if not isinstance(value, list | tuple):
        return False
    kinds = set(map(type, value))  # of a million elements this is quick
    if not kinds.isdisjoint((bool, np.bool_)):
        return True
    return any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds) and any(
        map(has_truth_value, value)
    )


def as_numbers(value: object) -> Floats | None:
    """A new array of doubles.

    None for text, truth values, complex numbers, ragged lists and masked elements.
    """
    if isinstance(value, bytearray | memoryview):  # text, which NumPy takes for small numbers
        return None
    if is_masked(value) or has_truth_value(value):
        return None
    try:
        array = np.array(value)
        odd = array.dtype == object and any(
            v is None or isinstance(v, str | bytes | bool | np.bool_) for v in array.flat
        )
        if odd or array.dtype.kind not in "iufO":
            return None
        return np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        return None


def in_short(value: object, most: int = 80) -> str:
    """`value` on one line of at most so many characters, for a message."""
    try:
        text = " ".join(repr(value.tolist() if isinstance(value, np.ndarray) else value).split())
    except Exception:  # as of whole numbers with more digits than Python writes
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= most else text[: most - 3] + "..."


def is_one_of(value: object, choices: Container[object]) -> bool:
    """Whether `value` is one of `choices`, which are words, numbers and None.

    Nothing else is, whatever it says when it is compared: an array, or pandas' NA.
    """
    plain = value is None or isinstance(value, str) or finite_number(value) is not None
    return plain and value in choices


def listed(value: Any) -> tuple[Any, ...]:
    """The elements of `value`; `value` itself where it is no list, as a number, text or a table."""
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping) or hasattr(
        value, "columns"
    ):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        return (value,)


def counted(count: int, noun: str) -> str:
    """1 agent, 2 agents."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def at_time(time: float) -> str:
    """A time in words: t = 0.3, not t = 0.30000000000000004."""
    return f"t = {float(time):.9g}"


def apart(one: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Two numbers as text, with as many digits as it takes to tell them apart."""
    while digits < 17 and one != other and f"{one:.{digits}g}" == f"{other:.{digits}g}":
        digits += 1
    return f"{one:.{digits}g}", f"{other:.{digits}g}"


def is_positive(value: object) -> bool:
    """Whether `value` is a finite number above 0."""
    number = finite_number(value)
    return number is not None and number > 0.0


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is a whole number (and not true or false)."""
    if type(value) is int:  # the usual case
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.timedelta64)


class LazySequence(Sequence[T]):
    """A sequence whose elements are computed when they are read."""

    def __init__(self, length: int, element: Callable[[int], T]) -> None:
        self._length, self._element = length, element

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, i: int) -> T: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[T]: ...
    def __getitem__(self, i: int | slice) -> T | Sequence[T]:
        every = range(self._length)
        return [*map(self._element, every[i])] if isinstance(i, slice) else self._element(every[i])

"""Shapes and units, once: lengths in the unit of the workspace, times in one unit of your own.

And what counts as a number when it comes from outside.
"""

from __future__ import annotations

import math
import numbers
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # any shape; the comment beside a field says which
Ints: TypeAlias = NDArray[np.int64]
Points: TypeAlias = NDArray[np.float64]  # (n, 2), one point per row


def finite_number(value: object) -> float | None:
    """`value` as a float if it is a finite real number (true is not 1, text is no number)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    return number if math.isfinite(number) else None


def is_positive(value: object) -> bool:
    """Whether `value` is a finite number above 0."""
    number = finite_number(value)
    return number is not None and number > 0.0


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is a whole number (and not true or false)."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)

"""Polynomial: a weight that is a polynomial in the coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points, finite_number
from dwell.errors import DensityError

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms

MAX_DEGREE = 16


@final
@dataclass(frozen=True)
class Polynomial:
    """The sum of c (x - a)**i (y - b)**j over `coefficients` (i, j, c), with origin (a, b).

    It must not be negative anywhere in the workspace. A run refuses it if it is so at one of a
    lattice of points, which a narrow dip may escape.

    >>> float(Polynomial([(0, 0, 1.0), (2, 0, 3.0)]).at([[2.0, 5.0]])[0])
    13.0
    """

    coefficients: tuple[tuple[int, int, float], ...]
    origin: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        listed = self.coefficients if isinstance(self.coefficients, Iterable) else [None]
        rows = tuple(_as_term(row) for row in listed)
        if not any(c != 0.0 for _, _, c in rows):
            raise DensityError(
                "the polynomial density is zero everywhere; give at least one term "
                "[i, j, coefficient] that is not zero",
                code="density.zero",
                key="density.terms",
            )
        origin = [finite_number(v) for v in self.origin]
        if len(origin) != 2 or None in origin:
            raise _refused(f"the origin {self.origin!r}; two finite numbers are needed")
        object.__setattr__(self, "coefficients", rows)
        object.__setattr__(self, "origin", tuple(origin))

    @property
    def degree(self) -> int:
        """Total degree."""
        return max(i + j for i, j, _ in self.coefficients)

    def table(self) -> np.ndarray:
        """Coefficients as a square array: entry [i, j] belongs to x**i y**j."""
        table = np.zeros((self.degree + 1, self.degree + 1))
        for i, j, c in self.coefficients:
            table[i, j] += c
        return table

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        x, y = (np.asarray(points, dtype=np.float64) - self.origin).T
        values: Floats = np.polynomial.polynomial.polyval2d(x, y, self.table())
        return values

    def terms(self) -> Terms:
        """One polynomial term."""
        from dwell._kernels.terms import plain_terms

        return plain_terms(polynomials=self.table()[None], origins=np.array([self.origin]))


def _as_term(row: object) -> tuple[int, int, float]:
    """(i, j, coefficient) from a row of three numbers."""
    values = list(row) if isinstance(row, Iterable) and not isinstance(row, str) else []
    if len(values) != 3:
        raise _refused(f"the term {row!r}; [i, j, coefficient] is needed")
    powers = [finite_number(value) for value in values[:2]]
    whole = all(power is not None and power >= 0 and power % 1 == 0 for power in powers)
    if not whole or sum(p for p in powers if p is not None) > MAX_DEGREE:
        raise _refused(
            f"the powers {values[0]!r} and {values[1]!r}; whole numbers from 0 with "
            f"i + j <= {MAX_DEGREE} are needed"
        )
    coefficient = finite_number(values[2])
    if coefficient is None:
        raise _refused(f"the coefficient {values[2]!r}; a finite number is needed")
    return int(values[0]), int(values[1]), coefficient


def _refused(what: str) -> DensityError:
    return DensityError(
        f"a polynomial density has {what}", code="density.polynomial", key="density.terms"
    )

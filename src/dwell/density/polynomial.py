"""Polynomial: a weight that is a polynomial in the coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import DensityError

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms

MAX_DEGREE = 16


@final
@dataclass(frozen=True)
class Polynomial:
    """The sum of c (x - a)**i (y - b)**j over `coefficients` (i, j, c), with origin (a, b).

    It must not be negative anywhere in the workspace; that is checked where the two meet.

    >>> float(Polynomial([(0, 0, 1.0), (2, 0, 3.0)]).at([[2.0, 5.0]])[0])
    13.0
    """

    coefficients: tuple[tuple[int, int, float], ...]
    origin: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        rows = []
        for row in self.coefficients:
            try:
                i, j, c = row
                rows.append((int(i), int(j), float(c)))
            except (TypeError, ValueError):
                raise _refused(f"the term {row!r}; [i, j, coefficient] is needed") from None
            if i != int(i) or j != int(j) or i < 0 or j < 0 or i + j > MAX_DEGREE:
                raise _refused(
                    f"the powers {i!r} and {j!r}; whole numbers from 0 with i + j <= {MAX_DEGREE} "
                    "are needed"
                )
            if not math.isfinite(rows[-1][2]):
                raise _refused(f"the coefficient {c!r}; a finite number is needed")
        if not any(c != 0.0 for _, _, c in rows):
            raise DensityError(
                "the polynomial density is zero everywhere; give at least one term "
                "[i, j, coefficient] that is not zero",
                code="density.zero",
                key="density.terms",
            )
        a, b = self.origin
        if not (math.isfinite(a) and math.isfinite(b)):
            raise _refused(f"the origin {self.origin!r}; two finite numbers are needed")
        object.__setattr__(self, "coefficients", tuple(rows))
        object.__setattr__(self, "origin", (float(a), float(b)))

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


def _refused(what: str) -> DensityError:
    return DensityError(
        f"a polynomial density has {what}", code="density.polynomial", key="density.terms"
    )

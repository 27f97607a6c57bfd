"""Polynomial: a weight that is a polynomial in the coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms, general_terms
from dwell._parameters import LENGTH, Fault, Point, frames_of, param, parametric
from dwell._parameters import Terms as TermRows
from dwell._types import Floats, Points, finite_numbers, in_short
from dwell.density.base import refuse_dimension
from dwell.errors import DensityError
from dwell.geometry.validation import as_rows

MAX_DEGREE = 16


@final
@parametric(
    "density", "the polynomial density", DensityError, kind="polynomial", code="density.polynomial"
)
class Polynomial:
    """The sum of c (x - a)**i (y - b)**j over rows (i, j, c), with origin (a, b).

    In n dimensions a row has n powers and the coefficient. The density must not be negative in the
    workspace; this is checked on a lattice of points, which a narrow dip may escape.

    Examples
    --------
    >>> import dwell
    >>> float(dwell.Polynomial([(0, 0, 1.0), (2, 0, 3.0)]).at([[2.0, 5.0]])[0])
    13.0
    """

    coefficients: tuple[tuple[float, ...], ...] = param(
        "terms `[i, j, coefficient]`: as many powers as the workspace has dimensions, and a "
        "coefficient",
        TermRows(MAX_DEGREE), moves=True, key="terms",
    )  # fmt: skip
    origin: tuple[float, ...] = param(
        "the point that powers are taken about", Point(), default=(), unit=LENGTH,
        absent="all zeros",
    )  # fmt: skip

    @staticmethod
    def rules(density: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        terms = density.coefficients
        if not any(row[-1] != 0.0 for where, rows in frames_of(terms, ()) for row in rows):
            text = "is zero everywhere; give at least one term that is not zero: powers, one per "
            yield Fault(("terms",), "density.zero", f"{text}dimension, and a coefficient")
        if isinstance(terms, tuple) and density.origin and len(density.origin) != len(terms[0]) - 1:
            text = (
                f"needs {finite_numbers(len(terms[0]) - 1)}, got {in_short(list(density.origin))}"
            )
            yield Fault(("origin",), "scenario.dimension", text)

    def __post_init__(self) -> None:
        if not self.origin:
            object.__setattr__(self, "origin", (0.0,) * self.dimension)

    @property
    def dimension(self) -> int:
        """How many coordinates its points have."""
        return len(self.coefficients[0]) - 1

    @property
    def degree(self) -> int:
        """Total degree."""
        return max(int(sum(row[:-1])) for row in self.coefficients)

    def table(self) -> np.ndarray:
        """Coefficients in the plane as a square array: entry [i, j] belongs to x**i y**j."""
        table = np.zeros((self.degree + 1, self.degree + 1))
        for i, j, c in self.coefficients:
            table[int(i), int(j)] += c
        return table

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        offsets = as_rows(points, self.dimension) - self.origin
        if self.dimension == 2:
            x, y = offsets.T
            values: Floats = np.polynomial.polynomial.polyval2d(x, y, self.table())
            return values
        total = np.zeros(len(offsets))
        for *powers, c in self.coefficients:
            term = np.full(len(offsets), c)
            for k in np.repeat(np.arange(self.dimension), np.array(powers, dtype=np.int64)):
                term = term * offsets[:, k]
            total = total + term
        return total

    def terms(self) -> Terms | None:
        """One polynomial term, in the plane."""
        if self.dimension != 2:
            return None
        return Terms(polynomials=self.table()[None], origins=np.array([self.origin]))

    def general_terms(self, dimension: int) -> GeneralTerms:
        """One monomial per row of coefficients."""
        refuse_dimension(self, dimension)
        rows = np.array(self.coefficients)
        origins = np.tile(np.array(self.origin), (len(rows), 1))
        powers = np.ascontiguousarray(rows[:, :-1]).astype(np.int64)
        monomials = (powers, np.ascontiguousarray(rows[:, -1]), origins)
        return general_terms(dimension, monomials=monomials)

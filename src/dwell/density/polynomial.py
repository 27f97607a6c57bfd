"""Polynomial: a weight that is a polynomial in the coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms, general_terms
from dwell._types import Floats, Points, finite_number, finite_numbers, in_short, listed
from dwell.density.base import refuse_dimension
from dwell.errors import DensityError
from dwell.geometry.validation import as_rows

MAX_DEGREE = 16


@final
@dataclass(frozen=True)
class Polynomial:
    """The sum of c (x - a)**i (y - b)**j over rows (i, j, c), with origin (a, b).

    In n dimensions a row has n powers and the coefficient. The density must not be negative in the
    workspace; this is checked on a lattice of points, which a narrow dip may escape.

    Parameters
    ----------
    coefficients : sequence of tuples
        The rows (i, j, c).
    origin : tuple of float
        The point (a, b); zeros if absent.

    Examples
    --------
    >>> import dwell
    >>> float(dwell.Polynomial([(0, 0, 1.0), (2, 0, 3.0)]).at([[2.0, 5.0]])[0])
    13.0
    """

    coefficients: tuple[tuple[float, ...], ...]
    origin: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        rows = _as_terms(listed(self.coefficients))
        if not any(row[-1] != 0.0 for row in rows):
            raise DensityError(
                "the polynomial density is zero everywhere; give at least one term that is not "
                "zero: powers, one per dimension, and a coefficient",
                code="density.zero",
                key="density.terms",
            )
        n = len(rows[0]) - 1
        origin = [finite_number(v) for v in listed(self.origin)] or [0.0] * n
        if len(origin) != n or None in origin:
            need = f"{finite_numbers(n)} {'is' if n == 1 else 'are'} needed"
            raise _refused(f"the origin {in_short(self.origin)}; {need}")
        object.__setattr__(self, "coefficients", rows)
        object.__setattr__(self, "origin", tuple(origin))

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


def _as_terms(terms: tuple[object, ...]) -> tuple[tuple[float, ...], ...]:
    """Rows of powers and a coefficient, all of one length."""
    rows = [[] if isinstance(row, str) else list(listed(row)) for row in terms]
    for row, came in zip(rows, terms, strict=True):
        n = len(rows[0]) - 1
        if len(row) < 2:
            raise _refused(
                f"the term {in_short(came)}; a list of one power per dimension and a "
                "coefficient, such as [i, j, coefficient] in the plane, is needed"
            )
        if len(row) != n + 1:
            like = f"like the first term {list(rows[0])}, {n} power{'s' * (n != 1)}"
            raise _refused(f"the term {in_short(came)}; {like} and a coefficient are needed")
    return tuple(_as_term(row) for row in rows)


def _as_term(values: list[object]) -> tuple[float, ...]:
    """(powers, coefficient) from a row of numbers."""
    powers = [finite_number(value) for value in values[:-1]]
    whole = all(power is not None and power >= 0 and power % 1 == 0 for power in powers)
    if not whole or sum(p for p in powers if p is not None) > MAX_DEGREE:
        named = " and ".join(repr(value) for value in values[:-1])
        total = "i + j" if len(powers) == 2 else "a sum"
        raise _refused(
            f"the powers {named}; whole numbers from 0 with {total} <= {MAX_DEGREE} are needed"
        )
    coefficient = finite_number(values[-1])
    if coefficient is None:
        raise _refused(f"the coefficient {in_short(values[-1])}; a finite number is needed")
    return (*(int(power) for power in powers if power is not None), coefficient)


def _refused(what: str) -> DensityError:
    return DensityError(
        f"a polynomial density has {what}", code="density.polynomial", key="density.terms"
    )

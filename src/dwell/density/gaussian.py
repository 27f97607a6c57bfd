"""Gaussian density."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from dwell._kernels.common.density_terms import (
    GeneralTerms,
    Terms,
    gaussian_row,
    general_terms,
)
from dwell._types import Floats, Points, finite_number, in_short, is_masked, is_positive
from dwell.density.base import refuse_dimension
from dwell.errors import DensityError
from dwell.geometry.rational import exact, solve, upper_root
from dwell.geometry.validation import as_rows

SMALLEST, LARGEST = 1e-140, 1e140  # squares of the lengths that workspaces may have
FLAT = 1e-6  # 1 - correlation**2 below which a covariance counts as singular: digits would go


@final
@dataclass(frozen=True)
class Gaussian:
    """weight * exp(-rate |z - center|**2), or weight * exp(-(z - center)' S**-1 (z - center) / 2).

    Parameters
    ----------
    center : tuple of float
        Where the density is largest, one number per dimension.
    rate : float, optional
        The rate above; give it or `covariance`.
    covariance : tuple of tuples of float, optional
        The matrix S, n by n.
    weight : float
        The value at the centre.

    Examples
    --------
    >>> import dwell
    >>> float(dwell.Gaussian(center=(0, 0), rate=0.5).at([[1.0, 1.0]])[0])
    0.36787944117144233
    """

    center: tuple[float, ...]
    rate: float | None = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        need = "a list of finite numbers, one per dimension,"
        center = np.atleast_1d(_numbers(self.center, "center", need))  # on the line also a number
        if center.ndim != 1 or center.size == 0:
            raise _refused("center", self.center, need)
        object.__setattr__(self, "center", tuple(float(v) for v in center))
        if not is_positive(self.weight):
            raise _refused("weight", self.weight, "a positive number")
        if (self.rate is None) == (self.covariance is None):
            raise DensityError(
                "a Gaussian needs either `rate` or `covariance`, not both and not neither",
                code="density.gaussian",
                key="density.rate",
            )
        if self.rate is not None and not is_positive(self.rate):
            raise _refused("rate", self.rate, "a positive number (per length squared)")
        if self.covariance is not None:
            self._check_covariance()

    def _check_covariance(self) -> None:
        n = self.dimension
        need = f"a symmetric positive definite {n} x {n} matrix"
        given: object = self.covariance
        if n == 1 and np.isscalar(given):
            given = [[given]]
        s = _numbers(given, "covariance", need)
        if s.shape != (n, n) or (s != s.T).any() or not (np.diag(s) > 0).all():
            raise _refused("covariance", self.covariance, need)
        variances = np.diag(s)
        if not (variances.min() >= SMALLEST and variances.max() <= LARGEST):
            need = f"a matrix with variances between {SMALLEST:g} and {LARGEST:g}"
            raise _refused("covariance", self.covariance, need)
        if not _least_unexplained(s) > FLAT:
            need += " that is not nearly singular"
            raise _refused("covariance", self.covariance, need)
        rows = tuple(tuple(float(v) for v in row) for row in s)
        object.__setattr__(self, "covariance", rows)

    @property
    def dimension(self) -> int:
        """How many coordinates its points have."""
        return len(self.center)

    @cached_property
    def form(self) -> tuple[float, float, float]:
        """(Qxx, Qxy, Qyy) of exp(-(z - center)' Q (z - center)), in the plane."""
        (qxx, qxy), (_, qyy) = self.matrix.tolist()
        return qxx, qxy, qyy

    @property
    def pivot(self) -> float:
        """Qyy - Qxy**2 / Qxx: half the inverse of the variance of y."""
        return self.form[2] if self.covariance is None else 0.5 / self.covariance[1][1]

    @cached_property
    def _exact(self) -> list[list[Fraction]]:
        """Q without rounding: a nearly singular matrix would lose its digits."""
        if self.rate is not None:
            return exact(self.rate * np.eye(self.dimension))
        return [[v / 2 for v in row] for row in _exact_inverse(self.covariance)]

    @property
    def matrix(self) -> Floats:
        """Q of exp(-(z - center)' Q (z - center)), (n, n): half the inverse of the covariance."""
        return np.array([[float(v) for v in row] for row in self._exact])

    @cached_property
    def root(self) -> Floats:
        """Upper triangular C with Q = C'C, (n, n)."""
        return upper_root(self._exact)

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        return self.weight * np.exp(-drops(self, as_rows(points, self.dimension)))

    def terms(self) -> Terms | None:
        """One Gaussian term, in the plane."""
        if self.dimension != 2:
            return None
        x, y = self.center
        row = gaussian_row(self.weight, (x, y), self.form, self.pivot)
        return Terms(gaussians=np.array([row]))

    def general_terms(self, dimension: int) -> GeneralTerms:
        """One Gaussian term, in n dimensions."""
        refuse_dimension(self, dimension)
        weight, center = np.array([float(self.weight)]), np.array([self.center])
        return general_terms(
            dimension, gaussians=(weight, center, self.matrix[None], self.root[None])
        )


def drops(gaussian: Gaussian, points: Points) -> Floats:
    """(z - center)' Q (z - center) at each point z, summed in order."""
    offsets = points - gaussian.center
    if gaussian.dimension == 2:
        x, y = offsets.T
        qxx, qxy, qyy = gaussian.form
        planar: Floats = qxx * x * x + 2.0 * qxy * x * y + qyy * y * y
        return planar
    total = np.zeros(len(offsets))
    for i, row in enumerate(gaussian.root):
        part = np.zeros(len(offsets))
        for j in range(i, len(row)):
            part = part + row[j] * offsets[:, j]
        total = total + part * part
    return total


def _exact_inverse(matrix: object) -> list[list[Fraction]]:
    """The inverse of a matrix without rounding; ZeroDivisionError if it is singular."""
    rows = exact(matrix)
    return solve(rows, exact(np.eye(len(rows))))


def _least_unexplained(s: Floats) -> float:
    """The least share of a coordinate's variance that the others leave open; 0 if not definite."""
    try:
        upper_root(exact(s))  # refused unless positive definite
        inverse = _exact_inverse(s)
    except (ValueError, ZeroDivisionError):
        return 0.0
    return min(float(1 / (Fraction(s[k, k]) * inverse[k][k])) for k in range(len(s)))


def _numbers(value: object, name: str, need: str) -> Floats:
    """An array of finite numbers: no text, no truth values, nothing complex or masked."""
    if is_masked(value):
        raise _refused(name, value, need)
    try:
        array = np.array(value, dtype=object)
    except (TypeError, ValueError):
        raise _refused(name, value, need) from None
    numbers = [finite_number(entry) for entry in array.ravel()]
    if None in numbers:
        raise _refused(name, value, need)
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


def _refused(name: str, value: object, need: str) -> DensityError:
    return DensityError(
        f"the {name} of a Gaussian density is {in_short(value)}; {need} is needed",
        code="density.gaussian",
        key=f"density.{name}",
    )

"""Gaussian density."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._kernels.common.density_terms import (
    GeneralTerms,
    Terms,
    gaussian_row,
    general_terms,
)
from dwell._parameters import (
    LENGTH,
    OF_ANY_SIZE,
    Fault,
    Matrix,
    Point,
    Where,
    frames_of,
    param,
    parametric,
)
from dwell._types import Floats, Points
from dwell.density.base import refuse_dimension
from dwell.errors import DensityError
from dwell.geometry.rational import exact, solve, upper_root
from dwell.geometry.validation import as_rows

SMALLEST, LARGEST = 1e-140, 1e140  # squares of the lengths that workspaces may have
FLAT = 1e-6  # 1 - correlation**2 below which a covariance counts as singular: digits would go


@final
@parametric(
    "density", "the Gaussian density", DensityError, kind="gaussian", code="density.gaussian"
)
class Gaussian:
    """weight * exp(-rate |z - center|**2), or weight * exp(-(z - center)' S**-1 (z - center) / 2).

    S is the covariance; give it or the rate.

    Examples
    --------
    >>> import dwell
    >>> float(dwell.Gaussian(center=(0, 0), rate=0.5).at([[1.0, 1.0]])[0])
    0.36787944117144233
    """

    center: tuple[float, ...] = param(
        "where the density is largest", Point(), unit=LENGTH, moves=True
    )
    rate: float | None = param(
        "how fast the density falls; or give covariance", OF_ANY_SIZE, default=None,
        unit=(-2, 0), moves=True, label="rate of the density", sign=r"\lambda",
    )  # fmt: skip
    covariance: tuple[tuple[float, ...], ...] | None = param(
        "a symmetric positive definite matrix, in the plane `[[xx, xy], [xy, yy]]`; or give rate",
        Matrix(), default=None, unit=(2, 0), moves=True,
    )  # fmt: skip
    weight: float = param("the density at the center", OF_ANY_SIZE, default=1.0, moves=True)

    @staticmethod
    def rules(density: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        if density.rate is not None and density.covariance is not None:
            text = "cannot be given beside rate; keep one of the two"
            yield Fault(("covariance",), "density.gaussian", text)
        elif density.rate is None and density.covariance is None:
            text = "is missing; a gaussian needs either rate or covariance"
            yield Fault(("rate",), "scenario.missing-key", text)
        else:
            for where, rows in frames_of(density.covariance, ("covariance",)):
                yield from _faults_of(where, rows, density.center)

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
    """The least share of a coordinate's variance that the others leave open."""
    inverse = _exact_inverse(s)
    return min(float(1 / (Fraction(s[k, k]) * inverse[k][k])) for k in range(len(s)))


def _faults_of(where: Where, rows: tuple[tuple[float, ...], ...], center: Any) -> Iterator[Fault]:
    """Why some rows are no covariance that can be inverted."""
    code, n = "density.covariance", len(rows)
    if isinstance(center, tuple) and len(center) != n:
        size = f"{len(center)} by {len(center)}"
        text = f"needs {size} finite numbers, as center has {len(center)}, got {n} by {n}"
        yield Fault(where, "scenario.dimension", text)
        return
    sides = [(i, j) for i in range(n) for j in range(i + 1, n)]
    skew = next(((i, j) for i, j in sides if rows[i][j] != rows[j][i]), None)
    if skew is not None:
        i, j = skew
        place = "" if n == 2 else f" at [{i}][{j}]"
        text = f"must be symmetric, got {rows[i][j]!r} above{place} and {rows[j][i]!r} below the "
        yield Fault(where, code, f"{text}diagonal")
        return
    matrix = np.array(rows)
    variances = np.diag(matrix)
    shown = [list(row) for row in rows] if n <= 3 else f"{n} rows"
    if not (variances > 0.0).all() or _is_indefinite(matrix):
        yield Fault(where, code, f"must be positive definite, got {shown}")
    elif not (variances.min() >= SMALLEST and variances.max() <= LARGEST):
        text = f"must have variances between {SMALLEST:g} and {LARGEST:g}, got {shown}"
        yield Fault(where, "density.gaussian", text)
    elif not _least_unexplained(matrix) > FLAT:
        text = f"must not be nearly singular: digits would be lost, got {shown}"
        yield Fault(where, "density.gaussian", text)


def _is_indefinite(matrix: Floats) -> bool:
    """Whether a matrix is not positive definite, without rounding."""
    try:
        return not (np.diag(upper_root(exact(matrix))) > 0.0).all()
    except (ValueError, ZeroDivisionError):
        return True

"""Gaussian: one smooth hill."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points, is_positive
from dwell.errors import DensityError

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms


SMALLEST, LARGEST = 1e-140, 1e140  # squares of the lengths that workspaces may have
FLAT = 1e-6  # 1 - correlation**2 below which a covariance counts as singular: digits would go


@final
@dataclass(frozen=True)
class Gaussian:
    """weight * exp(-rate |z - center|**2), or weight * exp(-(z - center)' S**-1 (z - center) / 2).

    Give either `rate` or the 2 x 2 `covariance` S.

    >>> float(Gaussian(center=(0, 0), rate=0.5).at([[1.0, 1.0]])[0])
    0.36787944117144233
    """

    center: tuple[float, float]
    rate: float | None = None
    covariance: tuple[tuple[float, float], tuple[float, float]] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        center = _finite(self.center, (2,), "center", "two finite numbers [x, y]")
        object.__setattr__(self, "center", (float(center[0]), float(center[1])))
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
        need = "a symmetric positive definite 2 x 2 matrix"
        s = _finite(self.covariance, (2, 2), "covariance", need)
        if s[0, 1] != s[1, 0] or not (s[0, 0] > 0 and s[1, 1] > 0):
            raise _refused("covariance", self.covariance, need)
        if not (min(s[0, 0], s[1, 1]) >= SMALLEST and max(s[0, 0], s[1, 1]) <= LARGEST):
            need = f"a matrix with variances between {SMALLEST:g} and {LARGEST:g}"
            raise _refused("covariance", self.covariance, need)
        correlation = float(s[0, 1] / np.sqrt(s[0, 0]) / np.sqrt(s[1, 1]))
        if not (1.0 - correlation) * (1.0 + correlation) > FLAT:
            need += " that is not nearly singular"
            raise _refused("covariance", self.covariance, need)
        rows = tuple((float(a), float(b)) for a, b in s)
        object.__setattr__(self, "covariance", rows)

    @property
    def form(self) -> tuple[float, float, float]:
        """(Qxx, Qxy, Qyy) of exp(-(z - center)' Q (z - center))."""
        if self.covariance is None:
            assert self.rate is not None
            return self.rate, 0.0, self.rate
        (a, b), (_, d) = self.covariance
        # Exactly: a nearly singular matrix would lose its digits in a d - b b.
        twice = 2 * (Fraction(a) * Fraction(d) - Fraction(b) ** 2)
        return float(Fraction(d) / twice), float(-Fraction(b) / twice), float(Fraction(a) / twice)

    @property
    def pivot(self) -> float:
        """Qyy - Qxy**2 / Qxx: half the inverse of the variance of y."""
        return self.form[2] if self.covariance is None else 0.5 / self.covariance[1][1]

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        x, y = (np.asarray(points, dtype=np.float64) - self.center).T
        qxx, qxy, qyy = self.form
        values: Floats = self.weight * np.exp(-(qxx * x * x + 2.0 * qxy * x * y + qyy * y * y))
        return values

    def terms(self) -> Terms:
        """One Gaussian term."""
        from dwell._kernels.terms import gaussian_row, plain_terms

        row = gaussian_row(self.weight, self.center, self.form, self.pivot)
        return plain_terms(gaussians=np.array([row]))


def _finite(value: object, shape: tuple[int, ...], name: str, need: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _refused(name, value, need) from None
    if array.shape != shape or not np.isfinite(array).all():
        raise _refused(name, value, need)
    return array


def _refused(name: str, value: object, need: str) -> DensityError:
    return DensityError(
        f"the {name} of a Gaussian density is {value!r}; {need} is needed",
        code="density.gaussian",
        key=f"density.{name}",
    )

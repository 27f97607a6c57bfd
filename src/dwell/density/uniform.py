"""Uniform: every place matters the same."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms, general_terms
from dwell._parameters import OF_ANY_SIZE, param, parametric
from dwell._types import Floats, Points
from dwell.errors import DensityError


@final
@parametric("density", "the uniform density", DensityError, kind="uniform", code="density.zero")
class Uniform:
    """Every place matters the same.

    Examples
    --------
    >>> import dwell
    >>> dwell.moments(dwell.Box((0, 0), (2, 1)), dwell.Uniform(3.0)).mass
    6.0
    """

    level: float = param("the density everywhere", OF_ANY_SIZE, default=1.0)
    dimension: ClassVar[None] = None  # it goes with any

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        return np.full(len(points), self.level)

    def terms(self) -> Terms:
        """The constant term."""
        return Terms(constant=float(self.level))

    def general_terms(self, dimension: int) -> GeneralTerms:
        """The constant term, in n dimensions."""
        return general_terms(dimension, constant=self.level)

"""Uniform: every place matters the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms, general_terms
from dwell._types import Floats, Points, in_short, is_positive
from dwell.errors import DensityError


@final
@dataclass(frozen=True)
class Uniform:
    """A constant density.

    Parameters
    ----------
    level : float
        Its value, above 0.

    Examples
    --------
    >>> import dwell
    >>> dwell.moments(dwell.Box((0, 0), (2, 1)), dwell.Uniform(3.0)).mass
    6.0
    """

    level: float = 1.0
    dimension: ClassVar[None] = None  # it goes with any

    def __post_init__(self) -> None:
        if not is_positive(self.level):
            raise DensityError(
                f"the level of a uniform density is {in_short(self.level)}; a positive number is "
                "needed",
                code="density.zero",
                key="density.level",
            )

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        return np.full(len(points), self.level)

    def terms(self) -> Terms:
        """The constant term."""
        return Terms(constant=float(self.level))

    def general_terms(self, dimension: int) -> GeneralTerms:
        """The constant term, in n dimensions."""
        return general_terms(dimension, constant=self.level)

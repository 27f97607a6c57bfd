"""What a density is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dwell._kernels.common.density_terms import GeneralTerms, Terms
from dwell._types import Floats, Points, counted, in_short
from dwell.errors import DensityError


@runtime_checkable
class Density(Protocol):
    """How much each place matters; nowhere negative.

    Two more are optional: `dimension`, the number of coordinates of its points (None, or nothing at
    all: any), and `general_terms(n)`, the same as `terms` outside the plane.
    """

    def at(self, points: Points) -> Floats:
        """The weight at each point: (k, n) in, (k,) out."""
        ...

    def terms(self) -> Terms | None:
        """Planar density as arrays for the kernels; None if it has no such form."""
        ...


def dimension_of(density: object) -> int | None:
    """How many coordinates its points have; None if any number will do."""
    dimension = getattr(density, "dimension", None)
    return None if dimension is None else int(dimension)


def general_terms_of(density: object, dimension: int) -> GeneralTerms | None:
    """Return the density as plain arrays in n dimensions; None if it has no such form."""
    make = getattr(density, "general_terms", None)
    return None if make is None else make(dimension)


def terms_of(density: Density, dimension: int) -> Terms | GeneralTerms | None:
    """Return the density for the kernels of n dimensions; None if only Python can evaluate it."""
    return density.terms() if dimension == 2 else general_terms_of(density, dimension)


def refuse_dimension(density: object, dimension: int) -> None:
    """Refuse a density whose points have another number of coordinates."""
    own = dimension_of(density)
    if own is not None and own != dimension:
        raise DensityError(
            f"the density is one of {counted(own, 'coordinate')}, but the workspace has "
            f"{counted(dimension, 'dimension')}; both must agree",
            code="density.dimension",
            key="density",
        )


def as_density(weight: object) -> Density:
    """`weight` if it is a density; a wrapper if it is a function of points."""
    from dwell.density.function import Function

    if isinstance(weight, Density) and not isinstance(weight, type):
        return weight
    if callable(weight) and not isinstance(weight, type):
        return Function(weight)
    raise DensityError(
        f"a density or a function of points is needed, not {in_short(weight)}; "
        "for example Gaussian(center=(0, 0), rate=1.0)",
        code="density.kind",
        key="density",
    )

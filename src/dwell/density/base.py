"""What a density is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dwell._types import Floats, Points
from dwell.errors import DensityError

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms


@runtime_checkable
class Density(Protocol):
    """How much each place matters; nowhere negative."""

    def at(self, points: Points) -> Floats:
        """The weight at each point: (n, 2) in, (n,) out."""
        ...

    def terms(self) -> Terms | None:
        """The same density as plain arrays for the kernels; None if it has no such form."""
        ...


def as_density(weight: object) -> Density:
    """`weight` if it is a density; a wrapper if it is a function of points."""
    from dwell.density.function import Function

    if isinstance(weight, Density):
        return weight
    if callable(weight):
        return Function(weight)
    raise DensityError(
        f"a density or a function of points is needed, not {type(weight).__name__}; "
        "for example Gaussian(center=(0, 0), rate=1.0)",
        code="density.kind",
        key="density",
    )

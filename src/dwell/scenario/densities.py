"""What the `density` table may say: one class per kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from . import checks
from .problems import Problem
from .table import Table
from .values import Function, Matrix, Point, Positive, Term, listed


class UniformSpec(Table):
    """Every place matters the same."""

    kind: Literal["uniform"] = Field(description="which form of density this is")
    level: Positive = Field(default=1.0, description="the density everywhere, greater than 0")


class PolynomialSpec(Table):
    """A sum of coefficient * (x - origin x)^i * (y - origin y)^j, or the like in n coordinates."""

    kind: Literal["polynomial"] = Field(description="which form of density this is")
    terms: Annotated[
        tuple[Term, ...], Field(min_length=1), listed("a list of terms [i, j, coefficient]")
    ] = Field(
        description="terms [i, j, coefficient], or as many powers as the workspace has dimensions "
        "and a coefficient: whole powers from 0, in sum at most 16"
    )
    origin: Point | None = Field(
        default=None, description="the point that powers are taken about; all zeros if absent"
    )

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates."""
        yield from checks.terms(self.terms, n)
        yield from checks.point(("origin",), self.origin, n)


class GaussianSpec(Table):
    """A Gaussian: weight * exp(-rate |s - center|^2), or with a covariance."""

    kind: Literal["gaussian"] = Field(description="which form of density this is")
    center: Point = Field(description="the top of the hill, in units of length")
    rate: Positive | None = Field(
        default=None, description="how fast the hill falls, per length squared; or give covariance"
    )
    covariance: Matrix | None = Field(
        default=None,
        description="symmetric positive definite, in the plane [[xx, xy], [xy, yy]], in length "
        "squared, for exp(-(s - center)' covariance^-1 (s - center) / 2); or give rate",
    )
    weight: Positive = Field(default=1.0, description="the density at the center, greater than 0")

    def _problems(self) -> Iterator[Problem]:
        if self.rate is not None and self.covariance is not None:
            says = "cannot be given beside rate; keep one of the two"
            yield Problem(("covariance",), "density.gaussian", says)
        elif self.covariance is not None:
            yield from checks.covariance(self.covariance)
        elif self.rate is None:
            says = "is missing; a gaussian needs either rate or covariance"
            yield Problem(("rate",), "scenario.missing-key", says)

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates."""
        yield from checks.point(("center",), self.center, n)
        yield from checks.matrix(("covariance",), self.covariance, n)


PartSpec: TypeAlias = Annotated[
    UniformSpec | PolynomialSpec | GaussianSpec, Field(discriminator="kind")
]


class MixtureSpec(Table):
    """A sum of densities."""

    kind: Literal["mixture"] = Field(description="which form of density this is")
    parts: Annotated[tuple[PartSpec, ...], Field(min_length=1), listed("a list of densities")] = (
        Field(description="the densities to add: uniform, polynomial or gaussian tables")
    )

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates in the parts."""
        for index, part in enumerate(self.parts):
            for problem in part.of_dimension(n):
                yield problem.inside(("parts", index))


class CallableSpec(Table):
    """A density computed by a Python function."""

    kind: Literal["callable"] = Field(description="which form of density this is")
    function: Function = Field(description='the function, written "module:name"')


DensitySpec: TypeAlias = Annotated[
    UniformSpec | PolynomialSpec | GaussianSpec | MixtureSpec | CallableSpec,
    Field(discriminator="kind"),
]

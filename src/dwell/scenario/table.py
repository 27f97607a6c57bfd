"""What every table of a scenario has in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from .problems import Problem, refuse


class Table(BaseModel):
    """A table of a scenario: frozen, no unknown keys, no conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        """Conditions between the keys of this table that do not hold; none by default."""
        yield from ()

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Points and matrices of this table that do not have n coordinates; none by default."""
        yield from ()

    def got(self, key: str) -> str:
        """The value of a key for a sentence, which says so if it is only the default."""
        value = repr(getattr(self, key))
        return value if key in self.model_fields_set else f"{value}, its default"

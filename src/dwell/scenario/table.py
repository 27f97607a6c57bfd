"""What every table of a scenario has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a scenario: frozen, no unknown keys, no conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def got(self, key: str) -> str:
        """The value of a key for a sentence, which says so if it is only the default."""
        value = repr(getattr(self, key))
        return value if key in self.model_fields_set else f"{value}, its default"

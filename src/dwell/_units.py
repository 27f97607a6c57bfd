"""Units of lengths and times: metres and seconds at a site, none elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple


class Units(NamedTuple):
    """The units of lengths and times; empty where a scenario leaves them open."""

    length: str = ""
    time: str = ""

    def of(self, dimension: str) -> str:
        """The unit of a dimension such as "length / time"; empty where it is left open."""
        if not self.length:
            return ""
        named = dimension.replace("length", self.length).replace("time", self.time)
        return named.replace(" / ", "/")

    def after(self, number: str, dimension: str) -> str:
        """A number in words, followed by its unit."""
        return f"{number} {self.of(dimension)}".rstrip()

    def beside(self, label: str, dimension: str) -> str:
        """The name of an axis or a row, with its unit in brackets."""
        unit = self.of(dimension)
        return f"{label} ({unit})" if unit else label

    def as_json(self) -> dict[str, Any]:
        """The key `units` for programs; nothing where units are left open."""
        return {"units": self._asdict()} if self.length else {}


OPEN = Units()
METRIC = Units("m", "s")

"""Parameters of laws: what is refused, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from dwell._types import finite_number, in_short, is_one_of
from dwell.errors import ControllerError

SMALLEST, LARGEST = 1e-70, 1e70  # lengths, times and speeds: fourth powers stay within doubles


@final
@dataclass(frozen=True, slots=True)
class Parameters:
    """Checks the parameters of one law; refusals name the law and the key."""

    law: str
    of: Any  # the controller itself, a frozen dataclass whose fields are set to plain numbers

    def positive(self, *names: str, optional: bool = False) -> None:
        """Positive numbers of a size that doubles can square twice; or None, if `optional`."""
        for name in names:
            if optional and getattr(self.of, name) is None:
                continue
            value = finite_number(getattr(self.of, name))
            if value is None or value <= 0.0:
                raise self.refused(name, "a positive number")
            if not SMALLEST <= value <= LARGEST:
                raise self.refused(name, f"a number between {SMALLEST:g} and {LARGEST:g}")
            object.__setattr__(self.of, name, value)

    def within(self, name: str, low: float, high: float, need: str, *, ends: str = "()") -> None:
        """A number between `low` and `high`; `ends` says which of them belong, as in [0, 1)."""
        value = finite_number(getattr(self.of, name))
        if value is None or not low <= value <= high:
            raise self.refused(name, need)
        if (value == low and ends[0] == "(") or (value == high and ends[1] == ")"):
            raise self.refused(name, need)
        object.__setattr__(self.of, name, value)

    def not_negative(self, *names: str) -> None:
        """Numbers from 0 on."""
        for name in names:
            self.within(name, 0.0, LARGEST, "a number from 0 on", ends="[]")

    def one_of(self, name: str, choices: tuple[Any, ...]) -> None:
        """One of a few words or numbers."""
        if not is_one_of(getattr(self.of, name), choices):
            raise self.refused(name, f"one of {', '.join(map(str, choices))}")

    def in_order(self, low: str, high: str, *, strictly: bool = False) -> None:
        """The value of one key must not exceed that of another."""
        a, b = getattr(self.of, low), getattr(self.of, high)
        if a > b or (strictly and a == b):
            relation = "below" if strictly else "at most"
            what = f"the {self.law} law's {low} is {a!r} and its {high} is {b!r}; {low} must be "
            key = f"controller.{low}"
            raise ControllerError(what + f"{relation} {high}", code=key, key=key)

    def belongs(self, name: str, owner: str, choice: str) -> None:
        """`name` may be given only beside `owner = choice`."""
        if getattr(self.of, name) is not None and getattr(self.of, owner) != choice:
            raise self.refused(name, f'{owner} = "{choice}" beside it')

    def refused(self, name: str, need: str) -> ControllerError:
        """The error for a parameter that will not do."""
        return refused(self.law, name, getattr(self.of, name), need)


def refused(law: str, name: str, value: object, need: str) -> ControllerError:
    """The error for a value that will not do."""
    key = f"controller.{name}"
    what = f"the {law} law's {name} is {in_short(value, 200)}; {need} is needed"
    return ControllerError(what, code=key, key=key)

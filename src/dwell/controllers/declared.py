"""Laws as classes whose parameters are declared, and sentences that several laws share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeVar, dataclass_transform

from dwell._parameters import POSITIVE, SPEED, TIME, param, parametric
from dwell.errors import ControllerError

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(param, field))
def law(kind: str, title: str, about: str) -> Callable[[type[T]], type[T]]:
    """Make a law of a class.

    `kind` names it in a file and `title` on the page; `about` says in a few words what it does.
    """
    return parametric(
        "controller", f"the {kind} law", ControllerError, kind=kind, title=title, about=about
    )


def largest_speed() -> Any:
    """The largest speed of a law that has none by default."""
    return param(
        "the largest speed", POSITIVE, default=None, unit=SPEED, role="speed",
        absent="no limit", label="top speed",
    )  # fmt: skip


def period(default: float) -> Any:
    """The time between the samples of a law that samples periodically."""
    return param(
        "the time between samples", POSITIVE, default=default, unit=TIME, role="period",
        label="time step", sign=r"\Delta t",
    )  # fmt: skip

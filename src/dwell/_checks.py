"""Arguments from outside: accepted, or refused in one sentence."""

from __future__ import annotations

from dwell._types import in_short, is_whole
from dwell.errors import AgentsError, InputError

NORM_SLACK = 1e-12  # relative rounding of a norm: by so much a velocity may exceed its limit


def check_flag(name: str, value: object) -> None:
    """Refuse anything but true or false."""
    if not isinstance(value, bool):
        says = f"{name} is {in_short(value)}; true or false is needed"
        raise InputError(says, code="flag", key=name)


def check_callable(name: str, value: object) -> None:
    """Refuse anything but a function, or None."""
    if value is not None and not callable(value):
        says = f"{name} is {in_short(value)}; a function is needed, or nothing"
        raise InputError(says, code="function", key=name)


def check_agent(agent: object, count: int | None = None) -> None:
    """Refuse anything but the number of an agent, below `count` if that is given."""
    if not is_whole(agent) or agent < 0 or (count is not None and agent >= count):
        last = "on" if count is None else f"to {count - 1}"
        raise AgentsError(
            f"there is no agent {in_short(agent)}; agents are numbered from 0 {last}",
            code="agents.number",
        )


def check_whole(
    name: str,
    value: object,
    least: int = 0,
    table: str = "run",
    *,
    most: int | None = None,
    optional: bool = False,
) -> None:
    """Refuse anything but a whole number from `least` on, to `most` if that is given.

    `table.name` is the key in a scenario.
    """
    if optional and value is None:
        return
    if not is_whole(value) or value < least or (most is not None and value > most):
        last = "on" if most is None else f"to {most}"
        raise InputError(
            f"{name} is {in_short(value)}; a whole number from {least} {last} is needed",
            code=f"{table}.{name}",
            key=f"{table}.{name}",
        )

"""Commands of the terminal: a function, its options for argparse, and its help."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, final

from dwell.errors import InputError

ALLOW_CODE = "allow_code"  # an option that no function sees: what holds for all files that are read

Function = Callable[..., int | None]  # gives the exit code; None is 0


class Option(NamedTuple):
    """What `ArgumentParser.add_argument` takes."""

    names: tuple[str, ...]
    how: dict[str, Any]


def option(*names: str, **how: Any) -> Option:
    """An option or an argument; FILE, N, NUMBER or TEXT stand for its value unless it is named."""
    if "action" not in how or how["action"] == "append":
        kind = how.get("type", str)
        how.setdefault("metavar", "FILE" if kind is Path else getattr(kind, "metavar", "TEXT"))
    return Option(names, how)


def flag(name: str, help: str, **how: Any) -> Option:
    """An option that is given or not."""
    return option(name, action="store_true", help=help, **how)


@final
@dataclass(frozen=True)
class Number:
    """Reads a number within bounds."""

    kind: type[int] | type[float] = float
    least: float | None = None
    most: float | None = None

    @property
    def metavar(self) -> str:
        """What stands for it in a help text."""
        return "N" if self.kind is int else "NUMBER"

    def __call__(self, words: str) -> float:
        """The number that some words are; refused if they are none, or out of bounds."""
        try:
            value = self.kind(words)
        except ValueError:
            raise _refused("a whole number" if self.kind is int else "a number", words) from None
        if self.least is not None and value < self.least:
            raise _refused(f"a number of at least {self.least:g}", words)
        if self.most is not None and value > self.most:
            raise _refused(f"a number of at most {self.most:g}", words)
        return value


@final
class OneOf:
    """Reads one of some words."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    @property
    def metavar(self) -> str:
        """The words, as a help text shows them."""
        return "|".join(self.choices)

    def __call__(self, words: str) -> str:
        """The word, refused if it is none of these."""
        if words not in self.choices:
            raise _refused(f"one of {', '.join(self.choices)}", words)
        return words


def _refused(need: str, words: str) -> ArgumentTypeError:
    return ArgumentTypeError(f"needs {need}, got {json.dumps(words)}")


NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)


class Parser(ArgumentParser):
    """A parser whose refusals are those of any other wrong input."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._negative_number_matcher = NEGATIVE  # argparse takes -1e-3 for an option

    def error(self, message: str) -> NoReturn:
        """Refuse the words of a command line."""
        words = re.sub(r"^argument (\S+): needs", r"\1 needs", message)
        if found := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            close = get_close_matches(found[1], self._option_string_actions, 1)
            words += f" (did you mean {close[0]}?)" if close else ""
        raise InputError(f"{words}; see {self.prog} --help", code="usage")


@final
@dataclass(frozen=True)
class Subcommand:
    """One command; the docstring of its function is its help."""

    function: Function
    options: tuple[Option, ...]
    example: str

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.function.__name__

    @property
    def help(self) -> str:
        """What it does."""
        return (self.function.__doc__ or "").strip()

    def __call__(self, words: Sequence[str]) -> int | None:
        """Run it with the words of a command line."""
        parser = Parser(
            f"dwell {self.name}", description=" ".join(self.help.split()), allow_abbrev=False,
            epilog=f"Example: dwell {self.name} {self.example}",
        )  # fmt: skip
        for names, how in self.options:
            parser.add_argument(*names, **how)
        given = vars(parser.parse_intermixed_args(words))
        if not given.pop(ALLOW_CODE, False):
            return self.function(**given)
        from dwell.scenario.trust import code_allowed

        with code_allowed(True):
            return self.function(**given)


COMMANDS: dict[str, Subcommand] = {}


def command(*options: Option, example: str) -> Callable[[Function], Function]:
    """Make a function a command; its parameters are the `options`."""

    def add(function: Function) -> Function:
        COMMANDS[function.__name__] = Subcommand(function, options, example)
        return function

    return add

"""Output: tables and sentences for people, one JSON object for programs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

WIDE = 70  # columns from which a table is wide enough for sentences
PIPE_WIDTH = 160
LONG = 10_000  # entries of a list from which writing it by Python takes noticeable time
GREEN, YELLOW, RED = "32", "33", "1;31"
COLOURS = {
    "holds": GREEN, "not yet": YELLOW, "not applicable": YELLOW, "on the grid": YELLOW,
    "note": YELLOW, "repaired": YELLOW, "changed": YELLOW, "violated": RED, "does not hold": RED,
    "impossible": RED, "degraded": YELLOW, "uncertain": RED,
}  # fmt: skip


def width() -> int:
    """Characters to a line: the terminal's; of a file or a pipe COLUMNS, or many."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    wanted = os.environ.get("COLUMNS", "")
    return int(wanted) if wanted.isascii() and wanted.isdigit() and int(wanted) else PIPE_WIDTH


def print_table(
    rows: Iterable[Sequence[str]], heads: Sequence[str] = (), right: bool = False
) -> None:
    """Rows in columns, the last one wrapped; sentences (`says`) are left out where it is narrow.

    With `right`, all columns but the first end at the right, as numbers do.
    """
    from dwell._tables import text_table

    every = [list(row) for row in rows]
    heads = list(heads)
    if heads and heads[-1] == "says" and width() < WIDE:
        heads, every = heads[:-1], [row[:-1] for row in every]
    if right:
        columns = list(zip(heads, *every, strict=True))
        widths = [max(map(len, column)) for column in columns]
        heads, *every = (
            [row[0], *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
            for row in (heads, *every)
        )
    for line in text_table(every, heads, width()).splitlines():
        print(coloured(line))


def coloured(line: str) -> str:
    """A line with its first status word in colour, on a terminal."""
    if sys.stdout.isatty():
        for word, colour in COLOURS.items():
            if f"{word}  " in f"{line}  " and "NO_COLOR" not in os.environ:
                return line.replace(word, f"\x1b[{colour}m{word}\x1b[0m", 1)
    return line


def complain(text: str) -> None:
    """Sentences on the error stream, a line each."""
    for line in text.splitlines():
        print(f"dwell: {line}", file=sys.stderr)


class Printed:
    """Whether this command has printed its JSON object: there is one at most."""

    done = False


def answer(as_json: bool, numbers: Callable[[], dict[str, Any]], show: Callable[[], None]) -> None:
    """The numbers as one JSON object for programs, or a table of them for people."""
    if as_json:
        print_json(numbers())
    else:
        show()


def print_json(value: dict[str, Any]) -> None:
    """One object, or nothing at all."""
    text = json_text(value)  # whole before anything is printed
    Printed.done = True
    sys.stdout.write(f"{text}\n")


def json_text(value: dict[str, Any]) -> str:
    """`value` as JSON, whole before anything is printed; a ValueError for numbers that JSON lacks.

    Long lists, such as the positions of a million agents, are written by compiled code: the same
    numbers to the last bit, without blanks between them.
    """
    parts = (f"{json.dumps(str(key))}: {_text(item)}" for key, item in value.items())
    return "{" + ", ".join(parts) + "}"


def _text(item: Any) -> str:
    if not isinstance(item, list) or len(item) < LONG:
        return json.dumps(item, allow_nan=False)
    import pydantic_core

    text = pydantic_core.to_json(item, inf_nan_mode="constants").decode()
    if any(sign in text for sign in ('"', "N", "I")):  # text, NaN or Infinity
        return json.dumps(item, allow_nan=False)
    return text

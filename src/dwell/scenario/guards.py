"""What is refused before any parser sees it: odd files, odd bytes, hostile nesting.

The parsers of the standard library are quick and right on reasonable text, and slow or out of
stack on text made to hurt them; the limits here keep them on reasonable text.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Any

from dwell.errors import InputError, ScenarioError

from .problems import shown

MOST_BYTES = 1 << 20
MOST_DEPTH = 64
MOST_KEY_PARTS = 16
MOST_DIGITS = 3900

# Whole strings and comments are one token, so that what is inside them counts for nothing. A string
# that never closes is one too, as far as it may go: the parser stops there and says so, and its end
# is not sought again at each of the quotes within. Every repeat is possessive: no text makes this
# backtrack.
TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5})?'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5})?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
    r"|(?P<number>(?<![\w.])[-+]?[0-9][0-9_.eE+-]*+)"
    r"|(?P<mark>[\[\]{}.,=\n])",
    re.DOTALL,
)
_DIGITS = re.compile(r"[0-9][0-9_]*+")


def as_path(path: Any) -> Path:
    """`path` as a Path; anything but text or a path is refused."""
    try:
        found = Path(path)
    except TypeError:
        says = "is not the name of a file; text or a pathlib.Path is needed"
        raise InputError(f"{shown(path)} {says}", code="path") from None
    try:
        found.lstat()
    except (OSError, ValueError) as fault:  # the second of text that cannot be a name
        if getattr(fault, "errno", None) == errno.ENAMETOOLONG:
            says = f"is {len(str(found))} characters long, and no file system takes such a name"
            raise InputError(f"the path {shown(str(found))} {says}", code="path") from None
    return found


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a scenario file: a regular file of at most 1 MiB, in UTF-8."""
    file = as_path(path)
    name = printable(str(file))
    try:
        return decode(_read_bytes(file), source=name)
    except FileNotFoundError as error:
        raise _file_error(name, "does not exist", "scenario.not-found") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise _file_error(name, f"cannot be read: {reason}", "scenario.unreadable") from error


def _read_bytes(path: Path) -> bytes:
    # Checked before it is opened, because opening a device may already do something, and again
    # after, because it may have been exchanged in between.
    _check_regular(path, path.stat())
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        _check_regular(path, os.fstat(file.fileno()))
        return file.read(MOST_BYTES + 1)


def _check_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a directory" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
        name = printable(str(path))
        raise _file_error(name, f"must be a regular file, got {what}", "scenario.not-a-file")


def _file_error(name: str, says: str, code: str) -> ScenarioError:
    return ScenarioError(f"the scenario file {name} {says}.", code=code)


def printable(name: str) -> str:
    """A file name that does not break the line it is shown in."""
    return name if name.isprintable() else ascii(name)


def decode(raw: bytes, source: str = "the scenario") -> str:
    """Text from bytes: UTF-8, with or without a byte-order mark, and no NUL."""
    if len(raw) > MOST_BYTES:
        raise _too_large(source)
    if raw.startswith((b"\x89HDF", b"CDF\1", b"CDF\2", b"CDF\5")):
        says = "is a stored run (NetCDF), not a scenario; dwell show reads it."
        raise ScenarioError(f"{source} {says}", code="scenario.stored-run")
    says = ""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        says = "must be UTF-8, got UTF-16; save it as UTF-8."
    elif b"\0" in raw:
        says = f"must be UTF-8 text, got a NUL byte at offset {raw.index(0)}."
    else:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            says = f"must be UTF-8, got a byte that is not at offset {error.start}."
    raise ScenarioError(f"{source} {says}", code="scenario.encoding")


def check_text(text: str, source: str = "the scenario") -> None:
    """Refuse text that is too long, nested too deep, or has very long keys or numbers."""
    if len(text) > MOST_BYTES:
        raise _too_large(source)
    if "\0" in text:
        raise ScenarioError(f"{source} must not contain a NUL.", code="scenario.encoding")
    depth = dots = 0
    for token in TOKEN.finditer(text):
        mark, number = token["mark"], token["number"] or ""
        dots += number.count(".")  # a key may be one
        if mark is not None:
            dots = dots + 1 if mark == "." else 0
            depth = depth + 1 if mark in "[{" else max(depth - (mark in "]}"), 0)
        beyond = ""
        if max(map(len, _DIGITS.findall(number)), default=0) > MOST_DIGITS:
            beyond, code = f"numbers of at most {MOST_DIGITS} digits", "scenario.too-long"
        elif depth > MOST_DEPTH:
            beyond, code = f"at most {MOST_DEPTH} nested brackets", "scenario.too-deep"
        elif dots >= MOST_KEY_PARTS:
            beyond, code = f"keys of at most {MOST_KEY_PARTS} parts", "scenario.too-deep"
        if beyond:
            line, column = line_and_column(text, token.start())
            says = f"may have {beyond}, got more at line {line}, column {column}."
            raise ScenarioError(f"{source} {says}", code=code)


def _too_large(source: str) -> ScenarioError:
    says = f"must be at most {MOST_BYTES} bytes long, got more."
    return ScenarioError(f"{source} {says}", code="scenario.too-large")


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Where an offset lies, both counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1

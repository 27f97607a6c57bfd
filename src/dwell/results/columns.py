"""Named arrays in one file, as they lie in memory: the form in which checkpoints are put away.

A line that says what the file is, the length of a header and the header in JSON; then the columns,
one after another; then their checks in JSON. An archive such as NumPy's would copy every number
twice and go over it once more for a checksum, which takes longer than writing it.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

MAGIC = b"dwell columns 1\n"
DIGITS = 16  # of the header's length
WORD = 8  # bytes
KINDS = frozenset({"<f8", "<i8", "|u1", "<u2", "<u4", "|b1"})

Pieces = Sequence[np.ndarray]  # of one column, one after another


@final
@dataclass(frozen=True, slots=True)
class _Column:
    """One column in a file."""

    name: str
    kind: str  # in memory
    kept: str  # in the file: whole numbers may be narrower there
    shape: tuple[int, ...]
    turned: bool  # whether each coordinate of its vectors is in one piece

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return math.prod(self.shape) * np.dtype(self.kept).itemsize


def write_columns(path: Path, columns: Mapping[str, Pieces]) -> None:
    """Write columns, each given in pieces that need not be joined."""
    listed = [_described(name, pieces) for name, pieces in columns.items()]
    # The widest numbers come first, so that all begin where such numbers may begin.
    listed.sort(key=lambda column: -np.dtype(column.kept).itemsize)
    header = json.dumps([[c.name, c.kind, c.kept, c.shape, c.turned] for c in listed]).encode()
    header += b" " * (-len(header) % WORD)
    checks = [zlib.crc32(header)]
    with path.open("wb") as file:
        file.write(MAGIC + f"{len(header):0{DIGITS}}".encode() + header)
        for column in listed:
            checks.append(_written(file, column, columns[column.name]))
        file.write(json.dumps(checks).encode())


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """All columns of a file; a ValueError if anything in it is not as it was written."""
    data = path.read_bytes()
    begin = len(MAGIC) + DIGITS
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as it should")
    end = begin + int(data[len(MAGIC) : begin])
    header = data[begin:end]
    listed = [_told(*row) for row in json.loads(header)]
    tail = end + sum(column.size for column in listed)
    if tail > len(data):
        raise ValueError("it is cut short")
    checks: list[Any] = json.loads(data[tail:])
    found: dict[str, np.ndarray] = {}
    seen = [zlib.crc32(header)]
    for column in listed:
        count = math.prod(column.shape)
        flat = np.frombuffer(data, dtype=column.kept, count=count, offset=end)
        seen.append(_check(flat))
        found[column.name] = _shaped(flat.astype(column.kind), column)
        end += column.size
    if seen != checks:
        raise ValueError("its checksum is wrong")
    return found


def _check(flat: np.ndarray, before: int = 0) -> int:
    """A number that changes with any bit; `before`: that of the numbers before these.

    The sum of all words, which is as fast as memory; narrow columns are too small to matter.
    """
    if flat.itemsize != WORD:
        return int(zlib.crc32(flat.data, before))
    words = int(np.add.reduce(flat.view(np.uint64)))
    return (before + words) % (1 << 8 * WORD)


def _told(name: str, kind: str, kept: str, shape: list[int], turned: bool) -> _Column:
    """A column as a header tells of it."""
    if kind not in KINDS or kept not in KINDS or any(int(length) < 0 for length in shape):
        raise ValueError("it holds something else than numbers")
    return _Column(name, kind, kept, tuple(map(int, shape)), bool(turned))


def _described(name: str, pieces: Pieces) -> _Column:
    first = pieces[0]
    shape = (sum(map(len, pieces)), *first.shape[1:])
    turned = first.ndim == 2 and all(piece.flags.f_contiguous for piece in pieces)
    return _Column(name, first.dtype.str, _narrowed(pieces), shape, turned)


def _narrowed(pieces: Pieces) -> str:
    """The smallest kind that holds all of these numbers."""
    kind = pieces[0].dtype
    if kind != np.int64 or not sum(piece.size for piece in pieces):
        return kind.str
    least = min(int(piece.min()) for piece in pieces if piece.size)
    largest = max(int(piece.max()) for piece in pieces if piece.size)
    for narrow in ("|u1", "<u2", "<u4"):
        if least >= 0 and largest <= np.iinfo(narrow).max:
            return narrow
    return kind.str


def _written(file: BinaryIO, column: _Column, pieces: Pieces) -> int:
    """Write a column; gives its check."""
    check = 0
    for part in _rows(column, pieces):
        check = _check(part, check)
        file.write(part.data)  # just read, and still in the cache
    return check


def _rows(column: _Column, pieces: Pieces) -> Iterator[np.ndarray]:
    """The numbers in the order of the file, as flat arrays."""
    axes = range(column.shape[1]) if column.turned else [None]
    for axis in axes:
        for piece in pieces:
            part = piece if axis is None else piece[:, axis]
            yield np.ascontiguousarray(part, dtype=column.kept).ravel()


def _shaped(flat: np.ndarray, column: _Column) -> np.ndarray:
    if column.turned:
        return flat.reshape(column.shape[::-1]).T
    return flat.reshape(column.shape)

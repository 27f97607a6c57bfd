"""Chunks of a run as binary messages, and the file that holds the messages of a job.

A message is the length of its header (four bytes, little endian), the header in JSON, and columns,
little endian, each filled up to eight bytes. The header is filled up with spaces, so that every
column begins at a multiple of eight.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

EIGHT = 8
LARGEST = 2**20  # approximate bytes of a message, held in memory for each listener
BEGIN, EVENTS, SAMPLES = "begin", "events", "samples"
TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4"}


def pack(kind: str, first: int, columns: Mapping[str, np.ndarray]) -> bytes:
    """Return rows of a table as a message; `first` is the number of the first one."""
    parts = {name: _plain(values) for name, values in columns.items()}
    about = [
        {"name": name, "type": part.dtype.str[1:], "shape": list(part.shape)}
        for name, part in parts.items()
    ]
    count = len(next(iter(parts.values()))) if parts else 0
    header = {"type": kind, "first": first, "count": count, "columns": about}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % EIGHT)
    body = [part.tobytes() for part in parts.values()]
    return struct.pack("<I", len(text)) + text + b"".join(b + bytes(-len(b) % EIGHT) for b in body)


def rows_at_a_time(columns: Mapping[str, np.ndarray]) -> int:
    """Return the number of rows of a table that make one message."""
    row = sum(values[:1].nbytes for values in columns.values())
    return max(LARGEST // max(row, 1), 1)


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the columns of a message."""
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    at, columns = 4 + length, {}
    for about in header["columns"]:
        kind, shape = np.dtype(TYPES[about["type"]]), tuple(about["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        columns[about["name"]] = np.frombuffer(message, kind, count, at).reshape(shape)
        size = count * kind.itemsize
        at += size + -size % EIGHT
    return header, columns


def drop_rows(message: bytes, rows: int) -> bytes:
    """Return a message without its first rows."""
    header, columns = unpack(message)
    return pack(header["type"], header["first"] + rows, {n: v[rows:] for n, v in columns.items()})


def _plain(values: np.ndarray) -> np.ndarray:
    """Return values in row order, little endian; whole numbers in four bytes."""
    if np.issubdtype(values.dtype, np.integer):
        return np.ascontiguousarray(values, dtype="<i4")
    return np.ascontiguousarray(values, dtype="<f4" if values.dtype.itemsize == 4 else "<f8")


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """The position of a message in its file, and the rows that it holds."""

    kind: str
    first: int
    count: int
    offset: int
    length: int


@final
class Spool:
    """The file of one job's messages, written by its worker process."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._end = 0

    def put(self, kind: str, first: int, count: int, message: bytes) -> Entry:
        """Append a message; it can be read as soon as this returns."""
        self._file.write(message)
        self._file.flush()
        entry = Entry(kind, first, count, self._end, len(message))
        self._end += len(message)
        return entry

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

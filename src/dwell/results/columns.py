"""Named arrays in one file, for checkpoints: arrays in NumPy's format, and a checksum of all bytes.

A zip archive of arrays would copy every number twice, which takes longer than writing it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, final

import numpy as np

CHECK = 4  # bytes of the checksum at the end

Pieces = Sequence[np.ndarray]  # of one column, one after another


@final
class _Checked:
    """A file opened for writing, and the checksum of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.check = file, 0

    def write(self, data: bytes) -> None:
        """Write `data`."""
        self.check = zlib.crc32(data, self.check)
        self.file.write(data)


def write_columns(path: Path, columns: Mapping[str, Pieces]) -> None:
    """Write columns, each given in pieces."""
    with path.open("wb") as file:
        checked = _Checked(file)
        np.save(checked, np.array(list(columns)))
        for pieces in columns.values():
            np.save(checked, np.concatenate(pieces))
        file.write(checked.check.to_bytes(CHECK, "little"))


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Return all columns of a file; raise ValueError if any byte differs from what was written."""
    data = path.read_bytes()
    if zlib.crc32(data[:-CHECK]).to_bytes(CHECK, "little") != data[-CHECK:]:
        raise ValueError("its checksum is wrong")
    file = io.BytesIO(data)
    return {str(name): np.load(file) for name in np.load(file)}

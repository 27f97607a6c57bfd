"""Animated GIFs, frame by frame: only what changes is written, and nothing is gathered in memory.

Pillow does the compression of each frame; the few bytes round it are written here, because Pillow
would keep every frame until the last, and write unchanged pixels again and again.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

CLEAR = 255  # the index that lets the frame before show through
COLOURS = 255  # indices that are left for colours


def gif_bytes(
    frames: Iterable[NDArray[np.uint8]], palette: Image, times: Iterable[int], comment: str
) -> Iterator[bytes]:
    """The parts of a GIF of `frames` (height, width, 3), each shown for so many milliseconds."""
    from PIL import Image

    colours = np.reshape(palette.getpalette() or [], (-1, 3))
    before, white = None, (colours == 255).all(axis=1).argmax().astype(np.uint8)
    for frame, time in zip(frames, times, strict=True):
        image = Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
        # Pillow takes colours within four shades for one, and most of a film is white.
        now = np.where((frame == 255).all(axis=2), white, np.asarray(image))
        if before is None:
            yield _head(now.shape[1], now.shape[0], palette, comment)
        yield _frame(now, before, time)
        before = now
    yield b";"


def _head(width: int, height: int, palette: Image, comment: str) -> bytes:
    """Size and colours, that it goes on for ever, and a comment."""
    size = struct.pack("<HHBBB", width, height, 0b1111_0111, 0, 0)
    colours = bytes(palette.getpalette() or []).ljust(768, b"\0")
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    words = comment.encode("ascii")
    return b"GIF89a" + size + colours + loop + b"\x21\xfe" + bytes([len(words)]) + words + b"\0"


def _frame(now: NDArray[np.uint8], before: NDArray[np.uint8] | None, time: int) -> bytes:
    """What differs from the frame before, in the smallest rectangle that holds it."""
    part, left, top = now, 0, 0
    if before is not None:
        changed = now != before
        rows, columns = (np.flatnonzero(changed.any(axis=k)) for k in (1, 0))
        top, bottom = (int(rows[0]), int(rows[-1]) + 1) if rows.size else (0, 1)
        left, right = (int(columns[0]), int(columns[-1]) + 1) if columns.size else (0, 1)
        part = np.where(changed, now, np.uint8(CLEAR))[top:bottom, left:right]
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0b0000_0101, time // 10, CLEAR, 0)
    place = struct.pack("<BHHHHB", 0x2C, left, top, part.shape[1], part.shape[0], 0)
    return control + place + _compressed(part)


def _compressed(part: NDArray[np.uint8]) -> bytes:
    """The pixels as the format packs them, cut out of a GIF of their own."""
    from PIL import Image

    alone = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(part)).save(alone, "GIF", optimize=False, interlace=0)
    data = alone.getvalue()
    at = 13 + _table(data[10])
    while data[at] != 0x2C:  # something said about the picture: skip it
        at = _end_of_blocks(data, at + 2)
    begin = at + 10 + _table(data[at + 9])
    return data[begin : _end_of_blocks(data, begin + 1)]


def _table(flags: int) -> int:
    """Bytes of the colour table that a byte of flags announces."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, at: int) -> int:
    """Where a chain of blocks ends that begins at `at`, each led by its length, the last empty."""
    while data[at]:
        at += 1 + data[at]
    return at + 1

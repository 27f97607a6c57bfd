"""Pictures of the page, compared with those that are kept beside the tests."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

KEPT = Path(__file__).parent / "pictures"
OUT = Path(__file__).parents[2] / "out" / "pictures"
RECORD = os.environ.get("DWELL_RECORD_PICTURES") == "1"
COLOURS = 256  # of a kept picture
# Letters and curves may be smoothed a little otherwise, and kept pictures have few colours.
NEAR = 48  # of 255, by which the colour of a pixel may differ
MOST = 0.001  # share of all pixels that may differ by more
TILE = 16  # pixels of a square in which
MOST_IN_TILE = 0.15  # such a share may differ, so that one changed word is found

Pixels = npt.NDArray[np.int16]


def pixels_of(png: bytes) -> Pixels:
    """The colours of a picture, as rows of [r, g, b]."""
    return np.asarray(Image.open(BytesIO(png)).convert("RGB"), dtype=np.int16)


def record(name: str, png: bytes) -> None:
    """Keep a picture as the one to compare with."""
    KEPT.mkdir(exist_ok=True)
    few = Image.open(BytesIO(png)).convert("RGB")
    few = few.quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE
    )
    few.save(KEPT / f"{name}.png", optimize=True)


def difference(actual: Pixels, expected: Pixels) -> str:
    """What is different, in words; empty if nothing is."""
    if actual.shape != expected.shape:
        return f"its size is {actual.shape[1::-1]}, not {expected.shape[1::-1]}"
    far = np.abs(actual - expected).max(axis=2) > NEAR
    share = float(far.mean())
    rows, columns = (n // TILE for n in far.shape)
    tiles = (
        far[: rows * TILE, : columns * TILE].reshape(rows, TILE, columns, TILE).mean(axis=(1, 3))
    )
    row, column = np.unravel_index(int(tiles.argmax()), tiles.shape)
    if share <= MOST and tiles[row, column] <= MOST_IN_TILE:
        return ""
    return (
        f"{share:.2%} of its pixels differ (at most {MOST:.2%}), and {tiles[row, column]:.0%} "
        f"(at most {MOST_IN_TILE:.0%}) near x = {column * TILE}, y = {row * TILE}"
    )


def side_by_side(actual: Pixels, expected: Pixels) -> Image.Image:
    """The expected picture, the actual one, and black where they differ."""
    height = max(actual.shape[0], expected.shape[0])
    width = max(actual.shape[1], expected.shape[1])
    both = [np.full((height, width, 3), 255, dtype=np.int16) for _ in range(2)]
    for whole, part in zip(both, (expected, actual), strict=True):
        whole[: part.shape[0], : part.shape[1]] = part
    far = 255 - np.abs(both[0] - both[1]).max(axis=2, keepdims=True).repeat(3, axis=2)
    gap = np.full((height, 12, 3), 128, dtype=np.int16)
    return Image.fromarray(np.hstack([both[0], gap, both[1], gap, far]).astype(np.uint8))


def compare(name: str, png: bytes) -> None:
    """Fail if a picture is not the kept one, and show both."""
    if RECORD:
        return record(name, png)
    kept = KEPT / f"{name}.png"
    again = "`scripts/pictures` records it"
    assert kept.exists(), f"there is no picture {name} yet; {again}"
    actual, expected = pixels_of(png), pixels_of(kept.read_bytes())
    if why := difference(actual, expected):
        OUT.mkdir(parents=True, exist_ok=True)
        path = OUT / f"{name}.png"
        side_by_side(actual, expected).save(path)
        raise AssertionError(
            f"the picture {name} has changed: {why}. Expected, actual and difference are in "
            f"{path.relative_to(OUT.parents[1])}; if the change is wanted, {again} anew."
        )
    return None

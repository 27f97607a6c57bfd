"""Make the pictures of the studies small enough for the repository, after `scripts/study NAME`.

    python docs/studies/pictures.py [FOLDER]

FOLDER is where the figures lie, out/studies by default. A picture of lines needs no more than
64 colours, and is a third as large with them; one with a density needs 256.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
CHOSEN = {
    "wait": "over-t2",
    "loss": "over-network-loss",
    "size": "over-agents-start-count",
    "laws": "by-kind",
    "hill": "hill",
    "team": "team",
    "boats": "boats",
}
SHADED = ("boats",)


def main(folder: Path) -> None:
    """Every chosen figure that is there."""
    for study, figure in CHOSEN.items():
        source = folder / f"{study}-figures" / f"{figure}.png"
        if source.exists():
            target = HERE / f"{study}.png"
            colours = 256 if study in SHADED else 64
            Image.open(source).convert("RGB").quantize(colours).save(target, optimize=True)
            print(target, target.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/studies"))

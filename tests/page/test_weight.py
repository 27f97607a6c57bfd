"""The JavaScript that a browser fetches before it can draw the page."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import dwell.web

STATIC = Path(dwell.web.__file__).parent / "static"
LARGEST = 60_000  # bytes, compressed
_IMPORTED = re.compile(r'(?:from|import)\s*"\./([\w.-]+\.js)"')


def imported_by(name: str, known: set[str]) -> set[str]:
    """The file and all that it imports at once; `import()` comes later and does not count."""
    if name not in known:
        known.add(name)
        for other in _IMPORTED.findall((STATIC / name).read_text()):
            imported_by(other, known)
    return known


def test_first_paint_takes_little_code() -> None:
    first = re.findall(r'src="/static/([\w.-]+\.js)"', (STATIC / "index.html").read_text())
    files = set().union(*(imported_by(name, set()) for name in first))
    assert "page.js" in files
    assert not {"player.js", "space.js", "film.js", "Race.js"} & files
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes())) for name in files}
    assert sum(sizes.values()) <= LARGEST, sizes

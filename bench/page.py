"""The tables of docs/performance.md, put between markers of that page; and its curves.

`<!-- bench GROUP... -->` begins a table of these groups' rows, `<!-- bench machine -->` the line
that names the machine, `<!-- bench promises -->` the rows that have a target; `<!-- end -->` ends
each. What stands outside the markers is written by people and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench import curves
from bench.table import Row

MARKED = re.compile(r"(<!-- bench ([^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
HEADINGS = ("measured", "how", "figure", "target", "met")
ANSWERS = {None: "", True: "yes", False: "**no**"}
CURVES = Path("images/growth.png")  # beside the page


def write(path: Path, where: str, rows: Sequence[Row]) -> None:
    """Renew what is between the markers of the page at `path`, and its figure.

    A table of which no row was measured is left as it is.
    """
    text = path.read_text(encoding="utf-8")
    path.write_text(filled(text, where, rows), encoding="utf-8")
    curves.draw(rows, path.parent / CURVES)


def filled(text: str, where: str, rows: Sequence[Row]) -> str:
    """The page with new tables."""

    def renewed(found: re.Match[str]) -> str:
        body = _body(found[2].split(), where, rows)
        return found[0] if not body else f"{found[1]}\n{body}\n\n{found[3]}"

    return MARKED.sub(renewed, text)


def _body(words: list[str], where: str, rows: Sequence[Row]) -> str:
    if words == ["machine"]:
        return f"Measured on: {where}."
    if words == ["promises"]:
        return _table([row for row in rows if row.target])
    return _table([row for row in rows if row.group in words])


def _table(rows: Sequence[Row]) -> str:
    """In Markdown; empty if there is no row."""
    if not rows:
        return ""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    return "\n".join([*lines, *map(_line, rows)])


def _line(row: Row) -> str:
    cells = (row.name, row.what, row.figure, row.target, ANSWERS[row.met])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

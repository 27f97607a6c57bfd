"""Tables for people: as text, as HTML for notebooks, and as data frames."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._need import need

if TYPE_CHECKING:
    import pandas as pd

NARROWEST = 24  # characters of a last column that is wrapped


def text_table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), width: int | None = None
) -> str:
    """Rows of text in aligned columns, the last one wrapped at `width`, or at the terminal's."""
    every = [tuple(row) for row in (head, *rows) if row]
    widths = [max(map(len, column)) + 2 for column in zip(*every, strict=True)]
    columns = shutil.get_terminal_size().columns if width is None else width
    left = max(NARROWEST, columns - sum(widths[:-1]))
    lines = []
    for row in every:
        pieces = [[cell] for cell in row[:-1]] + [textwrap.wrap(row[-1], left) or [""]]
        for line in zip_longest(*pieces, fillvalue=""):
            padded = [cell.ljust(w) for cell, w in zip(line, widths, strict=True)]
            lines.append("".join(padded).rstrip())
    return "\n".join(lines)


def html_table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Rows of text as an HTML table, for notebooks."""
    lines = [("th", head)] if head else []
    lines += [("td", row) for row in rows]
    cells = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def beside(*parts: str) -> str:
    """Parts of HTML side by side, below each other where there is too little width."""
    style = "display: flex; flex-wrap: wrap; gap: 1em; align-items: start"
    return f'<div style="{style}">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def axis_names(dimension: int) -> list[str]:
    """The coordinates: x, y, z; x1, x2, ... above three dimensions."""
    return list("xyz"[:dimension]) if dimension <= 3 else [f"x{k + 1}" for k in range(dimension)]


def by_axis(name: str, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of (rows, n) vectors: name_x, name_y, ...; without a name, x, y, ..."""
    axes = axis_names(vectors.shape[1])
    return {f"{name}_{a}" if name else a: vectors[:, k] for k, a in enumerate(axes)}


def data_frame(columns: Mapping[str, np.ndarray], index: str | None = None) -> pd.DataFrame:
    """Columns as a data frame; `index` names the one that becomes its index."""
    pd = need("pandas", "a data frame needs", "pandas", code="pandas.missing")
    frame: Any = pd.DataFrame(dict(columns))
    return frame if index is None else frame.set_index(index)

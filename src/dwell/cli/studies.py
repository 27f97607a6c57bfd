"""Comparisons and claims for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dwell.cli.output import coloured, print_table, width

if TYPE_CHECKING:
    from dwell.studies import Claim, Comparison, Reproduction


def show_comparison(found: Comparison, out: Path | None) -> None:
    """A column for each law, in as many tables as the width of the terminal needs."""
    rows, left = [["", *found.figures], *found.rows()], list(range(1, len(found.figures) + 1))
    while left:
        fits = [k for k in range(1, len(left) + 1) if _width(rows, left[:k]) <= width()]
        some, left = left[: max(fits, default=1)], left[max(fits, default=1) :]
        heads, *cells = ([row[0], *(row[k] for k in some)] for row in rows)
        print_table(cells, heads, right=True)
    where = f"; runs and plots in {out}" if out is not None else ""
    print(f"Counts are means over the agents, with the largest in brackets{where}.")
    for note in found.notes:
        print(coloured(f"note  {note}"))


def _width(rows: list[list[str]], some: list[int]) -> int:
    """Characters that a table with some of the columns takes."""
    return sum(max(len(row[k]) for row in rows) + 2 for k in (0, *some))


def show_claims(done: Reproduction) -> None:
    """A row for each claim, and where the report is."""
    from dwell.studies.claims import borne_out

    print_table(map(_cells, done.claims), ("claim", "", "paper", "exact", "grid", "says"))
    print(f"{borne_out(done.claims)} Read {done.report}")


def _cells(claim: Claim) -> tuple[str, ...]:
    numbers = map(_short, (claim.paper, claim.exact, claim.grid))
    return (claim.id, claim.verdict, *numbers, claim.says)


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"

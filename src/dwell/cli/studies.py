"""Comparisons and claims for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from dwell.cli.show import WIDE, _console

COLOURS = {"holds": "green", "on the grid": "yellow", "does not hold": "bold red"}

if TYPE_CHECKING:
    from dwell.studies import Claim, Comparison, Reproduction


def show_comparison(found: Comparison, out: Path | None) -> None:
    """A column for each law, in as many tables as the width of the terminal needs."""
    console = _console()
    rows, left = [["", *found.figures], *found.rows()], list(range(1, len(found.figures) + 1))
    while left:
        fits = [k for k in range(1, len(left) + 1) if _width(rows, left[:k]) <= console.width]
        some, left = left[: max(fits, default=1)], left[max(fits, default=1) :]
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("", style="dim", no_wrap=True)
        for k in some:
            table.add_column(escape(rows[0][k]), justify="right", no_wrap=True)
        for row in rows[1:]:
            table.add_row(escape(row[0]), *(escape(row[k]) for k in some))
        console.print(table)
    where = f"; runs and plots in {out}" if out is not None else ""
    text = f"Counts are means over the agents, with the largest in brackets{where}."
    console.print(escape(text), soft_wrap=True)
    for note in found.notes:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def _width(rows: list[list[str]], some: list[int]) -> int:
    """Characters that a table with some of the columns takes."""
    return sum(max(len(row[k]) for row in rows) + 2 for k in (0, *some))


def show_claims(done: Reproduction) -> None:
    """A row for each claim, and where the report is."""
    from dwell.studies.paper.claims import borne_out

    console = _console()
    wide = console.width >= WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    heads = ("claim", "", "paper", "exact", "grid", "says")
    for head in heads[: 6 if wide else 5]:
        table.add_column(head, no_wrap=head != "says")
    for claim in done.claims:
        table.add_row(*_cells(claim)[: 6 if wide else 5])
    console.print(table)
    text = f"{borne_out(done.claims)} Read {done.report}"
    console.print(escape(text), soft_wrap=True)


def _cells(claim: Claim) -> tuple[str, ...]:
    colour = COLOURS[claim.verdict]
    numbers = map(_short, (claim.paper, claim.exact, claim.grid))
    return (claim.id, f"[{colour}]{claim.verdict}[/]", *numbers, escape(claim.says))


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"

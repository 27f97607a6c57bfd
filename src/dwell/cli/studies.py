"""Comparisons and claims for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from dwell.cli.show import WIDE, _console

if TYPE_CHECKING:
    from dwell.studies import Claim, Comparison, Reproduction


def show_comparison(found: Comparison, out: Path | None) -> None:
    """A column for each law, in as many tables as the width of the terminal needs."""
    console = _console()
    rows, left = [["", *found.figures], *_rows(found)], list(range(1, len(found.figures) + 1))
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
    where = f"; runs and figures in {out}" if out is not None else ""
    text = f"Counts are means over the agents, with the largest in brackets{where}."
    console.print(escape(text), soft_wrap=True)
    for note in found.notes:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def _width(rows: list[list[str]], some: list[int]) -> int:
    """Characters that a table with some of the columns takes."""
    return sum(max(len(row[k]) for row in rows) + 2 for k in (0, *some))


def _rows(found: Comparison) -> Iterator[list[str]]:
    laws = found.figures.values()
    yield ["ended", *(f.stop for f in laws)]
    yield ["final error", *(_number(f.final_error) for f in laws)]
    for level in next(iter(laws)).settled:
        yield [f"settled to {level:g}", *(_number(f.settled[level], "never") for f in laws)]
    yield ["final cost", *(_number(f.final_cost) for f in laws)]
    for kind, words in (
        ("voronoi", "Voronoi cells"),
        ("guaranteed", "guaranteed cells"),
        ("dual_guaranteed", "dual guaranteed"),
        ("all", "cells of all kinds"),
    ):
        yield [words, *(_spread(f.cells[kind]) for f in laws)]
    yield ["own position measured", *(_spread(f.measurements) for f in laws)]
    yield ["changes of velocity", *(_spread(f.updates) for f in laws)]
    yield ["positions received", *(_spread(f.received) for f in laws)]
    yield ["messages sent", *(_spread(f.sent) for f in laws)]
    yield ["top speed", *(_number(f.top_speed) for f in laws)]
    yield ["distance", *(_spread(f.distance) for f in laws)]
    yield ["energy", *(_spread(f.energy) for f in laws)]
    first = found.reference
    yield [f"farthest from {first}", *(_number(m.distance) for m in found.matches.values())]
    yield ["the same, settled", *(_number(m.settled) for m in found.matches.values())]
    yield ["same tessellation", *("yes" if m.same else "no" for m in found.matches.values())]
    yield ["time taken", *(f"{f.wall_seconds:.3g} s" for f in laws)]


def _number(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{value:.5g}"


def _spread(values: Mapping[str, float]) -> str:
    return f"{values['mean']:.5g} ({values['max']:.5g})"


def show_claims(done: Reproduction) -> None:
    """A row for each claim, and where the report is."""
    console = _console()
    wide = console.width >= WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    heads = ("claim", "", "paper", "exact", "grid", "says")
    for head in heads[: 6 if wide else 5]:
        table.add_column(head, no_wrap=head != "says")
    for claim in done.claims:
        table.add_row(*_cells(claim)[: 6 if wide else 5])
    console.print(table)
    good = sum(claim.holds for claim in done.claims)
    text = f"{good} of {len(done.claims)} claims hold. Read {done.report}"
    console.print(escape(text), soft_wrap=True)


def _cells(claim: Claim) -> tuple[str, ...]:
    verdict = "[green]holds[/]" if claim.holds else "[bold red]does not hold[/]"
    figures = map(_short, (claim.paper, claim.exact, claim.grid))
    return (claim.id, verdict, *figures, escape(claim.says))


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"

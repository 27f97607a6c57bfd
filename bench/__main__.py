"""python -m bench: measure, print one table, keep it when asked, write the page that shows it."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from bench import (
    batches,
    bits,
    cells,
    few,
    growth,
    instructions,
    keeping,
    laws,
    layouts,
    million,
    optimum,
    page,
    parts,
    ranges,
    rasters,
    regions,
    runs,
    space,
    speed,
    square,
    startup,
    step,
    tiling,
    worlds,
)
from bench.table import Row, keep, kept, machine, show

PARTS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "tiling": tiling.rows,
    "cells": cells.rows,
    "bits": bits.rows,
    "speed": speed.rows,
    "square": square.rows,
    "runs": runs.rows,
    "step": step.rows,
    "few": few.rows,
    "space": space.rows,
    "growth": growth.rows,
    "layouts": layouts.rows,
    "worlds": worlds.rows,
    "million": million.rows,
    "batches": batches.rows,
    "keeping": keeping.rows,
    "instructions": instructions.rows,
    "parts": parts.rows,
    "ranges": ranges.rows,
    "rasters": rasters.rows,
    "regions": regions.rows,
    "laws": laws.rows,
    "optimum": optimum.rows,
    "startup": startup.rows,
}


def measure(names: Sequence[str], quick: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the parts called `names`; one that breaks off is told in a row of its own."""
    for name in names:
        tell(name)
        try:
            for row in PARTS[name](quick):
                tell(f"{name}: {row.name}")
                yield row
        except Exception as fault:
            traceback.print_exc()
            what = "the rest of this part"
            yield Row("broken", name, what, f"{type(fault).__name__}: {fault}"[:200], met=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a target was missed, else 0."""
    options = _parser().parse_args(arguments)
    if options.read is not None:
        where, rows = kept(options.read)
    else:
        where, rows = machine(), measured(options)
    show(rows, Console(width=options.width), where)
    if options.write is not None:
        page.write(options.write, where, rows)
    return 1 if any(row.met is False for row in rows) else 0


def measured(options: argparse.Namespace) -> list[Row]:
    """New figures; the file that is to keep them has them as they come."""
    rows: list[Row] = []
    with Console(stderr=True).status("measuring") as status:
        for row in measure(options.only or list(PARTS), options.quick, status.update):
            rows.append(row)
            if options.json is not None:
                keep(rows, options.json)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases, short runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in FILE")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="some parts alone")
    parser.add_argument("--read", type=Path, metavar="FILE", help="show FILE, measure nothing")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put tables and curves in PAGE")
    parser.add_argument("--width", type=int, help="columns of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""python -m bench: measure, print one table, keep it when asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from bench import bits, cells, laws, optimum, parts, peers, space, speed, startup, tiling
from bench.table import Row, keep, show

PARTS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "tiling": tiling.rows,
    "cells": cells.rows,
    "bits": bits.rows,
    "speed": speed.rows,
    "laws": laws.rows,
    "optimum": optimum.rows,
    "peers": peers.rows,
    "space": space.rows,
    "parts": parts.rows,
    "startup": startup.rows,
}


def measure(names: Sequence[str], quick: bool, tell: Callable[[str], None]) -> list[Row]:
    """The rows of the parts called `names`."""
    found: list[Row] = []
    for name in names:
        for row in PARTS[name](quick):
            tell(f"{name}: {row.name}")
            found.append(row)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a target was missed, else 0."""
    options = _parser().parse_args(arguments)
    errors = Console(stderr=True)
    with errors.status("measuring") as status:
        rows = measure(options.only or list(PARTS), options.quick, status.update)
    show(rows, Console(width=options.width))
    if options.json is not None:
        keep(rows, options.json)
    return 1 if any(row.met is False for row in rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases, short runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in FILE")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="some parts alone")
    parser.add_argument("--width", type=int, help="columns of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main())

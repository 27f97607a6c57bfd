"""Rows of figures, and how they are shown and kept."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, what came out, what is asked for."""

    group: str  # accuracy, bits, speed, peers, growth, start-up, memory, ...
    name: str
    what: str
    figure: str
    value: float | None = None  # the figure as one number, for programs
    target: str = ""
    met: bool | None = None  # None where nothing is asked for
    series: str = ""  # the curve that the figure is a point of, in seconds or a count
    size: int | None = None  # and where on it: how many agents


def at_most(group: str, name: str, what: str, value: float, limit: float, figure: str = "") -> Row:
    """A row that is met when `value` does not exceed `limit`."""
    text = figure or f"{value:.2g}"
    return Row(group, name, what, text, float(value), f"≤ {limit:g}", bool(value <= limit))


def under(
    group: str, name: str, what: str, seconds: float, limit: float, figure: str, unit: str = "s"
) -> Row:
    """A row that is met when `seconds` stay under `limit`; the target is shown in `unit`."""
    shown = limit * (1e3 if unit == "ms" else 1.0)
    target = f"< {shown:g} {unit}"
    return Row(group, name, what, figure, float(seconds), target, bool(seconds < limit))


def at_least(
    group: str, name: str, what: str, ratio: float, limit: float, figure: str, unit: str = " ×"
) -> Row:
    """A row that is met when `ratio` reaches `limit`."""
    target = f"≥ {_in_thousands(limit)}{unit}"
    return Row(group, name, what, figure, float(ratio), target, bool(ratio >= limit))


def absent(group: str, name: str, what: str, why: str) -> Row:
    """A row for what cannot be measured here: no number, nothing met or missed."""
    return Row(group, name, what, why)


def _in_thousands(value: float) -> str:
    if value >= 1e7:
        return f"{value:.0e}"
    return f"{value:,.0f}".replace(",", " ") if value >= 1000 else f"{value:g}"


def show(rows: Iterable[Row], console: Console, where: str) -> None:
    """Print one table of what was measured on the machine `where`."""
    table = Table(title=f"bench on {where}", title_justify="left")
    for heading in ("", "measured", "how", "figure", "target", "met"):
        table.add_column(heading, overflow="fold")
    last = None
    for row in grouped(rows):
        if last is not None and row.group != last:
            table.add_section()
        answer = {None: "", True: "[green]yes", False: "[bold red]NO"}[row.met]
        group = row.group if row.group != last else ""
        table.add_row(group, row.name, row.what, row.figure, row.target, answer)
        last = row.group
    console.print(table)


def grouped(rows: Iterable[Row]) -> list[Row]:
    """The rows group by group, both in the order they came."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return [row for group in found.values() for row in group]


def keep(rows: Iterable[Row], path: Path) -> None:
    """Write the rows and the machine as JSON."""
    found: dict[str, Any] = {"machine": machine(), "rows": [asdict(row) for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def kept(path: Path) -> tuple[str, list[Row]]:
    """The machine and the rows of a file that `keep` wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["machine"], [Row(**row) for row in found["rows"]]


def machine() -> str:
    """Processor, cores, load and versions in one line."""
    import numba
    import numpy as np

    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    load = f"load {os.getloadavg()[0]:.1f}"  # of the last minute: above the cores, walls are long
    return f"{_processor()}, {os.cpu_count()} cores, {load}, {versions}, numba {numba.__version__}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

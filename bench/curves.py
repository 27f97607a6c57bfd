"""The growth curves as a figure, drawn from the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.table import Row
from dwell.plotting.style import PLAIN

WIDTH, HEIGHT, DPI = 7.2, 2.8, 160


def series_of(rows: Iterable[Row]) -> dict[str, dict[int, float]]:
    """Every curve: its name, and its value for each number of agents."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.series and row.size is not None and row.value is not None:
            found.setdefault(row.series, {})[row.size] = row.value
    return found


def draw(rows: Iterable[Row], target: Path) -> bool:
    """Write the figure; False if there is no curve to draw."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curves = series_of(rows)
    times = {name: curve for name, curve in curves.items() if name.startswith("per ")}
    if not times:
        return False
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, thing in zip(axes, ("cell", "event"), strict=True):
        _panel(ax, thing, {k: v for k, v in times.items() if k.startswith(f"per {thing}")})
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=DPI)
    return True


def _panel(ax: Any, thing: str, curves: dict[str, dict[int, float]]) -> None:
    """Microseconds against the number of agents, both in powers of ten."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    for k, (name, curve) in enumerate(curves.items()):
        sizes = sorted(curve)
        micros = [1e6 * curve[size] for size in sizes]
        ax.plot(
            sizes, micros, color=PLAIN.colour(k), linestyle=PLAIN.dashes(8 * k),
            linewidth=PLAIN.bold, marker="o", markersize=3.0, label=name.split(", ")[1],
        )  # fmt: skip
    ax.grid(True, which="major", color=PLAIN.faint, linewidth=PLAIN.thin, alpha=0.6)
    PLAIN.dress(ax, "number of agents", f"processor time per {thing}, µs")
    PLAIN.explain(ax, len(curves))

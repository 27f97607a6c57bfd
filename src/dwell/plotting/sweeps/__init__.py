"""Pictures of a sweep: trade-offs over every number varied, maps of pairs, boxes per law."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from dwell.errors import InputError
from dwell.plotting.save import write_figures
from dwell.plotting.style import Figure, stem
from dwell.plotting.sweeps.maps import maps
from dwell.plotting.sweeps.panels import boxes, curves
from dwell.plotting.sweeps.quantities import Mask, Quantity, SweepRuns, quantities
from dwell.plotting.sweeps.varied import MOST_LINES, Line, VariedKeys, varied_keys

__all__ = ["SweepRuns", "save_sweep_figures", "sweep_figures"]

PAIRED = 5  # keys with numbers of which all pairs get a map

Drawings = dict[str, Callable[[], Figure]]


def save_sweep_figures(
    table: SweepRuns,
    out: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    force: bool = False,
) -> list[Path]:
    """Write the plots of a sweep into the folder `out`, as NAME.FORMAT; gives the paths.

    `over-KEY` for every key with numbers: medians, with quartiles as bands, one line per law or
    other word. `map-KEY-KEY` for every pair of them. `by-KEY` for every key with words: boxes.
    """
    return write_figures(sweep_figures(table), out, formats, force)


def sweep_figures(table: SweepRuns) -> Drawings:
    """What draws each plot of a sweep, by its name; refused if there is nothing to draw."""
    if not len(table):
        raise InputError(
            "no run of this sweep has numbers: all failed; the column failure of its table says "
            "why",
            code="plot.nothing",
        )
    varied, shown = varied_keys(table), quantities(table)
    every = _of_runs(shown, np.ones(len(table), dtype=bool))
    found: Drawings = {}
    for key in varied.numeric:
        few = _of_runs(shown, ~np.isnan(table.numbers(key)))
        found[f"over-{stem(key)}"] = partial(curves, varied, few, key)
    found |= _maps_of_pairs(varied, shown)
    for key in varied.words:
        if len(varied.lines_of([key])) <= 3 * MOST_LINES:
            found[f"by-{stem(key)}"] = partial(boxes, varied, every, key)
    if not found and len(table) > 1:
        found = {"all": partial(boxes, varied, every, None)}
    if not found or not every:
        raise InputError(
            "this sweep has one run only, so there is nothing to compare; vary a key, or ask for "
            "repeats",
            code="plot.nothing",
        )
    return found


def _maps_of_pairs(varied: VariedKeys, shown: list[Quantity]) -> Drawings:
    """Maps of pairs; one for each law, or for each value of the first key with words."""
    found: Drawings = {}
    for keys in combinations(varied.numeric[:PAIRED], 2):
        both = ~np.isnan([varied.table.numbers(key) for key in keys]).any(axis=0)
        for line in varied.parts():
            part = Line(line.label, line.runs & both)
            if part.runs.any():
                ending = "".join(f"-{word}" for word in re.findall(r"[^\W_]+", part.label))
                name = f"map-{stem(keys[0])}-{stem(keys[1])}{ending}"
                found[name] = partial(maps, varied, _of_runs(shown, part.runs), keys, part)
    return found


def _of_runs(shown: list[Quantity], runs: Mask) -> list[Quantity]:
    """Those quantities of which some of these runs have a value."""
    found = [quantity.of_runs(runs) for quantity in shown]
    return [quantity for quantity in found if quantity is not None]

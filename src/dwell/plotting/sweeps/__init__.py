"""Pictures of a sweep: trade-offs over every number varied, maps of pairs, boxes per law."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dwell.errors import InputError
from dwell.plotting.save import write_figures
from dwell.plotting.sweeps.boxes import boxes
from dwell.plotting.sweeps.curves import curves
from dwell.plotting.sweeps.design import MOST_LINES, Design, Line, design_of
from dwell.plotting.sweeps.maps import maps
from dwell.plotting.sweeps.quantities import Quantity, quantities
from dwell.plotting.sweeps.table import Mask, Table
from dwell.plotting.sweeps.words import stem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Table", "save_sweep_figures", "sweep_figures"]

PAIRED = 5  # keys with numbers of which all pairs get a map

Drawings = dict[str, Callable[[], "Figure"]]


def save_sweep_figures(
    table: Table,
    out: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    force: bool = False,
) -> list[Path]:
    """Write the plots of a sweep into the folder `out`, as NAME.FORMAT; gives the paths.

    `over-KEY` for every key with numbers: medians, with quartiles as bands, one line per law or
    other word. `map-KEY-KEY` for every pair of them. `by-KEY` for every key with words: boxes.
    """
    return write_figures(sweep_figures(table), out, formats, force)


def sweep_figures(table: Table) -> Drawings:
    """What draws each plot of a sweep, by its name; refused if there is nothing to draw."""
    if not len(table):
        raise InputError(
            "no run of this sweep has numbers: all failed; the column failure of its table says "
            "why",
            code="plot.nothing",
        )
    design, shown = design_of(table), quantities(table)
    every = _of_runs(shown, np.ones(len(table), dtype=bool))
    found = {**_over(design, shown), **_pairs(design, shown), **_by(design, every)}
    if not found and len(table) > 1:
        found = {"all": partial(boxes, design, every, None)}
    if not found or not every:
        raise InputError(
            "this sweep has one run only, so there is nothing to compare; vary a key, or ask for "
            "repeats",
            code="plot.nothing",
        )
    return found


def _over(design: Design, shown: list[Quantity]) -> Drawings:
    found: Drawings = {}
    for key in design.numeric:
        few = _of_runs(shown, ~np.isnan(design.numbers(key)))
        found[f"over-{stem(key)}"] = partial(curves, design, few, key)
    return found


def _pairs(design: Design, shown: list[Quantity]) -> Drawings:
    """Maps of pairs; one for each law, or for each value of the first key with words."""
    found: Drawings = {}
    for keys in combinations(design.numeric[:PAIRED], 2):
        both = ~np.isnan(design.numbers(keys[0])) & ~np.isnan(design.numbers(keys[1]))
        for line in _parts(design):
            runs = line.runs & both
            if runs.any():
                ending = f"-{_plain(line.label)}" if line.label else ""
                name = f"map-{stem(keys[0])}-{stem(keys[1])}{ending}"
                few = _of_runs(shown, runs)
                found[name] = partial(maps, design, few, keys, runs, line.label)
    return found


def _parts(design: Design) -> list[Line]:
    word = design.main_word()
    lines = [] if word is None else design.of_word(word)
    if not lines or len(lines) > MOST_LINES:
        return [Line("", np.ones(len(design.table), dtype=bool))]
    return lines


def _by(design: Design, shown: list[Quantity]) -> Drawings:
    return {
        f"by-{stem(key)}": partial(boxes, design, shown, key)
        for key in design.words
        if len(design.of_word(key)) <= 3 * MOST_LINES
    }


def _of_runs(shown: list[Quantity], runs: Mask) -> list[Quantity]:
    """Those quantities of which some of these runs have a value."""
    found = [quantity.of_runs(runs) for quantity in shown]
    return [quantity for quantity in found if quantity is not None]


def _plain(words: str) -> str:
    """Words as part of the name of a file."""
    kept = "".join(letter if letter.isalnum() else "-" for letter in words)
    return "-".join(part for part in kept.split("-") if part)

"""A sweep's table, and the numbers of most interest in it, each for a panel of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from dwell._types import Floats, Ints
from dwell._units import Units
from dwell.plotting.panels import FEWEST
from dwell.results.figures import figures

Mask: TypeAlias = NDArray[np.bool_]

UNSEEN = "coverage-unseen"  # the flag of a run that took no samples


class SweepRuns(Protocol):
    """A sweep's runs; those that failed are not among them."""

    @property
    def keys(self) -> Sequence[str]:
        """What was varied."""

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Every column by its dotted name; None where a run has no such value."""

    @property
    def marks(self) -> Mapping[str, Sequence[tuple[float, str]]]:
        """Values of a key that mean something, such as limits of theory, and what they are."""

    @property
    def units(self) -> Units:
        """The units of lengths and times."""

    def __len__(self) -> int:
        """How many runs there are."""

    def numbers(self, name: str) -> Floats:
        """A column of numbers; nan where a run has none."""


def numbers_of(table: SweepRuns, name: str) -> Floats:
    """A column of numbers; nan all over if there is no such column."""
    if name not in table.columns:
        return np.full(len(table), np.nan)
    return table.numbers(name)


def groups(runs: Mask, *columns: Floats) -> tuple[Floats, list[Ints]]:
    """The combinations of values that some runs have, (k, columns), and the runs of each.

    Runs without a value in some column are left out. One sort, however many groups there are.
    """
    rows = np.stack(columns, axis=1)
    chosen = np.flatnonzero(runs & ~np.isnan(rows).any(axis=1))
    values, which = np.unique(rows[chosen], axis=0, return_inverse=True)
    which = np.ravel(which)
    ordered = chosen[np.argsort(which, kind="stable")]
    ends = np.cumsum(np.bincount(which, minlength=len(values)))
    return values, np.split(ordered, ends[:-1]) if len(values) else []


@final
@dataclass(frozen=True, eq=False)
class Quantity:
    """One number per run; nan where a run has none."""

    title: str
    unit: str
    values: Floats
    share: bool = False  # 1 or 0 for each run: drawn as per cent of runs
    reached: Floats | None = None  # 1 or 0: whether a run that could have a value has one
    limit: float = math.nan  # a level to be drawn
    limit_label: str = ""

    def of_runs(self, which: Mask) -> Quantity | None:
        """The quantity for a picture of some runs; None if none of them has a value.

        Where some have none though they could, its title says how many have.
        """
        if not np.isfinite(self.values[which]).any():
            return None
        reached = np.empty(0) if self.reached is None else self.reached[which]
        reached = reached[~np.isnan(reached)]
        if not len(reached) or reached.all():
            return self
        words = f"{self.title},\nof the {100.0 * float(reached.mean()):.3g} % that reach it"
        return replace(self, title=words)

    def known(self, which: Mask | Ints) -> Floats:
        """The values of those of some runs that have one."""
        some: Floats = self.values[which]
        return some[~np.isnan(some)]

    def middle(self, which: Mask | Ints) -> float:
        """The median of some runs, or their share in per cent; nan if none has a value."""
        return self.spread(which)[1]

    def spread(self, which: Mask | Ints) -> tuple[float, float, float]:
        """Lower quartile, median, upper quartile of some runs; a share three times.

        Few runs have no quartiles: then the least, the median and the largest value.
        """
        some = self.known(which)
        if not len(some):
            return np.nan, np.nan, np.nan
        if self.share:
            part = 100.0 * float(some.mean())
            return part, part, part
        outer = (0.25, 0.75) if len(some) >= FEWEST else (0.0, 1.0)
        low, middle, high = np.quantile(some, (outer[0], 0.5, outer[1]))
        return float(low), float(middle), float(high)


def quantities(table: SweepRuns) -> list[Quantity]:
    """The figures of most interest."""
    return [*_outcome(table), *_expense(table), *_safety(table)]


def unit_of(table: SweepRuns, dimension: str) -> str:
    """The unit of a dimension in a sweep; its name where units are left open."""
    return table.units.of(dimension) or dimension


def figure_in(table: SweepRuns, key: str, symbol: str = "", **about: Any) -> Quantity:
    """A figure of each run; its axis has a symbol or the unit."""
    figure = figures()[key]
    unit = unit_of(table, figure.dimension)
    axis = symbol and (f"{symbol} ({unit})" if unit else symbol)
    return Quantity(figure.label, axis or unit or "number", numbers_of(table, key), **about)


def mean_of_agents(table: SweepRuns, key: str, label: str = "") -> Quantity:
    """The mean over the agents of a figure, comparable between groups of any size."""
    figure = figures()[key]
    values = figure.mean_of_agents(partial(numbers_of, table))
    unit = unit_of(table, figure.dimension) or "number"
    return Quantity(f"{label or figure.label} per agent", unit, values)


def _outcome(table: SweepRuns) -> Iterator[Quantity]:
    """How good it is in the end, and since when."""
    yield figure_in(table, "error.final_max", r"error $\Vert e_p\Vert$")
    yield figure_in(table, "cost.final", r"cost $\mathcal{L}$")
    if coverage_unseen(table):
        return
    nu, time = (numbers_of(table, f"coverage.{name}") for name in ("nu", "reached_at"))
    reached = np.where(np.isfinite(nu), np.isfinite(time).astype(float), np.nan)
    yield figure_in(table, "coverage.reached_at", "time $t$", reached=reached)
    # A share of all runs would be a flat line.
    if not (reached[np.isfinite(nu)] == 1.0).all():
        yield Quantity("runs that reach coverage", "share (%)", reached, share=True)


def coverage_unseen(table: SweepRuns) -> bool:
    """Whether there are runs that took no samples, so that their time of coverage is unknown."""
    return any(UNSEEN in (codes or ()) for codes in table.columns.get("flags", ()))


def _expense(table: SweepRuns) -> Iterator[Quantity]:
    """Expenses per agent, comparable between groups: samples, cells, messages, distance."""
    tried, voronoi, cells, sent = (
        mean_of_agents(table, key)
        for key in ("measurements", "cells.voronoi", "cells.per_agent", "broadcasts")
    )
    lost = bool(np.nansum(tried.values - voronoi.values) > 0.0)
    yield mean_of_agents(table, "measurements", "samples tried" if lost else "samples")
    # Guaranteed cells were computed too, or samples were lost.
    if not np.allclose(cells.values, tried.values, rtol=1e-3, equal_nan=True):
        yield cells
    yield mean_of_agents(table, "messages")
    if np.nansum(sent.values) > 0.0:
        yield sent
    yield mean_of_agents(table, "distance")
    # Laws of unlike speeds are hard to compare.
    if "controller.kind" in table.keys:
        yield figure_in(table, "top_speed")


def _safety(table: SweepRuns) -> Iterator[Quantity]:
    """Whether it stayed within what is assumed, and whether it came to its end."""
    limits = numbers_of(table, "hold_error.limit")
    known = np.unique(limits[np.isfinite(limits)])
    yield figure_in(
        table,
        "hold_error.max",
        r"$\Vert\tilde\eta_p\Vert$",
        limit=float(known[0]) if len(known) == 1 else math.nan,
        limit_label=r"limit of the hold error, $\tilde\eta_{\max}$",
    )
    nearest = figure_in(table, "separation.min", "distance")
    unknown = not np.isfinite(nearest.values).any()
    yield figure_in(table, "separation.seen", "distance") if unknown else nearest
    early = np.array([float(ok is False) for ok in table.columns.get("stop.ok", ())])
    if early.any():
        yield Quantity("runs that ended early", "share (%)", early, share=True)

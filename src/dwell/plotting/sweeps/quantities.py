"""A sweep's table, and the numbers of most interest in it, each for a panel of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from dwell._types import Floats, Ints
from dwell._units import Units
from dwell.plotting.panels import FEWEST
from dwell.plotting.style import quantity_label

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


def _outcome(table: SweepRuns) -> Iterator[Quantity]:
    """How good it is in the end, and since when."""
    error, cost, time, nu = (
        numbers_of(table, name)
        for name in ("error.final_max", "cost.final", "coverage.reached_at", "coverage.nu")
    )
    symbol = rf"error $\Vert e_p\Vert$ ({unit_of(table, 'length')})"
    yield Quantity("largest error at the end", symbol, error)
    yield Quantity("cost at the end", r"cost $\mathcal{L}$", cost)
    if coverage_unseen(table):
        return
    reached = np.where(np.isfinite(nu), np.isfinite(time).astype(float), np.nan)
    label = quantity_label("time", table.units)
    yield Quantity("time of coverage", label, time, reached=reached)
    if not (reached[np.isfinite(nu)] == 1.0).all():  # else a flat line
        yield Quantity("runs that reach coverage", "share (%)", reached, share=True)


def coverage_unseen(table: SweepRuns) -> bool:
    """Whether there are runs that took no samples, so that their time of coverage is unknown."""
    return any(UNSEEN in (codes or ()) for codes in table.columns.get("flags", ()))


def _expense(table: SweepRuns) -> Iterator[Quantity]:
    """Expenses per agent, comparable between groups: samples, cells, messages, distance."""
    agents, measured, voronoi, cells, received, sent, distance = (
        numbers_of(table, name)
        for name in (
            "agents", "measurements", "cells.voronoi", "cells.per_agent.mean", "messages",
            "broadcasts", "distance.mean",
        )
    )  # fmt: skip
    tried = " tried" * bool(np.nansum(measured - voronoi) > 0.0)  # some were lost
    yield Quantity(f"samples{tried} per agent", "number", measured / agents)
    if not np.allclose(cells, measured / agents, rtol=1e-3, equal_nan=True):
        yield Quantity("cells computed per agent", "number", cells)  # guaranteed, or samples lost
    yield Quantity("positions received per agent", "number", received / agents)
    if np.nansum(sent) > 0.0:
        yield Quantity("messages sent per agent", "number", sent / agents)
    yield Quantity("distance per agent", unit_of(table, "length"), distance)
    if "controller.kind" in table.keys:  # laws of unlike speeds are hard to compare
        speed = unit_of(table, "length / time")
        yield Quantity("largest speed", speed, numbers_of(table, "top_speed"))


def _safety(table: SweepRuns) -> Iterator[Quantity]:
    """Whether it stayed within what is assumed, and whether it came to its end."""
    limits = numbers_of(table, "hold_error.limit")
    known = np.unique(limits[np.isfinite(limits)])
    yield Quantity(
        "largest hold error",
        rf"$\Vert\tilde\eta_p\Vert$ ({unit_of(table, 'length / time')})",
        numbers_of(table, "hold_error.max"),
        limit=float(known[0]) if len(known) == 1 else math.nan,
        limit_label=r"limit of the hold error, $\tilde\eta_{\max}$",
    )  # fmt: skip
    nearest, words = numbers_of(table, "separation.min"), "closest two agents"
    if not np.isfinite(nearest).any():
        nearest, words = numbers_of(table, "separation.seen"), "closest two agents, as seen"
    yield Quantity(words, f"distance ({unit_of(table, 'length')})", nearest)
    early = np.array([float(ok is False) for ok in table.columns.get("stop.ok", ())])
    if early.any():
        yield Quantity("runs that ended early", "share (%)", early, share=True)

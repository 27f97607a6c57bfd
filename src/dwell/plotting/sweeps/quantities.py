"""A sweep's table, and the numbers of most interest in it, each for a panel of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from dwell._types import Floats, Ints

Mask: TypeAlias = NDArray[np.bool_]

UNSEEN = "coverage-unseen"  # the flag of a run that took no samples


class SweepRuns(Protocol):
    """A sweep's runs; those that failed are not among them."""

    @property
    def keys(self) -> Sequence[str]:
        """What was varied."""
        ...

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Every column by its dotted name; None where a run has no such value."""
        ...

    @property
    def marks(self) -> Mapping[str, Sequence[tuple[float, str]]]:
        """Values of a key that mean something, such as limits of theory, and what they are."""
        ...

    def __len__(self) -> int:
        """How many runs there are."""
        ...

    def numbers(self, name: str) -> Floats:
        """A column of numbers; nan where a run has none."""
        ...


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
    limit: float | None = None  # a level to be drawn
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

    def middle(self, which: Mask | Ints) -> float:
        """The median of some runs, or their share in per cent; nan if none has a value."""
        return self.spread(which)[1]

    def spread(self, which: Mask | Ints) -> tuple[float, float, float]:
        """Lower quartile, median, upper quartile of some runs; a share three times."""
        some = self.values[which]
        some = some[~np.isnan(some)]
        if not len(some):
            return np.nan, np.nan, np.nan
        if self.share:
            part = 100.0 * float(some.mean())
            return part, part, part
        low, middle, high = np.quantile(some, (0.25, 0.5, 0.75))
        return float(low), float(middle), float(high)


def quantities(table: SweepRuns) -> list[Quantity]:
    """The figures of most interest."""
    return [*_outcome(table), *_expense(table), *_safety(table)]


def _outcome(table: SweepRuns) -> Iterator[Quantity]:
    """How good it is in the end, and since when."""
    error = numbers_of(table, "error.final_max")
    yield Quantity("largest error at the end", r"$\Vert e_p\Vert$ (length)", error)
    cost = numbers_of(table, "cost.final")
    yield Quantity("cost at the end", r"$\mathcal{L}$", cost)
    time = numbers_of(table, "coverage.reached_at")
    defined: Mask = np.isfinite(numbers_of(table, "coverage.nu"))
    if coverage_unseen(table):
        return
    reached = np.where(defined, np.isfinite(time).astype(float), np.nan)
    yield Quantity("time of coverage", "$t$ (time)", time, reached=reached)
    if not (reached[defined] == 1.0).all():  # else a flat line
        yield Quantity("runs that reach coverage", "%", reached, share=True)


def coverage_unseen(table: SweepRuns) -> bool:
    """Whether there are runs that took no samples, so that their time of coverage is unknown."""
    flags = table.columns.get("flags", ())
    return any(UNSEEN in (codes or ()) for codes in flags)


def _expense(table: SweepRuns) -> Iterator[Quantity]:
    """Expenses per agent, comparable between groups: samples, cells, messages, distance."""
    agents = numbers_of(table, "agents")
    samples = numbers_of(table, "measurements") / agents
    lost = np.nansum(numbers_of(table, "measurements") - numbers_of(table, "cells.voronoi")) > 0.0
    tried = "samples tried per agent" if lost else "samples per agent"
    yield Quantity(tried, "number", samples)
    cells = numbers_of(table, "cells.per_agent.mean")
    if not np.allclose(cells, samples, rtol=1e-3, equal_nan=True):  # guaranteed, or samples lost
        yield Quantity("cells computed per agent", "number", cells)
    messages = numbers_of(table, "messages") / agents
    yield Quantity("positions received per agent", "number", messages)
    sent = numbers_of(table, "broadcasts") / agents
    if np.nansum(sent) > 0.0:
        yield Quantity("messages sent per agent", "number", sent)
    distance = numbers_of(table, "distance.mean")
    yield Quantity("distance per agent", "length", distance)
    if "controller.kind" in table.keys:  # laws of unlike speeds are hard to compare
        speed = numbers_of(table, "top_speed")
        yield Quantity("largest speed", "length / time", speed)


def _safety(table: SweepRuns) -> Iterator[Quantity]:
    """Whether it stayed within what is assumed, and whether it came to its end."""
    limits = numbers_of(table, "hold_error.limit")
    known = np.unique(limits[np.isfinite(limits)])
    limit = float(known[0]) if len(known) == 1 else None
    holds = numbers_of(table, "hold_error.max")
    yield Quantity(
        "largest hold error", r"$\Vert\tilde\eta_p\Vert$ (length / time)", holds,
        limit=limit, limit_label=r"limit of the hold error, $\tilde\eta_{\max}$",
    )  # fmt: skip
    nearest = numbers_of(table, "separation.min")
    words = "closest two agents"
    if not np.isfinite(nearest).any():
        nearest, words = numbers_of(table, "separation.seen"), "closest two agents, as seen"
    yield Quantity(words, "distance (length)", nearest)
    if "stop.ok" in table.columns:
        early = np.array([float(ok is False) for ok in table.columns["stop.ok"]])
        if early.any():
            yield Quantity("runs that ended early", "%", early, share=True)

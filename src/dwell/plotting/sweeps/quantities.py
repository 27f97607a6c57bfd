"""What runs came to: the figures of most interest, each for a panel of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from dwell._types import Floats, Ints
from dwell.plotting.sweeps.table import Mask, Table, numbers_of

UNSEEN = "coverage-unseen"  # the flag of a run that took no samples


@final
@dataclass(frozen=True, eq=False)
class Quantity:
    """One number per run; nan where a run has none."""

    name: str
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


def quantities(table: Table) -> list[Quantity]:
    """The figures of most interest."""
    return [*_outcome(table), *_expense(table), *_safety(table)]


def _outcome(table: Table) -> Iterator[Quantity]:
    """How good it is in the end, and since when."""
    error = numbers_of(table, "error.final_max")
    yield Quantity("error", "largest error at the end", r"$\Vert e_p\Vert$ (length)", error)
    cost = numbers_of(table, "cost.final")
    yield Quantity("cost", "cost at the end", r"$\mathcal{L}$", cost)
    time = numbers_of(table, "coverage.reached_at")
    defined: Mask = np.isfinite(numbers_of(table, "coverage.nu"))
    if coverage_unseen(table):
        return
    reached = np.where(defined, np.isfinite(time).astype(float), np.nan)
    yield Quantity("coverage", "time of coverage", "$t$ (time)", time, reached=reached)
    if not (reached[defined] == 1.0).all():  # else a flat line
        yield Quantity("reached", "runs that reach coverage", "%", reached, share=True)


def coverage_unseen(table: Table) -> bool:
    """Whether there are runs that took no samples, so that their time of coverage is unknown."""
    flags = table.columns.get("flags", ())
    return any(UNSEEN in (codes or ()) for codes in flags)


def _expense(table: Table) -> Iterator[Quantity]:
    """Expenses per agent, comparable between groups: samples, cells, messages, distance."""
    agents = numbers_of(table, "agents")
    looks = numbers_of(table, "measurements") / agents
    lost = np.nansum(numbers_of(table, "measurements") - numbers_of(table, "cells.voronoi")) > 0.0
    tried = "looks tried per agent" if lost else "looks per agent"
    yield Quantity("looks", tried, "number", looks)
    cells = numbers_of(table, "cells.per_agent.mean")
    if not np.allclose(cells, looks, rtol=1e-3, equal_nan=True):  # guaranteed cells, or lost looks
        yield Quantity("cells", "cells computed per agent", "number", cells)
    messages = numbers_of(table, "messages") / agents
    yield Quantity("messages", "positions received per agent", "number", messages)
    sent = numbers_of(table, "broadcasts") / agents
    if np.nansum(sent) > 0.0:
        yield Quantity("broadcasts", "messages sent per agent", "number", sent)
    distance = numbers_of(table, "distance.mean")
    yield Quantity("distance", "distance per agent", "length", distance)
    if "controller.kind" in table.keys:  # laws of unlike speeds are hard to compare
        speed = numbers_of(table, "top_speed")
        yield Quantity("speed", "largest speed", "length / time", speed)


def _safety(table: Table) -> Iterator[Quantity]:
    """Whether it stayed within what is assumed, and whether it came to its end."""
    limits = numbers_of(table, "hold_error.limit")
    known = np.unique(limits[np.isfinite(limits)])
    limit = float(known[0]) if len(known) == 1 else None
    holds = numbers_of(table, "hold_error.max")
    yield Quantity(
        "hold_error", "largest hold error", r"$\Vert\tilde\eta_p\Vert$ (length / time)", holds,
        limit=limit, limit_label=r"limit of the hold error, $\tilde\eta_{\max}$",
    )  # fmt: skip
    nearest = numbers_of(table, "separation.min")
    words = "closest two agents"
    if not np.isfinite(nearest).any():
        nearest, words = numbers_of(table, "separation.seen"), "closest two agents, as seen"
    yield Quantity("separation", words, "distance (length)", nearest)
    if "stop.ok" in table.columns:
        early = np.array([float(ok is False) for ok in table.columns["stop.ok"]])
        if early.any():
            yield Quantity("early", "runs that ended early", "%", early, share=True)

"""What a run cost each agent: cells, measurements, messages, updates, distance, energy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Ints
from dwell.agents.state import counts_of

if TYPE_CHECKING:
    from dwell.results.run import Run


@final
@dataclass(frozen=True, eq=False)
class Counters:
    """One entry per agent; the beginning counts too."""

    voronoi: Ints  # Voronoi cells computed: one per look
    guaranteed: Ints  # guaranteed cells
    dual_guaranteed: Ints
    measurements: Ints  # events, at each of which it measures where it is
    sent: Ints  # messages it broadcast
    received: Ints  # positions of others it obtained, by a look or by a message
    updates: Ints  # times its velocity changed at an event; from rest, at the beginning
    distance: Floats  # length of its path
    energy: Floats  # integral of its squared speed

    @property
    def cells(self) -> Ints:
        """Cells of all three kinds together."""
        return self.voronoi + self.guaranteed + self.dual_guaranteed


def count(run: Run) -> Counters:
    """The counters of `run`."""
    totals = {name: _total(run, name) for name in ("guaranteed", "dual_guaranteed", "sent")}
    distance, energy = np.zeros(run.agents), np.zeros(run.agents)
    updates = np.zeros(run.agents, dtype=np.int64)
    for p in range(run.agents):
        legs = run.events.legs(run.start, p)
        ends = np.append(legs.since[1:], run.horizon)
        lengths, works = legs.work_until(ends)
        # Exactly rounded: other sums would depend on the width of vector registers.
        distance[p], energy[p] = math.fsum(lengths), math.fsum(works)
        before = np.zeros_like(legs.hold[:1])
        changed = (np.diff(legs.hold, axis=0, prepend=before) != 0.0).any(axis=1)
        updates[p] = int(changed.sum())
    return Counters(
        voronoi=_total(run, "looked"),
        guaranteed=totals["guaranteed"],
        dual_guaranteed=totals["dual_guaranteed"],
        measurements=1 + np.bincount(run.events.agent, minlength=run.agents),
        sent=totals["sent"],
        received=_total(run, "received"),
        updates=updates,
        distance=distance,
        energy=energy,
    )


def _total(run: Run, name: str) -> Ints:
    at_start = counts_of(run.start.spent, name)
    later = np.zeros(run.agents, dtype=np.int64)
    np.add.at(later, run.events.agent, run.events.count(name))
    return at_start + later

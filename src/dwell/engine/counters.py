"""What a run cost each agent: cells, measurements, messages, updates, distance, energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dwell._types import Floats, Ints


@final
@dataclass(frozen=True, eq=False)
class Counters:
    """One entry per agent; the beginning counts too."""

    voronoi: Ints  # Voronoi cells computed: one per sample
    guaranteed: Ints  # guaranteed cells
    dual_guaranteed: Ints
    measurements: Ints  # events, at each of which it measures where it is
    sent: Ints  # messages it broadcast
    received: Ints  # positions of others it obtained, by a sample or by a message
    updates: Ints  # times its velocity changed at an event; from rest, at the beginning
    distance: Floats  # length of its path
    energy: Floats  # integral of its squared speed

    @property
    def cells(self) -> Ints:
        """Cells of all three kinds together."""
        return self.voronoi + self.guaranteed + self.dual_guaranteed

"""The piece of a run in which coverage was reached, where events are not kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents import AgentsState, EventTable, Legs
from dwell.cells.backend import measure_cells
from dwell.engine.tally import Tally
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.metrics import covered_after, sharpness, snapshots

LEGS = {"place": "start", "hold": "hold", "since": "since", "next_at": "next_at"}


@final
class Window:
    """Jumps from before the last error beyond nu until the first sample after it."""

    def __init__(self, start: AgentsState) -> None:
        self.start = start
        self.base: Legs = start.legs
        self.tables: list[EventTable] = []
        self.late = 0.0

    def take(self, before: Legs, table: EventTable, tally: Tally, was_open: bool) -> None:
        """Add `table`, which begins with the segments `before` and is in `tally` already."""
        if tally.late > self.late:
            self.late, self.base, self.tables = tally.late, before, [table]
        elif was_open:
            self.tables.append(table)

    def covered(self, tally: Tally, until: float) -> float | None:
        """From when on every error stays within nu; None if never."""
        assert tally.nu is not None
        empty = EventTable.blank(0, self.start.start.shape[1])
        table = EventTable.joined([part for part in self.tables if len(part)] or [empty])
        base = _state(self.start, self.base)

        def errors(t: float) -> Floats:
            if t == 0.0:
                places = self.start.positions[None]
            elif t == until:
                places = tally.places(until)[None]
            else:
                places = snapshots(base, table, np.array([t])).positions
            return errors_at(tally, places)

        after = None if np.isinf(tally.after) else tally.after
        return covered_after(
            errors, until, tally.late, after, tally.nu, sharpness(tally.system.ground)
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, by name."""
        named = {f"window_{f}": getattr(self.base, f) for f in (*LEGS, "cruise", "bend")}
        if tables := [part for part in self.tables if len(part)]:
            table = EventTable.joined(tables)
            named |= {f"window_event_{name}": v for name, v in table.columns().items()}
        return {name: values for name, values in named.items() if values is not None}

    def restore(self, arrays: dict[str, np.ndarray], late: float) -> None:
        """Become what `arrays` were taken from."""
        own = {f: arrays.get(f"window_{f}") for f in (*LEGS, "cruise", "bend")}
        parts: Any = {f: None if v is None else np.array(v) for f, v in own.items()}
        self.base = Legs(**parts, fade=self.start.fade)
        lead = "window_event_"
        columns: Any = {
            name.removeprefix(lead): np.array(values, order="F")
            for name, values in arrays.items()
            if name.startswith(lead)
        }
        self.tables = [EventTable(**columns)] if columns else []
        self.late = late


def errors_at(tally: Tally, places: Floats) -> Floats:
    """Return |centroid - position| of all agents at `places`, (1, N, n)."""
    everybody = np.arange(places.shape[1])
    seen = measure_cells(
        tally.system.ground, places, np.zeros_like(everybody), everybody, threads=None
    )
    if seen.coincident.any():
        raise first_coincidence(places[0])
    return lengths(seen.error)


def _state(start: AgentsState, legs: Legs) -> AgentsState:
    named: Any = {field: getattr(legs, name) for name, field in LEGS.items()}
    return replace(start, **named, cruise=legs.cruise, bend=legs.bend)

"""The chunks of a run in which coverage was reached, where events are not stored."""

from __future__ import annotations

from typing import final

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents import AgentsState, EventTable, Segments
from dwell.agents.stored_names import stored_names
from dwell.engine.codec import pack_segments, unpack_segments
from dwell.engine.tally import Tally
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.metrics import covered_after, measure_configurations, sharpness, snapshots

SEGMENT, EVENT = "window_", "window_event_"  # beginnings of stored names


@final
class Window:
    """Jumps from before the last error beyond nu until the first sample after it."""

    def __init__(self, start: AgentsState) -> None:
        self.start = start
        self.base: Segments = start.segments
        self.tables: list[EventTable] = []
        self.late = 0.0

    def take(self, before: Segments, table: EventTable, tally: Tally, was_open: bool) -> None:
        """Add `table`, which begins with the segments `before` and is in `tally` already."""
        if tally.late > self.late:
            self.late, self.base, self.tables = tally.late, before, [table]
        elif was_open:
            self.tables.append(table)

    def covered(self, tally: Tally, until: float) -> float | None:
        """The time from which every error stays within nu; None if there is none."""
        assert tally.nu is not None
        table = EventTable.joined(self.tables, self.start.start.shape[1])
        base = self.start.with_segments(self.base)

        def errors(t: float) -> Floats:
            if t == 0.0:
                places = self.start.positions[None]
            elif t == until:
                places = tally.places(until)[None]
            else:
                places = snapshots(base, table, np.array([t])).positions
            seen = measure_configurations(tally.system, places)
            if seen.coincident.any():
                raise first_coincidence(places[0])
            return lengths(seen.error)

        after = None if np.isinf(tally.after) else tally.after
        return covered_after(
            errors, until, tally.late, after, tally.nu, sharpness(tally.system.ground)
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, by its stored name."""
        named, names = pack_segments(SEGMENT, self.base), stored_names(EventTable)
        table = EventTable.joined(self.tables)
        if len(table):
            named |= {EVENT + names[field]: values for field, values in table.columns().items()}
        return named

    def restore(self, arrays: dict[str, np.ndarray], late: float) -> None:
        """Restore what `arrays` returned."""
        self.base, self.late = unpack_segments(SEGMENT, arrays, self.start.segments), late
        columns = {
            field: np.array(arrays[EVENT + name], order="F")
            for field, name in stored_names(EventTable).items()
            if EVENT + name in arrays
        }
        self.tables = [EventTable(**columns)] if columns else []

"""Sums and extremes of a run, accumulated chunk by chunk: the numbers of a run without its events.

The sums have the same bits for every division of a run into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import FLOOR
from dwell._types import Floats, Ints, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Segments, Trajectory
from dwell.agents.events import USUALLY
from dwell.agents.state import Spent, counts_of
from dwell.agents.stored_names import stored_names
from dwell.engine.codec import pack_segments, unpack_segments
from dwell.measure import Metrics
from dwell.measure.metrics import covered_after, measure_at, sharpness

BLOCK = 65_536  # rows of a table added at a time
SCALARS = (
    "time", "empty", "floors", "outside", "top_speed", "nearest", "hold_error", "last_large",
)  # fmt: skip
SEGMENT, EVENT = "window_", "window_event_"  # beginnings of stored names of a window


@final
@dataclass(frozen=True, eq=False)
class Counters:
    """What a run cost each agent, the start included; one entry per agent."""

    voronoi: Ints  # Voronoi cells computed: one per sample, and what laws compute besides
    guaranteed: Ints  # guaranteed cells
    dual_guaranteed: Ints
    measurements: Ints  # events, at each of which it measures its position
    sent: Ints  # messages it broadcast
    received: Ints  # positions of others it obtained, by a sample or by a message
    updates: Ints  # changes of its velocity at events; at the start, from rest
    distance: Floats  # length of its path
    energy: Floats  # integral of its squared speed
    samples: Ints  # its samples; with several sensors, one for each

    @property
    def cells(self) -> Ints:
        """Cells of all three kinds together."""
        return self.voronoi + self.guaranteed + self.dual_guaranteed


@final
@dataclass
class Sampled:
    """Coverage as seen at the metric samples of a run."""

    taken: int = 0
    last_large: float = -1.0  # the last sample with an error beyond nu; -1: none
    after: float = np.inf  # the first sample after any error beyond nu, at events or samples

    def add(self, found: Metrics, nu: float | None, last_event: float) -> None:
        """Add samples; `last_event` is the time of the last event with an error beyond nu."""
        self.taken += len(found.times)
        if nu is not None and len(found.times):
            large = found.times[found.errors.max(axis=1) > nu]
            self.last_large = float(large[-1]) if len(large) else self.last_large
            late = max(0.0, self.last_large, last_event)
            if not (late < self.after < np.inf):
                good = found.times[found.times > late]
                self.after = float(good[0]) if len(good) else np.inf


@final
class Tally:
    """Sums, extremes and the present trajectory segments of a run in progress."""

    def __init__(self, system: CoverageSystem, start: AgentsState) -> None:
        n = system.agents
        self.system = system
        self.nu: float | None = system.nu
        self.segments = start.segments.copied()
        self.time = start.time
        self.event_counts: Ints = start.event_counts.copy()
        self.counts: dict[str, Ints] = {
            name: counts_of(start.spent, name).copy() for name in stored_names(Spent)
        }
        del self.counts["mark"]
        self.updates: Ints = (start.segments.hold != 0.0).any(axis=1).astype(np.int64)
        self.distance, self.energy = np.zeros((2, n)), np.zeros((2, n))  # sums, and their rests
        self.empty = 0
        self.floors = 0
        self.outside = 0.0
        self.top_speed = 0.0  # on past segments
        self.nearest = np.inf  # at events
        self.hold_error = 0.0  # at the ends of holds
        self.last_large = -1.0  # time of the last event with an error beyond nu; -1: none
        self.samples = Sampled()

    @property
    def jumps(self) -> int:
        """The number of jumps."""
        return int(self.event_counts.sum())

    def follow(self, table: EventTable) -> None:
        """Bring the segments and the number of jumps to the end of `table`, and no sums."""
        if len(table):
            self._go_on(table, table.agent, table.begun(self.segments))

    def _go_on(self, table: EventTable, who: Ints, begun: Segments) -> None:
        """Go on after the jumps of `table` with the segments `begun` of the agents `who`."""
        self.segments.put(who, begun)
        self.event_counts += np.bincount(table.agent, minlength=len(self.event_counts))
        self.time = float(table.time[-1])

    def add(self, table: EventTable) -> None:
        """Add the jumps of `table`, which come next."""
        for lo in range(0, len(table), BLOCK):
            part = table.take(slice(lo, lo + BLOCK))
            self._add_counts(part)
            self._add_paths(part)

    def _add_paths(self, part: EventTable) -> None:
        """Add the segments that the jumps of `part` end, and go on with those that they begin."""
        from dwell._kernels.common.arithmetic import add_each

        short = np.min_scalar_type(len(self.event_counts))  # NumPy sorts short numbers sooner
        order = np.argsort(part.agent.astype(short), kind="stable")
        who, at = part.agent[order], part.time[order]
        first = np.flatnonzero(np.diff(who, prepend=-1))  # the first jump of each agent in `part`
        begun = part.begun(self.segments)
        before = begun.take(np.roll(order, 1))
        before.put(first, self.segments.take(who[first]))
        length, work = before.work_until(at)
        self.top_speed = max(self.top_speed, before.top_speed(length, at))
        add_each(who, length, *self.distance)
        add_each(who, work, *self.energy)
        changed = (part.holds[order] != before.hold).any(axis=1)
        self.updates += np.bincount(who[changed], minlength=len(self.event_counts))
        last = np.append(first[1:], len(who)) - 1
        self._go_on(part, who[last], begun.take(order[last]))

    def _add_counts(self, part: EventTable) -> None:
        made = np.bincount(part.agent, minlength=len(self.event_counts))
        for name, sums in self.counts.items():
            if name == "received" or getattr(part, name) is not None:
                np.add.at(sums, part.agent, part.column(name))
            else:
                sums += int(USUALLY[name]) * made
        self.empty += int(part.empty.sum())
        self.floors += 0 if part.mark is None else int((part.mark == FLOOR).sum())
        timeline = self.system.timeline
        beyond = timeline.outside_by(part.positions, part.agent, part.time)
        self.outside = max(self.outside, float(beyond.max()))
        self.nearest = min(self.nearest, float(part.nearest.min()))
        # Nothing was held before an arrival.
        held = np.where(timeline.comes_or_goes(part.agent, part.time), 0.0, part.hold_error)
        self.hold_error = max(self.hold_error, float(held.max()))
        if self.nu is not None:
            large = part.time[lengths(part.errors) > self.nu]
            self.last_large = float(large[-1]) if len(large) else self.last_large

    def sample(self, found: Metrics) -> None:
        """Add metric samples, which come next."""
        self.samples.add(found, self.nu, self.last_large)

    @property
    def late(self) -> float:
        """The last known time of an error beyond nu; 0 where none is known after the start."""
        return max(0.0, self.last_large, self.samples.last_large)

    @property
    def after(self) -> float:
        """The first sample after that; inf if there is none."""
        return self.samples.after if self.samples.after > self.late else np.inf

    def counters(self, until: float) -> Counters:
        """What the run cost each agent up to time `until`."""
        from dwell._kernels.common.arithmetic import add_each

        every = np.arange(len(self.event_counts))
        totals = []
        for sums, rest in zip(
            (self.distance, self.energy), self.segments.work_until(until), strict=True
        ):
            high, low = sums.copy()
            add_each(every, np.ascontiguousarray(rest), high, low)
            totals.append(high + low)
        looked, guaranteed, dual_guaranteed, sent, received, voronoi = self.counts.values()
        return Counters(
            looked + voronoi, guaranteed, dual_guaranteed, 1 + self.event_counts, sent, received,
            self.updates, totals[0], totals[1], looked,
        )  # fmt: skip

    def top_speed_until(self, until: float) -> float | None:
        """The largest speed of all agents up to time `until`; None where it was not stored."""
        length, _ = self.segments.work_until(until)
        found = max(self.top_speed, self.segments.top_speed(length, until))
        return None if np.isnan(self.top_speed) else found

    def state(self, start: AgentsState) -> AgentsState:
        """The state after the last jump, without memories and messages."""
        event_counts = self.event_counts.copy()
        return replace(
            start, segments=self.segments.copied(), time=self.time, event_counts=event_counts,
            memory=(),
        )  # fmt: skip

    # Storing and restoring.

    def _sums(self) -> dict[str, np.ndarray]:
        """Arrays of counts and sums by their stored names."""
        names = stored_names(Spent)
        return {f"count_{names[name]}": values for name, values in self.counts.items()} | {
            "count_events": self.event_counts,
            "count_updates": self.updates,
            "sum_distance": self.distance,
            "sum_energy": self.energy,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Copies of everything that has one entry per agent, by its stored name."""
        every = {**pack_segments("final_", self.segments), **self._sums()}
        return {name: values.copy() for name, values in every.items()}

    def scalars(self) -> dict[str, Any]:
        """Everything else."""
        own = {name: getattr(self, name) for name in SCALARS}
        samples = {name: getattr(self.samples, f) for f, name in stored_names(Sampled).items()}
        return {**own, "samples": samples}

    def restore(self, arrays: dict[str, np.ndarray], scalars: dict[str, Any]) -> None:
        """Restore what `arrays` and `scalars` returned."""
        self.segments = unpack_segments("final_", arrays, self.segments)
        for name, values in self._sums().items():
            if name == "count_voronoi" and name not in arrays:  # older files lack it
                continue
            if arrays[name].shape != values.shape:
                raise ValueError("numbers of another count of agents than the scenario's")
            values[...] = arrays[name]
        kept = {"top_speed": np.nan, **scalars}  # older files lack it
        for name in SCALARS:
            setattr(self, name, type(getattr(self, name))(kept[name]))
        samples = scalars["samples"]
        self.samples = Sampled(**{f: samples[name] for f, name in stored_names(Sampled).items()})


@final
class Window:
    """Jumps from before the last error beyond nu until the first sample after it.

    From them the time of coverage is found where events are not stored.
    """

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
        system, none = tally.system, EventTable.blank(0, tally.system.dimension)
        ends = {0.0: self.start, until: tally.state(self.start)}
        still = {t: Trajectory(system, state, none, until) for t, state in ends.items()}
        base = replace(self.start, segments=self.base)
        table = EventTable.joined(self.tables, system.dimension)
        between = Trajectory(system, base, table, until)

        def errors(t: float) -> Floats:
            time = np.array([t])
            found: Floats = measure_at(system, still.get(t, between).at(time), time).errors[0]
            return found

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

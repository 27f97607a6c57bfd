"""What a run comes to, added up piece by piece: the numbers need no events once these are in.

However a run is cut into pieces, the sums are the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import FLOOR
from dwell._types import Ints, Points, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Legs
from dwell.agents.state import counts_of
from dwell.engine.counters import Counters
from dwell.measure import Metrics

BLOCK = 65_536  # rows of a table added at a time
COUNTED = ("looked", "guaranteed", "dual_guaranteed", "sent", "received")


@final
class Tally:
    """Sums, extremes and the present trajectory segments of a run in progress."""

    def __init__(self, system: CoverageSystem, start: AgentsState) -> None:
        n = system.agents
        self.system = system
        self.nu: float | None = system.nu
        self.legs = _own(start.legs)
        self.time = start.time
        self.looks: Ints = start.looks.copy()
        self.counts: dict[str, Ints] = {c: counts_of(start.spent, c).copy() for c in COUNTED}
        self.updates: Ints = (start.hold != 0.0).any(axis=1).astype(np.int64)
        self.distance, self.energy = np.zeros((2, n)), np.zeros((2, n))  # sums, and their rests
        self.empty = 0
        self.floors = 0
        self.outside = 0.0
        self.top_speed = 0.0  # on segments that are over
        self.nearest = np.inf  # at events
        self.hold_error = 0.0  # at the ends of holds
        self.last_large = -1.0  # time of the last event with an error beyond nu; -1: none
        self.samples = Sampled()

    @property
    def jumps(self) -> int:
        """How many there were."""
        return int(self.looks.sum())

    def follow(self, table: EventTable) -> None:
        """The jumps of `table` happened next; nothing is counted but them, as they are kept."""
        if not len(table):
            return
        self._with_cruise(table)
        _put(self.legs, table.agent, _rows(table, slice(None), self.legs))  # the last one counts
        self.looks += np.bincount(table.agent, minlength=len(self.looks))
        self.time = float(table.time[-1])

    def _with_cruise(self, part: EventTable) -> None:
        if part.cruise is not None and self.legs.cruise is None:
            self.legs = replace(self.legs, cruise=np.full(len(self.looks), np.inf))

    def add(self, table: EventTable) -> None:
        """The jumps of `table` happened next."""
        for lo in range(0, len(table), BLOCK):
            self._add(table.take(slice(lo, lo + BLOCK)))

    def _add(self, part: EventTable) -> None:
        from dwell._kernels.common.compensated_sum import add_each

        self._with_cruise(part)
        order = np.argsort(part.agent, kind="stable")
        who = part.agent[order]
        fresh = np.append(True, who[1:] != who[:-1])  # the first jump of an agent in this part
        now, at = _rows(part, order, self.legs), part.time[order]
        before = self._before(now, who, fresh)
        length, work = before.work_until(at)
        self.top_speed = max(self.top_speed, before.top_speed(length, at))
        add_each(who, length, *self.distance)
        add_each(who, work, *self.energy)
        changed = (now.hold != before.hold).any(axis=1)
        self.updates += np.bincount(who[changed], minlength=len(self.looks))
        self._count(part)
        last = np.append(fresh[1:], True)
        _put(self.legs, who[last], now.take(last))
        self.time = float(part.time[-1])

    def _before(self, now: Legs, who: Ints, fresh: np.ndarray) -> Legs:
        """Return the segment that each of the sorted jumps ends."""
        older = self.legs.take(who)
        later = np.flatnonzero(~fresh)
        _put(older, later, now.take(later - 1))
        return older

    def _count(self, part: EventTable) -> None:
        agents = len(self.looks)
        self.looks += np.bincount(part.agent, minlength=agents)
        for name, sums in self.counts.items():
            np.add.at(sums, part.agent, part.count(name))
        self.empty += int(part.empty.sum())
        self.floors += int((part.count("mark") == FLOOR).sum())
        beyond = float(self.system.workspace.outside_by(part.positions).max())
        self.outside = max(self.outside, beyond)
        self.nearest = min(self.nearest, float(part.nearest.min()))
        self.hold_error = max(self.hold_error, float(part.hold_error.max()))
        if self.nu is not None:
            large = part.time[lengths(part.errors) > self.nu]
            self.last_large = float(large[-1]) if len(large) else self.last_large

    def sample(self, found: Metrics) -> None:
        """These samples were taken next."""
        self.samples.add(found, self.nu, self.last_large)

    @property
    def late(self) -> float:
        """The last time at which an error beyond nu was seen; 0 where none was after the start."""
        return max(0.0, self.last_large, self.samples.last_large)

    @property
    def after(self) -> float:
        """The first sample after that; inf if there is none."""
        return self.samples.after if self.samples.after > self.late else np.inf

    def counters(self, until: float) -> Counters:
        """What the run cost each agent up to time `until`."""
        from dwell._kernels.common.compensated_sum import add_each

        everybody = np.arange(len(self.looks))
        totals = []
        for sums, rest in zip(
            (self.distance, self.energy), self.legs.work_until(until), strict=True
        ):
            high, low = sums.copy()
            add_each(everybody, np.ascontiguousarray(rest), high, low)
            totals.append(high + low)
        return Counters(
            voronoi=self.counts["looked"],
            guaranteed=self.counts["guaranteed"],
            dual_guaranteed=self.counts["dual_guaranteed"],
            measurements=1 + self.looks,
            sent=self.counts["sent"],
            received=self.counts["received"],
            updates=self.updates,
            distance=totals[0],
            energy=totals[1],
        )

    def top_speed_until(self, until: float) -> float | None:
        """The largest speed of all agents up to time `until`; None where it was not kept."""
        length, _ = self.legs.work_until(until)
        found = max(self.top_speed, self.legs.top_speed(length, until))
        return None if np.isnan(self.top_speed) else found

    def places(self, until: float) -> Points:
        """Return the positions of all agents at the end."""
        return self.legs.at(until)

    def state(self, start: AgentsState) -> AgentsState:
        """The state after the last jump, as far as tables tell it."""
        legs = _own(self.legs)
        return replace(
            start, time=self.time, start=legs.place, hold=legs.hold, since=legs.since,
            next_at=legs.next_at, looks=self.looks.copy(), cruise=legs.cruise, bend=legs.bend,
            memory=(),
        )  # fmt: skip

    # Put away and taken out again.

    def arrays(self) -> dict[str, np.ndarray]:
        """Copies of everything that has one entry per agent, by name."""
        legs = {f"final_{name}": values for name, values in _parts(self.legs)}
        counts = {f"count_{name}": values for name, values in self.counts.items()}
        others = {
            "count_events": self.looks,
            "count_updates": self.updates,
            "sum_distance": self.distance,
            "sum_energy": self.energy,
        }
        return {name: values.copy() for name, values in {**legs, **counts, **others}.items()}

    def scalars(self) -> dict[str, Any]:
        """Everything else."""
        own = {name: getattr(self, name) for name in _SCALARS}
        return {**own, "samples": dict(self.samples.__dict__)}

    def restore(self, arrays: dict[str, np.ndarray], scalars: dict[str, Any]) -> None:
        """Become what `arrays` and `scalars` were taken from."""
        n = len(self.looks)
        parts: dict[str, Any] = {}
        for name in ("since", "place", "hold", "next_at", "cruise", "bend"):
            if f"final_{name}" in arrays:
                parts[name] = _checked(arrays[f"final_{name}"], np.float64, n)
        self.legs = _own(Legs(**parts, fade=self.legs.fade))
        self.counts = {c: _checked(arrays[f"count_{c}"], np.int64, n) for c in COUNTED}
        self.looks = _checked(arrays["count_events"], np.int64, n)
        self.updates = _checked(arrays["count_updates"], np.int64, n)
        self.distance = np.array(arrays["sum_distance"], dtype=np.float64).reshape(2, n)
        self.energy = np.array(arrays["sum_energy"], dtype=np.float64).reshape(2, n)
        kept = {"top_speed": np.nan, **scalars}  # older files lack it
        for name in _SCALARS:
            setattr(self, name, type(getattr(self, name))(kept[name]))
        fields, kept = Sampled.__dataclass_fields__, scalars["samples"]
        self.samples = Sampled(**{name: kept[name] for name in fields})


_SCALARS = (
    "time", "empty", "floors", "outside", "top_speed", "nearest", "hold_error", "last_large",
)  # fmt: skip


@final
@dataclass
class Sampled:
    """What the samples of a run came to."""

    taken: int = 0
    last_large: float = -1.0  # the last sample with an error beyond nu; -1: none
    after: float = np.inf  # the first sample after any error beyond nu, at events or samples

    def add(self, found: Metrics, nu: float | None, last_look: float) -> None:
        """Add samples; at `last_look` was the last event with an error beyond nu."""
        self.taken += len(found.times)
        if nu is not None and len(found.times):
            large = found.times[found.errors.max(axis=1) > nu]
            self.last_large = float(large[-1]) if len(large) else self.last_large
            late = max(0.0, self.last_large, last_look)
            if not (late < self.after < np.inf):
                good = found.times[found.times > late]
                self.after = float(good[0]) if len(good) else np.inf


def of_table(system: CoverageSystem, start: AgentsState, table: EventTable) -> Tally:
    """The tally of a whole table."""
    tally = Tally(system, start)
    tally.add(table)
    return tally


def _parts(legs: Legs) -> Iterator[tuple[str, np.ndarray]]:
    for name in ("since", "place", "hold", "next_at", "cruise", "bend"):
        values = getattr(legs, name)
        if values is not None:
            yield name, values


def _own(legs: Legs) -> Legs:
    """Copies that may be changed."""
    parts: dict[str, Any] = {name: values.copy() for name, values in _parts(legs)}
    return Legs(**parts, fade=legs.fade)


def _rows(part: EventTable, order: Ints | slice, like: Legs) -> Legs:
    """Return the segments that some jumps begin."""
    cruise = part.cruise
    if cruise is None and like.cruise is not None:
        cruise = np.full(len(part), np.inf)
    return Legs(
        since=part.time[order],
        place=part.positions[order],
        hold=part.holds[order],
        next_at=part.next_at[order],
        cruise=None if cruise is None else cruise[order],
        bend=None if part.bend is None else part.bend[order],
        fade=like.fade,
    )


def _put(legs: Legs, where: Ints, new: Legs) -> None:
    """Change some of the segments, in place."""
    for name, values in _parts(new):
        getattr(legs, name)[where] = values


def _checked(values: np.ndarray, kind: Any, agents: int) -> Any:
    if len(values) != agents:
        raise ValueError("numbers of another count of agents than the scenario's")
    return np.array(values, dtype=kind)

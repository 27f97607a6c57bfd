"""A live run as the start and the event table of any other run, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.events import USUALLY
from dwell.agents.segments import Segments
from dwell.agents.state import Spent
from dwell.live.record import COUNTS, LiveRecord, sample_type

_SHARED = {  # columns of the event table, and what they are called in a sample
    "positions": "position", "holds": "hold", "errors": "error", "agent": "agent",
    "hold_error": "hold_error", "neighbors": "neighbors", "nearest": "nearest", "empty": "empty",
    "cruise": "cruise", **{c: c for c in COUNTS},
}  # fmt: skip
SHARED = tuple(_SHARED.values())
OWN = tuple(name for name in sample_type(1).names or () if name not in SHARED)


def standing(system: CoverageSystem, positions: Points) -> AgentsState:
    """The state at time 0 of agents that stand, and have not sampled yet."""
    n = system.agents
    still, fade = np.zeros(positions.shape), system.traits.fade
    never = np.full(n, np.inf)
    segments = Segments(
        np.zeros(n), positions.copy(), still, never.copy(), never.copy(), fade
    )  # fmt: skip
    none = np.zeros(n, dtype=np.int64)
    return AgentsState(0.0, segments, never, none, spent=(Spent(looked=0),) * n)


def segments_of(samples: np.ndarray, fade: float) -> Segments:
    """The segments that samples begin, by the clocks of their agents."""
    parts = (samples[name] for name in ("time", "position", "hold", "next_at", "cruise"))
    since, place, hold, next_at, cruise = parts
    return Segments(since, place, hold, next_at, cruise, fade)


def start_of(system: CoverageSystem, positions: Points, live: LiveRecord) -> AgentsState:
    """The state at time 0: agents stand until their first sample, unless that is at time 0."""
    state, rows = standing(system, positions), live.samples
    segments, spent = state.segments, list(state.spent)
    for p in range(system.agents):
        own = np.flatnonzero(rows["agent"] == p)
        if not len(own):
            continue
        if live.times[own[0]] > 0.0:
            segments.next_at[p] = live.times[own[0]]
            continue
        row = rows[own[0]]
        segments.hold[p], segments.cruise[p] = row["hold"], row["cruise"]
        segments.next_at[p] = row["next_at"] + live.shifts[own[0]]
        spent[p] = Spent(*(int(row[name]) for name in COUNTS))
    return replace(state, first=segments.next_at.copy(), spent=tuple(spent))


def table_of_live(live: LiveRecord) -> EventTable:
    """The event table of a live run: one row per sample after time 0."""
    later = live.times > 0.0
    rows = live.samples[later]
    columns: dict[str, Any] = {
        name: np.array(rows[own], order="F") for name, own in _SHARED.items()
    }
    columns["time"] = live.times[later]
    columns["next_at"] = rows["next_at"] + live.shifts[later]
    for name in ("agent", "neighbors", "empty", *COUNTS):
        columns[name] = columns[name].astype(np.int64)
    table = EventTable(**columns)
    for name in USUALLY:
        left_out: dict[str, Any] = {name: None}
        short = replace(table, **left_out)
        if np.array_equal(table.column(name), short.column(name)):
            table = short
    return table


def samples_of(table: EventTable, begun: np.ndarray, own: dict[str, np.ndarray]) -> np.ndarray:
    """The samples of a live run, from its table and what the table lacks.

    begun : those at time 0; own : the columns `OWN` of all samples.
    """
    samples = np.zeros(len(begun) + len(table), dtype=begun.dtype)
    samples[: len(begun)] = begun
    for column, name in _SHARED.items():
        samples[name][len(begun) :] = table.column(column)
    for name in OWN:
        samples[name] = own[name]
    return samples

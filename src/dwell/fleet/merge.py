"""Journals of a fleet merged into one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._types import Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.events import USUALLY
from dwell.agents.interfaces import decay_rate_of
from dwell.agents.state import Spent
from dwell.live.record import COUNTS, LiveRecord

_COLUMNS = {
    "positions": "position", "holds": "hold", "errors": "error", "agent": "agent",
    "next_at": "next_at", "hold_error": "hold_error", "neighbors": "neighbors",
    "nearest": "nearest", "empty": "empty", "cruise": "cruise", **{c: c for c in COUNTS},
}  # fmt: skip


def start_of(system: CoverageSystem, positions: Points, live: LiveRecord) -> AgentsState:
    """The state at time 0: agents stand until their first sample, unless that is at time 0."""
    n, rows = system.agents, live.samples
    zeros = np.zeros(n)
    never = np.full(n, np.inf)
    state = AgentsState(
        0.0, positions.copy(), np.zeros(positions.shape), zeros, never, never.copy(),
        np.zeros(n, dtype=np.int64), fade=decay_rate_of(system.controller),
        spent=[Spent(looked=0)] * n,
    )  # fmt: skip
    cruise, spent = never.copy(), list(state.spent)
    times = rows["time"] + live.shifts
    for p in range(n):
        own = np.flatnonzero(rows["agent"] == p)
        if not len(own):
            continue
        if times[own[0]] > 0.0:
            state.next_at[p] = times[own[0]]
            continue
        row = rows[own[0]]
        state.hold[p], state.next_at[p], cruise[p] = row["hold"], row["next_at"], row["cruise"]
        spent[p] = Spent(*(int(row[name]) for name in COUNTS))
    return replace(
        state, first=state.next_at.copy(), spent=tuple(spent),
        cruise=None if np.isinf(cruise).all() else cruise,
    )  # fmt: skip


def table_of_live(live: LiveRecord) -> EventTable:
    """The event table of a live run: one row per sample after time 0."""
    times = live.samples["time"] + live.shifts
    rows, shifts = live.samples[times > 0.0], live.shifts[times > 0.0]
    columns: dict[str, Any] = {
        name: np.array(rows[own], order="F", dtype=None) for name, own in _COLUMNS.items()
    }
    columns["time"] = times[times > 0.0]
    columns["next_at"] = columns["next_at"] + shifts
    for name in ("agent", "neighbors", "empty", *COUNTS):
        columns[name] = columns[name].astype(np.int64)
    table = EventTable(**columns)
    usual = {
        name: None
        for name in USUALLY
        if getattr(table, name) is not None
        and np.array_equal(getattr(table, name), replace(table, **{name: None}).column(name))
    }
    return replace(table, **usual)

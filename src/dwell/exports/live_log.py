"""A live run as records of samples, and as lines of a log: starts, deaths, interventions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dwell.live.record import BEGIN, INTERVENTIONS, STALE, LiveRecord


def samples_of_live(live: LiveRecord) -> Iterator[tuple[float, dict[str, Any]]]:
    """The time of the run and the whole record of each sample, with its beliefs.

    Times within a record are those of the agent's own clock; `shift` leads to those of the run.
    """
    ends = np.cumsum(live.counts)
    for k, (row, end) in enumerate(zip(live.samples, ends, strict=True)):
        beliefs = [_record(one) for one in live.beliefs[end - live.counts[k] : end]]
        whole = _record(row) | {"shift": float(live.shifts[k]), "beliefs": beliefs}
        yield float(live.times[k]), whole


def _record(row: Any) -> dict[str, Any]:
    return {name: row[name].tolist() for name in row.dtype.names}


def lines_of_live(live: LiveRecord, horizon: float, until: float) -> list[tuple[float, str, str]]:
    """Time, sentence and level of what happened to each agent; times are those of the run.

    The record ends at `horizon`; agents end at `until`, by their own clocks.
    """
    rows, times, found = live.samples, live.times, list[tuple[float, str, str]]()
    for agent in np.unique(rows["agent"]).tolist():
        own = np.flatnonzero(rows["agent"] == agent)
        found += [
            line
            for k in own
            for line in _lines_of_sample(rows[k], float(times[k]), f"agent {agent}")
        ]
        ends = own[np.append(rows["boot"][own][1:] != rows["boot"][own][:-1], True)]
        due = rows["next_at"][ends] + live.shifts[ends]
        for k, t in zip(ends, due.tolist(), strict=True):
            if t < horizon and rows["next_at"][k] < until:  # the sample due then is not there
                says = f"agent {agent} has not sampled since t = {times[k]:.3f}; it was due now"
                found.append((t, says, "Error"))
    return found


def _lines_of_sample(row: Any, t: float, agent: str) -> Iterator[tuple[float, str, str]]:
    flags = int(row["flags"])
    if flags & BEGIN:
        again = f"again, start number {int(row['boot']) + 1}" if row["boot"] else ""
        yield t, f"{agent} starts {again}".strip(), "Info"
    if flags & STALE:
        yield t, f"{agent}: a neighbour is silent for longer than the law allows", "Warning"
    for flag, reason in INTERVENTIONS.items():
        if flags & flag:
            law, executed = (
                np.array2string(row[name], precision=4) for name in ("commanded", "hold")
            )
            yield t, f"{agent}: {reason}: velocity {executed} in place of {law}", "Warning"

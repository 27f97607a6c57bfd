"""A run as one compressed record, which the page plays without a server.

A recording is compressed by gzip. It is the length of its header (four bytes, little endian), the
header in JSON, and columns. A column of the events holds whole multiples of a step, each as the
difference from a prediction that both sides compute from earlier rows; a column of the samples
holds floats. The bytes of a column come in planes: the lowest byte of all its values, then the
next one.
"""

from __future__ import annotations

import gzip
import json
import math
import struct
from typing import Any, NamedTuple

import numpy as np

import dwell
from dwell._types import Floats, Ints, lengths
from dwell.agents import EventTable
from dwell.errors import InputError
from dwell.exports.drawn_tables import drawn_scenario, drawn_tables
from dwell.exports.messages import begin_message, sample_columns
from dwell.results import Run
from dwell.results.words import remarks_of

FORMAT = 1
STEP = 2.0**-30  # of positions, as a share of the diagonal of the bounding box
BOUND = 1e-8  # positions are within this share of the diagonal
FINEST = 2.0**-48  # step as a share of the largest value
INFINITE = 2.0**50  # in place of infinity; its negative, of no number
BYTES = 8


def recording_of(run: Run) -> bytes:
    """Return a run with its scenario, events, samples and summary as one record.

    Positions drawn from it are within `BOUND` of those of the run, as a share of the diagonal of
    the bounding box.
    """
    scenario, table = run.scenario, run.events
    if scenario is None:
        says = "this run has a law or a density that no scenario file describes; the page needs one"
        raise InputError(says, code="export.scenario", key="scenario")
    parts = {"events": _events(run, table), "samples": _samples(run)}
    about = {
        name: {
            "count": len(columns[0].values) if columns else 0,
            "columns": [column.about() for column in columns],
        }
        for name, columns in parts.items()
    }
    summary = run.summary()
    remarks = remarks_of(summary)
    del summary["wall_seconds"]  # so that a run made again has an equal record
    header = {
        "format": FORMAT,
        "version": dwell.__version__,
        "scenario": drawn_scenario(run.system, scenario),
        "start": run.start.positions[: scenario.agents.count].tolist(),
        "begin": drawn_tables(run.system, begin_message(run.system, run.start, scenario)),
        "summary": summary,
        "remarks": remarks,
        **about,
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    planes = b"".join(column.planes for columns in parts.values() for column in columns)
    body = struct.pack("<I", len(text)) + text + planes
    return gzip.compress(body, 9, mtime=0)


class Column(NamedTuple):
    """A column of a recording."""

    name: str
    values: np.ndarray
    coding: dict[str, Any]  # how its bytes are read: type, step, and number of planes
    planes: bytes

    def about(self) -> dict[str, Any]:
        """What the header says of it."""
        return {"name": self.name, "shape": list(self.values.shape), **self.coding}


def _samples(run: Run) -> list[Column]:
    found = []
    columns = sample_columns(run.metrics)
    del columns["separation"]  # the page shows none
    for name, values in columns.items():
        kind = "f4" if values.ndim > 1 else "f8"
        with np.errstate(over="ignore"):
            floats = np.ascontiguousarray(values, dtype=f"<{kind}")
        size = floats.itemsize
        planes = floats.view(np.uint8).reshape(-1, size).T.tobytes()
        coding = {"type": kind, "step": None, "planes": size}
        found.append(Column(name, values, coding, planes))
    return found


def _events(run: Run, table: EventTable) -> list[Column]:
    """Return the columns of the events that the page draws."""
    columns: dict[str, np.ndarray] = {
        name: getattr(table, name)
        for name in ("time", "next_at", "holds", "cruise", "positions", "errors", "bend")
        if getattr(table, name) is not None
    }
    steps = _steps(run, table, columns)
    whole = {name: _whole(values, steps[name]) for name, values in columns.items()}
    counts = {"agent": table.agent, "received": table.count("received")}
    counts |= {n: getattr(table, n) for n in ("looked", "sent") if getattr(table, n) is not None}
    every: dict[str, Any] = counts | whole
    before = _before(table.agent)
    found = []
    for name, values in every.items():
        step = steps.get(name)
        rest = values - _predicted(name, values, before, whole, steps)
        planes = _planes(rest)
        kind = "i4" if step is None else "f8"
        coding = {"type": kind, "step": step or 1, "planes": len(planes)}
        found.append(Column(name, values, coding, b"".join(planes)))
    return found


def _steps(run: Run, table: EventTable, columns: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the step of each column of floats, a power of two."""
    lower, upper = run.workspace.bounds
    size = STEP * float(np.linalg.norm(upper - lower))
    fastest = max(
        float(lengths(v).max(initial=0.0)) for v in (run.start.segments.hold, table.holds)
    )
    longest = max(_longest(run, table), 1e-9)
    instant = min(size / fastest if fastest else math.inf, STEP * (run.horizon or 1.0))
    want = {
        "time": instant, "next_at": instant, "cruise": instant, "positions": size, "errors": size,
        "holds": size / longest, "bend": size / max(longest**2, longest**3),
    }  # fmt: skip
    steps = {}
    for name, values in columns.items():
        largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        steps[name] = 2.0 ** math.floor(math.log2(max(want[name], FINEST * largest)))
    steps["next_at"] = steps["time"] = max(steps["next_at"], steps["time"])
    return steps


def _longest(run: Run, table: EventTable) -> float:
    """Return the longest time between two events of an agent, or to the end of the run."""
    ends = np.full(len(table), run.horizon)
    before = _before(table.agent)
    later = np.flatnonzero(before >= 0)
    ends[before[later]] = table.time[later]
    return float((ends - table.time).max(initial=0.0))


def _before(agent: Ints) -> Ints:
    """Return the row of each agent's event before; -1 for its first one."""
    order = np.argsort(agent, kind="stable")
    repeated = agent[order][1:] == agent[order][:-1]
    before = np.full(len(agent), -1)
    before[order[1:][repeated]] = order[:-1][repeated]
    return before


def _whole(values: Floats, step: float) -> Floats:
    """Return values as whole multiples of a step."""
    return np.nan_to_num(np.rint(values / step), nan=-INFINITE, posinf=INFINITE)


def _predicted(
    name: str, values: Floats, before: Ints, whole: dict[str, Floats], steps: dict[str, float]
) -> Floats:
    """Return what the rows before let expect; the page computes it with the same operations."""
    first = before < 0
    if name == "agent":
        return np.zeros_like(values)
    if name == "next_at":
        return whole["time"]
    if name == "time":
        due = whole["next_at"][before]
        known = ~first & (due < INFINITE)
        return np.where(known, due, np.concatenate([np.zeros(1), values[:-1]])[: len(values)])
    guess = values[before].astype(np.float64)
    if name == "positions":
        dt = (whole["time"] - whole["time"][before]) * steps["time"]
        if "cruise" in whole:
            cruise = whole["cruise"][before]
            dt = np.where(cruise < INFINITE, np.minimum(dt, cruise * steps["cruise"]), dt)
        moved = (whole["holds"][before] * steps["holds"]) * dt[:, None]
        guess = np.floor((guess * steps[name] + moved) / steps[name] + 0.5)
    guess[first] = 0.0
    return guess


def _planes(rest: np.ndarray) -> list[bytes]:
    """Return differences as planes of bytes; those below zero are the odd numbers."""
    flat = rest.reshape(-1).astype(np.int64)
    odd = np.where(flat < 0, -2 * flat - 1, 2 * flat)
    used = max((int(odd.max(initial=0)).bit_length() + BYTES - 1) // BYTES, 1)
    return [(odd >> (BYTES * k) & 255).astype(np.uint8).tobytes() for k in range(used)]

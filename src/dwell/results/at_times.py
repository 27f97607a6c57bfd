"""The state and the metrics of a run at given times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats, as_numbers, in_short
from dwell.agents import AgentsState, EventTable
from dwell.engine.recorder import touching
from dwell.errors import InputError
from dwell.measure import Metrics, measure
from dwell.measure.metrics import Snapshots, snapshots

if TYPE_CHECKING:
    from dwell.results.run import Run

_KEPT = {"samples": "samples and its final state", "summary": "numbers and its final state"}


def snapshots_at(run: Run, t: float | Floats) -> Snapshots:
    """Return positions, velocities and due times of all agents at times t."""
    times = checked_times(run, t)
    order = np.argsort(times, kind="stable")
    table = _table_for(run, times)
    legs = snapshots(_state_for(run, times), table, times[order])
    back = np.argsort(order, kind="stable")
    return Snapshots(*(getattr(legs, name)[back] for name in Snapshots.__dataclass_fields__))


def metrics_at(run: Run, t: float | Floats) -> Metrics:
    """Return errors, cost and separation at times t; refuse times at which two agents coincide."""
    times = checked_times(run, t)
    order = np.argsort(times, kind="stable")
    met = np.flatnonzero(touching(snapshots_at(run, times)))
    if met.size:
        raise InputError(
            f"two agents stand at one place at t = {float(times[met[0]])!r}, so cells are not "
            "defined then; ask for another time",
            code="agents.coincident",
        )
    table = _table_for(run, times)
    found = measure(run.system, _state_for(run, times), table, times[order])
    back = np.argsort(order, kind="stable")
    return Metrics(*(getattr(found, name)[back] for name in Metrics.__dataclass_fields__))


def _table_for(run: Run, times: Floats) -> EventTable:
    """Return the jumps, or none where only the ends of the run are known and needed."""
    if run.table is not None:
        return run.table
    known = (times == 0.0).all() or (times >= run.tally.time).all()
    if not known:
        raise not_kept(run, f"its state at t = {float(times[times < run.tally.time][-1])!r}")
    return EventTable.blank(0, run.system.dimension)


def _state_for(run: Run, times: Floats) -> AgentsState:
    if run.table is not None or (len(times) and times[0] < run.tally.time):
        return run.start
    return run.tally.state(run.start)


def checked_times(run: Run, t: float | Floats) -> Floats:
    """Return t as an array of times; refuse times outside the run."""
    numbers = as_numbers(t)
    if numbers is None:
        need = "a number or an array of numbers is needed"
        raise InputError(f"{in_short(t)} is not a time; {need}", code="run.time")
    times = np.atleast_1d(numbers)
    if times.ndim != 1:
        raise InputError(f"times have shape {times.shape}; one row is needed", code="run.time")
    if times.size and not (times.min() >= 0.0 and times.max() <= run.horizon):
        raise InputError(
            f"the run knows times from 0 to {run.horizon!r}; asked for {float(times.min())!r} "
            f"to {float(times.max())!r}",
            code="run.time",
        )
    return times


def not_kept(run: Run, what: str) -> InputError:
    """Return the error for what a run without its events cannot say."""
    return InputError(
        f'this run keeps {_KEPT[run.record]} (record.kind = "{run.record}"), but {what} '
        'would be needed; run it with record.kind = "events"',
        code="run.record",
        key="run.record.kind",
    )


def shaped(t: float | Floats, rows: Floats) -> Floats:
    """Return `rows` without their first axis if t is one time."""
    if np.ndim(t) > 0:
        return rows
    one: Floats = rows[0]
    return one

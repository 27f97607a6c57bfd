"""The state and the metrics of a run at given times."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dwell._types import Floats, Ints, as_numbers, in_short
from dwell.agents import AgentsState, EventTable
from dwell.engine.recorder import touching
from dwell.errors import InputError
from dwell.measure import Metrics, measure
from dwell.measure.metrics import Snapshots, snapshots

if TYPE_CHECKING:
    from dwell.results.details import Details

T = TypeVar("T", Snapshots, Metrics)
_KEPT = {"samples": "samples and its final state", "summary": "numbers and its final state"}


def snapshots_at(run: Details, t: float | Floats) -> Snapshots:
    """Return positions, velocities and due times of all agents at times t."""
    times = checked_times(run, t)
    order = np.argsort(times, kind="stable")
    found = snapshots(_state_for(run, times), _table_for(run, times), times[order])
    return _in_order(found, order)


def metrics_at(run: Details, t: float | Floats) -> Metrics:
    """Return errors, cost and separation at times t; refuse times at which two agents coincide."""
    times = checked_times(run, t)
    order = np.argsort(times, kind="stable")
    contact = np.flatnonzero(touching(snapshots_at(run, times)))
    if contact.size:
        raise InputError(
            f"two agents coincide at t = {float(times[contact[0]])!r}, so cells are not defined "
            "then; choose another time",
            code="agents.coincident",
        )
    table = _table_for(run, times)
    return _in_order(measure(run.system, _state_for(run, times), table, times[order]), order)


def _in_order(found: T, order: Ints) -> T:
    """Rows of Snapshots or Metrics at sorted times, in the order in which the times were given."""
    back = np.argsort(order, kind="stable")
    return type(found)(*(values[back] for values in vars(found).values()))


def _table_for(run: Details, times: Floats) -> EventTable:
    """Return the jumps, or none where only the ends of the run are known and needed."""
    if run.table is not None:
        return run.table
    known = (times == 0.0).all() or (times >= run.tally.time).all()
    if not known:
        raise not_kept(run, f"its state at t = {float(times[times < run.tally.time][-1])!r}")
    return EventTable.blank(0, run.system.dimension)


def _state_for(run: Details, times: Floats) -> AgentsState:
    if run.table is not None or (len(times) and times[0] < run.tally.time):
        return run.start
    return run.tally.state(run.start)


def checked_times(run: Details, t: float | Floats) -> Floats:
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
            f"the run has times from 0 to {run.horizon!r}, not {float(times.min())!r} to "
            f"{float(times.max())!r}",
            code="run.time",
        )
    return times


def not_kept(run: Details, what: str) -> InputError:
    """Return the error for a quantity that a run without events does not have."""
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

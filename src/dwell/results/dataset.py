"""A run as a dataset: names, dimensions and descriptions of what a NetCDF file holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._netcdf import NUMBERS, digest_of
from dwell._tables import axis_names
from dwell.agents.state import Spent, counts_of
from dwell.scenario.modules import named_code

if TYPE_CHECKING:
    import xarray as xr

    from dwell.results.run import Run

_UNITS = "Lengths are in the unit of the workspace, times in one unit of the scenario's own."
FORMAT = 4  # 1 had no counts at the start, 2 no marks, 3 nothing but whole runs with all events
WHOLE_RUN = 3  # which older versions can read
LISTED = 1000  # agents up to which the numbers of a run are stored with it

# name in the file: (field of EventTable, whether it has an axis, description)
EVENT_VARIABLES = {
    "event_time": ("time", False, "time t of the jump"),
    "event_agent": ("agent", False, "which agent looked"),
    "event_position": ("positions", True, "its position at the jump"),
    "event_hold": ("holds", True, "the velocity it holds from then on"),
    "event_next_at": ("next_at", False, "when it looks next"),
    "event_error": ("errors", True, "centroid of its cell minus its position"),
    "event_hold_error": ("hold_error", False, "hold error at the end of the hold that ended"),
    "event_neighbors": ("neighbors", False, "agents whose cells border on its cell"),
    "event_nearest": ("nearest", False, "distance of the nearest other agent"),
    "event_empty": ("empty", False, "1 where its cell weighed nothing"),
}
# Columns that only some laws fill.
SOMETIMES = {
    "event_cruise": ("cruise", "for how long the velocity is held"),
    "event_bend": ("bend", "coefficients of dt^2, then of dt^3, of the path, by axis"),
    "event_looked": ("looked", "1 where it looked, 0 where it only thought again"),
    "event_guaranteed": ("guaranteed", "guaranteed cells it computed"),
    "event_dual_guaranteed": ("dual_guaranteed", "dual guaranteed cells it computed"),
    "event_sent": ("sent", "messages it broadcast"),
    "event_received": ("received", "positions of others it obtained"),
    "event_mark": ("mark", "a note of its law"),
    "event_promise": ("promise", "speed promised in the message it sent; -1 where none was"),
}
_KEPT_NAMES = {
    "final_place": "where each agent's last leg began",
    "final_hold": "the velocity it began with",
    "final_since": "when it began",
    "final_next_at": "when the agent looks next",
    "count_events": "events of each agent, the initial one not counted",
    "sum_distance": "length of each path up to its last event, and what rounding took from it",
    "sum_energy": "integral of the squared speed, likewise",
}
SPENT = tuple(field.name for field in fields(Spent))
SAMPLES = {
    "sample_time": ("times", ("sample_time",), "time of the sample"),
    "error": ("errors", ("sample_time", "agent"), "norm of the tracking error"),
    "hold_error": ("hold_errors", ("sample_time", "hold_agent"), "norm of the hold error"),
    "cost": ("costs", ("sample_time",), "locational cost"),
    "separation": ("separations", ("sample_time",), "smallest distance between two agents"),
}


def dataset_of(run: Run) -> xr.Dataset:
    """`run` as the dataset of its file, with names for the coordinates of places."""
    return as_dataset(run).assign_coords(axis=axis_names(run.workspace.dimension))


def as_dataset(run: Run, journal: str | None = None) -> xr.Dataset:
    """Return `run` as the dataset of its file; `journal` is the name of the one that it has."""
    import xarray as xr

    variables: dict[str, Any] = {
        "agent": (("agent",), np.arange(run.agents), {"long_name": "number of the agent"})
    }
    dims: tuple[str, ...]
    for name, (field, dims, text) in SAMPLES.items():
        variables[name] = (dims, getattr(run.metrics, field), {"long_name": text})
    variables |= _event_variables(run) if run.table is not None else _kept_variables(run)
    start = run.start
    spent = spent_rows(start.spent)
    variables["start_spent"] = (("agent", "kind"), spent, {"long_name": ", ".join(SPENT)})
    if start.cruise is not None:
        variables["start_cruise"] = (("agent",), start.cruise, {"long_name": "see event_cruise"})
    if start.bend is not None:
        bend = _flat(start.bend)
        variables["start_bend"] = (("agent", "coefficient"), bend, {"long_name": "likewise"})
    variables["start_position"] = (("agent", "axis"), start.start, {"long_name": "x at t = 0"})
    variables["start_hold"] = (("agent", "axis"), start.hold, {"long_name": "velocity at t = 0"})
    variables["start_next_at"] = (("agent",), start.next_at, {"long_name": "first look"})
    attributes = {
        "Conventions": "CF-1.11",
        "title": run.scenario.name if run.scenario and run.scenario.name else "dwell run",
        "comment": _UNITS,
        "dwell_format": WHOLE_RUN if run.table is not None and journal is None else FORMAT,
        "scenario": run.scenario.model_dump_json() if run.scenario else "",
        "provenance": json.dumps(dict(run.provenance)),
        "repairs": json.dumps(list(run.repairs)),
        "stop": json.dumps([run.stop.reason.value, run.stop.time, run.stop.detail]),
        "stop_reason": run.stop.reason.value,
        "stop_time": run.stop.time,
        "until": run.horizon,
        "wall_seconds": run.wall_seconds,
    }
    if run.table is None:
        attributes["record"] = run.record
    if journal is not None:
        attributes["journal"] = journal
    if run.scenario is not None and named_code(
        run.scenario
    ):  # what can be shown where the code cannot be imported
        law = run.system.controller
        kept = {name: getattr(law, name) for name in ("nu", "fade") if hasattr(law, name)}
        known = run.summary() if run.noted is None else run.noted
        summary = None if journal is not None else known
        attributes["without_code"] = json.dumps({"law": kept, "summary": summary})
    if journal is None and run.agents <= LISTED:
        numbers = np.frombuffer(json.dumps(run.summary()).encode(), dtype=np.uint8)
        variables[NUMBERS] = (("character",), numbers, {"long_name": "its numbers, as JSON"})
    attributes["digest"] = digest_of(variables, attributes)
    dataset = xr.Dataset(variables, attrs=attributes)
    for variable in dataset.variables.values():
        variable.attrs["units"] = "1"
    return dataset if run.table is None else dataset.set_coords("event_time")


def _event_variables(run: Run) -> dict[str, Any]:
    variables: dict[str, Any] = {}
    for name, (source, has_axis, text) in EVENT_VARIABLES.items():
        dims = ("jump", "axis") if has_axis else ("jump",)
        values = np.ascontiguousarray(getattr(run.events, source))
        variables[name] = (dims, values, {"long_name": text})
    for name, (field, text) in SOMETIMES.items():
        column = getattr(run.events, field)
        if column is not None:
            dims = ("jump",) if column.ndim == 1 else ("jump", "coefficient")
            variables[name] = (dims, _flat(column), {"long_name": text})
    return variables


def _kept_variables(run: Run) -> dict[str, Any]:
    """What takes the place of events: the final state, counts and sums, and how to go on."""
    arrays, info = run.recorder.frozen()
    text = np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)
    about = {"long_name": "what else is needed to go on, as JSON"}
    variables: dict[str, Any] = {"kept": (("byte",), text, about)}
    for name, values in arrays.items():
        about = {"long_name": _KEPT_NAMES.get(name, name.replace("_", " "))}
        variables[name] = (_dims(name, values), values, about)
    return variables


def _dims(name: str, values: np.ndarray) -> tuple[str, ...]:
    """Dimensions of a variable that is kept instead of events."""
    if name.startswith("sum_"):
        return ("part", "agent")
    rows = "window" if name.startswith("window_event_") else "agent"
    return (rows, *("bend", "axis")[2 - values.ndim + 1 :]) if values.ndim < 3 else (
        rows, "order", "axis"
    )  # fmt: skip


def _flat(column: np.ndarray) -> np.ndarray:
    """A column with at most one axis beside that of its rows."""
    return column if column.ndim == 1 else column.reshape(len(column), -1)


def encoding_of(run: Run) -> dict[str, Any]:
    """How variables are written: large tables compressed, coordinates without a fill value."""
    coordinates = ["sample_time"] if run.table is None else ["sample_time", "event_time"]
    encoding: dict[str, Any] = {name: {"_FillValue": None} for name in coordinates}
    if run.table is None or len(run.events) < 1000:
        return encoding
    small = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    extra = [
        name for name, (field, _) in SOMETIMES.items() if getattr(run.events, field) is not None
    ]
    return encoding | {
        name: {**small, **encoding.get(name, {})} for name in (*EVENT_VARIABLES, *extra)
    }


def spent_rows(spent: Sequence[Spent]) -> np.ndarray:
    """Return counts as rows, one per agent."""
    return np.column_stack([counts_of(spent, name) for name in SPENT])

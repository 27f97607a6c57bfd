"""One run, one NetCDF-4 file, with all that is needed to repeat it. Written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dwell._netcdf import NUMBERS, digest_of, read_netcdf
from dwell._tables import axis_names
from dwell._types import in_short
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.continuous import beginning
from dwell.agents.events import WHOLE
from dwell.agents.state import Spent, counts_of
from dwell.density import Function
from dwell.engine.recorder import EVENTS, SUMMARY, recorder_of
from dwell.errors import InputError, StoreError, UnsavedError
from dwell.hybrid import Stop, StopReason
from dwell.measure import Metrics
from dwell.results.files import brief, check_target, refused, shown, written_whole
from dwell.results.journal import Journaled, read_journal
from dwell.results.run import Run
from dwell.scenario import Scenario, parse_scenario, text_to_mapping
from dwell.scenario.build import build
from dwell.scenario.densities import UniformSpec
from dwell.scenario.guards import as_path, read_text
from dwell.scenario.laws import LloydSpec
from dwell.scenario.modules import named_code, source_file

if TYPE_CHECKING:
    import xarray as xr

_CUT_SHORT = "by a crash; this is its last checkpoint"
_UNITS = "Lengths are in the unit of the workspace, times in one unit of the scenario's own."
FORMAT = 4  # 1 had no counts at the start, 2 no marks, 3 nothing but whole runs with all events
WHOLE_RUN = 3  # which older versions can read
LISTED = 1000  # agents up to which the numbers of a run are stored with it

# name in the file: (field of EventTable, whether it has an axis, description)
_EVENTS = {
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
_SOMETIMES = {
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
_SPENT = tuple(field.name for field in fields(Spent))
_SAMPLES = {
    "sample_time": ("times", ("sample_time",), "time of the sample"),
    "error": ("errors", ("sample_time", "agent"), "norm of the tracking error"),
    "hold_error": ("hold_errors", ("sample_time", "hold_agent"), "norm of the hold error"),
    "cost": ("costs", ("sample_time",), "locational cost"),
    "separation": ("separations", ("sample_time",), "smallest distance between two agents"),
}


def save_run(run: Run, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Keep `run` at `path`; an existing file is replaced only with `force`."""
    if run.scenario is None:
        raise refused(
            "this run cannot be kept: its law or its density is a Python object that no scenario "
            "file can name. Put the law, a dataclass with parameters that TOML can hold, or the "
            "function into a module beside the script or notebook, and import it from there"
        )
    target = check_target(path, force=force)
    try:
        with written_whole(target) as temporary:
            _write(_dataset(run), temporary, _encoding(run))
    except UnsavedError as fault:
        fault.run = run
        raise


def _write(dataset: xr.Dataset, path: Path, encoding: dict[str, Any]) -> None:
    """Write `dataset` to `path`.

    The file is put together in memory first: the HDF5 library may bring the process down when the
    disk is full, where plain writing gives an OSError.
    """
    try:
        image = dataset.to_netcdf(engine="h5netcdf", encoding=encoding)
    except ValueError:  # an xarray that cannot do this in memory
        dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding)
    else:
        path.write_bytes(image)


def dataset_of(run: Run) -> xr.Dataset:
    """`run` as the dataset of its file, with names for the coordinates of places."""
    return _dataset(run).assign_coords(axis=axis_names(run.workspace.dimension))


def _dataset(run: Run, journal: str | None = None) -> xr.Dataset:
    import xarray as xr

    variables: dict[str, Any] = {
        "agent": (("agent",), np.arange(run.agents), {"long_name": "number of the agent"})
    }
    dims: tuple[str, ...]
    for name, (field, dims, text) in _SAMPLES.items():
        variables[name] = (dims, getattr(run.metrics, field), {"long_name": text})
    variables |= _event_variables(run) if run.table is not None else _kept_variables(run)
    start = run.start
    spent = _spent_rows(start.spent)
    variables["start_spent"] = (("agent", "kind"), spent, {"long_name": ", ".join(_SPENT)})
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
    for name, (source, has_axis, text) in _EVENTS.items():
        dims = ("jump", "axis") if has_axis else ("jump",)
        values = np.ascontiguousarray(getattr(run.events, source))
        variables[name] = (dims, values, {"long_name": text})
    for name, (field, text) in _SOMETIMES.items():
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


def _encoding(run: Run) -> dict[str, Any]:
    """How variables are written: large tables compressed, coordinates without a fill value."""
    coordinates = ["sample_time"] if run.table is None else ["sample_time", "event_time"]
    encoding: dict[str, Any] = {name: {"_FillValue": None} for name in coordinates}
    if run.table is None or len(run.events) < 1000:
        return encoding
    small = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    extra = [
        name for name, (field, _) in _SOMETIMES.items() if getattr(run.events, field) is not None
    ]
    return encoding | {name: {**small, **encoding.get(name, {})} for name in (*_EVENTS, *extra)}


def load_run(path: str | os.PathLike[str], *, even_if_damaged: bool = False) -> Run:
    """Read a stored run.

    Jumps of agents that do not exist, or at times that decrease, are refused.

    Parameters
    ----------
    path : str or path
        The .nc file.
    even_if_damaged : bool
        Read such jumps as well, so that `dwell.check` can report them.

    Returns
    -------
    Run
        The run; `run.intact` is False if the file was changed after it was written.

    Examples
    --------
    >>> import dwell
    >>> dwell.load_run("run.nc")  # doctest: +ELLIPSIS
    <Run of Timer: 8 agents, ...>
    """
    path = as_path(path)
    try:
        run = _loaded(path)
        if not even_if_damaged:
            _refuse_nonsense(run, path)
        return run
    except InputError as fault:
        if isinstance(fault, StoreError):
            raise
        raise refused(f"{shown(path)} holds a scenario that cannot be used: {fault}") from None
    except (KeyError, ValueError, TypeError) as fault:
        raise refused(f"{shown(path)} is no run of dwell, or is damaged ({brief(fault)})") from None


RunLike: TypeAlias = Run | str | os.PathLike[str]


def as_run(given: RunLike, *, even_if_damaged: bool = False) -> Run:
    """`given` as a Run: itself, or the one kept at that path."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return load_run(given, even_if_damaged=even_if_damaged)
    raise refused(f"the run is {in_short(given)}; a Run, or the path of its .nc file, is needed")


def _loaded(path: Path) -> Run:
    """The run at `path`, with what its journal adds if it has one."""
    variables, attributes = _read(path)
    name = attributes.get("journal")
    if name is None:
        return _rebuild(path, variables, attributes)
    try:
        journaled = read_journal(path, str(name))
    except StoreError:
        variables, attributes = _read(path)  # perhaps the run has ended meanwhile
        if attributes.get("journal") == name:
            raise
        return _loaded(path)
    return _with_journal(_rebuild(path, variables, attributes), journaled)


def _with_journal(run: Run, kept: Journaled) -> Run:
    """The run as far as its journal tells of it."""
    assert run.scenario is not None
    recorder = recorder_of(run.scenario, run.system, run.start)
    recorder.restore(kept.arrays, kept.info)
    recorder.tables, recorder.metrics = kept.tables, kept.metrics
    if recorder.tally.jumps != sum(map(len, kept.tables)) and recorder.kind == EVENTS:
        raise ValueError("as many jumps as counted are not there")
    stop = Stop(StopReason.INTERRUPTED, float(kept.info["reached"]), _CUT_SHORT)
    metrics, tally = recorder.ending(stop)
    return replace(
        run, stop=stop, metrics=metrics, recorder=recorder, counted=tally,
        table=recorder.table(), wall_seconds=float(kept.info["wall_seconds"]),
        journal=(str(kept.info["journal"]), int(kept.info["parts"])),
    )  # fmt: skip


def write_beginning(run: Run, target: Path, journal: str) -> None:
    """The file that stands for a run while its journal grows."""
    with written_whole(target) as temporary:
        _write(_dataset(run, journal), temporary, _encoding(run))


def _refuse_nonsense(run: Run, path: Path) -> None:
    if run.table is None:
        return
    table = run.table
    known = ((table.agent >= 0) & (table.agent < run.agents)).all()
    forward = (np.diff(table.time, prepend=0.0, append=run.horizon) >= 0.0).all()
    if not (known and forward):
        what = "jumps of agents that do not exist" if not known else "jumps out of order"
        raise refused(f"{shown(path)} is damaged: it has {what}; see dwell check")


def _refuse_scenario(path: Path) -> None:
    """Say so if a file that should be a run is a scenario or a sweep."""
    try:
        table = text_to_mapping(read_text(path), str(path))
    except InputError:
        return
    kind = "sweep" if "scenario" in table and "controller" not in table else "scenario"
    if kind == "sweep" or {"workspace", "agents", "controller"} & set(table):
        command = "sweep" if kind == "sweep" else "run"
        says = f"is a {kind}, not a stored run (NetCDF); dwell {command} runs it"
        raise refused(f"{shown(path)} {says}")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    if not path.is_file():
        raise refused(
            f"{shown(path)} is not a file; give the .nc file that `dwell run --out` wrote"
        )
    try:
        variables, attributes = read_netcdf(path)
    except (OSError, RuntimeError, ValueError, KeyError) as fault:
        _refuse_scenario(path)
        raise refused(f"{shown(path)} cannot be read as NetCDF-4 ({brief(fault)})") from None
    version = attributes.get("dwell_format")
    if version is None:
        raise refused(f"{shown(path)} is a NetCDF file, but not a run of dwell")
    if int(version) > FORMAT:
        raise refused(
            f"{shown(path)} was written by a newer dwell (format {version}); update dwell"
        )
    return variables, attributes


def _moved(scenario: Scenario, folder: Path) -> Scenario:
    """`scenario` with its modules looked for in `folder`, if one of them is there."""
    names = named_code(scenario).values()
    here = any(source_file(name.partition(":")[0], str(folder)) for name in names)
    return scenario.model_copy(update={"modules": str(folder)}) if here else scenario


def _without_code(scenario: Scenario) -> CoverageSystem:
    """The system of `scenario` with built-in parts in the place of those in Python."""
    ours = {"controller": LloydSpec(kind="lloyd"), "density": UniformSpec(kind="uniform")}
    parts = [key.partition(".")[0] for key in named_code(scenario)]
    return build(scenario.model_copy(update={part: ours[part] for part in parts}))[0]


def _hollow(system: CoverageSystem, names: dict[str, str], fault: InputError, law: Any) -> Any:
    """`system` with parts that raise `fault` when they are called; `law` is what the law has."""

    def refuse(*_: Any) -> Any:
        raise fault

    if "density.function" in names:
        system = replace(system, density=Function(refuse), spacing=None)
    if "controller.class" in names:
        kind = names["controller.class"].partition(":")[2]
        own: Any = type(kind, (), {**law, "begin": refuse, "decide": refuse, "absent": fault})()
        system = replace(system, controller=own)
    return system


def _rebuild(path: Path, variables: dict[str, Any], attributes: dict[str, Any]) -> Run:
    scenario = _moved(parse_scenario(json.loads(attributes["scenario"])), path.resolve().parent)
    kept = json.loads(attributes.get("without_code", "null"))
    absent: InputError | None = None
    try:
        system, _, _ = build(scenario)
    except InputError as fault:
        if kept is None:
            raise
        absent, system = fault, _without_code(scenario)
    start = _start(variables, system)
    if absent is not None:
        system = _hollow(system, named_code(scenario), absent, kept["law"])
        start = replace(start, fade=kept["law"].get("fade", start.fade))
    reason, time, detail = json.loads(attributes["stop"])
    stop = Stop(StopReason(reason), float(time), detail)
    metrics = Metrics(**{field: variables[name][1] for name, (field, _, _) in _SAMPLES.items()})
    provenance = json.loads(attributes["provenance"])
    intact = digest_of(variables, attributes) == attributes.get("digest")
    intact &= provenance.get("intact") != "false"  # a changed run that was saved again
    provenance["intact"] = str(intact).lower()
    recorder = recorder_of(scenario, system, start)
    recorder.metrics = [_without_last(metrics, stop)]
    about: dict[str, Any] = {
        "scenario": scenario,
        "repairs": tuple(json.loads(attributes["repairs"])),
        "provenance": provenance,
        "wall_seconds": float(attributes["wall_seconds"]),
        "absent": absent,
        "noted": kept and kept["summary"],
    }
    if attributes.get("record", EVENTS) == EVENTS:
        table = _table(variables)
        recorder.tables = [table]
        return Run(system, start, stop, metrics, recorder, None, table, **about)
    if recorder.kind != attributes["record"]:
        raise ValueError("another record than the scenario's")
    arrays = {name: values for name, (_, values) in variables.items()}
    if recorder.kind == SUMMARY:
        recorder.metrics = []
    recorder.restore(arrays, json.loads(arrays["kept"].tobytes()))
    tally = recorder.tally if absent is not None else recorder.ending(stop)[1]
    return Run(system, start, stop, metrics, recorder, tally, None, **about)


def _without_last(metrics: Metrics, stop: Stop) -> Metrics:
    """All samples but the one at the horizon, which a run that goes on further does not have."""
    upto = len(metrics.times)
    if upto and stop.reason is StopReason.HORIZON and metrics.times[-1] == stop.time:
        upto -= 1
    return Metrics(*(getattr(metrics, name)[:upto] for name in Metrics.__dataclass_fields__))


def _table(variables: dict[str, Any]) -> EventTable:
    columns: dict[str, np.ndarray] = {}
    rows = {len(variables[name][1]) for name in _EVENTS}
    if len(rows) != 1:
        raise ValueError("event arrays of different lengths")
    for name, (source, has_axis, _) in _EVENTS.items():
        kind = np.int64 if source in WHOLE else np.float64
        columns[source] = np.array(variables[name][1], dtype=kind, order="F")
        if columns[source].ndim != 1 + has_axis:
            raise ValueError("event arrays of another shape")
    for name, (field, _) in _SOMETIMES.items():
        if name in variables:
            kind = np.int64 if field in WHOLE else np.float64
            columns[field] = np.ascontiguousarray(variables[name][1], dtype=kind)
            if len(columns[field]) != len(columns["time"]):
                raise ValueError("event arrays of different lengths")
    if "bend" in columns:
        columns["bend"] = _bent(columns["bend"], columns["positions"].shape[1])
    return EventTable(**columns)


def _bent(rows: np.ndarray, dimension: int) -> np.ndarray:
    """Coefficients as they are in memory, (rows, 2, n)."""
    return rows.reshape(len(rows), 2, dimension)


def _start(variables: dict[str, Any], system: CoverageSystem) -> AgentsState:
    position, hold = variables["start_position"][1], variables["start_hold"][1]
    next_at = np.array(variables["start_next_at"][1], dtype=np.float64)
    if position.shape != (system.agents, system.dimension) or hold.shape != position.shape:
        raise ValueError("start of another number of agents than the scenario's")
    if not np.isfinite(position).all():
        raise ValueError("start at no place")
    again = beginning(system, np.array(position, dtype=np.float64))  # the file holds no memories
    extra: dict[str, Any] = {
        name: np.array(variables[f"start_{name}"][1], dtype=np.float64)
        for name in ("cruise", "bend")
        if f"start_{name}" in variables
    }
    if "bend" in extra:
        extra["bend"] = _bent(extra["bend"], system.dimension)
    spent = _spent(variables, again)
    held = np.array(hold, dtype=np.float64)
    return replace(again, hold=held, next_at=next_at, first=next_at.copy(), spent=spent, **extra)


def _spent_rows(spent: Sequence[Spent]) -> np.ndarray:
    return np.column_stack([counts_of(spent, name) for name in _SPENT])


def _spent(variables: dict[str, Any], again: AgentsState) -> tuple[Spent, ...]:
    """What the beginning cost; what older files do not tell is taken from the law."""
    if "start_spent" not in variables:
        return tuple(again.spent)
    told, rows = variables["start_spent"][1], _spent_rows(again.spent)
    if told.shape not in (rows.shape, (len(rows), len(_SPENT) - 1)):
        raise ValueError("counts of another number of agents than the scenario's")
    rows[:, : told.shape[1]] = told
    kinds, which = np.unique(rows, axis=0, return_inverse=True)  # many are alike
    alike = [Spent(*map(int, row)) for row in kinds]
    return tuple(map(alike.__getitem__, which.ravel().tolist()))

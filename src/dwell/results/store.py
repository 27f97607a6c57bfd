"""Reading stored runs: one NetCDF-4 file each, with everything that is needed to repeat the run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dwell._checks import check_flag
from dwell._netcdf import HDF5, digest_of, json_table, read_netcdf
from dwell._types import in_short
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.continuous import beginning
from dwell.agents.events import USUALLY, VECTORS, WHOLE
from dwell.agents.state import Spent
from dwell.agents.stored_names import DECAY_RATE
from dwell.agents.traits import AbsentLaw
from dwell.density import Function
from dwell.engine.recorder import EVENTS, SUMMARY, Recorder, recorder_of
from dwell.engine.tally import Tally
from dwell.errors import InputError, StoreError
from dwell.hybrid import Stop, StopReason
from dwell.live.table import standing
from dwell.measure import Metrics
from dwell.results.dataset import (
    EVENT_VARIABLES,
    FORMAT,
    RASTERS,
    SAMPLE_VARIABLES,
    SEAL,
    START_BEND,
    START_CRUISE,
    absent_traits,
    spent_rows,
)
from dwell.results.details import Details
from dwell.results.files import brief, refused, shown
from dwell.results.journal import Journaled, read_journal
from dwell.results.live_record import LIVE, live_from
from dwell.results.run import Run
from dwell.results.stated import Stated, kept_without_code
from dwell.scenario import Scenario, parse_scenario, text_to_mapping
from dwell.scenario.build import build, build_without_code
from dwell.scenario.guards import as_path, read_text
from dwell.scenario.modules import named_code, source_file
from dwell.scenario.rasters import raster_from
from dwell.scenario.trust import is_allowed, withheld

_CUT_SHORT = "aborted or crashed; this is its last checkpoint"


def load_run(
    path: str | os.PathLike[str], *, even_if_damaged: bool = False, allow_code: bool = False
) -> Run:
    """Read a stored run.

    Jumps of agents that do not exist, or at times that decrease, are refused.

    Parameters
    ----------
    path : str or path
        The .nc file.
    even_if_damaged : bool
        Read such jumps as well, so that `dwell.check` can report them.
    allow_code : bool
        Whether Python modules that the file names are imported, although it was written by another
        user or on another machine. Without them a run can be shown, not checked or resumed.

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
    check_flag("even_if_damaged", even_if_damaged)
    try:
        run = _loaded(path, allow_code)
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
    """`given` as a Run: itself, or the one stored at that path."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return load_run(given, even_if_damaged=even_if_damaged)
    raise refused(f"the run is {in_short(given)}; a Run, or the path of its .nc file, is needed")


def _loaded(path: Path, allow_code: bool) -> Run:
    """The run at `path`, with what its journal adds if it has one."""
    variables, attributes = _read(path)
    name = attributes.get("journal")
    try:
        journaled = None if name is None else read_journal(path, str(name))
    except StoreError:
        if _read(path)[1].get("journal") == name:
            raise
        return _loaded(path, allow_code)  # the run has ended meanwhile
    run = _rebuild(path, variables, attributes, allow_code)
    return run if journaled is None else _with_journal(run, journaled)


def _with_journal(run: Run, kept: Journaled) -> Run:
    """The run up to the last checkpoint of its journal."""
    recorder = run.details.recorder
    recorder.restore(kept.arrays, kept.info)
    recorder.tables, recorder.metrics = kept.tables, kept.metrics
    if recorder.tally.jumps != sum(map(len, kept.tables)) and recorder.kind == EVENTS:
        raise ValueError("fewer jumps than were counted")
    stop = Stop(StopReason.INTERRUPTED, float(kept.info["reached"]), _CUT_SHORT)
    metrics, tally = recorder.ending(stop)
    details = replace(
        run.details, stop=stop, metrics=metrics, counted=tally, table=recorder.table(),
        wall_seconds=float(kept.info["wall_seconds"]),
        journal=(str(kept.info["journal"]), int(kept.info["parts"])),
    )  # fmt: skip
    return replace(run, details=details)


def _refuse_nonsense(run: Run, path: Path) -> None:
    table = run.details.table
    if table is None:
        return
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
    except (OSError, RuntimeError, ValueError, KeyError):
        _refuse_scenario(path)
        raise refused(f"{shown(path)} {_damage(path)}") from None
    version = attributes.get("dwell_format")
    if version is None:
        raise refused(f"{shown(path)} is a NetCDF file, but not a run of dwell")
    if int(version) > FORMAT:
        raise refused(
            f"{shown(path)} was written by a newer dwell (format {version}); update dwell"
        )
    return variables, attributes


def _damage(path: Path) -> str:
    """What is wrong with a file that the NetCDF library cannot read, and what to do."""
    again = "restore a copy of it, or run its scenario again"
    try:
        with path.open("rb") as file:
            head = file.read(len(HDF5))
    except OSError as fault:
        return f"cannot be read ({fault.strerror})"
    if not head:
        return f"is empty; {again}"
    if head != HDF5:
        return "cannot be read as NetCDF-4; give the .nc file that `dwell run --out` wrote"
    return f"is damaged: it was cut short, or changed after it was written; {again}"


def _moved(
    scenario: Scenario, folder: Path, sources: Mapping[str, str], allow_code: bool
) -> Scenario:
    """Return `scenario` with its modules in `folder`, if one of them is there, as it ran."""
    for name in named_code(scenario).values():
        module = name.partition(":")[0]
        path = source_file(module, str(folder))
        if path is not None and (
            is_allowed(allow_code)
            or sha256(path.read_bytes()).hexdigest() == sources.get(f"module {module}")
        ):
            return scenario.model_copy(update={"modules": str(folder)})
    return scenario


def _hollow(
    system: CoverageSystem, names: dict[str, str], fault: InputError, stated: Mapping[str, float]
) -> CoverageSystem:
    """`system` with parts that raise `fault` when they are called; `stated` is of its law."""

    def refuse(*_: Any) -> Any:
        raise fault

    if "density.function" in names:
        system = replace(system, density=Function(refuse), spacing=None)
    if "controller.class" in names:
        kind = names["controller.class"].partition(":")[2]
        traits = absent_traits(kind, stated)
        system = replace(system, controller=AbsentLaw(fault, traits))
    return system


def _rebuild(
    path: Path, variables: dict[str, Any], attributes: dict[str, Any], allow_code: bool
) -> Run:
    provenance = json_table(attributes["provenance"], "provenance")
    scenario = withheld(
        parse_scenario(json.loads(attributes["scenario"])), attributes.get(SEAL), shown(path),
        provenance, allow_code,
    )  # fmt: skip
    scenario = _moved(scenario, path.resolve().parent, provenance, allow_code)
    kept = kept_without_code(attributes)
    tables = json.loads(attributes.get(RASTERS, "[]"))
    rasters = [raster_from(table, variables[table["variable"]][1]) for table in tables]
    absent: InputError | None = None
    try:
        system, _, _ = build(scenario)
        del rasters  # the system holds them from here on
    except InputError as fault:
        elsewhere = set(named_code(scenario)) - {"controller.class", "density.function"}
        if kept is None or elsewhere:
            raise
        absent, system = fault, build_without_code(scenario)[0]
    live = attributes.get(LIVE)
    start = _start(variables, system, live is not None)
    if absent is not None and kept is not None:
        system = _hollow(system, named_code(scenario), absent, kept["law"])
        begun = start.segments
        fade = kept["law"].get(DECAY_RATE, begun.fade)
        start = replace(start, segments=replace(begun, fade=fade))
    reason, time, detail = json.loads(attributes["stop"])
    stop = Stop(StopReason(reason), float(time), detail)
    metrics = Metrics(**{f: variables[name][1] for f, (name, _, _) in SAMPLE_VARIABLES.items()})
    intact = digest_of(variables, attributes) == attributes.get("digest")
    intact &= provenance.get("intact") != "false"  # a changed run that was saved again
    provenance["intact"] = str(intact).lower()
    recorder, table, tally = recorder_of(scenario, system, start), None, None
    recorder.metrics = [_without_last(metrics, stop)]
    if attributes.get("record", EVENTS) == EVENTS:
        table = _table(variables)
        recorder.tables = [table]
    else:
        tally = _restored(recorder, variables, attributes, stop)
    details = Details(
        recorder, stop, metrics, scenario, table, tally, float(attributes["wall_seconds"]),
        absent=absent, noted=kept and kept["summary"],
        live=None if live is None or table is None else live_from(variables, live, table),
        stated=Stated.of(variables, attributes),
    )  # fmt: skip
    return Run(details, tuple(json.loads(attributes["repairs"])), provenance)


def _restored(
    recorder: Recorder, variables: dict[str, Any], attributes: dict[str, Any], stop: Stop
) -> Tally | None:
    """Restore the recorder of a run without events; return the tally at the end of the run."""
    if recorder.kind != attributes["record"]:
        raise ValueError("another record than the scenario's")
    arrays = {name: values for name, (_, values) in variables.items()}
    if recorder.kind == SUMMARY:
        recorder.metrics = []
    recorder.restore(arrays, json.loads(arrays["kept"].tobytes()))
    return recorder.tally if recorder.system.traits.absent else recorder.ending(stop)[1]


def _without_last(metrics: Metrics, stop: Stop) -> Metrics:
    """All samples but the one at the horizon, which a resumed run does not have."""
    upto = len(metrics.times)
    if upto and stop.reason is StopReason.HORIZON and metrics.times[-1] == stop.time:
        upto -= 1
    return Metrics(*(getattr(metrics, name)[:upto] for name in Metrics.__dataclass_fields__))


def _table(variables: dict[str, Any]) -> EventTable:
    columns: dict[str, np.ndarray] = {}
    for field, (name, _) in EVENT_VARIABLES.items():
        if name in variables or field not in USUALLY:
            kind = np.int64 if field in WHOLE else np.float64
            columns[field] = np.array(variables[name][1], dtype=kind, order="F")
            if columns[field].ndim != 1 + (field in VECTORS or field == "bend"):
                raise ValueError("event arrays of another shape")
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError("event arrays of different lengths")
    if "bend" in columns:
        columns["bend"] = _bent(columns["bend"], columns["positions"].shape[1])
    return EventTable(**columns)


def _bent(rows: np.ndarray, dimension: int) -> np.ndarray:
    """Coefficients of cubics as they are in memory, (rows, 2, n)."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), 2, dimension)


def _start(variables: dict[str, Any], system: CoverageSystem, live: bool) -> AgentsState:
    position, hold = variables["start_position"][1], variables["start_hold"][1]
    next_at = np.array(variables["start_next_at"][1], dtype=np.float64)
    if position.shape != (system.agents, system.dimension) or hold.shape != position.shape:
        raise ValueError("start of another number of agents than the scenario's")
    if not np.isfinite(position).all():
        raise ValueError("start at no place")
    begin = standing if live else beginning  # no memories are in the file
    again = begin(system, np.array(position, dtype=np.float64))
    cruise, bend = again.segments.cruise, again.segments.bend
    if START_CRUISE in variables:
        cruise = np.array(variables[START_CRUISE][1], dtype=np.float64)
    if START_BEND in variables:
        bend = _bent(variables[START_BEND][1], system.dimension)
    hold = np.array(hold, dtype=np.float64)
    segments = replace(again.segments, hold=hold, next_at=next_at, cruise=cruise, bend=bend)
    spent = _spent(variables, again)
    return replace(again, segments=segments, first=next_at.copy(), spent=spent)


def _spent(variables: dict[str, Any], again: AgentsState) -> tuple[Spent, ...]:
    """What the start cost; what older files lack is taken from the law."""
    if "start_spent" not in variables:
        return tuple(again.spent)
    stored, rows = variables["start_spent"][1], spent_rows(again.spent)
    agents, kinds = rows.shape
    if stored.shape not in ((agents, kinds), (agents, kinds - 1), (agents, kinds - 2)):
        raise ValueError("counts of another number of agents than the scenario's")
    rows[:, : stored.shape[1]] = stored
    different, which = np.unique(rows, axis=0, return_inverse=True)  # many are equal
    alike = [Spent(*map(int, row)) for row in different]
    return tuple(map(alike.__getitem__, which.ravel().tolist()))

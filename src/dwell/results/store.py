"""One run, one NetCDF-4 file, with all that is needed to repeat it. Written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.continuous import beginning, is_continuous
from dwell.agents.engine import can_compile
from dwell.agents.events import WHOLE, LoggedEvents, LoggedStates
from dwell.agents.state import Spent, counts_of
from dwell.agents.walk import walk
from dwell.errors import InputError, StoreError
from dwell.hybrid import HybridArc, Stop, StopReason
from dwell.results.run import Run
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.theory import Metrics

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 3  # 1 had no counts at the start, 2 no marks

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
_SPENT = tuple(field.name for field in fields(Spent))
_SAMPLES = {
    "sample_time": ("times", ("sample",), "time of the sample"),
    "error": ("errors", ("sample", "agent"), "norm of the tracking error"),
    "hold_error": ("hold_errors", ("sample", "hold_agent"), "norm of the hold error"),
    "cost": ("costs", ("sample",), "locational cost"),
    "separation": ("separations", ("sample",), "smallest distance between two agents"),
}


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """`path` if a file can be written there; called before a long run, not after it."""
    target = Path(path)
    name, folder = _shown(target), _shown(target.parent)
    try:
        if target.is_dir():
            raise _refused(f"{name} is a folder; give the name of a file, such as run.nc")
        if target.exists() and not target.is_file():
            raise _refused(f"{name} is a device or a pipe; give the name of a file, such as run.nc")
        if target.exists() and not force:
            raise _refused(
                f"{name} exists already; choose another name, or replace it (force=True, --force)"
            )
        if not target.parent.is_dir():
            raise _refused(f"the folder {folder} does not exist; make it first")
        temporary = _beside(target)  # the very name it will be written under
        temporary.unlink()
    except (OSError, ValueError) as fault:
        if isinstance(fault, StoreError):
            raise
        reason = getattr(fault, "strerror", None) or fault
        raise _refused(f"{name} cannot be written in {folder} ({reason})") from None
    return target


def _beside(target: Path) -> Path:
    """A new, empty, hidden file in the folder of `target`."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    return Path(name)


def _shown(path: object) -> str:
    """A path that does not break the line it is shown in."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def save_run(run: Run, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Keep `run` at `path`; an existing file is replaced only with `force`."""
    if run.scenario is None:
        raise _refused(
            "this run cannot be kept: its law or its density is a Python object that no scenario "
            "file can name (a density can be, as Function(call, name='package.module:function'))"
        )
    target = check_target(path, force=force)
    with written_whole(target) as temporary:
        _write(_dataset(run), temporary, _encoding(run))


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


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A temporary name beside `target` that becomes `target` only once it is safely on disk."""
    try:
        temporary = _beside(target)
    except OSError as fault:
        raise _refused(f"{_shown(target)} could not be written ({fault.strerror})") from None
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except (OSError, RuntimeError) as fault:  # the HDF5 library says the second on a full disk
        reason = getattr(fault, "strerror", None) or str(fault).partition("\n")[0]
        raise _refused(f"{_shown(target)} could not be written ({reason})") from fault
    finally:
        temporary.unlink(missing_ok=True)


def _brief(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _dataset(run: Run) -> xr.Dataset:
    import xarray as xr

    assert run.scenario is not None
    variables: dict[str, Any] = {}
    dims: tuple[str, ...]
    for name, (source, has_axis, text) in _EVENTS.items():
        dims = ("jump", "axis") if has_axis else ("jump",)
        values = np.ascontiguousarray(getattr(run.events, source))
        variables[name] = (dims, values, {"long_name": text})
    for name, (field, dims, text) in _SAMPLES.items():
        variables[name] = (dims, getattr(run.metrics, field), {"long_name": text})
    for name, (field, text) in _SOMETIMES.items():
        column = getattr(run.events, field)
        if column is not None:
            dims = ("jump",) if column.ndim == 1 else ("jump", "coefficient")
            variables[name] = (dims, _flat(column), {"long_name": text})
    start = run.start
    spent = np.column_stack([counts_of(start.spent, name) for name in _SPENT])
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
        "title": run.scenario.name or "dwell run",
        "dwell_format": FORMAT,
        "scenario": run.scenario.model_dump_json(),
        "provenance": json.dumps(dict(run.provenance)),
        "repairs": json.dumps(list(run.repairs)),
        "stop": json.dumps([run.stop.reason.value, run.stop.time, run.stop.detail]),
        "until": run.horizon,
        "wall_seconds": run.wall_seconds,
    }
    attributes["digest"] = _digest(variables, attributes)
    return xr.Dataset(variables, attrs=attributes)


def _flat(column: np.ndarray) -> np.ndarray:
    """A column with at most one axis beside that of its rows."""
    return column if column.ndim == 1 else column.reshape(len(column), -1)


def _digest(variables: dict[str, Any], attributes: dict[str, Any]) -> str:
    """A fingerprint of everything in the file but itself."""
    digest = hashlib.sha256()
    for name in sorted(attributes):
        if name != "digest":
            digest.update(f"{name}={attributes[name]}".encode())
    for name in sorted(variables):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(variables[name][1]).tobytes())
    return digest.hexdigest()


def _encoding(run: Run) -> dict[str, Any]:
    if len(run.events) < 1000:
        return {}
    small = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    extra = [
        name for name, (field, _) in _SOMETIMES.items() if getattr(run.events, field) is not None
    ]
    return dict.fromkeys((*_EVENTS, *extra), small)


def load_run(path: str | os.PathLike[str], *, even_if_damaged: bool = False) -> Run:
    """The run kept at `path`; its `provenance` says whether the file is as it was written.

    Jumps that make no sense (of agents that do not exist, at times that go back) are refused;
    `even_if_damaged` takes them, for `dwell check` to say what is wrong.
    """
    try:
        run = _rebuild(*_read(Path(path)))
        if not even_if_damaged:
            _refuse_nonsense(run, path)
        return run
    except InputError as fault:
        if isinstance(fault, StoreError):
            raise
        raise _refused(f"{_shown(path)} holds a scenario that cannot be used: {fault}") from None
    except (KeyError, ValueError, TypeError) as fault:
        raise _refused(
            f"{_shown(path)} is no run of dwell, or is damaged ({_brief(fault)})"
        ) from None


def _refuse_nonsense(run: Run, path: str | os.PathLike[str]) -> None:
    table = run.events
    known = ((table.agent >= 0) & (table.agent < run.agents)).all()
    forward = (np.diff(table.time, prepend=0.0, append=run.horizon) >= 0.0).all()
    if not (known and forward):
        what = "jumps of agents that do not exist" if not known else "jumps out of order"
        raise _refused(f"{_shown(Path(path))} is damaged: it has {what}; see dwell check")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    import xarray as xr

    if not path.is_file():
        raise _refused(
            f"{_shown(path)} is not a file; give the .nc file that `dwell run --out` wrote"
        )
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
            data.load()
            variables = {str(k): (v.dims, v.values) for k, v in data.variables.items()}
            attributes = {str(k): v for k, v in data.attrs.items()}
    except (OSError, RuntimeError, ValueError, KeyError) as fault:
        raise _refused(f"{_shown(path)} cannot be read as NetCDF-4 ({_brief(fault)})") from None
    version = attributes.get("dwell_format")
    if version is None:
        raise _refused(f"{_shown(path)} is a NetCDF file, but not a run of dwell")
    if int(version) > FORMAT:
        raise _refused(
            f"{_shown(path)} was written by a newer dwell (format {version}); update dwell"
        )
    return variables, attributes


def _rebuild(variables: dict[str, Any], attributes: dict[str, Any]) -> Run:
    scenario = parse_scenario(json.loads(attributes["scenario"]))
    system, _, _ = build(scenario)
    table = _table(variables)
    start = _start(variables, system)
    reason, time, detail = json.loads(attributes["stop"])
    stop = Stop(StopReason(reason), float(time), detail)
    until = float(attributes["until"])
    states = LoggedStates(start, table, _walk(system, start, table))
    arc = HybridArc(system, states, LoggedEvents(table), until, stop)
    metrics = Metrics(**{field: variables[name][1] for name, (field, _, _) in _SAMPLES.items()})
    intact = _digest(variables, attributes) == attributes.get("digest")
    provenance = {**json.loads(attributes["provenance"]), "intact": str(intact).lower()}
    repairs = tuple(json.loads(attributes["repairs"]))
    wall = float(attributes["wall_seconds"])
    return Run(system, arc, table, metrics, scenario, repairs, provenance, wall)


def _walk(
    system: CoverageSystem, start: AgentsState, table: EventTable
) -> Callable[[], Iterator[AgentsState]] | None:
    """How to get at states, where what agents remember or have heard goes into decisions."""
    if can_compile(system) or is_continuous(system):
        return None
    return lambda: (state for _, state in walk(system, start, table))


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


def _spent(variables: dict[str, Any], again: AgentsState) -> tuple[Spent, ...]:
    """What the beginning cost; what older files do not tell is taken from the law."""
    if "start_spent" not in variables:
        return tuple(again.spent)
    rows = variables["start_spent"][1]
    if rows.shape not in ((len(again.spent), len(_SPENT)), (len(again.spent), len(_SPENT) - 1)):
        raise ValueError("counts of another number of agents than the scenario's")
    told = (dict(zip(_SPENT, map(int, row), strict=False)) for row in rows)
    return tuple(replace(one, **new) for one, new in zip(again.spent, told, strict=True))


def _refused(what: str) -> StoreError:
    return StoreError(what, code="store")

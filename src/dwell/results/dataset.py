"""A run as the dataset of its NetCDF-4 file: names, dimensions, descriptions; and its writing."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._netcdf import NUMBERS, digest_of
from dwell.agents import Information, Traits
from dwell.agents.events import EventTable
from dwell.agents.state import Spent, counts_of
from dwell.agents.stored_names import DECAY_RATE, stored_names
from dwell.errors import UnsavedError
from dwell.measure import Metrics
from dwell.results.files import check_target, refused, written_whole
from dwell.results.live_record import LIVE, ROWS, live_attribute, live_variables
from dwell.scenario.modules import named_code
from dwell.scenario.rasters import describe_raster, known_raster, raster_tables
from dwell.scenario.trust import seal_of

if TYPE_CHECKING:
    import xarray as xr

    from dwell.results.run import Run
    from dwell.scenario import Scenario

_UNITS = "Lengths are in the unit of the workspace, times in one unit of the scenario's own."
FORMAT = 4  # 1 had no counts at the start, 2 no marks, 3 nothing but whole runs with all events
WHOLE_RUN = 3  # which older versions can read
TIMES = "event_time"  # a coordinate of jumps
LONG, COMPRESSED = 1000, {"compression": "gzip", "compression_opts": 1, "shuffle": True}
LONG_ONES = ("jump", *ROWS)  # dimensions
SEAL = "seal"  # the attribute that says who wrote a file that names Python code
RASTERS, MOST_BYTES = "rasters", 16_000_000  # the attribute; larger rasters stay in their files
LISTED = 1000  # agents up to which the numbers of a run are stored with it

_EVENTS = {  # stored name of a column: (name of the variable, description)
    "time": ("event_time", "time t of the jump"),
    "agent": ("event_agent", "number of the agent that jumps"),
    "positions": ("event_position", "position of the agent at the jump"),
    "holds": ("event_hold", "velocity of the agent after the jump"),
    "next_at": ("event_next_at", "time of the agent's next event"),
    "errors": ("event_error", "tracking error: centroid of the agent's cell minus its position"),
    "hold_error": ("event_hold_error", "norm of the hold error just before the jump"),
    "neighbors": ("event_neighbors", "number of Voronoi neighbours"),
    "nearest": ("event_nearest", "distance of the nearest other agent"),
    "empty": ("event_empty", "1 where the agent's cell has no mass, else 0"),
    "cruise": ("event_cruise", "hold duration: how long the velocity is held"),
    "bend": ("event_bend", "coefficients of dt^2, then of dt^3, of the path, by axis"),
    "looked": ("event_looked", "Voronoi cells of the sample: 1, or 0 for a decision without"),
    "guaranteed": ("event_guaranteed", "guaranteed cells computed"),
    "dual_guaranteed": ("event_dual_guaranteed", "dual guaranteed cells computed"),
    "sent": ("event_sent", "messages broadcast"),
    "received": ("event_received", "positions of other agents received"),
    "mark": ("event_mark", "status code of the law"),
    "promise": ("event_promise", "speed bound that the agent broadcast; -1 where it sent nothing"),
    "voronoi": ("event_voronoi", "Voronoi cells computed besides that of the sample"),
}
_SAMPLES = {  # stored name of a field: (name of the variable, dimensions, description)
    "times": ("sample_time", ("sample_time",), "time of the sample"),
    "errors": ("error", ("sample_time", "agent"), "norm of the tracking error"),
    "hold_errors": ("hold_error", ("sample_time", "hold_agent"), "norm of the hold error"),
    "costs": ("cost", ("sample_time",), "locational cost"),
    "separations": ("separation", ("sample_time",), "smallest distance between two agents"),
}
_ACCUMULATED = {
    "final_place": "position at the beginning of each agent's last segment",
    "final_hold": "velocity at the beginning of that segment",
    "final_since": "time of the beginning of that segment",
    "final_next_at": "time of each agent's next event",
    "count_events": "events of each agent, without the initial one",
    "sum_distance": "length of each path up to the last event, and the rounding error of the sum",
    "sum_energy": "integral of the squared speed, and the rounding error of the sum",
}
START_CRUISE, START_BEND = "start_cruise", "start_bend"
# Variables: the names of the fields of a table and of metrics in the file, and descriptions.
EVENT_VARIABLES = {f: _EVENTS[name] for f, name in stored_names(EventTable).items()}
SAMPLE_VARIABLES = {f: _SAMPLES[name] for f, name in stored_names(Metrics).items()}


def save_run(run: Run, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write `run` to `path`; an existing file is replaced only with `force`."""
    if run.scenario is None:
        raise refused(
            "this run cannot be kept: its law or its density is a Python object that no scenario "
            "file can name. Put the law, a dataclass with parameters that TOML can hold, or the "
            "function into a module beside the script or notebook, and import it from there"
        )
    try:
        write_run(run, check_target(path, force=force))
    except UnsavedError as fault:
        fault.run = run
        raise


def write_run(run: Run, target: Path, journal: str | None = None) -> None:
    """Write `run` to `target`, whole or not at all; `journal` names the journal that extends it.

    The file is put together in memory first: the HDF5 library may end the process when the disk is
    full, where plain writing raises an OSError.
    """
    variables, attributes = _content(run, journal)
    with written_whole(target) as temporary:
        temporary.write_bytes(netcdf_image(variables, attributes))


def as_dataset(run: Run) -> xr.Dataset:
    """Return `run` as the dataset of its file."""
    import xarray as xr

    variables, attributes = _content(run, None)
    dataset = xr.Dataset(variables, attrs=attributes)
    return dataset.set_coords(TIMES) if TIMES in variables else dataset


def _content(run: Run, journal: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables, as (dimensions, values, attributes), and attributes of the file of `run`."""
    kept = run.details.table is not None
    variables = _common_variables(run)
    variables |= _event_variables(run.events) if kept else _accumulated_variables(run)
    if run.details.live is not None:
        variables |= live_variables(run.details.live)
    if journal is None and run.agents <= LISTED:
        variables[NUMBERS] = _text(run.summary(), "character", "the numbers of the run, as JSON")
    rasters, tables = _raster_variables(run)
    variables |= rasters
    for _, _, about in variables.values():
        about["units"] = "1"
    attributes = _attributes(run, journal) | tables
    attributes["digest"] = digest_of(variables, attributes)
    return variables, attributes


def netcdf_image(variables: dict[str, Any], attributes: dict[str, Any]) -> bytes:
    """Return the content of a NetCDF-4 file; long tables of events are compressed."""
    import h5netcdf

    image = io.BytesIO()
    with h5netcdf.File(image, "w") as file:
        for name, (dims, values, about) in variables.items():
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in file.dimensions:
                    file.dimensions[dim] = size
            small = COMPRESSED if dims[0] in LONG_ONES and len(values) >= LONG else {}
            data = values if values.size else None
            made = file.create_variable(name, dims, values.dtype, data, **small)
            made.attrs.update(about)
            if dims[0] == "jump" and name != TIMES:
                made.attrs["coordinates"] = TIMES
        file.attrs.update(attributes)
    return image.getvalue()


def make_ready() -> None:
    """Load all that writing a file needs, so that the first checkpoint does not wait for it."""
    if "h5netcdf" not in sys.modules:  # nothing was written or read before
        netcdf_image({"nothing": (("row",), np.zeros(1), {})}, {})


def _attributes(run: Run, journal: str | None) -> dict[str, Any]:
    details, scenario = run.details, run.scenario
    attributes: dict[str, Any] = {
        "Conventions": "CF-1.11",
        "title": scenario.name if scenario and scenario.name else "dwell run",
        "comment": _UNITS,
        "dwell_format": WHOLE_RUN if details.table is not None and journal is None else FORMAT,
        "scenario": _as_json(scenario) if scenario else "",
        "provenance": json.dumps(dict(run.provenance)),
        "repairs": json.dumps(list(run.repairs)),
        "stop": json.dumps([run.stop.reason.value, run.stop.time, run.stop.detail]),
        "stop_reason": run.stop.reason.value,
        "stop_time": run.stop.time,
        "until": run.horizon,
        "wall_seconds": details.wall_seconds,
    }
    if details.table is None:
        attributes["record"] = details.record
    if run.details.live is not None:
        attributes[LIVE] = live_attribute(run.details.live)
    if journal is not None:
        attributes["journal"] = journal
    if scenario is not None and named_code(scenario):  # for readers that cannot import the code
        named = law_attributes(run.system.traits)
        known = run.summary() if details.noted is None else details.noted
        kept = {"law": named, "summary": None if journal is not None else known}
        attributes["without_code"] = json.dumps(kept)
        attributes[SEAL] = seal_of(scenario, run.provenance)
    return attributes


def law_attributes(traits: Traits) -> dict[str, float]:
    """What a file says of a law in Python, for readers that cannot import it."""
    found = {} if traits.nu is None else {"nu": float(traits.nu)}
    return found if math.isinf(traits.fade) else {**found, DECAY_RATE: float(traits.fade)}


def absent_traits(kind: str, stated: Mapping[str, float]) -> Traits:
    """The traits of a law in Python whose code is not there, as far as a file says them."""
    fade = stated.get(DECAY_RATE, math.inf)
    own = "at events" if math.isinf(fade) else "always"
    return Traits(
        information=Information(own=own), nu=stated.get("nu"), fade=fade, name=kind, absent=True
    )


def _as_json(scenario: Scenario) -> str:
    """A scenario as JSON; without the table of a fleet that it has not, as in older files."""
    return scenario.model_dump_json(exclude={"fleet"} if scenario.fleet is None else None)


def _common_variables(run: Run) -> dict[str, Any]:
    """Metric samples and the start."""
    start, every = run.start, ("agent",)
    begun = start.segments
    found: dict[str, Any] = {
        "agent": (every, np.arange(run.agents), {"long_name": "number of the agent"})
    }
    for field, (name, dims, text) in SAMPLE_VARIABLES.items():
        found[name] = (dims, getattr(run.metrics, field), {"long_name": text})
    kinds = ", ".join(stored_names(Spent).values())
    found["start_spent"] = ((*every, "kind"), spent_rows(start.spent), {"long_name": kinds})
    if begun.cruises:
        found[START_CRUISE] = (every, begun.cruise, {"long_name": "hold duration at t = 0"})
    if begun.bend is not None:
        about = {"long_name": "coefficients of dt^2, then of dt^3, of the first path, by axis"}
        found[START_BEND] = ((*every, "coefficient"), _flat(begun.bend), about)
    axes = (*every, "axis")
    found["start_position"] = (axes, begun.place, {"long_name": "position at t = 0"})
    found["start_hold"] = (axes, begun.hold, {"long_name": "velocity at t = 0"})
    found["start_next_at"] = (every, begun.next_at, {"long_name": "time of the first event"})
    return found


def _event_variables(table: EventTable) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, column in table.columns().items():
        name, text = EVENT_VARIABLES[field]
        dims = ("jump", *("axis",) * (column.ndim == 2), *("coefficient",) * (column.ndim == 3))
        found[name] = (dims, np.ascontiguousarray(_flat(column)), {"long_name": text})
    return found


def _accumulated_variables(run: Run) -> dict[str, Any]:
    """What a run without events stores: the final segments, counts and sums, and the state."""
    arrays, info = run.details.recorder.frozen()
    found = {"kept": _text(info, "byte", "the rest of the state, as JSON")}
    for name, values in arrays.items():
        about = {"long_name": _ACCUMULATED.get(name, name.replace("_", " "))}
        found[name] = (_dims(name, values), values, about)
    return found


def _raster_variables(run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of small rasters, and the attribute that says where they lie."""
    found: dict[str, Any] = {}
    tables: list[dict[str, Any]] = []
    named = {} if run.scenario is None else {s.sha256: s for s in raster_tables(run.scenario)}
    for digest in named:
        raster = known_raster(digest)
        if raster is None or raster.values.nbytes > MOST_BYTES:
            continue
        name = f"raster_{len(tables)}"
        about = {"long_name": f"values of {named[digest].file}"}
        found[name] = ((f"{name}_row", f"{name}_column"), raster.values, about)
        tables.append({"variable": name, **describe_raster(raster)})
    return found, {RASTERS: json.dumps(tables)} if tables else {}


def _text(data: Any, dimension: str, text: str) -> Any:
    """JSON data as a variable of bytes."""
    values = np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)
    return (dimension,), values, {"long_name": text}


def _dims(name: str, values: np.ndarray) -> tuple[str, ...]:
    """Dimensions of a variable that is stored instead of events."""
    if name.startswith("sum_"):
        return ("part", "agent")
    rows = "window" if name.startswith("window_event_") else "agent"
    return {1: (rows,), 2: (rows, "axis"), 3: (rows, "order", "axis")}[values.ndim]


def _flat(column: np.ndarray) -> np.ndarray:
    """A column with at most one axis beside that of its rows."""
    return column if column.ndim < 3 else column.reshape(len(column), -1)


def spent_rows(spent: Sequence[Spent]) -> np.ndarray:
    """Return counts as rows, one per agent."""
    return np.column_stack([counts_of(spent, name) for name in stored_names(Spent)])

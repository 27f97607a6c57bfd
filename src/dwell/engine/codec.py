"""States of agents, with memories and messages, as plain data: numbers, lists, class names.

No data in a file names code to run: a name that is not in the table below is refused, unless it is
that of a dataclass in the module of the run's own law.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dwell.agents.interfaces import Controller, Message, Sample
from dwell.agents.segments import Segments
from dwell.agents.state import AgentsState, Mail, Spent
from dwell.agents.stored_names import STORED, stored_names
from dwell.cells.measurement import CellMeasurement
from dwell.controllers.centroid_bounds import CentroidBall
from dwell.controllers.event_triggered import BroadcastMemory
from dwell.controllers.self_triggered_centroid import CentroidPlan
from dwell.errors import ControllerError

KNOWN: dict[str, type] = {  # names of classes in files
    "Look": CellMeasurement,
    "Mail": Mail,
    "Message": Message,
    "Sample": Sample,
    "Spent": Spent,
    "AgentsState": AgentsState,
    "Plan": CentroidPlan,
    "Memory": BroadcastMemory,
    "Ball": CentroidBall,
}
IN_FILES = {known: name for name, known in KNOWN.items()}
NONE: Mapping[str, Any] = MappingProxyType({})
STATE, IN_ORDER = "Legs of a state", STORED["AgentsState with segments"].split()
LATER = {(Message, "data")}  # fields that older files lack; None is not written


def names_of(law: Controller) -> Mapping[str, Any]:
    """The global names of the module of a law."""
    decide: Any = law.decide
    return getattr(decide, "__globals__", {})


def plain(value: Any, own: Mapping[str, Any] = NONE) -> Any:
    """`value` as JSON data without loss of a bit; `own` are the names of the law's module."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), text]}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [plain(item, own) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[plain(k, own), plain(v, own)] for k, v in value.items()]}
    name = type(value).__name__
    in_files = IN_FILES.get(type(value))
    if not (is_dataclass(value) and (in_files or own.get(name) is type(value))):
        raise ControllerError(
            f"the law remembers or sends a {name}, which a file cannot hold; numbers, text, lists, "
            "tuples, dicts, arrays, and dataclasses of the law's own module can be kept",
            code="controller.memory",
        )
    kept = {
        key: getattr(value, f)
        for f, key in _field_names(type(value)).items()
        if (type(value), f) not in LATER or getattr(value, f) is not None
    }
    if isinstance(value, AgentsState):
        kept |= _beside(kept.pop("segments"))
        kept = {key: kept[key] for key in IN_ORDER}
    return {in_files or name: {key: plain(part, own) for key, part in kept.items()}}


def restored(value: Any, own: Mapping[str, Any] = NONE) -> Any:
    """Return the value that `plain` turned into JSON."""
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "array":
        dtype, shape, text = inside
        if np.dtype(dtype).kind not in "biuf":
            raise ValueError("an array of no numbers")
        return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape).copy()
    if kind in ("tuple", "list"):
        items = [restored(item, own) for item in inside]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {restored(k, own): restored(v, own) for k, v in inside}
    made = own.get(kind, KNOWN.get(kind))
    if not isinstance(made, type) or not is_dataclass(made):
        raise ValueError(f"{kind} is nothing that a file should hold")
    parts = {key: restored(part, own) for key, part in inside.items()}
    if made is AgentsState:
        parts["segments"] = _taken_out(parts)
    names = {key: f for f, key in _field_names(made).items()}
    return made(**{names[key]: part for key, part in parts.items()})


def _field_names(cls: type) -> dict[str, str]:
    """For each field of a dataclass its name in files: of a law's own class, the same."""
    if cls in IN_FILES:
        return stored_names(cls, IN_FILES[cls])
    return {f.name: f.name for f in fields(cls)}


def _beside(segments: Segments) -> dict[str, Any]:
    """The segments of a state as they stand beside its other fields; `cruise` may be None."""
    names = stored_names(Segments, STATE)
    kept = {key: getattr(segments, f) for f, key in names.items()}
    return kept if segments.cruises else {**kept, names["cruise"]: None}


def _taken_out(parts: dict[str, Any]) -> Segments:
    """The segments of a state, taken out of its other fields."""
    values = {f: parts.pop(key) for f, key in stored_names(Segments, STATE).items()}
    if values["cruise"] is None:
        values["cruise"] = np.full(len(values["since"]), np.inf)
    return Segments(**values)


def pack_segments(lead: str, segments: Segments) -> dict[str, np.ndarray]:
    """The arrays of segments by their stored names, without those that say nothing."""
    names, parts = stored_names(Segments, "Legs"), segments.parts()
    if not segments.cruises:
        del parts["cruise"]
    return {lead + names[part]: values for part, values in parts.items()}


def unpack_segments(lead: str, arrays: Mapping[str, np.ndarray], like: Segments) -> Segments:
    """Restore what `pack_segments` returned, for as many agents as `like` has."""
    names, found = stored_names(Segments, "Legs"), like.copied()
    found.cruise[...] = np.inf
    for part, values in found.parts().items():
        kept = arrays.get(lead + names[part])
        if kept is None and part == "cruise":
            continue
        if kept is None or kept.shape != values.shape:
            raise ValueError("segments of another number of agents than the scenario's")
        values[...] = kept
    return found

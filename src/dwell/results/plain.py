"""What agents remember and have heard, as plain data: numbers, lists, and names of known classes.

Nothing in a file says which code to run: a name that is not in the list below is refused.
"""

from __future__ import annotations

import base64
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

KNOWN = {
    "Look": "dwell.agents.interfaces",
    "Mail": "dwell.agents.state",
    "Message": "dwell.agents.interfaces",
    "Sample": "dwell.agents.interfaces",
    "Spent": "dwell.agents.state",
    "AgentsState": "dwell.agents.state",
    "Plan": "dwell.controllers.self_triggered_centroid",
    "Memory": "dwell.controllers.event_triggered",
    "Ball": "dwell.controllers.uncertain",
}
PLAIN = (bool, int, float, str)


def plain(value: Any) -> Any:
    """`value` as JSON can hold it, without losing a bit."""
    if value is None or isinstance(value, PLAIN):
        return value if not isinstance(value, np.generic) else plain(value.item())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), text]}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [plain(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in value.items()]}
    name = type(value).__name__
    if not is_dataclass(value) or KNOWN.get(name) != type(value).__module__:
        raise TypeError(f"{name} is nothing that a file can hold")
    return {name: {f.name: plain(getattr(value, f.name)) for f in fields(value)}}


def restored(value: Any) -> Any:
    """What `plain` was given."""
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "array":
        dtype, shape, text = inside
        if np.dtype(dtype).kind not in "biuf":
            raise ValueError("an array of no numbers")
        return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape).copy()
    if kind in ("tuple", "list"):
        items = [restored(item) for item in inside]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {restored(k): restored(v) for k, v in inside}
    if kind not in KNOWN:
        raise ValueError(f"{kind} is nothing that a file should hold")
    made = getattr(import_module(KNOWN[kind]), kind)
    return made(**{name: restored(part) for name, part in inside.items()})

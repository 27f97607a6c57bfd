"""Names of fields in files and data frames. They are stable, whatever the fields are called.

Each list has one name per field of a class, in the order of the fields. A renamed field keeps its
name here; a new field needs one.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache

STORED = {
    "AgentsState": "time segments first looks last looking memory mail spent promise promised past "
    "before",
    # In files the names of its segments' fields lie between those of its own.
    "AgentsState with segments": "time start hold since first next_at looks last cruise fade bend "
    "looking memory mail spent promise promised past before",
    "Ball": "middle distance radius",
    "EventTable": "time agent positions holds next_at errors hold_error neighbors nearest empty "
    "cruise bend looked guaranteed dual_guaranteed sent received mark promise voronoi",
    "Legs": "since place hold next_at cruise fade bend",
    "Legs of a state": "since start hold next_at cruise fade bend",  # beside its other fields
    "Look": "agent error mass neighbors nearest empty stretch",
    "Mail": "heard coming",
    "Memory": "level spoke",
    "Message": "sender time position promise before data",
    "Metrics": "times errors hold_errors costs separations",
    "Plan": "sample steps moves goal",
    "Sample": "time agents positions velocities",
    "Sampled": "taken last_large after",
    "Spent": "looked guaranteed dual_guaranteed sent received mark voronoi",
}
DECAY_RATE = "fade"  # of a law in Python, in the attribute `without_code`


@cache
def stored_names(cls: type, kind: str | None = None) -> dict[str, str]:
    """For each field of a dataclass its name in files; `kind` is the name of the class there."""
    names = STORED[kind or cls.__name__].split()
    return dict(zip((field.name for field in fields(cls)), names, strict=True))

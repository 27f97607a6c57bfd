"""Scenarios to begin from, shipped with the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType

from dwell.errors import ScenarioError

from .explain import nearest
from .problems import listing, shown

TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        "two-hills": "eight agents share two hills in a rectangle; a small place to start",
        "paper-12": "the paper's run of 12 agents with slow timers",
        "paper-30": "the paper's run of 30 agents, whose timers meet the paper's condition",
        "paper-12-lloyd": "the same 12 agents with Lloyd's law, as the paper compares",
        "paper-12-self-triggered": "the same 12 agents with a self-triggered law, as it compares",
        "event-triggered-8": "eight agents that speak only when they change their speed",
        "line-8": "eight agents share a hill on a line",
        "space-12": "twelve agents share two hills in space",
        "disc-9": "nine agents share a disc",
        "harbour-20": "twenty boats watch a harbour, in metres and seconds",
        "moving-hill": "five agents follow a hill that moves",
        "two-sensors": "seven agents: some detect smoke, some heat, one both",
        "switching-site": "a site that grows; then two agents leave, and one arrives",
    }
)
# Templates for robots, which are the same as others for a simulation.
FLEETS: Mapping[str, str] = MappingProxyType(
    {"robots-3": "three robots on three machines, with what dwell agent needs"}
)
# Templates with a Python module beside them, which a server does not take.
WITH_CODE: Mapping[str, str] = MappingProxyType(
    {"own-law": "six agents follow a law of one's own, in a Python file beside it"}
)


def template_text(name: str, ending: str = "toml", others: Sequence[str] = ()) -> str:
    """The commented TOML of a template, or its Python module.

    `TEMPLATES`, `FLEETS` and `WITH_CODE` have the names. `others` are templates of other kinds, to
    be named beside these where there is no such name.
    """
    if name not in {**TEMPLATES, **FLEETS, **WITH_CODE}:
        known = [*TEMPLATES, *FLEETS, *WITH_CODE, *others]
        close = nearest(name, known)
        hint = f'; did you mean "{close}"?' if close else "."
        raise ScenarioError(
            f"a template must be {listing(known, 'or')}, got {shown(name)}{hint}",
            code="scenario.template",
        )
    path = files(__package__).joinpath("templates", f"{name}.{ending}")
    return path.read_text(encoding="utf-8")

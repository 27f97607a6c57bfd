"""From objects to a scenario: a run made in Python can then be kept and repeated like any other."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dwell._types import Points
from dwell.controllers import Timer
from dwell.density import Density, Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.geometry import Box, Workspace
from dwell.scenario.load import parse_scenario
from dwell.scenario.schema import Scenario


def describe(
    workspace: Workspace,
    density: Density,
    start: Points,
    controller: object,
    run: dict[str, Any],
    ids: tuple[int, ...] | None = None,
) -> Scenario | None:
    """The scenario of these objects; None if a file cannot name one of them."""
    weight = describe_density(density)
    if weight is None or not isinstance(controller, Timer):
        return None
    law = {k: v for k, v in asdict(controller).items() if v is not None and k != "_programs"}
    agents: dict[str, Any] = {"start": start.tolist()}
    if ids is not None:
        agents["ids"] = list(ids)
    return parse_scenario(
        {
            "workspace": describe_workspace(workspace),
            "density": weight,
            "agents": agents,
            "controller": {"kind": "timer", **law},
            "run": run,
        }
    )


def describe_workspace(workspace: Workspace) -> dict[str, Any]:
    """The `workspace` table."""
    if isinstance(workspace, Box):
        return {"kind": "box", "lower": list(workspace.lower), "upper": list(workspace.upper)}
    return {"kind": "polygon", "vertices": workspace.vertices.tolist()}


def describe_density(density: Density) -> dict[str, Any] | None:
    """The `density` table; None for a function without an importable name."""
    match density:
        case Uniform(level=level):
            return {"kind": "uniform", "level": level}
        case Polynomial(coefficients=terms, origin=origin):
            return {"kind": "polynomial", "terms": [list(t) for t in terms], "origin": origin}
        case Gaussian():
            table = {k: v for k, v in asdict(density).items() if v is not None}
            return {"kind": "gaussian", **table}
        case Mixture(parts=parts):
            tables = [describe_density(part) for part in parts]
            simple = all(t is not None and t["kind"] not in ("callable", "mixture") for t in tables)
            return {"kind": "mixture", "parts": tables} if simple else None
        case Function(name=str(name)):
            return {"kind": "callable", "function": name}
        case _:
            return None

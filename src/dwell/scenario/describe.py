"""From objects to a scenario: a run made in Python can then be kept and repeated like any other."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import Any, assert_never

import numpy as np

from dwell import controllers
from dwell._types import Points
from dwell.agents import Network
from dwell.density import Density, Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope, Workspace
from dwell.scenario.build import LAW_KINDS
from dwell.scenario.load import parse_scenario
from dwell.scenario.modules import name_of
from dwell.scenario.schema import Scenario
from dwell.scenario.values import as_parameter


def describe(
    workspace: Workspace,
    density: Density,
    start: Points,
    controller: object,
    run: dict[str, Any],
    ids: tuple[int, ...] | None = None,
    network: Network | None = None,
) -> Scenario | None:
    """The scenario of these objects; None if a file cannot name one of them."""
    weight, law = describe_density(density), describe_controller(controller)
    if weight is None or law is None:
        return None
    named = [name_of(type(controller))] if law["kind"] == "python" else []
    named += [name_of(density.call)] if isinstance(density, Function) else []
    folders = {name[1] for name in named if name is not None}
    if len(folders) > 1:  # a scenario has one folder of modules
        return None
    agents: dict[str, Any] = {"start": start.tolist()}
    if ids is not None:
        agents["ids"] = list(ids)
    tables: dict[str, Any] = {
        "modules": next(iter(folders), None),
        "workspace": describe_workspace(workspace),
        "density": weight,
        "agents": agents,
        "controller": law,
        "run": run,
    }
    if network is not None and not network.perfect:
        tables["network"] = asdict(network)
    return parse_scenario(tables)


def describe_controller(controller: Any) -> dict[str, Any] | None:
    """The `controller` table; None for a law that a file cannot name.

    Keys at their defaults are left out: they are the same in a file, and some of them belong to a
    choice that was not made.
    """
    kinds = {getattr(controllers, name, None): kind for kind, name in LAW_KINDS.items()}
    kind = kinds.get(type(controller))
    if kind is None:
        return _describe_own(controller)
    public = [f for f in fields(controller) if not f.name.startswith("_")]
    values = {f.name: (getattr(controller, f.name), f.default) for f in public}
    described = {key: v for key, (v, default) in values.items() if v is not None and v != default}
    return {"kind": kind, **described}


def _describe_own(controller: Any) -> dict[str, Any] | None:
    """The table of a law in Python: a dataclass that can be imported, of values that JSON holds."""
    named = name_of(type(controller))
    if named is None or isinstance(controller, type) or not is_dataclass(controller):
        return None
    values = {
        f.name: (getattr(controller, f.name), f.default) for f in fields(controller) if f.init
    }
    described = {key: v for key, (v, default) in values.items() if v is not default}
    try:
        as_parameter(described)
    except ValueError:
        return None
    return {"kind": "python", "class": named[0], **described}


def describe_workspace(workspace: Workspace) -> dict[str, Any]:
    """The `workspace` table."""
    match workspace:
        case Polygon(vertices=vertices):
            return {"kind": "polygon", "vertices": vertices.tolist()}
        case Box(lower=lower, upper=upper):
            return {"kind": "box", "lower": list(lower), "upper": list(upper)}
        case Interval(lower=lower, upper=upper):
            return {"kind": "interval", "bounds": [lower, upper]}
        case Polytope(vertices=vertices):
            return {"kind": "polytope", "vertices": vertices.tolist()}
        case Ball(center=center, radius=radius):
            return {"kind": "ball", "center": list(center), "radius": radius}
        case Ellipsoid(center=center, semi_axes=sizes, axes=axes):
            table = {"kind": "ellipsoid", "center": list(center), "semi_axes": list(sizes)}
            own = (axes != np.eye(len(center))).any()
            return {**table, "axes": axes.tolist()} if own else table
        case _:
            assert_never(workspace)


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
        case Function(call=call, name=name):
            name = name or (name_of(call) or (None,))[0]
            return None if name is None else {"kind": "callable", "function": name}
        case _:
            return None

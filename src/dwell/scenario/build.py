"""From a checked scenario to objects: the only place where names in a file meet classes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from dwell._checks import check_whole
from dwell._types import Points
from dwell.agents import Controller, CoverageSystem, Network, check_start, scatter
from dwell.controllers import (
    TVD,
    DiscreteLloyd,
    EventTriggered,
    Lloyd,
    MinimumEnergy,
    SelfTriggered,
    SelfTriggeredCentroid,
    Timer,
)
from dwell.density import Density, Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.density.support import check_density
from dwell.errors import DwellError
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope, Workspace
from dwell.scenario.laws import LawSpec, NetworkSpec, PythonSpec
from dwell.scenario.modules import find_code, refused
from dwell.scenario.places import CallableSpec, DensitySpec, MixtureSpec, WorkspaceSpec
from dwell.scenario.problems import listing, shown
from dwell.scenario.schema import AgentsSpec, GridSpec, ScatterSpec, Scenario
from dwell.scenario.values import Table

# The kinds of tables in a file, and what makes an object of their keys.
LAW_KINDS: Mapping[str, type] = {
    "timer": Timer,
    "lloyd": Lloyd,
    "discrete-lloyd": DiscreteLloyd,
    "self-triggered": SelfTriggered,
    "self-triggered-centroid": SelfTriggeredCentroid,
    "event-triggered": EventTriggered,
    "tvd": TVD,
    "minimum-energy": MinimumEnergy,
}
KINDS: Mapping[str, Callable[..., Any]] = {
    **LAW_KINDS,
    "polygon": Polygon,
    "box": Box,
    "interval": lambda bounds: Interval(*bounds),
    "polytope": lambda vertices=None, halfspaces=None: (
        Polytope(vertices)
        if halfspaces is None
        else Polytope.from_halfspaces(
            [row[:-1] for row in halfspaces], [row[-1] for row in halfspaces]
        )
    ),
    "ball": Ball,
    "ellipsoid": Ellipsoid,
    "uniform": Uniform,
    "polynomial": lambda terms, origin=(): Polynomial(terms, origin),
    "gaussian": Gaussian,
}


def _made(spec: Table) -> Any:
    """The object of a table; absent keys have the defaults of its class."""
    keys = spec.model_dump(exclude_none=True)
    return KINDS[keys.pop("kind")](**keys)


def with_seed(scenario: Scenario, seed: int | None = None) -> Scenario:
    """`scenario` with a seed: the one given, its own, or a fresh one, so it can be repeated."""
    if seed is not None:
        check_whole("seed", seed)
    elif scenario.run.seed is not None:
        return scenario
    else:
        seed = secrets.randbits(32)
    run = scenario.run.model_copy(update={"seed": int(seed)})
    return scenario.model_copy(update={"run": run})


def build(scenario: Scenario) -> tuple[CoverageSystem, Points, tuple[str, ...]]:
    """The system, the start positions, and what was repaired on the way."""
    workspace = build_workspace(scenario.workspace)
    density = build_density(scenario.density, scenario.modules)
    check_density(density, workspace)
    start, repairs = build_start(scenario.agents, workspace)
    grid = scenario.run.integration
    system = CoverageSystem(
        workspace=workspace,
        density=density,
        controller=build_controller(scenario.controller, scenario.modules),
        agents=len(start),
        seed=scenario.run.seed or 0,
        ids=scenario.agents.ids,
        spacing=grid.spacing if isinstance(grid, GridSpec) else None,
        network=Network(**(scenario.network or NetworkSpec()).model_dump()),
        nu=scenario.run.nu,
    )
    return system, start, (*workspace.repairs, *repairs)


def build_workspace(spec: WorkspaceSpec) -> Workspace:
    """The region."""
    region: Workspace = _made(spec)
    return region


def build_density(spec: DensitySpec, folder: str | None = None) -> Density:
    """The weight of places; `folder` is where a function's module may lie."""
    if isinstance(spec, MixtureSpec):
        return Mixture(tuple(build_density(part) for part in spec.parts))
    if isinstance(spec, CallableSpec):
        return Function(find_code("density.function", spec.function, folder), spec.function)
    density: Density = _made(spec)
    return density


def build_start(spec: AgentsSpec, workspace: Workspace) -> tuple[Points, tuple[str, ...]]:
    """Where the agents start, and what was repaired."""
    if isinstance(spec.start, ScatterSpec):
        at = spec.start
        region = None if at.region == "workspace" else Box(at.region.lower, at.region.upper)
        return check_start(workspace, scatter(workspace, at.count, at.seed, region))
    return check_start(workspace, spec.start)


def build_controller(spec: LawSpec, folder: str | None = None) -> Controller:
    """The law: its class takes the keys of its table, and has its own defaults for absent ones."""
    law: Controller = _own_law(spec, folder) if isinstance(spec, PythonSpec) else _made(spec)
    return law


def _own_law(spec: PythonSpec, folder: str | None) -> Controller:
    """A law in Python; refused where its class does not take the keys, or is no law."""
    key, given = "controller.class", f"is {shown(spec.law)}, which"
    law = find_code(key, spec.law, folder)
    try:
        made = law(**{name: _frozen(value) for name, value in (spec.model_extra or {}).items()})
    except DwellError:
        raise
    except Exception as fault:
        known = listing(list(getattr(law, "__dataclass_fields__", ())))
        has = f"; its parameters are {known}" if known else ""
        says = f"{given} cannot be made of its keys ({type(fault).__name__}: {fault}){has}"
        raise refused(key, says) from fault
    if not isinstance(made, Controller):
        needed = "a class with the methods begin(observation) and decide(observation) is needed"
        raise refused(key, f"{given} gives a {type(made).__name__}; {needed}")
    return made


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value

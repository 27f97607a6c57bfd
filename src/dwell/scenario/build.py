"""From a checked scenario to objects: the only place where names in a file meet classes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, assert_never

from dwell import controllers
from dwell._checks import check_whole
from dwell._types import Points
from dwell.agents import Controller, CoverageSystem, Network, check_start, scatter
from dwell.density import Density, Function, Gaussian, Mixture, Polynomial, Uniform
from dwell.density.support import check_density
from dwell.errors import DwellError
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope, Workspace
from dwell.scenario.densities import (
    CallableSpec,
    DensitySpec,
    GaussianSpec,
    MixtureSpec,
    PolynomialSpec,
    UniformSpec,
)
from dwell.scenario.laws import LawSpec, NetworkSpec, PythonSpec
from dwell.scenario.modules import find_code, refused
from dwell.scenario.problems import listing, shown
from dwell.scenario.schema import AgentsSpec, GridSpec, ScatterSpec, Scenario
from dwell.scenario.workspaces import (
    BallSpec,
    BoxSpec,
    EllipsoidSpec,
    IntervalSpec,
    PolygonSpec,
    PolytopeSpec,
    WorkspaceSpec,
)

# The kinds of law in a file, and the names of their classes in dwell.controllers.
LAW_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "timer": "Timer",
        "lloyd": "Lloyd",
        "discrete-lloyd": "DiscreteLloyd",
        "self-triggered": "SelfTriggered",
        "self-triggered-centroid": "SelfTriggeredCentroid",
        "event-triggered": "EventTriggered",
    }
)


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
        network=build_network(scenario.network),
        nu=scenario.run.nu,
    )
    return system, start, (*workspace.repairs, *repairs)


def build_workspace(spec: WorkspaceSpec) -> Workspace:
    """The region."""
    match spec:
        case PolygonSpec(vertices=vertices):
            return Polygon(vertices)
        case BoxSpec(lower=lower, upper=upper):
            return Box(lower, upper)
        case IntervalSpec(bounds=bounds):
            return Interval(*bounds)
        case PolytopeSpec(vertices=tuple(vertices)):
            return Polytope(vertices)
        case PolytopeSpec(halfspaces=halfspaces):
            assert halfspaces is not None  # the table has one or the other
            rows = [row[:-1] for row in halfspaces]
            return Polytope.from_halfspaces(rows, [row[-1] for row in halfspaces])
        case BallSpec(center=center, radius=radius):
            return Ball(center, radius)
        case EllipsoidSpec(center=center, semi_axes=semi_axes, axes=axes):
            return Ellipsoid(center, semi_axes, axes)
        case _:
            assert_never(spec)


def build_density(spec: DensitySpec, folder: str | None = None) -> Density:
    """The weight of places; `folder` is where a function's module may lie."""
    match spec:
        case UniformSpec(level=level):
            return Uniform(level)
        case PolynomialSpec(terms=terms, origin=origin):
            return Polynomial(terms, origin or ())  # zeros, if there is none
        case GaussianSpec(center=center, rate=rate, covariance=covariance, weight=weight):
            return Gaussian(center, rate, covariance, weight)
        case MixtureSpec(parts=parts):
            return Mixture(tuple(build_density(part) for part in parts))
        case CallableSpec(function=name):
            return Function(find_code("density.function", name, folder), name)
        case _:
            assert_never(spec)


def build_start(spec: AgentsSpec, workspace: Workspace) -> tuple[Points, tuple[str, ...]]:
    """Where the agents start, and what was repaired."""
    if isinstance(spec.start, ScatterSpec):
        at = spec.start
        region = None if at.region == "workspace" else Box(at.region.lower, at.region.upper)
        return check_start(workspace, scatter(workspace, at.count, at.seed, region))
    return check_start(workspace, spec.start)


def build_controller(spec: LawSpec, folder: str | None = None) -> Controller:
    """The law: its class takes the keys of its table, and has its own defaults for absent ones."""
    if isinstance(spec, PythonSpec):
        return _own_law(spec, folder)
    law: Callable[..., Controller] = getattr(controllers, LAW_KINDS[spec.kind])
    return law(**spec.model_dump(exclude={"kind"}, exclude_none=True))


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


def build_network(spec: NetworkSpec | None) -> Network:
    """The network: loss and delay of samples and messages; perfect without a table."""
    return Network() if spec is None else Network(loss=spec.loss, delay=spec.delay)

"""From a checked scenario to objects: what its tables make, in their order."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from dwell._checks import check_whole
from dwell._compatibility import Need
from dwell._types import Points
from dwell._units import OPEN, Units
from dwell.agents import (
    Controller,
    CoverageSystem,
    Network,
    Sensor,
    Switch,
    check_start,
    scatter,
)
from dwell.agents.timeline import timeline_of
from dwell.agents.traits import is_law
from dwell.agents.world import sum_of
from dwell.density import (
    Density,
    Function,
    Mixture,
)
from dwell.density.moving import density_at
from dwell.density.support import check_density
from dwell.errors import DwellError
from dwell.geometry import (
    Box,
    MovingPolygon,
    Workspace,
)
from dwell.scenario.laws import (
    LAW_KINDS,
    LAW_TABLES,
    LawSpec,
    NetworkSpec,
    PythonSpec,
)
from dwell.scenario.modules import find_code, named_code, refused
from dwell.scenario.places import (
    CallableSpec,
    DensitySpec,
    MixtureSpec,
    WorkspaceSpec,
    uniform,
)
from dwell.scenario.problems import listing, shown
from dwell.scenario.raster_table import RasterSpec
from dwell.scenario.rasters import known_raster, pinned, raster_of, raster_tables
from dwell.scenario.schema import GridSpec, Scenario
from dwell.scenario.team import AgentsSpec, ScatterSpec


def with_seed(scenario: Scenario, seed: int | None = None) -> Scenario:
    """`scenario` with a seed: the one given, its own, or a fresh one, so it can be repeated.

    For the same reason it gets the digests of its rasters.
    """
    scenario = pinned(scenario)
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
    scenario.refuse_withheld()
    workspace = build_workspace(scenario.workspace)
    site = workspace.now(0.0) if isinstance(workspace, MovingPolygon) else workspace
    sensors = build_sensors(scenario)
    density = build_density(scenario.density, scenario)
    density = sum_of(sensors) if sensors else density
    check_density(density_at(density, 0.0), site)
    start, repairs = build_start(scenario.agents, site, not sensors, scenario.units)
    grid, network = scenario.run.integration, _network(scenario.network or NetworkSpec())
    switches, until = build_switches(scenario), scenario.run.horizon
    changes, start = timeline_of(workspace, density, network, start, switches, until, sensors)
    law = build_controller(scenario.controller, scenario.modules)
    spacing = grid.spacing if isinstance(grid, GridSpec) else None
    system = CoverageSystem(
        workspace=site,
        density=density_at(density, 0.0),
        controller=law,
        agents=len(start),
        seed=scenario.run.seed or 0,
        ids=scenario.agents.ids,
        spacing=spacing,
        network=network,
        nu=scenario.run.nu,
        radius=scenario.agents.radius,
        changes=changes,
    )
    refuse_unfit(system)
    if scenario.certificate is not None:
        system.refuse(Need.CERTIFICATE)
    of_site = () if scenario.site is None else scenario.site.repairs or ()
    coarse = [note for spec in raster_tables(scenario) for note in _notes(spec)]
    return system, start, (*of_site, *workspace.repairs, *repairs, *coarse)


def build_without_code(scenario: Scenario) -> tuple[CoverageSystem, Points, tuple[str, ...]]:
    """What `build` gives, with built-in parts in place of those in Python."""
    ours: dict[str, Any] = {"certificate": None}
    for key in named_code(scenario):
        if key.startswith("controller"):
            ours["controller"] = LAW_TABLES["lloyd"](kind="lloyd")
        elif key.startswith("density"):
            ours["density"] = uniform()
        else:
            name = key.partition("[")[0]
            tables = [
                one.model_copy(update={"density": uniform()})
                if isinstance(one.density, CallableSpec)
                else one
                for one in getattr(scenario, name)
            ]
            ours[name] = tuple(tables)
    plain = scenario.model_copy(update=ours)
    plain._withheld = ""
    return build(plain)


def _notes(spec: RasterSpec) -> list[str]:
    known = known_raster(spec.sha256)
    return [] if known is None else list(known.repairs)


def build_sensors(scenario: Scenario) -> list[Sensor]:
    """The sensors, each with its owners."""
    owned = scenario.agents.sensors or ()
    return [
        Sensor(
            one.name,
            build_density(one.density, scenario),
            tuple(p for p, own in enumerate(owned) if one.name in own),
        )
        for one in scenario.sensor or ()
    ]


def build_switches(scenario: Scenario) -> list[Switch]:
    """The changes of the world."""
    return [
        Switch(
            at=one.begin,
            workspace=None if one.workspace is None else build_workspace(one.workspace),
            density=None if one.density is None else build_density(one.density, scenario),
            network=None if one.network is None else _network(one.network),
            leave=one.leave or (),
            arrive=np.array(one.arrive or ()),
        )
        for one in scenario.world or ()
    ]


def _network(spec: NetworkSpec) -> Network:
    return Network(**spec.model_dump())


def law_kind(law: object) -> str:
    """The kind of a built-in law in a file; nothing for others."""
    return next((kind for kind, known in LAW_KINDS.items() if type(law) is known), "")


def refuse_unfit(system: CoverageSystem) -> None:
    """Refuse laws and integration that cannot take the world of a system."""
    law = law_kind(system.controller) or system.traits.name
    grid = () if system.spacing is None else (Need.GRID,)
    for need in (*grid, *system.traits.needs):
        system.refuse(need, law)


def build_workspace(spec: WorkspaceSpec) -> Workspace | MovingPolygon:
    """The region."""
    region: Workspace | MovingPolygon = spec.made()
    return region


def build_density(spec: DensitySpec, scenario: Scenario | None = None) -> Density:
    """The weight of places; `scenario` says where files and modules lie, and where on the map."""
    folder = None if scenario is None else scenario.modules
    if isinstance(spec, MixtureSpec):
        return Mixture(tuple(build_density(part, scenario) for part in spec.parts))
    if isinstance(spec, RasterSpec):
        return raster_of(spec, scenario)
    if isinstance(spec, CallableSpec):
        return Function(find_code("density.function", spec.function, folder), spec.function)
    density: Density = spec.made()
    return density


def build_start(
    spec: AgentsSpec, workspace: Workspace, apart: bool = True, units: Units = OPEN
) -> tuple[Points, tuple[str, ...]]:
    """Where the agents start, `apart` or not, and what was repaired."""
    if isinstance(spec.start, ScatterSpec):
        at = spec.start
        region = None if at.region == "workspace" else Box(at.region.lower, at.region.upper)
        return check_start(workspace, scatter(workspace, at.count, at.seed, region))
    return check_start(workspace, spec.start, apart=apart, units=units)


def build_controller(spec: LawSpec, folder: str | None = None) -> Controller:
    """The law: its class takes the keys of its table, and has its own defaults for absent ones."""
    law: Controller = _own_law(spec, folder) if isinstance(spec, PythonSpec) else spec.made()
    return law


def _own_law(spec: PythonSpec, folder: str | None) -> Controller:
    """A law in Python; refused where its class does not take the keys, or is no law."""
    key, given = "controller.class", f"is {shown(spec.law)}, which"
    code = find_code(key, spec.law, folder)
    try:
        made = code(**{name: _frozen(value) for name, value in (spec.model_extra or {}).items()})
    except DwellError:
        raise
    except Exception as fault:
        known = listing(list(getattr(code, "__dataclass_fields__", ())))
        has = f"; its parameters are {known}" if known else ""
        says = f"{given} cannot be made of its keys ({type(fault).__name__}: {fault}){has}"
        raise refused(key, says) from fault
    if not is_law(made):
        needed = "a class with the methods begin(observation) and decide(observation) is needed"
        raise refused(key, f"{given} gives a {type(made).__name__}; {needed}")
    law: Controller = made
    return law


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value

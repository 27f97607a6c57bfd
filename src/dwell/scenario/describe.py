"""From objects to a scenario: a run made in Python can then be kept and repeated like any other.

What a scenario file would refuse of the options of `simulate` is refused here as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from dwell._checks import check_whole
from dwell._parameters import Terms, declaration_of, parameters_of
from dwell._types import Points, finite_number, in_short, is_one_of, is_whole, listed
from dwell.agents import Sensor, Switch
from dwell.agents.network import Network
from dwell.agents.traits import is_law
from dwell.density import (
    DECLARED,
    Density,
    Function,
    Mixture,
    Moving,
    MovingRaster,
    Raster,
)
from dwell.errors import ControllerError, InputError, arriving
from dwell.geometry import MovingPolygon, Workspace
from dwell.scenario.build import law_kind
from dwell.scenario.load import parse_scenario
from dwell.scenario.modules import name_of
from dwell.scenario.places import describe_workspace
from dwell.scenario.rasters import describe_frames, describe_raster
from dwell.scenario.schema import Scenario
from dwell.scenario.tracks import described
from dwell.scenario.values import as_parameter


def describe(
    workspace: Workspace | MovingPolygon,
    density: Density,
    start: Points,
    controller: object,
    run: dict[str, Any],
    ids: tuple[int, ...] | None = None,
    network: Network | None = None,
    switches: Sequence[Switch] = (),
    sensors: Sequence[Sensor] = (),
    radius: tuple[float, ...] | None = None,
) -> Scenario | None:
    """The scenario of these objects; None if a file cannot name one of them."""
    weight, law = describe_density(density), describe_controller(controller)
    worlds = [describe_switch(switch) for switch in switches]
    own = [{"name": one.name, "density": describe_density(one.density)} for one in sensors]
    nameless = any(one["density"] is None for one in own) or (weight is None and not own)
    if nameless or law is None or None in worlds:
        return None
    named = [name_of(type(controller))] if law["kind"] == "python" else []
    others = [*(one.density for one in switches), *(one.density for one in sensors)]
    named += [name_of(one.call) for one in (density, *others) if isinstance(one, Function)]
    folders = {name[1] for name in named if name is not None}
    if len(folders) > 1:  # a scenario has one folder of modules
        return None
    agents: dict[str, Any] = {"start": start.tolist()}
    if ids is not None:
        agents["ids"] = list(ids)
    if radius is not None:
        agents["radius"] = list(radius) if len(set(radius)) > 1 else radius[0]
    count = len(start) + sum(len(switch.arrive) for switch in switches)
    if sensors:
        agents["sensors"] = [[s.name for s in sensors if p in s.owners] for p in range(count)]
    tables: dict[str, Any] = {
        "modules": next(iter(folders), None),
        "workspace": describe_workspace(workspace),
        **({"sensor": own} if own else {"density": weight}),
        "agents": agents,
        "controller": law,
        "run": run,
    }
    if network is not None and not network.perfect:
        tables["network"] = asdict(network)
    if worlds:
        tables["world"] = worlds
    return parse_scenario(tables)


def describe_switch(switch: Switch) -> dict[str, Any] | None:
    """A table of `world`; None if its density cannot be named."""
    table: dict[str, Any] = {"from": switch.at}
    if switch.workspace is not None:
        table["workspace"] = describe_workspace(switch.workspace)
    if switch.density is not None:
        table["density"] = describe_density(switch.density)
    if switch.network is not None:
        table["network"] = asdict(switch.network)
    if switch.leave:
        table["leave"] = list(switch.leave)
    if switch.arrive.size:
        table["arrive"] = switch.arrive.tolist()
    return None if None in table.values() else table


def _described_terms(coefficients: Any) -> Any:
    """The terms of a moving polynomial, with powers as whole numbers: keyframes are all floats."""
    if not isinstance(coefficients, dict):
        return [list(term) for term in coefficients]
    frames = [
        [(*map(int, powers), value) for *powers, value in frame] for frame in coefficients["values"]
    ]
    return coefficients | {"values": frames}


def describe_controller(controller: Any) -> dict[str, Any] | None:
    """The `controller` table; None for a law that a file cannot name.

    Keys at their defaults are left out: they are the same in a file, and some of them belong to a
    choice that was not made. A law in Python is a dataclass that can be imported, of values that
    JSON holds.
    """
    kind = law_kind(controller) or None
    named = name_of(type(controller))
    nameless = named is None or inspect.isclass(controller) or not is_dataclass(controller)
    if kind is None and nameless:
        return None
    values = _values(controller)
    if kind is not None:
        return {"kind": kind, **{key: v for key, (v, default) in values.items() if v != default}}
    assert named is not None
    described = {key: v for key, (v, default) in values.items() if v is not default}
    try:
        as_parameter(described)
    except ValueError:
        return None
    return {"kind": "python", "class": named[0], **described}


def _values(of: Any) -> dict[str, tuple[Any, Any]]:
    """The parameters of a dataclass, each with its value and its default."""
    return {f.name: (getattr(of, f.name), f.default) for f in fields(of) if f.init}


def describe_density(density: Density) -> dict[str, Any] | None:
    """The `density` table; None for a function without an importable name."""
    match density:
        case Raster():
            return describe_raster(density)
        case MovingRaster():
            return describe_frames(density)
        case Mixture(parts=parts):
            tables = [describe_density(part) for part in parts]
            simple = all(t is not None and t["kind"] not in ("callable", "mixture") for t in tables)
            return {"kind": "mixture", "parts": tables} if simple else None
        case Moving(kind=kind, parameters=parameters):
            return _declared_table(kind, parameters)
        case Function(call=call, name=name):
            name = name or (name_of(call) or (None,))[0]
            return None if name is None else {"kind": "callable", "function": name}
        case _ if type(density) in DECLARED:
            return _declared_table(type(density), vars(density))
        case _:
            return None


def _declared_table(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a density whose parameters are declared, from their values."""
    table = {"kind": declaration_of(kind).kind}
    for name, one in parameters_of(kind).items():
        if (value := values.get(name)) is not None:
            terms = isinstance(one.kind, Terms)
            value = described(value)
            table[one.key or name] = _described_terms(value) if terms else value
    return table


def run_table(
    until: float,
    seed: int,
    max_jumps: int,
    spacing: float | None,
    record: str,
    sample_every: float | str | None,
    nu: float | None,
) -> dict[str, Any]:
    """Return the table `run` of a scenario."""
    integration = {"kind": "exact"} if spacing is None else {"kind": "grid", "spacing": spacing}
    samples = {} if sample_every is None else {"sample_every": sample_every}
    return {
        "horizon": until, "seed": seed, "integration": integration,
        "record": {"kind": record, **samples}, "max_jumps": max_jumps,
        **({} if nu is None else {"nu": float(nu)}),
    }  # fmt: skip


def check_ids(ids: object, agents: int, later: int) -> None:
    """Refuse numbers of random streams that are not one per agent."""
    given = listed(ids)
    good = all(is_whole(i) and 0 <= i < 2**31 for i in given)
    if not good or len(given) != agents or len(set(given)) != agents:
        need = f"{agents} different whole numbers from 0 to 2147483647, one per agent"
        need += f"{arriving(later)}, are needed"
        raise InputError(f"ids is {in_short(ids)}; {need}", code="agents.ids", key="agents.ids")


def _check_record(record: object, sample_every: object) -> None:
    if not is_one_of(record, ("events", "samples", "summary")):
        need = 'one of "events", "samples" and "summary" is needed'
        raise InputError(
            f"record is {in_short(record)}; {need}", code="run.record", key="run.record.kind"
        )
    if record == "samples" and is_one_of(sample_every, ("off",)):
        raise InputError(
            'sample_every is "off", which leaves nothing of record = "samples"; use "summary"',
            code="run.samples",
        )


def check_options(
    until: object,
    seed: object,
    spacing: object,
    sample_every: object,
    max_jumps: object,
    threads: object,
    record: object,
    nu: object,
) -> None:
    """Refuse what a scenario file would refuse, also where no file can describe the run."""
    _check_number("until", until, "a time from 0 on", "run.horizon")
    check_whole("seed", seed)
    check_whole("max_jumps", max_jumps, 1)
    check_whole("threads", threads, 1, optional=True)
    if spacing is not None:
        _check_number("spacing", spacing, "a positive length", "integration.spacing", above=True)
    if sample_every is not None and not is_one_of(sample_every, ("off",)):
        need = 'a positive time or "off"'
        _check_number("sample_every", sample_every, need, "run.samples", above=True)
    _check_record(record, sample_every)
    if nu is not None:
        _check_number("nu", nu, "a positive length", "run.nu", above=True)


def check_controller(controller: object) -> None:
    """Refuse what is not a law."""
    if not is_law(controller):
        kind = f"of type {type(controller).__name__}"
        if inspect.isclass(controller):
            kind = f"the class {controller.__name__}"
        raise ControllerError(
            f"the controller is {kind}; an object with the methods "
            "begin(observation) and decide(observation) is needed, such as dwell.Timer(...)",
            code="controller.kind",
        )


def check_tables(name: str, given: object, kind: type, alone: bool = True) -> None:
    """Refuse what is not a list of switches or sensors, and sensors that are not `alone`."""
    for one in listed(given):
        if not isinstance(one, kind):
            need = f"a list of dwell.{kind.__name__}(...) is needed"
            raise InputError(f"{name} has {in_short(one)}; {need}", code="world", key=name)
    if listed(given) and not alone:
        raise InputError(
            "a density was given beside sensors, which have their own; leave it out, as None",
            code="sensor.density",
            key="density",
        )


def _check_number(name: str, value: object, need: str, code: str, above: bool = False) -> None:
    number = finite_number(value)
    if number is None or number < 0.0 or (above and number == 0.0):
        raise InputError(f"{name} is {in_short(value)}; {need} is needed", code=code)

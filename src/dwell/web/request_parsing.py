"""From the bytes of a request to a checked scenario; harmful input is refused before parsing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dwell.errors import AgentsError, DensityError, InputError, ScenarioError, WorkspaceError
from dwell.scenario import Scenario, parse_scenario, text_to_mapping
from dwell.scenario.guards import TOKEN, decode
from dwell.scenario.places import DENSITY_TABLES, PolytopeSpec, WorkspaceSpec
from dwell.web.limits import Limits

# Densities that are data. A function would be code, and a raster may be a file of this machine, or
# by its digest one of another request.
DENSITIES = (*DENSITY_TABLES, "mixture")
NAMES = ("file", "path", "sha256")
# Systems of degrees whose local frames a request may name: WGS 84, ETRS89 and NAD83.
DEGREES = ("EPSG:4326", "OGC:CRS84", "EPSG:4258", "EPSG:4269")
LONGEST_SYSTEM = 3_000  # characters of the text of a coordinate system
HIGH, MOST_FACES = 4, 1e6  # dimensions from which polytopes may have very many faces


def checked_text(raw: bytes, limits: Limits) -> str:
    """Return the text of a body within the limits on length, nesting and numbers."""
    if len(raw) > limits.body:
        raise ScenarioError(
            f"the request has {len(raw)} bytes; at most {limits.body} are read",
            code="web.too-large",
        )
    text = decode(raw, source="the request")
    _check_shape(text, limits)
    return text


def _check_shape(text: str, limits: Limits) -> None:
    depth = numbers = 0
    for token in TOKEN.finditer(text):
        mark = token["mark"] or ""
        numbers += token["number"] is not None
        depth = max(depth + (mark in ("[", "{")) - (mark in ("]", "}")), 0)
        if numbers > limits.numbers:
            says = f"the request may have at most {limits.numbers} numbers, got more"
            raise ScenarioError(says, code="web.too-many-numbers")
        if depth > limits.depth:
            says = f"the request may have at most {limits.depth} nested brackets, got more"
            raise ScenarioError(says, code="web.too-deep")


def mapping_of_json(text: str) -> dict[str, Any]:
    """Return the JSON object in a body."""
    if not text.lstrip().startswith("{"):
        raise ScenarioError(
            "the request must be a JSON object, {...}, that describes a scenario; "
            "GET /api/templates has examples",
            code="scenario.type",
        )
    return text_to_mapping(text, source="the request")


def scenario_of(mapping: Mapping[str, Any], limits: Limits) -> Scenario:
    """Return the scenario of a mapping, if it holds no code and is within limits."""
    _refuse_code(mapping.get("density"), "density")
    for name in ("world", "sensor"):
        tables = mapping.get(name)
        for k, table in enumerate(tables if isinstance(tables, list) else [tables]):
            if isinstance(table, Mapping):
                _refuse_code(table.get("density"), f"{name}[{k}].density")
    table = mapping.get("controller")
    if isinstance(table, Mapping) and table.get("kind") == "python":
        raise InputError(
            'controller.kind is "python", which a server does not take: requests hold no code; use '
            "one of the other laws, or the command line",
            code="web.controller",
            key="controller.kind",
        )
    if mapping.get("modules") is not None:
        raise InputError(
            "modules names a folder, which a server does not take: requests hold no paths",
            code="web.modules",
            key="modules",
        )
    _refuse_site(mapping.get("site"), "workspace" in mapping)
    _refuse_horizon(mapping.get("run"), limits)
    _refuse_changes(mapping, limits)
    scenario = parse_scenario(mapping)
    if scenario.agent_count > limits.agents:
        raise AgentsError(
            f"{scenario.agent_count} agents are asked for; this server takes at most "
            f"{limits.agents}: take fewer, or use dwell run",
            code="web.agents",
            key="agents.start",
        )
    _refuse_facets(scenario.workspace, "workspace")
    for k, world in enumerate(scenario.world or ()):
        if world.workspace is not None:
            _refuse_facets(world.workspace, f"world[{k}].workspace")
    return scenario


def _refuse_site(site: object, placed: bool) -> None:
    """Refuse a site that would be read from a file; one that only names its place is data."""
    if site is None or (placed and isinstance(site, Mapping) and names_its_place(site)):
        return
    raise InputError(
        "site names a file, which a server does not take: requests hold no paths; give its "
        "outline as the workspace, or use the command line",
        code="web.site",
        key="site",
    )


def names_its_place(site: Mapping[str, Any]) -> bool:
    """Whether a site has the plain name of a file, which is not read, and a system without files.

    A system may be a code of EPSG, or a local frame as dwell itself writes it: other texts could
    name files of grids.
    """
    if not set(site) <= {"file", "crs", "stay"} or not isinstance(site.get("stay", False), bool):
        return False
    file, crs = site.get("file"), site.get("crs")
    if not isinstance(file, str) or not isinstance(crs, str):
        return False
    if not re.fullmatch(r"[\w ()+-][\w .()+-]{0,90}", file):
        return False
    if re.fullmatch(r"EPSG:\d{4,6}", crs):
        return True
    origin = re.search(r'"Latitude of natural origin",([-+.\de]+),.*"Longitude of natural origin",'
                       r"([-+.\de]+),", crs)  # fmt: skip
    if origin is None or len(crs) > LONGEST_SYSTEM:
        return False
    from dwell.sites import Frame

    try:
        longitude, latitude = float(origin[2]), float(origin[1])
        return any(Frame.about(longitude, latitude, base).crs == crs for base in DEGREES)
    except ValueError:
        return False


def _refuse_code(density: object, key: str) -> None:
    """Refuse densities by function before parsing, which would import the function."""
    if not isinstance(density, Mapping):
        return
    kind = density.get("kind")
    own = "inline" in density and not any(name in density for name in NAMES)
    if kind == "callable" or (kind == "raster" and not own):
        raise DensityError(
            f'{key}.kind is "{kind}", which a server does not take: requests hold neither code '
            f"nor files; use one of {', '.join(DENSITIES)}, a raster with its values as inline, or "
            "the command line",
            code="web.density",
            key=f"{key}.kind",
        )
    parts = density.get("parts")
    if isinstance(parts, list):
        for k, part in enumerate(parts):
            _refuse_code(part, f"{key}.parts[{k}]")


def _refuse_changes(mapping: Mapping[str, Any], limits: Limits) -> None:
    """Refuse too many worlds, sensors and keyframes before parsing, which checks each of them."""
    tables = [mapping.get(name) for name in ("workspace", "density", "world", "sensor")]
    counts = {
        "world": (_length(mapping.get("world")), limits.worlds, "switches of the world"),
        "sensor": (_length(mapping.get("sensor")), limits.sensors, "sensors"),
        "times": (sum(map(_keyframes, tables)), limits.keyframes, "keyframes in all"),
    }
    for key, (count, most, what) in counts.items():
        if count > most:
            raise InputError(
                f"the scenario has {count} {what}; this server takes at most {most}: take fewer, "
                "or use dwell run",
                code="web.world",
                key=key,
            )


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _keyframes(value: object) -> int:
    """How many keyframes a table has, those in tables within it included."""
    if isinstance(value, Mapping):
        return _length(value.get("times")) + sum(map(_keyframes, value.values()))
    if isinstance(value, list):
        return sum(_keyframes(one) for one in value if isinstance(one, list | Mapping))
    return 0


def _refuse_facets(region: WorkspaceSpec, key: str) -> None:
    """Refuse polytopes whose k rows give about k^(n // 2) vertices or facets, too many."""
    if not isinstance(region, PolytopeSpec) or region.dimension < HIGH:
        return
    given = len(region.vertices or region.halfspaces or ())
    if given ** (region.dimension // 2) > MOST_FACES:
        most = int(MOST_FACES ** (1.0 / (region.dimension // 2)))
        key += ".vertices" if region.vertices else ".halfspaces"
        raise WorkspaceError(
            f"{key} has {given} rows in {region.dimension} dimensions; this server takes at most "
            f"{most} there: take fewer, a box or a ball, or use dwell run",
            code="web.workspace",
            key=key,
        )


def _refuse_horizon(run: object, limits: Limits) -> None:
    """Refuse a long horizon first: it causes other errors that are harder to understand."""
    horizon = run.get("horizon") if isinstance(run, Mapping) else None
    if isinstance(horizon, int | float) and horizon > limits.horizon:
        raise InputError(
            f"run.horizon is {horizon:g}; this server takes at most {limits.horizon:g}: take "
            "less, or use dwell run",
            code="web.horizon",
            key="run.horizon",
        )


def refuse_events(expected: float | None, horizon: float, limits: Limits) -> None:
    """Refuse a run that would make too many events."""
    if expected is not None and expected > limits.events:
        most = horizon * limits.events / expected
        raise InputError(
            f"this run would make about {expected:.2g} events; this server takes at most "
            f"{limits.events:.2g}: take a horizon of about {most:.2g}, fewer agents or longer "
            "waits, or use dwell run",
            code="web.events",
            key="run.horizon",
        )

"""The `site` table: an outline from a map file, which becomes the workspace when it is loaded."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from dwell._units import METRIC, OPEN
from dwell._units import Units as Units
from dwell.errors import ScenarioError

from .problems import needs
from .values import Positive, Table, Text, Whole, doc, listed

if TYPE_CHECKING:
    from dwell.sites import Site

DEGREES = "degrees"
STAND_IN = {"kind": "box", "lower": [0.0, 0.0], "upper": [1.0, 1.0]}  # while the rest is checked


def as_epoch(value: object) -> str:
    """An instant as text, from a date and time of TOML or ISO 8601; UTC if it has no zone."""
    try:
        found = value if isinstance(value, datetime.datetime) else None
        found = found or datetime.datetime.fromisoformat(str(value))
    except ValueError as bad:
        raise needs('a date and time, such as "2026-05-01T06:00:00Z"', "site.epoch") from bad
    zoned = found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found
    return zoned.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")


def _as_feature(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise needs('the number of a feature, or text such as "name=North basin"')
    return value


def _as_name(value: object) -> object:
    if not isinstance(value, str):
        raise needs("the name of a file in quotes")
    return value


class SiteSpec(Table):
    """An outline from a map file; metres and seconds are then the units of the scenario."""

    file: Annotated[str, Field(min_length=1), BeforeValidator(_as_name)] = doc(
        "the map file (GeoJSON, GeoPackage or Shapefile), relative to the scenario file"
    )
    layer: Text | None = doc("its layer; the only one if absent", None)
    feature: Annotated[Whole | Text, BeforeValidator(_as_feature)] | None = doc(
        'its feature: the number from 0, or "key=value"; the only one if absent', None
    )
    stay: bool = doc("whether agents keep inside an outline that is not convex", False)
    densify: Positive | None = doc(
        "add vertices along sides in degrees, at most so many metres apart", None
    )
    simplify: Positive | None = doc(
        "leave out vertices that move the outline by at most so many metres", None
    )
    frame: Text | None = doc(
        "the system in metres that degrees are mapped to, such as that of a raster, "
        '"EPSG:32631"; a local one if absent',
        None,
    )
    epoch: Annotated[str, BeforeValidator(as_epoch)] | None = doc(
        "the date and time of t = 0, for exports; 1970-01-01T00:00:00Z if absent", None
    )
    crs: str | None = doc("the coordinate system of the workspace; set when it is loaded", None)
    sha256: str | None = doc("the digest of the file; set when it is loaded", None)
    repairs: Annotated[tuple[str, ...], listed("a list of sentences")] | None = doc(
        "what was repaired in the outline; set when it is loaded", None
    )
    notes: Annotated[tuple[str, ...], listed("a list of sentences")] | None = doc(
        "inaccuracies of the projection; set when it is loaded", None
    )


def units_at(site: SiteSpec | None) -> Units:
    """Metres and seconds at a site; left open without one."""
    return OPEN if site is None else METRIC


def with_site(
    mapping: Mapping[str, Any],
    folder: str | os.PathLike[str],
    check: Callable[[Mapping[str, Any]], Any],
) -> Mapping[str, Any]:
    """`mapping` with the workspace that its site gives; itself without a site, or if it has that.

    The file is relative to `folder`; `check` parses a mapping, and refuses what is wrong in it.
    """
    table = mapping.get("site")
    if not isinstance(table, Mapping) or table.get("crs") is not None:
        return mapping
    if "workspace" in mapping:
        says = "cannot be given beside [site], whose outline is the workspace; keep one of the two"
        raise ScenarioError(f"workspace {says}", code="site.workspace", key="workspace")
    given = check({**mapping, "workspace": STAND_IN}).site
    from dwell.sites import Site

    from .describe import describe_workspace

    path = os.path.abspath(os.path.join(folder, given.file))
    names = ("layer", "feature", "stay", "densify", "simplify", "frame")
    site = Site.read(path, **{name: getattr(given, name) for name in names})
    found: dict[str, Any] = {"file": path, "crs": site.frame.crs, "sha256": site.digest}
    found |= {name: list(getattr(site, name)) for name in ("repairs", "notes")}
    if _fits_as_degrees(mapping["agents"], site):
        says = "read as degrees, all start positions lie in the outline, but they are read as "
        says += "metres; give agents.coordinates = "
        if not site.workspace.contains(mapping["agents"]["start"]).any():
            key = "agents.start"
            raise ScenarioError(f'{key}: {says}"degrees"', code="site.coordinates", key=key)
        found["notes"].append(f'{says}"degrees" or "metres"')
    tables: dict[str, Any] = {**mapping, "workspace": describe_workspace(site.workspace)}
    tables["site"] = {**given.model_dump(exclude_none=True), **found}
    return _in_metres(tables, site.frame.from_map)


def _in_metres(tables: dict[str, Any], from_map: Callable[[Any], Any]) -> dict[str, Any]:
    """Tables with the positions of agents in metres, where they are in degrees."""
    agents = dict(tables["agents"])
    if agents.pop("coordinates", None) != DEGREES:
        return tables
    if isinstance(agents["start"], Mapping):
        says = "is for given positions; agents drawn at random are drawn in metres: leave it out"
        key = "agents.coordinates"
        raise ScenarioError(f'{key} = "{DEGREES}" {says}', code="site.coordinates", key=key)
    agents["start"] = from_map(agents["start"]).tolist()
    worlds = [
        {**one, "arrive": from_map(one["arrive"]).tolist()} if one.get("arrive") else one
        for one in tables.get("world") or ()
    ]
    return {**tables, "agents": agents, **({"world": worlds} if worlds else {})}


def _fits_as_degrees(agents: Mapping[str, Any], site: Site) -> bool:
    """Whether positions without a unit would lie in the bounds of the outline as degrees."""
    if isinstance(agents["start"], Mapping) or agents.get("coordinates") is not None:
        return False
    points, (lower, upper) = site.frame.from_map(agents["start"]), site.workspace.bounds
    return bool(((points >= lower) & (points <= upper)).all())

"""The `site` table: an outline from a map file, which becomes the workspace when it is loaded."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from dwell._units import METRIC, OPEN
from dwell._units import Units as Units
from dwell.errors import ScenarioError

from .problems import needs
from .values import Positive, Table, Text, Whole, doc, listed, numbers_validator

if TYPE_CHECKING:
    from dwell.sites import Site

DEGREES = "degrees"
OPTIONS = (
    "layer", "feature", "repair", "clip", "parts", "stay", "densify", "simplify", "frame",
)  # of `Site.read`, beside `crs`  # fmt: skip
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
    every = value if isinstance(value, list | tuple) and value else [value]
    if any(isinstance(one, bool) or not isinstance(one, int | str) for one in every):
        raise needs('the number of a feature, text such as "name=North basin", or a list of these')
    return tuple(value) if isinstance(value, list) else value


def _as_parts(value: object) -> object:
    every = value if isinstance(value, list | tuple) and value else [value]
    if value != "largest" and any(isinstance(k, bool) or not isinstance(k, int) for k in every):
        raise needs('"largest", the number of a part from 0, the largest, or a list of numbers')
    return tuple(value) if isinstance(value, list) else value


def _as_name(value: object) -> object:
    if not isinstance(value, str):
        raise needs("the name of a file in quotes")
    return value


class SiteSpec(Table):
    """An outline from a map file; metres and seconds are then the units of the scenario."""

    file: Annotated[str, Field(min_length=1), BeforeValidator(_as_name)] = doc(
        "the map file (GeoJSON, TopoJSON, GeoPackage, FlatGeobuf, Shapefile, or a zip of these), "
        "relative to the scenario file"
    )
    layer: Text | None = doc("its layer; the only one if absent", None)
    feature: (
        Annotated[Whole | Text | tuple[Whole | Text, ...], BeforeValidator(_as_feature)] | None
    ) = doc(
        'its feature: the number from 0, or "key=value"; a list of these, or "all", are dissolved; '
        "the only one if absent",
        None,
    )
    repair: bool = doc(
        "make an outline valid whose rings cross, if that hardly changes its area", False
    )
    clip: (
        Annotated[
            tuple[float, float, float, float],
            numbers_validator("[west, south, east, north], four numbers", "site.clip", 4, 4),
        ]
        | None
    ) = doc("keep what lies in [west, south, east, north], in the coordinates of the file", None)
    parts: (
        Annotated[Literal["largest"] | Whole | tuple[Whole, ...], BeforeValidator(_as_parts)] | None
    ) = doc('keep "largest", or parts by their numbers from 0, the largest first', None)
    stay: bool = doc("whether agents keep inside an outline that is not convex", False)
    densify: Positive | None = doc(
        "add vertices along sides that are mapped, at most so many metres apart", None
    )
    simplify: Positive | None = doc(
        "leave out vertices that move the outline by at most so many metres", None
    )
    frame: Text | None = doc(
        "the system in metres that coordinates are mapped to, such as that of a raster, "
        '"EPSG:32631"; a local one if absent, or that of the file if it is in metres',
        None,
    )
    epoch: Annotated[str, BeforeValidator(as_epoch)] | None = doc(
        "the date and time of t = 0, for exports; 1970-01-01T00:00:00Z if absent", None
    )
    crs: str | None = doc(
        "the system of the file's coordinates, where the file does not name it; once the scenario "
        "is loaded, that of the workspace",
        None,
    )
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


def with_stand_in(mapping: Mapping[str, Any]) -> dict[str, Any] | None:
    """`mapping` with any workspace in place of that of its site; None where no site is to be read.

    What is wrong in it can then be found before the map file is read.
    """
    table = mapping.get("site")
    if not isinstance(table, Mapping) or (table.get("crs") and "workspace" in mapping):
        return None
    if "workspace" in mapping:
        says = "cannot be given beside [site], whose outline is the workspace; keep one of the two"
        raise ScenarioError(f"workspace {says}", code="site.workspace", key="workspace")
    stated = {key: value for key, value in table.items() if key != "crs"}
    return {**mapping, "site": stated, "workspace": STAND_IN}


def with_outline(
    mapping: Mapping[str, Any], spec: SiteSpec, folder: str | os.PathLike[str]
) -> dict[str, Any]:
    """`mapping` with the workspace that its site gives, whose file is relative to `folder`."""
    from dwell.sites import Site

    from .places import describe_workspace

    path = os.path.abspath(os.path.join(folder, spec.file))
    keys = {name: getattr(spec, name) for name in OPTIONS}
    site = Site.read(path, **keys, crs=mapping["site"].get("crs"))
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
    tables["site"] = {**spec.model_dump(exclude_none=True), **found}
    return _in_metres(tables, site)


def _in_metres(tables: dict[str, Any], site: Site) -> dict[str, Any]:
    """Tables with the positions of agents in metres, where they are in degrees."""
    agents = dict(tables["agents"])
    if agents.pop("coordinates", None) != DEGREES:
        return tables
    if isinstance(agents["start"], Mapping):
        says = "is for given positions; agents drawn at random are drawn in metres: leave it out"
        key = "agents.coordinates"
        raise ScenarioError(f'{key} = "{DEGREES}" {says}', code="site.coordinates", key=key)
    agents["start"] = _placed(agents["start"], "agents.start", site)
    worlds = [
        {**one, "arrive": _placed(one["arrive"], f"world[{k}].arrive", site)}
        if one.get("arrive")
        else one
        for k, one in enumerate(tables.get("world") or ())
    ]
    return {**tables, "agents": agents, **({"world": worlds} if worlds else {})}


def _placed(points: Any, key: str, site: Site) -> list[list[float]]:
    """Points in degrees in metres; refused where one is far from the site, as exchanged ones are.

    How far outside a nearer one is, those say who place the agents.
    """
    given = np.asarray(points, dtype=np.float64)
    found, swapped = (site.frame.transform(table) for table in (given, given[:, ::-1]))
    (lower, upper), far = site.workspace.bounds, site.workspace.diameter
    for k, place in enumerate(found):
        if ((place >= lower - far) & (place <= upper + far)).all():
            continue
        longitude, latitude = given[k].tolist()
        about = site.frame.to_map(0.5 * (lower + upper))[0]
        says = f"{key}[{k}] is longitude {longitude:.9g}, latitude {latitude:.9g}, far from the "
        says += f"site about longitude {about[0]:.6g}, latitude {about[1]:.6g}"
        if ((swapped[k] >= lower - far) & (swapped[k] <= upper + far)).all():
            says += "; exchanged it is there: give longitude first, then latitude"
        else:
            says += "; give longitude and latitude in degrees within the site"
        raise ScenarioError(says, code="site.start", key=f"{key}[{k}]")
    return list(found.tolist())


def _fits_as_degrees(agents: Mapping[str, Any], site: Site) -> bool:
    """Whether positions without a unit would lie in the bounds of the outline as degrees."""
    if isinstance(agents["start"], Mapping) or agents.get("coordinates") is not None:
        return False
    points, (lower, upper) = site.frame.transform(agents["start"]), site.workspace.bounds
    return bool(((points >= lower) & (points <= upper)).all())

"""Rasters that a scenario names: reading them, and which ones a run was made with.

The key `sha256` identifies the values and their place. A raster that a run has used, or that came
in a run's own file, is found by it without reading the raster's file again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from dwell.density import MovingRaster, Raster
from dwell.density.moving_raster import check_frames
from dwell.errors import DensityError
from dwell.geometry import Box, MovingPolygon, Workspace
from dwell.sites import Frame
from dwell.sites.rasters import changed, read_raster

from .places import MixtureSpec
from .problems import shown
from .raster_table import RasterSpec
from .tracks import FileKeyframes

if TYPE_CHECKING:
    from .schema import Scenario

_KNOWN: WeakValueDictionary[str, Raster] = WeakValueDictionary()  # by digest
_LATEST: deque[object] = deque(maxlen=2)  # kept from when their digest is taken to when they run


def keep(raster: Raster) -> Raster:
    """Return the raster after entering it among those that are known by their digest."""
    _LATEST.append(raster)
    return _KNOWN.setdefault(raster.digest, raster)


def known_raster(sha256: object) -> Raster | None:
    """The raster with this digest, if some run or system holds it."""
    return _KNOWN.get(sha256) if isinstance(sha256, str) else None


def raster_of(spec: RasterSpec, scenario: Scenario | None) -> Raster | MovingRaster:
    """The raster of a table of `scenario`, beside whose file that of the raster lies."""
    rasters = [_one_raster(frame, scenario) for frame in spec.frames()]
    if not isinstance(spec.file, FileKeyframes):
        return rasters[0]
    track = spec.file
    check_frames(rasters, spec.files)
    return MovingRaster(track.times, rasters, between=track.between, after=track.after)


def _one_raster(spec: Any, scenario: Scenario | None) -> Raster:
    """The raster of a table without keyframes."""
    known = known_raster(spec.sha256)
    if known is not None:
        return known
    if spec.file is None:
        return _placed(np.array(spec.inline, dtype=np.float64), spec)
    folder = None if scenario is None else scenario.modules
    raster = _read(spec, spec.file, Path(folder or "", spec.file), scenario)
    if spec.sha256 is not None and raster.digest != spec.sha256:
        raise DensityError(
            f"density.file is {shown(spec.file)}, whose values or place are not those that "
            f"density.sha256 names, {spec.sha256[:12]}...; put the file back as it was, or leave "
            "out sha256 for a new run",
            code="density.changed",
            key="density.file",
        )
    return keep(raster)


def _options(spec: RasterSpec) -> dict[str, Any]:
    return {
        "interpolation": spec.interpolation,
        "amounts": spec.values == "amount",
        "nodata": spec.nodata,
        "outside": spec.outside,
        "coarsen": spec.coarsen,
    }


def _placed(values: np.ndarray, spec: RasterSpec) -> Raster:
    """The raster of values whose place is in the table."""
    given: Any = spec  # origin, pixel and rows are there: see places.py
    pixel = given.pixel[0] if len(given.pixel) == 1 else given.pixel
    place = {"origin": given.origin, "pixel": pixel, "rows": given.rows, "axes": given.axes}
    if spec.scale != 1.0 or spec.clip is not None:
        values = changed(values, spec.scale, spec.clip)
    return Raster(values, **place, **_options(spec))


def _read(spec: RasterSpec, file: str, path: Path, scenario: Scenario | None) -> Raster:
    if not path.is_file():
        raise _refused(f"is {shown(file)}, but there is no file {shown(str(path))}")
    if path.suffix.lower() == ".npy":
        try:
            values = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError):
            raise _refused(f"is {shown(file)}, which is no array of NumPy (.npy)") from None
        return _placed(values, spec)
    if scenario is None:
        raise _refused(f"is {shown(file)}, which needs the scenario that names it")
    names = ("origin", "pixel", "band", "variable", "time", "scale", "clip")
    options = {**{name: getattr(spec, name) for name in names}, **_options(spec)}
    frame, workspace = _place_of(scenario)
    return read_raster(path, frame, workspace, **options)


def _place_of(scenario: Scenario) -> tuple[Frame | None, Workspace]:
    """The frame of a scenario, and its workspace; a box around all, if it changes."""
    from .build import build_workspace

    site, specs = scenario.site, [scenario.workspace]
    specs += [one.workspace for one in scenario.world or () if one.workspace is not None]
    frame = None if site is None or site.crs is None else Frame(site.crs)
    regions = [build_workspace(spec) for spec in specs]
    if len(regions) == 1 and not isinstance(regions[0], MovingPolygon):
        return frame, regions[0]
    corners = [
        (one.vertices.values if isinstance(one, MovingPolygon) else np.array(one.bounds))
        for one in regions
    ]
    every = np.vstack([np.reshape(one, (-1, 2)) for one in corners])
    return frame, Box(every.min(axis=0).tolist(), every.max(axis=0).tolist())


def _refused(says: str) -> DensityError:
    return DensityError(f"density.file {says}", code="density.file", key="density.file")


def describe_raster(raster: Raster) -> dict[str, Any]:
    """The `density` table of a raster in memory, which is known by its digest."""
    keep(raster)
    table: dict[str, Any] = {
        "kind": "raster",
        "file": f"raster-{raster.digest[:12]}.npy",
        "origin": list(raster.origin),
        "pixel": list(raster.sides),
        "rows": raster.rows,
        "interpolation": raster.interpolation,
        "values": "amount" if raster.amounts else "density",
        "axes": [list(row) for row in raster.axes],
        "sha256": raster.digest,
    }
    return table if raster.outside is None else {**table, "outside": raster.outside}


def describe_frames(moving: MovingRaster) -> dict[str, Any]:
    """The `density` table of rasters on keyframes, known by their digests."""
    tables = [describe_raster(one) for one in moving.rasters]
    frames = {field.name: getattr(moving.frames, field.name) for field in fields(moving.frames)}
    frames |= {"values": tuple(table["file"] for table in tables)}
    file = {name: value for name, value in frames.items() if value is not None}
    return {**tables[0], "file": file, "sha256": [table["sha256"] for table in tables]}


def raster_from(table: Mapping[str, Any], values: np.ndarray) -> Raster:
    """The raster that `describe_raster` described, of its values; kept under its digest."""
    names = ("origin", "pixel", "rows", "interpolation", "axes")
    options: dict[str, Any] = {name: table[name] for name in names}
    amounts, outside = table["values"] == "amount", table.get("outside")
    return keep(Raster(values, amounts=amounts, outside=outside, **options))


def raster_tables(scenario: Scenario) -> Iterator[RasterSpec]:
    """The tables of all rasters that a scenario names, those of keyframes singly."""
    given = [scenario.density]
    given += [one.density for one in scenario.world or () if one.density is not None]
    given += [one.density for one in scenario.sensor or ()]
    for spec in given:
        for part in spec.parts if isinstance(spec, MixtureSpec) else (spec,):
            if isinstance(part, RasterSpec):
                yield from part.frames()


def unit_remarks(scenario: Scenario) -> list[str]:
    """What the values of rasters count as, where the scenario does not say it."""
    area = "unit of area" if scenario.site is None else "square metre"
    return [
        f'the values of {spec.file} count per {area}; values = "amount" is for totals per pixel'
        for spec in raster_tables(scenario)
        if spec.file is not None and "values" not in spec.model_fields_set
    ]


def pinned(scenario: Scenario) -> Scenario:
    """`scenario` with the digests of its rasters in files, so that a changed file is noticed."""
    if all(spec.sha256 or spec.inline for spec in raster_tables(scenario)):
        return scenario
    changes: dict[str, Any] = {"density": _pinned(scenario.density, scenario)}
    for name in ("world", "sensor"):
        tables: Any = getattr(scenario, name)
        if tables is not None:
            changes[name] = tuple(
                one.model_copy(update={"density": _pinned(one.density, scenario)}) for one in tables
            )
    return scenario.model_copy(update=changes)


def _pinned(spec: Any, scenario: Scenario) -> Any:
    if isinstance(spec, MixtureSpec):
        return spec.model_copy(update={"parts": tuple(_pinned(p, scenario) for p in spec.parts)})
    if not isinstance(spec, RasterSpec) or spec.sha256 or spec.inline:
        return spec
    made = raster_of(spec, scenario)
    _LATEST.append(made)
    if isinstance(made, Raster):
        return spec.model_copy(update={"sha256": made.digest})
    return spec.model_copy(update={"sha256": tuple(one.digest for one in made.rasters)})

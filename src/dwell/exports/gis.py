"""A run as layers of a map: region, cells, agents, paths and events."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dwell._checks import check_whole
from dwell._types import Floats, in_short, lengths
from dwell.cells.tessellation import Tessellation
from dwell.errors import InputError
from dwell.exports.epoch import beginning_of
from dwell.exports.scene_shapes import cell_ring, cells_at
from dwell.geometry import Curved, Region, Workspace
from dwell.geometry.outlines import outline_of
from dwell.plotting.worlds import lives
from dwell.results import Run, RunLike, as_run
from dwell.results.files import check_target, written_whole
from dwell.sites import Frame
from dwell.sites.frames import unsuited
from dwell.sites.layers import Layer, driver_of, write_layers
from dwell.sites.outlines import shape_of, shapely

AREAS = "MultiPolygon"  # the type of all features of a layer of areas
CURVED = 16  # chords of a path that is a cubic between two events


def export_gis(
    run: RunLike,
    path: str | os.PathLike[str],
    *,
    frames: int = 2,
    frame: Frame | None = None,
    epoch: str | None = None,
    force: bool = False,
) -> Path:
    """Write a run as a map: a GeoPackage (.gpkg) in metres, or GeoJSON (.geojson) in degrees.

    The layers are region, cells, agents, paths and events; the last two need the events of the run.
    Each feature has the times t0 and t1 in seconds, and begins and ends as dates, which the
    temporal controller of QGIS reads. In GeoJSON the layer is a property of each feature.

    Parameters
    ----------
    run : Run, str or path
        The run, or its .nc file.
    path : str or path
        The map to write; its ending, .gpkg or .geojson, chooses the format.
    frames : int
        At how many times, evenly spaced from the start to the end, cells and agents are written.
    frame : Frame, optional
        The coordinate system of the run; by default that of the site in its scenario.
    epoch : str, optional
        The date and time of t = 0; by default that of the site, or 1970-01-01T00:00:00Z.
    force : bool
        Replace a map that exists.

    Returns
    -------
    Path
        Where the map was written.

    Examples
    --------
    >>> import dwell
    >>> dwell.export_gis("bay.nc", "bay.gpkg").name  # doctest: +SKIP
    'bay.gpkg'
    """
    check_whole("frames", frames, 1, "export")
    run, target = as_run(run), check_target(path, force=force)
    driver_of(target)
    site = None if run.scenario is None else run.scenario.site
    if frame is not None and not isinstance(frame, Frame):
        says = (
            f"the frame is {in_short(frame)}; a dwell.Frame is needed, such as Frame('EPSG:32631')"
        )
        raise InputError(says, code="export.frame", key="site")
    if frame is None and (site is None or site.crs is None):
        says = "this run has no place on the Earth; run a scenario with a [site], or give frame=..."
        raise InputError(says, code="export.frame", key="site")
    if run.workspace.dimension != 2:
        raise InputError("a map needs a run in the plane", code="export.dimension", key="workspace")
    chosen = frame or Frame(str(site.crs) if site is not None else "")
    _check_frame(run, chosen)
    zero = beginning_of(epoch, site)
    layers = [one for one in layers_of(run, frames, zero) if len(one.shapes)]
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".dwell-") as folder:
        made = Path(folder, target.name)
        write_layers(made, layers, chosen)
        with written_whole(target) as temporary:
            os.replace(made, temporary)
    return target


def _check_frame(run: Run, frame: Frame) -> None:
    """Refuse a frame in which the coordinates of the run are not metres on the ground."""
    corners = np.array(run.workspace.bounds)
    if why := unsuited(frame.system, np.vstack([corners, corners.mean(axis=0)])):
        says = f"frame is {frame.crs!r}, which {why}, about {corners[0].tolist()} of this run; the "
        raise InputError(f"{says}frame of its site is needed", code="export.frame", key="site")


def layers_of(run: Run, frames: int, zero: np.datetime64) -> Iterator[Layer]:
    """The layers of a run, with its cells and agents at so many times; `zero` is that of t = 0."""
    lib = shapely()
    times = np.linspace(0.0, run.horizon, frames) if frames > 1 else np.array([run.horizon])
    ends = np.append(times[1:], run.horizon)
    regions = [_shape(run.world(t).workspace) for t in times]
    moves = any(not lib.equals_exact(one, regions[0]) for one in regions)
    some = slice(None) if moves else slice(1)
    spans = (times, ends) if moves else (np.zeros(1), np.full(1, run.horizon))
    areas = lib.area(regions[some])
    columns = {"area": areas, **_times(*spans, zero)}
    yield Layer("region", AREAS, [_areas(one) for one in regions[some]], columns)
    yield from _snapshots(run, times, ends, zero)
    if run.details.table is not None:
        yield _paths(run, zero)
        table, points = run.events, lib.points(run.events.positions)
        known = {"error": lengths(table.errors), "neighbors": table.neighbors}
        spans = table.time, table.time
        yield Layer(
            "events", "Point", points, {"agent": table.agent, **known, **_times(*spans, zero)}
        )


def _shape(workspace: Workspace) -> Any:
    """A workspace as shapely has it; a curved one by chords."""
    curved = isinstance(workspace, Curved)
    return shapely().Polygon(outline_of(workspace)) if curved else shape_of(workspace)


def _areas(shape: Any) -> Any:
    """The polygons of a shape as a multipolygon, without lines and points where it touches."""
    lib = shapely()
    parts = lib.get_parts(shape)
    return lib.multipolygons(parts[lib.get_dimensions(parts) == 2])


def _snapshots(run: Run, times: Floats, ends: Floats, zero: np.datetime64) -> Iterator[Layer]:
    """The cells and the agents at some times."""
    rows: dict[str, list[Any]] = {"cells": [], "agents": []}
    for t, end in zip(times.tolist(), ends.tolist(), strict=True):
        positions, region = run.positions(t), _shape(run.world(t).workspace)
        for name, agents, cells, _ in cells_at(run.system, t, positions):
            errors = run.errors(t)[agents]
            for k, shape in enumerate(_cut(cells, region)):
                row = (int(agents[k]), float(cells.masses[k]), float(errors[k]), name, t, end)
                rows["agents"].append((shapely().Point(positions[agents[k]]), *row))
                if not shape.is_empty:
                    rows["cells"].append((_areas(shape), *row))
    for layer, kind in (("cells", AREAS), ("agents", "Point")):
        if not rows[layer]:
            continue
        shapes, agent, mass, error, sensor, begins, until = zip(*rows[layer], strict=True)
        own = {"agent": np.array(agent), "mass": np.array(mass), "error": np.array(error)}
        if run.system.sensors:
            own["sensor"] = np.array(sensor, dtype=object)
        yield Layer(layer, kind, shapes, own | _times(begins, until, zero))


def _cut(cells: Tessellation, region: Any) -> list[Any]:
    """The cells as shapely has them, cut by the region where that is not convex."""
    lib = shapely()
    found = [
        lib.Polygon() if cell.empty else lib.Polygon(cell_ring(cells, cell)) for cell in cells.cells
    ]
    if isinstance(cells.workspace, Region):
        return list(lib.intersection(found, region))
    return found


def _paths(run: Run, zero: np.datetime64) -> Layer:
    """One line for the motion of an agent between two of its events; none while it is at rest."""
    lib, lines, rows = shapely(), list[Any](), list[tuple[int, float, float]]()
    arrivals, departures = lives(run)
    for agent in range(run.agents):
        pieces = run.events.segments(run.start, agent)
        last = min(run.horizon, float(departures[agent]))
        begins = np.maximum(pieces.since, float(arrivals[agent]))
        ends = np.minimum(np.append(pieces.since[1:], last), last)
        shares = np.linspace(0.0, 1.0, 2 if pieces.bend is None else CURVED + 1)
        ways = np.stack([pieces.at(begins + share * (ends - begins)) for share in shares], axis=1)
        moved = (ends > begins) & (np.ptp(ways, axis=1).max(axis=1) > 0.0)
        lines += list(lib.linestrings(ways[moved]))
        rows += [(agent, *span) for span in zip(begins[moved], ends[moved], strict=True)]
    table = np.array(rows).reshape(-1, 3)
    agents = {"agent": table[:, 0].astype(np.int64)}
    return Layer("paths", "LineString", lines, agents | _times(table[:, 1], table[:, 2], zero))


def _times(begins: Any, ends: Any, zero: np.datetime64) -> dict[str, np.ndarray]:
    """The columns of times: in seconds, and as dates."""
    columns: dict[str, np.ndarray] = {
        "t0": np.asarray(begins, dtype=np.float64),
        "t1": np.asarray(ends, dtype=np.float64),
    }
    for name, seconds in zip(("begins", "ends"), list(columns.values()), strict=True):
        columns[name] = zero + np.round(1e3 * seconds).astype("timedelta64[ms]")
    return columns

"""A run as layers of a map: region, cells, agents, paths and events."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dwell._checks import check_whole
from dwell._compatibility import Need, of_dimension, refuse
from dwell._types import Floats, in_short, lengths
from dwell.cells.tessellation import Tessellation
from dwell.errors import InputError
from dwell.exports.epoch import beginning_of
from dwell.exports.scene_shapes import cell_ring, cells_at
from dwell.geometry import Curved, Workspace
from dwell.geometry.outlines import outline_of
from dwell.plotting.worlds import lives
from dwell.results import Run, RunLike, as_run
from dwell.results.files import check_target, written_whole
from dwell.results.run import FRAME
from dwell.sites import Frame
from dwell.sites.frames import unsuited
from dwell.sites.layers import Layer, driver_of, write_layers
from dwell.sites.outlines import shape_of, shapely

AREAS = "MultiPolygon"  # the type of all features of a layer of areas
MOST_FRAMES = 100_000
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
        At how many times, at most 100,000, evenly spaced from the start to the end, cells and
        agents are written.
    frame : Frame, optional
        The coordinate system of the run; by default that of the site in its scenario, or of the
        `Site` that `simulate` was given.
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
    check_whole("frames", frames, 1, "export", most=MOST_FRAMES)
    run, target = as_run(run), map_target(path, force)
    site = None if run.scenario is None else run.scenario.site
    if frame is not None:
        _check_kind(frame)
    crs = run.provenance.get(FRAME) if site is None else site.crs
    if frame is None and crs is None:
        says = "this run has no place on the Earth; run a scenario with a [site], or give frame=..."
        raise InputError(says, code="export.frame", key="site")
    refuse(Need.MAP, (of_dimension(run.workspace.dimension),))
    of_site = None if crs is None else Frame(crs)
    chosen = frame or of_site
    assert chosen is not None
    _check_frame(run, chosen, of_site)
    zero = beginning_of(epoch, site)
    return _written(target, layers_of(run, frames, zero), chosen)


def write_cells(
    cells: Tessellation, path: str | os.PathLike[str], frame: Frame, *, force: bool = False
) -> Path:
    """Write cells as a map, as `export_gis` does a run: region, cells and agents, without times."""
    target = map_target(path, force)
    _check_kind(frame)
    refuse(Need.MAP, (of_dimension(cells.workspace.dimension),))
    _refuse_unsuited(frame, cells.workspace, "deployment")
    lib, region = shapely(), _shape(cells.workspace)
    shapes = np.array([_areas(one) for one in _cut(cells, region)], dtype=object)
    columns = {"agent": np.arange(len(cells.positions)), "mass": np.asarray(cells.masses)}
    some = ~lib.is_empty(shapes)
    own = {name: values[some] for name, values in columns.items()}
    layers = [
        Layer("region", AREAS, [_areas(region)], {"area": np.array([lib.area(region)])}),
        Layer("cells", AREAS, shapes[some], own | {"area": lib.area(shapes[some])}),
        Layer("agents", "Point", lib.points(cells.positions), columns),
    ]
    return _written(target, layers, frame)


def map_target(path: str | os.PathLike[str], force: bool) -> Path:
    """The file of a map to be written; refused by its ending, or if it exists, without `force`."""
    target = check_target(path, force=force)
    driver_of(target)
    return target


def _written(target: Path, layers: Iterable[Layer], frame: Frame) -> Path:
    """Write all layers that have features, whole or not at all."""
    some = [one for one in layers if len(one.shapes)]
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".dwell-") as folder:
        made = Path(folder, target.name)
        write_layers(made, some, frame)
        with written_whole(target) as temporary:
            os.replace(made, temporary)
    return target


def _check_kind(frame: object) -> None:
    """Refuse anything but a frame."""
    if not isinstance(frame, Frame):
        says = f"the frame is {in_short(frame)}; a dwell.Frame is needed, such as "
        raise InputError(f"{says}Frame('EPSG:32631')", code="export.frame", key="site")


def _check_frame(run: Run, frame: Frame, of_site: Frame | None) -> None:
    """Refuse a frame that is not that of the run's site, or is not for the run's coordinates."""
    if of_site is not None and not frame.system.equals(of_site.system):
        says = f"frame is {in_short(frame.crs)} ({frame.system.name}), but the coordinates of this "
        says += f"run are those of its site, in {of_site.system.name}; leave frame out"
        raise InputError(says, code="export.frame", key="site")
    _refuse_unsuited(frame, run.workspace, "run")


def _refuse_unsuited(frame: Frame, workspace: Workspace, what: str) -> None:
    """Refuse a frame in which the coordinates of a workspace are not metres on the ground."""
    corners = np.array(workspace.bounds)
    if why := unsuited(frame.system, np.vstack([corners, corners.mean(axis=0)])):
        says = f"frame is {frame.crs!r}, which {why}, about {corners[0].tolist()} of this {what}; "
        raise InputError(f"{says}the frame of its site is needed", code="export.frame", key="site")


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
    return shapely().Polygon(outline_of(workspace.hull)) if curved else shape_of(workspace)


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
    if cells.workspace.mask is not None:
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

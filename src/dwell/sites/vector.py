"""Site: an outline from a map file as a workspace in metres."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._types import Points, counted, finite_number, in_short
from dwell.errors import SiteError, WorkspaceError
from dwell.geometry import Polygon, Region, Workspace
from dwell.geometry.region import Part
from dwell.sites import outlines
from dwell.sites.features import read_outline
from dwell.sites.frames import (
    DEGREES,
    WRONG_SCALE,
    Frame,
    check_metres,
    transformed,
    zone_of,
)
from dwell.sites.libraries import digest_of_file, existing, library, refused

WIDE, WIDEST = 400e3, 2000e3  # metres across: noted, refused
MOST_BENT = 1e-3  # of the diameter: the sagitta of a side beyond which `densify` is needed
LEAST_BENT = 1e-5  # of the diameter: a sagitta that is noted
SCALE_SHOWN = 1e-5  # by which lengths differ from those on the ground before it is noted
LONG = 10_000  # vertices, beyond which `simplify` is offered
EXCHANGED = (
    "go the wrong way round, as where latitude and longitude are exchanged; GeoJSON has longitude "
    "first"
)


@final
@dataclass(frozen=True, eq=False)
class Site:
    """A place on the Earth: the workspace in metres and the frame that leads back to the map.

    Attributes
    ----------
    workspace : Polygon or Region
        The outline in metres: a `Polygon` if it is convex and has no holes.
    frame : Frame
        The coordinate reference system of these metres.
    repairs : tuple of str
        What was repaired in the outline.
    notes : tuple of str
        Inaccuracies of the projection.
    digest : str
        SHA-256 of the file.

    Examples
    --------
    >>> import dwell
    >>> site = dwell.Site.read("harbour.geojson")
    >>> type(site.workspace).__name__, site.workspace.diameter > 1000.0
    ('Region', True)
    """

    workspace: Workspace
    frame: Frame
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str = ""

    def __str__(self) -> str:
        lower, upper = self.workspace.bounds
        longitude, latitude = self.frame.to_map(0.5 * (lower + upper))[0].tolist()
        parts = getattr(self.workspace, "parts", None) or [Part(self.workspace.vertices)]
        holes = [hole for part in parts for hole in part.holes]
        sides = " by ".join(f"{side / 1e3:.4g}" for side in (upper - lower).tolist())
        vertices = sum(map(len, [*(part.outer for part in parts), *holes]))
        return (
            f"about latitude {latitude:.5g}, longitude {longitude:.5g}: {sides} km, "
            f"{self.workspace.volume / 1e6:.4g} km2, {counted(len(parts), 'part')}, "
            f"{counted(len(holes), 'hole')}, {vertices} vertices, in {self.frame.system.name}"
        )

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        layer: str | None = None,
        feature: int | str | None = None,
        stay: bool = False,
        densify: float | None = None,
        simplify: float | None = None,
        frame: str | None = None,
    ) -> Site:
        """Read the outline of a site from a GeoJSON, GeoPackage or Shapefile.

        Degrees are mapped to a Transverse Mercator frame about the middle of the site; projected
        coordinates in metres are used as they are. Vertices are mapped, and edges are straight in
        metres.

        Parameters
        ----------
        path : str or path
            The file.
        layer : str, optional
            The layer, needed if the file has several.
        feature : int or str, optional
            The feature: its number from 0, or "key=value" with a key of its attributes, or "id=7".
        stay : bool
            Whether agents keep inside a region that is not convex.
        densify : float, optional
            Add vertices along sides in degrees, at most so many metres apart.
        simplify : float, optional
            Leave out vertices that move the outline by at most so many metres.
        frame : str, optional
            The system in metres to which degrees are mapped, such as that of a raster,
            ``"EPSG:32631"``; the local one if absent.

        Returns
        -------
        Site
        """
        file = existing(Path(path))
        if frame is not None:
            _check_name(frame)
        for name, value in (("densify", densify), ("simplify", simplify)):
            if value is not None and not (finite_number(value) or 0.0) > 0.0:
                says = f"{name} is {in_short(value)}; a positive number of metres is needed"
                raise SiteError(says, code=f"site.{name}", key=f"site.{name}")
        shape, crs, repairs = read_outline(file, layer, feature)
        shape, cleaned = outlines.cleaned(shape, file)
        repairs += cleaned
        if crs.is_geographic:
            shape, own, more, notes = _from_degrees(shape, crs, file, densify, frame)
        else:
            shape, own, more, notes = _from_metres(shape, crs, file, frame)
        repairs += more
        shape, turned, every = outlines.wound(shape, file.name)
        if file.suffix.lower() != ".shp":  # whose rings have the other direction
            repairs += turned
            if every and crs.is_geographic:
                notes.append(f"all rings of {file.name} {EXCHANGED}")
        notes += _check_size(shape, file)
        if simplify is not None:
            shape, simplified = outlines.simplified(shape, file, simplify)
            repairs += simplified
        workspace = as_workspace(shape, stay)
        notes += _about_length(workspace, file)
        found = (*repairs, *workspace.repairs)
        return cls(workspace, own, found, tuple(notes), digest_of_file(file) or "")


def _check_name(frame: str) -> None:
    """Refuse a system that PROJ does not know."""
    pyproj = library("pyproj", "a frame")
    try:
        pyproj.CRS.from_user_input(frame)
    except pyproj.exceptions.CRSError:
        says = f"frame is {in_short(frame)}; a system such as EPSG:32631 is needed"
        raise SiteError(says, code="site.frame", key="site.frame") from None


def _from_degrees(
    shape: Any, crs: Any, file: Path, densify: float | None, system: str | None
) -> tuple[Any, Frame, list[str], list[str]]:
    """The outline in a local frame, the frame, what was repaired, and what is inaccurate."""
    shape, longitude, latitude, repairs = outlines.about_middle(shape, file)
    outlines.refuse_invalid(shape, file)
    frame, notes = Frame.about(longitude, latitude, crs), list[str]()
    if system is not None:
        middle = transformed([[longitude, latitude]], crs, system)
        _check_frame(system, middle[0], zone_of(longitude, latitude))
        frame, notes = _stated(system, middle, file)

    def to_metres(points: Points) -> Points:
        return transformed(points, crs, frame.system)

    across = _across(outlines.mapped(shape, to_metres))
    if densify is not None and across <= WIDEST:
        before = outlines.shapely().get_num_coordinates(shape)
        shape = outlines.densified(shape, to_metres, densify)
        added = outlines.shapely().get_num_coordinates(shape) - before
        repairs.append(f"added {added} vertices along the sides of {file.name}")
    sagitta, place = outlines.largest_sagitta(shape, to_metres)
    where = f"the side about ({place[0]:.6g}, {place[1]:.6g})"
    if sagitta > MOST_BENT * across and across <= WIDEST:
        says = (
            f"has {where} that bends by {sagitta:.4g} m, more than 0.1 % of the diameter, between "
        )
        says += "degrees and metres; add vertices along such sides by densify = metres between them"
        raise refused(file, says, "bend")
    if sagitta > LEAST_BENT * across:
        notes.append(f"{where} of {file.name} bends by {sagitta:.3g} m; it is straight in metres")
    return outlines.mapped(shape, to_metres), frame, repairs, notes


def _check_frame(system: str, middle: Points, zone: str) -> None:
    """Refuse a chosen system whose coordinates are not metres on the ground near `middle`."""
    crs = Frame(system).system
    units = {axis.unit_name for axis in crs.axis_info[:2]}
    if units != {"metre"}:
        came = f"has coordinates in {' and '.join(sorted(units))}"
    elif not crs.is_projected or not np.isfinite(middle).all():
        came = "does not show that place"
    elif not abs(Frame(system).scale_at(middle) - 1.0) <= WRONG_SCALE:
        came = f"makes lengths {Frame(system).scale_at(middle):.3g} times those on the ground"
    else:
        return
    says = f"frame is {in_short(system)} ({crs.name}), which {came}; a projected system in metres "
    says += f"is needed, such as {zone}, or leave frame out"
    raise SiteError(says, code="site.frame", key="site.frame")


def _stated(system: Any, middle: Points, file: Path) -> tuple[Frame, list[str]]:
    """The frame of a system that the user chose, and what is inaccurate in it."""
    crs = library("pyproj", f"reading {file.name}").CRS.from_user_input(system)
    if not crs.is_projected or not np.isfinite(middle).all():
        says = f"cannot be mapped to {crs.name}; a projected system of that place is needed"
        raise refused(file, says, "frame")
    check_metres(crs, middle[0], file.name)
    scale = Frame(crs.to_wkt()).scale_at(middle[0])
    way = "longer" if scale > 1.0 else "shorter"
    note = f"lengths in {crs.name} are {100 * abs(scale - 1.0):.2g} % {way} than on the ground"
    return Frame.of(crs), [note] if abs(scale - 1.0) > SCALE_SHOWN else []


def _from_metres(
    shape: Any, crs: Any, file: Path, system: str | None
) -> tuple[Any, Frame, list[str], list[str]]:
    """The outline as it is; refused where its coordinates are not metres of its system."""
    outlines.refuse_invalid(shape, file)
    points = outlines.shapely().get_coordinates(shape)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    place, area = transformed(middle, crs, DEGREES)[0], crs.area_of_use
    inside = area is None or (
        np.isfinite(place).all()
        and area.south - 1.0 <= place[1] <= area.north + 1.0
        and (place[0] - area.west + 1.0) % 360.0 <= (area.east - area.west) % 360.0 + 2.0
    )
    within_degrees = (np.abs(points).max(axis=0) <= (180.0, 90.0)).all()
    if not np.isfinite(place).all() or (within_degrees and not inside):
        says = f"claims metres of {crs.name}, but has the vertex {points[0].tolist()}; state its "
        says += f"system by ogr2ogr -a_srs EPSG:4326 out.gpkg {file.name} if these are degrees"
        raise refused(file, says, "extent")
    frame, notes = _stated(crs, middle[None], file)
    if system is not None and not frame.system.equals(Frame(system).system):
        says = f"is in {crs.name}, and frame is another system; frame is for files in degrees"
        raise refused(file, f"{says}: leave it out", "frame")
    return shape, frame, [], notes


def _across(shape: Any) -> float:
    west, south, east, north = outlines.shapely().bounds(shape)
    return float(np.hypot(east - west, north - south))


def _check_size(shape: Any, file: Path) -> list[str]:
    """Refuse a site that no plane fits, and remark on one that fits badly."""
    across = _across(shape)
    if across > WIDEST:
        says = (
            f"is {across / 1e3:.0f} km across; at most {WIDEST / 1e3:.0f} km are mapped to a plane"
        )
        raise refused(file, f"{says}: take a part of it", "size")
    off = (0.5 * across / 6.371e6) ** 2 / 2.0
    note = (
        f"{file.name} is {across / 1e3:.0f} km across: lengths are off by up to {off:.1e} of them"
    )
    return [note] if across > WIDE else []


def _about_length(workspace: Workspace, file: Path) -> list[str]:
    """A remark on an outline of very many vertices."""
    count = sum(map(len, workspace.rings)) if isinstance(workspace, Region) else 0
    if not isinstance(workspace, Region) or count <= LONG:
        return []
    pieces = len(workspace.pieces.piece)
    says = f"{file.name} has {count} vertices and is divided into {pieces} pieces"
    return [f"{says}; simplify = metres leaves out vertices that move it by less"]


def as_workspace(shape: Any, stay: bool = False) -> Workspace:
    """A polygon or multipolygon in metres as a workspace: a `Polygon` if it is convex."""
    lib = outlines.shapely()
    parts = [
        {
            "outer": lib.get_coordinates(part.exterior)[:-1],
            "holes": [lib.get_coordinates(hole)[:-1] for hole in part.interiors],
        }
        for part in lib.get_parts(shape)
    ]
    if len(parts) == 1 and not parts[0]["holes"]:
        try:
            return Polygon(parts[0]["outer"])
        except WorkspaceError as fault:
            if fault.code != "workspace.nonconvex":
                raise
    return Region(parts, stay=stay)

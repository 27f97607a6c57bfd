"""Site: an outline from a map file as a workspace in metres."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from dwell._checks import check_flag
from dwell._types import Points, as_numbers, counted, finite_number, in_short
from dwell.density import Raster
from dwell.errors import SiteError, WorkspaceError
from dwell.geometry import Polygon, Region, Workspace, polygon_of
from dwell.geometry.region import Part
from dwell.geometry.routes import MOST_CORNERS, Routes
from dwell.sites import outlines
from dwell.sites.features import (
    Choice,
    outline_among,
    outline_of,
    read_features,
    refuse_placeless,
    system_among,
)
from dwell.sites.frames import (
    DEGREES,
    Frame,
    about_scale,
    base_of,
    code_of,
    is_used_at,
    named,
    system_of,
    transformed,
    unsuited,
    zone_of,
)
from dwell.sites.libraries import as_keys, digest_of_file, existing, refused

WIDEST = 2000e3  # metres across
MOST_BENT = 1e-3  # of the diameter: the sagitta of a side beyond which `densify` is needed
LEAST_BENT = 1e-5  # of the diameter: a sagitta that is noted
ENOUGH = 0.1  # of the sagitta allowed: what an advised `densify` leaves
FINEST, COARSEST = 1e-7, 0.1  # of the width: values of `simplify` that are tried
LONG = 10_000  # vertices, beyond which `simplify` is offered
MOST_PLACES = 400  # vertices at which the scale is measured
BESIDE = 8  # rows and columns of points around which it is measured, too


class Wanted(NamedTuple):
    """What of an outline is wanted, and in which metres; as `Site.read` has it."""

    repair: bool = False
    clip: Sequence[float] | None = None
    parts: str | int | Sequence[int] | None = None
    stay: bool = False
    densify: float | None = None
    simplify: float | None = None
    frame: str | None = None


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
        mask = self.workspace.mask
        parts = (Part(polygon_of(self.workspace).vertices),) if mask is None else mask.parts
        holes = [hole for part in parts for hole in part.holes]
        sides = " by ".join(f"{side / 1e3:.4g}" for side in (upper - lower).tolist())
        vertices = sum(map(len, [*(part.outer for part in parts), *holes]))
        return (
            f"about latitude {latitude:.5g}, longitude {longitude:.5g}: {sides} km, "
            f"{self.workspace.volume / 1e6:.4g} km2, {counted(len(parts), 'part')}, "
            f"{counted(len(holes), 'hole')}, {vertices} vertices, in {self.frame.system.name}"
        )

    def raster(self, path: str | os.PathLike[str], **options: Any) -> Raster:
        """Read the density of a raster file around the site, in the site's system.

        Parameters
        ----------
        path : str or path
            The file: GeoTIFF, NetCDF, or PNG with `origin` and `pixel`.
        **options
            As in the table of a raster density: interpolation, amounts, band, variable, time,
            nodata, outside, scale, clip, coarsen, origin, pixel.

        Returns
        -------
        Raster
        """
        from dwell.sites.rasters import read_raster

        return read_raster(path, self.frame, self.workspace, **options)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        layer: str | None = None,
        feature: Choice = None,
        crs: str | None = None,
        repair: bool = False,
        clip: Sequence[float] | None = None,
        parts: str | int | Sequence[int] | None = None,
        stay: bool = False,
        densify: float | None = None,
        simplify: float | None = None,
        frame: str | None = None,
    ) -> Site:
        """Read the outline of a site from a GeoJSON, TopoJSON, GeoPackage, FlatGeobuf or Shapefile.

        Projected metres whose lengths are those on the ground, to 1 %, are used as they are. All
        other coordinates, degrees and feet among them, are mapped to a Transverse Mercator frame in
        metres about the middle of the site. Vertices are mapped; edges are straight in metres.

        Parameters
        ----------
        path : str or path
            The file, a folder of Shapefiles, or a zip of them.
        layer : str, optional
            The layer, needed if the file has several.
        feature : int, str or list, optional
            The feature: its number from 0, or "key=value" with a key of its attributes, or "id=7".
            A list of them, or "all", is dissolved into one outline.
        crs : str, optional
            The system of the file's coordinates, ``"EPSG:4326"``, where the file does not name it.
        repair : bool
            Make an outline valid whose rings cross, if that hardly changes its area.
        clip : list of float, optional
            Keep what lies within [west, south, east, north], in the coordinates of the file.
        parts : str, int or list, optional
            Keep ``"largest"``, or parts by their numbers from 0, the largest first.
        stay : bool
            Whether agents keep inside a region that is not convex.
        densify : float, optional
            Add vertices along sides that are mapped, at most so many metres apart.
        simplify : float, optional
            Leave out vertices that move the outline by at most so many metres.
        frame : str, optional
            The system in metres to which coordinates are mapped, such as that of a raster,
            ``"EPSG:32631"``.

        Returns
        -------
        Site
        """
        if not isinstance(path, str | os.PathLike):
            says = f"the file is {in_short(path)}; the name of a map file is needed; shapes in "
            says += "memory are taken by dwell.Site.of"
            raise SiteError(says, code="site.file", key="site.file")
        wanted = Wanted(repair, clip, parts, stay, densify, simplify, frame)
        _check_wanted(wanted)
        file = existing(path)
        features = read_features(file, layer)
        source, remarks = system_among(file, features, crs)
        shape, repairs = outline_among(file, features, feature, repair, source)
        made = _made(shape, source, file, wanted, in_order=features.format == "GeoJSON")
        return cls(
            made.workspace, made.frame, (*repairs, *made.repairs), (*remarks, *made.notes),
            digest_of_file(file) or "",
        )  # fmt: skip

    @classmethod
    def of(cls, shape: object, crs: str | None = None, **keys: Any) -> Site:
        """Return the site of a shape in memory: of shapely, GeoPandas, or with a geo interface.

        Parameters
        ----------
        shape
            Anything with ``__geo_interface__``, or a GeoJSON as a dict; several are dissolved.
        crs : str, optional
            The system of its coordinates; by default that of the shape, or degrees on WGS 84.
        **keys
            repair, clip, parts, stay, densify, simplify and frame, as in `read`.

        Returns
        -------
        Site

        Examples
        --------
        >>> import dwell
        >>> ring = [[4.0, 52.0], [4.1, 52.0], [4.1, 52.05], [4.0, 52.05]]
        >>> print(dwell.Site.of({"type": "Polygon", "coordinates": [ring]}))
        about latitude 52.025, longitude 4.05: 6.868 by 5.563 km, 38.19 km2, 1 part, 0 holes, \
4 vertices, in local metres
        """
        unknown = sorted(set(keys) - set(Wanted._fields))
        if unknown:
            says = f"Site.of has no {unknown[0]}; {', '.join(Wanted._fields)} are possible"
            raise SiteError(says, code="site.key", key=f"site.{unknown[0]}")
        wanted = Wanted(**keys)
        _check_wanted(wanted)
        given = getattr(shape, "crs", None) if crs is None else crs
        source = system_of(DEGREES if given is None else given, "crs")
        file = Path("the shape")
        refuse_placeless(file, source, f"crs = {in_short(given)}")
        whole, repairs = outline_of(shape, wanted.repair, source)
        made = _made(whole, source, file, wanted, in_order=False)
        return replace(made, repairs=(*repairs, *made.repairs))

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The outline as a GeoJSON geometry, in degrees on WGS 84, for other libraries."""
        shape = outlines.shape_of(self.workspace)
        degrees = outlines.cut_at_seam(outlines.mapped(shape, self.frame.to_map_continuous))
        return dict(degrees.__geo_interface__)


def _check_wanted(wanted: Wanted) -> None:
    """Refuse numbers, boxes, systems and truth values that are none."""
    check_flag("repair", wanted.repair)
    check_flag("stay", wanted.stay)
    for name in ("densify", "simplify"):
        value = getattr(wanted, name)
        if value is not None and not (finite_number(value) or 0.0) > 0.0:
            says = f"{name} is {in_short(value)}; a positive number of metres is needed"
            raise SiteError(says, code=f"site.{name}", key=f"site.{name}")
    if wanted.clip is not None:
        box = as_numbers(wanted.clip)
        if box is None or box.shape != (4,) or not np.isfinite(box).all():
            says = f"clip is {in_short(wanted.clip)}; [west, south, east, north] is needed"
            raise SiteError(says, code="site.clip", key="site.clip")
    if wanted.frame is not None:
        system_of(wanted.frame, "frame")


def _made(shape: Any, crs: Any, file: Path, wanted: Wanted, *, in_order: bool) -> Site:
    """The site of an outline in the coordinates of a system; `in_order` are its rings by format."""
    shape, frame, repairs, notes = outline_in_metres(shape, crs, file, wanted)
    shape, turned = outlines.wound(shape, file.name)
    repairs += turned if in_order else []
    whole = shape
    if wanted.simplify is not None:
        shape, simplified = outlines.simplified(shape, file, wanted.simplify)
        repairs += simplified
    notes += about_scale(frame.system, _places(shape))
    workspace = as_workspace(shape, wanted.stay)
    if workspace.stay:
        _refuse_corners(_most_turns(shape), whole, file, wanted.simplify or 0.0)
    notes += _about_length(workspace, file)
    return Site(workspace, frame, (*repairs, *workspace.repairs), tuple(notes))


def outline_in_metres(
    shape: Any, crs: Any, file: Path, wanted: Wanted
) -> tuple[Any, Frame, list[str], list[str]]:
    """The outline that is wanted, its frame, what was repaired, and what is inaccurate."""
    repairs, notes = list[str](), list[str]()
    degrees = bool(crs.is_geographic)
    if degrees and _base(crs) is not crs:  # in grads, or counted from another meridian
        shape = outlines.mapped(shape, lambda table: transformed(table, crs, DEGREES))
        crs = _base(crs)
    if degrees:
        outlines.refuse_far(shape, file)
        _refuse_exchanged(shape, crs, file)
    else:
        _refuse_elsewhere(shape, crs, file)
    if wanted.clip is not None:
        shape, more = outlines.clipped(shape, file, wanted.clip, degrees)
        repairs += more
    if degrees:
        shape, _, _, more = outlines.about_middle(shape, file)
        repairs += more
    if wanted.parts is not None:
        shape, more = outlines.with_parts(shape, file, wanted.parts, degrees)
        repairs += more
    local = _local(shape, crs, file)
    why = "" if degrees else unsuited(crs, _places(shape))
    kept = why is None and wanted.frame is None
    across = _across(shape if kept else _in(shape, crs, local.system))
    _refuse_wide(across, shape, crs, file)
    if wanted.frame is not None:
        frame = _stated(wanted.frame, shape, crs, local)
        kept = frame.system.equals(crs, ignore_axis_order=True)
    else:
        frame = Frame.of(crs) if kept else local
        if why:
            says = f"{file.name} is in {named(crs)}, which {why}; it is mapped to local metres"
            notes.append(says)
    if kept:
        return shape, frame, repairs, notes
    shape, added = _divided(shape, crs, file, wanted.densify, frame)
    repairs += added
    notes += _about_bends(shape, crs, file, frame, across)
    found = _in(shape, crs, frame.system)
    found, mended = outlines.sound(found, file, wanted.repair, shape)
    return found, frame, repairs + mended, notes


def _base(crs: Any) -> Any:
    """The geographic system below `crs`, or WGS 84 if that is not in degrees from Greenwich."""
    base = base_of(crs)
    plain = base.axis_info[0].unit_name == "degree" and base.prime_meridian.longitude == 0.0
    if not plain:
        return system_of(DEGREES, "crs")
    return crs if crs.is_geographic and crs.ellipsoid.inverse_flattening else base.to_2d()


def _in(shape: Any, source: Any, target: Any) -> Any:
    """A shape of one system in another."""
    return outlines.mapped(shape, lambda table: transformed(table, source, target))


def _places(shape: Any) -> Points:
    """Points of an outline and within its hull, at which the scale is measured."""
    lib = outlines.shapely()
    corners = lib.get_coordinates(shape)
    some = corners[np.unique(np.linspace(0, len(corners) - 1, MOST_PLACES).astype(int))]
    ends = corners[[corners[:, k].argmin() for k in (0, 1)] + [corners[:, k].argmax()
                    for k in (0, 1)]]  # fmt: skip
    axes = [np.linspace(corners[:, k].min(), corners[:, k].max(), BESIDE + 1) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    hull = lib.convex_hull(shape)
    inside = grid[lib.contains_xy(hull, *grid.T)]
    return np.vstack([some, ends, lib.get_coordinates(lib.centroid(hull)), inside])


def _middle(shape: Any) -> Points:
    west, south, east, north = shape.bounds
    return np.array([[0.5 * (west + east), 0.5 * (south + north)]])


def _local(shape: Any, crs: Any, file: Path) -> Frame:
    """The local frame about the middle of an outline."""
    base = _base(crs)
    longitude, latitude = transformed(_middle(shape), crs, base)[0].tolist()
    if not np.isfinite([longitude, latitude]).all():
        says = f"has coordinates of {named(crs)} that are no place on the Earth; state its system "
        raise refused(file, f'{says}by crs = "EPSG:..."', "extent")
    return Frame.about((longitude + 180.0) % 360.0 - 180.0, latitude, base)


def _stated(text: str, shape: Any, crs: Any, local: Frame) -> Frame:
    """The frame that the user chose; refused where its coordinates are not metres at the site."""
    target = system_of(text, "frame")
    places = transformed(_places(shape), crs, target)
    why = unsuited(target, places)
    if why is None:
        return Frame.of(target)
    longitude, latitude = transformed(_middle(shape), crs, DEGREES)[0]
    zone = system_of(zone_of(longitude, latitude), "frame")
    says = f"frame is {in_short(text)} ({target.name}), which {why}; leave frame out"
    if unsuited(zone, transformed(_places(shape), crs, zone)) is None:
        says += f", or give {as_keys({'frame': code_of(zone)})}"
    raise SiteError(says, code="site.frame", key="site.frame")


def _divided(
    shape: Any, crs: Any, file: Path, densify: float | None, frame: Frame
) -> tuple[Any, list[str]]:
    """A shape with vertices added along its sides, and how many."""
    if densify is None:
        return shape, []
    count = outlines.shapely().get_num_coordinates
    more = outlines.densified(shape, lambda p: transformed(p, crs, frame.system), densify)
    return more, [f"added {count(more) - count(shape)} vertices along the sides of {file.name}"]


def _about_bends(shape: Any, crs: Any, file: Path, frame: Frame, across: float) -> list[str]:
    """A note on the side that bends most where it is mapped; refused if it bends too much."""
    bent = outlines.largest_sagitta(shape, lambda p: transformed(p, crs, frame.system))
    where = f"the side about ({bent.place[0]:.6g}, {bent.place[1]:.6g})"
    if bent.sagitta > MOST_BENT * across:
        step = bent.length * np.sqrt(ENOUGH * MOST_BENT * across / bent.sagitta)
        advice = {"densify": float(f"{step:.1g}")}
        says = f"has {where} that bends by {bent.sagitta:.4g} m, more than 0.1 % of the diameter, "
        says += f"where it is mapped to metres; {as_keys(advice)} adds vertices along such sides"
        raise refused(file, says, "bend", advice)
    if bent.sagitta <= LEAST_BENT * across:
        return []
    return [f"{where} of {file.name} bends by {bent.sagitta:.3g} m; it is straight in metres"]


def _refuse_exchanged(shape: Any, crs: Any, file: Path) -> None:
    """Refuse degrees that lie where their system is used only if they are exchanged."""
    place, area = _middle(shape)[0], crs.area_of_use
    if area is not None and not is_used_at(area, place) and is_used_at(area, place[::-1]):
        says = f"is about longitude {place[0]:.6g}, latitude {place[1]:.6g}, where {named(crs)} is "
        says += "not used; exchanged it is: longitude comes first, so exchange the two numbers of "
        raise refused(file, f"{says}each vertex in the file", "exchanged")


def _refuse_elsewhere(shape: Any, crs: Any, file: Path) -> None:
    """Refuse coordinates that are degrees, or exchanged, where they claim to be metres."""
    points, middle = outlines.shapely().get_coordinates(shape), _middle(shape)
    place, area = transformed(middle, crs, DEGREES)[0], crs.area_of_use
    inside = area is None or is_used_at(area, place)
    if np.isfinite(place).all() and inside:
        return
    if (np.abs(points) <= [360.0, 90.0]).all():
        advice = {"crs": "EPSG:4326"}
        says = f"claims metres of {crs.name}, but has the vertex {points[0].tolist()}; if these "
        raise refused(file, f"{says}are degrees, state that by {as_keys(advice)}", "extent", advice)
    turned = transformed(middle[:, ::-1], crs, DEGREES)[0]
    if area is not None and is_used_at(area, turned):
        says = f"has coordinates that lie where {named(crs)} is used only if they are exchanged: "
        says += f"{points[0].tolist()} is north, east; exchange the two numbers of each vertex"
        raise refused(file, f"{says} in the file", "exchanged")
    if not np.isfinite(place).all():
        says = f"claims metres of {crs.name}, but has the vertex {points[0].tolist()}, which is no "
        raise refused(file, f'{says}place on the Earth; state its system by crs = "EPSG:..."',
                      "extent")  # fmt: skip


def _across(shape: Any) -> float:
    west, south, east, north = outlines.shapely().bounds(shape)
    far = float(np.hypot(east - west, north - south))
    return far if np.isfinite(far) else 4e7


def _refuse_wide(across: float, shape: Any, crs: Any, file: Path) -> None:
    """Refuse a site that no plane fits, with keys that make it smaller."""
    if across <= WIDEST:
        return
    degrees = bool(crs.is_geographic)
    parts = outlines.by_size(shape, degrees)
    local = _local(parts[0], crs, file)
    one = _across(_in(parts[0], crs, local.system))
    says = f"is {across / 1e3:.0f} km across; at most {WIDEST / 1e3:.0f} km are mapped to a plane: "
    unit = 1.0 if degrees else crs.axis_info[0].unit_conversion_factor
    box = outlines.box_within(shape, degrees, unit)
    if len(parts) > 1 and one <= WIDEST:
        advice: dict[str, object] = {"parts": outlines.LARGEST}
        says += f"{as_keys(advice)} keeps the largest of its {len(parts)} parts, of {one / 1e3:.0f}"
        says += f" km; {as_keys(box)} keeps what is in that box, in the coordinates of the file"
    else:
        advice = box
        says += f"{as_keys(box)} keeps what is in that box, in the coordinates of the file"
    raise refused(file, says, "size", advice)


def _refuse_corners(turns: int, whole: Any, file: Path, simplify: float) -> None:
    """Refuse more corners than agents can go around; the sentence has a `simplify` that suffices.

    whole : the outline before any of its vertices were left out by `simplify`.
    """
    if turns <= MOST_CORNERS:
        return
    says = f"has {turns} corners around which a path may turn, and at most {MOST_CORNERS} are "
    says += "possible where agents stay in it"
    across = _across(whole)
    steps = 10.0 ** np.arange(np.floor(np.log10(FINEST * across)), np.log10(COARSEST * across))
    for metres in np.outer(steps, (1.0, 2.0, 5.0)).ravel().tolist():
        if metres <= simplify:
            continue
        try:
            shape, _ = outlines.simplified(whole, file, metres)
            left = _most_turns(shape)
            if left > MOST_CORNERS:
                continue
            as_workspace(shape, stay=True)
        except (SiteError, WorkspaceError):
            continue  # some vertices that are left out make rings cross
        metres = float(f"{metres:g}")
        says += f"; simplify = {metres:g} leaves {left} of them, and moves the outline by at most "
        raise refused(file, f"{says}{metres:g} m", "corners", {"simplify": metres})
    raise refused(file, f"{says}; take a part of it by clip or parts, or leave out stay", "corners")


def _most_turns(shape: Any) -> int:
    """The largest number of corners, of any part, around which a path may turn."""
    lib = outlines.shapely()
    return max(
        Routes([lib.get_coordinates(ring)[:-1] for ring in outlines.rings_of(part)]).turns
        for part in lib.get_parts(shape)
    )


def _about_length(workspace: Workspace, file: Path) -> list[str]:
    """A remark on an outline of very many vertices."""
    if workspace.mask is None:
        return []
    count, pieces = sum(map(len, workspace.mask.rings)), len(workspace.mask.pieces.piece)
    if count <= LONG:
        return []
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

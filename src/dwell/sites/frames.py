"""Frame: the plane of metres in which a site is computed, and its relation to the map."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, as_numbers, finite_number, in_short, lengths
from dwell.errors import SiteError
from dwell.sites.libraries import library

DEGREES = "EPSG:4326"  # longitude and latitude on WGS 84, as in GPS and in GeoJSON
WRONG_SCALE = 0.01  # by which lengths of a projected system may differ from those on the ground
SCALE_SHOWN = 1e-4  # by which lengths differ from those on the ground before it is noted
NO_PLACE = 0.1  # by which lengths differ at a point that a frame is not made for
LOCAL = "local metres"  # the name of frames about a place
REACH = 5e6  # metres from the place of such a frame, beyond which it is not made for points
BEYOND = 30.0  # degrees outside of the area of use of a system, likewise
STEP = 100.0  # metres, over which the scale is measured
NAMED = re.compile(r"(urn:ogc:def:crs:)?[A-Za-z_]{1,20}\d*:[\w.]{0,20}:?\w{1,20}")
OUTSIDE = re.compile(r"(\+init|grids|PARAMETERFILE|\bfile)\W[^\]]*[/\\]|\+init\b", re.IGNORECASE)


@final
@dataclass(frozen=True)
class Frame:
    """A projected coordinate reference system in metres; points are (east, north).

    Parameters
    ----------
    crs : str
        The system: a name such as ``"EPSG:32631"``, a PROJ string, or WKT.

    Examples
    --------
    >>> import dwell
    >>> frame = dwell.Frame.about(4.0, 52.0)
    >>> frame.from_map([[4.0, 52.0]]).round(6).tolist()
    [[0.0, 0.0]]
    >>> frame.to_map([[0.0, 1000.0]]).round(4).tolist()
    [[4.0, 52.009]]
    """

    crs: str

    @classmethod
    def about(cls, longitude: float, latitude: float, base: Any = DEGREES) -> Frame:
        """Return the Transverse Mercator frame with its origin at a point in degrees.

        Parameters
        ----------
        longitude, latitude : float
            The origin, in degrees.
        base
            The geographic system of the degrees; WGS 84 by default.

        Returns
        -------
        Frame
        """
        place = finite_number(longitude), finite_number(latitude)
        if None in place:
            says = f"the place of a frame is {in_short((longitude, latitude))}; longitude and "
            raise SiteError(f"{says}latitude in degrees are needed", code="site.place", key="site")
        crs, conversion = library("pyproj.crs", "a local frame"), "pyproj.crs.coordinate_operation"
        operation = library(conversion, "a local frame").TransverseMercatorConversion(
            latitude_natural_origin=latitude, longitude_natural_origin=longitude
        )
        made = crs.ProjectedCRS(operation, LOCAL, geodetic_crs=crs.CRS.from_user_input(base))
        return cls(made.to_wkt())

    @classmethod
    def of(cls, crs: Any) -> Frame:
        """Return the frame of a projected system of pyproj, by its code if it has one."""
        return cls(code_of(crs) or crs.to_wkt())

    @cached_property
    def system(self) -> Any:
        """The coordinate reference system as pyproj has it; refused if it is not in metres."""
        crs = system_of(self.crs, "frame")
        if why := wrong_units(crs):
            says = f"frame is {in_short(self.crs)} ({crs.name}), which {why}; a projected system "
            raise SiteError(f"{says}in metres is needed", code="site.frame", key="site.frame")
        return crs

    def from_map(self, points: object) -> Points:
        """Return points (longitude, latitude) on WGS 84, in degrees, as (east, north) in metres."""
        table = _pairs(points)
        found = self.transform(table)
        scales = self.scales_at(found)
        strange = ~((np.abs(scales - 1.0) <= NO_PLACE).all(axis=1))
        strange |= ~(np.abs(table) <= [360.0, 90.0]).all(axis=1)
        # On the far side of the Earth the scale may be right once more.
        if self.system.name == LOCAL:
            strange |= ~(lengths(found) <= REACH)
        elif (area := self.system.area_of_use) is not None:
            strange |= np.array([not is_used_at(area, place, BEYOND) for place in table], bool)
        if strange.any():
            at = table[np.argmax(strange)].tolist()
            says = f"{at} is no longitude and latitude near the place of the frame "
            says += f"{self.system.name}; longitude comes first, in degrees"
            raise SiteError(says, code="site.place", key="site.frame")
        return found

    def transform(self, points: object) -> Points:
        """Return points as `from_map` does; those far from the frame may be not finite."""
        return transformed(points, DEGREES, self.system)

    def to_map(self, points: object) -> Points:
        """Return points (east, north) in metres as (longitude, latitude) on WGS 84, in degrees."""
        return transformed(_pairs(points), self.system, DEGREES)

    def to_map_continuous(self, points: object) -> Points:
        """Return points as `to_map` does, with longitudes that do not jump at 180 degrees.

        All lie within half a turn of the first point, so they may be beyond 180.
        """
        table = self.to_map(points)
        if len(table):
            table[:, 0] -= 360.0 * np.round((table[:, 0] - table[0, 0]) / 360.0)
        return table

    def scales_at(self, points: object) -> Floats:
        """Return lengths in the frame over those on the ground at points in metres, (k, 2).

        The scale depends on the direction: the first column is the smallest, the second the
        largest. Their product is the scale of areas. Both are infinite where there is no ground.
        """
        return scales_of(self.system, points)


def system_of(text: object, key: str) -> Any:
    """The system of pyproj of some text, such as EPSG:32631; refused if it is none."""
    pyproj = library("pyproj", "a coordinate reference system")
    need = f"{key} is {in_short(text)}; a system such as EPSG:32631 is needed"
    try:
        if isinstance(text, str) and OUTSIDE.search(text):
            raise SiteError(f"{need}, not one that names files", code=f"site.{key}")
        return pyproj.CRS.from_user_input(text).to_2d()
    except (pyproj.exceptions.CRSError, AttributeError, TypeError, ValueError) as fault:
        says = str(fault) if isinstance(fault, SiteError) else need
        raise SiteError(says, code=f"site.{key}", key=f"site.{key}") from None


def is_used_at(area: Any, place: Points, beyond: float = 1.0) -> bool:
    """Whether a place is in the area of use of a system, or at most so many degrees beyond."""
    width = (area.east - area.west) % 360.0 or 360.0
    return bool(
        np.isfinite(place).all()
        and area.south - beyond <= place[1] <= area.north + beyond
        and (place[0] - area.west + beyond) % 360.0 <= width + 2.0 * beyond
    )


def code_of(crs: Any) -> str | None:
    """The code of a system, such as EPSG:32631 or ESRI:54009; None if it has none."""
    code = crs.to_authority(min_confidence=100)
    return None if code is None else ":".join(code)


def named(crs: Any) -> str:
    """A system in words, with its code if it has one."""
    code = code_of(crs)
    return str(crs.name) if code is None else f"{crs.name} ({code})"


def _pairs(points: object) -> Points:
    """Points as a table of two columns; a single point will do."""
    table = as_numbers(points)
    if table is None or (table.size and (table.shape[-1:] != (2,) or table.ndim > 2)):
        says = f"the points are {in_short(points)}; pairs of numbers, shape (k, 2), are needed"
        raise SiteError(says, code="site.points", key="points")
    return table.reshape(-1, 2)


def transformed(points: object, source: Any, target: Any) -> Points:
    """Points (x, y) of one system in another; those that have no image are not finite."""
    table = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.column_stack(_transformer(source, target).transform(table[:, 0], table[:, 1]))


@lru_cache(maxsize=64)
def _transformer(source: Any, target: Any) -> Any:
    return library("pyproj", "a frame").Transformer.from_crs(source, target, always_xy=True)


def base_of(crs: Any) -> Any:
    """The geographic system of `crs`, or WGS 84 if that is on a sphere, which the Earth is not."""
    base = crs.geodetic_crs
    return base if base.ellipsoid.inverse_flattening else system_of(DEGREES, "crs")


def scales_of(crs: Any, points: object) -> Floats:
    """Smallest and largest length in a projected system over that on the ground, (k, 2)."""
    metres = crs.axis_info[0].unit_conversion_factor
    table, step = np.asarray(points, dtype=np.float64).reshape(-1, 2), STEP / metres
    ahead = np.array([[0.0, 0.0], [step, 0.0], [-step, 0.0], [0.0, step], [0.0, -step]])
    base = base_of(crs)
    ends = transformed((table[:, None] + ahead).reshape(-1, 2), crs, base)
    ends *= np.degrees(base.axis_info[0].unit_conversion_factor)
    found, good = np.full((len(table), 2), np.inf), np.isfinite(ends).reshape(-1, 10).all(axis=1)
    if not good.any():
        return found
    ends = ends.reshape(-1, 5, 2)[good]
    middle = np.repeat(ends[:, :1], 4, axis=1).reshape(-1, 2)
    azimuth, _, far = base.get_geod().inv(*middle.T, *ends[:, 1:].reshape(-1, 2).T)
    angle = np.radians(azimuth)
    way = far[:, None] * np.column_stack([np.sin(angle), np.cos(angle)])
    way = way.reshape(-1, 2, 2, 2)  # point, axis, ahead or back, east and north
    ground = np.linalg.svd(way[:, :, 0] - way[:, :, 1], compute_uv=False) / (2.0 * STEP)
    with np.errstate(divide="ignore"):
        found[good] = 1.0 / ground
    return found


def wrong_units(crs: Any) -> str | None:
    """Why the coordinates of a system are no metres of a plane; None if they are."""
    units = {axis.unit_name for axis in crs.axis_info[:2]}
    if crs.is_projected and units != {"metre"}:
        return f"has coordinates in {' and '.join(sorted(units))}"
    if not crs.is_projected:
        return f"has coordinates in {' and '.join(sorted(units)) or 'no unit'}, not in a plane"
    return None


def unsuited(crs: Any, points: object) -> str | None:
    """Why coordinates of a system are not metres on the ground at some points; None if they are.

    Measured at each of these points in the direction where it is worst.
    """
    if why := wrong_units(crs):
        return why
    scales = scales_of(crs, points)
    least, most = float(scales.min()), float(scales.max())
    if not np.isfinite(scales).all():
        return "does not show that place"
    if max(most - 1.0, 1.0 - least) <= WRONG_SCALE:
        return None
    low, high = f"{least:.3g}", f"{most:.3g}"
    size = low if low == high else f"{low} to {high}"
    return f"makes lengths {size} times those on the ground"


def about_scale(crs: Any, points: object) -> list[str]:
    """A note on lengths and areas of a system at some points, where they are not right."""
    scales = scales_of(crs, points)
    if np.abs(scales - 1.0).max() <= SCALE_SHOWN:
        return []
    lengths = _range_in_words(float(scales.min()), float(scales.max()))
    areas = scales.prod(axis=1)
    sizes = _range_in_words(float(areas.min()), float(areas.max()), "smaller", "larger")
    return [f"lengths in {crs.name} are {lengths} than on the ground, and areas {sizes}"]


def _range_in_words(least: float, most: float, less: str = "shorter", more: str = "longer") -> str:
    """A range of ratios as percents, rounded outward to two digits."""
    low, high = _percent(least - 1.0, -1), _percent(most - 1.0, 1)
    if low >= 0.0 or high <= 0.0:
        near, far = sorted((abs(low), abs(high)))
        way = more if low >= 0.0 else less
        if near == 0.0:
            return f"up to {far:.6g} % {way}"
        return f"{far:.6g} % {way}" if near == far else f"{near:.6g} to {far:.6g} % {way}"
    return f"{-low:.6g} % {less} to {high:.6g} % {more}"


def _percent(share: float, way: int) -> float:
    """A share in percent with two digits, and at most three decimals, rounded up (1) or down."""
    if abs(share) < 1e-6:
        return 0.0
    unit = max(1e-3, 10.0 ** (np.floor(np.log10(max(abs(100.0 * share), 1e-3))) - 1.0))
    return float(way * np.ceil(way * 100.0 * share / unit - 1e-6) * unit) + 0.0


def zone_of(longitude: float, latitude: float) -> str:
    """The UTM zone of a point in degrees, as a code of EPSG."""
    return f"EPSG:{32600 + 100 * (latitude < 0.0) + int((longitude + 180.0) % 360.0 // 6) + 1}"

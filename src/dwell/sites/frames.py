"""Frame: the plane of metres in which a site is computed, and its relation to the map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Points
from dwell.errors import SiteError
from dwell.sites.libraries import library

DEGREES = "EPSG:4326"  # longitude and latitude on WGS 84, as in GPS and in GeoJSON
WRONG_SCALE = 0.01  # by which lengths of a projected system may differ from those on the ground
STEP = 1000.0  # metres, over which the scale is measured


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
        crs, conversion = library("pyproj.crs", "a local frame"), "pyproj.crs.coordinate_operation"
        operation = library(conversion, "a local frame").TransverseMercatorConversion(
            latitude_natural_origin=latitude, longitude_natural_origin=longitude
        )
        made = crs.ProjectedCRS(
            operation, "local metres", geodetic_crs=crs.CRS.from_user_input(base)
        )
        return cls(made.to_wkt())

    @classmethod
    def of(cls, crs: Any) -> Frame:
        """Return the frame of a projected system of pyproj, by its code if it has one."""
        code = crs.to_epsg(min_confidence=100)
        return cls(crs.to_wkt() if code is None else f"EPSG:{code}")

    @cached_property
    def system(self) -> Any:
        """The coordinate reference system as pyproj has it."""
        return library("pyproj", "a frame").CRS.from_user_input(self.crs)

    def from_map(self, points: object) -> Points:
        """Return points (longitude, latitude) on WGS 84, in degrees, as (east, north) in metres."""
        return transformed(points, DEGREES, self.system)

    def to_map(self, points: object) -> Points:
        """Return points (east, north) in metres as (longitude, latitude) on WGS 84, in degrees."""
        return transformed(points, self.system, DEGREES)

    def scale_at(self, point: object) -> float:
        """Return a length in the frame over that on the ground, near a point in metres."""
        east, north = np.asarray(point, dtype=np.float64)
        ends = transformed(
            [[east, north], [east + STEP, north], [east, north + STEP]],
            self.system,
            self.system.geodetic_crs,
        )
        globe = self.system.get_geod()
        _, _, away = globe.inv(*np.repeat(ends[:1], 2, axis=0).T, *ends[1:].T)
        return float(STEP / np.mean(away))


def transformed(points: object, source: Any, target: Any) -> Points:
    """Points (x, y) of one system in another; those that have no image are not finite."""
    transformer = library("pyproj", "a frame").Transformer.from_crs(source, target, always_xy=True)
    table = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.column_stack(transformer.transform(table[:, 0], table[:, 1]))


def zone_of(longitude: float, latitude: float) -> str:
    """The UTM zone of a point in degrees, as a code of EPSG."""
    return f"EPSG:{32600 + 100 * (latitude < 0.0) + int((longitude + 180.0) % 360.0 // 6) + 1}"


def check_metres(crs: Any, middle: Points, name: str) -> None:
    """Refuse a projected system whose coordinates are not metres on the ground near `middle`."""
    local = f"ogr2ogr -t_srs {DEGREES} degrees.gpkg {name} gives degrees, which dwell maps to a "
    local += "local frame in metres"
    units = {axis.unit_name for axis in crs.axis_info[:2]}
    if units != {"metre"}:
        says = f"{name} has coordinates in {' and '.join(sorted(units))} ({crs.name}); metres are "
        raise SiteError(f"{says}needed: {local}", code="site.units", key="site")
    scale = Frame(crs.to_wkt()).scale_at(middle)
    if not abs(scale - 1.0) <= WRONG_SCALE:
        says = (
            f"{name} has coordinates of {crs.name}, in which lengths are {scale:.3g} times those "
        )
        raise SiteError(f"{says}on the ground: {local}", code="site.scale", key="site")

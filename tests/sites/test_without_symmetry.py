"""Places in every quarter of the Earth, and bands, rings and features that differ."""

from __future__ import annotations

import itertools
import json
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pyproj
import pytest
import rasterio
import shapely

import dwell
from dwell.errors import SiteError
from dwell.sites.frames import Frame, is_used_at
from dwell.sites.rasters import read_grid
from dwell.sites.survey import survey
from tests.sites.files import SQUARE, geojson, polygon, tiff, vector

WEST, NORTH, SIDE = 5e5, 5.7e6, 10.0
FRAME = Frame("EPSG:32631")
FIELD = dwell.Polygon([(WEST + 22, NORTH - 61), (WEST + 65, NORTH - 58), (WEST + 41, NORTH - 23)])
ROWS, COLUMNS = 8, 9
GAP = (4, 3)  # row from the north and column of a pixel without a value
VALUES = np.random.default_rng(5).integers(20, 90, (ROWS, COLUMNS)).astype(np.int16)


def box(west: float, south: float, wide: float, high: float) -> list[list[float]]:
    east, north = west + wide, south + high
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


# Frames.


@pytest.mark.parametrize("beyond", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("crs", ["EPSG:32631", "EPSG:32723", "EPSG:32601", "EPSG:32760"])
def test_a_system_is_used_as_far_beyond_every_side_of_its_area(crs, beyond):
    area = pyproj.CRS(crs).area_of_use
    x, y = 0.5 * (area.west + area.east), 0.5 * (area.south + area.north)
    sides = {  # a place on each side, and the way out
        (area.west - beyond, y): (-1.0, 0.0),
        (area.east + beyond, y): (1.0, 0.0),
        (x, area.south - beyond): (0.0, -1.0),
        (x, area.north + beyond): (0.0, 1.0),
    }
    for (side, out), turn in itertools.product(sides.items(), (-360.0, 0.0, 360.0)):
        place = np.add(side, (turn, 0.0))
        assert is_used_at(area, place - 0.01 * np.array(out), beyond)
        assert not is_used_at(area, place + 0.01 * np.array(out), beyond)
    assert not is_used_at(area, np.array([np.inf, y]), beyond)


@pytest.mark.parametrize(
    ("crs", "place"),
    [
        ("EPSG:32631", (-0.4, 51.0)),
        ("EPSG:32631", (6.4, 51.0)),
        ("EPSG:32723", (-48.4, -23.0)),
        ("EPSG:32723", (-41.6, -23.0)),
        ("EPSG:32631", (4.0, -0.5)),
        ("EPSG:32601", (179.8, 52.0)),
    ],
)
def test_places_a_little_outside_of_a_zone_are_mapped_and_back(crs, place):
    frame = Frame(crs)
    metres = frame.from_map([place])
    assert np.abs(frame.to_map(metres)[0] - place).max() < 1e-8
    expected = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(*place)
    assert metres[0] == pytest.approx(expected, abs=1e-6)


def test_the_geometry_of_a_site_lies_where_the_site_does():
    for west, south in ((4.0, 52.0), (-43.2, -22.9), (179.97, -17.0), (-180.02, 51.8)):
        ring = box(west, south, 0.05, 0.02)
        site = dwell.Site.of(polygon(ring))
        shape = shapely.geometry.shape(site.__geo_interface__)
        pieces = [one for turn in (-360, 0, 360)
                  if (one := shapely.box(-180, -90, 180, 90).intersection(
                      shapely.Polygon(np.add(ring, (turn, 0.0))))).area > 0.0]  # fmt: skip
        assert shapely.hausdorff_distance(shape, shapely.union_all(pieces)) < 1e-5
        assert len(shapely.get_parts(shape)) == len(pieces) == (2 if abs(west) > 170 else 1)


# Maps.


@pytest.mark.parametrize("small", [0, 1, 2])
def test_a_hole_of_too_few_points_is_left_out_alone(tmp_path, small):
    holes = [box(4.01 + 0.03 * k, 52.01, 0.008 * (k + 1), 0.01)[::-1] for k in range(3)]
    sound = [hole for k, hole in enumerate(holes) if k != small]
    holes[small] = [holes[small][0], holes[small][1], holes[small][0]]
    found, expected = (
        dwell.Site.read(geojson(tmp_path / f"{name}.geojson", polygon(SQUARE, *rings)), repair=True)
        for name, rings in (("a", holes), ("b", sound))
    )
    assert found.workspace.area == pytest.approx(expected.workspace.area, rel=1e-12)
    assert len(found.workspace.parts[0].holes) == 2
    assert found.repairs
    assert not expected.repairs


RING = [box(4.0, 52.0, 0.3, 0.2), box(4.01, 52.005, 0.28, 0.19)]  # wide, but nearly all hole
SOLID = [box(5.0, 52.0, 0.15, 0.1)]
NORTHERN = [box(5.0, 75.0, 0.25, 0.1)]  # larger in degrees, smaller on the ground
SLANTED = [[[5.0, 52.0], [5.2, 52.0], [5.2, 52.1], [5.0, 52.0]]]  # half of a larger box


@pytest.mark.parametrize("other", [RING, NORTHERN, SLANTED])
def test_the_feature_that_is_proposed_has_the_largest_area(tmp_path, other):
    for k, shapes in enumerate(([SOLID, other], [other, SOLID])):
        path = geojson(tmp_path / f"{k}.geojson", *(polygon(*rings) for rings in shapes))
        assert survey(path)["keys"]["feature"] == k
    for k, shapes in enumerate(([SOLID, other], [other, SOLID])):
        path = tmp_path / f"{k}.gpkg"
        for j, (outer, *holes) in enumerate(shapes):
            vector(path, shapely.Polygon(outer, holes), "EPSG:4326", "GPKG", f"layer {j}")
        assert survey(path)["keys"]["layer"] == f"layer {k}"


def test_dates_of_a_map_are_in_utc(tmp_path):
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.25, t2=0.5)
    run = dwell.simulate(dwell.Box((0, 0), (4, 3)), None, [(1, 1), (3, 2)], law, until=1.5)
    epoch = {"epoch": "2026-05-01T23:59:59+02:00", "frames": 2}
    package = dwell.export_gis(run, tmp_path / "a.gpkg", frame=FRAME, **epoch)
    with closing(sqlite3.connect(package)) as table:
        (begins,) = table.execute("select begins from agents order by t0").fetchone()
    features = json.loads(
        dwell.export_gis(run, tmp_path / "a.geojson", frame=FRAME, **epoch).read_text()
    )["features"]
    agents = [one["properties"] for one in features if one["properties"]["layer"] == "agents"]
    assert begins == "2026-05-01T21:59:59Z"
    for one in agents:
        for at, date in ((one["t0"], one["begins"]), (one["t1"], one["ends"])):
            since = np.datetime64(date.removesuffix("Z").removesuffix("+00:00"))
            assert date.endswith(("Z", "+00:00"))
            assert since - np.datetime64("2026-05-01T21:59:59") == np.timedelta64(
                round(1e3 * at), "ms"
            )


# Rasters.


def stored(path: Path, values: np.ndarray, scales=(), offsets=(), **more) -> Path:
    tiff(path, values, "EPSG:32631", (WEST, NORTH), SIDE, **more)
    if scales:
        with rasterio.open(path, "r+") as file:
            file.scales, file.offsets = scales, offsets
    return path


def at(grid, row: int, column: int) -> float:
    """The value of a pixel of the file."""
    south = round((NORTH - (row + 1) * SIDE - grid.origin[1]) / grid.pixel[1])
    return grid.values[south, round((WEST + column * SIDE - grid.origin[0]) / grid.pixel[0])]


@pytest.mark.parametrize("band", [1, 2, 3])
def test_every_band_has_its_own_numbers_and_packing(tmp_path, band):
    scales, offsets = (0.5, 2.0, 0.25), (3.0, -1.0, 7.0)
    bands = np.stack([VALUES, VALUES[::-1], VALUES[:, ::-1]])
    path = stored(tmp_path / "a.tif", bands, scales, offsets)
    grid = read_grid(path, FRAME, FIELD, band=band)
    expected = scales[band - 1] * bands[band - 1] + offsets[band - 1]
    for row, column in ((3, 4), (5, 3), (4, 5)):
        assert at(grid, row, column) == expected[row, column]


@pytest.mark.parametrize("marked", ["nodata", "nan"])
@pytest.mark.parametrize(
    "options",
    [
        {"scale": -1.0},
        {"scale": 3.0},
        {"clip": 50.0},
        {"clip": (0.0, 2.0)},
        {"scale": -2.0, "clip": (100.0, 150.0)},
    ],
)
def test_nodata_is_a_value_after_scale_and_clip(tmp_path, marked, options):
    stated, instead = -9999.0, 5.0
    scale, (least, most) = options.get("scale", 1.0), (*np.atleast_1d(options.get("clip", 0.0)),
                                                       np.inf)[:2]  # fmt: skip
    values = np.sign(scale) * VALUES.astype(float)
    values[GAP] = stated if marked == "nodata" else np.nan
    path = stored(tmp_path / "a.tif", values, **({"nodata": stated} if marked == "nodata" else {}))
    grid = read_grid(path, FRAME, FIELD, nodata=instead, **options)
    assert at(grid, *GAP) == instead
    assert at(grid, 4, 5) == np.clip(scale * values[4, 5], least, most)
    with pytest.raises(SiteError, match="without a finite value"):
        read_grid(path, FRAME, FIELD, **options)


def test_outside_is_a_value_after_scale_and_clip(tmp_path):
    path = stored(tmp_path / "a.tif", -VALUES[:, :5].astype(float))
    grid = read_grid(path, FRAME, FIELD, scale=-1.0, clip=(25.0, 60.0), outside=3.0)
    assert at(grid, 5, 5) == 3.0
    assert at(grid, 4, 4) == np.clip(VALUES[4, 4], 25.0, 60.0)


def test_what_is_put_in_place_of_pixels_counts_in_means(tmp_path):
    values = VALUES.astype(float)
    values[GAP] = np.nan
    path = stored(tmp_path / "a.tif", values)
    for amounts in (False, True):
        grid = read_grid(path, FRAME, FIELD, nodata=7.0, scale=2.0, coarsen=2, amounts=amounts)
        whole = np.where(np.isnan(values), 7.0, 2.0 * values)
        west, south = (
            int(np.floor((WEST + (GAP[1] + 0.5) * SIDE - grid.origin[0]) / grid.pixel[0])),
            int(np.floor((NORTH - (GAP[0] + 0.5) * SIDE - grid.origin[1]) / grid.pixel[1])),
        )
        column = round((grid.origin[0] - WEST) / SIDE) + 2 * west
        row = round((NORTH - grid.origin[1]) / SIDE) - 2 * south - 2
        block = whole[row : row + 2, column : column + 2]
        assert block.size == 4
        assert grid.values[south, west] == (block.sum() if amounts else block.mean())


def test_pixels_of_a_picture_may_be_wider_than_high(tmp_path):
    path, wide, high = tmp_path / "a.png", 12.5, 8.0
    west, south = 40.0, -30.0
    field = dwell.Polygon(
        [(west + 30, south + 10), (west + 90, south + 22), (west + 41, south + 50)]
    )
    with (
        warnings.catch_warnings(action="ignore"),
        rasterio.open(
            path, "w", driver="PNG", height=ROWS, width=COLUMNS, count=1, dtype="uint8"
        ) as file,
    ):
        file.write(VALUES.astype(np.uint8)[None])
    grid = read_grid(path, None, field, origin=(west, south), pixel=(wide, high))
    places = np.random.default_rng(1).uniform(*field.bounds, (40, 2))
    for x, y in places[field.outside_by(places) <= 0.0]:
        row, column = ROWS - 1 - int((y - south) // high), int((x - west) // wide)
        at = int((y - grid.origin[1]) // high), int((x - grid.origin[0]) // wide)
        assert grid.values[at] == VALUES[row, column]

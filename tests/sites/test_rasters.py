"""Rasters from files: where pixels lie, and every verdict on bad ones."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import rasterio
import xarray as xr

import dwell
from dwell.errors import DwellWarning, SiteError
from dwell.sites import raster_files, rasters
from dwell.sites.frames import Frame, transformed
from dwell.sites.rasters import read_grid, read_raster
from tests.sites.files import tiff

UTM = "EPSG:32631"
FRAME = Frame(UTM)
WEST, NORTH = 5e5, 5.7e6  # the north-west corner of the rasters
FIELD = dwell.Polygon([(WEST + 22, NORTH - 91), (WEST + 75, NORTH - 88), (WEST + 51, NORTH - 33)])
VALUES = np.random.default_rng(2).uniform(1.0, 2.0, (12, 14))


def grid_file(path, values=VALUES, crs=UTM, **more):
    return tiff(path, values, crs, (WEST, NORTH), **more)


def refused(code, *words, path, frame=FRAME, workspace=FIELD, **options):
    with pytest.raises(SiteError) as error:
        read_grid(path, frame, workspace, **options)
    assert error.value.code == f"site.{code}"
    for word in (path.name, *words):
        assert word in str(error.value)


def value_at(grid, x, y):
    column, row = ((p - o) / s for p, o, s in zip((x, y), grid.origin, grid.pixel, strict=True))
    return grid.values[int(row), int(column)]


def agrees(grid, values=VALUES, pixel=10.0):
    """Whether a grid has the values of the file at random places of the workspace."""
    lower, upper = FIELD.bounds
    for x, y in np.random.default_rng(3).uniform(lower, upper, (50, 2)):
        row, column = int((NORTH - y) // pixel), int((x - WEST) // pixel)
        assert value_at(grid, x, y) == values[row, column]


def test_a_window_of_a_geotiff_lies_where_its_pixels_do(tmp_path):
    grid = read_grid(grid_file(tmp_path / "a.tif"), FRAME, FIELD)
    agrees(grid)
    assert grid.values.shape == (9, 8)  # a pixel beyond the workspace on each side


def test_pixel_is_point_moves_the_grid_by_half_a_pixel(tmp_path):
    path = grid_file(tmp_path / "a.tif", tags={"AREA_OR_POINT": "Point"})
    agrees(read_grid(path, FRAME, FIELD))
    with rasterio.Env(GTIFF_POINT_GEO_IGNORE=True), rasterio.open(path) as file:
        assert file.transform.c == WEST + 5.0  # what the file says: the centre of the first pixel


@pytest.mark.parametrize("rows", ["north first", "south first"])
def test_coordinates_of_netcdf_are_centres(tmp_path, rows):
    path, turn = tmp_path / "a.nc", slice(None) if rows == "north first" else slice(None, None, -1)
    x, y = WEST + 5.0 + 10.0 * np.arange(14), NORTH - 5.0 - 10.0 * np.arange(12)
    mapping, system = {"grid_mapping": "crs"}, {"crs_wkt": FRAME.system.to_wkt()}
    data = xr.Dataset(
        {"depth": (("y", "x"), VALUES[turn], mapping), "crs": ((), 0, system)},
        {"x": x, "y": y[turn]},
    )  # fmt: skip
    data.to_netcdf(path, engine="h5netcdf")
    agrees(read_grid(path, FRAME, FIELD))
    refused("band", "no grid 'height'", "depth", path=path, band="height")


def test_uneven_curvilinear_and_nameless_grids_are_refused(tmp_path):
    x, y = np.array([0.0, 10.0, 30.0]), np.array([0.0, 10.0])
    data = xr.Dataset({"depth": (("y", "x"), np.ones((2, 3)))}, {"x": x, "y": y})
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    refused("uneven", "coordinates x", "xarray", path=tmp_path / "a.nc")
    even = data.assign_coords(x=[0.0, 10.0, 20.0])
    even.to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    refused("raster-crs", "crs_wkt", path=tmp_path / "b.nc")
    bent = xr.Dataset({"depth": (("j", "i"), np.ones((2, 3)))})
    bent.to_netcdf(tmp_path / "c.nc", engine="h5netcdf")
    refused("curvilinear", "regular", path=tmp_path / "c.nc")


def test_a_picture_needs_a_place_and_a_pixel(tmp_path):
    path, values = tmp_path / "a.png", np.arange(1, 169, dtype=np.uint8).reshape(12, 14)
    with (
        warnings.catch_warnings(action="ignore"),
        rasterio.open(path, "w", driver="PNG", height=12, width=14, count=1, dtype="uint8") as file,
    ):
        file.write(values[None])
    refused("raster-crs", "origin", "pixel", path=path)
    grid = read_grid(path, None, FIELD, origin=(WEST, NORTH - 120.0), pixel=10.0)
    agrees(grid, values)


def test_bands_are_chosen_or_named(tmp_path):
    path = grid_file(tmp_path / "a.tif", np.stack([VALUES, 2.0 * VALUES]))
    refused("band", "bands 1 to 2", "band = ", path=path)
    refused("band", "no band 3", path=path, band=3)
    agrees(read_grid(path, FRAME, FIELD, band=2), 2.0 * VALUES)


def test_missing_values_are_counted_and_placed_or_filled(tmp_path):
    values = VALUES.copy()
    values[6, 5], values[0, 0] = -9999.0, -9999.0  # the second lies outside the workspace
    path = grid_file(tmp_path / "a.tif", values, nodata=-9999.0)
    refused("nodata", "1 pixel ", "(500055, 5699935)", "nodata = 0.0", path=path)
    grid = read_grid(path, FRAME, FIELD, nodata=0.25)
    assert value_at(grid, WEST + 55, NORTH - 65) == 0.25
    values[6, 5] = np.nan
    refused("nodata", "1 pixel ", path=grid_file(tmp_path / "b.tif", values, nodata=-9999.0))


def test_zeros_are_values_and_not_missing(tmp_path):
    values = np.where(np.arange(14) % 2, VALUES, 0.0)
    agrees(read_grid(grid_file(tmp_path / "a.tif", values), FRAME, FIELD), values)


def test_negative_values_and_zeros_everywhere_are_refused(tmp_path):
    values = VALUES.copy()
    values[6, 5] = -1.0
    refused("negative", "1 pixel ", "(500055, 5699935)", path=grid_file(tmp_path / "a.tif", values))
    refused("zero", "is 0", path=grid_file(tmp_path / "b.tif", np.zeros((12, 14))))


def test_a_raster_that_does_not_cover_is_refused_with_the_share(tmp_path):
    path = grid_file(tmp_path / "a.tif", VALUES[:, :5])
    share = 1.0 - dwell.moments(FIELD, dwell.Raster(
        np.ones((1, 1)), origin=(WEST, NORTH - 120.0), pixel=(50.0, 120.0), outside=0.0)
    ).mass / FIELD.area  # fmt: skip
    refused("uncovered", f"{100 * share:.3g} %", "outside = 0.0", path=path)
    grid = read_grid(path, FRAME, FIELD, outside=0.0)
    assert value_at(grid, WEST + 60, NORTH - 65) == 0.0
    assert value_at(grid, WEST + 45, NORTH - 65) == VALUES[6, 4]


def test_rasters_in_another_system_are_refused(tmp_path):
    path = grid_file(tmp_path / "a.tif", crs="EPSG:32632")
    refused("raster-crs", "UTM zone 32N", "frame = 'EPSG:32632'", path=path)
    refused("raster-crs", "no place on the Earth", path=path, frame=None)
    agrees(read_grid(grid_file(tmp_path / "c.tif", crs="EPSG:25831"), FRAME, FIELD))  # same metres
    degrees = tiff(tmp_path / "b.tif", VALUES, "EPSG:4326", (3.0, 51.5), 0.01)
    refused(
        "raster-degrees", "rio warp b.tif metres.tif --dst-crs EPSG:32631", "bilinear", path=degrees
    )
    refused("raster-degrees", "--resampling sum", path=degrees, amounts=True)


def test_rotated_rasters_and_other_files_are_refused(tmp_path):
    path = tmp_path / "a.tif"
    turned = rasterio.Affine(9.0, 1.0, WEST, 1.0, -9.0, NORTH)
    with rasterio.open(
        path, "w", driver="GTiff", height=4, width=4, count=1, dtype="uint8", crs=UTM,
        transform=turned,
    ) as file:  # fmt: skip
        file.write(np.ones((1, 4, 4), dtype=np.uint8))
    refused("raster-rotated", "rio warp a.tif north-up.tif --dst-crs EPSG:32631", path=path)
    (tmp_path / "b.tif").write_text("nothing")
    refused("unreadable", "GeoTIFF", path=tmp_path / "b.tif")


def test_large_rasters_need_coarsen_which_takes_means(tmp_path, monkeypatch):
    path = grid_file(tmp_path / "a.tif")
    monkeypatch.setattr(rasters, "MOST_PIXELS", 50)
    refused("pixels", "coarsen", path=path)
    grid = read_grid(path, FRAME, FIELD, coarsen=2)
    columns = int((grid.origin[0] - WEST) / 10.0) + np.arange(2)
    rows = int((NORTH - grid.origin[1]) / 10.0) - 1 - np.arange(2)
    assert grid.pixel == (20.0, 20.0)
    assert grid.values[0, 0] == pytest.approx(VALUES[np.ix_(rows, columns)].mean(), rel=1e-15)


def test_strips_give_the_values_of_the_whole(tmp_path, monkeypatch):
    path = grid_file(tmp_path / "a.tif")
    whole = read_grid(path, FRAME, FIELD, coarsen=2, amounts=True)
    monkeypatch.setattr(rasters, "STRIP", 1)
    assert np.array_equal(
        read_grid(path, FRAME, FIELD, coarsen=2, amounts=True).values, whole.values
    )


def test_untiled_files_are_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(raster_files, "LARGE_BLOCK", 500)
    values = np.ones((200, 300))
    with pytest.warns(DwellWarning, match=r"rio convert --co TILED=YES a\.tif"):
        read_grid(grid_file(tmp_path / "a.tif", values), FRAME, FIELD)  # strips of 3 rows
    with warnings.catch_warnings(action="error", category=DwellWarning):  # wide, of small blocks
        tiles = {"tiled": True, "blockxsize": 16, "blockysize": 16}
        read_grid(grid_file(tmp_path / "b.tif", values, **tiles), FRAME, FIELD)


def test_advice_about_systems_works_when_followed(tmp_path):
    """A raster in degrees and one in a system of unequal scales, and a site in a local frame."""
    local = Frame.about(3.0, 51.45)
    field = dwell.Polygon([(-900.0, -700.0), (800.0, -900.0), (300.0, 800.0)])
    degrees = tiff(tmp_path / "a.tif", VALUES, "EPSG:4326", (2.9, 51.51), 0.015)
    wide = tiff(tmp_path / "b.tif", VALUES, "ESRI:54009", (1.8e5, 6.04e6), 5e3)
    near = tiff(tmp_path / "c.tif", VALUES, "EPSG:25831", (4.9e5, 5.71e6), 2e3)
    for path in (degrees, wide, near):
        with pytest.raises(SiteError) as fault:
            read_grid(path, local, field)
        system = re.search(r"frame = ['\"](EPSG:\d+)", str(fault.value)).group(1)
        command = re.search(r"`(rio warp [^`]*)`", str(fault.value))
        assert (command is None) == (path == near)
        if command is not None:
            words = command.group(1).split()
            rio = Path(sys.executable).with_name("rio")  # installed with rasterio
            subprocess.run([rio, *words[1:]], cwd=tmp_path, check=True)
            path = path.with_name("metres.tif")
        frame = Frame(system)
        there = dwell.Polygon(transformed(field.vertices, local.system, frame.system))
        assert np.isfinite(read_grid(path, frame, there).values).all()
        (tmp_path / "metres.tif").unlink(missing_ok=True)


def test_the_density_of_a_file_is_the_raster_of_its_pixels(tmp_path):
    path = grid_file(tmp_path / "a.tif")
    for interpolation in ("constant", "bilinear"):
        found = read_raster(path, FRAME, FIELD, interpolation=interpolation)
        whole = dwell.Raster(
            VALUES, origin=(WEST, NORTH - 120.0), pixel=10.0, rows="north first",
            interpolation=interpolation,
        )  # fmt: skip
        one, other = dwell.moments(FIELD, found), dwell.moments(FIELD, whole)
        assert one.mass == pytest.approx(other.mass, rel=1e-13)
        assert np.abs(one.centroid - other.centroid).max() < 1e-9 * FIELD.diameter


def test_a_grid_mapping_that_is_not_in_the_file_is_refused(tmp_path):
    steps = {"y": np.arange(4.0), "x": np.arange(5.0)}
    grid = xr.DataArray(np.ones((4, 5)), steps, ("y", "x"), attrs={"grid_mapping": "crs"})
    grid.to_dataset(name="depth").to_netcdf(tmp_path / "a.nc", engine="h5netcdf")

    with pytest.raises(SiteError, match="grid_mapping 'crs' is not in the file"):
        raster_files.open_pixels(tmp_path / "a.nc", None)

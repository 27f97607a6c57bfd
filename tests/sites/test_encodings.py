"""One field in many encodings: the same masses and centroids, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import xarray as xr
from rasterio.enums import ColorInterp

import dwell
from dwell.errors import DensityError, SiteError
from dwell.sites.frames import Frame
from dwell.sites.rasters import read_raster

UTM = "EPSG:32631"
FRAME = Frame(UTM)
WEST, NORTH, WIDE, HIGH = 5e5, 5.7e6, 20.0, 10.0  # pixels are twice as wide as high
ROWS, COLUMNS = 13, 11
SOUTH, EAST = NORTH - ROWS * HIGH, WEST + COLUMNS * WIDE
RNG = np.random.default_rng(7)
FIELD = RNG.integers(11, 200, (ROWS, COLUMNS)).astype(np.float64)  # the northernmost row first
GAPS = np.zeros((ROWS, COLUMNS), dtype=bool)
GAPS[[3, 5, 8, 9], [4, 6, 3, 7]] = True
INSTEAD = 7.0  # of pixels without a value
SITE = dwell.Polygon([(WEST + 22, SOUTH + 11), (EAST - 15, SOUTH + 32), (WEST + 91, NORTH - 6)])
AGENTS = np.array([(WEST + x, SOUTH + y) for x, y in ((60, 40), (120, 50), (90, 90))])


def cells_of(density: Any) -> tuple[np.ndarray, np.ndarray]:
    found = dwell.tessellate(SITE, AGENTS, density)
    return found.masses, found.centroids


def expected(interpolation: str, gaps: bool) -> dwell.Raster:
    values = np.where(GAPS, INSTEAD, FIELD) if gaps else FIELD
    place: Any = {"origin": (WEST, SOUTH), "pixel": (WIDE, HIGH), "rows": "north first"}
    return dwell.Raster(values, **place, interpolation=interpolation)


# GeoTIFF.


def tiff(path: Path, values: np.ndarray, turn: tuple[bool, bool] = (False, False), **more: Any):
    """A GeoTIFF of the field; `turn`: whether rows, columns run the other way."""
    bands = values[None] if values.ndim == 2 else values
    up, back = turn
    bands = bands[:, :: -1 if up else 1, :: -1 if back else 1]
    transform = rasterio.Affine(
        -WIDE if back else WIDE, 0.0, EAST if back else WEST,
        0.0, HIGH if up else -HIGH, SOUTH if up else NORTH,
    )  # fmt: skip
    with rasterio.open(
        path, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=len(bands),
        dtype=bands.dtype, crs=UTM, transform=transform, **more,
    ) as file:  # fmt: skip
        file.write(bands)
    return path


def packed(path: Path) -> Path:
    tiff(path, (2.0 * (FIELD - 10.0)).astype(np.uint16))
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (10.0,)
    return path


def packed_with_gaps(path: Path) -> Path:
    stored = np.where(GAPS, 65535, 2.0 * (FIELD - 10.0)).astype(np.uint16)
    tiff(path, stored, nodata=65535)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (10.0,)
    return path


def with_mask(path: Path) -> Path:
    tiff(path, FIELD.astype(np.uint8))
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "r+") as file:
        file.write_mask(~GAPS)
    assert not path.with_name(path.name + ".msk").exists()
    return path


def with_alpha(path: Path) -> Path:
    bands = np.stack([FIELD.astype(np.uint8), np.where(GAPS, 0, 255).astype(np.uint8)])
    tiff(path, bands, photometric="minisblack", alpha="unspecified")
    with rasterio.open(path, "r+") as file:
        file.colorinterp = (ColorInterp.gray, ColorInterp.alpha)
    return path


# NetCDF.


def dataset(
    values: np.ndarray = FIELD, dims: tuple[str, ...] = ("y", "x"), **attributes: Any
) -> xr.Dataset:
    x = WEST + WIDE * (0.5 + np.arange(COLUMNS))
    y = NORTH - HIGH * (0.5 + np.arange(ROWS))
    mapping = {"grid_mapping": "crs", **attributes}
    found = xr.Dataset(
        {
            "depth": (("y", "x"), values, mapping),
            "crs": ((), 0, {"crs_wkt": FRAME.system.to_wkt()}),
        },
        {"x": x, "y": y},
    )
    return found.transpose(*dims, missing_dims="ignore")


def stored(path: Path, data: xr.Dataset, engine: str = "h5netcdf", **more: Any) -> Path:
    none = {name: {"_FillValue": None} for name in data.variables if name not in more}
    data.to_netcdf(path, engine=engine, encoding={**none, **more})
    return path


def by_attributes(path: Path) -> Path:
    """Dimensions of no known name, the one that leads east first."""
    data = dataset().rename(x="i", y="j").transpose("i", "j")
    data["i"].attrs["axis"], data["j"].attrs["standard_name"] = "X", "projection_y_coordinate"
    return stored(path, data)


def in_km(path: Path) -> Path:
    data = dataset()
    data = data.assign_coords(x=data["x"] / 1e3, y=data["y"] / 1e3)
    data["x"].attrs["units"] = data["y"].attrs["units"] = "km"
    return stored(path, data)


def unsigned(path: Path) -> Path:
    values = np.where(GAPS, 255, FIELD).astype(np.uint8).view(np.int8)
    data = dataset(values, _Unsigned="true", _FillValue=np.int8(-1))
    return stored(path, data, depth={})


def cf_packed(path: Path) -> Path:
    values = np.where(GAPS, -999, 2.0 * (FIELD - 10.0)).astype(np.int16)
    more = {"scale_factor": 0.5, "add_offset": 10.0, "missing_value": np.int16(-999)}
    return stored(path, dataset(values, **more))


def with_limits(path: Path) -> Path:
    values = np.where(GAPS, np.where(RNG.random(GAPS.shape) < 0.5, -5.0, 999.0), FIELD)
    return stored(path, dataset(values, valid_min=0.0, valid_max=500.0))


def with_times(path: Path) -> Path:
    later = xr.concat([dataset(FIELD[::-1])["depth"], dataset()["depth"]], "time")
    data = later.to_dataset(name="depth").assign(crs=dataset()["crs"])
    data = data.assign_coords(time=[0.0, 6.0])
    data["time"].attrs["units"] = "hours since 2026-05-01"
    return stored(path, data)


def with_others(path: Path) -> Path:
    data = dataset()
    data["height"] = data["depth"] * 3.0
    return stored(path, data)


def packed_within(values: bool) -> Callable[[Path], Path]:
    """Packed numbers with limits of what is stored, or of the values."""

    def write(path: Path) -> Path:
        odd = np.where(np.arange(COLUMNS) % 2, 481, -1)  # just beyond
        numbers = np.where(GAPS, odd, 2.0 * (FIELD - 10.0)).astype(np.int16)
        ends = np.array([10.0, 250.0]) if values else np.array([0, 480], dtype=np.int16)
        more = {"scale_factor": 0.5, "add_offset": 10.0, "valid_range": ends}
        return stored(path, dataset(numbers, **more))

    return write


def never_written(path: Path) -> Path:
    """Without a stated value for missing ones, that of the library stands for them."""
    usual = np.float32(9.969209968386869e36)
    return stored(path, dataset(np.where(GAPS, usual, FIELD).astype(np.float32)))


TIFFS: dict[str, Callable[[Path], Path]] = {
    "float64": lambda path: tiff(path, FIELD),
    "float32": lambda path: tiff(path, FIELD.astype(np.float32)),
    "int16 in tiles": lambda path: tiff(
        path, FIELD.astype(np.int16), tiled=True, blockxsize=16, blockysize=16, compress="deflate"
    ),
    "south up": lambda path: tiff(path, FIELD, (True, False)),
    "columns from the east": lambda path: tiff(path, FIELD, (False, True)),
    "both turned": lambda path: tiff(path, FIELD, (True, True)),
    "scale and offset": packed,
    "BigTIFF": lambda path: tiff(path, FIELD, BIGTIFF="YES"),
}
GRIDS: dict[str, Callable[[Path], Path]] = {
    "grid": lambda path: stored(path, dataset()),
    "transposed": lambda path: stored(path, dataset(dims=("x", "y"))),
    "transposed, by attributes": by_attributes,
    "from the south": lambda path: stored(path, dataset().isel(y=slice(None, None, -1))),
    "from the east": lambda path: stored(path, dataset().isel(x=slice(None, None, -1))),
    "kilometres": in_km,
    "NetCDF-3": lambda path: stored(path, dataset(), "scipy"),
    "NetCDF-3, transposed": lambda path: stored(path, dataset(dims=("x", "y")), "scipy"),
}
WITH_GAPS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "nodata": ("a.tif", lambda path: tiff(path, np.where(GAPS, 0.1, FIELD), nodata=0.1)),
    "NaN": ("a.tif", lambda path: tiff(path, np.where(GAPS, np.nan, FIELD))),
    "nodata and scale": ("a.tif", packed_with_gaps),
    "mask": ("a.tif", with_mask),
    "alpha": ("a.tif", with_alpha),
    "_FillValue": (
        "a.nc", lambda path: stored(path, dataset(np.where(GAPS, -1.0, FIELD), _FillValue=-1.0),
                                    depth={}),
    ),
    "missing_value and packing": ("a.nc", cf_packed),
    "_Unsigned": ("a.nc", unsigned),
    "limits": ("a.nc", with_limits),
    "limits of packed numbers": ("a.nc", packed_within(False)),
    "limits of values": ("a.nc", packed_within(True)),
    "never written": ("a.nc", never_written),
}  # fmt: skip


def agrees(path: Path, interpolation: str, gaps: bool = False, **options: Any) -> None:
    found = read_raster(path, FRAME, SITE, interpolation=interpolation, **options)
    (masses, centroids), (known, places) = cells_of(found), cells_of(expected(interpolation, gaps))
    np.testing.assert_allclose(masses, known, rtol=1e-12)
    np.testing.assert_allclose(centroids, places, atol=1e-9)


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
@pytest.mark.parametrize("encoding", [*TIFFS, *GRIDS])
def test_encodings_of_one_field_agree(tmp_path, encoding, interpolation):
    kinds = {**TIFFS, **GRIDS}
    path = kinds[encoding](tmp_path / ("a.tif" if encoding in TIFFS else "a.nc"))
    agrees(path, interpolation)


@pytest.mark.parametrize("encoding", WITH_GAPS)
def test_pixels_without_a_value_are_known_in_every_encoding(tmp_path, encoding):
    name, write = WITH_GAPS[encoding]
    path = write(tmp_path / name)
    with pytest.raises(SiteError, match="4 pixels without a finite value"):
        read_raster(path, FRAME, SITE)
    agrees(path, "constant", gaps=True, nodata=INSTEAD)


def test_a_time_and_a_grid_are_chosen(tmp_path):
    path = with_times(tmp_path / "a.nc")
    for time in (1, "2026-05-01T06:00", "2026-05-01 06:00:00Z"):
        agrees(path, "constant", time=time)
    for time in (None, 2, -1, "2026-05-02", "noon", True):
        with pytest.raises(SiteError, match=r"2 times.*time = "):
            read_raster(path, FRAME, SITE, time=time)
    agrees(with_others(tmp_path / "b.nc"), "constant", variable="depth")
    agrees(tmp_path / "b.nc", "constant", band="depth")
    with pytest.raises(SiteError, match="variable = its name: depth, height"):
        read_raster(tmp_path / "b.nc", FRAME, SITE)
    with pytest.raises(SiteError, match="no times"):
        read_raster(tmp_path / "b.nc", FRAME, SITE, variable="depth", time=0)
    with pytest.raises(SiteError, match="only NetCDF"):
        read_raster(tiff(tmp_path / "a.tif", FIELD), FRAME, SITE, time=0)


def test_depths_that_count_downwards_are_turned_round_and_clipped(tmp_path):
    shore = np.where(GAPS, 3.0, -FIELD)
    path = tiff(tmp_path / "a.tif", shore)
    with pytest.raises(SiteError, match=r"scale = -1.*clip = 0"):
        read_raster(path, FRAME, SITE)
    found = read_raster(path, FRAME, SITE, scale=-1.0, clip=(0.0,))
    known = dwell.Raster(
        np.where(GAPS, 0.0, FIELD), origin=(WEST, SOUTH), pixel=(WIDE, HIGH), rows="north first"
    )
    np.testing.assert_allclose(cells_of(found)[0], cells_of(known)[0], rtol=1e-12)
    both = read_raster(path, FRAME, SITE, scale=-2.0, clip=(20.0, 100.0))
    known = known.like(np.clip(-2.0 * shore, 20.0, 100.0)[::-1])
    np.testing.assert_allclose(cells_of(both)[0], cells_of(known)[0], rtol=1e-12)


def test_means_are_of_clipped_values(tmp_path):
    path = tiff(tmp_path / "a.tif", FIELD - 100.0)
    found = read_raster(path, FRAME, SITE, clip=(0.0,), coarsen=2, outside=0.0)
    single = read_raster(path, FRAME, SITE, clip=(0.0,))
    lower, upper = SITE.bounds
    middle = 0.5 * (lower + upper)
    column, row = ((middle - found.origin) // (2.0 * WIDE, 2.0 * HIGH)).astype(int)
    at = found.origin + np.array([column, row]) * (2.0 * WIDE, 2.0 * HIGH)
    block = at + [[WIDE * (i + 0.5), HIGH * (j + 0.5)] for i in (0, 1) for j in (0, 1)]
    np.testing.assert_allclose(found.grid[row, column], single.at(block).mean(), rtol=1e-13)


def test_dimensions_that_nothing_tells_apart_are_refused(tmp_path):
    data = dataset().rename(x="i", y="j")
    with pytest.raises(SiteError, match=r"j and i.*axis"):
        read_raster(stored(tmp_path / "a.nc", data), FRAME, SITE)


def test_a_grid_in_degrees_is_refused_with_a_command(tmp_path):
    data = dataset().drop_vars("crs")
    data["depth"].attrs = {}
    data = data.assign_coords(x=3.0 + data["x"] / 1e7, y=51.0 + data["y"] / 1e8)
    data["x"].attrs["units"], data["y"].attrs["units"] = "degrees_east", "degrees_north"
    with pytest.raises(SiteError, match=r"is in degrees.*rio warp") as error:
        read_raster(stored(tmp_path / "a.nc", data), FRAME, SITE)
    assert error.value.code == "site.raster-degrees"


def test_units_that_are_no_lengths_are_refused(tmp_path):
    data = dataset()
    data["x"].attrs["units"] = "degrees_east"
    with pytest.raises(SiteError, match=r"coordinates x in 'degrees_east'.*UTM"):
        read_raster(stored(tmp_path / "a.nc", data), FRAME, SITE)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("kind", ["tif", "nc", "classic"])
def test_damaged_files_are_refused_in_a_sentence(tmp_path, kind, share):
    whole = {
        "tif": lambda: tiff(tmp_path / "w.tif", FIELD),
        "nc": lambda: stored(tmp_path / "w.nc", dataset()),
        "classic": lambda: stored(tmp_path / "w.nc", dataset(), "scipy"),
    }[kind]()
    text = whole.read_bytes()
    path = tmp_path / f"cut{whole.suffix}"
    path.write_bytes(text[: int(share * len(text))])
    with warnings.catch_warnings(action="ignore"), pytest.raises(SiteError, match=r"^cut\."):
        read_raster(path, FRAME, SITE)


def test_masked_arrays_are_nodata_or_refused():
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    place: Any = {"origin": (0, 0), "pixel": 0.5}
    for kind in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
        values = np.ma.masked_equal(np.array([[10, 255], [20, 30]], kind), 255)
        with pytest.raises(DensityError, match=r"nodata = 0\.0"):
            dwell.Raster(values, **place)
        for nodata in (0.0, 2.5):
            found = dwell.moments(square, dwell.Raster(values, **place, nodata=nodata))
            assert found.mass == pytest.approx((60.0 + nodata) / 4.0, rel=1e-14)
        assert dwell.Raster(values, **place, nodata=0.0).values.dtype == kind
        whole = np.ma.masked_equal(values.data, 77)
        assert dwell.Raster(whole, **place).values.tolist() == values.data.tolist()


def test_masked_positions_and_vertices_are_refused():
    masked = np.ma.masked_all((1, 2))
    box = dwell.Box((0, 0), (1, 1))
    pair = np.ma.masked_equal(np.array([0.5, 7.0]), 7.0)
    ring = np.ma.masked_equal(np.array([(0.0, 0.0), (1.0, 0.0), (7.0, 1.0)]), 7.0)
    for call in (
        lambda: dwell.tessellate(box, masked),
        lambda: dwell.tessellate(box, [pair]),
        lambda: dwell.Polygon(ring),
        lambda: dwell.Region([ring]),
        lambda: dwell.Region(ring),
        lambda: dwell.Box(pair, (1, 1)),
        lambda: dwell.Gaussian(pair, rate=1.0),
        lambda: dwell.Keyframes(np.ma.masked_equal([0.0, 1.0], 1.0), [0.0, 1.0]),
        lambda: dwell.Keyframes([0.0, 1.0], np.ma.masked_equal([0.0, 1.0], 1.0)),
        lambda: box.contains(masked),
        lambda: dwell.moments(ring, dwell.Uniform()),
        lambda: dwell.Raster([[1.0]], origin=pair, pixel=1.0),
    ):
        with pytest.raises(dwell.DwellError):
            call()


def test_a_site_reads_its_raster(tmp_path):
    site = dwell.Site(SITE, FRAME)
    found = site.raster(tiff(tmp_path / "a.tif", -FIELD), scale=-1.0, interpolation="bilinear")
    masses, _ = cells_of(found)
    np.testing.assert_allclose(masses, cells_of(expected("bilinear", False))[0], rtol=1e-12)
    run = dwell.simulate(
        site.workspace, found, AGENTS, dwell.Timer(k1=1.0, nu=1.0, t1=1.0, t2=2.0), until=3.0
    )
    assert dwell.check(run).ok


def test_the_memory_of_a_raster_is_counted():
    """Twice its values, and sums: in what a run announces, not in what must still be free."""
    lines: list[str] = []
    box, law = dwell.Box((0, 0), (1, 1)), dwell.Timer(k1=0.1, nu=0.1, t1=1.0, t2=2.0)
    raster = dwell.Raster(np.ones((2000, 1000)), origin=(0, 0), pixel=(1e-3, 5e-4))
    dwell.simulate(
        box, raster, [(0.2, 0.3), (0.7, 0.6)], law, until=3.0,
        progress=lambda what, share: lines.append(what),
    )  # fmt: skip
    assert any("rasters" in line and "MB" in line for line in lines), lines


def test_keyframes_are_times_of_one_file(tmp_path):
    from dwell.scenario.raster_table import RasterSpec

    given = {"kind": "raster", "file": {"times": [0, 5], "values": ["a.nc", "a.nc"]}}
    spec = RasterSpec.model_validate({**given, "time": [1, "2026-05-01"]})
    assert [(one.file, one.time) for one in spec.frames()] == [("a.nc", 1), ("a.nc", "2026-05-01")]
    both = RasterSpec.model_validate({**given, "time": 1})
    assert [one.time for one in both.frames()] == [1, 1]

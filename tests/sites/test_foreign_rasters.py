"""Raster files that would read other files, or the network: refused before anything is read."""

from __future__ import annotations

import socket
import threading
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import xarray as xr

from dwell.errors import DwellError
from dwell.sites.rasters import read_raster
from tests.sites.test_encodings import COLUMNS, FIELD, FRAME, ROWS, SITE, dataset, stored, tiff


@pytest.fixture
def listener():
    """A server on this machine and the requests that it has received."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        done = threading.Event()

        def serve():
            while not done.is_set():
                try:
                    link, _ = server.accept()
                except TimeoutError:
                    continue
                with link:
                    requests.append(link.recv(4096))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}", requests
        finally:
            done.set()
            thread.join()


def vrt(source: str, more: str = "", kind: str = "SimpleSource") -> str:
    return f"""<VRTDataset rasterXSize="{COLUMNS}" rasterYSize="{ROWS}">
<SRS>EPSG:32631</SRS><GeoTransform>500000, 20, 0, 5700000, 0, -10</GeoTransform>
<VRTRasterBand dataType="Byte" band="1"><{kind}>
<SourceFilename relativeToVRT="0">{source}</SourceFilename><SourceBand>1</SourceBand>{more}
</{kind}></VRTRasterBand></VRTDataset>"""


def raw(source: str) -> str:
    return f"""<VRTDataset rasterXSize="{COLUMNS}" rasterYSize="{ROWS}"><SRS>EPSG:32631</SRS>
<GeoTransform>500000, 20, 0, 5700000, 0, -10</GeoTransform>
<VRTRasterBand dataType="Byte" band="1" subClass="VRTRawRasterBand">
<SourceFilename relativeToVRT="0">{source}</SourceFilename><ImageOffset>0</ImageOffset>
<PixelOffset>1</PixelOffset><LineOffset>{COLUMNS}</LineOffset></VRTRasterBand></VRTDataset>"""


def wms(where: str) -> str:
    return f"""<GDAL_WMS><Service name="TMS"><ServerUrl>http://{where}/${{z}}/${{x}}/${{y}}</ServerUrl>
</Service><DataWindow><UpperLeftX>500000</UpperLeftX><UpperLeftY>5700000</UpperLeftY>
<LowerRightX>500220</LowerRightX><LowerRightY>5699870</LowerRightY><TileLevel>1</TileLevel>
<SizeX>{COLUMNS}</SizeX><SizeY>{ROWS}</SizeY></DataWindow><Projection>EPSG:32631</Projection>
<BandsCount>1</BandsCount></GDAL_WMS>"""


TEXTS = {
    "VRT to a file": lambda secret, where: vrt(str(secret)),
    "VRT to an address": lambda secret, where: vrt(f"/vsicurl/http://{where}/a.tif"),
    "VRT of raw bytes": lambda secret, where: raw(str(secret)),
    "VRT, warped": lambda secret, where: vrt(str(secret)).replace(
        "<VRTDataset ", '<VRTDataset subClass="VRTWarpedDataset" '
    ),
    "VRT with Python": lambda secret, where: vrt(
        str(secret), "<PixelFunctionLanguage>Python</PixelFunctionLanguage>"
    ),
    "VRT after blanks": lambda secret, where: "\n  " + vrt(str(secret)),
    "VRT after a mark of order": lambda secret, where: "\ufeff" + vrt(str(secret)),
    "WMS": lambda secret, where: wms(where),
    "WMTS": lambda secret, where: (
        f"<GDAL_WMTS><GetCapabilitiesUrl>http://{where}/</GetCapabilitiesUrl></GDAL_WMTS>"
    ),
    "WCS": lambda secret, where: f"<WCS_GDAL><ServiceURL>http://{where}/</ServiceURL></WCS_GDAL>",
    "an address": lambda secret, where: f"http://{where}/a.tif",
    "a path": lambda secret, where: f"/vsicurl/http://{where}/a.tif",
    "STAC": lambda secret, where: (
        '{"type":"FeatureCollection","stac_version":"1.0.0","features":'
        f'[{{"assets":{{"a":{{"href":"http://{where}/a.tif"}}}}}}]}}'
    ),
    "tile index": lambda secret, where: (
        f"<GDALTileIndexDataset><IndexDataset>{secret}</IndexDataset></GDALTileIndexDataset>"
    ),
}


def refused(path: Path, listener, match: str = "") -> None:
    with pytest.raises(DwellError, match=match) as error:
        read_raster(path, FRAME, SITE, outside=0.0, nodata=0.0)
    assert "\n" not in str(error.value)
    assert not listener[1]


@pytest.mark.parametrize("ending", [".tif", ".nc", ".vrt", ".png"])
@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_name_other_files_are_refused(tmp_path, listener, text, ending):
    secret = tiff(tmp_path / "secret.tif", FIELD.astype(np.uint8))
    path = tmp_path / f"map{ending}"
    path.write_text(TEXTS[text](secret, listener[0]))
    refused(path, listener, "is no GeoTIFF, NetCDF or PNG")


@pytest.mark.parametrize("name", ["a.tif.msk", "a.tif.ovr", "a.tif.aux.xml", "a.ovr", "a.tfw"])
@pytest.mark.parametrize("text", ["VRT to an address", "WMS"])
def test_files_beside_a_raster_are_not_opened(tmp_path, listener, name, text):
    path = tiff(tmp_path / "a.tif", FIELD.astype(np.uint8))
    (tmp_path / name).write_text(TEXTS[text](path, listener[0]))
    if name.endswith(".msk") or (name.endswith(".xml") and "SRS" in TEXTS[text](path, "")):
        refused(path, listener, r"only a\.tif itself")
    else:
        assert read_raster(path, FRAME, SITE).values.max() == FIELD.max()
    assert not listener[1]


def test_notes_that_name_overviews_elsewhere_are_not_followed(tmp_path, listener):
    path = tiff(tmp_path / "a.tif", FIELD.astype(np.uint8))
    where = f"/vsicurl/http://{listener[0]}/a.ovr"
    notes = f'<PAMDataset><Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">{where}</MDI>'
    (tmp_path / "a.tif.aux.xml").write_text(f"{notes}</Metadata></PAMDataset>")
    assert read_raster(path, FRAME, SITE).values.max() == FIELD.max()
    assert not listener[1]


def test_statistics_beside_a_raster_do_no_harm(tmp_path):
    path = tiff(tmp_path / "a.tif", FIELD)
    notes = '<PAMDataset><PAMRasterBand band="1"><Metadata><MDI key="STATISTICS_MAXIMUM">9</MDI>'
    (tmp_path / "a.tif.aux.xml").write_text(f"{notes}</Metadata></PAMRasterBand></PAMDataset>")
    assert read_raster(path, FRAME, SITE).values.max() == FIELD.max()
    (tmp_path / "a.tif.aux.xml").write_text(
        '<PAMDataset><PAMRasterBand band="1"><Scale>2</Scale></PAMRasterBand></PAMDataset>'
    )
    with pytest.raises(DwellError, match=r"Scale in a\.tif\.aux\.xml.*rio convert"):
        read_raster(path, FRAME, SITE)


def outer_storage(file: h5py.File, secret: Path) -> None:
    size = ROWS * COLUMNS
    del file["depth"]
    file.create_dataset(
        "depth", (ROWS, COLUMNS), np.uint8, external=[(str(secret), 0, size)]
    )  # fmt: skip


def outer_link(file: h5py.File, secret: Path) -> None:
    del file["depth"]
    file["depth"] = h5py.ExternalLink(str(secret), "depth")


def outer_link_in_a_group(file: h5py.File, secret: Path) -> None:
    file.create_group("deep").create_group("er")["depth"] = h5py.ExternalLink(str(secret), "x")


def outer_storage_in_a_group(file: h5py.File, secret: Path) -> None:
    group = file.create_group("deep")
    group.create_dataset("x", (4,), np.uint8, external=[(str(secret), 0, 4)])


def put_together(file: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((ROWS, COLUMNS), np.float64)
    layout[:] = h5py.VirtualSource(str(secret), "depth", (ROWS, COLUMNS))
    del file["depth"]
    file.create_virtual_dataset("depth", layout)


def by_a_circle(file: h5py.File, secret: Path) -> None:
    outer_storage_in_a_group(file, secret)
    file["deep"]["up"] = file["/"]


@pytest.mark.parametrize(
    "attack",
    [
        outer_storage, outer_link, outer_link_in_a_group, outer_storage_in_a_group, put_together,
        by_a_circle,
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".nc", ".tif", ".h5"])
def test_netcdf_whose_numbers_lie_elsewhere_is_refused(tmp_path, listener, attack, ending):
    secret = stored(tmp_path / "secret.nc", dataset())
    path = stored(tmp_path / f"map{ending}", dataset())
    with h5py.File(path, "r+") as file:
        attack(file, secret)
    refused(path, listener, "only the file itself is read")


def test_netcdf_with_groups_and_links_within_is_read(tmp_path):
    path = stored(tmp_path / "a.nc", dataset())
    with h5py.File(path, "r+") as file:
        file.create_group("deep")["same"] = h5py.SoftLink("/depth")
        file["deep"]["up"] = file["/"]
    assert read_raster(path, FRAME, SITE, variable="depth").values.max() == FIELD.max()


def test_other_kinds_of_rasters_are_refused_with_a_way_out(tmp_path, listener):
    path = tmp_path / "a.asc"
    path.write_text("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n3 4\n")
    refused(path, listener, "rio convert")
    xr.Dataset({"a": ("x", np.zeros(3))}).to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    refused(tmp_path / "b.nc", listener, "0 grids")
    (tmp_path / "c.nc").write_bytes(b"CDF\x05" + bytes(40))
    refused(tmp_path / "c.nc", listener, "nccopy")


@pytest.mark.parametrize("attribute", ["crs_wkt", "spatial_ref", "proj4"])
def test_systems_that_name_files_are_refused(tmp_path, listener, attribute):
    grids = f"/vsicurl/http://{listener[0]}/a.gsb"
    data = dataset()
    data["crs"].attrs = {attribute: f"+proj=utm +zone=31 +ellps=intl +nadgrids={grids}"}
    refused(stored(tmp_path / "a.nc", data), listener, "names files")
    words = FRAME.system.to_wkt("WKT1_GDAL")
    words = words[:-1] + f',EXTENSION["PROJ4","+proj=utm +zone=31 +nadgrids={grids} +wktext"]]'
    data["crs"].attrs = {attribute: words}
    refused(stored(tmp_path / "b.nc", data), listener, "names files")
    if attribute == "crs_wkt":
        path = tiff(tmp_path / "a.tif", FIELD)
        with warnings.catch_warnings(action="ignore"), rasterio.open(path, "r+") as file:
            file.crs = rasterio.crs.CRS.from_wkt(words)
        with rasterio.open(path) as file:
            kept = "nadgrids" in file.crs.to_wkt()
        if kept:
            refused(path, listener, "names files")

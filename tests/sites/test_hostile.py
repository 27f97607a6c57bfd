"""Map files of others: nothing but the file itself is read, and nothing is sent."""

from __future__ import annotations

import http.server
import json
import shutil
import sqlite3
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dwell
from dwell.errors import InputError, SiteError
from dwell.sites.raster_files import open_pixels

from .files import SQUARE, geojson, polygon, tiff, topology, vector

SECRET = [[7.0, 47.0], [7.3, 47.0], [7.3, 47.3], [7.0, 47.3], [7.0, 47.0]]
VRT = (
    "<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>{}</SrcDataSource>"
    "<SrcLayer>{}</SrcLayer></OGRVRTLayer></OGRVRTDataSource>"
)


@pytest.fixture
def address():
    """The address of a listener, which must not be reached."""
    seen = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_error(404)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
    assert seen == []


@pytest.fixture
def secret(tmp_path):
    """A map that the files do not have, and may not name."""
    return vector(tmp_path / "secret.gpkg", SECRET, "EPSG:4326", "GPKG", "secret")


def refused(path, **keys):
    with pytest.raises(SiteError) as error:
        dwell.Site.read(path, **keys)
    says = str(error.value)
    assert says.startswith(path.name)
    assert "\n" not in says
    return says


XML = {
    "a VRT that names a file": VRT.format("{secret}", "secret"),
    "a VRT that names an address": VRT.format("/vsicurl/{address}/x.gpkg", "x"),
    "a VRT below a comment": "<!-- {{ -->" + VRT.format("{secret}", "secret"),
    "a VRT with SQL": "<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>{secret}"
    "</SrcDataSource><SrcSQL>SELECT * FROM secret</SrcSQL></OGRVRTLayer></OGRVRTDataSource>",
    "a service of features": "<OGRWFSDataSource><URL>{address}/wfs</URL></OGRWFSDataSource>",
    "GML with a schema": "<?xml version='1.0'?><gml:FeatureCollection xmlns:gml='{address}'/>",
    "KML with a link": "<kml><NetworkLink><href>{address}/a</href></NetworkLink></kml>",
    "SVG": "<svg xmlns='{address}'/>",
}
NAMES = ["harbour.geojson", "harbour.json", "harbour.gpkg", "harbour.shp", "harbour.fgb"]


@pytest.mark.parametrize("kind", XML)
@pytest.mark.parametrize("name", NAMES)
def test_xml_under_the_name_of_a_map_is_refused(tmp_path, address, secret, kind, name):
    path = tmp_path / name
    path.write_text(XML[kind].format(address=address, secret=secret))
    assert "XML, which could name other files" in refused(path)


TEXTS = {
    "a list of files of another format": "GDAL_MULTI\n{secret}",
    "a name of GDAL": "/vsicurl/{address}/a.gpkg",
    "a pipeline of GDAL": "gdal vector convert {secret}",
    "a table with addresses": "name,url\na,{address}/x\n",
    "a service": "[OAPIF]{address}/",
    "a database": "PG:host=127.0.0.1 dbname=x",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_other_texts_are_refused(tmp_path, address, secret, kind):
    path = tmp_path / "harbour.geojson"
    path.write_text(TEXTS[kind].format(address=address, secret=secret))
    assert "GeoPackage" in refused(path)


JSONS = {
    "a pipeline": {"type": "gdal_streamed_alg", "command_line": "gdal vector read {secret}"},
    "pages of a server": {"currentVersion": 1, "exceededTransferLimit": True, "url": "{address}"},
    "links": {"type": "FeatureCollection", "links": [{"rel": "next", "href": "{address}"}]},
    "a catalogue": {"stac_version": "1.0", "links": [{"rel": "self", "href": "{address}/i"}]},
    "a service of tiles": {"tilejson": "2.2.0", "tiles": ["{address}/z/x/y.pbf"]},
    "a feature by reference": {"type": "Feature", "geometry": {"$ref": "{secret}"}},
}


@pytest.mark.parametrize("kind", JSONS)
def test_json_that_names_others_is_refused(tmp_path, address, secret, kind):
    path = tmp_path / "harbour.geojson"
    text = json.dumps(JSONS[kind]).replace("{address}", address).replace("{secret}", str(secret))
    path.write_text(text)
    refused(path)


def test_links_in_a_sound_geojson_are_not_followed(tmp_path, address):
    link = {"type": "link", "properties": {"href": f"{address}/crs", "type": "proj4"}}
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), crs=link)
    assert "a name such as" in refused(path)
    path = geojson(tmp_path / "a.geojson", {**polygon(SQUARE), "crs": link}, links=[address])
    assert dwell.Site.read(path).workspace.area > 0.0


PACKAGES = {
    "a view with a function": "CREATE VIEW thing AS SELECT fid, load_extension('/tmp/x') AS geom, "
    "1 AS name FROM kept",
    "a view with a shape of a file": "CREATE VIEW thing AS SELECT fid, geom, "
    "BlobFromFile('/etc/passwd') AS name FROM kept",
    "a virtual table": "CREATE VIRTUAL TABLE thing USING VirtualOGR('{secret}')",
    "a virtual table of text": "CREATE VIRTUAL TABLE thing USING fts5(name)",
    "a computed column": "CREATE TABLE thing (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT "
    "GENERATED ALWAYS AS (hex('{secret}')) VIRTUAL)",
    "a computed column in short": "CREATE TABLE thing (fid INTEGER PRIMARY KEY, geom BLOB, name "
    "TEXT AS(hex('{secret}')))",
    "a computed column with a comment": "CREATE TABLE thing (fid INTEGER PRIMARY KEY, geom BLOB, "
    "name TEXT AS/* */(hex('{secret}')))",
    "a view under another": "CREATE VIEW thing AS SELECT * FROM pragma_function_list('x')",
}


@pytest.mark.parametrize("kind", PACKAGES)
def test_what_a_geopackage_computes_is_refused(tmp_path, secret, kind):
    path = vector(tmp_path / "a.gpkg", SQUARE, "EPSG:4326", "GPKG", "kept")
    sql = PACKAGES[kind].format(secret=secret)
    with closing(sqlite3.connect(path)) as base:
        if "VirtualOGR" in sql:
            base.execute("PRAGMA writable_schema = ON")
            row = ("table", "thing", "thing", 0, sql)
            base.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        else:
            base.execute(sql)
        base.commit()
    assert "thing" in refused(path, layer="kept")
    assert "new GeoPackage" in refused(path)


def test_a_text_of_a_geopackage_is_no_computed_column(tmp_path):
    path = vector(tmp_path / "a.gpkg", SQUARE, "EPSG:4326", "GPKG", "kept")
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE thing (a TEXT DEFAULT 'such as (this)')")
    assert dwell.Site.read(path, layer="kept").workspace.area > 0.0


def test_a_plain_view_of_a_geopackage_is_harmless(tmp_path):
    path = vector(tmp_path / "a.gpkg", SQUARE, "EPSG:4326", "GPKG", "kept")
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE VIEW names AS SELECT fid, name FROM kept")
    assert dwell.Site.read(path, layer="kept").workspace.area > 0.0


def test_other_databases_are_refused(tmp_path):
    path = tmp_path / "a.gpkg"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE thing (a)")
    assert "no GeoPackage" in refused(path)


@pytest.mark.parametrize(
    "text",
    [
        "+proj=utm +zone=31 +nadgrids=/etc/passwd +type=crs",
        'PROJCS["x",EXTENSION["PROJ4","+proj=tmerc +nadgrids={address}/a.gsb +units=m"]]',
        "+init=/tmp/other:1",
    ],
)
def test_systems_that_name_files_are_refused(tmp_path, address, text):
    text = text.format(address=address)
    path = vector(tmp_path / "a.shp", SQUARE, "EPSG:4326", "ESRI Shapefile")
    path.with_suffix(".prj").write_text(text)
    assert "names other files" in refused(path)
    package = vector(tmp_path / "a.gpkg", SQUARE, "EPSG:4326", "GPKG")
    with closing(sqlite3.connect(package)) as base:
        base.execute("UPDATE gpkg_spatial_ref_sys SET definition = ?", (text,))
        base.commit()
    assert "names other files" in refused(package)
    plain = geojson(tmp_path / "b.geojson", polygon(SQUARE))
    for key in ("crs", "frame"):
        with pytest.raises(SiteError, match="not one that names files"):
            dwell.Site.read(plain, **{key: text})


NAMED_LIKE_OTHERS = ["{host}/a.fgb", "GPKG:other.gpkg", "other.gpkg;a", "other.gpkg?", "CSV:a.fgb",
                     "packed.zip!other.gpkg", "{host}/a.gpkg", "/{folder}/other.gpkg"]  # fmt: skip


@pytest.mark.parametrize("name", NAMED_LIKE_OTHERS)
def test_a_name_opens_the_file_itself_or_none(tmp_path, monkeypatch, address, name):
    """Libraries take some names for addresses, archives, or files with options."""
    monkeypatch.chdir(tmp_path)
    other = vector(tmp_path / "other.gpkg", SECRET, "EPSG:4326", "GPKG", "kept")
    with zipfile.ZipFile("packed.zip", "w") as archive:
        archive.write(other, "other.gpkg")
    drivers = {True: ("a.fgb", "FlatGeobuf"), False: ("a.gpkg", "GPKG")}[name.endswith("fgb")]
    sound = vector(tmp_path / drivers[0], SQUARE, "EPSG:4326", drivers[1], "kept")
    plain = dwell.Site.read(sound).workspace.bounds[1].tolist()
    path = Path(name.format(host=address.replace("//", "/"), folder=tmp_path))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sound, path)
    elif path.samefile(other):
        plain = dwell.Site.read(other).workspace.bounds[1].tolist()
    says = said_of(path)
    if says:
        assert "rename it" in says
    else:
        assert dwell.Site.read(path).workspace.bounds[1].tolist() == plain


@pytest.mark.parametrize("kind", ["STORED", "DEFLATED", "BZIP2", "LZMA"])
def test_damaged_zips_are_one_sentence(tmp_path, kind):
    path, map_file = tmp_path / "a.zip", geojson(tmp_path / "a.geojson", *[polygon(SQUARE)] * 50)
    with zipfile.ZipFile(path, "w", getattr(zipfile, f"ZIP_{kind}")) as archive:
        archive.write(map_file, "a.geojson")
    sound, rng = path.read_bytes(), np.random.default_rng(3)
    for _ in range(60):
        data = bytearray(sound)
        for at in rng.integers(len(data), size=4):
            data[at] = rng.integers(256)
        path.write_bytes(data)
        assert "\n" not in said_of(path, feature=0)


def test_a_zip_gives_only_maps(tmp_path, address, secret):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.vrt", VRT.format(secret, "secret"))
        archive.writestr("../../up.txt", "x")
    assert "no map in it" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.geojson", VRT.format(f"/vsicurl/{address}/x", "x"))
    assert "XML" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "../../../b/a.geojson", geojson(tmp_path / "x", polygon(SQUARE)).read_text()
        )
    assert dwell.Site.read(path).workspace.area > 0.0
    assert not list(tmp_path.parent.glob("**/b/a.geojson"))
    path.write_bytes(path.read_bytes()[:60])
    assert "cannot be unpacked" in refused(path)


def test_a_zipped_shapefile_and_a_folder_are_read(tmp_path):
    folder = tmp_path / "maps"
    folder.mkdir()
    vector(folder / "one.shp", SQUARE, "EPSG:4326", "ESRI Shapefile")
    made = shutil.make_archive(str(tmp_path / "maps"), "zip", tmp_path, "maps")
    plain = dwell.Site.read(folder / "one.shp").workspace.vertices.tolist()
    for path in (folder, tmp_path / "maps.zip"):
        assert dwell.Site.read(path).workspace.vertices.tolist() == plain
    assert made.endswith("maps.zip")
    vector(folder / "two.shp", SECRET, "EPSG:4326", "ESRI Shapefile")
    assert "one, two" in refused(folder)
    assert dwell.Site.read(folder, layer="one").workspace.vertices.tolist() == plain
    (folder / "two.shp").write_text(VRT.format("x", "x"))
    refused(folder, layer="one")


def test_a_flatgeobuf_is_read(tmp_path):
    path = vector(tmp_path / "a.fgb", SQUARE, "EPSG:4326", "FlatGeobuf")
    plain = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(SQUARE)))
    assert dwell.Site.read(path).workspace.area == pytest.approx(plain.workspace.area, rel=1e-12)


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdin", "/proc/self/environ"])
def test_what_is_no_plain_file_is_refused(name):
    with pytest.raises(SiteError):
        dwell.Site.read(name)


ODD = [None, True, -1, 1e400, float("nan"), "x", [], {}, [[]], "EPSG:32631", 10**400, 181.0,
       "Polygon", "Feature", [[1, 2], [3, 4]], "\0"]  # fmt: skip


def changed(table, rng):
    """A table of JSON with one to three entries replaced or left out."""
    table, places = json.loads(json.dumps(table)), []

    def walk(one):
        keys = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            places.append((one, key))
            walk(one[key])

    for _ in range(rng.integers(1, 4)):
        places.clear()
        walk(table)
        if places:
            one, key = places[rng.integers(len(places))]
            if rng.random() < 0.7:
                one[key] = ODD[rng.integers(len(ODD))]
            else:
                del one[key]
    return table


def said_of(path, **keys):
    """What is said of a file that is refused; nothing of one that is read."""
    return said_by(lambda: dwell.Site.read(path, **keys))


def said_by(call):
    """What a refused call says; nothing of one that is accepted."""
    try:
        call()
    except InputError as fault:
        return str(fault)
    return ""


@pytest.mark.parametrize("seed", range(4))
def test_damaged_json_is_one_sentence(tmp_path, seed):
    far = polygon([[x + 1.0, y] for x, y in SQUARE])
    both = {"type": "GeometryCollection", "geometries": [polygon(SQUARE), far]}
    named = {"type": "name", "properties": {"name": "EPSG:4326"}}
    sound = geojson(tmp_path / "a.geojson", polygon(SQUARE), both, crs=named)
    tables = [json.loads(sound.read_text()), json.loads(topology(tmp_path / "t").read_text())]
    rng, path = np.random.default_rng(seed), tmp_path / "b.json"
    for k in range(100):
        path.write_text(json.dumps(changed(tables[k % 2], rng)))
        keys = {"feature": [0, "all"][k % 3 == 0], "crs": [None, "EPSG:4326"][k % 2]}
        assert "\n" not in said_of(path, **keys)


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp", "a.fgb"])
def test_damaged_files_are_one_sentence(tmp_path, name):
    driver = {"gpkg": "GPKG", "shp": "ESRI Shapefile", "fgb": "FlatGeobuf"}[name[2:]]
    path = vector(tmp_path / name, SQUARE, "EPSG:4326", driver)
    rng = np.random.default_rng(5)
    sound = {one: one.read_bytes() for one in tmp_path.glob("a.*")}
    for _ in range(60):
        for one, data in sound.items():
            one.write_bytes(data)
        one = list(sound)[rng.integers(len(sound))]
        data = bytearray(sound[one])
        for at in rng.integers(len(data), size=4):
            data[at] = rng.integers(256)
        one.write_bytes(data if rng.random() < 0.7 else data[: rng.integers(1, len(data))])
        assert "\n" not in said_of(path, feature=0)


def test_attributes_of_old_shapefiles_are_read(tmp_path):
    path = vector(tmp_path / "a.shp", SQUARE, "EPSG:4326", "ESRI Shapefile")
    table = path.with_suffix(".dbf")
    table.write_bytes(table.read_bytes().replace(b"one", b"K\xf6ln"[:3]))
    path.with_suffix(".cpg").write_text("UTF-8")
    assert dwell.Site.read(path, feature="name=K\xf6l").workspace.area > 0.0


ODD_VALUES = [np.array(["a", "b"]), pd.DataFrame({"a": [1, 2]}), pd.NA, "x" * 5000, 10**400, [], {},
              float("nan"), np.ma.masked, b"a", -1j]  # fmt: skip
KEYS = ["layer", "feature", "crs", "repair", "clip", "parts", "stay", "densify", "simplify"]


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: type(value).__name__)
def test_odd_keys_of_sites_are_one_sentence(tmp_path, value):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE))
    frame = dwell.Frame.about(4.0, 52.0)
    calls = [lambda key=key: dwell.Site.read(path, **{key: value}) for key in [*KEYS, "frame"]]
    calls += [lambda: dwell.Site.of(value), lambda: dwell.Site.of(polygon(SQUARE), crs=value)]
    calls += [lambda: dwell.Site.read(value), lambda: dwell.Frame.about(value, 52.0)]
    calls += [lambda: frame.from_map(value), lambda: dwell.Frame(value).system]
    for table in ({"features": value}, {"features": [value]}, {"geometry": value}):
        shape = {"type": "Feature" if "geometry" in table else "FeatureCollection", **table}
        calls.append(lambda shape=shape: dwell.Site.of(shape))
    for call in calls:
        assert "\n" not in (says := said_by(call))
        assert len(says) < 400


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: type(value).__name__)
def test_odd_options_of_rasters_are_one_sentence(tmp_path, value):
    metres = [[5e5, 5.7e6], [5.001e5, 5.7e6], [5.001e5, 5.7001e6], [5e5, 5.7001e6]]
    site = dwell.Site.of(polygon(metres), crs="EPSG:32631")
    path = tiff(tmp_path / "a.tif", np.ones((20, 20)), "EPSG:32631", (4.9995e5, 5.70015e6))
    assert site.raster(path, clip=0.5, scale=3).values.max() == 3.0
    options = ["band", "variable", "time", "nodata", "outside", "scale", "clip", "coarsen"]
    for key in [*options, "origin", "pixel", "interpolation", "amounts"]:
        with pytest.raises(InputError) as error:
            site.raster(path, **{key: value})
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 400
    with pytest.raises(InputError):
        site.raster(value)


def test_numbers_that_are_not_real_are_refused(tmp_path):
    path = tiff(tmp_path / "a.tif", np.ones((20, 20), "complex64"), "EPSG:32631", (5e5, 5.7e6))
    with pytest.raises(SiteError, match="complex64 numbers; real ones are needed"):
        open_pixels(path, None)


def test_a_system_that_is_used_all_round_is_used_everywhere():
    """The Antarctic one, from 180 west to 180 east."""
    ring = [[-2e6, 0.0], [-1.99e6, 0.0], [-1.99e6, 1e4], [-2e6, 1e4]]
    site = dwell.Site.of(polygon(ring), crs="EPSG:3031")
    middle = site.frame.to_map(np.mean(site.workspace.bounds, axis=0))[0]
    assert middle == pytest.approx([-89.86, -71.9], abs=0.2)


@pytest.mark.parametrize("crs", ["EPSG:5773", "EPSG:4978", 'LOCAL_CS["a drawing",UNIT["metre",1]]'])
def test_systems_without_a_place_are_refused(tmp_path, crs):
    metres = [[5e5, 5.7e6], [5.001e5, 5.7e6], [5.001e5, 5.7001e6], [5e5, 5.7001e6]]
    with pytest.raises(SiteError, match="no place on the Earth"):
        dwell.Site.of(polygon(metres), crs=crs)
    path = tiff(tmp_path / "a.tif", np.ones((20, 20)), crs, (4.9995e5, 5.70015e6))
    with pytest.raises(SiteError):
        dwell.Site.of(polygon(metres), crs="EPSG:32631").raster(path)


def test_a_map_without_layers_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"type": "Topology", "arcs": [], "objects": {}}')
    for layer in (None, "land"):
        assert "has no layers; one with a polygon is needed" in refused(path, layer=layer)

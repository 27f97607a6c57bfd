"""Outlines in GeoJSON, sent by the page."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

from dwell.errors import InputError
from dwell.web.limits import Limits
from dwell.web.work.outline_task import outline

LIMITS = Limits(body=50_000, numbers=500)
SQUARE = [[8.0, 53.0], [8.03, 53.0], [8.03, 53.02], [8.0, 53.02], [8.0, 53.0]]
ISLAND = [[8.01, 53.005], [8.01, 53.01], [8.02, 53.01], [8.01, 53.005]]
EAST = [[8.05, 53.0], [8.06, 53.0], [8.06, 53.01], [8.05, 53.0]]


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


def feature(geometry, **more):
    return {"type": "Feature", "properties": {}, "geometry": geometry, **more}


def sent(body, limits=LIMITS):
    return outline(body if isinstance(body, bytes) else json.dumps(body).encode(), limits)


def area(ring):
    x, y = np.asarray(ring).T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_degrees_become_metres():
    table = sent(feature(polygon(SQUARE)))["workspace"]
    width, height = np.ptp(np.asarray(table["vertices"]), axis=0)
    assert table["kind"] == "polygon"
    assert height == pytest.approx(0.02 * 111_290, rel=1e-3)  # a degree of latitude at 53 N
    assert width == pytest.approx(0.03 * 67_140, rel=2e-3)


def test_holes_and_parts_of_all_features_are_kept():
    line = {"type": "LineString", "coordinates": [[8.0, 53.0], [9.0, 53.0]]}
    features = [feature(polygon(SQUARE, ISLAND)), feature(line), feature(None)]
    whole = {"type": "FeatureCollection", "features": [*features, feature(polygon(EAST))]}
    table = sent(whole)["workspace"]
    assert table["kind"] == "region"
    assert sorted(len(part["holes"]) for part in table["parts"]) == [0, 1]
    whole_part = next(part for part in table["parts"] if part["holes"])
    share = area(whole_part["holes"][0]) / area(whole_part["outer"])
    assert share == pytest.approx(0.5 * 0.01 * 0.005 / (0.03 * 0.02), rel=1e-3)
    multi = {"type": "MultiPolygon", "coordinates": [[SQUARE, ISLAND], [EAST]]}
    assert sent({"type": "GeometryCollection", "geometries": [multi]})["workspace"] == table


def test_the_name_of_a_system_is_handed_on():
    named = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    again, plain = sent({**polygon(SQUARE), "crs": named}), sent(polygon(SQUARE))
    assert again["workspace"] == plain["workspace"]
    assert again["site"] is not None  # as QGIS names the system
    named["properties"]["name"] = "EPSG:32632"
    with pytest.raises(InputError, match="UTM zone 32N") as found:
        sent({**polygon(SQUARE), "crs": named})
    assert found.value.code == "site.extent"
    metres = [[5e5, 5.9e6], [5.01e5, 5.9e6], [5.01e5, 5.901e6], [5e5, 5.9e6]]
    corners = sent({**polygon(metres), "crs": named})["workspace"]["vertices"]
    assert sorted(map(list, corners)) == sorted(metres[:-1])


@pytest.mark.parametrize(
    "crs",
    [
        {"type": "link", "properties": {"href": "http://127.0.0.1:1/crs.prj"}},
        {"type": "name", "properties": {"name": "/etc/passwd"}},
        {"type": "name", "properties": {"name": "http://127.0.0.1:1/crs.prj"}},
        {"type": "name", "properties": {"name": "EPSG:32632\n/vsicurl/x"}},
        {"type": "name", "properties": {"name": 5}},
        {"type": "name"},
        "EPSG:32632",
    ],
)
def test_systems_by_link_or_by_path_are_refused(crs):
    with pytest.raises(InputError, match='such as "EPSG:4326"') as found:
        sent({**polygon(SQUARE), "crs": crs})
    assert (found.value.code, found.value.key) == ("web.outline", "workspace")


def test_links_in_other_members_are_left_out():
    linked = {"type": "link", "properties": {"href": "http://127.0.0.1:1/crs.prj"}}
    plain = sent(feature(polygon(SQUARE)))
    own = feature({**polygon(SQUARE), "crs": linked}, links=[{"href": "file:///etc/passwd"}])
    assert sent({"type": "FeatureCollection", "features": [{**own, "crs": linked}]}) == plain


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b"<OGRVRTDataSource/>", "web.outline", "the text of a GeoJSON"),
        (b"/etc/passwd", "web.outline", "the text of a GeoJSON"),
        (b"{", "scenario.syntax", "JSON"),
        ({"type": "Point", "coordinates": [8.0, 53.0]}, "web.outline", "has no polygon"),
        ({"workspace": {"kind": "box"}}, "web.outline", "has no polygon"),
        (polygon([[8, "53"]]), "web.outline", "rings of numbers"),
        ({"type": "Polygon"}, "web.outline", "rings of numbers"),
        (polygon([[8.0, True], [9.0, 1.0]]), "web.outline", "rings of numbers"),
        (polygon([[8.0, 53.0]] * 400), "web.too-many-numbers", "at most 500"),
        (b'{"a":' * 21 + b"1" + b"}" * 21, "web.too-deep", "at most 20"),
        (b"{" + b" " * 50_000 + b"}", "web.too-large", "at most 50000"),
        (polygon([[8, 53], [9, 54], [9, 53], [8, 54], [8, 53]]), "site.invalid", "not valid"),
    ],
)
def test_bad_outlines(body, code, words):
    with pytest.raises(InputError, match=words) as found:
        sent(body)
    assert found.value.code == code


def test_without_the_extra_the_sentence_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(InputError, match="pip install pyproj pyogrio rasterio shapely") as found:
        sent(polygon(SQUARE))
    assert found.value.code == "site.library"


def test_the_route(server):
    text = {"content-type": "text/plain"}
    body = json.dumps(polygon(SQUARE))
    answer = server.http.post("/api/site", content=body, headers=text)
    assert answer.json()["workspace"]["kind"] == "polygon"
    assert server.http.post(
        "/api/site", content=body, headers=text | {"origin": "http://evil"}
    ).is_error
    refused = server.http.post("/api/site", content="{}", headers=text)
    assert refused.status_code == 422
    assert refused.json()["error"]["code"] == "web.outline"
    assert server.http.post("/api/site", json=polygon(SQUARE)).status_code == 415


NEXT = [[8.03, 53.0], [8.06, 53.0], [8.06, 53.02], [8.03, 53.02], [8.03, 53.0]]


def test_polygons_that_share_an_edge_are_joined():
    two = {"type": "FeatureCollection", "features": [feature(polygon(r)) for r in (SQUARE, NEXT)]}
    found = sent(two)
    (part,) = found["workspace"]["parts"]
    assert not part["holes"]
    width = np.ptp(np.asarray(part["outer"])[:, 0])
    assert width == pytest.approx(0.06 * 67_140, rel=2e-3)
    assert found["repairs"][0] == "dissolved 2 features of outline.geojson"
    apart = {**two, "features": [feature(polygon(SQUARE)), feature(polygon(EAST))]}
    assert len(sent(apart)["workspace"]["parts"]) == 2


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ny_deg.geojson", "ny_deg.geojson"),
        ("Größe (2).JSON", "Größe (2).JSON"),
        ("../../etc/passwd", "etc_passwd.geojson"),
        ("a\nb\0c", "a_b_c.geojson"),
        ("..", "outline.geojson"),
    ],
)
def test_messages_have_the_name_of_the_file(name, shown):
    from dwell.web.work.outline_task import plain_name

    assert plain_name(name).endswith(shown)
    crossing = [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3], SQUARE[0]]
    with pytest.raises(InputError) as found:
        outline(json.dumps(polygon(crossing)).encode(), LIMITS, name)
    assert shown.rpartition("_")[2] in str(found.value)
    assert "/" not in plain_name(name)


def test_an_outline_keeps_its_place_and_a_scenario_may_have_it():
    from dwell.web.request_parsing import scenario_of

    found = outline(json.dumps(polygon(SQUARE)).encode(), LIMITS, "bay.geojson")
    data = {
        "site": found["site"],
        "workspace": found["workspace"],
        "agents": {"start": [[0.0, 0.0], [10.0, 0.0]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 90.0, "t1": 30.0, "t2": 60.0},
        "run": {"horizon": 100.0, "seed": 1},
    }
    scenario = scenario_of(data, LIMITS)
    assert scenario.site.file == "bay.geojson"
    assert scenario.units.as_json() == {"units": {"length": "m", "time": "s"}}
    here = scenario.site.crs
    for site in (
        {"file": "bay.geojson"},
        {"file": "/etc/passwd", "crs": here},
        {"file": "..", "crs": here},
        {"file": "a.geojson", "crs": "+proj=merc +nadgrids=/etc/passwd"},
        {"file": "a.geojson", "crs": here.replace('"unknown"', '"/etc/passwd"')},
        {"file": "a.geojson", "crs": here, "layer": "x"},
        {"file": "a.geojson", "crs": 5},
        "a.geojson",
    ):
        with pytest.raises(InputError) as refused:
            scenario_of({**data, "site": site}, LIMITS)
        assert refused.value.code == "web.site"
    with pytest.raises(InputError):
        scenario_of({key: value for key, value in data.items() if key != "workspace"}, LIMITS)


def test_a_run_of_an_outline_becomes_a_map(tmp_path):
    from dwell.exports import export_gis
    from dwell.runner import run_scenario
    from dwell.scenario import parse_scenario

    found = outline(json.dumps(polygon(SQUARE)).encode(), LIMITS, "bay.geojson")
    data = {
        "site": found["site"],
        "workspace": found["workspace"],
        "agents": {"start": [[0.0, 0.0], [10.0, 0.0]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 90.0, "t1": 30.0, "t2": 60.0},
        "run": {"horizon": 100.0, "seed": 1},
    }
    run = run_scenario(parse_scenario(data), progress=False)
    table = json.loads(export_gis(run, tmp_path / "bay.geojson").read_text())
    flat = json.dumps([f["geometry"]["coordinates"] for f in table["features"]])
    numbers = re.findall(r"[-\d.e]+", flat)
    places = np.array(numbers, dtype=float).reshape(-1, 2)
    assert places.min(axis=0) == pytest.approx([8.0, 53.0], abs=1e-6)
    assert places.max(axis=0) == pytest.approx([8.03, 53.02], abs=1e-6)

"""Outlines in GeoJSON, sent by the page."""

from __future__ import annotations

import json
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
    assert [len(part["holes"]) for part in table["parts"]] == [1, 0]
    hole = table["parts"][0]["holes"][0]
    share = area(hole) / area(table["parts"][0]["outer"])
    assert share == pytest.approx(0.5 * 0.01 * 0.005 / (0.03 * 0.02), rel=1e-3)
    multi = {"type": "MultiPolygon", "coordinates": [[SQUARE, ISLAND], [EAST]]}
    assert sent({"type": "GeometryCollection", "geometries": [multi]})["workspace"] == table


def test_the_name_of_a_system_is_handed_on():
    named = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert sent({**polygon(SQUARE), "crs": named}) == sent(polygon(SQUARE))
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
    with pytest.raises(InputError, match='not a name such as "EPSG:32632"') as found:
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
    with pytest.raises(InputError, match=r"pip install dwell\[geo\]") as found:
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

"""dwell site: what is in a map file, and the [site] that reads it."""

from __future__ import annotations

import json
import re
import tomllib

import numpy as np
import pytest

import dwell
from tests.cli.shell import dwell as shell
from tests.sites.files import SQUARE, geojson, polygon, vector

SMALL = [[[5.0, 52.0], [5.01, 52.0], [5.01, 52.01], [5.0, 52.0]]]
BOW = [[6.0, 52.0], [6.1, 52.1], [6.1, 52.0], [6.0, 52.1], [6.0, 52.0]]


def table_of(out: str) -> dict:
    """The [site] that the command shows."""
    return tomllib.loads(re.search(r"\[site\]\n(.+\n)+", out)[0])["site"]


def test_layers_and_features_are_shown(tmp_path):
    both = {"type": "MultiPolygon", "coordinates": [SMALL, [SQUARE]]}
    line = {"type": "LineString", "coordinates": SQUARE}
    path = geojson(tmp_path / "a.geojson", line, both, polygon(BOW))

    out = shell("site", path).out

    assert "a.geojson: GeoJSON, 1 layer" in out
    assert "layer a: 3 features in WGS 84 (EPSG:4326)" in out
    assert re.search(r" 0 +has no area +name=part 0", out)
    assert re.search(r" 1 +\d+\.\d+ by 5\.5\d+ +2 +0 +7 yes +name=part 1", out)
    assert re.search(r"parts 0, 1, ... \(km\): 6\.8\d by 5\.5\d, 0\.6\d+ by 1\.1\d", out)
    assert re.search(r" 2 .* no +name=part 2", out)
    assert all(len(line) < 80 for line in out.splitlines() if not line.startswith("file"))
    assert table_of(out) == {"file": str(path), "feature": 1}


def test_the_table_reads_the_file(tmp_path):
    path = tmp_path / "a.gpkg"
    vector(path, SQUARE, "EPSG:4326", "GPKG", "land")
    far = [[x + 60.0, y] for x, y in SQUARE]
    ring = [[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0], [0.0, 0.0]]
    import shapely

    vector(path, shapely.MultiPolygon([shapely.Polygon(far), shapely.Polygon(ring)]), "EPSG:4326",
           "GPKG", "water")  # fmt: skip
    done = shell("site", path)
    keys = table_of(done.out)

    assert keys["layer"] == "water"
    assert keys["parts"] == "largest"
    assert keys["densify"] > 0.0
    file = keys.pop("file")
    assert dwell.Site.read(file, **keys).workspace.area > 9e11
    assert table_of(shell("site", path, "--layer", "land").out) == {"file": file, "layer": "land"}
    found = shell("site", path, "--json").json
    assert {key: found["keys"][key] for key in keys} == keys
    assert [one["name"] for one in found["layers"]] == ["land", "water"]
    assert found["layers"][1]["features"][0]["parts"] == 2
    assert tomllib.loads(found["table"])["site"]["parts"] == "largest"


def test_a_feature_is_chosen(tmp_path):
    other = polygon([[x + 1.0, y - 90.0] for x, y in SQUARE])
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), other)
    for given, value in (("0", 0), ("name=part 1", "name=part 1"), ("all", "all")):
        assert table_of(shell("site", path, "--feature", given).out)["feature"] == value


@pytest.mark.parametrize("text", ["hello", "", "{}", '{"type": "Point", "coordinates": [1, 2]}'])
def test_what_is_no_map_is_one_sentence(tmp_path, text):
    path = tmp_path / "a.geojson"
    path.write_text(text)
    done = shell("site", path)
    said = done.err if done.code else done.out
    assert "a.geojson" in said
    assert "Traceback" not in said
    assert (done.code == 0) == ("Point" in text)
    if "Point" in text:
        assert "cannot be read as a site" in " ".join(said.split())


def test_an_outline_that_no_key_mends(tmp_path):
    path = geojson(tmp_path / "a.geojson", polygon(BOW))
    done = shell("site", path)
    assert done.code == 0
    assert "correct the outline there" in " ".join(done.out.split())
    found = json.loads(shell("site", path, "--json").out)
    assert found["keys"] is None
    assert found["table"] is None


def test_each_option_of_a_map_counts(tmp_path):
    from tests.exports.recorded_topics import topics_of

    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    (tmp_path / "a.toml").write_text(
        '[site]\nfile = "a.geojson"\nepoch = 2026-05-01T06:00:00Z\n'
        "[agents]\nstart = { count = 3, seed = 2 }\n"
        '[controller]\nkind = "timer"\nk1 = 5.0\nnu = 50.0\nt1 = 5.0\nt2 = 15.0\n'
        "[run]\nhorizon = 60.0\nseed = 3\n"
    )
    run = tmp_path / "run.nc"
    assert shell("run", tmp_path / "a.toml", "--out", run).code == 0
    other = ("--epoch", "2025-02-03T04:05:06Z")

    def begins(name, *more):
        assert shell("export", run, "--gis", tmp_path / name, *more).code == 0
        rows = [one["properties"] for one in json.loads((tmp_path / name).read_text())["features"]]
        return [row["begins"][:19] for row in rows if row["layer"] == "agents"]

    assert begins("b.geojson") == ["2026-05-01T06:00:00"] * 3 + ["2026-05-01T06:01:00"] * 3
    assert begins("c.geojson", *other)[::3] == ["2025-02-03T04:05:06", "2025-02-03T04:06:06"]
    assert begins("d.geojson", "--frames", 3)[::3] == [
        "2026-05-01T06:00:00", "2026-05-01T06:00:30", "2026-05-01T06:01:00"
    ]  # fmt: skip
    for more, date in (((), "2026-05-01T06:00:00"), (other, "2025-02-03T04:05:06")):
        assert shell("export", run, "--mcap", tmp_path / "e.mcap", "--force", *more).code == 0
        first = min(one.time for one in topics_of(tmp_path / "e.mcap")["/cost"])
        assert np.datetime64(round(first), "s") == np.datetime64(date)

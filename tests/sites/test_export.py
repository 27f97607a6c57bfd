"""Scenarios with a site, and runs written as maps and read back by GDAL."""

import json
import sys
from functools import partial

import numpy as np
import pyogrio
import pyogrio.raw
import pyproj
import pytest
import shapely

import dwell
from dwell.errors import InputError, ScenarioError, StoreError
from dwell.scenario import dump_toml, scenario_schema
from dwell.sites.frames import Frame
from dwell.web.limits import Limits
from dwell.web.request_parsing import scenario_of
from tests.cli.shell import dwell as shell
from tests.sites.files import SQUARE, geojson, polygon, tiff, vector

LAW = dwell.Timer(k1=0.05, nu=50.0, t1=5.0, t2=15.0)
BOATS = [[4.01, 52.01], [4.02, 52.01], [4.03, 52.02], [4.02, 52.03]]
SCENARIO = """
[site]
file = "site.geojson"
epoch = 2026-05-01T06:00:00Z

[agents]
coordinates = "degrees"
start = [[4.01, 52.01], [4.02, 52.01], [4.03, 52.02], [4.02, 52.03]]

[controller]
kind = "timer"
k1 = 0.05
nu = 50.0
t1 = 5.0
t2 = 15.0

[run]
horizon = 60.0
seed = 3
"""


@pytest.fixture
def folder(tmp_path):
    geojson(tmp_path / "site.geojson", polygon(SQUARE))
    (tmp_path / "site.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def run(folder):
    return dwell.run_scenario(folder / "site.toml", out=folder / "run.nc")


def test_layers_have_one_type_of_geometry(run, folder):
    dwell.export_gis(run, folder / "map.gpkg")

    types = {"region": "MultiPolygon", "cells": "MultiPolygon", "agents": "Point"}
    types |= {"paths": "LineString", "events": "Point"}
    for layer, kind in types.items():
        assert pyogrio.read_info(folder / "map.gpkg", layer=layer)["geometry_type"] == kind
        assert {one.geom_type for one in read(folder / "map.gpkg", layer)[0]} == {kind}


def read(path, layer):
    """The shapes and the columns of a layer, as GDAL reads them."""
    meta, _, shapes, columns = pyogrio.raw.read(path, layer=layer)
    return shapely.from_wkb(shapes), dict(zip(meta["fields"], columns, strict=True)), meta


# Scenarios.


def test_a_loaded_scenario_has_its_workspace_and_needs_no_file(folder):
    scenario = dwell.load_scenario(folder / "site.toml")
    site = dwell.Site.read(folder / "site.geojson")
    assert np.array(scenario.workspace.vertices).tolist() == site.workspace.vertices.tolist()
    assert scenario.site.crs == site.frame.crs
    assert scenario.site.epoch == "2026-05-01T06:00:00Z"
    assert np.array_equal(np.array(scenario.agents.start), site.frame.from_map(BOATS))
    (folder / "site.geojson").unlink()
    (folder / "again.toml").write_text(dump_toml(scenario))
    assert dwell.load_scenario(folder / "again.toml") == scenario


def test_an_override_of_the_site_is_read_before_its_file(folder):
    scenario = dwell.load_scenario(folder / "site.toml", ["site.simplify=1"])
    assert any("simplified" in repair for repair in scenario.site.repairs)
    assert scenario.site.simplify == 1.0


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ("[workspace]\nkind = 'box'\nlower = [0, 0]\nupper = [1, 1]", "site.workspace", "beside"),
        ("site.file=3", "scenario.type", "site.file"),
        ("site.file=other.geojson", "site.not-found", "other.geojson"),
        ("site.epoch=soon", "site.epoch", "date and time"),
        ("site.feature=1.5", "scenario.type", "number of a feature"),
        ("site.fiel=x", "scenario.unknown-key", "site.fiel"),
        ("agents.start={count=3}", "site.coordinates", "drawn in metres"),
    ],
)
def test_bad_sites_are_refused(folder, changes, code, words):
    file = folder / "site.toml"
    if changes.startswith("["):
        file.write_text(SCENARIO + changes)
        changes = []
    with pytest.raises(InputError, match=words) as error:
        dwell.load_scenario(file, changes)
    assert error.value.code == code


def test_degrees_without_a_site_are_refused(folder):
    tables = dwell.load_scenario(folder / "site.toml").model_dump(exclude_none=True)
    del tables["site"]
    tables["agents"]["coordinates"] = "degrees"
    with pytest.raises(ScenarioError, match=r"needs a \[site\]") as error:
        dwell.run_scenario(tables)
    assert error.value.code == "site.coordinates"


def test_a_server_takes_no_site():
    with pytest.raises(InputError, match="requests hold no paths") as error:
        scenario_of({"site": {"file": "/etc/passwd"}}, Limits())
    assert error.value.code == "web.site"


def test_the_schema_takes_a_site_in_place_of_a_workspace():
    import tomllib

    import jsonschema

    tables = tomllib.loads(SCENARIO.replace("2026-05-01T06:00:00Z", '"2026-05-01T06:00:00Z"'))
    jsonschema.validate(tables, scenario_schema())
    del tables["site"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tables, scenario_schema())


def test_a_changed_file_is_reported_and_not_resumed(folder, run):
    del run
    assert dwell.check(folder / "run.nc").ok
    geojson(folder / "site.geojson", polygon([[x + 0.001, y] for x, y in SQUARE]))
    found = {one.name: one for one in dwell.check(folder / "run.nc").findings}
    assert found["source"].status == "changed"
    assert "site.geojson" in found["source"].where
    with pytest.raises(InputError, match=r"site\.geojson"):
        dwell.resume_run(folder / "run.nc", horizon=90.0)
    (folder / "site.geojson").unlink()  # a run needs no other file
    report = dwell.check(folder / "run.nc")
    (found,) = [one for one in report.findings if one.name == "source"]
    assert found.status == "not applicable"
    assert "site.geojson is not there any more" in found.where
    assert found.where in report.says
    assert report.ok
    assert dwell.resume_run(folder / "run.nc", horizon=90.0).horizon == 90.0


def test_a_geotiff_as_the_density_of_a_site(tmp_path):
    corner = (5e5, 5.7e6)
    field = [[5e5, 5.699e6], [5.01e5, 5.699e6], [5.01e5, 5.7e6], [5e5, 5.7e6], [5e5, 5.699e6]]
    values = np.ones((10, 10))
    values[:, :5] = 3.0
    vector(tmp_path / "site.gpkg", field, "EPSG:32631", "GPKG")
    tiff(tmp_path / "risk.tif", values, "EPSG:32631", corner, 100.0)
    text = SCENARIO.replace("site.geojson", "site.gpkg").replace('coordinates = "degrees"\n', "")
    text = (
        text[: text.index("start =")] + "start = [[500500, 5699500]]" + text[text.index("\n\n[c") :]
    )
    (tmp_path / "a.toml").write_text(text + '\n[density]\nkind = "raster"\nfile = "risk.tif"\n')
    run = dwell.run_scenario(tmp_path / "a.toml", out=tmp_path / "a.nc")
    assert run.world(0.0).density.at(np.array([[500100.0, 5699500.0]])) == [3.0]
    cells = dwell.tessellate(run.workspace, run.positions(0.0), run.system.density)
    assert cells.masses[0] == pytest.approx(2e6, rel=1e-13)
    assert cells.errors[0, 0] == pytest.approx(-125.0, rel=1e-12)  # (3·250 + 750) / 4 - 500
    (tmp_path / "risk.tif").unlink()
    assert dwell.check(tmp_path / "a.nc").ok


# Maps.


def test_a_geopackage_has_the_run_in_the_coordinates_of_its_frame(folder, run):
    path = dwell.export_gis(run, folder / "run.gpkg", frames=3)
    names = ["region", "cells", "agents", "paths", "events"]
    assert pyogrio.list_layers(path)[:, 0].tolist() == names
    small = 1e-9 * run.workspace.diameter
    for name in names:
        crs = pyproj.CRS.from_user_input(read(path, name)[2]["crs"])
        assert crs.equals(Frame(run.scenario.site.crs).system)
    region = read(path, "region")[0][0]
    whole = shapely.Polygon(run.workspace.vertices)
    assert shapely.hausdorff_distance(region, whole) <= small
    cells, columns, _ = read(path, "cells")
    expected = dwell.tessellate(run.workspace, run.positions(30.0), run.system.density)
    now = columns["t0"] == 30.0
    assert columns["agent"][now].tolist() == [0, 1, 2, 3]
    assert np.array_equal(columns["mass"][now], expected.masses)
    for cell, own in zip(cells[now], expected.cells, strict=True):
        assert shapely.hausdorff_distance(cell, shapely.Polygon(own.vertices)) <= small
    assert shapely.area(cells[now]).sum() == pytest.approx(run.workspace.area, rel=1e-12)
    points, columns, _ = read(path, "agents")
    assert columns["begins"].astype("datetime64[s]")[4] == np.datetime64("2026-05-01T06:00:30")
    assert columns["ends"].astype("datetime64[s]")[4] == np.datetime64("2026-05-01T06:01:00")
    assert np.abs(shapely.get_coordinates(points)[4:8] - run.positions(30.0)).max() <= small


def test_paths_and_events_are_those_of_the_run(folder, run):
    path = dwell.export_gis(folder / "run.nc", folder / "run.gpkg")
    lines, columns, _ = read(path, "paths")
    for agent in range(run.agents):
        mine = columns["agent"] == agent
        length = shapely.length(lines[mine]).sum()
        assert length == pytest.approx(run.counters.distance[agent], rel=1e-9)
        ends = shapely.get_coordinates(lines[mine])
        assert np.abs(ends[0] - run.positions(0.0)[agent]).max() < 1e-6
        assert np.abs(ends[-1] - run.positions(run.horizon)[agent]).max() < 1e-6
    points, columns, _ = read(path, "events")
    assert np.array_equal(columns["agent"], run.events.agent)
    assert np.array_equal(shapely.get_coordinates(points), run.events.positions)


def test_geojson_is_in_degrees_with_its_layers_as_a_property(folder, run):
    path = dwell.export_gis(run, folder / "run.geojson")
    features = json.loads(path.read_text())["features"]
    outline = [one for one in features if one["properties"]["layer"] == "region"]
    frame = Frame(run.scenario.site.crs)
    corners = np.array(outline[0]["geometry"]["coordinates"][0][0])
    assert np.abs(frame.from_map(corners[:-1]) - run.workspace.vertices).max() < 1e-4  # 9 decimals
    assert sorted(map(tuple, corners.tolist()[:-1])) == sorted(map(tuple, SQUARE[:-1]))
    shapes, columns, meta = read(path, None)
    assert meta["crs"] == "EPSG:4326"
    assert set(columns["layer"]) == {"region", "cells", "agents", "paths", "events"}
    agents = [one["properties"] for one in features if one["properties"]["layer"] == "agents"]
    assert [one["agent"] for one in agents] == [0, 1, 2, 3] * 2
    assert outline[0]["properties"]["agent"] is None
    assert agents[0]["begins"].startswith("2026-05-01T06:00:00")
    assert len(shapes) == len(features)


def test_nothing_is_written_on_error(folder, run):
    target = folder / "run.gpkg"
    before = sorted(folder.iterdir())
    with pytest.raises(InputError, match=r"\.gpkg or \.geojson"):
        dwell.export_gis(run, folder / "run.dxf")
    with pytest.raises(InputError, match="date and time"):
        dwell.export_gis(run, target, epoch="soon")
    with pytest.raises(InputError, match="whole number from 1"):
        dwell.export_gis(run, target, frames=0)
    assert sorted(folder.iterdir()) == before
    target.write_text("kept")
    with pytest.raises(StoreError, match="exists already"):
        dwell.export_gis(run, target)
    assert target.read_text() == "kept"
    dwell.export_gis(run, target, force=True)
    assert len(pyogrio.list_layers(target)) == 5


def test_a_run_without_a_place_needs_a_frame(tmp_path):
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    run = dwell.simulate(dwell.Ball((0, 0), 9.0), None, [(1, 2), (3, 4)], law, until=1.0)
    with pytest.raises(InputError, match="no place on the Earth") as error:
        dwell.export_gis(run, tmp_path / "a.gpkg")
    assert error.value.code == "export.frame"
    path = dwell.export_gis(run, tmp_path / "a.gpkg", frame=Frame("EPSG:32631"))
    areas = shapely.area(read(path, "cells")[0])
    assert areas[:2].sum() == pytest.approx(81.0 * np.pi, rel=1e-4)


def test_a_run_without_events_has_no_paths(folder):
    scenario = dwell.load_scenario(folder / "site.toml", ["run.record.kind=summary"])
    path = dwell.export_gis(dwell.run_scenario(scenario), folder / "a.gpkg")
    assert pyogrio.list_layers(path)[:, 0].tolist() == ["region", "cells", "agents"]


def test_the_command_writes_a_map(folder, run):
    del run
    shown = shell("export", str(folder / "run.nc"), "--gis", str(folder / "a.gpkg"))
    assert (shown.code, shown.out.strip()) == (0, str(folder / "a.gpkg"))
    again = shell("export", str(folder / "run.nc"), "--gis", str(folder / "a.gpkg"))
    assert again.code == 2
    assert "--force" in again.err


@pytest.mark.parametrize("workspace", [dwell.Interval(0, 4), dwell.Ball((0.0,) * 3, 1.0)], ids=str)
def test_a_map_needs_the_plane(tmp_path, workspace):
    """Of a run and of a deployment alike; nothing is written."""
    best = dwell.optimize(workspace, None, 2, starts=1, progress=False)
    alone = dwell.simulate(workspace, None, best.positions, LAW, until=1.0)
    frame = Frame("EPSG:32631")
    for export in (best.export_gis, partial(dwell.export_gis, alone)):
        with pytest.raises(InputError, match="a map needs a run in the plane") as error:
            export(tmp_path / "a.gpkg", frame=frame)
        assert (error.value.code, error.value.key) == ("export.dimension", "workspace")
    assert not list(tmp_path.iterdir())


def test_a_frame_that_is_not_that_of_the_run_is_refused(run, folder):
    alone = dwell.simulate(run.workspace, None, run.positions(0.0), LAW, until=1.0)
    for crs, words in [
        ("EPSG:4326", "in degree"),
        ("EPSG:2263", "US survey foot"),
        ("EPSG:3995", "times those on the ground"),
        ("somewhere", "a system such as"),
    ]:
        for one in (run, alone):
            with pytest.raises(InputError, match=words if one is alone else "."):
                dwell.export_gis(one, folder / "a.gpkg", frame=Frame(crs))
    assert not (folder / "a.gpkg").exists()


def test_a_frame_of_another_place_is_refused_where_the_site_is_known(run, folder):
    for frame in (Frame.about(10.0, 60.0), Frame("EPSG:32618")):
        with pytest.raises(InputError, match="those of its site, in local metres") as error:
            dwell.export_gis(run, folder / "a.gpkg", frame=frame)
        assert error.value.code == "export.frame"
    assert not (folder / "a.gpkg").exists()
    own = dwell.Site.read(folder / "site.geojson").frame
    dwell.export_gis(run, folder / "a.gpkg", frame=own)
    dwell.export_gis(run, folder / "b.gpkg")
    one, other = (read(folder / f"{name}.gpkg", "agents")[0] for name in "ab")
    assert (one == other).all()


FAR = [[[52.0, 4.05]], [[400.0, 52.0]], [[np.inf, 0.0]], [[4, 91]], [[40.58, -74.15]], [[105, 50]]]


@pytest.mark.parametrize("law", [LAW, dwell.Lloyd(k2=0.01)], ids=["timer", "continuous"])
def test_a_run_of_a_site_in_python_keeps_its_frame(folder, law):
    site = dwell.Site.read(folder / "site.geojson")
    run = dwell.simulate(site, None, site.frame.from_map(BOATS), law, until=20.0, seed=1)
    run.save(folder / "run.nc")
    again = dwell.resume_run(folder / "run.nc", horizon=30.0)
    for one in (run, dwell.load_run(folder / "run.nc"), again):
        path = dwell.export_gis(one, folder / "a.gpkg", force=True)
        assert pyproj.CRS(read(path, "cells")[2]["crs"]).equals(site.frame.system)
        dwell.export_gis(one, path, frame=site.frame, force=True)
        for other in (Frame.about(10.0, 60.0), Frame("EPSG:32631")):
            with pytest.raises(InputError, match="those of its site, in local metres"):
                dwell.export_gis(one, path, frame=other, force=True)
    plain = dwell.simulate(site.workspace, None, site.frame.from_map(BOATS), law, until=1.0)
    with pytest.raises(InputError, match="no place on the Earth"):
        dwell.export_gis(plain, path, force=True)


@pytest.mark.parametrize("points", FAR)
def test_points_that_are_no_place_of_a_frame_are_refused(points):
    with pytest.raises(InputError, match="longitude comes first") as error:
        Frame.about(-74.15, 40.58).from_map(points)
    assert str(points[0][1]) in str(error.value)
    with pytest.raises(InputError, match="longitude comes first"):
        Frame("EPSG:32618").from_map(points)
    with pytest.raises(InputError, match="a system such as EPSG:32631 is needed"):
        Frame("junk").from_map([[4.0, 52.0]])


NOTCH = [[-179.95, -16.75], [-179.95, -16.97], [179.95, -16.97], [179.95, -16.74]]
ISLANDS = [  # the first is open to the north
    [[179.85, -17.0], [-179.85, -17.0], [-179.85, -16.75], *NOTCH, [179.85, -16.74]],
    [[179.2, -17.1], [179.5, -17.1], [179.4, -16.9]],
]


@pytest.fixture(scope="module")
def fiji(tmp_path_factory):
    """A run on two islands, of which one lies on both sides of the antimeridian."""
    made = tmp_path_factory.mktemp("fiji")
    shape = {"type": "MultiPolygon", "coordinates": [[[*ring, ring[0]]] for ring in ISLANDS]}
    geojson(made / "site.geojson", shape)
    text = SCENARIO[: SCENARIO.index("[agents]")] + "[agents]\nstart = { count = 6, seed = 2 }\n"
    text = text.replace("epoch", "stay = true\nepoch") + SCENARIO[SCENARIO.index("[controller]") :]
    (made / "site.toml").write_text(text.replace("0.05", "20.0"))
    return dwell.run_scenario(made / "site.toml", out=made / "run.nc"), made


def test_geojson_is_cut_at_the_antimeridian(fiji):
    run, folder = fiji
    path = dwell.export_gis(run, folder / "run.geojson", frames=3)
    shapes, columns, _ = read(path, None)
    bounds = shapely.bounds(shapes)
    assert shapely.is_valid(shapes).all()
    assert (np.abs(bounds[:, [0, 2]]) <= 180.0).all()
    alone = np.array(
        [shapely.bounds(part) for shape in shapes for part in shapely.get_parts(shape)]
    )
    assert (alone[:, 2] - alone[:, 0] < 1.0).all()
    both = (bounds[:, 0] == -180.0) & (bounds[:, 2] == 180.0)
    assert {"region", "cells"} <= set(columns["layer"][both])
    metres = read(dwell.export_gis(run, folder / "run.gpkg", frames=3), "region")[0][0]
    again = dwell.Site.read(path, feature="layer=region")
    assert again.workspace.area == pytest.approx(shapely.area(metres), rel=1e-6)
    assert len(again.workspace.parts) == 2
    assert any("joined 2 parts" in repair for repair in again.repairs)


def test_an_error_is_the_length_of_the_way_in_every_layer(fiji):
    _, folder = fiji
    keys = ["site.parts=largest", "agents.start.count=1", "run.horizon=3600"]
    run = dwell.run_scenario(dwell.load_scenario(folder / "site.toml", keys))
    path = dwell.export_gis(run, folder / "error.gpkg", frames=4)
    for layer in ("agents", "cells"):
        _, columns, _ = read(path, layer)
        expected = [run.errors(float(t))[0] for t in columns["t0"]]
        assert columns["error"] == pytest.approx(expected, rel=1e-12)
    straight = dwell.tessellate(run.workspace, run.positions(3600.0), run.system.density).errors
    assert abs(columns["error"][-1] - np.hypot(*straight[0])) > 100.0
    _, columns, _ = read(path, "events")
    assert columns["error"][-1] == pytest.approx(run.errors(run.events.time[-1])[0], rel=1e-9)


def test_features_have_the_numbers_of_agents_once_some_have_left(folder):
    text = SCENARIO + "[[world]]\nfrom = 30.0\nleave = [1]\n"
    (folder / "left.toml").write_text(text)
    run = dwell.run_scenario(folder / "left.toml")
    path = dwell.export_gis(run, folder / "left.gpkg", frames=2)
    points, columns, _ = read(path, "agents")
    late = columns["t0"] == 60.0
    assert columns["agent"][late].tolist() == [0, 2, 3]
    there = shapely.get_coordinates(points)[late]
    assert np.abs(there - run.positions(60.0)[[0, 2, 3]]).max() < 1e-9
    assert columns["error"][late] == pytest.approx(run.errors(60.0)[[0, 2, 3]], rel=1e-12)
    lines, columns, _ = read(path, "paths")
    for agent in range(4):
        mine = lines[columns["agent"] == agent]
        assert shapely.length(mine).sum() == pytest.approx(run.counters.distance[agent], rel=1e-9)
    assert columns["t1"][columns["agent"] == 1].max() <= 30.0


@pytest.mark.parametrize(
    ("given", "utc"),
    [
        ("2026-05-01T06:00:00+02:30", "2026-05-01T03:30:00Z"),
        ("2026-05-01T06:00:00-05:00", "2026-05-01T11:00:00Z"),
        ("2026-05-01T06:00:00", "2026-05-01T06:00:00Z"),
    ],
)
def test_the_zone_of_an_epoch_counts(folder, given, utc):
    text = SCENARIO.replace("epoch = 2026-05-01T06:00:00Z", f"epoch = {given}")
    (folder / "zone.toml").write_text(text)
    scenario = dwell.load_scenario(folder / "zone.toml")
    assert scenario.site.epoch == utc
    path = dwell.export_gis(dwell.run_scenario(scenario), folder / "zone.gpkg")
    _, columns, _ = read(path, "agents")
    assert columns["begins"].astype("datetime64[s]")[0] == np.datetime64(utc.rstrip("Z"))


# The best deployment.

NOTCHED = [[4.0, 52.0], [4.1, 52.0], [4.1, 52.05], [4.06, 52.01], [4.0, 52.05], [4.0, 52.0]]


@pytest.mark.parametrize("stay", [None, False, True])
def test_the_best_deployment_as_a_map(folder, stay):
    if stay is not None:
        geojson(folder / "site.geojson", polygon(NOTCHED))
    changes = [] if stay is None else ["--set", f"site.stay={str(stay).lower()}"]
    outcome = shell(
        "optimize", folder / "site.toml", "--starts", 3, "--json", "--gis", folder / "best.gpkg",
        *changes,
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert sorted(pyogrio.list_layers(folder / "best.gpkg")[:, 0]) == ["agents", "cells", "region"]
    places, agents, meta = read(folder / "best.gpkg", "agents")
    site = dwell.Site.read(folder / "site.geojson", stay=bool(stay))
    assert pyproj.CRS(meta["crs"]).equals(site.frame.system)
    assert shapely.get_coordinates(places).tolist() == outcome.json["positions"]
    (region,), columns, _ = read(folder / "best.gpkg", "region")
    cells, rows, _ = read(folder / "best.gpkg", "cells")
    assert columns["area"][0] == pytest.approx(site.workspace.volume, rel=1e-12)
    assert rows["agent"].tolist() == agents["agent"].tolist() == [0, 1, 2, 3]
    assert shapely.area(cells) == pytest.approx(rows["area"], rel=1e-12)
    assert rows["area"].sum() == pytest.approx(columns["area"][0], rel=1e-9)
    assert rows["mass"] == pytest.approx(rows["area"], rel=1e-9)
    assert shapely.union_all(cells).symmetric_difference(region).area < 1e-6 * region.area
    if stay is not False:  # else agents may stand outside
        assert (shapely.distance(cells, places) < 1e-6).all()


def test_that_map_in_degrees_and_from_python(folder):
    assert shell(
        "optimize", folder / "site.toml", "--starts", 2, "--gis", folder / "best.geojson"
    ).code == 0  # fmt: skip
    features = json.loads((folder / "best.geojson").read_text())["features"]
    degrees = [one for one in features if one["properties"]["layer"] == "agents"]
    found = dwell.optimize(folder / "site.toml", starts=2)
    frame = dwell.Site.read(folder / "site.geojson").frame
    there = [one["geometry"]["coordinates"] for one in degrees]
    assert np.abs(np.array(there) - frame.to_map(found.positions)).max() < 1e-8
    path = found.export_gis(folder / "own.gpkg", frame=frame)
    assert shapely.get_coordinates(read(path, "agents")[0]).tolist() == found.positions.tolist()
    with pytest.raises(InputError, match="--force"):
        found.export_gis(path, frame=frame)
    for wrong, words in ((None, "a dwell.Frame is needed"), (Frame("EPSG:3995"), "of its site")):
        with pytest.raises(InputError, match=words):
            found.export_gis(path, frame=wrong, force=True)


def test_maps_that_cannot_be_written_are_refused_before_the_search(folder, monkeypatch):
    monkeypatch.setattr(sys.modules["dwell.studies.optimize"], "optimize_scenario", None)
    (folder / "there.gpkg").write_text("kept")
    plain = dwell.load_scenario(folder / "site.toml").model_dump(exclude_none=True)
    del plain["site"]
    (folder / "plain.json").write_text(json.dumps(plain))
    for name, path, words in [
        ("site.toml", "a.shp", "a map is written as .gpkg or .geojson"),
        ("site.toml", "there.gpkg", "--force"),
        ("plain.json", "a.gpkg", "no place on the Earth"),
    ]:
        outcome = shell("optimize", folder / name, "--gis", folder / path)
        assert outcome.code == 2
        assert words in outcome.sentences[0]
    assert (folder / "there.gpkg").read_text() == "kept"
    assert not (folder / "a.gpkg").exists()

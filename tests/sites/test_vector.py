"""Sites from map files: frames against PROJ, and every verdict on bad outlines."""

import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely

import dwell
from bench.regions import coast
from dwell.errors import InputError, SiteError
from dwell.sites import libraries
from dwell.sites.frames import Frame, _range_in_words, scales_of, transformed, unsuited, zone_of
from tests.sites.files import SQUARE, followed, geojson, polygon, topology, vector

UTM = "EPSG:32631"
FIELD = [[5e5, 5.7e6], [5.01e5, 5.7e6], [5.012e5, 5.7006e6], [5e5, 5.701e6]]


def refused(code, *words, **options):
    """What `Site.read` says of a file that it refuses."""
    path = options.pop("path")
    with pytest.raises(SiteError) as error:
        dwell.Site.read(path, **options)
    assert error.value.code == f"site.{code}"
    for word in (path.name, *words):
        assert word in str(error.value)
    return str(error.value)


# Frames.


@pytest.mark.parametrize("at", [(4.05, 52.02), (179.99, -16.5), (-70.0, 0.0)])
def test_degrees_are_mapped_as_proj_maps_them(at):
    frame = Frame.about(*at)
    there = np.array(at) + np.random.default_rng(1).uniform(-1.0, 1.0, (50, 2))
    text = f"+proj=tmerc +lon_0={at[0]} +lat_0={at[1]} +datum=WGS84 +units=m"
    oracle = pyproj.Transformer.from_crs("EPSG:4326", text, always_xy=True)
    metres = frame.from_map(there)
    assert np.abs(metres - np.column_stack(oracle.transform(*there.T))).max() < 1e-6
    back = frame.to_map(metres)
    assert np.abs((back - there + 180.0) % 360.0 - 180.0).max() < 1e-11


def test_lengths_of_a_local_frame_are_those_on_the_ground(tmp_path):
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(SQUARE)))
    corners = site.frame.to_map(site.workspace.hull.vertices)
    globe = pyproj.Geod(ellps="WGS84")
    _, _, ground = globe.inv(*corners.T, *np.roll(corners, -1, axis=0).T)
    sides = np.hypot(*(np.roll(site.workspace.vertices, -1, axis=0) - site.workspace.vertices).T)
    assert sides == pytest.approx(ground, rel=1e-6)


@pytest.mark.parametrize(("driver", "suffix"), [("GPKG", "gpkg"), ("ESRI Shapefile", "shp")])
def test_projected_metres_are_used_as_they_are(tmp_path, driver, suffix):
    site = dwell.Site.read(vector(tmp_path / f"a.{suffix}", [*FIELD, FIELD[0]], UTM, driver))
    assert sorted(site.workspace.vertices.tolist()) == sorted(FIELD)
    assert pyproj.CRS(site.frame.crs) == pyproj.CRS(UTM)
    assert site.repairs == ()
    assert "0.04 % shorter" in site.notes[0]


@pytest.mark.parametrize(
    ("crs", "why"),
    [
        ("EPSG:3857", "1.62 to 1.63 times"),
        ("EPSG:6933", "times those on the ground"),
        ("ESRI:54009", "times those on the ground"),
        ("EPSG:2263", "US survey foot"),
        ("EPSG:4052", ""),
    ],
)
def test_coordinates_that_are_no_metres_on_the_ground_are_mapped(tmp_path, crs, why):
    place = (-74.1, 40.6) if crs == "EPSG:2263" else (4.0, 52.0)
    ring = (np.array(SQUARE) - SQUARE[0]) / 10.0 + place
    there = np.column_stack(
        pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(*ring.T)
    )
    site = dwell.Site.read(vector(tmp_path / "a.gpkg", there.tolist(), crs, "GPKG"))
    expected = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(ring.tolist())))
    corners = shapely.Polygon(site.frame.to_map(site.workspace.hull.vertices))
    assert shapely.hausdorff_distance(corners, shapely.Polygon(ring)) < 1e-7
    assert site.workspace.area == pytest.approx(expected.workspace.area, rel=1e-4)
    assert site.frame.system.name == "local metres"
    if why:
        assert why in site.notes[0]
        assert crs in site.notes[0]


@pytest.mark.parametrize(
    ("crs", "at", "few"),
    [
        ("EPSG:6933", (23.7, 38.0), False),
        ("ESRI:54009", (3.4, 6.5), False),
        ("EPSG:3035", (-16.5, 28.3), False),
        ("EPSG:3577", (147.3, -42.9), False),
        ("EPSG:2163", (-155.5, 19.5), False),
        ("EPSG:32629", (-8.8, 52.3), True),
        ("EPSG:32723", (-43.2, -22.9), True),
        ("EPSG:2154", (2.3, 48.8), True),
    ],
)
def test_scales_are_those_of_proj_in_every_direction(crs, at, few):
    """On the ellipsoid of GPS, also where a system is of a sphere, as EPSG:2163 is."""
    system, base = pyproj.CRS(crs), pyproj.CRS("EPSG:4326")
    course = np.arange(0.0, 360.0, 0.5)
    steps = base.get_geod().fwd(*(np.full(720, c) for c in at), course, np.full(720, 10.0))
    point = transformed([at], base, system)
    away = np.hypot(*(transformed(np.column_stack(steps[:2]), base, system) - point).T) / 10.0
    assert scales_of(system, point)[0] == pytest.approx([away.min(), away.max()], rel=1e-5)
    assert (unsuited(system, point) is None) == few


def test_scale_is_measured_over_the_whole_site(tmp_path):
    ring = [[-5.0, 50.0], [11.0, 50.0], [11.0, 50.2], [-5.0, 50.2], [-5.0, 50.0]]  # in four zones
    path = geojson(tmp_path / "a.geojson", polygon(ring))
    with pytest.raises(SiteError, match="leave frame out") as error:
        dwell.Site.read(path, densify=1e4, frame="EPSG:32630")
    assert "1 to 1.01" in str(error.value)
    assert 'frame = "EPSG:32631"' in str(error.value)
    (note,) = [one for one in dwell.Site.read(path, densify=1e4, frame="EPSG:32631").notes
               if "lengths" in one]  # fmt: skip
    assert "0.04 % shorter to 0.37 % longer" in note


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (0.999615, 0.99962, "0.038 to 0.039 % shorter"),
        (0.9996, 0.9996, "0.04 % shorter"),
        (0.99, 1.0123, "1 % shorter to 1.3 % longer"),
        (1.0, 1.00345, "up to 0.35 % longer"),
        (1.00201, 1.00345, "0.2 to 0.35 % longer"),
    ],
)
def test_ranges_are_rounded_outward(least, most, words):
    assert _range_in_words(least, most) == words


# Choosing.


def test_layers_and_features_are_chosen_or_listed(tmp_path):
    path = tmp_path / "a.gpkg"
    for layer in ("land", "water"):
        vector(path, [*FIELD, FIELD[0]], UTM, "GPKG", layer)
    refused("layer", "2 layers", "land, water", path=path)
    refused("layer", "no layer 'sea'", "land, water", path=path, layer="sea")
    assert dwell.Site.read(path, layer="water").workspace.area > 0.0


def test_several_features_are_listed(tmp_path):
    other = [[x + 1.0, y] for x, y in SQUARE]
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), polygon(other))
    listed = "0, name=part 0, about (4.05, 52.025); 1, name=part 1, about (5.05, 52.025)"
    refused("feature", "2 features", f'"key=value", or "all": {listed}', path=path)
    refused("feature", "2 features, of which none match", path=path, feature="name=nothing")
    by_name, by_number = (dwell.Site.read(path, feature=k) for k in ("name=part 1", 1))
    assert by_name.frame.crs == by_number.frame.crs != dwell.Site.read(path, feature=0).frame.crs


def test_features_with_equal_attributes_are_told_apart_by_their_place(tmp_path):
    other = {"geometry": polygon([[x + 1.0, y] for x, y in SQUARE])}
    features = [
        {"type": "Feature", "properties": {"name": "basin"}, **one}
        for one in ({"geometry": polygon(SQUARE)}, other)
    ]
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))

    listed = "0, name=basin, about (4.05, 52.025); 1, name=basin, about (5.05, 52.025)"
    advice = 'choose one by feature = its number from 0, or "all": '
    refused("feature", "of which 2 match", f"{advice}{listed}", path=path, feature="name=basin")
    refused("feature", "has 2 features", f"{advice}{listed}", path=path)


def test_other_geometry_is_refused(tmp_path):
    line = {"type": "LineString", "coordinates": SQUARE}
    path = geojson(tmp_path / "a.geojson", line)
    refused("geometry", "LineString in feature 0", "Polygon", path=path)


def test_a_missing_file_and_a_file_that_is_no_map(tmp_path):
    path = tmp_path / "a.geojson"
    refused("not-found", "does not exist", path=path)
    path.write_text("nothing")
    refused("unreadable", "GeoPackage", path=path)


def failing(monkeypatch, fault):
    def fail(name):
        raise fault

    monkeypatch.setattr("dwell._need.import_module", fail)
    with pytest.raises(InputError) as error:
        libraries.library("pyproj.crs", "a frame")
    assert error.value.code == "site.library"
    assert error.value.__cause__ is fault
    return str(error.value)


def test_a_missing_library_is_one_sentence(monkeypatch):
    says = failing(monkeypatch, ModuleNotFoundError("no pyproj", name="pyproj"))
    assert says.startswith("a frame needs pyproj, which is not installed")
    assert "pip install pyproj pyogrio rasterio shapely" in says


@pytest.mark.parametrize(
    "fault", [ModuleNotFoundError("no get", name="http.client"), ImportError("libproj.so: damaged")]
)
def test_a_library_that_fails_inside_is_not_missing(monkeypatch, fault):
    says = failing(monkeypatch, fault)
    assert "is installed but cannot be loaded" in says
    assert str(fault) in says
    assert "not installed" not in says


# Coordinate systems.


def test_a_shapefile_without_prj_is_refused(tmp_path):
    path = vector(tmp_path / "a.shp", [*FIELD, FIELD[0]], UTM, "ESRI Shapefile")
    path.with_suffix(".prj").unlink()
    refused("crs", ".prj", 'crs = "EPSG:..."', path=path)
    assert sorted(dwell.Site.read(path, crs=UTM).workspace.vertices.tolist()) == sorted(FIELD)


def test_geojson_in_the_system_that_it_names(tmp_path):
    old = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}}
    path = geojson(tmp_path / "a.geojson", polygon([*FIELD, FIELD[0]]), crs=old)
    assert sorted(dwell.Site.read(path).workspace.vertices.tolist()) == sorted(FIELD)
    assert dwell.Site.read(path).frame.crs == UTM
    old["properties"]["name"] = "EPSG:28992"
    degrees = geojson(tmp_path / "b.geojson", polygon(SQUARE), crs=old)
    refused("extent", "Amersfoort", "[4.0, 52.0]", 'crs = "EPSG:4326"', path=degrees)
    site = dwell.Site.read(degrees, crs="EPSG:4326")
    assert site.notes[:1] == (
        "b.geojson names Amersfoort / RD New (EPSG:28992), but is read as WGS 84 (EPSG:4326)",
    )


def test_degrees_on_another_datum_are_degrees(tmp_path):
    named = {"type": "name", "properties": {"name": "EPSG:4258"}}
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), crs=named)
    plain = dwell.Site.read(geojson(tmp_path / "b.geojson", polygon(SQUARE)))
    site = dwell.Site.read(path)
    assert site.workspace.area == pytest.approx(plain.workspace.area, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "http://127.0.0.1:1/x", "+init=/tmp/x:1", "x:y/z", "EPSG:1\n/x", 5]
)
def test_systems_by_link_or_path_are_refused(tmp_path, name):
    crs = {"type": "name", "properties": {"name": name}}
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), crs=crs)
    refused("crs", 'not a name such as "EPSG:32632"', path=path)


def test_metres_that_claim_to_be_degrees_are_refused(tmp_path):
    path = geojson(tmp_path / "a.geojson", polygon([*FIELD, FIELD[0]]))
    refused("extent", "claims degrees", "5701000", path=path)


def test_degrees_that_claim_to_be_metres_are_refused(tmp_path):
    path = vector(tmp_path / "a.gpkg", SQUARE, UTM, "GPKG")
    refused("extent", "claims metres", "[4.0, 52.0]", path=path)


# Outlines.


def test_a_ring_that_crosses_itself_is_refused_with_both_edges(tmp_path):
    bow = [[4.0, 52.0], [4.1, 52.1], [4.1, 52.0], [4.0, 52.1], [4.0, 52.0]]
    path = geojson(tmp_path / "a.geojson", polygon(bow))
    refused("invalid", "(4.05, 52.05)", "edge 0 of ring 0", "edge 2 of ring 0", path=path)


def test_a_hole_outside_is_refused(tmp_path):
    hole = [[4.2, 52.01], [4.21, 52.01], [4.21, 52.02], [4.2, 52.01]]
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE, hole))
    refused("invalid", "hole lies outside", path=path)


def test_parts_that_overlap_are_refused(tmp_path):
    other = [[x + 0.05, y + 0.02] for x, y in SQUARE]
    both = {"type": "MultiPolygon", "coordinates": [[SQUARE], [other]]}
    path = geojson(tmp_path / "a.geojson", both)
    refused("invalid", "self-intersection at (4.1, 52.02)", "ring 0", "ring 1", path=path)


@pytest.mark.parametrize(
    ("ring", "words"),
    [
        ([SQUARE[0], *SQUARE], "removed 1 repeated vertex"),
        (SQUARE[::-1], "reversed 1 ring"),
        (SQUARE[:-1], "closed a ring"),
        ([[x, y, 3.0] for x, y in SQUARE], "left out the heights"),
    ],
)
def test_small_faults_are_repaired_and_recorded(tmp_path, ring, words):
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(ring)))
    sound = dwell.Site.read(geojson(tmp_path / "b.geojson", polygon(SQUARE)))
    assert [words in repair for repair in site.repairs] == [True]
    assert sorted(site.workspace.vertices.tolist()) == sorted(sound.workspace.vertices.tolist())
    assert sound.repairs == ()


def test_collinear_points_are_removed_and_recorded(tmp_path):
    more = [*FIELD[:1], [5.005e5, 5.7e6], *FIELD[1:], FIELD[0]]
    site = dwell.Site.read(vector(tmp_path / "a.gpkg", more, UTM, "GPKG"))
    assert sorted(site.workspace.vertices.tolist()) == sorted(FIELD)
    assert site.repairs


# The Earth.


def test_sides_that_bend_need_densify(tmp_path):
    box = [[3.0, 52.0], [5.0, 52.0], [5.0, 53.0], [3.0, 53.0], [3.0, 52.0]]
    path = geojson(tmp_path / "a.geojson", polygon(box))
    says = refused("bend", "(4, 52)", "densify", path=path)
    expected = 137e3**2 * np.tan(np.radians(52.0)) / (8 * 6.378e6)  # L² tan φ / 8 R
    assert float(says.split("bends by ")[1].split()[0]) == pytest.approx(expected, rel=0.02)


def test_densify_adds_points_of_the_side_in_degrees(tmp_path):
    from dwell.sites.outlines import densified, largest_sagitta

    frame = Frame.about(4.0, 52.5)
    box = shapely.box(3.0, 52.0, 5.0, 53.0)
    more = densified(box, frame.from_map, 1000.0)
    points = shapely.get_coordinates(more)
    assert shapely.distance(shapely.points(points), box.exterior).max() < 1e-12
    assert np.hypot(*np.diff(frame.from_map(points), axis=0).T).max() <= 1000.1
    before, after = (largest_sagitta(one, frame.from_map)[0] for one in (box, more))
    assert after < before / 1e4


def test_holes_and_parts_are_a_region(tmp_path):
    hole = [[4.02, 52.01], [4.02, 52.03], [4.06, 52.03], [4.06, 52.01], [4.02, 52.01]]
    other = [[x + 0.2, y] for x, y in SQUARE]
    both = {"type": "MultiPolygon", "coordinates": [[SQUARE, hole], [other]]}
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", both), stay=True)
    assert [len(part.holes) for part in site.workspace.parts] == [1, 0]
    assert site.workspace.stay
    rings = [np.array(ring[:-1]) for ring in (SQUARE, hole, other)]
    sizes = [shapely.area(shapely.Polygon(site.frame.from_map(ring))) for ring in rings]
    assert site.workspace.area == pytest.approx(sizes[0] - sizes[1] + sizes[2], rel=1e-12)


def test_densify_makes_a_box_of_degrees_bend(tmp_path):
    box = [[3.0, 52.0], [5.0, 52.0], [5.0, 53.0], [3.0, 53.0], [3.0, 52.0]]
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(box)), densify=2000.0)
    assert type(site.workspace) is dwell.Region  # its north side bends inward
    assert "added" in site.repairs[0]
    globe = pyproj.Geod(ellps="WGS84")
    ring = shapely.segmentize(shapely.box(3.0, 52.0, 5.0, 53.0), 0.001)
    ground = abs(globe.geometry_area_perimeter(ring)[0])
    assert site.workspace.area == pytest.approx(ground, rel=2e-4)  # the scale at 70 km


def test_degrees_can_be_mapped_to_the_system_of_a_raster(tmp_path):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE))
    site = dwell.Site.read(path, frame=UTM)
    oracle = pyproj.Transformer.from_crs("EPSG:4326", UTM, always_xy=True)
    corners = np.column_stack(oracle.transform(*np.array(SQUARE[:-1]).T))
    assert np.abs(np.sort(site.workspace.vertices, 0) - np.sort(corners, 0)).max() < 1e-6
    assert site.frame.crs == UTM
    metres = vector(tmp_path / "a.gpkg", [*FIELD, FIELD[0]], UTM, "GPKG")
    assert sorted(dwell.Site.read(metres, frame=UTM).workspace.vertices.tolist()) == sorted(FIELD)
    moved = dwell.Site.read(metres, frame="EPSG:23031").workspace.vertices
    oracle = pyproj.Transformer.from_crs(UTM, "EPSG:23031", always_xy=True)
    expected = np.column_stack(oracle.transform(*np.array(FIELD).T))
    assert np.abs(np.sort(moved, 0) - np.sort(expected, 0)).max() < 1e-6
    with pytest.raises(SiteError, match="a system such as EPSG:32631") as error:
        dwell.Site.read(path, frame="somewhere")
    assert error.value.key == "site.frame"


def test_a_site_across_the_antimeridian_is_the_site_anywhere_else(tmp_path):
    here = [[-0.05, -17.0], [0.05, -17.0], [0.05, -16.9], [-0.05, -16.9], [-0.05, -17.0]]
    there = [[(x + 180.0 + 180.0) % 360.0 - 180.0, y] for x, y in here]
    beyond = [[x + 180.0, y] for x, y in here]
    west = [[179.95, -17.0], [180.0, -17.0], [180.0, -16.9], [179.95, -16.9], [179.95, -17.0]]
    east = [[-180.0, -17.0], [-179.95, -17.0], [-179.95, -16.9], [-180.0, -16.9], [-180.0, -17.0]]
    split = {"type": "MultiPolygon", "coordinates": [[west], [east]]}
    sound = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(here)))
    for shape in (polygon(there), polygon(beyond), split):
        site = dwell.Site.read(geojson(tmp_path / "b.geojson", shape))
        corners = shapely.Polygon(site.workspace.vertices)
        assert shapely.hausdorff_distance(corners, shapely.Polygon(sound.workspace.vertices)) < 0.3
        assert site.workspace.area == pytest.approx(sound.workspace.area, rel=1e-5)
    assert any("joined 2 parts" in repair for repair in site.repairs)


def test_a_pole_inside_is_refused(tmp_path):
    ring = [[0.0, 80.0], [90.0, 80.0], [180.0, 80.0], [-90.0, 80.0], [0.0, 80.0]]
    path = geojson(tmp_path / "a.geojson", polygon(ring))
    refused("pole", "round a pole", path=path)
    site, steps = followed(path)
    assert [list(step) for step in steps] == [["clip"], ["densify"]]
    assert site.workspace.area > 1e10


def test_wide_sites_are_remarked_or_refused(tmp_path):
    def box(wide, high):
        ring = [[0.0, -high], [wide, -high], [wide, high], [0.0, high], [0.0, -high]]
        return geojson(tmp_path / "a.geojson", polygon(ring))

    (note,) = [one for one in dwell.Site.read(box(3.999, 0.1)).notes if "lengths" in one]
    assert "up to 0.062 % longer" in note  # (222.6 km)^2 / 2 R^2
    assert "areas up to 0.13 % larger" in note
    assert not any("lengths" in note for note in dwell.Site.read(box(1.0, 0.1)).notes)
    refused("size", "2238 km", "2000 km", path=box(20.0, 0.1))


def test_an_outline_of_many_vertices_is_remarked(tmp_path, monkeypatch):
    monkeypatch.setattr("dwell.sites.vector.LONG", 100)
    ring = 1e3 * coast(256) + (5e5, 5.7e6)
    path = vector(tmp_path / "a.gpkg", [*ring.tolist(), ring[0].tolist()], UTM, "GPKG")
    site = dwell.Site.read(path)
    pieces = len(site.workspace.pieces.piece)
    assert any(
        "a.gpkg has 256 vertices" in note and f"{pieces} pieces; simplify" in note
        for note in site.notes
    )


def test_simplify_is_recorded(tmp_path):
    angle = np.linspace(0.0, 2.0 * np.pi, 2000, endpoint=False)
    ring = np.column_stack([5e5 + 1e3 * np.cos(angle), 5.7e6 + 1e3 * np.sin(angle)]).tolist()
    path = vector(tmp_path / "a.gpkg", [*ring, ring[0]], UTM, "GPKG")
    site = dwell.Site.read(path, simplify=1.0)
    fewest = np.pi / np.sqrt(2.0 * 1.0 / 1e3)  # a chord of 2 sqrt(2 r s) lies s from its arc
    assert fewest - 1.0 <= len(site.workspace.vertices) <= 2.0 * fewest
    assert "2000 to" in site.repairs[0]
    refused("simplify", "area", "fewer metres", path=path, simplify=1e5)
    assert site.workspace.area == pytest.approx(np.pi * 1e6, rel=2e-3)


@pytest.mark.parametrize("key", ["densify", "simplify"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "far"])
def test_lengths_that_are_none_are_refused(tmp_path, key, value):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE))
    with pytest.raises(SiteError, match="positive number of metres") as error:
        dwell.Site.read(path, **{key: value})
    assert error.value.key == f"site.{key}"


def test_gdal_reads_what_these_tests_write(tmp_path):
    path = vector(tmp_path / "a.gpkg", [*FIELD, FIELD[0]], UTM, "GPKG")
    assert pyogrio.read_info(path)["crs"] == UTM


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ((-8.8, 52.3), "EPSG:32629"),
        ((-43.2, -22.9), "EPSG:32723"),
        ((147.3, -42.9), "EPSG:32755"),
        ((-155.5, 19.5), "EPSG:32605"),
        ((179.99, -17.0), "EPSG:32760"),
        ((-180.0, 17.0), "EPSG:32601"),
        ((185.0, 17.0), "EPSG:32601"),
    ],
)
def test_zones_of_all_quarters_of_the_earth(place, zone):
    assert zone_of(*place) == zone
    area = pyproj.CRS(zone).area_of_use
    assert area.west <= (place[0] + 180.0) % 360.0 - 180.0 <= area.east
    assert area.south <= place[1] <= area.north


# Features by number, attribute and list.


@pytest.fixture
def package(tmp_path):
    """A GeoPackage in the south-west whose features have other numbers than places."""
    path = tmp_path / "basins.gpkg"
    rings = [np.array(SQUARE) - [50.0 - k * 0.1, 75.0] for k in range(4)]
    shapes = np.array([shapely.to_wkb(shapely.Polygon(ring)) for ring in rings], dtype=object)
    names = [np.array(["a", "b", "c", "b"], object), np.array([7, 3, 1, 9])]
    pyogrio.raw.write(path, shapes, names, ["name", "depth"], driver="GPKG", crs="EPSG:4326",
                      geometry_type="Polygon", layer="basins")  # fmt: skip
    with closing(sqlite3.connect(path)) as base:
        base.execute("DROP TRIGGER IF EXISTS rtree_basins_geom_update6")
        base.execute("DROP TRIGGER IF EXISTS rtree_basins_geom_update7")
        for name in [row[0] for row in base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'")]:  # fmt: skip
            base.execute(f'DROP TRIGGER "{name}"')
        base.execute("DELETE FROM basins WHERE fid = 1")
        base.execute("UPDATE basins SET fid = fid + 10")
        base.execute("DELETE FROM rtree_basins_geom")
        base.execute("DELETE FROM gpkg_extensions")
        base.execute("DROP TABLE rtree_basins_geom")
        base.commit()
    return path


@pytest.mark.parametrize(
    ("feature", "west"),
    [(0, -45.9), (1, -45.8), (2, -45.7), ("id=12", -45.9), ("fid=14", -45.7), ("depth=1", -45.8)],
)
def test_a_number_is_a_place_and_an_id_is_an_id(package, feature, west):
    site = dwell.Site.read(package, feature=feature)
    corners = site.frame.to_map(site.workspace.hull.vertices)
    assert corners[:, 0].min() == pytest.approx(west, abs=1e-6)
    assert corners[:, 1].max() == pytest.approx(-22.95, abs=1e-6)


def test_numbers_beyond_the_last_feature_match_none(package):
    for feature in (3, 12, "id=0", "name=a"):
        refused("feature", "of which none match", path=package, feature=feature)
    refused("feature", "of which 2 match", path=package, feature="name=b")


@pytest.mark.parametrize("feature", ["all", [0, 1, 2], ["id=12", 1, "depth=9"], [2, 0, 1, 1]])
def test_adjacent_features_are_dissolved(package, feature):
    site = dwell.Site.read(package, feature=feature)
    assert len(site.workspace.parts) == 1
    assert "dissolved 3 features of basins.gpkg" in site.repairs
    corners = site.frame.to_map(site.workspace.hull.vertices)
    assert corners.min(axis=0) == pytest.approx([-45.9, -23.0], abs=1e-6)
    assert corners.max(axis=0) == pytest.approx([-45.6, -22.95], abs=1e-6)


def test_two_islands_of_a_list_are_two_parts(package):
    site = dwell.Site.read(package, feature=[0, 2])
    assert len(site.workspace.parts) == 2


def test_collections_and_features_without_area(tmp_path):
    line = {"type": "LineString", "coordinates": SQUARE}
    far = polygon([[x + 1.0, y] for x, y in SQUARE])
    both = {"type": "GeometryCollection", "geometries": [line, polygon(SQUARE), far]}
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", both))
    assert len(site.workspace.parts) == 2
    path = geojson(tmp_path / "b.geojson", line, polygon(SQUARE), far)
    site = dwell.Site.read(path, feature="all")
    assert site.repairs[:2] == ("left out 1 feature of b.geojson without an area",
                                "dissolved 2 features of b.geojson")  # fmt: skip
    refused("geometry", "LineString", path=path, feature=0)
    none = {"type": "GeometryCollection", "geometries": [line]}
    refused("geometry", "Polygon", path=geojson(tmp_path / "c.geojson", none))


# TopoJSON.


@pytest.mark.parametrize("transform", [False, True])
def test_topojson_needs_a_system_and_is_read_in_it(tmp_path, transform):
    path = topology(tmp_path / "a.topojson", transform)
    refused("crs", "TopoJSON", 'crs = "EPSG:4326"', path=path, feature=0)
    site, steps = followed(path, feature="name=east")
    assert steps == [{"crs": "EPSG:4326"}]
    ring = [[4.1, 52.0], [4.3, 52.0], [4.3, 52.05], [4.1, 52.05]]
    expected = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon([*ring, ring[0]])))
    assert site.workspace.area == pytest.approx(expected.workspace.area, rel=1e-9)
    whole = dwell.Site.read(path, crs="EPSG:4326", feature="all")
    west = dwell.Site.read(path, crs="EPSG:4326", feature="id=w")
    assert whole.workspace.area == pytest.approx(
        expected.workspace.area + west.workspace.area, rel=1e-4
    )


def test_damaged_topojson_is_refused(tmp_path):
    path = topology(tmp_path / "a.topojson")
    table = json.loads(path.read_text())
    for key in ("arcs", "objects"):
        path.write_text(json.dumps({**table, key: []}))
        refused("unreadable", "damaged", path=path, crs="EPSG:4326")


# Repair, clip, parts.


def test_an_invalid_outline_at_the_antimeridian_is_one_sentence(tmp_path):
    west = [[179.0, 0.0], [180.0, 0.0], [180.0, 1.0], [179.5, -0.2], [179.0, 1.0], [179.0, 0.0]]
    east = [[-180.0, 0.0], [-179.0, 0.0], [-179.0, 1.0], [-180.0, 1.0], [-180.0, 0.0]]
    both = {"type": "MultiPolygon", "coordinates": [[west], [east]]}
    path = geojson(tmp_path / "a.geojson", both)
    refused("invalid", "self-intersection", "would change its area by", path=path)


def test_a_small_crossing_is_repaired_and_listed(tmp_path):
    tick = [[4.05, 52.05], [4.0499, 52.0501], [4.0502, 52.05009], [4.0497, 52.05]]
    ring = [*SQUARE[:3], *tick, *SQUARE[3:]]
    path = geojson(tmp_path / "a.geojson", polygon(ring))
    assert "repair = true" in refused("invalid", "self-intersection", path=path)
    site, steps = followed(path)
    assert steps == [{"repair": True}]
    (listed,) = [one for one in site.repairs if "made a.geojson valid" in one]
    assert re.search(r"its area changed by [\d.e-]+ %, 1 part", listed)
    whole = dwell.Site.read(geojson(tmp_path / "b.geojson", polygon(SQUARE)))
    assert site.workspace.area == pytest.approx(whole.workspace.area, rel=1e-3)


def test_a_repair_that_changes_the_area_is_refused(tmp_path):
    bow = [[4.0, 52.0], [4.1, 52.1], [4.1, 52.0], [4.0, 52.1], [4.0, 52.0]]
    path = geojson(tmp_path / "a.geojson", polygon(bow))
    for repair in (False, True):
        refused("invalid", "would change its area", path=path, repair=repair)


def test_an_outline_that_crosses_only_in_metres(tmp_path):
    outer = [[4.0, 60.0], [5.0, 60.0], [5.0, 60.5], [4.0, 60.5], [4.0, 60.0]]
    hole = [[4.5, 60.0], [4.6, 60.2], [4.4, 60.2], [4.5, 60.0]]  # touches a side, which bends
    path = geojson(tmp_path / "a.geojson", polygon(outer, hole))
    says = refused("bend", "densify", path=path)
    site, steps = followed(path)
    assert {"repair": True} in steps
    says = refused("invalid", "valid as it stands", "mapped to metres", "(4.5, 60)", path=path,
                   **steps[0])  # fmt: skip
    assert "repair = true" in says
    assert site.workspace.area > 0.0


def test_clip_keeps_a_box_of_degrees(tmp_path):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE))
    site = dwell.Site.read(path, clip=[4.02, 51.0, 4.05, 52.03])
    corners = site.frame.to_map(site.workspace.hull.vertices)
    assert corners.min(axis=0) == pytest.approx([4.02, 52.0], abs=1e-6)
    assert corners.max(axis=0) == pytest.approx([4.05, 52.03], abs=1e-6)
    assert "clipped a.geojson" in site.repairs[0]
    refused("clip", "nothing in clip", "from (4, 52) to (4.1, 52.05)", path=path,
            clip=[5, 52, 6, 53])  # fmt: skip
    for box in ([1, 2, 3], [4.0, 52.0, 4.0, 53.0], "here", [4.0, 53.0, 5.0, 52.0]):
        with pytest.raises(SiteError, match="west, south, east, north"):
            dwell.Site.read(path, clip=box)


def test_a_box_crosses_the_antimeridian(tmp_path):
    ring = [[179.0, -17.0], [-179.0, -17.0], [-179.0, -16.0], [179.0, -16.0], [179.0, -17.0]]
    path = geojson(tmp_path / "a.geojson", polygon(ring))
    site = dwell.Site.read(path, clip=[179.9, -17.0, -179.8, -16.5], densify=2000.0)
    corners = site.frame.to_map(site.workspace.bounds)
    assert (corners[1, 0] - corners[0, 0]) % 360.0 == pytest.approx(0.3, abs=1e-2)


def test_parts_are_numbered_from_the_largest(tmp_path):
    def island(x, size):
        return [[[x, 52.0], [x + size, 52.0], [x + size, 52.0 + size], [x, 52.0]]]

    sizes = [0.01, 0.04, 0.02]
    shape = {"type": "MultiPolygon", "coordinates": [island(4.0 + k, s) for k, s in
                                                     enumerate(sizes)]}  # fmt: skip
    path = geojson(tmp_path / "a.geojson", shape)

    def wests(parts):
        site = dwell.Site.read(path, parts=parts)
        shapes = shapely.geometry.shape(site.__geo_interface__)
        return sorted(round(one.bounds[0]) for one in shapely.get_parts(shapes))

    assert wests("largest") == wests(0) == wests([0]) == [5]
    assert (wests(1), wests(2), wests([2, 0])) == ([6], [4], [4, 5])
    assert wests([0, 1, 2]) == [4, 5, 6]
    for parts in (3, -1, [0, 3], [], "biggest", 1.5, True):
        with pytest.raises(SiteError, match='"largest", a number from 0'):
            dwell.Site.read(path, parts=parts)


def test_parts_are_compared_on_the_ground(tmp_path):
    north = [[[4.0, 70.0], [5.0, 70.0], [5.0, 70.9], [4.0, 70.9], [4.0, 70.0]]]
    south = [[[4.0, 60.0], [4.9, 60.0], [4.9, 60.9], [4.0, 60.9], [4.0, 60.0]]]
    path = geojson(tmp_path / "a.geojson", {"type": "MultiPolygon", "coordinates": [north, south]})
    site = dwell.Site.read(path, parts="largest", densify=2000.0)
    assert site.frame.to_map(site.workspace.bounds)[0, 1] == pytest.approx(60.0, abs=0.1)


@pytest.mark.parametrize("far", [False, True])
def test_the_advice_about_a_wide_site_can_be_followed(tmp_path, far):
    big = [[[0.0, 0.0], [8.0, 0.0], [8.0, 8.0], [0.0, 8.0], [0.0, 0.0]]]
    if far:
        big = [[[0.0, -50.0], [28.0, -50.0], [28.0, -20.0], [0.0, -20.0], [0.0, -50.0]]]
    small = [[[40.0, 10.0], [40.1, 10.0], [40.1, 10.1], [40.0, 10.0]]]
    path = geojson(tmp_path / "a.geojson", {"type": "MultiPolygon", "coordinates": [small, big]})
    site, steps = followed(path)
    assert list(steps[0]) == (["clip"] if far else ["parts"])
    assert site.workspace.diameter < 2e6


# Shapes in memory.


def test_shapes_in_memory(tmp_path):
    ring = shapely.Polygon(SQUARE)
    read = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(SQUARE))).workspace.vertices
    table = {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {}, "geometry": polygon(SQUARE)}]}  # fmt: skip
    for shape in (ring, polygon(SQUARE), table):
        assert sorted(dwell.Site.of(shape).workspace.vertices.tolist()) == sorted(read.tolist())
    again = dwell.Site.of(dwell.Site.of(ring))
    assert again.workspace.area == pytest.approx(dwell.Site.of(ring).workspace.area, rel=1e-12)
    metres = dwell.Site.of(shapely.Polygon(FIELD), UTM)
    assert sorted(metres.workspace.vertices.tolist()) == sorted(FIELD)
    for bad in (None, 5, {"coordinates": []}):
        with pytest.raises(SiteError, match="shapely or GeoPandas"):
            dwell.Site.of(bad)
    with pytest.raises(SiteError, match=r"no feature; .*clip, parts"):
        dwell.Site.of(ring, feature=0)
    with pytest.raises(SiteError, match=r"dwell\.Site\.of"):
        dwell.Site.read(ring)


def test_a_run_on_a_site(tmp_path):
    site = dwell.Site.read(geojson(tmp_path / "a.geojson", polygon(SQUARE)))
    law = dwell.Timer(k1=5.0, nu=50.0, t1=5.0, t2=15.0)
    runs = [dwell.simulate(one, None, [[0, 0], [900, 100]], law, until=60.0)
            for one in (site, site.workspace)]  # fmt: skip
    assert runs[0].positions(60.0).tolist() == runs[1].positions(60.0).tolist()


# Corners.


@pytest.fixture
def few_corners(monkeypatch):
    """At most 40 corners around which paths may turn."""
    for place in ("geometry.routes", "sites.vector"):
        monkeypatch.setattr(f"dwell.{place}.MOST_CORNERS", 40)


def rugged(count, height, parts=1):
    """A lobed coast of 5 km with that many teeth of some metres, in UTM, or several beside it."""
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * count, endpoint=False)
    far = (
        2000.0
        + 500.0 * np.cos(3.0 * angle)
        + height
        * np.random.default_rng(3).uniform(0.2, 1.0, 2 * count)
        * (-1.0) ** (np.arange(2 * count))
    )
    ring = np.column_stack([5e5 + far * np.cos(angle), 5.7e6 + far * np.sin(angle)])
    moved = [ring + np.array([6000.0 * k, 0.0]) for k in range(parts)]
    return shapely.MultiPolygon([shapely.Polygon(one) for one in moved])


@pytest.mark.parametrize(("count", "height"), [(60, 60.0), (500, 5.0), (80, 200.0)])
@pytest.mark.parametrize("parts", [1, 2])
def test_too_many_corners_are_refused_with_a_simplify_that_suffices(
    tmp_path, few_corners, count, height, parts
):
    path = vector(tmp_path / "coast.gpkg", rugged(count, height, parts), UTM, "GPKG")
    says = refused("corners", "corners around which a path may turn", path=path, stay=True)
    assert int(re.search(r"has (\d+)", says)[1]) > 40
    site, steps = followed(path, stay=True)
    assert [list(one) for one in steps] == [["simplify"]]
    assert all(routes.turns <= 40 for routes in site.workspace.routes)
    left = max(routes.turns for routes in site.workspace.routes)
    assert f"leaves {left} of them" in says
    law = dwell.Timer(k1=5.0, nu=50.0, t1=5.0, t2=15.0)
    start = site.workspace.nearest_inside(np.array([[5e5, 5.7e6], [5.01e5, 5.7e6]]))
    dwell.simulate(site, None, start, law, until=20.0, seed=1)  # paths are found
    assert dwell.Site.read(path).workspace.pieces  # without stay nothing is asked for


def test_a_simplify_that_does_not_suffice_is_answered_by_one_that_does(tmp_path, few_corners):
    path = vector(tmp_path / "coast.gpkg", rugged(80, 200.0), UTM, "GPKG")
    says = refused("corners", path=path, stay=True, simplify=1e-3)
    _, steps = followed(path, stay=True, simplify=1e-3)
    assert steps[0]["simplify"] > 1e-3
    assert f"simplify = {steps[0]['simplify']:g} leaves" in says


def test_where_no_simplify_suffices_others_keys_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("dwell.sites.vector.MOST_CORNERS", 1)
    path = vector(tmp_path / "coast.gpkg", rugged(12, 900.0), UTM, "GPKG")
    says = refused("corners", "take a part of it by clip or parts", path=path, stay=True)
    assert "simplify" not in says


def test_a_scenario_says_so_too(tmp_path, few_corners):
    vector(tmp_path / "coast.gpkg", rugged(60, 60.0), UTM, "GPKG")
    (tmp_path / "site.toml").write_text(
        '[site]\nfile = "coast.gpkg"\nstay = true\n'
        '[agents]\nstart = [[5e5, 5.7e6]]\n[controller]\nkind = "timer"\nk1 = 5.0\nnu = 50.0\n'
        "t1 = 5.0\nt2 = 15.0\n[run]\nhorizon = 1.0\n"
    )
    with pytest.raises(InputError, match=r"simplify = \S+ leaves") as fault:
        dwell.load_scenario(tmp_path / "site.toml")
    metres = re.search(r"simplify = (\S+) leaves", str(fault.value))[1]
    scenario = dwell.load_scenario(tmp_path / "site.toml", [f"site.simplify={metres}"])
    assert dwell.run_scenario(scenario).stop.reason.ok

"""Sites from map files: frames against PROJ, and every verdict on bad outlines."""

import json

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely

import dwell
from bench.regions import coast
from dwell.errors import InputError, SiteError
from dwell.sites import libraries
from dwell.sites.frames import Frame
from tests.sites.files import SQUARE, geojson, polygon, vector

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
    corners = site.frame.to_map(site.workspace.vertices)
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


def test_web_mercator_is_refused_and_the_local_frame_is_named(tmp_path):
    corners = [[445e3, 68e5], [446e3, 68e5], [446e3, 6801e3], [445e3, 68e5]]
    path = vector(tmp_path / "a.gpkg", corners, "EPSG:3857", "GPKG")
    refused("scale", "1.62 times", "local frame", "EPSG:4326", path=path)


def test_other_units_than_metres_are_refused(tmp_path):
    corners = [[9.8e5, 2e5], [9.9e5, 2e5], [9.9e5, 2.1e5], [9.8e5, 2e5]]
    path = vector(tmp_path / "a.gpkg", corners, "EPSG:2263", "GPKG")
    refused("units", "US survey foot", "metres are needed", path=path)


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
    refused("feature", "2 features", f'"key=value": {listed}', path=path)
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
    advice = "choose one by feature = its number from 0: "
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


def test_a_missing_library_is_one_sentence(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(libraries, "import_module", absent)
    with pytest.raises(InputError, match=r"needs pyproj.*pip install dwell\[geo\]") as error:
        libraries.library("pyproj.crs", "a frame")
    assert error.value.code == "site.library"


# Coordinate systems.


def test_a_shapefile_without_prj_is_refused(tmp_path):
    path = vector(tmp_path / "a.shp", [*FIELD, FIELD[0]], UTM, "ESRI Shapefile")
    path.with_suffix(".prj").unlink()
    refused("crs", ".prj", "ogr2ogr -a_srs", path=path)


def test_geojson_that_names_another_system_is_refused(tmp_path):
    old = {"type": "name", "properties": {"name": "EPSG:28992"}}
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE), crs=old)
    refused("crs", "Amersfoort", "RFC 7946", "ogr2ogr -t_srs EPSG:4326", path=path)


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
    refused("frame", "leave it out", path=metres, frame="EPSG:32632")
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
    refused("pole", "round a pole", path=geojson(tmp_path / "a.geojson", polygon(ring)))


def test_wide_sites_are_remarked_or_refused(tmp_path):
    def box(wide, high):
        ring = [[0.0, -high], [wide, -high], [wide, high], [0.0, high], [0.0, -high]]
        return geojson(tmp_path / "a.geojson", polygon(ring))

    assert any("446 km" in note for note in dwell.Site.read(box(3.999, 0.1)).notes)
    assert not any("across" in note for note in dwell.Site.read(box(1.0, 0.1)).notes)
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

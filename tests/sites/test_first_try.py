"""What a first user of a site gets wrong, and what dwell says to it."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext

import numpy as np
import pytest

import dwell
import dwell.scenario.build
from dwell.errors import SiteError
from tests.cli.shell import dwell as shell

from .files import SQUARE, geojson, polygon


def scenario_text(file: str, start: str = "{ count = 3, seed = 1 }", more: str = "") -> str:
    return f"""
[site]
file = "{file}"
{more}
[agents]
start = {start}
[controller]
kind = "timer"
k1 = 2.0
nu = 50.0
t1 = 5.0
t2 = 20.0
[run]
horizon = 10.0
"""


def validated(tmp_path, text: str) -> str:
    (tmp_path / "site.toml").write_text(text)
    done = shell("validate", tmp_path / "site.toml")
    assert done.code == 0, done
    return done.out


def test_validate_and_run_say_where_the_site_is(tmp_path):
    geojson(tmp_path / "a.geojson", polygon(SQUARE))

    out = validated(tmp_path, scenario_text("a.geojson"))

    place = r"site about latitude 52.025, longitude 4.05: 6\.8\d\d by 5\.5\d\d km, 38\.\d\d km2"
    assert re.search(place, out), out
    assert "1 part, 0 holes, 4 vertices, in local metres" in out
    assert "site about latitude 52.025" in shell("run", tmp_path / "site.toml", "--json").err


def test_validate_shows_progress_where_it_may_compile(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("dwell.progress.reported", lambda: shown.append(1) or nullcontext())
    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    validated(tmp_path, scenario_text("a.geojson"))
    assert len(shown) == 2  # to read it, and to check it
    plain = '[workspace]\nkind = "box"\nlower = [0.0, 0.0]\nupper = [1.0, 1.0]\n[agents]'
    text = scenario_text("").partition("[agents]")[2].replace("50.0", "0.5")
    validated(tmp_path, plain + text)
    assert len(shown) == 2


def test_the_order_of_rings_says_nothing_of_exchanged_coordinates(tmp_path):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE[::-1]))

    right = dwell.Site.read(geojson(tmp_path / "b.geojson", polygon(SQUARE)))
    notes = [note.replace("a.geojson", "b.geojson") for note in dwell.Site.read(path).notes]
    assert notes == list(right.notes)


def test_exchanged_coordinates_are_refused_where_that_is_known(tmp_path):
    angeles = [[34.0, -118.5], [34.1, -118.5], [34.1, -118.4], [34.0, -118.5]]
    path = geojson(tmp_path / "a.geojson", polygon(angeles))
    with pytest.raises(SiteError, match="longitude comes first") as error:
        dwell.Site.read(path)
    assert error.value.code == "site.exchanged"
    assert "[34.0, -118.5]" in str(error.value)
    rome = [[41.9, 12.4], [41.9, 12.5], [42.0, 12.5], [41.9, 12.4]]
    named = {"type": "name", "properties": {"name": "EPSG:4258"}}  # of Europe
    path = geojson(tmp_path / "b.geojson", polygon(rome), crs=named)
    with pytest.raises(SiteError, match="longitude comes first") as error:
        dwell.Site.read(path)
    assert "longitude 41.95, latitude 12.45" in str(error.value)


@pytest.mark.parametrize(("lon", "lat"), [(-43.15, -22.9), (4.05, 52.025)])
def test_exchanged_starts_are_refused_in_degrees(tmp_path, lon, lat):
    ring = [[lon - 0.1, lat - 0.1], [lon + 0.1, lat - 0.1], [lon, lat + 0.1]]
    geojson(tmp_path / "a.geojson", polygon([*ring, ring[0]]))
    more = f'[[{lon}, {lat}], [{lat}, {lon}]]\ncoordinates = "degrees"'
    (tmp_path / "site.toml").write_text(scenario_text("a.geojson", more))

    says = shell("validate", tmp_path / "site.toml").err

    assert f"agents.start[1] is longitude {lat}, latitude {lon}, far from the site" in says
    assert "exchanged it is there: give longitude first" in says


def test_arrivals_in_degrees_are_mapped_as_starts_are(tmp_path):
    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    text = scenario_text("a.geojson", '[[4.04, 52.02]]\ncoordinates = "degrees"')
    (tmp_path / "site.toml").write_text(text + "[[world]]\nfrom = 5.0\narrive = [[4.06, 52.03]]\n")
    frame = dwell.Site.read(tmp_path / "a.geojson").frame

    (world,) = dwell.load_scenario(tmp_path / "site.toml").world

    assert np.array(world.arrive) == pytest.approx(frame.from_map([[4.06, 52.03]]), abs=1e-6)
    (tmp_path / "site.toml").write_text(text + "[[world]]\nfrom = 5.0\narrive = [[52.03, 4.06]]\n")
    says = shell("validate", tmp_path / "site.toml").err
    assert "world[0].arrive[0] is longitude 52.03, latitude 4.06" in says


def test_degrees_without_a_unit_are_noted(tmp_path):
    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    degrees, metres = "[[4.04, 52.02], [4.06, 52.03]]", "[[0.0, 100.0], [50.0, -100.0]]"

    assert "agents.coordinates" in validated(tmp_path, scenario_text("a.geojson", start=degrees))
    said = scenario_text("a.geojson", start=f'{degrees}\ncoordinates = "metres"')
    for text in (said, scenario_text("a.geojson", start=metres)):
        assert "agents.coordinates" not in validated(tmp_path, text)


def test_degrees_that_are_no_metres_are_refused(tmp_path):
    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    more = 'frame = "EPSG:32631"'
    (tmp_path / "site.toml").write_text(
        scenario_text("a.geojson", "[[4.04, 52.02], [4.06, 52.03]]", more)
    )

    says = shell("validate", tmp_path / "site.toml").err

    assert "agents.start: read as degrees, all start positions lie in the outline" in says
    assert says.endswith('give agents.coordinates = "degrees"\n')


@pytest.mark.parametrize("value", ['"yes"', "1"])
def test_stay_is_true_or_false(tmp_path, value):
    geojson(tmp_path / "a.geojson", polygon(SQUARE))
    (tmp_path / "site.toml").write_text(scenario_text("a.geojson", more=f"stay = {value}"))

    says = shell("validate", tmp_path / "site.toml").err

    assert says == f"dwell: site.stay must be true or false, without quotes, got {value}.\n"


def test_a_long_coast_has_its_pieces_and_seconds(tmp_path):
    turn = np.linspace(0.0, 2.0 * np.pi, 12_001)
    size = 0.05 * (1.0 + 0.1 * np.sin(9.0 * turn))
    ring = np.column_stack([4.05 + size * np.cos(turn), 52.0 + 0.6 * size * np.sin(turn)])
    geojson(tmp_path / "a.geojson", polygon([*ring[:-1].tolist(), ring[0].tolist()]))

    out = validated(tmp_path, scenario_text("a.geojson"))

    assert re.search(r"site divided into \d+ pieces in [\d.e-]+ s\n", out)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("EPSG:3857", "1.62 to 1.63 times"),
        ("EPSG:4326", "in degree"),
        ("EPSG:2263", "US survey foot"),
    ],
)
def test_a_wrong_frame_is_the_fault_of_the_frame(tmp_path, frame, words):
    path = geojson(tmp_path / "a.geojson", polygon(SQUARE))

    with pytest.raises(SiteError) as error:
        dwell.Site.read(path, frame=frame)

    assert error.value.key == "site.frame"
    assert str(error.value).startswith(f"frame is '{frame}'")
    assert words in str(error.value)
    assert "EPSG:32631" in str(error.value)


def test_small_bends_are_not_worth_a_note(tmp_path):
    side = 0.005
    ring = [[4.0, 52.0], [4.0 + side, 52.0], [4.0 + side, 52.0 + side], [4.0, 52.0 + side]]

    assert dwell.Site.read(geojson(tmp_path / "a.geojson", polygon([*ring, ring[0]]))).notes == ()


def refusal(tmp_path, text: str) -> str:
    path = tmp_path / "a.geojson"
    path.write_text(text)
    with pytest.raises(SiteError) as error:
        dwell.Site.read(path)
    return str(error.value)


def test_files_without_a_map(tmp_path):
    wrong = {**polygon([["a", "b"], *SQUARE[1:]])}
    feature = {"type": "Feature", "properties": {}, "geometry": wrong}

    assert "is empty" in refusal(tmp_path, "")
    assert "driver" not in refusal(tmp_path, "hello")
    assert "no features" in refusal(tmp_path, '{"type": "FeatureCollection", "features": []}')
    assert "coordinates that are not numbers" in refusal(
        tmp_path, json.dumps({"type": "FeatureCollection", "features": [feature]})
    )


def test_a_hole_outside_names_no_edges(tmp_path):
    hole = [[x + 1.0, y] for x, y in SQUARE]

    says = refusal(
        tmp_path,
        json.dumps({"type": "Feature", "properties": {}, "geometry": polygon(SQUARE, hole)}),
    )

    assert "hole lies outside shell" in says
    assert "edge" not in says


def test_random_starts_of_a_site_lie_in_the_region(tmp_path):
    hole = [[4.01, 52.01], [4.01, 52.04], [4.09, 52.04], [4.09, 52.01], [4.01, 52.01]]
    geojson(tmp_path / "a.geojson", polygon(SQUARE, hole))
    (tmp_path / "site.toml").write_text(scenario_text("a.geojson", "{ count = 50, seed = 1 }"))

    system, start, _ = dwell.scenario.build.build(dwell.load_scenario(tmp_path / "site.toml"))

    assert system.workspace.covers(start).all()

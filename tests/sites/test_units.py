"""Units at a site: metres and seconds in tables and figures, and none elsewhere."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import dwell
import dwell.studies.optimize
from dwell._units import METRIC, OPEN, Units
from dwell.cli.show import show_summary
from dwell.errors import AgentsError
from dwell.plotting.figures import FIGURES
from dwell.plotting.film import canvas_of
from dwell.plotting.film_frames import frames_of
from dwell.plotting.maps import draw_workspace, round_origin
from dwell.plotting.scale import mark_scale
from tests.cli.shell import dwell as shell

from .files import SQUARE, geojson, polygon
from .test_first_try import scenario_text

HOLE = [[4.04, 52.02], [4.04, 52.03], [4.06, 52.03], [4.06, 52.02], [4.04, 52.02]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a site, its scenario and its run."""
    made = tmp_path_factory.mktemp("units")
    geojson(made / "a.geojson", polygon(SQUARE, HOLE))
    (made / "site.toml").write_text(scenario_text("a.geojson").replace("10.0", "40.0"))
    dwell.run_scenario(made / "site.toml", out=made / "run.nc")
    return made


@pytest.fixture(scope="module")
def run(folder):
    return dwell.load_run(folder / "run.nc")


def test_units_of_numbers_and_labels():
    assert METRIC.after("3", "length") == "3 m"
    assert METRIC.after("3", "length / time") == "3 m/s"
    assert METRIC.beside("rate", "1 / time") == "rate (1/s)"
    assert METRIC.beside("cost", "") == "cost"
    assert METRIC.as_json() == {"units": {"length": "m", "time": "s"}}
    assert Units(**METRIC.as_json()["units"]) == METRIC
    assert OPEN.after("3", "length") == "3"
    assert OPEN.beside("rate", "1 / time") == "rate"
    assert OPEN.as_json() == {}


def test_the_numbers_of_a_run_have_units(folder):
    out = shell("show", folder / "run.nc").out
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())

    assert lines["ended"] == "horizon at t = 40 s"
    assert " m at the end" in lines["error"]
    assert "nu = 50 m" in lines["coverage"]
    assert lines["hold"].endswith("m/s at most")
    assert " m at least (agents" in lines["separation"]
    assert lines["distance"].endswith(" m")
    assert shell("show", folder / "run.nc", "--json").json["units"] == {"length": "m", "time": "s"}


def test_runs_elsewhere_have_no_units():
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    run = dwell.simulate(dwell.Box([0, 0], [1, 1]), None, [[0.2, 0.3], [0.7, 0.6]], law, until=1.0)

    assert run.details.units == OPEN
    assert "units" not in run.summary()
    ax = FIGURES["errors"](run).axes[0]
    assert ax.get_xlabel() == "time $t$"
    assert "(m)" not in ax.get_ylabel()


@pytest.mark.parametrize(
    ("figure", "unit"), [("errors", "(m)"), ("hold_errors", "(m/s)"), ("timers", "(s)")]
)
def test_figures_over_time_have_units(run, figure, unit):
    ax = FIGURES[figure](run).axes[0]

    assert unit in ax.get_ylabel()
    assert " s" in ax.get_xlabel() or ax.get_xlabel().endswith("(s)")


def test_coordinates_of_a_site_are_in_full(run):
    figure = FIGURES["trajectories"](run)
    figure.draw_without_rendering()

    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        assert axis.get_offset_text().get_text() == ""


def test_films_have_metres_seconds_and_a_scale_bar(run):
    canvas = canvas_of(frames_of(run, fps=2, seconds=1.0, since=None, until=None), (400, 300), 60.0)
    canvas.frame(0)
    words = [text.get_text() for ax in canvas.figure.axes for text in ax.texts]

    scene = canvas.figure.axes[0]
    assert scene.get_xlabel().startswith("east $x$ (m)")
    assert any(type(one).__name__ == "AnchoredSizeBar" for one in scene.get_children())
    assert "t = 0 s" in words
    assert r"$\nu = 50$ m" in words


def test_deployments_have_metres_and_a_scale_bar(folder, monkeypatch):
    seen = []

    def draw_all(drawings, *_):
        seen.extend(draw() for draw in drawings.values())

    monkeypatch.setattr(sys.modules["dwell.studies.optimize"], "write_figures", draw_all)
    out = shell("optimize", folder / "site.toml", "--starts", "1", "--out", folder / "best").out

    assert "positions (m)" in out
    ax = seen[0].axes[0]
    assert ax.get_xlabel() == "east $x$ (m)"
    assert any(type(one).__name__ == "AnchoredSizeBar" for one in ax.get_children())


def test_tables_of_laws_have_units(folder):
    out = shell("compare", folder / "site.toml", "--laws", "timer,lloyd").out

    for row in (
        "largest error at the end (m)",
        "settled to 50 m (s)",
        "top speed (m/s)",
        "path length (m)",
    ):
        assert row in out
    assert "lloyd: dt = 5 s, the t1 of the scenario's law." in out


def test_agents_in_a_hole_are_refused_in_metres(tmp_path):
    geojson(tmp_path / "a.geojson", polygon(SQUARE, HOLE))
    text = scenario_text("a.geojson", "[[0.0, 0.0], [2000.0, 0.0]]", "stay = true")
    (tmp_path / "site.toml").write_text(text)
    hole = shell("run", tmp_path / "site.toml").err
    (tmp_path / "site.toml").write_text(text.replace("[0.0, 0.0]", "[4000.0, 0.0]"))
    outside = shell("run", tmp_path / "site.toml").err

    assert "agent 0 at [0.0, 0.0] is in a hole, 5" in hole
    assert " m from the workspace; the nearest point inside is" in hole
    assert "is 568 m outside the workspace" in outside


def test_an_agent_in_a_hole_of_a_region_without_units():
    ring = [(0, 0), (4, 0), (4, 4), (0, 4)]
    lake = dwell.Region({"outer": ring, "holes": [[(1, 1), (3, 1), (3, 3), (1, 3)]]}, stay=True)
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)

    with pytest.raises(AgentsError, match=r"in a hole, 0\.5 from the workspace"):
        dwell.simulate(lake, None, [[2.5, 2.0], [0.5, 0.5]], law, until=1.0)
    with pytest.raises(AgentsError, match=r"is 1 outside the workspace"):
        dwell.simulate(lake, None, [[5.0, 2.0], [0.5, 0.5]], law, until=1.0)
    assert not lake.has_hole_around(np.array([0.5, 0.5]))


def test_an_error_just_above_nu_is_not_rounded_to_it(run, capsys):
    summary = run.summary()
    summary["error"]["final_max"] = 50.0000004
    summary["coverage"] |= {"nu": 50.0, "reached_at": None}

    summary["distance"] |= {"max": 12345.6}

    show_summary(summary, None)

    out = capsys.readouterr().out
    assert "to 12350 m per agent" in out
    assert "50.0000004 m at the end" in out
    assert "errors do not stay within nu = 50 m" in out


def test_both_axes_count_from_round_numbers_if_one_is_far():
    far = dwell.Box([512_000.0, 5_793_000.0], [514_000.0, 5_795_000.0])
    wide = dwell.Box([507_000.0, 5_786_000.0], [517_000.0, 5_795_000.0])

    assert [round_origin(far, k) for k in (0, 1)] == [510_000.0, 5_790_000.0]
    assert [round_origin(wide, k) for k in (0, 1)] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("cut", "corner"),
    [
        ([0, 0], "lower left"),
        ([4, 0], "lower right"),
        ([4, 4], "upper right"),
        ([0, 4], "upper left"),
    ],
)
def test_the_scale_bar_is_in_the_corner_that_is_free(cut, corner):
    ring = [[0, 0], [4, 0], [4, 4], [0, 4]]
    ring.remove(cut)
    ax = Figure().subplots()
    draw_workspace(ax, dwell.Polygon(ring))

    mark_scale(ax, dwell.Polygon(ring), METRIC)

    (bar,) = (one for one in ax.get_children() if type(one).__name__ == "AnchoredSizeBar")
    assert bar.loc == bar.codes[corner]

"""The worked example of docs/places.md, from its files to its map."""

import importlib.util
import re

import numpy as np
import pyogrio
import pyogrio.raw
import pytest
import shapely

import dwell
from dwell.plotting.scale import round_length
from tests.cli.shell import dwell as shell
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "places.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files of the bay and its scenario."""
    made = tmp_path_factory.mktemp("bay")
    spec = importlib.util.spec_from_file_location("bay", ROOT / "docs" / "studies" / "bay.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(made)
    (made / "bay.toml").write_text(re.search(r"```text\n(name.*?)```", PAGE, re.DOTALL)[1])
    return made


def test_the_commands_of_the_page_lead_to_a_map(folder, monkeypatch):
    monkeypatch.chdir(folder)
    commands = re.findall(r"^dwell (.*)$", PAGE, re.MULTILINE)
    assert [words.split()[0] for words in commands] == [
        "validate",
        "run",
        "check",
        "plot",
        "export",
    ]
    for words in commands:
        done = shell(*words.split())
        assert done.code == 0, done.err
    run = dwell.load_run("bay.nc")
    assert (
        sum(len(ring) for part in run.workspace.parts for ring in (part.outer, *part.holes)) > 100
    )
    assert len(run.workspace.parts[0].holes) == 2
    layers = dict(pyogrio.list_layers("bay.gpkg"))
    assert set(layers) == {"region", "cells", "agents", "paths", "events"}
    meta, _, shapes, columns = pyogrio.raw.read("bay.gpkg", layer="cells")
    start = columns[list(meta["fields"]).index("t0")] == 0.0
    areas = shapely.area(shapely.from_wkb(shapes[start]))
    assert areas.sum() == pytest.approx(run.workspace.area, rel=1e-12)
    mass = columns[list(meta["fields"]).index("mass")][start]
    whole = dwell.moments(run.workspace, run.system.density).mass
    assert mass.sum() == pytest.approx(whole, rel=1e-12)


def test_figures_of_a_site_have_metres_and_a_scale_bar(folder):
    from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

    scenario = dwell.load_scenario(folder / "bay.toml", ["run.horizon=60"])
    ax = dwell.run_scenario(scenario).plot().axes[0]
    assert ax.get_xlabel().startswith("east")
    assert ax.get_ylabel().startswith("north")
    assert ax.get_xlabel().endswith("(m)")
    assert any(isinstance(one, AnchoredSizeBar) for one in ax.get_children())
    assert ax.get_ylim()[0] < ax.get_ylim()[1]  # north up


@pytest.mark.parametrize(("most", "length"), [(3000.0, 2000.0), (999.0, 500.0), (0.2, 0.2)])
def test_bars_have_round_lengths(most, length):
    assert round_length(most) == pytest.approx(length, rel=1e-12)


def test_the_bay_lies_where_the_script_says(folder):
    middle = dwell.Site.read(folder / "bay.geojson").frame.to_map([[0.0, 0.0]])[0]
    away = dwell.Frame("EPSG:32629").from_map(middle)[0] - (512_000.0, 5_790_000.0)
    assert np.hypot(*away) < 1000.0

"""Runs in notebooks: the player, and what objects show of themselves without any extra."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.exports import widget
from dwell.exports.recording import recording_of
from dwell.scenario import parse_scenario

SVG = "{http://www.w3.org/2000/svg}"
SQUARE = [(-2, -2), (2, -2), (2, 2), (-2, 2)]
HOSTILE = "<img src=x onerror=alert(1)>"


def drawn(html: str) -> ET.Element:
    """The picture in an HTML text."""
    return ET.fromstring(html[html.index("<svg") : html.index("</svg>") + len("</svg>")])


def test_a_player_holds_the_recordings_of_its_runs(two_hills: dwell.Run) -> None:
    made = dwell.player([two_hills, two_hills], height=300)
    record = recording_of(two_hills)
    assert made.recordings == record + record
    assert made.sizes == [len(record)] * 2
    assert made.height == 300
    assert "export{" in made._esm
    assert ":root" in made.sheet


def test_a_player_refuses_what_it_cannot_play(two_hills: dwell.Run) -> None:
    with pytest.raises(dwell.InputError, match="1 to 6 runs"):
        dwell.player([])
    with pytest.raises(dwell.InputError, match="height is 10"):
        dwell.player(two_hills, height=10)


def test_without_the_extra_there_is_a_sentence(
    two_hills: dwell.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._widget.cache_clear()
    with pytest.raises(dwell.InputError, match="pip install anywidget"):
        dwell.player(two_hills)
    widget._widget.cache_clear()


def test_a_run_shows_a_map_with_cells_and_paths(two_hills: dwell.Run) -> None:
    html = two_hills._repr_html_()
    picture = drawn(html)
    assert len(picture.findall(f"{SVG}circle")) == two_hills.agents
    # Cells, a path for each agent, and the outline.
    assert len(picture.findall(f"{SVG}path")) == two_hills.agents + 2
    assert "cost.final" in html
    assert len(html) < 50_000


@pytest.mark.parametrize("record", ["samples", "summary"])
def test_a_run_without_events_shows_its_end(record: str) -> None:
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3)
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), None, [[1, 1], [3, 2]], law, until=1.0, record=record
    )
    picture = drawn(run._repr_html_())
    assert len(picture.findall(f"{SVG}circle")) == 2
    assert len(picture.findall(f"{SVG}path")) == 2


@pytest.mark.parametrize(
    "site",
    [
        dwell.Ball((0, 0), 2.0),
        dwell.Region({"outer": SQUARE, "holes": [[(-1, -1), (-1, 0), (0, 0), (0, -1)]]}),
        dwell.Polygon([(-2, -2), (2, -2), (0, 2)]),
    ],
)  # fmt: skip
def test_cells_show_a_map_and_their_table(site: Any) -> None:
    cells = dwell.tessellate(site, [[0.3, 0.3], [0.6, -0.8]])
    html = cells._repr_html_()
    points = [float(c.get("cx", "nan")) for c in drawn(html).findall(f"{SVG}circle")]
    assert len(points) == 2
    assert np.isfinite(points).all()
    assert "&lt;Tessellation: 2 cells" in html


def test_cells_in_other_dimensions_show_their_table() -> None:
    for site, start in (
        (dwell.Interval(0, 1), [0.2, 0.7]),
        (dwell.Box((0, 0, 0), (1, 1, 1)), [[0.5] * 3]),
    ):
        html = dwell.tessellate(site, start)._repr_html_()
        assert "<svg" not in html
        assert "agent" in html


def test_a_scenario_shows_its_keys_and_no_code(two_hills: dwell.Run) -> None:
    assert two_hills.scenario is not None
    table = two_hills.scenario.model_dump(mode="json", exclude_none=True)
    scenario = parse_scenario({**table, "name": HOSTILE})
    html = scenario._repr_html_()
    assert "<img" not in html
    assert "<td>controller.k1</td><td>0.4</td>" in html
    assert repr(two_hills.scenario) == "<Scenario 'two hills': 8 agents, timer, until t = 5>"


def test_notebooks_need_no_extra_to_show_a_run(two_hills: dwell.Run) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['anywidget'] = None; import dwell; "
        "law = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3); "
        "run = dwell.simulate(dwell.Box((0, 0), (4, 3)), None, [[1, 1]], law, until=1.0); "
        "print('<svg' in run._repr_html_())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"

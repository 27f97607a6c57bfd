"""Agents of limited range: cells that end at discs; forms and edits that keep radii and laws."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from tests.page.conftest import Watched
from tests.page.person import APP, drag, frames, pause, place_of, run, spot, until_done

SCENE = "dwellPage.maps[0].shown().scene"
STROKE = 'stroke="#242a31" stroke-width="0.8"'  # of cells, on light paper
BOX = dwell.Box((0, 0), (8, 6))
SCENARIO: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [8, 6]},
    "density": {"kind": "uniform"},
    "agents": {"start": [[1, 1], [2, 1.2], [3, 4], [6, 3]], "radius": [1.2, 0.8, 1.5, 2.0]},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.3, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 3.0, "seed": 1},
}


def opened(page: Any, **changes: Any) -> None:
    """Open the scenario with other tables."""
    assert page.evaluate("s => dwellPage.session.open(s)", {**SCENARIO, **changes})
    frames(page)


def drawn_areas(page: Any) -> list[float]:
    """The areas of the cells in the picture that the page exports."""
    page.get_by_text("Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Map as SVG").click()
    page.keyboard.press("Escape")
    svg = Path(waiting.value.path()).read_text()
    paths = re.findall(rf'<path d="([^"]*)" fill="none" {re.escape(STROKE)}', svg)
    rings = [ring for ring in max(paths, key=len).split("M") if ring]
    scale = float(page.evaluate(f"{SCENE}.view.sx"))
    return [_area(ring) / scale**2 for ring in rings]


def _area(ring: str) -> float:
    x, y = np.array(re.findall(r"-?[\d.]+", ring), dtype=float).reshape(-1, 2).T
    return float(0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def areas(page: Any, radius: list[float]) -> list[float]:
    """The areas of the cells at the positions that the map shows."""
    positions = [place_of(page, p) for p in range(len(radius))]
    return list(dwell.tessellate(BOX, positions, radius=radius).masses)


def ink(page: Any, x: float, y: float) -> list[int]:
    """The colour of the map at a place of the world."""
    left, top = spot(page, x, y)
    code = """([x, y]) => {
        const { canvas } = dwellPage.maps[0], box = canvas.getBoundingClientRect();
        const dot = document.createElement('canvas').getContext('2d');
        const at = [x - box.left, y - box.top].map(v => Math.round(v * devicePixelRatio));
        dot.drawImage(canvas, ...at, 1, 1, 0, 0, 1, 1);
        return Array.from(dot.getImageData(0, 0, 1, 1).data);
    }"""
    return list(page.evaluate(code, [left, top]))


def test_cells_end_at_discs(page: Any) -> None:
    radius = SCENARIO["agents"]["radius"]
    opened(page)
    assert drawn_areas(page) == pytest.approx(areas(page, radius), rel=0.01)
    assert ink(page, 4.6, 0.5) != ink(page, 6.5, 3.5)  # out of range, and in range
    drag(page, (6.0, 3.0), (4.4, 4.4))
    page.wait_for_function(f"() => {APP}.start[3][0] < 5")
    frames(page)
    assert drawn_areas(page) == pytest.approx(areas(page, radius), rel=0.01)
    run(page)
    pause(page, 1.5)
    page.evaluate("dwellPage.store.set({ selected: -1 })")
    frames(page)
    assert drawn_areas(page) == pytest.approx(areas(page, radius), rel=0.01)
    agent, place, cell = page.evaluate(
        f"(({{ agent, place, cell }}) => [agent, place, Array.from(cell)])({SCENE}.glance)"
    )
    far = np.hypot(*(np.reshape(cell, (-1, 2)) - place).T)
    assert far.max() == pytest.approx(radius[agent], rel=1e-9)


def test_radii_are_kept_in_step(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    opened(page)
    page.get_by_role("tab", name="Scenario").click()
    assert "one per agent: 1.2, 0.8, 1.5, 2" in page.locator(".scenario").inner_text()
    page.mouse.dblclick(*spot(page, 7.0, 5.0))
    page.wait_for_function(f"() => {APP}.start.length === 5")
    assert page.evaluate(f"{APP}.scenario.agents.radius") == [1.2, 0.8, 1.5, 2, 2]
    page.evaluate("dwellPage.store.set({ selected: 0, tool: 'agents' })")
    page.get_by_role("button", name="Remove").first.click()
    page.wait_for_function(f"() => {APP}.start.length === 4")
    assert page.evaluate(f"{APP}.scenario.agents.radius") == [0.8, 1.5, 2, 2]
    run(page)
    opened(page, agents={"start": {"count": 6, "seed": 1}, "radius": 1.0})
    field = page.get_by_label("sensing radius")
    assert field.input_value() == "1"
    for label, value in (("count", "7"), ("horizon", "4"), ("sensing radius", "1.4")):
        page.get_by_label(label, exact=True).fill(value)
        page.keyboard.press("Enter")
        page.wait_for_function(
            f"v => JSON.stringify({APP}.scenario).includes(v)",
            arg=f'"{label.replace("sensing ", "")}":{value}',
        )
    run(page)
    assert page.evaluate(f"Array.from({SCENE}.radii)") == [1.4] * 7
    pause(page, 2.0)
    field.fill("0.7")  # on the way
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    pause(page, 1.0)
    assert page.evaluate(f"Array.from({SCENE}.radii)") == [1.4] * 7
    pause(page, 3.0)
    assert page.evaluate(f"Array.from({SCENE}.radii)") == [0.7] * 7
    field.fill("-1")
    page.keyboard.press("Enter")
    page.locator(".wrong").first.wait_for()
    assert page.evaluate(f"{APP}.scenario.agents.radius") == 0.7
    field.fill("")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => !('radius' in {APP}.scenario.agents)")
    run(page)
    assert page.evaluate(f"{SCENE}.radii") is None


def test_a_line_with_radii(page: Any) -> None:
    opened(
        page,
        workspace={"kind": "interval", "bounds": [0, 10]},
        agents={"start": [[1], [2], [6]], "radius": 1.0},
    )
    run(page)
    pause(page, 1.0)
    place, cell = page.evaluate(
        f"(({{ place, cell }}) => [place, Array.from(cell)])({SCENE}.glance)"
    )
    assert cell[0] >= place[0] - 1.0
    assert cell[1] <= place[0] + 1.0
    page.get_by_text("Export").click()
    with page.expect_download():
        page.get_by_role("button", name="Map as SVG").click()


@pytest.mark.parametrize(
    "law",
    [
        {"kind": "tvd", "kappa": 2.0, "order": 1, "dt": 0.1, "speed": 1.0},
        {"kind": "minimum-energy", "alpha": 1.0, "rho": 50.0, "dt": 0.1},
        {"kind": "lloyd", "k2": 1.0, "dt": 0.1, "feedforward": "neighbours", "trust": 0.9},
        {**SCENARIO["controller"], "feedforward": "ahead"},
    ],
    ids=lambda law: law["kind"],
)
def test_laws_that_follow_run_and_keep_their_keys(page: Any, law: dict[str, Any]) -> None:
    center = {"times": [0, 3], "values": [[2, 2], [5, 3]]}
    density = {"kind": "gaussian", "center": center, "rate": 0.2}
    agents = {"start": SCENARIO["agents"]["start"]}
    opened(page, controller=law, density=density, agents=agents)
    page.get_by_role("tab", name="Scenario").click()
    assert page.get_by_label("kind").input_value() == law["kind"]
    key, value = ("t2", 0.35) if law["kind"] == "timer" else ("dt", 0.05)
    page.get_by_label(key, exact=True).fill(str(value))
    page.keyboard.press("Enter")
    page.wait_for_function(
        f"([key, value]) => {APP}.scenario.controller[key] === value", arg=[key, value]
    )
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].problem") is None
    kept = page.evaluate(f"{APP}.scenario.controller")
    assert {**kept, **law, key: value} == kept

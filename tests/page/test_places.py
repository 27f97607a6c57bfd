"""Real places: outlines that are dropped, rings that are drawn, densities that are painted."""

from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.page.conftest import Open, Watched
from tests.page.person import APP, choose, drag, run, spot, until_still

SCENE = "dwellPage.maps[0].shown().scene"
SAID = "document.querySelector('.said')?.textContent ?? ''"
BAY = [[0, 0], [3000, 0], [3000, 2000], [2000, 2000], [2000, 800], [1000, 800], [1000, 2000]]
BAY = [[400_000 + x, 5_900_000 + y] for x, y in [*BAY, [0, 2000], [0, 0]]]
ISLAND = [[x + 400_000, y + 5_900_000] for x, y in [[200, 200], [200, 500], [600, 200], [200, 200]]]


def outline(*rings: Any) -> str:
    """A GeoJSON of one polygon."""
    geometry = {"type": "Polygon", "coordinates": list(rings)}
    return json.dumps({"type": "Feature", "properties": {}, "geometry": geometry})


def drop(page: Any, name: str, data: bytes, kind: str = "") -> None:
    """Drop a file on the page."""
    page.evaluate(
        """([name, data, type]) => {
            const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([bytes], name, { type }));
            dispatchEvent(new DragEvent("dragover", { dataTransfer, cancelable: true }));
            dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
        }""",
        [name, b64encode(data).decode(), kind],
    )


def draw(page: Any, button: str, *places: tuple[float, float]) -> None:
    """Draw a ring by clicks."""
    page.get_by_role("button", name=button).click()
    until_still(page)
    for place in places:
        page.mouse.click(*spot(page, *place))
    page.keyboard.press("Enter")


def test_an_outline_with_an_island_is_dropped_run_and_saved(page: Any) -> None:
    count = page.evaluate(f"{APP}.start.length")
    speed = page.evaluate(f"{APP}.scenario.controller.k1")
    drop(page, "bay.geojson", outline(BAY, ISLAND).encode())
    page.wait_for_function(f"() => {APP}.scenario.workspace.kind === 'region'")
    page.wait_for_function(f"() => ({SAID}).includes('1 part, 1 hole')")
    assert page.evaluate(f"{APP}.scenario.name") == "bay"
    assert speed != 1
    assert page.evaluate(f"{APP}.scenario.controller.k1") == 1  # metres per second
    nu = page.evaluate(f"{APP}.scenario.controller.nu")
    assert nu == pytest.approx(300 * 0.2, rel=1e-3)
    parts = page.evaluate(f"{APP}.scenario.workspace.parts")
    assert parts == [{"outer": BAY[:-1], "holes": [ISLAND[:-1]]}]
    until_still(page)
    hull = page.evaluate(f"{SCENE}.region.ring")
    assert len(hull) == 4
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].problem ?? null") is None
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.arc.agents") == count
    with page.expect_download() as saving:
        page.get_by_text("Export").click()
        page.get_by_role("button", name="Map as SVG").click()
    svg = Path(saving.value.path()).read_text()
    assert 'clip-rule="evenodd"' in svg
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {APP}.scenario.workspace.kind !== 'region'")


def test_degrees_become_metres_by_the_server(page: Any) -> None:
    ring = [[8.0, 53.0], [8.03, 53.0], [8.01, 53.005], [8.03, 53.02], [8.0, 53.02], [8.0, 53.0]]
    drop(page, "harbour.json", outline(ring).encode())
    page.wait_for_function(f"() => {APP}.scenario.name === 'harbour'")
    outer = page.evaluate(f"{APP}.scenario.workspace.parts[0].outer")
    assert np.ptp(np.asarray(outer), axis=0) == pytest.approx([2014.0, 2226.0], rel=2e-3)


def test_files_that_hold_no_outline_say_so(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    before = page.evaluate(f"{APP}.scenario")
    point = json.dumps({"type": "Point", "coordinates": [8, 53]})
    drop(page, "buoy.geojson", point.encode())
    page.wait_for_function(f"() => ({SAID}).includes('buoy.geojson has no polygon')")
    crossing = [[0, 0], [9000, 9000], [9000, 0], [0, 8000], [0, 0]]
    drop(page, "knot.geojson", outline(crossing).encode())
    page.wait_for_function(f"() => /cross|intersect/.test({SAID})")
    drop(page, "large.geojson", outline(BAY).encode() + b" " * 1_000_000)
    page.wait_for_function(f"() => ({SAID}).includes('at most 1 MB')")
    assert page.evaluate(f"{APP}.scenario") == before


def test_rings_and_holes_are_drawn_changed_and_removed(page: Any, watched: Watched) -> None:
    page.keyboard.press("3")
    draw(page, "Draw new", (1.0, 0.5), (9.0, 1.0), (5.0, 2.0), (8.0, 5.5), (1.0, 5.0))
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts?.[0].outer.length === 5")
    draw(page, "Draw hole", (2.0, 3.0), (3.0, 3.0), (3.0, 4.0), (2.0, 4.0))
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts[0].holes.length === 1")
    draw(page, "Draw hole", (8.0, 2.5), (9.0, 2.5), (9.0, 3.5))  # outside: another part
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts.length === 2")
    drag(page, (5.0, 2.0), (6.0, 2.0))
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts[0].outer[2][0] > 5.9")
    drag(page, (2.5, 3.0), (2.5, 2.5))  # the middle of a side becomes a corner
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts[0].holes[0].length === 5")
    page.get_by_role("button", name="Remove ring").click()
    page.wait_for_function(f"() => {APP}.scenario.workspace.parts[0].holes.length === 0")
    watched.may_refuse = True
    before = page.evaluate(f"{APP}.scenario.workspace")
    drag(page, (1.0, 5.0), (8.0, 0.2))  # across a side
    page.wait_for_function("() => document.querySelector('.said.error, .said')?.textContent")
    page.wait_for_function(f"() => {SCENE}.region.parts[0].outer[4][1] > 4.9")
    assert page.evaluate(f"{APP}.scenario.workspace") == before
    run(page)


def test_rings_are_drawn_by_keys(page: Any) -> None:
    page.keyboard.press("3")
    page.get_by_role("button", name="Draw new").click()
    canvas = page.locator(".map-canvas")
    canvas.focus()
    corner = ("ArrowLeft",) * 44 + ("ArrowDown",) * 24
    for steps in (corner, ("ArrowRight",) * 88, ("ArrowUp",) * 48, ("ArrowLeft",) * 80, ()):
        for key in steps:
            page.keyboard.press(key)
        page.keyboard.press("a")
    assert page.evaluate(f"{APP}.drawing.length") == 5
    assert "Vertex 5" in page.evaluate(SAID)
    page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices?.length === 4")


def test_a_density_is_painted_erased_and_undone(page: Any) -> None:
    choose(page, "paper-12")
    page.keyboard.press("4")
    page.get_by_label("Strength").fill("1")
    until_still(page)
    low, high = page.evaluate(
        f"(() => {{ const r = {SCENE}.region.ring; return [r[0], r[2]]; }})()"
    )
    at = (0.7 * low[0] + 0.3 * high[0], 0.7 * low[1] + 0.3 * high[1])
    to = (0.3 * low[0] + 0.7 * high[0], 0.3 * low[1] + 0.7 * high[1])
    shown = "([x, y]) => dwellPage.maps[0].shown().density([x, y])"
    before = page.evaluate(shown, list(at))
    drag(page, at, to)
    page.wait_for_function(f"() => {APP}.scenario.density.kind === 'raster'")
    painted = page.evaluate(shown, list(at))
    assert painted > before
    table = page.evaluate(f"{APP}.scenario.density")
    assert table["interpolation"] == "bilinear"
    assert max(len(table["inline"]), len(table["inline"][0])) == 64
    page.get_by_label("Erase").check()
    drag(page, at, at)
    page.wait_for_function(f"v => dwellPage.maps[0].shown().density({list(at)}) < v", arg=painted)
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].problem ?? null") is None
    for _ in range(2):
        page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {APP}.scenario.density?.kind !== 'raster'")


def test_a_density_is_painted_by_touch_and_by_keys(open_page: Open) -> None:
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True)
    page.get_by_role("button", name="Paint").tap()
    until_still(page)
    page.touchscreen.tap(*spot(page, 8.0, 1.0))
    page.wait_for_function(f"() => {APP}.scenario.density.kind === 'raster'")
    once = page.evaluate(f"{APP}.scenario.density.inline")
    page.locator(".map-canvas").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    page.wait_for_function(
        f"old => JSON.stringify({APP}.scenario.density.inline) !== JSON.stringify(old)", arg=once
    )


def test_a_picture_is_the_density(page: Any) -> None:
    ramp = np.tile(np.linspace(20, 250, 300).astype(np.uint8), (150, 1))
    data = BytesIO()
    Image.fromarray(ramp).save(data, "PNG")
    drop(page, "risk.png", data.getvalue(), "image/png")
    page.wait_for_function(f"() => {APP}.scenario.density.kind === 'raster'")
    values = np.asarray(page.evaluate(f"{APP}.scenario.density.inline"))
    assert values.shape == (64, 128)
    assert (np.diff(values, axis=1) >= 0.0).all()
    assert values[0, -1] == pytest.approx(250 / 255, abs=0.01)
    run(page)

"""What the map and the charts show: paths at any time, peaks outside, values behind curves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.person import APP, change, frames, pause, run, until_still

pytestmark = pytest.mark.exhaustive

# The map as numbers, one per pixel and colour.
PIXELS = """() => {
    const { canvas } = dwellPage.maps[0];
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    window.shots = [...(window.shots ?? []), data];
}"""
# The share of pixels that are not alike in two of those.
APART = """([a, b]) => {
    const [x, y] = [shots[a], shots[b]];
    let other = 0;
    for (let k = 0; k < x.length; k += 4)
        if (Math.max(...[0, 1, 2].map(i => Math.abs(x[k + i] - y[k + i]))) > 40) other++;
    return 4 * other / x.length;
}"""


def test_going_back_shows_the_paths_of_then(page: Any) -> None:
    pause(page, 0.0)
    law = "controller: { ...s.controller, t1: 0.005, t2: 0.01 }"  # many events
    assert change(page, f"{{ ...s, {law}, run: {{ ...s.run, horizon: 12 }} }}")
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].timeline.jumps") > 10_000  # with copies on the way
    for time in (5.0, 12.0, 5.0):
        pause(page, time)
        page.evaluate(PIXELS)
    later, again = page.evaluate(APART, [0, 1]), page.evaluate(APART, [0, 2])
    assert later > 0.01
    assert again < 0.1 * later
    page.evaluate("dwellPage.session.setView({ ...dwellPage.maps[0].shown().scene.view })")
    page.wait_for_timeout(400)  # drawn anew when it stands still
    page.evaluate(PIXELS)
    assert page.evaluate(APART, [0, 3]) < 0.1 * later


def test_a_peak_outside_is_shown_and_a_density_that_vanishes_is_said(page: Any) -> None:
    assert page.title() == f"{page.evaluate(f'{APP}.scenario.name')} · dwell"
    pause(page, 0.0)
    assert change(page, "{ ...s, density: { kind: 'gaussian', center: [1000, 1000], rate: 1 } }")
    page.evaluate("dwellPage.session.editor.setTool('peaks')")
    page.get_by_role("button", name="Show everything").click()
    until_still(page)
    x, y, width, height = page.evaluate(
        """() => {
            const { view, size } = dwellPage.maps[0].shown().scene;
            return [size.width / 2 + (1000 - view.x) * view.sx,
                    size.height / 2 - (1000 - view.y) * view.sy, size.width, size.height];
        }"""
    )
    assert 0 < x < width
    assert 0 < y < height
    page.evaluate("dwellPage.session.editor.setTool('agents')")
    frames(page)
    with page.expect_download() as saved:
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("button", name="Map as SVG").click()
    with open(saved.value.path(), encoding="utf-8") as file:
        assert "The density is 0 in the whole workspace" in file.read()


def test_charts_have_words_and_values_behind_them(page: Any) -> None:
    run(page)
    pause(page, 20.0)
    charts = page.locator(".chart-box")
    assert charts.count() == 3
    for k in range(3):
        assert " over time. At t = " in (charts.nth(k).get_attribute("aria-label") or "")
    page.locator(".chart-table summary").first.click()
    rows = page.locator(".chart-table table").first.locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() == 8
    last = float(rows.first.locator("td").last.inner_text())
    known = page.evaluate(f"{APP}.lanes[0].timeline.last.arc.samples.errors.at(-8)")
    assert last == pytest.approx(known, rel=5e-3)
    box = charts.first.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    assert "agent" in charts.first.locator(".chart-tip").inner_text()

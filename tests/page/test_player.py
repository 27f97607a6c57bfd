"""Exported files and recorded runs in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping

HOSTILE = '<img src=x onerror="window.bad = 1"></title></script><script>window.bad = 1</script>'
READY = "() => window.dwellPage && dwellPage.store.get().lanes.some((lane) => lane.summary)"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with two runs side by side."""
    table = text_to_mapping(template_text("two-hills"))
    table["run"]["horizon"] = 5.0
    other = {**table, "controller": {"kind": "lloyd", "k2": 0.5}}
    runs = [dwell.run_scenario(parse_scenario({**one, "name": HOSTILE})) for one in (table, other)]
    return dwell.export_html(runs, tmp_path_factory.mktemp("player") / "run.html")


def test_an_exported_file_plays_from_disk_and_asks_nobody(browser: Any, exported: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    asked, said = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(exported.as_uri())
    page.wait_for_function(READY)
    assert page.locator(".map-canvas").count() == 2
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.evaluate("dwellPage.clock.t") == 0
    page.keyboard.press("Space")
    page.wait_for_function("() => dwellPage.clock.t > 0.5")
    page.get_by_role("button", name="Pause").click()
    page.keyboard.press("End")
    page.wait_for_function("() => dwellPage.clock.t === 5")
    # Nothing can be changed: the agent under the pointer stays where it is.
    before = page.evaluate(PLACES)
    x, y = page.evaluate(AGENT)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    for key in ("r", "2", "a", "Delete", "Control+z"):
        page.keyboard.press(key)
    assert page.evaluate(PLACES) == before
    assert asked == [exported.as_uri()]
    assert said == []
    assert page.evaluate("window.bad") is None
    page.close()


PLACES = """() => {
  const { lanes } = dwellPage.store.get();
  return lanes.map((lane) => [...lane.stateAt(5, dwellPage.session.jumpOf(lane)).positions]);
}"""
AGENT = """() => {
  const map = dwellPage.maps[0];
  const { scene } = map.shown();
  const { view, size, state } = scene;
  const box = map.canvas.getBoundingClientRect();
  return [
    box.left + size.width / 2 + (state.positions[0] - view.x) * view.sx,
    box.top + size.height / 2 - (state.positions[1] - view.y) * view.sy,
  ];
}"""


def test_an_exported_file_plays_at_once(browser: Any, exported: Path) -> None:
    page = browser.new_page()
    page.goto(exported.as_uri())
    page.wait_for_function("() => window.dwellPage && dwellPage.clock.t > 0.2")
    page.close()


def test_a_damaged_file_says_so(browser: Any, exported: Path, tmp_path: Path) -> None:
    text = exported.read_text(encoding="utf-8")
    begin = text.index('<script type="application/x-dwell-run">')
    cut = text[: begin + 8000] + text[text.index("</script>", begin) :]
    (tmp_path / "cut.html").write_text(cut, encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "cut.html").as_uri())
    page.get_by_text("incomplete or damaged").wait_for()
    page.close()

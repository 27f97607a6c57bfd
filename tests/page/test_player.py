"""Exported files and recorded runs in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from tests.page.conftest import OPTIONS, PATIENCE, Open, Watched
from tests.web.servers import Server

HOSTILE = '<img src=x onerror="window.bad = 1"></title></script><script>window.bad = 1</script>'
READY = "() => window.dwellPage && dwellPage.store.get().lanes.some((lane) => lane.summary)"


def noted(page: Any) -> tuple[list[str], list[str]]:
    """What a page requests from now on, and what it writes to the console."""
    asked, said = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return asked, said


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
    asked, said = noted(page)
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
    canvas = page.locator(".map-canvas").first
    assert "question mark" not in canvas.get_attribute("aria-label")
    canvas.focus()
    page.keyboard.press("]")
    page.keyboard.press("ArrowLeft")  # belongs to time, as nothing can be moved
    page.wait_for_function("() => dwellPage.clock.t < 5")
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


LARGEST = 6_000_000  # bytes


def test_the_run_of_the_paper_is_exported_and_plays_from_disk(browser: Any, tmp_path: Path) -> None:
    run = dwell.run_scenario(parse_scenario(text_to_mapping(template_text("paper-30"))))
    assert len(run.events.time) > 200_000
    file = dwell.export_html(run, tmp_path / "paper-30.html")
    assert file.stat().st_size <= LARGEST
    page = browser.new_page(reduced_motion="reduce")
    asked, said = noted(page)
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    page.keyboard.press("End")
    page.wait_for_function(f"() => dwellPage.clock.t === {run.horizon}")
    assert page.evaluate("dwellPage.store.get().lanes[0].timeline.jumps") == len(run.events.time)
    page.close()
    assert asked == [file.as_uri()]
    assert said == []


def test_an_exported_file_plays_at_once(browser: Any, exported: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(exported.as_uri())
    page.wait_for_function("() => window.dwellPage && dwellPage.clock.t > 0.2")
    page.close()


def test_an_exported_file_is_made_for_fingers(browser: Any, exported: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(exported.as_uri())
    page.wait_for_function(READY)
    for part in (".tools", ".transport"):
        pressed = page.locator(part).locator("button:visible, summary:visible, select:visible")
        boxes = [one.bounding_box() for one in pressed.all()]
        assert min(min(box["width"], box["height"]) for box in boxes) >= 43.9
    page.close()


def test_a_damaged_file_says_so(browser: Any, exported: Path, tmp_path: Path) -> None:
    text = exported.read_text(encoding="utf-8")
    begin = text.index('<script type="application/x-dwell-run">')
    cut = text[: begin + 8000] + text[text.index("</script>", begin) :]
    (tmp_path / "cut.html").write_text(cut, encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto((tmp_path / "cut.html").as_uri())
    page.get_by_text("incomplete or damaged").wait_for()
    page.close()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two stored runs."""
    table = text_to_mapping(template_text("two-hills"))
    table["run"]["horizon"] = 5.0
    folder = tmp_path_factory.mktemp("stored")
    for name, law in (("a", table["controller"]), ("b", {"kind": "lloyd", "k2": 0.5})):
        dwell.run_scenario(parse_scenario({**table, "controller": law}), out=folder / f"{name}.nc")
    return [str(folder / "a.nc"), str(folder / "b.nc")]


def test_serve_opens_stored_runs_and_a_reload_finds_them(
    open_page: Open, stored: list[str], watched: Watched
) -> None:
    watched.may_lose = True  # the server ends before its page
    with Server(*OPTIONS, *stored) as own:
        page = open_page(f"{own.url}/#r=2", recorded=True)
        page.wait_for_function(READY)
        assert page.evaluate("dwellPage.store.get().lanes.map((lane) => lane.kind)") == [
            "timer",
            "lloyd",
        ]
        page.wait_for_function("() => dwellPage.clock.t > 0.2")
        page.reload()
        page.wait_for_function(READY)
        assert page.locator(".map-canvas").count() == 2


def test_a_run_is_exported_as_html_and_a_link_brings_it_back(
    browser: Any, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("dwellPage.session.compare(['timer', 'lloyd'])")
    page.wait_for_function(DONE)
    page.evaluate("dwellPage.clock.pause(), dwellPage.session.seek(3.5)")
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML that plays").click()
    download.value.save_as(tmp_path / "run.html")
    page.get_by_text("plays in any browser").wait_for()
    alone = browser.new_page()
    alone.set_default_timeout(PATIENCE)
    alone.goto((tmp_path / "run.html").as_uri())
    alone.wait_for_function(READY)
    assert alone.locator(".map-canvas").count() == 2
    alone.close()
    page.get_by_role("button", name="Link", exact=True).click()
    page.get_by_text("opens where dwell serve runs on port").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    again = open_page(link, recorded=True)
    again.wait_for_function(DONE)
    again.wait_for_function("() => dwellPage.clock.t === 3.5")
    assert again.evaluate("dwellPage.store.get().lanes.map((lane) => lane.kind)") == [
        "timer",
        "lloyd",
    ]
    assert not again.evaluate("dwellPage.clock.playing")


DONE = """() => {
  const { lanes } = dwellPage.store.get();
  return lanes.length === 2 && lanes.every((lane) => lane.summary && !lane.recorded);
}"""

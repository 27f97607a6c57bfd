"""Files, links, other dimensions, narrow screens, keys, colours."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import Open, Watched
from tests.page.person import APP, choose, frames, place_of, run, spot

pytestmark = pytest.mark.exhaustive


def saved(page: Any, menu: str | None, name: str) -> Path:
    """What a button saves."""
    if menu:
        page.get_by_text(menu, exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(waiting.value.path())


def test_scenarios_are_saved_and_opened(page: Any, tmp_path: Path, watched: Watched) -> None:
    watched.may_refuse = True
    kept = saved(page, None, "Save")
    scenario = tomllib.loads(kept.read_text())
    assert scenario["name"] == "two hills"
    other = tmp_path / "other.toml"
    other.write_text(kept.read_text().replace("two hills", "three hills"))
    page.get_by_label("Scenario file").set_input_files(other)
    page.wait_for_function(f"() => {APP}.scenario.name === 'three hills'")
    other.write_text("name = [")
    page.get_by_label("Scenario file").set_input_files(other)
    page.locator(".said.error").wait_for()


def test_a_scenario_file_is_dropped(page: Any, tmp_path: Path, watched: Watched) -> None:
    watched.may_refuse = True
    session = page.context.new_cdp_session(page)
    file, address = tmp_path / "other.toml", page.url

    def drop() -> None:
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            where = {"type": kind, "x": 300, "y": 300, "data": data}
            session.send("Input.dispatchDragEvent", where)

    file.write_text(saved(page, None, "Save").read_text().replace("two hills", "three hills"))
    drop()
    page.wait_for_function(f"() => {APP}.scenario.name === 'three hills'")
    file.write_text("name = [")
    drop()
    page.locator(".said.error").wait_for()
    assert page.evaluate(f"{APP}.scenario.name") == "three hills"
    assert page.url == address


def test_pictures_and_the_run_are_saved(page: Any) -> None:
    run(page)
    assert saved(page, "Export", "Map as PNG").read_bytes().startswith(b"\x89PNG")
    svg = saved(page, "Export", "Map as SVG").read_text()
    assert svg.startswith("<svg")
    assert svg.count("<path") > 20
    assert all(words in svg for words in (">two hills<", "Timer law, 8 agents", ">t = "))
    assert saved(page, "Export", "Run as NetCDF").read_bytes()[1:4] == b"HDF"


def test_a_link_holds_the_scenario(page: Any, open_page: Open) -> None:
    choose(page, "disc-9")
    page.get_by_role("button", name="Link").click()
    page.wait_for_function("() => location.hash.startsWith('#s=')")
    again = open_page(page.url)
    assert again.evaluate(f"{APP}.scenario") == page.evaluate(f"{APP}.scenario")


def test_a_line_is_drawn_with_time_upward(page: Any) -> None:
    choose(page, "line-8")
    run(page)
    page.keyboard.press("End")
    frames(page)
    x, t = place_of(page, 0)
    assert 0.0 < x < 10.0
    assert t == 60.0
    assert page.evaluate("dwellPage.maps[0].shown().scene.region.bounds") == [0, 10]


def test_of_space_two_axes_are_drawn(page: Any) -> None:
    choose(page, "space-12")
    run(page)
    page.keyboard.press("End")
    for chosen, names in (("0,1", ["x", "y"]), ("1,2", ["y", "z"])):
        page.get_by_label("Axes that are seen").select_option(chosen)
        frames(page)
        seen = page.evaluate(
            f"""(() => {{ const {{ scene }} = dwellPage.maps[0].shown();
                const l = {APP}.lanes[0];
                const all = l.stateAt(dwellPage.clock.t, dwellPage.session.jumpOf(l));
                const [a, b] = scene.shadow.axes;
                return {{ names: scene.shadow.names, seen: Array.from(scene.state.positions),
                    all: Array.from(all.positions), a, b }}; }})()"""
        )
        assert seen["names"] == names
        a, b = (int(axis) for axis in chosen.split(","))
        flat = [v for k in range(0, 36, 3) for v in (seen["all"][k + a], seen["all"][k + b])]
        assert seen["seen"] == flat
        svg = saved(page, "Export", "Map as SVG").read_text()
        assert svg.count("<path") > 20
    page.mouse.dblclick(*spot(page, 0.0, 0.0))  # nothing to touch, and nothing breaks
    assert len(page.evaluate(f"{APP}.start")) == 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_is_wide_enough(open_page: Open, scheme: str) -> None:
    page = open_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    for panel in ("Numbers", "Design", "Compare", "Scenario"):
        page.get_by_role("tab", name=panel).click()
        frames(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, panel
    box = page.locator(".map-canvas").bounding_box()
    assert box["width"] > 300
    assert page.evaluate("document.documentElement.dataset.shown") == scheme


def test_everything_is_reached_by_tab_and_has_a_name(page: Any) -> None:
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => { const e = document.activeElement;
                if (!e || e === document.body) return null;
                const label = e.getAttribute('aria-label') || e.textContent.trim() || e.title
                    || e.labels?.[0]?.textContent.trim() || '';
                const ring = getComputedStyle(e).outlineStyle;
                return [e.tagName, label.slice(0, 30), ring]; }"""
        )
        if here is None:
            break
        seen.append(here)
    names = [label for _, label, _ in seen]
    assert all(names), seen
    assert all(ring != "none" for _, _, ring in seen), seen
    for wanted in ("Play", "Time", "Agents", "Export"):
        assert any(wanted in name for name in names), (wanted, names)


def test_help_colours_and_the_first_paint(page: Any) -> None:
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    assert "play or pause" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => !{APP}.help")
    page.get_by_label("Colours").select_option("dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.reload()
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    # Seen in the browser's own clock; loose, as machines that test are busy.
    first = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page.wait_for_function(f"() => {first} !== undefined")  # known some time after it was painted
    assert page.evaluate(first) < 5000

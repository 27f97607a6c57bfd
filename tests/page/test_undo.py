"""Steps back bring runs back, drawings end, words and marks fit what is shown."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from tests.page.person import (
    APP,
    change,
    choose,
    drag,
    frames,
    pause,
    place_of,
    run,
    spot,
    time_of,
    until_done,
    until_still,
)

pytestmark = pytest.mark.exhaustive

PIECES = f"({APP}.lanes[0]?.timeline.pieces.length ?? 0)"
SVG = "dwellPage.maps[0].shown()"


def pieces(page: Any, count: int) -> None:
    """Wait for a run of so many pieces that has all its rows."""
    page.wait_for_function(f"n => {PIECES} === n && !{APP}.asking", arg=count)
    if count:
        until_done(page)
    frames(page)


def test_steps_back_and_forth_bring_runs_with_them(page: Any) -> None:
    run(page)
    pause(page, 10)
    page.mouse.dblclick(*spot(page, 9.5, 0.5))
    pieces(page, 2)
    page.evaluate("dwellPage.session.seek(20)")
    page.get_by_role("button", name="Remove").click()
    pieces(page, 3)
    page.evaluate("dwellPage.session.seek(30)")
    page.keyboard.press("Control+z")
    pieces(page, 2)
    assert (time_of(page), page.evaluate(f"{APP}.start.length")) == (20, 9)
    page.keyboard.press("Control+z")
    pieces(page, 1)
    assert (time_of(page), page.evaluate(f"{APP}.start.length")) == (10, 8)
    page.keyboard.press("End")
    assert time_of(page) == 40  # all of it
    page.keyboard.press("Control+y")
    pieces(page, 2)
    page.keyboard.press("Control+z")
    # At the beginning another start is another run; the one that was there is not lost.
    page.keyboard.press("Home")
    frames(page)
    drag(page, place_of(page, 2), (8.0, 5.0))
    pieces(page, 0)
    assert "brings the run back" in page.locator(".said").inner_text()
    run(page)
    page.keyboard.press("Control+z")
    pieces(page, 1)
    assert not page.evaluate(f"Array.isArray({APP}.scenario.agents.start)")
    page.keyboard.press("Control+y")
    pieces(page, 1)
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.scenario.agents.start[2]") == pytest.approx(
        [8.0, 5.0], abs=0.05
    )


def test_a_run_that_was_under_way_goes_on_after_a_step_back(page: Any) -> None:
    assert change(page, "{...s, run: {...s.run, horizon: 20000}}")
    page.evaluate("void dwellPage.session.run(false)")
    page.wait_for_function(f"() => {APP}.lanes[0]?.known > 50")
    page.evaluate("dwellPage.session.seek(20)")
    first = page.evaluate(f"Array.from({APP}.lanes[0].stateAt(20, 200).positions)")
    page.evaluate("void dwellPage.session.editor.moveAgent(0, [9, 1])")
    page.wait_for_function(f"() => {PIECES} === 2")
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {PIECES} === 1 && {APP}.lanes[0].known > 30")
    assert time_of(page) == 20
    assert page.evaluate(f"Array.from({APP}.lanes[0].stateAt(20, 200).positions)") == first
    page.evaluate("dwellPage.session.reset()")


def test_a_drawing_ends_with_enter_or_run(page: Any) -> None:
    page.keyboard.press("3")
    page.get_by_role("button", name="Draw new").click()
    for place in ((1.0, 0.5), (9.0, 1.0)):
        page.mouse.click(*spot(page, *place))
    page.keyboard.press("Enter")
    assert "three vertices" in page.locator(".said").inner_text()
    page.mouse.click(*spot(page, 8.0, 5.5))
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices?.length === 3")
    assert page.evaluate(f"{APP}.drawing") is None
    until_still(page)
    page.get_by_role("button", name="Draw new").click()
    for place in ((1.0, 0.5), (9.0, 1.0), (8.0, 5.5), (2.0, 5.0)):
        page.mouse.click(*spot(page, *place))
    run(page)
    assert page.evaluate(f"{APP}.drawing") is None
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.scenario.workspace.vertices.length") == 4


def test_words_fit_a_law_without_samples(page: Any) -> None:
    choose(
        page,
        page.evaluate(
            f"{APP}.templates.find(t => t.scenario.controller.kind === 'event-triggered').name"
        ),
    )
    run(page)
    pause(page, 4)
    page.keyboard.press("ArrowRight")
    frames(page)
    assert "chose its velocity anew" in page.locator(".said").inner_text()
    assert "none samples" in page.locator(".numbers").inner_text()
    assert "look" not in page.locator(".said").inner_text()
    page.reload()
    page.wait_for_function("() => dwellPage.clock.t > 0")
    page.get_by_text("chose its velocity anew").wait_for()  # time stands still where it was


def test_the_map_names_the_last_agent_and_stays_in_view(page: Any) -> None:
    run(page)
    pause(page)
    page.evaluate("dwellPage.session.seek(10)")
    page.keyboard.press("ArrowRight")
    frames(page)
    who = page.evaluate(f"{SVG}.scene.latest")
    assert f"Agent {who} sampled" in page.locator(".said").inner_text()
    with page.expect_download() as waiting:
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("button", name="Map as SVG").click()
    svg = waiting.value.path().read_text()
    assert f">{who}</text>" in svg
    assert ">10</text>" in svg  # the last number of the axis
    page.keyboard.press("Home")
    frames(page)
    x, y = spot(page, *place_of(page, 1))
    page.mouse.move(x + 13, y + 13)  # beside it
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    box = page.locator(".map-canvas").bounding_box()
    for _ in range(4):
        page.mouse.move(box["x"] + 60, box["y"] + 14)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] - 5, steps=3)
        page.mouse.up()
    frames(page)
    left, top = spot(page, 0.0, 6.0)
    assert left < box["x"] + box["width"] - 40
    assert top < box["y"] + box["height"] - 40


def test_a_film_lasts_as_long_as_requested(page: Any, tmp_path: Path) -> None:
    run(page)
    page.get_by_text("Export", exact=True).click()
    page.get_by_label("Film lasts").fill("2")
    page.keyboard.press("Tab")
    with page.expect_download() as started:
        page.get_by_role("button", name="Film as MP4").click()
    film = tmp_path / started.value.suggested_filename
    started.value.save_as(film)
    data = film.read_bytes()
    header = data.index(b"mvhd") + 16  # after the version and two dates
    scale, duration = struct.unpack(">II", data[header : header + 8])
    assert abs(duration / scale - 2.0) < 0.05
    page.get_by_text("Export", exact=True).click()
    page.route("**/film?*", lambda route: route.fulfill(body=b"GIF89a", content_type="image/gif"))
    with page.expect_request("**/film?*") as requested:
        page.get_by_role("button", name="Film as GIF").click()
    assert "seconds=2" in requested.value.url

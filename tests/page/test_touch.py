"""Touching: agents, peaks, corners and the law, by pointer and by key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.conftest import Watched
from tests.page.person import APP, choose, drag, pause, place_of, run, spot


def test_an_agent_dragged_before_a_run_starts_elsewhere_inside(page: Any) -> None:
    drag(page, place_of(page, 2), (8.0, 5.0))
    page.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    start = page.evaluate(f"{APP}.scenario.agents.start")
    assert len(start) == 8
    assert start[2] == pytest.approx([8.0, 5.0], abs=0.05)
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => !Array.isArray({APP}.scenario.agents.start)")
    drag(page, place_of(page, 0), (10.4, 3.0))
    page.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    x, y = page.evaluate(f"{APP}.start[0]")
    assert 9.9 < x <= 10.0
    assert y == pytest.approx(3.0, abs=0.05)


def test_agents_come_and_go_by_pointer_and_key(page: Any) -> None:
    page.mouse.dblclick(*spot(page, 9.0, 1.0))
    page.wait_for_function(f"() => {APP}.start.length === 9")
    assert page.evaluate(f"{APP}.start[8]") == pytest.approx([9.0, 1.0], abs=0.05)
    page.locator(".map-canvas").focus()
    page.keyboard.press("a")
    page.wait_for_function(f"() => {APP}.start.length === 10")
    page.keyboard.press("]")
    chosen = page.evaluate(f"{APP}.selected")
    x = page.evaluate(f"{APP}.start[{chosen}][0]")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"x => {APP}.start[{chosen}][0] > x", arg=x)
    page.keyboard.press("Delete")
    page.wait_for_function(f"() => {APP}.start.length === 9")


def test_agents_come_and_go_during_a_run(page: Any) -> None:
    run(page)
    pause(page, 10)
    page.mouse.dblclick(*spot(page, 9.5, 0.5))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    agents = f"{APP}.lanes[0].timeline.pieces.map(p => p.arc.agents)"
    assert page.evaluate(agents) == [8, 9]


def test_peaks_are_dragged_added_and_removed(page: Any) -> None:
    page.keyboard.press("2")
    drag(page, (7.5, 3.5), (5.0, 4.5))
    page.wait_for_function(f"() => Math.abs({APP}.scenario.density.parts[1].center[0] - 5) < 0.05")
    page.mouse.dblclick(*spot(page, 9.0, 1.0))
    page.wait_for_function(f"() => {APP}.scenario.density.parts.length === 3")
    assert page.evaluate("dwellPage.maps[0].shown().scene.peaks.length") == 3
    page.get_by_role("button", name="Remove").click()
    page.wait_for_function(f"() => {APP}.scenario.density.parts.length === 2")


def test_the_workspace_is_edited_and_stays_convex(page: Any) -> None:
    choose(page, "paper-12")
    page.keyboard.press("3")
    drag(page, (24.0, 8.0), (26.0, 8.0))
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices[4][0] > 25.9")
    drag(page, (26.0, 8.0), (5.0, 4.0))  # far inside
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices[4][0] < 26")
    x = page.evaluate(f"{APP}.scenario.workspace.vertices[4][0]")
    assert 15.0 < x < 26.0
    drag(page, (3.5, -10.0), (4.0, -14.0))  # the middle of a side becomes a corner
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices.length === 8")
    page.keyboard.press("Escape")


def test_a_new_workspace_is_drawn(page: Any) -> None:
    page.keyboard.press("3")
    page.get_by_role("button", name="Draw new").click()
    for place in ((1.0, 0.5), (9.0, 1.0), (8.0, 5.5), (2.0, 5.0)):
        page.mouse.click(*spot(page, *place))
    page.get_by_role("button", name="Finish (4)").click()
    page.wait_for_function(f"() => {APP}.scenario.workspace.kind === 'polygon'")
    assert len(page.evaluate(f"{APP}.scenario.workspace.vertices")) == 4
    run(page)


def test_the_design_panel_says_what_holds(page: Any) -> None:
    choose(page, "paper-30")
    page.get_by_role("tab", name="Design").click()
    verdict = page.locator(".verdict")
    verdict.get_by_text("inside").or_(verdict.get_by_text("Verdict")).first.wait_for()
    page.get_by_label("T2, longest time between samples, as a number").fill("0.5")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.scenario.controller.t2 === 0.5")
    words = page.locator(".conditions").inner_text()
    assert "0.5 > 0.0357877" in words
    page.get_by_text("exceeds the maximum dwell time").wait_for()
    page.get_by_label("k1, largest speed", exact=True).press("ArrowLeft")
    page.wait_for_function(f"() => {APP}.scenario.controller.k1 < 0.525")


def test_a_form_refuses_in_words_and_changes_the_law(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    page.get_by_role("tab", name="Scenario").click()
    page.get_by_label("horizon").fill("-1")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.said').textContent.includes('horizon')")
    assert page.evaluate(f"{APP}.scenario.run.horizon") == 40
    page.get_by_label("horizon").fill("2")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.scenario.run.horizon === 2")
    page.get_by_label("kind").select_option("discrete-lloyd")
    page.wait_for_function(f"() => {APP}.scenario.controller.kind === 'discrete-lloyd'")
    page.get_by_label("schedule").select_option("round-robin")
    page.wait_for_function(f"() => {APP}.scenario.controller.schedule === 'round-robin'")
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].summary.law") == "discrete-lloyd"

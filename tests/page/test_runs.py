"""Runs: started, paused, scrubbed, stepped, compared, reloaded, in two tabs, over a cut wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.conftest import OPTIONS, Open, Watched
from tests.page.person import (
    APP,
    change,
    choose,
    drag,
    frames,
    jump_of,
    pause,
    place_of,
    run,
    seek,
    time_of,
    until_done,
)
from tests.page.proxy import Proxy
from tests.web.servers import Server


def test_opens_with_a_scenario_and_plays_it(page: Any) -> None:
    assert page.title() == "two hills · dwell"
    assert page.locator(".map-canvas").get_attribute("aria-label").startswith("Map of two hills")
    page.keyboard.press("Space")
    page.wait_for_function("() => dwellPage.clock.t > 1")
    page.keyboard.press("Space")
    stopped = time_of(page)
    page.wait_for_timeout(200)
    assert time_of(page) == stopped
    assert jump_of(page) > 0
    assert page.locator(".chart canvas").count() >= 3


def test_scrubs_and_steps_from_jump_to_jump_and_counts_them(page: Any) -> None:
    run(page)
    pause(page)
    seek(page, 0.5)
    half = page.evaluate(f"{APP}.scenario.run.horizon / 2")
    assert time_of(page) == pytest.approx(half, rel=0.02)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => dwellPage.clock.jump !== null")
    t, j = page.evaluate("[dwellPage.clock.t, dwellPage.clock.jump]")
    time = f"{APP}.lanes[0].timeline.last.arc.events.time"
    assert t == page.evaluate(f"{time}[{j - 1}]")
    frames(page)
    seen = page.evaluate("dwellPage.maps[0].shown().scene.glance")
    assert seen["agent"] == page.evaluate(f"{APP}.lanes[0].timeline.last.arc.events.agent[{j - 1}]")
    assert len(seen["cell"]) >= 6  # corners
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("j => dwellPage.clock.jump === j - 1", arg=j)
    page.keyboard.press("End")
    page.wait_for_function(f"() => dwellPage.clock.t === {APP}.scenario.run.horizon")
    page.keyboard.press("Home")
    page.wait_for_function("() => dwellPage.clock.t === 0")
    page.keyboard.press("End")
    counts = page.evaluate(
        f"(() => {{ const l = {APP}.lanes[0];"
        " return l.timeline.counts(dwellPage.clock.t, dwellPage.session.jumpOf(l)); })()"
    )
    summary = page.evaluate(f"{APP}.lanes[0].summary")
    assert counts["samples"] == summary["measurements"]
    assert counts["received"] == summary["messages"]


def test_an_agent_dragged_on_the_way_makes_the_others_react(page: Any) -> None:
    run(page)
    pause(page)
    seek(page, 0.6)
    frames(page)
    before = place_of(page, 3)
    t = time_of(page)
    drag(page, before, (9.5, 0.5))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    frames(page)
    assert place_of(page, 3) == pytest.approx((9.5, 0.5), abs=0.05)
    assert time_of(page) == t
    assert page.locator(".said").inner_text().startswith("Agent 3 was moved")
    others = [place_of(page, p) for p in (0, 1, 2)]
    page.keyboard.press("End")
    frames(page)
    assert [place_of(page, p) for p in (0, 1, 2)] != others
    seek(page, 0.3)  # the time before is still there
    frames(page)
    assert place_of(page, 3) != pytest.approx((9.5, 0.5), abs=0.5)


@pytest.mark.exhaustive
def test_an_agent_dragged_while_time_runs_lets_it_run_on(page: Any) -> None:
    run(page)
    page.evaluate(
        "dwellPage.session.seek(5); dwellPage.clock.setSpeed(0.05); dwellPage.clock.play()"
    )
    frames(page)
    drag(page, place_of(page, 1), (6.0, 5.0))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    page.wait_for_function("() => dwellPage.clock.playing && dwellPage.clock.t > 5.01")


@pytest.mark.exhaustive
def test_curves_and_agents_point_at_each_other(page: Any) -> None:
    run(page)
    pause(page)
    seek(page, 0.5)
    over = page.locator(".u-over").first
    box = over.bounding_box()
    found = set()
    for share in range(5, 95, 3):
        page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] * share / 100)
        found.add(page.evaluate(f"{APP}.hovered"))
    assert len(found) > 2
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + 5)
    assert time_of(page) == pytest.approx(10.0, abs=0.3)


def test_laws_side_by_side_share_a_clock(page: Any) -> None:
    page.get_by_role("tab", name="Compare").click()
    page.get_by_label("Discrete Lloyd").check()
    page.get_by_label("samples all the time").check()
    page.get_by_role("button", name="Side by side").click()
    page.wait_for_function("() => dwellPage.clock.playing")  # as after Run
    until_done(page)
    assert page.locator(".map-canvas").count() == 3
    page.keyboard.press("End")
    frames(page)
    titles = page.locator(".lane-title b").all_inner_texts()
    assert titles == ["Timer", "Discrete Lloyd", "Lloyd"]
    jumps = page.locator(".map .counters dd").all_inner_texts()[::3]
    assert len(set(jumps)) == 3
    starts = page.evaluate(f"{APP}.lanes.map(l => l.timeline.pieces[0].arc.start.positions)")
    assert starts[0] == starts[1] == starts[2]
    page.get_by_role("tab", name="Numbers").click()
    assert "Discrete Lloyd" in page.locator(".chart").first.inner_text()


@pytest.mark.exhaustive
def test_a_template_of_another_law_runs_under_that_law(page: Any) -> None:
    run(page)
    choose(page, "paper-12-lloyd")
    page.evaluate(f"{APP}.scenario.run.horizon = 5")
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].summary.law") == "lloyd"


def test_a_slider_moved_on_the_way_changes_what_follows(page: Any) -> None:
    run(page)
    pause(page)
    seek(page, 0.25)
    page.get_by_role("tab", name="Design").click()
    page.get_by_label("k1, largest speed, as a number").fill("0.1")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    speeds = page.evaluate(
        f"{APP}.lanes[0].timeline.pieces.map(p => Math.max(...p.arc.events.holds.map(Math.abs)))"
    )
    assert speeds[1] <= 0.1 < speeds[0]


def test_a_reload_finds_the_run_and_the_time_again(page: Any) -> None:
    choose(page, "paper-12")
    run(page)
    pause(page)
    seek(page, 0.4)
    t, j = time_of(page), jump_of(page)
    page.reload()
    page.wait_for_function("() => dwellPage.clock.t > 0")
    until_done(page)
    frames(page)
    assert (time_of(page), jump_of(page)) == (t, j)
    assert page.evaluate(f"{APP}.scenario.name") == "paper, 12 agents"


@pytest.mark.exhaustive
def test_two_tabs_do_not_mind_each_other(open_page: Open) -> None:
    first = open_page()
    second = open_page(context=first.context)
    choose(second, "paper-12")
    for one in (first, second):
        run(one)
        pause(one)
    seek(first, 0.2)
    seek(second, 0.8)
    first.reload()
    first.wait_for_function("() => dwellPage.clock.t > 0")
    assert first.evaluate(f"{APP}.scenario.name") == "two hills"
    assert second.evaluate(f"{APP}.scenario.name") == "paper, 12 agents"
    assert time_of(first) != time_of(second)


@pytest.mark.exhaustive
def test_a_cut_wire_is_shown_and_the_run_goes_on(
    server: Server, open_page: Open, watched: Watched
) -> None:
    proxy = Proxy(server.port)
    page = open_page(proxy.address)
    watched.may_lose = True
    assert change(page, "{...s, run: {...s.run, horizon: 6000}}")
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.wait_for_function(f"() => {APP}.lanes[0]?.timeline.last?.arc.events.count > 1000")
    proxy.cut()
    page.get_by_role("alert").wait_for()
    assert "Connection lost" in page.get_by_role("alert").inner_text()
    assert page.locator(".status progress").count() == 0  # nothing is known of it
    proxy.mend()
    page.get_by_role("alert").wait_for(state="detached")
    until_done(page)
    total = page.evaluate(f"{APP}.lanes[0].summary.events.total")
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.arc.events.count") == total
    proxy.cut()


@pytest.mark.exhaustive
def test_a_server_that_went_and_came_back(open_page: Open, watched: Watched) -> None:
    own = Server(*OPTIONS)
    page = open_page(own.url)
    assert change(page, "{...s, run: {...s.run, horizon: 20000}}")
    page.evaluate("void dwellPage.session.run(false)")
    page.wait_for_function(f"() => {APP}.lanes[0]?.known > 100")
    page.evaluate("dwellPage.clock.setSpeed(1000); dwellPage.clock.play()")
    watched.may_lose = True
    own.process.kill()  # without a farewell
    own.end()
    page.locator(".lost").wait_for()
    known = page.evaluate(f"{APP}.lanes[0].known")
    page.get_by_role("button", name="Run", exact=True).first.click()  # refused: nothing changes
    page.locator(".said.error").wait_for()
    assert page.evaluate(f"{APP}.lanes[0].known") == known
    own = Server(*OPTIONS, port=own.port)
    page.locator(".lost").wait_for(state="detached")
    page.get_by_text("does not know this run").wait_for()  # it went with the server
    assert page.locator(".status progress").count() == 0
    page.get_by_role("button", name="Play", exact=True).wait_for()  # nothing more comes
    page.evaluate("dwellPage.session.seek(50)")  # what was received stays
    frames(page)
    assert (time_of(page), jump_of(page) > 0) == (50.0, True)
    page.keyboard.press("Control+z")
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].problem") is None
    own.end()

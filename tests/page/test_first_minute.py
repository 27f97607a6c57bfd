"""The first minute: a recorded run, the guide, the story, and clicks that come early."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.page.conftest import PATIENCE, Open, Watched
from tests.page.person import APP, choose, run, time_of, until_done
from tests.web.servers import Server
from tests.workers.watch import wait_for

RECORDED = f"() => {APP}.lanes[0]?.recorded === true"


def moves(page: Any) -> None:
    """Wait until time goes on."""
    page.wait_for_function("() => dwellPage.clock.playing && dwellPage.clock.t > 0.5")


def test_the_page_opens_with_a_run_that_plays_without_a_worker(
    browser: Any, server: Server, watched: Watched
) -> None:
    watched.may_lose = True
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.route("**/api/**", lambda route: route.abort())
    page.goto(server.url)
    page.wait_for_function(RECORDED)
    moves(page)
    assert not [one for one in asked if one.startswith("POST")]
    page.get_by_text("Eight robots share out an area.").wait_for()
    page.context.close()


def test_little_motion_is_respected_and_play_works(open_page: Open) -> None:
    page = open_page(recorded=True, reduced_motion="reduce")
    page.wait_for_function(RECORDED)
    page.wait_for_timeout(300)
    assert time_of(page) == 0.0
    page.keyboard.press("Space")
    moves(page)


def test_a_recorded_run_can_be_changed_and_is_there_after_a_reload(open_page: Open) -> None:
    page = open_page(recorded=True)
    moves(page)
    page.reload()
    page.wait_for_function(RECORDED)
    moves(page)
    page.evaluate("dwellPage.clock.pause()")
    page.evaluate("void dwellPage.session.editor.addOne()")
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.arc.agents") == 9
    page.reload()
    page.wait_for_function(f"() => {APP}?.lanes[0]?.timeline.pieces.length === 2")
    agents = f"{APP}.lanes[0].timeline.pieces.map((piece) => piece.arc.agents)"
    assert page.evaluate(agents) == [8, 9]
    assert page.evaluate(f"{APP}.lanes[0].timeline.begin") == 0


def test_run_is_remembered_until_there_is_a_scenario(
    browser: Any, server: Server, watched: Watched
) -> None:
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE)
    watched.watch(page)
    held: list[Any] = []
    page.route("**/recorded/**", lambda route: held.append(route))
    page.goto(server.url)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("The run begins when the scenario is loaded.").wait_for()
    assert held
    for route in held:
        route.continue_()
    page.wait_for_function(f"() => {APP}.lanes[0]?.recorded === false")
    until_done(page)
    page.context.close()
    assert not watched.errors


def test_the_template_that_is_open_stays_chosen_when_another_is_refused(
    page: Any, watched: Watched
) -> None:
    watched.may_refuse = True
    error = {"error": {"code": "x", "key": None, "message": "not this one"}}
    page.route("**/api/validate", lambda route: route.fulfill(status=422, json=error))
    page.select_option(".template select", "paper-12")
    page.locator(".said.error").wait_for()
    assert page.locator(".said.error").inner_text().startswith("Not this one")
    assert page.locator(".template select").input_value() == "two-hills"
    assert page.evaluate(f"{APP}.scenario.name") == "two hills"


def test_keys_work_after_a_template_was_chosen(page: Any) -> None:
    select = page.locator(".template select")
    select.focus()
    choose(page, "disc-9")
    page.keyboard.press("r")
    until_done(page)
    page.evaluate("dwellPage.clock.pause()")
    page.keyboard.press("Space")
    page.wait_for_function("() => dwellPage.clock.playing")
    select.focus()
    page.keyboard.press("r")
    page.wait_for_function(f"() => {APP}.asking || dwellPage.clock.t < 1")


def test_a_slider_keeps_every_step_of_the_keyboard(page: Any) -> None:
    choose(page, "paper-12")
    page.get_by_role("tab", name="Design").click()
    slider = page.get_by_label("T2, longest time between samples", exact=True)
    slider.focus()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "validate" in one.url else None)
    before = int(slider.input_value())
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert int(slider.input_value()) == before + 30
    page.wait_for_function(f"() => {APP}.scenario.controller.t2 > 1.2")
    assert int(slider.input_value()) == before + 30
    assert len(asked) < 10


def test_the_verdict_rests_on_what_is_measured(page: Any) -> None:
    choose(page, "paper-30")
    page.get_by_role("tab", name="Design").click()
    page.locator(".verdict.amber").wait_for()
    assert "Verdict: " in page.locator(".verdict").inner_text()
    page.get_by_text("above the assumed 5").first.wait_for()
    assert page.locator(".conditions .bad").count() == 0


def test_terms_are_explained_by_keys_and_by_touch(open_page: Open) -> None:
    page = open_page(recorded=True, has_touch=True)
    word = page.locator(".guide .term", has_text="timer")
    word.focus()
    page.keyboard.press("Enter")
    meaning = page.get_by_text("The time left until the next event of agent p.")
    meaning.wait_for()
    page.keyboard.press("Escape")
    meaning.wait_for(state="hidden")
    word.tap()
    meaning.wait_for()


def test_undo_and_redo_are_enabled_when_there_is_something_to_do(page: Any) -> None:
    undo, redo = page.get_by_label("Undo"), page.get_by_label("Redo")
    assert undo.is_disabled()
    assert redo.is_disabled()
    page.get_by_role("button", name="Add").click()
    page.wait_for_function(f"() => {APP}.start.length === 9")
    undo.click()
    page.wait_for_function(f"() => {APP}.start.length === 8")
    assert undo.is_disabled()
    redo.click()
    page.wait_for_function(f"() => {APP}.start.length === 9")


def test_compiling_is_shown_as_such(page: Any) -> None:
    job: dict[str, Any] = {}

    def answer(socket: Any) -> None:
        socket.send(json.dumps({"type": "job", "job": {**job, "status": "warming"}}))

    def started(route: Any) -> None:
        response = route.fetch()
        job.update(response.json())
        route.fulfill(response=response)

    page.route("**/api/runs?live=true", started)
    page.route_web_socket("**/api/live*", answer)
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.locator(".pending progress").wait_for()
    assert "First time only" in page.locator(".pending").inner_text()


STORY = ["Cover", "Sample", "Hold", "Timer", "T2 too long", "Same cost, fewer samples"]


def test_the_story_shows_the_numbers_of_its_runs_and_leads_back(page: Any) -> None:
    run(page)
    page.evaluate("dwellPage.clock.pause()")
    page.evaluate("dwellPage.session.seek(7)")
    page.evaluate("dwellPage.session.startStory()")
    for title in STORY[:-1]:
        page.get_by_role("heading", name=title).wait_for()
        page.locator(".story-text b.number").first.wait_for()
        page.get_by_role("button", name="Next").click()
    page.wait_for_function(f"() => {APP}.lanes.length === 2")
    page.get_by_text("% as many").wait_for()
    counts = page.evaluate(f"{APP}.lanes.map((lane) => lane.summary.measurements)")
    text = page.locator(".story-text").inner_text().replace("\u2009", "")
    assert str(counts[0]) in text
    assert str(counts[1]) in text
    assert f"{float(f'{100 * counts[0] / counts[1]:.2g}'):g} % as many" in text
    page.get_by_role("heading", name="The paper in 90 seconds").focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name="T2 too long").wait_for()
    assert "changed" not in page.locator(".template option").first.inner_text()
    page.evaluate("document.activeElement.blur()")  # as a click on a button does
    page.keyboard.press("Escape")
    page.locator(".story").wait_for(state="detached")
    assert page.evaluate(f"{APP}.scenario.name") == "two hills"
    assert page.evaluate(f"{APP}.lanes[0].summary !== null && !{APP}.lanes[0].recorded")
    assert time_of(page) == pytest.approx(7.0)


# Preact draws, and runs effects of what it drew a frame later; both ways to wait are held here.
HOLD_EFFECTS = """
    const { setTimeout: later, requestAnimationFrame: frame } = window;
    const held = [];
    window.holding = false;
    window.setTimeout = (call, ms, ...given) => {
        if (ms === 1000 && !window.fetchAll) return (window.fetchAll = call), 0;
        if (window.holding) return held.push(() => call(...given));
        return later(call, ms, ...given);
    };
    window.requestAnimationFrame = (call) =>
        window.holding ? held.push(() => call(performance.now())) : frame(call);
    window.letGo = () => {
        window.holding = false;
        for (const call of held.splice(0)) later(call);
    };
"""
# Panels are fetched in the order of their declarations; the story comes last.
ALL_FETCHED = "performance.getEntriesByType('resource').some((one) => one.name.includes('Story'))"


def test_a_panel_that_is_fetched_between_its_drawing_and_its_effect_is_shown(
    browser: Any, open_page: Open
) -> None:
    context = browser.new_context()
    context.add_init_script(HOLD_EFFECTS)
    page = open_page(context=context)
    page.evaluate("window.holding = true; dwellPage.store.set({ panel: 'design' })")
    page.evaluate("window.fetchAll()")
    wait_for(lambda: page.evaluate(ALL_FETCHED), "the code of all panels")
    page.evaluate("window.letGo()")
    page.wait_for_function("() => document.querySelector('#panel > :not(.empty, h2)')")
    context.close()

"""Off the usual way: jumps at one instant, refusals, hostile links, stale choices, keys alone."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import pytest

from tests.page.conftest import Open, Watched
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
    spot,
    until_done,
    until_still,
)
from tests.web.servers import Server

pytestmark = pytest.mark.exhaustive

LANE = f"{APP}.lanes[0]"


def side_by_side(page: Any, *laws: str) -> None:
    """Put laws side by side, and wait for them."""
    page.evaluate("laws => dwellPage.session.compare(laws)", list(laws))
    until_done(page)
    frames(page)


def counted(page: Any, which: int = 0) -> int:
    """Jumps by the counters."""
    words = page.locator(".counters dd").nth(3 * which).inner_text()
    return int("".join(c for c in words if c.isdigit()))


def test_jumps_at_one_instant_are_stepped_through(page: Any) -> None:
    assert change(page, "{...s, controller: {kind: 'discrete-lloyd', step: 1, speed: 0.4}}")
    run(page)
    pause(page, 2)
    seen = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        frames(page)
        t = page.evaluate("dwellPage.clock.t")
        seen.append((t, jump_of(page), counted(page), page.locator(".said").inner_text()))
    assert len({t for t, *_ in seen}) == 1  # all agents step together
    assert [j for _, j, *_ in seen] == [k for _, _, k, _ in seen]
    assert len({j for _, j, *_ in seen}) == len({said for *_, said in seen}) == 4


def test_a_jump_of_one_law_is_none_of_another(page: Any) -> None:
    side_by_side(page, "lloyd", "timer")
    page.evaluate("dwellPage.session.seek(10)")
    page.keyboard.press("ArrowRight")
    frames(page)
    shown = page.evaluate("Array.from(dwellPage.maps[1].shown().scene.state.positions)")
    true = page.evaluate(
        f"""(() => {{ const {{timeline}} = {APP}.lanes[1]; const {{t}} = dwellPage.clock;
            return Array.from(timeline.stateAt(t, timeline.jumpsUntil(t)).positions); }})()"""
    )
    assert shown == true
    assert counted(page, 1) == page.evaluate(
        f"{APP}.lanes[1].timeline.jumpsUntil(dwellPage.clock.t)"
    )


def test_a_law_that_is_refused_does_not_keep_the_others(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    law = "{kind: 'discrete-lloyd', step: 1, speed: 0.4}"
    assert change(page, f"{{...s, controller: {law}, run: {{...s.run, horizon: 20000}}}}")
    page.evaluate("void dwellPage.session.compare(['discrete-lloyd', 'lloyd'])")  # too many events
    page.locator(".said.error").wait_for()
    page.wait_for_function(f"() => {LANE}?.known > 100")
    page.evaluate("dwellPage.session.seek(50)")
    assert page.evaluate("dwellPage.clock.t") == 50
    page.evaluate("dwellPage.session.reset()")


def test_a_run_that_stops_early_stops_the_clock(page: Any) -> None:
    assert change(page, "{...s, run: {...s.run, max_jumps: 50}}")
    run(page)
    page.wait_for_function("() => !dwellPage.clock.playing")
    assert 0 < page.evaluate("dwellPage.clock.t") < 10
    assert jump_of(page) == 50


def test_an_agent_put_onto_another_on_the_way_leaves_the_run(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    run(page)
    pause(page, 5)
    place = place_of(page, 1)
    page.evaluate("z => dwellPage.session.goOn(now => now.map((y, p) => p ? y : now[1]))", place)
    page.locator(".said.error").wait_for()
    assert page.evaluate(f"{LANE}.timeline.pieces.length") == 1
    assert page.evaluate(f"{LANE}.summary !== null")
    page.keyboard.press("End")
    assert page.evaluate("dwellPage.clock.t") == 40


def test_another_law_or_start_on_the_way_begins_anew(page: Any) -> None:
    run(page)
    pause(page, 5)
    assert change(page, "{...s, controller: {kind: 'lloyd', k2: 2, dt: 0.05}}")
    assert page.evaluate("dwellPage.clock.t") == 0
    run(page)
    assert page.evaluate(f"{LANE}.summary.law") == "lloyd"
    pause(page, 5)
    assert change(page, "{...s, agents: {start: [[1, 1], [2, 2]]}}")
    assert page.evaluate("dwellPage.clock.t") == 0
    assert page.evaluate(f"{APP}.start.length") == 2


def test_undo_is_quick_and_leaves_nothing_chosen_that_is_gone(page: Any) -> None:
    page.keyboard.press("2")
    for k in range(3):
        page.mouse.dblclick(*spot(page, 1.0 + 2.5 * k, 5.0))
        page.wait_for_function(f"n => {APP}.scenario.density.parts.length === n", arg=3 + k)
    for _ in range(3):
        page.keyboard.press("Control+z")
    assert page.evaluate(f"{APP}.scenario.density.parts.length") == 2
    page.locator(".map-canvas").focus()
    page.keyboard.press("ArrowUp")  # the last peak is chosen no more
    for _ in range(3):
        page.keyboard.press("Control+y")
    assert page.evaluate(f"{APP}.scenario.density.parts.length") == 5


def test_a_changed_template_is_brought_back_by_choosing_it(page: Any) -> None:
    drag(page, place_of(page, 2), (8.0, 5.0))
    page.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    assert page.locator(".template option:checked").inner_text() == "two hills, changed"
    page.select_option(".template select", "two-hills")
    page.wait_for_function(f"() => !Array.isArray({APP}.scenario.agents.start)")


def test_keys_alone_add_choose_and_move_everything(page: Any) -> None:
    page.locator(".map-canvas").focus()
    for _ in range(2):  # one right after the other
        page.keyboard.press("a")
    page.wait_for_function(f"() => {APP}.start.length === 10")
    page.keyboard.press("]")
    assert page.locator(".said").inner_text().startswith("Agent 0 of 10, at ")
    page.keyboard.press("3")
    page.keyboard.press("A")
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices?.length === 5")
    frames(page)  # keys move what is drawn
    chosen = page.evaluate(f"{APP}.selectedCorner")
    y = page.evaluate(f"{APP}.scenario.workspace.vertices[{chosen}][1]")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"y => {APP}.scenario.workspace.vertices[{chosen}][1] < y", arg=y)
    page.keyboard.press("Delete")
    page.wait_for_function(f"() => {APP}.scenario.workspace.vertices.length === 4")
    x = page.evaluate("dwellPage.maps[0].shown().scene.view.x")
    page.keyboard.press("Control+ArrowRight")
    frames(page)
    assert page.evaluate("dwellPage.maps[0].shown().scene.view.x") > x


def test_the_weight_of_a_peak_is_dragged(page: Any) -> None:
    page.get_by_role("button", name="Peaks", exact=True).click()
    until_still(page)
    first, before = page.evaluate(
        f"(p => [p.center, p.weight ?? 1])({APP}.scenario.density.parts[0])"
    )
    x, y = spot(page, *first)
    page.mouse.move(x, y - 56 - 16 * math.log2(before))
    assert page.locator(".map-canvas").get_attribute("data-over") == "weight"
    page.mouse.down()
    page.mouse.move(x, y - 56 - 16 * math.log2(4 * before), steps=6)
    page.mouse.up()
    page.wait_for_function(
        f"w => Math.abs({APP}.scenario.density.parts[0].weight / w - 1) < 0.1", arg=4 * before
    )
    assert page.evaluate(f"{APP}.scenario.density.parts[0].center") == first


def test_space_cannot_be_touched_and_says_so(page: Any) -> None:
    choose(page, "space-12")
    assert "Drag space to turn it" in page.locator(".said").inner_text()
    for action in ("Agents", "Peaks", "Workspace", "Paint", "Add", "Remove"):
        assert page.get_by_role("button", name=action, exact=True).count() == 0
    page.locator(".map-canvas").focus()
    page.keyboard.press("a")
    page.get_by_text("nothing can be moved on the map").wait_for()
    page.keyboard.press("]")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(450)  # longer than an arrow waits
    assert page.evaluate(f"{APP}.start.every(z => z.length === 3)")


def linked(text: bytes) -> str:
    """The fragment that holds a text."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(text) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


LINKS = {
    "no base64": "#s=%%%",
    "no deflate": "#s=AAAA",
    "cut short": linked(json.dumps({"name": "x" * 40, "run": {"horizon": 3}}).encode())[:-6],
    "no object": linked(b"[1, 2]"),
    "unknown keys": linked(json.dumps({"__proto__": {"x": 1}, "evil": 2}).encode()),
    "far too long": linked(b" " * 200_000_000),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_bad_link_is_said_and_the_page_opens(
    open_page: Open, server: Server, watched: Watched, name: str
) -> None:
    watched.may_refuse = True
    page = open_page(f"{server.url}/{LINKS[name]}")
    page.locator(".said.error").wait_for()
    assert page.evaluate(f"{APP}.scenario.name") == "two hills"


def test_the_skip_link_does_not_cost_the_run(page: Any) -> None:
    run(page)
    pause(page, 7)
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "panel"
    page.reload()
    page.wait_for_function("() => dwellPage.clock.t === 7")


def test_a_reload_passes_over_a_part_that_was_cancelled(page: Any) -> None:
    assert change(page, "{...s, run: {...s.run, horizon: 20000}}")
    page.evaluate("void dwellPage.session.run(false)")
    page.wait_for_function(f"() => {LANE}?.known > 50")
    page.evaluate("dwellPage.session.seek(20)")
    page.evaluate("void dwellPage.session.editor.moveAgent(0, [9, 1])")
    page.wait_for_function(f"() => {LANE}.timeline.pieces.length === 2")
    page.reload()
    page.wait_for_function(f"() => {APP}.lanes[0]?.known > 30")
    assert page.evaluate(f"{LANE}.problem") is None
    assert page.evaluate("dwellPage.clock.t") == 20
    assert place_of(page, 0) == pytest.approx((9, 1), abs=0.05)
    page.evaluate("dwellPage.session.reset()")


def test_every_law_side_by_side_is_saved(page: Any) -> None:
    side_by_side(page, "timer", "discrete-lloyd")
    names = []
    page.on("download", lambda one: names.append(one.suggested_filename))
    page.get_by_text("Export", exact=True).click()
    page.get_by_role("button", name="Run as NetCDF").click()
    page.get_by_text("are saved").wait_for()
    assert sorted(names) == ["two-hills-discrete-lloyd.nc", "two-hills-timer.nc"]


def test_controls_do_not_overlap_on_the_narrowest_phone(open_page: Open) -> None:
    page = open_page(viewport={"width": 320, "height": 640})
    run(page)
    pause(page, 12)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    found = page.evaluate(
        """() => { const of = '.transport > *, .readout span, .top > *';
            const all = [...document.querySelectorAll(of)]
            .filter(e => !e.classList.contains('hidden') && !e.classList.contains('gap'))
            .map(e => [e.className || e.tagName, e.getBoundingClientRect(), e]);
            const bad = [];
            for (const [n, a, e] of all) for (const [m, b, f] of all) {
                if (e === f || e.contains(f) || f.contains(e)) continue;
                const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (w > 1 && h > 1) bad.push([n, m]);
            }
            return bad; }"""
    )
    assert found == []

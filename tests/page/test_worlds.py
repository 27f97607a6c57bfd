"""Worlds that change: drawn as they are at any time, changed by hand, and kept by every form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.conftest import Open
from tests.page.person import (
    APP,
    change,
    drag,
    frames,
    pause,
    place_of,
    run,
    spot,
    time_of,
    until_done,
)
from tests.web.servers import CHANGING

SCENE = "dwellPage.maps[0].shown().scene"
HILL = {
    "kind": "gaussian",
    "center": {"times": [0, 6, 12], "values": [[2, 2], [8, 2], [8, 5]], "after": "hold"},
    "rate": 0.4,
}
ROUND = {
    "kind": "gaussian",
    "center": {"center": [4, 4], "radius": 1.0, "period": 8.0},
    "rate": {"times": [0, 12], "values": [0.8, 1.2]},
}
MOVING: dict[str, Any] = {
    "name": "a hill that moves",
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [10, 6]},
    "density": {"kind": "mixture", "parts": [{"kind": "uniform", "level": 0.05}, HILL, ROUND]},
    "agents": {"start": {"count": 6, "seed": 2}},
    "world": [
        {"from": 4.0, "leave": [1, 3]},
        {
            "from": 9.0,
            "workspace": {"kind": "box", "lower": [0, 0], "upper": [12, 6]},
            "arrive": [[11, 1]],
        },
    ],
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.3, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 12.0, "seed": 1},
}


def opened(page: Any, scenario: dict[str, Any]) -> None:
    """Open a scenario, as from a file."""
    assert page.evaluate("s => dwellPage.session.open(s)", scenario)
    frames(page)


def heat(page: Any) -> str:
    """The picture of the density that is shown."""
    return str(page.evaluate(f"{SCENE}.heat.image.toDataURL()"))


def seen(page: Any) -> list[int]:
    """The agents that are present on the map."""
    present = page.evaluate(f"Array.from({SCENE}.state.present)")
    return [p for p, here in enumerate(present) if here]


def ink(page: Any, agent: int) -> list[int]:
    """The colour on the map where an agent is."""
    return list(
        page.evaluate(
            """agent => {
                const { canvas, shown } = dwellPage.maps[0];
                const { state, view, size } = shown().scene;
                const [x, y] = state.positions.slice(2 * agent, 2 * agent + 2);
                const px = size.width / 2 + (x - view.x) * view.sx;
                const py = size.height / 2 - (y - view.y) * view.sy;
                const ratio = devicePixelRatio;
                const [a, b] = [Math.round(px * ratio), Math.round(py * ratio)];
                const dot = document.createElement('canvas').getContext('2d');
                dot.drawImage(canvas, a, b, 1, 1, 0, 0, 1, 1);
                return Array.from(dot.getImageData(0, 0, 1, 1).data);
            }""",
            agent,
        )
    )


def test_the_map_shows_the_world_of_its_time(page: Any) -> None:
    opened(page, MOVING)
    assert page.evaluate(f"{APP}.start.length") == 6  # without the one that arrives
    run(page)
    pause(page, 2.0)
    first = heat(page)
    assert page.evaluate(f"{SCENE}.peaks[0].center") == pytest.approx([4.0, 2.0])
    assert seen(page) == [0, 1, 2, 3, 4, 5]
    before = ink(page, 1)
    cells = f"{SCENE}.diagrams[0]?.length"
    pause(page, 5.0)
    assert heat(page) != first
    assert seen(page) == [0, 2, 4, 5]
    assert page.evaluate(cells) == 4
    assert ink(page, 1) != before  # it is not drawn any more
    pause(page, 10.0)
    assert seen(page) == [0, 2, 4, 5, 6]
    assert max(z[0] for z in page.evaluate(f"{SCENE}.region.ring")) == 12
    pause(page, 2.0)
    assert heat(page) == first
    page.evaluate("dwellPage.clock.setSpeed(5); dwellPage.clock.play()")
    page.wait_for_function("() => dwellPage.clock.t > 6")
    page.evaluate("dwellPage.clock.pause()")
    frames(page)
    after = heat(page)
    pause(page, time_of(page))
    assert heat(page) == after  # at rest it is that of its time


def test_the_time_line_has_switches_and_keyframes_for_pointer_and_keys(page: Any) -> None:
    opened(page, MOVING)
    line = page.get_by_role("toolbar", name="Changes of the world")
    assert line.locator(".switch").count() == 2
    assert line.locator(".keyframe").count() == 3
    run(page)
    pause(page, 1.0)
    mark = line.get_by_role("button", name="Switch at t = 4: agents 1 and 3 leave")
    mark.hover()
    assert page.locator(".bubble").inner_text() == "Switch at t = 4: agents 1 and 3 leave"
    mark.click()
    assert time_of(page) == 4.0
    page.locator(".said", has_text="left at t = 4.000").wait_for()
    bar = page.get_by_label("Time", exact=True).and_(page.locator("input"))
    box, here = bar.bounding_box(), mark.bounding_box()
    at = (here["x"] + here["width"] / 2 - box["x"] - 8) / (box["width"] - 16)
    assert at == pytest.approx(4 / 12, abs=0.01)  # under the thumb
    bar.focus()
    page.keyboard.press("Tab")  # to the mark that had the focus last
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Switch at t = 9: new workspace; 1 agent arrives"
    page.keyboard.press("Enter")
    page.wait_for_function("() => dwellPage.clock.t === 9")


def test_a_hill_that_moves_is_dragged_on_the_way(page: Any) -> None:
    opened(page, MOVING)
    run(page)
    pause(page, 5.0)
    page.keyboard.press("2")
    drag(page, (7.0, 2.0), (5.0, 4.0))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    frames(page)
    page.locator(".said", has_text="goes on from there").wait_for()
    scenario = page.evaluate(f"{APP}.scenario")
    center = scenario["density"]["parts"][1]["center"]
    assert center["times"] == [0, 5, 6, 12]
    assert center["values"][1] == pytest.approx([5.0, 4.0], abs=0.05)
    by = [center["values"][1][0] - 7.0, center["values"][1][1] - 2.0]
    assert center["values"][2] == pytest.approx([8.0 + by[0], 2.0 + by[1]])
    assert center["values"][3] == pytest.approx([8.0 + by[0], 5.0 + by[1]])
    assert scenario["world"] == MOVING["world"]
    assert scenario["density"]["parts"][2] == {
        **ROUND, "center": {**ROUND["center"], "phase": 0.0},
        "rate": {**ROUND["rate"], "between": "linear"}, "weight": 1.0,
    }  # fmt: skip
    assert page.evaluate(f"{SCENE}.peaks[0].center") == pytest.approx([5.0, 4.0], abs=0.05)
    pause(page, 6.0)
    assert page.evaluate(f"{SCENE}.peaks[0].center") == pytest.approx(center["values"][2])
    assert seen(page) == [0, 1, 2, 3]  # those who had left are not in this part
    pause(page, 10.0)
    assert seen(page) == [0, 1, 2, 3, 4]
    pause(page, 3.0)  # what was before is as it was
    assert page.evaluate(f"{SCENE}.peaks[0].center") == pytest.approx([5.0, 2.0])
    pause(page, 8.0)
    shown = page.evaluate(f"{SCENE}.peaks[1].center")
    drag(page, (shown[0], shown[1]), (shown[0] + 1.0, shown[1] - 1.0))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 3")
    middle = page.evaluate(f"{APP}.scenario.density.parts[2].center.center")
    assert middle == pytest.approx([5.0, 3.0], abs=0.05)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 1")
    assert page.evaluate(f"{APP}.scenario.density.parts[1].center.times") == [0, 6, 12]
    assert time_of(page) == 5.0


@pytest.mark.exhaustive
def test_a_hill_dragged_while_time_runs_lets_it_run_on(page: Any) -> None:
    opened(page, MOVING)
    run(page)
    page.keyboard.press("2")
    page.evaluate(
        "dwellPage.session.seek(3); dwellPage.clock.setSpeed(0.05); dwellPage.clock.play()"
    )
    frames(page)
    drag(page, tuple(page.evaluate(f"{SCENE}.peaks[0].center")), (6.0, 4.0))
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    t = page.evaluate(f"{APP}.scenario.density.parts[1].center.times[1]")
    page.wait_for_function("t => dwellPage.clock.playing && dwellPage.clock.t > t", arg=t)


def test_agents_are_changed_where_others_come_and_go(page: Any) -> None:
    opened(page, MOVING)
    run(page)
    pause(page, 10.0)
    frames(page)
    drag(page, place_of(page, 6), (11.5, 5.0))  # one that has arrived
    page.wait_for_function(f"() => {APP}.lanes[0].timeline.pieces.length === 2")
    until_done(page)
    frames(page)
    assert seen(page) == [0, 1, 2, 3, 4]
    assert place_of(page, 4) == pytest.approx((11.5, 5.0), abs=0.05)
    page.mouse.dblclick(*spot(page, 11.0, 2.0))
    page.wait_for_function(
        f"() => {APP}.lanes[0].timeline.pieces.length === 2 && {APP}.start.length === 7"
    )
    until_done(page)
    frames(page)
    assert place_of(page, 4) == pytest.approx((11.0, 2.0), abs=0.05)
    assert place_of(page, 5) == pytest.approx((11.5, 5.0), abs=0.05)
    page.evaluate("dwellPage.store.set({ selected: 5, tool: 'agents' })")
    page.get_by_role("button", name="Remove").click()
    page.wait_for_function(f"() => !{APP}.scenario.world[1].arrive")
    until_done(page)
    assert page.evaluate(f"{APP}.scenario.world[0].leave") == [1, 3]


def test_forms_keep_what_changes_over_time(page: Any) -> None:
    opened(page, MOVING)
    page.get_by_role("tab", name="Scenario").click()
    words = page.locator(".scenario").inner_text()
    assert "changes over time: keyframes at t = 0, 6 and 12" in words
    assert "changes over time: on a circle of radius 1 about 4, 4, one turn in 8" in words
    assert "from t = 4 agents 1 and 3 leave" in words
    for label, value in (("horizon", "11"), ("count", "9")):
        page.get_by_label(label, exact=True).fill(value)
        page.keyboard.press("Enter")
        page.wait_for_function(
            f"() => JSON.stringify({APP}.scenario).includes('\"{label}\":{value}')"
        )
    page.get_by_label("kind").select_option("lloyd")
    page.wait_for_function(f"() => {APP}.scenario.controller.kind === 'lloyd'")
    page.get_by_label("weight").first.fill("2")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.scenario.density.parts[1].weight === 2")
    scenario = page.evaluate(f"{APP}.scenario")
    assert scenario["world"] == MOVING["world"]
    assert scenario["density"]["parts"][1]["center"] == {**HILL["center"], "between": "linear"}
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].timeline.last.arc.agents") == 10


def test_sensors_have_marks_and_cells_of_their_own(page: Any) -> None:
    opened(page, CHANGING)
    words = page.locator(".sensors")
    assert "■ square: smoke and heat" in " ".join(words.inner_text().split())
    run(page)
    pause(page, 3.0)
    assert page.evaluate(f"Array.from({SCENE}.marks)") == [0, 1, 2, 2, 0]
    assert page.evaluate(f"{SCENE}.diagrams.map(d => Array.from(d))") == [[0, 1, 4]]
    first = heat(page)
    page.get_by_label("Cells and density of").select_option("heat")
    frames(page)
    assert page.evaluate(f"{SCENE}.diagrams.map(d => Array.from(d))") == [[1, 3]]
    assert heat(page) != first
    page.evaluate("dwellPage.store.set({ selected: 1 })")
    frames(page)
    assert page.evaluate(f"{SCENE}.diagrams.map(d => Array.from(d))") == [[0, 1, 4], [1, 3]]
    assert "smoke (solid) and heat (dashed)" in words.inner_text()
    ring = page.evaluate(f"{SCENE}.region.ring")  # walls move
    assert [z for z in ring if z[0] > 4] == [
        pytest.approx(z) for z in ([4.75, 0.375], [4.75, 4.75])
    ]
    page.get_by_role("tab", name="Scenario").click()
    page.get_by_label("count", exact=True).fill("6")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {APP}.start.length === 6")
    own = page.evaluate(f"{APP}.scenario.agents.sensors")
    assert own == [
        ["smoke"],
        ["smoke", "heat"],
        ["heat"],
        ["heat"],
        ["smoke"],
        ["smoke", "heat"],
        ["smoke"],
    ]
    run(page)


def test_a_line_that_changes(page: Any) -> None:
    line = {
        "workspace": {"kind": "interval", "bounds": [0, 1]},
        "density": {"kind": "uniform"},
        "agents": {"start": [[0.2], [0.7]]},
        "world": [
            {"from": 2.0, "workspace": {"kind": "interval", "bounds": [0, 2]}, "arrive": [[1.8]]}
        ],
        "controller": {"kind": "timer", "k1": 0.5, "nu": 0.1, "t1": 0.1, "t2": 0.2},
        "run": {"horizon": 4.0, "seed": 1},
    }
    opened(page, line)
    run(page)
    pause(page, 1.0)
    assert page.evaluate(f"{SCENE}.region.bounds") == [0, 1]
    assert seen(page) == [0, 1]
    pause(page, 3.0)
    assert page.evaluate(f"{SCENE}.region.bounds") == [0, 2]
    spans = page.evaluate(f"{SCENE}.spans.map(s => [s.from, s.bounds])")
    assert spans == [[0, [0, 1]], [2, [0, 2]]]
    assert seen(page) == [0, 1, 2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_room_for_the_time_line(open_page: Open, scheme: str) -> None:
    page = open_page(viewport={"width": 320, "height": 740}, color_scheme=scheme)
    opened(page, CHANGING)
    frames(page)
    marks = page.locator(".world-line button")
    for mark in (marks.first, marks.last):
        mark.focus()
        box = page.locator(".bubble").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    assert page.locator(".bubble").inner_text() == "At t = 4: keyframe of workspace, vertices"
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert change(page, "({...s, run: {...s.run, horizon: 3}})")

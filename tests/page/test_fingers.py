"""Fingers on a phone: real touch events, which the browser itself turns into scrolling."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.conftest import Open
from tests.page.person import (
    APP,
    frames,
    pause,
    place_of,
    run,
    spot,
    until_done,
    until_still,
)

PHONE = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
LANDSCAPE = {**PHONE, "viewport": {"width": 844, "height": 390}}
EMPTY = (9.4, 0.6)  # a place of the first template where nobody starts
Spot = tuple[float, float]


@pytest.fixture
def phone(open_page: Open) -> Any:
    """The page on a phone, with the whole map in sight."""
    page = open_page(**PHONE)
    page.evaluate("document.querySelector('.maps').scrollIntoView({ block: 'center' })")
    until_still(page)
    return page


def fingers(page: Any, paths: list[tuple[Spot, Spot]], steps: int = 8) -> None:
    """Move fingers along straight lines on the screen, all at once."""
    session = page.context.new_cdp_session(page)

    def send(kind: str, share: float) -> None:
        points = [
            {"x": a[0] + share * (b[0] - a[0]), "y": a[1] + share * (b[1] - a[1]), "id": k}
            for k, (a, b) in enumerate(paths)
        ]
        points = [] if kind == "touchEnd" else points
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", 0.0)
    for k in range(1, steps + 1):
        send("touchMove", k / steps)
        page.wait_for_timeout(20)
    send("touchEnd", 1.0)
    page.wait_for_timeout(300)
    frames(page)


def up(start: Spot, by: float = 160.0) -> tuple[Spot, Spot]:
    """A finger that goes up the screen."""
    return start, (start[0], start[1] - by)


def scroll(page: Any) -> float:
    """How far the page is scrolled."""
    return float(page.evaluate("scrollY"))


def view(page: Any) -> dict[str, float]:
    """What the map shows."""
    return dict(page.evaluate("dwellPage.maps[0].shown().scene.view"))


def test_one_finger_on_the_ground_scrolls_the_page(phone: Any) -> None:
    scrolled, seen = scroll(phone), view(phone)
    fingers(phone, [up(spot(phone, *EMPTY))])
    assert scroll(phone) > scrolled + 50
    assert view(phone) == seen
    assert not phone.evaluate(f"Array.isArray({APP}.scenario.agents.start)")


def test_one_finger_on_an_agent_moves_it_and_not_the_page(phone: Any) -> None:
    scrolled, seen = scroll(phone), view(phone)
    before = place_of(phone, 2)
    fingers(phone, [up(spot(phone, *before), 60.0)])
    phone.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    assert scroll(phone) == scrolled
    assert phone.evaluate(f"{APP}.start[2][1]") == pytest.approx(
        before[1] + 60.0 / seen["sy"], abs=0.3
    )


def test_two_fingers_move_and_zoom_the_map_and_not_the_page(phone: Any) -> None:
    scrolled, seen = scroll(phone), view(phone)
    x, y = spot(phone, *EMPTY)
    fingers(phone, [((x - 80, y), (x - 160, y - 30)), ((x, y), (x + 20, y - 30))])
    now = view(phone)
    assert scroll(phone) == scrolled
    assert now["sx"] == pytest.approx(seen["sx"] * 180 / 80, rel=0.05)
    assert now["y"] != seen["y"]
    phone.locator(".map-canvas").focus()
    phone.keyboard.press("0")
    frames(phone)
    assert view(phone) == seen


def test_a_finger_paints_without_scrolling(phone: Any) -> None:
    phone.get_by_role("button", name="Paint").click()
    phone.evaluate("document.querySelector('.maps').scrollIntoView({ block: 'center' })")
    scrolled = scroll(phone)
    fingers(phone, [up(spot(phone, *EMPTY), 80.0)])
    phone.wait_for_function(f"() => {APP}.scenario.density.kind === 'raster'")
    assert scroll(phone) == scrolled


def test_the_mouse_still_moves_and_zooms_the_map(page: Any) -> None:
    until_still(page)
    seen = view(page)
    x, y = spot(page, *EMPTY)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 20, steps=4)
    page.mouse.up()
    frames(page)
    assert spot(page, *EMPTY) == pytest.approx((x - 60, y - 20), abs=0.5)
    page.mouse.wheel(0, -200)
    page.wait_for_function(f"() => dwellPage.maps[0].shown().scene.view.sx > {1.2 * seen['sx']}")
    page.wait_for_timeout(300)  # until the wheel is at rest
    page.mouse.move(200, 300)
    page.mouse.down()
    page.mouse.move(3000, 300, steps=5)  # some of the workspace stays in sight
    page.mouse.up()
    frames(page)
    assert spot(page, 0.0, 0.0)[0] < page.locator(".map-canvas").bounding_box()["width"]


TARGETS = """() => [...document.querySelectorAll('button, select, summary, input, a')]
    .filter(e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        && !e.closest('.hidden, .skip, .world-line') && !e.matches('.hidden, .skip'))
    .map(e => [e, (e.type === 'checkbox' ? e.closest('label') : e).getBoundingClientRect()])
    .filter(([, box]) => box.width < 43.9 || box.height < 43.9)
    .map(([e, box]) => `${e.outerHTML.slice(0, 80)}: ${box.width} x ${box.height}`)"""


@pytest.mark.parametrize("panel", ["numbers", "compare"])
def test_targets_are_large_enough_for_fingers(phone: Any, panel: str) -> None:
    phone.evaluate("panel => dwellPage.store.set({ panel })", panel)
    phone.locator("#panel > div, #panel > p").first.wait_for()
    phone.locator(".tools summary").click()
    assert phone.evaluate(TARGETS) == []


@pytest.mark.parametrize("screen", [PHONE, LANDSCAPE], ids=["portrait", "landscape"])
def test_the_time_is_in_sight_wherever_the_page_is_scrolled(
    open_page: Open, screen: dict[str, Any]
) -> None:
    page = open_page(**screen)
    run(page)
    height = screen["viewport"]["height"]
    for at in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {at})")
        for part in (".transport .play", ".transport input", ".readout"):
            box = page.locator(part).first.bounding_box()
            assert 0 <= box["y"] <= box["y"] + box["height"] <= height
    page.evaluate("scrollTo(0, 0)")
    words, tools = (page.locator(one).bounding_box() for one in (".status", ".tools"))
    assert words["y"] + words["height"] <= tools["y"]
    map_, bar = page.locator(".map").bounding_box(), page.locator(".transport").bounding_box()
    seen = bar["y"] - map_["y"]
    assert seen > 0.75 * map_["height"]  # most of the map is above the time
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = page.locator("#panel").bounding_box()
    assert last["y"] + last["height"] <= bar["y"] + 1  # nothing is hidden below it


def test_laws_side_by_side_are_swiped(phone: Any) -> None:
    phone.evaluate("void dwellPage.session.compare(['timer', 'lloyd'])")
    phone.locator(".map").nth(1).wait_for()
    until_done(phone)
    pause(phone, 5)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    first, second = (phone.locator(".map").nth(k).bounding_box() for k in (0, 1))
    assert second["y"] == first["y"]
    bar = phone.locator(".transport").bounding_box()
    assert bar["y"] + bar["height"] == PHONE["viewport"]["height"]
    phone.evaluate("document.querySelector('.maps').scrollIntoView({ block: 'center' })")
    x, y = spot(phone, *EMPTY)
    fingers(phone, [((x, y), (x - 200, y))])
    phone.wait_for_function("() => document.querySelector('.maps').scrollLeft > 150")
    assert phone.locator(".map").nth(1).bounding_box()["x"] < 100


@pytest.mark.parametrize("width", [1024, 1280])
def test_the_toolbar_leaves_no_button_alone(open_page: Open, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 700})
    tops = page.evaluate(
        """[...document.querySelectorAll('.tools > :not(.gap)')]
            .map(e => { const b = e.getBoundingClientRect(); return b.top + b.height / 2; })"""
    )
    assert max(tops) - min(tops) < 8
    assert page.get_by_role("button", name="Remove").is_visible()


def test_a_large_screen_is_used(open_page: Open) -> None:
    page = open_page(viewport={"width": 2560, "height": 1440})
    run(page)
    chart = page.locator(".chart-box").first
    chart.wait_for()
    assert chart.bounding_box()["width"] > 600
    assert chart.bounding_box()["height"] > 250

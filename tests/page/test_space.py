"""Space: a workspace of three dimensions is turned by pointer, finger and key, and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import Open
from tests.page.person import APP, change, choose, frames, run, until_still
from tests.page.states import PHONE
from tests.page.test_fingers import fingers, scroll, view

SCENE = "dwellPage.maps[0].shown().scene"
CELL = 3  # agent whose cell is shown


def orbit(page: Any) -> tuple[float, float]:
    """From where space is seen."""
    found = page.evaluate(f"{APP}.orbit")
    return found["azimuth"], found["elevation"]


def seen(page: Any, agent: int) -> tuple[float, float]:
    """Where an agent is on the screen."""
    x, y = page.evaluate(
        f"""agent => {{ const {{ space, state, view, size }} = {SCENE};
            const box = dwellPage.maps[0].canvas.getBoundingClientRect();
            const [u, v] = space.project(state.positions.subarray(3 * agent, 3 * agent + 3));
            return [box.left + size.width / 2 + (u - view.x) * view.sx,
                    box.top + size.height / 2 - (v - view.y) * view.sy]; }}""",
        agent,
    )
    return x, y


def in_space(page: Any) -> Any:
    """The page with a workspace of three dimensions, drawn."""
    choose(page, "space-12")
    page.wait_for_function("() => dwellPage.maps[0]?.shown()?.scene.space")
    until_still(page)
    return page


@pytest.fixture
def space(page: Any) -> Any:
    """The page with a workspace of three dimensions."""
    return in_space(page)


def test_space_is_turned_moved_and_zoomed(space: Any) -> None:
    azimuth, elevation = orbit(space)
    before = view(space)
    box = space.locator(".map-canvas").bounding_box()
    x, y = box["x"] + 60, box["y"] + 60
    space.mouse.move(x, y)
    space.mouse.down()
    space.mouse.move(x + 50, y + 20, steps=5)
    space.mouse.up()
    assert orbit(space) == pytest.approx((azimuth - 0.5, elevation + 0.2), abs=0.06)
    assert view(space) == before
    space.keyboard.down("Shift")
    space.mouse.down()
    space.mouse.move(x, y, steps=5)
    space.mouse.up()
    space.keyboard.up("Shift")
    frames(space)
    assert view(space)["x"] > before["x"]
    space.mouse.wheel(0, -200)
    space.wait_for_function(f"() => {SCENE}.view.sx > {1.2 * before['sx']}")
    space.locator(".map-canvas").focus()
    turned = orbit(space)
    space.keyboard.press("ArrowRight")
    space.keyboard.press("ArrowUp")
    assert orbit(space) == pytest.approx((turned[0] + 0.08, turned[1] + 0.08))
    for _ in range(40):
        space.keyboard.press("ArrowUp")
    assert orbit(space)[1] == pytest.approx(1.5708, abs=1e-4)  # from above, and no farther
    assert space.evaluate("dwellPage.clock.t") == 0


def test_the_cell_of_a_clicked_agent_is_drawn_and_saved(space: Any) -> None:
    def svg() -> str:
        space.get_by_text("Export", exact=True).click()
        with space.expect_download() as waiting:
            space.get_by_role("button", name="Map as SVG", exact=True).click()
        return Path(waiting.value.path()).read_text()

    plain = svg()
    assert plain.count("<image") == 3  # slices of the density
    assert "matrix(" in plain
    for name in "xyz":
        assert f">{name}</text>" in plain
    space.mouse.click(*seen(space, CELL))
    assert space.evaluate(f"{APP}.selected") == CELL
    frames(space)
    assert svg().count('fill-opacity="0.16"') == plain.count('fill-opacity="0.16"') + 1


def test_a_run_has_paths_in_space(space: Any) -> None:
    run(space)
    space.keyboard.press("End")
    frames(space)
    assert space.evaluate(f"{SCENE}.state.dimension") == 3
    assert space.evaluate(f"{SCENE}.stretches[0].jumps") > 100


def test_two_axes_can_be_seen_instead_and_of_more_dimensions_only_two(space: Any) -> None:
    axes = space.get_by_label("Axes that are seen")
    axes.select_option("0,2")
    space.wait_for_function("() => dwellPage.maps[0]?.shown()?.scene.space === null")
    assert space.evaluate(f"{SCENE}.shadow.names") == ["x", "z"]
    axes.select_option("turned")
    space.wait_for_function(f"() => {SCENE}.space !== null")
    ball = (
        "{ ...s, workspace: { kind: 'box', lower: [0, 0, 0, 0], upper: [1, 1, 1, 1] },"
        " density: { kind: 'uniform' }, agents: { start: { count: 5, seed: 1 } } }"
    )
    assert change(space, ball)
    space.wait_for_function("() => dwellPage.maps[0]?.shown()?.scene.space === null")
    assert axes.locator("option").all_inner_texts()[0] == "x1 and x2"


def test_one_finger_turns_space_sideways_and_scrolls_otherwise(open_page: Open) -> None:
    page = in_space(open_page(**{**PHONE, "viewport": {"width": 390, "height": 664}}))
    page.evaluate("document.querySelector('.maps').scrollIntoView({ block: 'center' })")
    box = page.locator(".map-canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    turned, scrolled = orbit(page), scroll(page)
    fingers(page, [((x, y), (x + 100, y))])
    assert orbit(page)[0] == pytest.approx(turned[0] - 1.0, abs=0.25)
    assert scroll(page) == scrolled
    turned = orbit(page)
    fingers(page, [((x, y), (x, y - 150))])
    assert scroll(page) > scrolled + 50
    assert orbit(page) == pytest.approx(turned, abs=0.2)

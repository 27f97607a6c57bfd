"""What a person does on the page, by name."""

from __future__ import annotations

from typing import Any

APP = "dwellPage.store.get()"


def choose(page: Any, template: str) -> None:
    """Take a template."""
    before = page.evaluate(f"{APP}.scenario.name ?? ''")
    page.select_option(".template select", template)
    page.wait_for_function(f"old => {APP}.scenario.name !== old", arg=before)


def run(page: Any) -> None:
    """Press Run, and wait until everything is there."""
    page.get_by_role("button", name="Run", exact=True).first.click()
    until_done(page)


def until_done(page: Any) -> None:
    """Wait until every run is over."""
    page.wait_for_function(
        f"() => !{APP}.asking && {APP}.lanes.length > 0"
        f" && {APP}.lanes.every(one => one.summary || one.problem)"
    )


def pause(page: Any, at: float | None = None) -> None:
    """Stop the clock, and move it to a time if one is given."""
    page.evaluate("dwellPage.clock.pause()")
    if at is not None:
        page.evaluate("t => dwellPage.session.seek(t)", at)
        frames(page)


def change(page: Any, patch: str) -> bool:
    """Change the scenario `s` by code; return whether the server took it."""
    code = f"(() => {{ const s = {APP}.scenario; return dwellPage.session.change({patch}); }})()"
    return bool(page.evaluate(code))


def time_of(page: Any) -> float:
    """What the clock shows."""
    return float(page.evaluate("dwellPage.clock.t"))


def jump_of(page: Any) -> int:
    """How many jumps are shown."""
    words = page.locator(".readout").inner_text().split("j")[1]
    return int("".join(c for c in words if c.isdigit()))


def seek(page: Any, share: float) -> None:
    """Drag the bar to a share of the whole."""
    bar = page.get_by_label("Time", exact=True).and_(page.locator("input"))
    box = bar.bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)
    frames(page)


def frames(page: Any) -> None:
    """Wait until what was done is drawn."""
    page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


def spot(page: Any, x: float, y: float, which: int = 0) -> tuple[float, float]:
    """Where a place of the world is on the screen."""
    found = page.wait_for_function(
        """([x, y, which]) => {
            const map = dwellPage.maps[which];
            if (!map?.shown()) return null;  // it is made anew when a run begins
            const { view, size } = map.shown().scene;
            const box = map.canvas.getBoundingClientRect();
            return [box.left + size.width / 2 + (x - view.x) * view.sx,
                    box.top + size.height / 2 - (y - view.y) * view.sy];
        }""",
        arg=[x, y, which],
    ).json_value()
    return found[0], found[1]


def place_of(page: Any, agent: int, lane: int = 0) -> tuple[float, float]:
    """Where an agent is in the world, as the map shows it."""
    found = page.evaluate(
        """([agent, lane]) => {
            const { state, time } = dwellPage.maps[lane].shown().scene;
            const n = state.dimension;
            const at = state.positions.slice(n * agent, n * agent + n);
            return n === 1 ? [at[0], time] : [at[0], at[1]];
        }""",
        [agent, lane],
    )
    return found[0], found[1]


def until_still(page: Any) -> None:
    """Wait until the map shows the same places for a while: it fits itself to what is edited."""
    before = None
    for _ in range(100):
        now = [spot(page, 0.0, 0.0), spot(page, 1.0, 1.0)]
        if now == before:
            return
        before = now
        page.wait_for_timeout(150)
    raise AssertionError("the map does not come to rest")


def drag(page: Any, from_: tuple[float, float], to: tuple[float, float]) -> None:
    """Drag from a place of the world to another, once the map stands still."""
    until_still(page)
    page.mouse.move(*spot(page, *from_))
    page.mouse.down()
    page.mouse.move(*spot(page, *to), steps=6)
    page.mouse.up()

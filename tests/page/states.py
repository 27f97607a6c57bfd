"""States of the page that tests visit: screens, and what is done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.page.person import APP, choose, frames, pause, run, until_done

WIDE = {"viewport": {"width": 1200, "height": 780}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SCREENS: dict[str, dict[str, Any]] = {
    "light": {**WIDE, "color_scheme": "light"},
    "dark": {**WIDE, "color_scheme": "dark"},
    "phone": {**PHONE, "color_scheme": "light"},
    "dark phone": {**PHONE, "color_scheme": "dark"},
}
FIRST = ("two-hills", "two hills")  # template that opens, and its title
TIME = 5.0  # at which runs are paused


def home(page: Any) -> None:
    """Back to the first template, with no dialog or menu open; a run of it stays."""
    page.evaluate("dwellPage.session.leaveStory()")
    page.evaluate("dwellPage.store.set({ help: false, panel: 'numbers', selected: -1 })")
    page.evaluate("dwellPage.session.editor.setTool('agents')")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = false))")
    if page.evaluate(f"{APP}.scenario.name") != FIRST[1]:
        choose(page, FIRST[0])


def panel(name: str) -> Callable[[Any], None]:
    """Open a panel."""

    def reach(page: Any) -> None:
        page.evaluate("panel => dwellPage.store.set({ panel })", name)
        page.wait_for_function("() => document.querySelector('#panel > :not(.empty, h2)')")

    return reach


def tool(name: str) -> Callable[[Any], None]:
    """Take a tool."""
    return lambda page: page.evaluate("tool => dwellPage.session.editor.setTool(tool)", name)


def menu(name: str) -> Callable[[Any], None]:
    """Open a menu."""
    return lambda page: page.get_by_text(name, exact=True).click()


def finished(page: Any) -> None:
    """A run that is over, at a fixed time."""
    run(page)
    pause(page, TIME)


def template(name: str) -> Callable[[Any], None]:
    """A template as it starts, with one agent chosen."""

    def reach(page: Any) -> None:
        choose(page, name)
        page.evaluate("dwellPage.store.set({ selected: 2 })")

    return reach


def side_by_side(page: Any) -> None:
    """Three laws that have been run."""
    page.evaluate("void dwellPage.session.compare(['timer', 'lloyd', 'discrete-lloyd'])")
    page.wait_for_function(f"() => {APP}.lanes.length === 3")
    until_done(page)
    pause(page, TIME)
    panel("numbers")(page)


def help_open(page: Any) -> None:
    """The help."""
    page.evaluate("dwellPage.store.set({ help: true })")
    page.locator("dialog[open]").wait_for()


def told(page: Any) -> None:
    """The last step of the story."""
    page.evaluate("dwellPage.session.startStory(), dwellPage.store.set({ story: 5 })")
    page.locator(".story-text b.number").first.wait_for()
    pause(page, TIME)


# A list that was laid out before its font came keeps its text a pixel off; it is laid out anew.
FONTS = """document.fonts.ready.then(() => document.querySelectorAll("select").forEach((one) => {
    one.hidden = true;
    one.getBoundingClientRect();
    one.hidden = false;
}))"""


def still(page: Any) -> None:
    """Wait until everything is drawn, and nothing moves."""
    page.evaluate(FONTS)
    page.mouse.move(0, 0)
    before = None
    for _ in range(100):
        frames(page)
        now = page.screenshot()
        if now == before:
            return
        before = now
        page.wait_for_timeout(300)
    raise AssertionError("the page does not come to rest")

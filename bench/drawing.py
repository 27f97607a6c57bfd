"""How fluently the page draws a run, in a real browser.

    python -m bench.drawing

Chromium without a window and, on most machines that run this, without a graphics card: what it
draws is drawn by the processor. It shows at most 60 frames a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.serving import scenario, server
from bench.table import Row, absent, at_least, under

ROOT = Path(__file__).parents[1]
ASKED = {
    100: 55.0,
    1000: 20.0,
}  # frames a second; 60 is all there is, less what is lost in counting
SECONDS = 6.0
PATIENCE = 120_000  # milliseconds
# Moments of all frames from now on, in milliseconds.
COUNT = """seconds => new Promise(tell => {
    const at = [];
    const frame = now => {
        at.push(now);
        if (now - at[0] < 1000 * seconds) requestAnimationFrame(frame); else tell(at);
    };
    requestAnimationFrame(frame);
})"""
# The same while the bar of time goes from one end to the other and back, once in four seconds.
SCRUB = """seconds => new Promise(tell => {
    const { session } = dwellPage;
    const at = [];
    const frame = now => {
        at.push(now);
        session.seek(session.end * (1 - Math.abs(1 - ((now - at[0]) / 2000) % 2)));
        if (now - at[0] < 1000 * seconds) requestAnimationFrame(frame); else tell(at);
    };
    requestAnimationFrame(frame);
})"""
# The same while the map is zoomed in and out about its middle, once in two seconds.
ZOOM = """seconds => new Promise(tell => {
    const { session, maps } = dwellPage;
    const { view } = maps[0].shown().scene;
    const at = [];
    const frame = now => {
        at.push(now);
        const by = 1.5 - 0.5 * Math.cos(Math.PI * (now - at[0]) / 1000);
        session.setView({ ...view, sx: by * view.sx, sy: by * view.sy });
        if (now - at[0] < 1000 * seconds) requestAnimationFrame(frame);
        else { session.setView(null); tell(at); }
    };
    requestAnimationFrame(frame);
})"""
MOVED = {"time is moved": SCRUB, "the map is zoomed": ZOOM}  # with the most agents, all layers
MOVED_ASKED = 20.0  # frames a second
EVENTS = 50_000  # of that run, at least
MOVES = "() => globalThis.dwellPage?.clock.t > 0"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def rows() -> Iterator[Row]:
    """First motion and first paint, then frames for each number of agents."""
    found = subprocess.run([ROOT / "scripts" / "browser"], capture_output=True, text=True)
    if found.returncode:
        yield absent("drawing", "frames a second", "a run that plays", found.stderr.strip())
        return
    from playwright.sync_api import sync_playwright

    with server() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found.stdout.strip(), args=["--no-sandbox"]
        )
        yield first_motion(browser, address)
        yield first_paint(opened(browser, address))
        for agents, asked in ASKED.items():
            page = opened(browser, address)
            yield frames(page, agents, asked)
        for what, code in MOVED.items():
            yield moved(page, what, code)
        browser.close()


def opened(browser: Any, address: str) -> Any:
    """The page in a profile of its own, ready to be used."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_function("() => dwellPage.store.get().start.length > 0")
    page.evaluate("dwellPage.session.reset()")  # of the recorded run that it opens with
    return page


def first_paint(page: Any) -> Row:
    """When there was something to be seen."""
    page.wait_for_function(f"() => {PAINT} !== undefined")
    seconds = page.evaluate(PAINT) / 1e3
    return under("drawing", "first paint", "first visit", seconds, 1.0, f"{seconds:.2f} s")


def first_motion(browser: Any, address: str) -> Row:
    """When the recorded run of the first visit moves, with empty caches."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address, wait_until="commit")
    page.wait_for_function(MOVES)
    seconds = page.evaluate("performance.now()") / 1e3
    page.close()
    return under("drawing", "recorded run moves", "first visit", seconds, 1.0, f"{seconds:.2f} s")


def frames(page: Any, agents: int, asked: float) -> Row:
    """Frames a second while a run plays, with cells, held velocities, targets and paths."""
    body = scenario("two-hills", horizon=30.0)
    body["agents"] = {"start": {"count": agents, "seed": 1}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "many.json"
        file.write_text(json.dumps(body))
        page.get_by_label("Scenario file").set_input_files(file)
        page.wait_for_function("n => dwellPage.store.get().start.length === n", arg=agents)
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.wait_for_function("() => dwellPage.store.get().lanes[0]?.summary")
    page.evaluate("() => { dwellPage.clock.pause(); dwellPage.clock.seek(1); }")
    page.evaluate("() => { dwellPage.clock.setSpeed(2); dwellPage.clock.play(); }")
    rate, figure = measured(page, COUNT)
    name, what = f"frames a second, {agents} agents", "a run that plays, all layers of the map"
    return at_least("drawing", name, what, rate, asked, figure, "")


def moved(page: Any, what: str, code: str) -> Row:
    """Frames a second while time or the map is moved by hand, late in a long run."""
    page.evaluate("() => { dwellPage.clock.pause(); dwellPage.session.seek(1e9); }")
    events = page.evaluate("dwellPage.store.get().lanes[0].timeline.jumps")
    assert events >= EVENTS, f"the run has {events} events"
    rate, figure = measured(page, code)
    name = f"frames a second while {what}"
    note = f"{max(ASKED)} agents, {events} events, all layers of the map"
    return at_least("drawing", name, note, rate, MOVED_ASKED, figure, "")


def measured(page: Any, code: str) -> tuple[float, str]:
    """Frames a second over some seconds, with the slowest frame."""
    at = page.evaluate(code, SECONDS)
    rate = 1e3 * (len(at) - 1) / (at[-1] - at[0])
    slowest = max(b - a for a, b in pairwise(at))
    return rate, f"{rate:.1f} (slowest {slowest:.0f} ms)"


def main() -> int:
    """Print the rows; 1 if a promise was not kept."""
    found = list(rows())
    for row in found:
        print(json.dumps({"name": row.name, "figure": row.figure, "met": row.met}))
    return 1 if any(row.met is False for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Takes the pictures of docs/page.md: python docs/images/page.py http://127.0.0.1:8000/

A server must be running at the address that is given, and a Chromium must be there.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
LARGEST = 300_000  # bytes; a larger picture makes do with 256 colours, and its density has steps
RUN = "dwellPage.session.run(false)"
DONE = (
    "() => dwellPage.store.get().lanes.every(one => one.summary) && dwellPage.store.get().lanes[0]"
)


def take(page: Any, name: str, part: str | None = None) -> None:
    """Keep what is seen of the page or of a part of it."""
    page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    page.wait_for_timeout(400)
    path = HERE / f"page-{name}.png"
    (page.locator(part) if part else page).screenshot(path=path)
    picture = Image.open(path).convert("RGB")
    picture.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=0)
        few.save(path, optimize=True)
    print(path, path.stat().st_size)


def opened(browser: Any, address: str, template: str, **options: Any) -> Any:
    """The page with a template."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_function("() => dwellPage.store.get().start.length > 0")
    page.select_option(".template select", template)
    page.wait_for_timeout(600)
    return page


def at(page: Any, t: float) -> None:
    """Run, and go to a time."""
    page.evaluate(RUN)
    page.wait_for_function(DONE)
    page.evaluate(f"dwellPage.session.seek({t}); dwellPage.session.step(1)")


def main(address: str) -> None:
    """All pictures."""
    path = subprocess.run(
        [HERE.parents[1] / "scripts" / "browser"], capture_output=True, text=True, check=True
    ).stdout.strip()
    wide = {"viewport": {"width": 1180, "height": 740}}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = opened(browser, address, "harbour-20", **wide)
        at(page, 112.0)
        take(page, "run")
        page = opened(browser, address, "paper-12", **wide, color_scheme="dark")
        page.evaluate("dwellPage.session.compare(['timer', 'discrete-lloyd', 'self-triggered'])")
        page.wait_for_function(DONE)
        page.evaluate("dwellPage.clock.pause(), dwellPage.session.seek(20)")
        take(page, "laws")
        page = opened(browser, address, "paper-30", **wide)
        page.get_by_role("tab", name="Design").click()
        page.wait_for_timeout(1500)
        take(page, "design", ".side")
        page = opened(browser, address, "line-8", **wide)
        at(page, 30.0)
        take(page, "line", ".map")
        phone = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 1.5}
        page = opened(browser, address, "two-hills", **phone)
        at(page, 6.0)
        take(page, "phone")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])

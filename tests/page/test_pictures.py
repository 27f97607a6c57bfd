"""The page looks as it did, at pixel ratios 1, 2 and 3, light and dark, wide and on a phone.

`scripts/pictures` records them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.page.compare_pictures import KEPT, RECORD, compare, difference
from tests.page.conftest import Open
from tests.page.states import SCREENS, finished, panel, side_by_side, still, template

Reach = Callable[[Any], None]


def designed(page: Any) -> None:
    """The panel of conditions."""
    finished(page)
    panel("design")(page)
    page.wait_for_function("() => !document.body.innerText.includes('being measured')")


# Name, screen, pixel ratio, what is done.
PICTURES: tuple[tuple[str, str, int, Reach], ...] = (
    ("light-1", "light", 1, finished),
    ("light-2", "light", 2, finished),
    ("dark-1", "dark", 1, finished),
    ("phone-3", "phone", 3, finished),
    ("dark-phone-2", "dark phone", 2, finished),
    ("compare-1", "light", 1, side_by_side),
    ("dark-compare-2", "dark", 2, side_by_side),
    ("phone-compare-2", "phone", 2, side_by_side),
    ("design-1", "light", 1, designed),
    ("space-2", "light", 2, template("space-12")),
)
TOTAL = 1_500_000  # bytes of all kept pictures
BROWSER = KEPT / "browser.txt"  # the version that drew them: others smooth letters otherwise


@pytest.fixture
def same_browser(browser: Any) -> None:
    """Skip where another version of the browser would draw other pixels."""
    version = browser.version.partition(".")[0]
    if RECORD:
        KEPT.mkdir(exist_ok=True)
        BROWSER.write_text(f"{version}\n")
    elif (kept := BROWSER.read_text().strip()) != version:
        pytest.skip(f"the pictures were drawn by Chromium {kept}, this is {version}")


@pytest.mark.usefixtures("same_browser")
@pytest.mark.parametrize(
    ("name", "screen", "ratio", "reach"), PICTURES, ids=[name for name, *_ in PICTURES]
)
def test_the_page_looks_as_it_did(
    open_page: Open, name: str, screen: str, ratio: int, reach: Reach
) -> None:
    page = open_page(device_scale_factor=ratio, reduced_motion="reduce", **SCREENS[screen])
    reach(page)
    still(page)
    compare(name, page.screenshot(animations="disabled", caret="hide"))


def test_the_kept_pictures_are_those_and_small() -> None:
    kept = list(KEPT.glob("*.png"))
    assert sorted(one.stem for one in kept) == sorted(name for name, *_ in PICTURES)
    assert sum(one.stat().st_size for one in kept) < TOTAL


def test_a_changed_word_is_found_and_smoothing_is_not() -> None:
    page = np.full((480, 640, 3), 250, dtype=np.int16)
    smoothed, changed = page.copy(), page.copy()
    smoothed[100:300, 100:102] -= 40
    changed[200:212, 300:330:2] = 20
    assert difference(smoothed, page) == ""
    assert "near x = 304, y = 192" in difference(changed, page)
    assert "size" in difference(page[:-1], page)


SIZES = """
    const sizes = (globalThis.chartSizes = new Set());
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (...words) {
        if (this.canvas.closest(".chart-box")) {
            const { c, d } = this.getTransform();  // words along an axis are turned
            const pixels = parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * Math.hypot(c, d);
            sizes.add(pixels / devicePixelRatio);
        }
        return fillText.apply(this, words);
    };
"""


def test_labels_of_charts_have_one_size_at_every_pixel_ratio(browser: Any, open_page: Open) -> None:
    found = []
    for ratio in (1, 2, 3):
        context = browser.new_context(device_scale_factor=ratio, **SCREENS["light"])
        context.add_init_script(SIZES)
        page = open_page(context=context)
        finished(page)
        still(page)
        found.append(sorted(page.evaluate("[...chartSizes]")))
        context.close()
    assert found[0]
    assert min(found[0]) >= 10
    for one in found[1:]:
        assert one == pytest.approx(found[0], rel=0.02)

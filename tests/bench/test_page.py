"""Tables and curves that are put into a page."""

from __future__ import annotations

from pathlib import Path

from bench.curves import draw, series_of
from bench.page import filled, write
from bench.table import Row, at_least, keep, kept

ROWS = [
    Row("speed", "a", "b | c", "1 s", 1.0, "< 2 s", True),
    Row("growth", "d", "e", "2 µs", 2e-6, series="per cell, uniform", size=10),
    Row("growth", "f", "e", "3 µs", 3e-6, series="per cell, uniform", size=100),
    Row("growth", "g", "e", "4 µs", 4e-6, series="per event, Gaussian", size=10),
]
PAGE = """# Title
<!-- bench machine -->
old
<!-- end -->
words that stay
<!-- bench speed memory -->
old
<!-- end -->
<!-- bench peers -->
left alone
<!-- end -->
<!-- bench promises -->
<!-- end -->
"""


def test_marked_places_are_renewed_and_the_rest_stays() -> None:
    text = filled(PAGE, "a machine", ROWS)
    assert text.startswith("# Title\n<!-- bench machine -->\n\nMeasured on: a machine.\n")
    assert "words that stay" in text
    assert "| a | b \\| c | 1 s | < 2 s | yes |" in text
    assert "left alone" in text
    assert "old" not in text
    assert text.count("| a |") == 2


def test_renewing_twice_changes_nothing() -> None:
    once = filled(PAGE, "a machine", ROWS)
    assert filled(once, "a machine", ROWS) == once


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    keep(ROWS, tmp_path / "deep" / "figures.json")
    assert kept(tmp_path / "deep" / "figures.json")[1] == ROWS


def test_curves_are_drawn_beside_the_page(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(PAGE, encoding="utf-8")
    write(page, "a machine", ROWS)
    assert (tmp_path / "images" / "growth.png").stat().st_size > 1000
    assert series_of(ROWS)["per cell, uniform"] == {10: 2e-6, 100: 3e-6}
    assert not draw(ROWS[:1], tmp_path / "none.png")


def test_a_ratio_is_judged() -> None:
    row = at_least("speed", "a", "b", 499_999.0, 500_000.0, "499,999", " per second")
    assert (row.target, row.met) == ("≥ 500 000 per second", False)
    assert at_least("peers", "a", "b", 20.0, 20.0, "20 ×").met is True

"""The scripts of the gallery run, and each has its card and its picture."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_draws_its_picture(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert [path.name for path in tmp_path.iterdir()] == [f"{script.stem}.png"]


def test_every_script_has_a_card_and_a_picture() -> None:
    page = (DOCS / "gallery.md").read_text()
    assert len(SCRIPTS) == 10
    for script in SCRIPTS:
        assert script.with_suffix(".png").is_file()
        assert page.count(f"gallery/{script.stem}.png") == 2
        assert page.count(f"gallery/{script.stem}.py") == 1

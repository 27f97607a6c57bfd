"""Command lines that are refused: one sentence, exit code 2, nothing written."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.shell import dwell

TABLE = Path(__file__).with_name("refused.txt").read_text("utf-8")
ROWS = [line.rsplit(" | ", 1) for line in TABLE.splitlines() if line and line[0] != "#"]


@pytest.mark.parametrize(("line", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_refused(
    line: str, words: str, scenario: Path, kept_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenario.parent)
    shutil.copy(kept_once, "run.nc")
    arguments = shlex.split(line)
    outcome = dwell(*arguments)
    said = " ".join(outcome.sentences).replace("python -m pytest.", "")
    assert words in said
    assert {path.name for path in Path().iterdir()} == {"small.toml", "run.nc"}
    if arguments[0] in ("run", "design", "optimize", "compare", "rates"):
        error = dwell(*arguments, "--json").json["error"]
        assert error["message"].splitlines()[0].rstrip(".") in said

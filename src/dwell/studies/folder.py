"""Files of studies: foreign ones are not replaced, and none is left incomplete."""

from __future__ import annotations

from pathlib import Path

from dwell.results.files import refuse_foreign, written_whole

RUN_MARK = "dwell_format"  # in every stored run


def refuse_other(path: Path, mark: str) -> None:
    """Refuse to replace a file of a study that was not made here."""
    refuse_foreign(path, mark, "a file", "studies.exists", "or choose another folder")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

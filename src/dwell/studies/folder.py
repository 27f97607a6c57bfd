"""Folders that studies write to: foreign files are not replaced, and none is left incomplete."""

from __future__ import annotations

from pathlib import Path

from dwell.errors import InputError
from dwell.results.files import refuse_foreign, written_whole

RUN_MARK = "dwell_format"  # in every stored run


def make_folder(folder: Path) -> None:
    """Make `folder`; raise with the reason where that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"nothing can be written to {folder}: {fault.strerror or fault}; a folder that can be "
            "written is needed",
            code="studies.folder",
        ) from fault


def refuse_other(path: Path, mark: str) -> None:
    """Refuse to replace a file of a study that was not made here."""
    refuse_foreign(path, mark, "a file", "studies.exists", "or choose another folder")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

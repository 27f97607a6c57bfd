"""Short pieces, so that a short run has several."""

from __future__ import annotations

import pytest


@pytest.fixture
def small_pieces(monkeypatch):
    """The engine and the readable loop come back after seven jumps."""
    for name in ("FIRST_CHUNK", "LAST_CHUNK", "FEWEST", "MOST"):
        monkeypatch.setattr(f"dwell.engine.stepper.{name}", 7)


@pytest.fixture
def path(tmp_path):
    """The file of a run."""
    return tmp_path / "run.nc"

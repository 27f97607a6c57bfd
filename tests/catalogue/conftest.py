"""A fresh folder with a small scenario for each case."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.catalogue.kit import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)

"""A fresh folder with a small scenario for each case."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.catalogue.kit import Bench

os.environ.setdefault("DWELL_JIT", "1")  # `dwell validate` would choose 0 for this whole process


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)

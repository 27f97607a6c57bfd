"""Any byte of a stored run may be wrong: it is refused in plain words, or noticed by its digest."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.errors import StoreError


@pytest.mark.parametrize("seed", range(2))
def test_damage_is_told_in_one_plain_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    left: list[Any] = []  # exceptions of a library that would be printed as tracebacks
    monkeypatch.setattr(sys, "unraisablehook", left.append)
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.4)
    run = dwell.simulate([(0, 0), (2, 0), (2, 1), (0, 1)], None, [(0.2, 0.3), (1, 1)], law, until=1)
    path = run.save(tmp_path / "run.nc") or tmp_path / "run.nc"
    whole = np.frombuffer(Path(path).read_bytes(), dtype=np.uint8)
    random, said = np.random.default_rng(seed), list[str]()
    for k in range(60):
        bad = whole.copy()
        size = 600 if k % 2 else len(bad)  # the beginning is what names all the rest
        bad[random.integers(0, size, 1 + k // 6)] ^= np.uint8(random.integers(1, 256))
        damaged = tmp_path / "damaged.nc"
        damaged.write_bytes(bad.tobytes())
        try:
            dwell.load_run(damaged)
        except StoreError as fault:
            said.append(str(fault))
    gc.collect()
    assert len(said) >= 10
    assert all(text.startswith(("damaged.nc ", str(damaged))) for text in said)
    leaked = ("HDF5", "synchronously", "checksum", "object", "errno", "Traceback")
    assert not [text for text in said if any(word in text for word in leaked)]
    assert left == []

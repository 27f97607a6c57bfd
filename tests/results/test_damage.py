"""Files: what comes out is what went in, or it is refused in plain words, or has a wrong digest."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell
from dwell._netcdf import digest_of, read_netcdf
from dwell._types import in_columns
from dwell.errors import StoreError
from dwell.results.journal import read_columns, write_columns
from tests.scenario.own_law import LAW, TABLES


def turned(rows, seed):
    """Vectors with every coordinate in one piece, as in tables of events."""
    found = in_columns(rows, 3)
    found[...] = np.random.default_rng(seed).normal(size=(rows, 3))
    return found


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    low=st.sampled_from([0, -1, 250, 2**16 - 3, 2**32 - 3, 2**40]),
)
def test_there_and_back(tmp_path_factory, lengths, low):
    path = tmp_path_factory.mktemp("columns") / "some.columns"
    given = {
        "floats": [np.random.default_rng(k).normal(size=k) for k in lengths],
        "wholes": [np.arange(low, low + k) for k in lengths],
        "vectors": [turned(k, k) for k in lengths],
        "rows": [np.random.default_rng(k).normal(size=(k, 2)) for k in lengths],
        "bends": [np.random.default_rng(k).normal(size=(k, 2, 3)) for k in lengths],
        "none": [np.empty((k, 0)) for k in lengths],
        "text": [np.arange(k, dtype=np.uint8) for k in lengths],
        "odd": [np.array([np.nan, -0.0, np.inf])],
    }
    write_columns(path, given)
    found = read_columns(path)
    assert found.keys() == given.keys()
    for name, pieces in given.items():
        whole = np.concatenate(pieces)
        assert found[name].dtype == whole.dtype, name
        assert found[name].shape == whole.shape, name
        assert found[name].tobytes() == whole.tobytes(), name


def test_any_byte_that_changes_is_noticed(tmp_path):
    path = tmp_path / "some.columns"
    write_columns(path, {"a": [np.arange(5) + 0.5], "b": [np.arange(7)], "c": [turned(3, 0)]})
    good = path.read_bytes()
    before = {name: values.tobytes() for name, values in read_columns(path).items()}
    flipped = (good[:k] + bytes([good[k] ^ 128]) + good[k + 1 :] for k in range(0, len(good), 3))
    for bad in (*flipped, *(good[:k] for k in range(0, len(good), 7))):
        path.write_bytes(bad)
        with pytest.raises(StoreError, match="is damaged"):
            read_columns(path)
    path.write_bytes(good)
    assert before == {name: values.tobytes() for name, values in read_columns(path).items()}


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


@pytest.fixture
def without_law(tmp_path: Path) -> Path:
    """A run of a law whose module is not there any more."""
    (tmp_path / "near.py").write_text(LAW)
    scenario = dwell.scenario.parse_scenario(TABLES)
    (tmp_path / "own.toml").write_text(dwell.scenario.dump_toml(scenario))
    dwell.run_scenario(tmp_path / "own.toml", out=tmp_path / "run.nc")
    (tmp_path / "near.py").unlink()
    sys.modules.pop("near", None)
    return tmp_path / "run.nc"


def restate(path: Path, name: str, text: str) -> None:
    """Change one attribute of a file, and renew its digest."""
    with h5py.File(path, "r+") as file:
        file.attrs[name] = text
    digest = digest_of(*read_netcdf(path))
    with h5py.File(path, "r+") as file:
        file.attrs["digest"] = digest


ODD = ("[]", "null", '"x"', "3", "{}", "[[]]")
PARTS = ("law", "summary")
# A law without nu, a run that has not ended, and no record of what wrote the file.
SOUND = {("law", "{}"), ("summary", "null"), ("provenance", "{}")}


def test_tables_in_a_file_that_are_none_are_refused(without_law: Path) -> None:
    """What a file holds as JSON may be any value; a forger renews the digest."""
    attributes = read_netcdf(without_law)[1]
    assert dwell.load_run(without_law).agents == 3
    kept = json.loads(attributes["without_code"])
    forged = [("without_code", json.dumps({**kept, part: json.loads(odd)}))
              for part in PARTS for odd in ODD if (part, odd) not in SOUND]  # fmt: skip
    forged += [
        ("without_code", json.dumps({**kept, "law": {name: "x"}})) for name in ("nu", "fade")
    ]
    names = ("without_code", "provenance", "scenario", "stop")
    forged += [(name, odd) for name in names for odd in ODD if (name, odd) not in SOUND]
    for name, text in forged:
        restate(without_law, name, text)
        with pytest.raises(StoreError, match=r"is damaged|cannot be used"):
            dwell.load_run(without_law)
        restate(without_law, name, attributes[name])

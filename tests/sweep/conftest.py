"""Sweeps whose cases run in the process of the test, where the kernels are loaded."""

from __future__ import annotations

import pytest

from dwell.sweep import run_sweep
from tests.sweep.processes import tables
from tests.sweep.worlds import CASES, SLOW, FakeExecutor, file_at


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The tables of the slow sweep, made in this process."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dwell.sweep.run.LocalExecutor", FakeExecutor)
        found = run_sweep(file_at(folder, **SLOW), folder / "out", chunk=10)
    assert found.ok
    assert found.computed == CASES
    return tables(folder / "out")


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("dwell.sweep.run.LocalExecutor", FakeExecutor)


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch):
    """Writing through to the disk takes most of the time of these tests."""
    monkeypatch.setattr("os.fsync", lambda handle: None)

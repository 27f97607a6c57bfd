"""What the unit tests of the page compare with is what Python gives."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dwell.web.wire_format import unpack

TESTS = Path(__file__).parents[2] / "page" / "tests"


@pytest.fixture(scope="module")
def record() -> ModuleType:
    """page/tests/record.py."""
    spec = importlib.util.spec_from_file_location("record", TESTS / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kept(name: str) -> Any:
    """A recorded file."""
    return json.loads((TESTS / "recorded" / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["timer", "triggered", "steps", "curve", "line", "lives"])
def test_recorded_runs_are_those_of_today(record: ModuleType, name: str) -> None:
    now, then = record.recorded(record.RUNS[name]), kept(name)
    assert now["looks"] == then["looks"]
    assert now["received"] == then["received"]
    assert [len(m) for m in now["messages"]] == [len(m) for m in then["messages"]]
    near = 1e-4 if name == "curve" else 1e-9  # a differential equation, to its tolerance only
    for new, old in zip(now["states"], then["states"], strict=True):
        assert new["jump"] == old["jump"]
        np.testing.assert_allclose(new["positions"], old["positions"], rtol=0.0, atol=near)


def test_recorded_cells_and_designs_are_those_of_today(record: ModuleType) -> None:
    found, cells = record.cells(), kept("cells")
    for name in ("cases", "ranges"):
        for new, old in zip(found[name], cells[name], strict=True):
            assert new["areas"] == pytest.approx(old["areas"], rel=1e-9, abs=1e-12)
    assert found["line"]["lengths"] == pytest.approx(cells["line"]["lengths"])
    for new, old in zip(record.designs()["cases"], kept("design")["cases"], strict=True):
        assert new["met"] == old["met"]
        assert new["maxGain"] == pytest.approx(old["maxGain"])


def test_recorded_worlds_are_those_of_today(record: ModuleType) -> None:
    assert json.loads(json.dumps(record.tracks())) == kept("tracks")
    for new, old in zip(record.worlds()["cases"], kept("worlds")["cases"], strict=True):
        assert json.loads(json.dumps(new)) == old


def test_recorded_figures_of_a_comparison_are_those_of_today(record: ModuleType) -> None:
    now, then = record.comparison(), kept("comparison")
    assert now["notes"] == then["notes"]
    for name, run in then["runs"].items():
        assert json.loads(json.dumps(now["runs"][name]["controller"])) == run["controller"]
        if name == "curve":  # a differential equation, to its tolerance only
            continue
        new, old = now["runs"][name]["figures"], run["figures"]
        assert new["settled_at"] == old["settled_at"]
        assert new["cost"]["final"] == pytest.approx(old["cost"]["final"], rel=1e-9)
        for key in ("looks", "received", "sent", "distance"):
            assert new[key] == pytest.approx(old[key], rel=1e-9)


def test_recorded_messages_are_what_the_server_packs() -> None:
    header, columns = unpack(base64.b64decode(kept("timer")["messages"][0]))
    assert header["count"] == 20
    assert columns["positions"].shape == (20, 2)


def test_recorded_cells_of_space_are_those_of_today(record: ModuleType) -> None:
    for now, then in zip(record.spaces()["cases"], kept("spaces")["cases"], strict=True):
        assert now["workspace"] == then["workspace"]
        assert now["positions"] == then["positions"]
        np.testing.assert_allclose(now["volumes"], then["volumes"], rtol=1e-12)
        assert [len(one) for one in now["vertices"]] == [len(one) for one in then["vertices"]]

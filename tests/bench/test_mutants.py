"""Mutants are valid programs unlike their source, and a test that sees one kills it."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from bench.mutants import GROUPS, ROOT, SOURCE, Mutant, killer, sample


@pytest.mark.exhaustive
def test_a_sample_is_reproducible_and_every_mutant_differs_from_its_source() -> None:
    mutants = sample(40, 7, None)
    assert mutants == sample(40, 7, None)
    assert {one.group for one in mutants} == set(GROUPS)
    for one in mutants:
        assert ast.dump(ast.parse(one.text)) != ast.dump(ast.parse((SOURCE / one.file).read_text()))


@pytest.mark.exhaustive
def test_a_mutant_is_killed_only_by_a_test_that_sees_it(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    file = "controllers/saturation.py"
    text = (SOURCE / file).read_text()
    (tmp_path / "test_sees.py").write_text(
        "import numpy as np\n"
        "from dwell.controllers.saturation import saturated\n"
        "def test_far():\n    assert saturated(np.array([[3.0, 4.0]]), 1.0, 1.0)[0, 0] == 0.6\n"
    )
    (tmp_path / "test_blind.py").write_text("def test_nothing():\n    pass\n")
    wrong = text.replace("k1 * (errors", "2.0 * k1 * (errors")
    assert wrong != text
    mutant = Mutant("controllers", file, 17, "", "", wrong)
    assert killer(mutant, tmp_path, True, ["test_sees.py"]) == "test_sees.py::test_far"
    assert killer(mutant, tmp_path, True, ["test_blind.py"]) is None
    assert (tmp_path / "src" / "dwell" / file).read_text() == text

"""Few places of the core ask for a dimension, and none above the registry of backends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dwell
from dwell.cells.backend import (
    CURVED,
    CURVED_OF_FUNCTIONS,
    FLAT,
    FLAT_OF_FUNCTIONS,
    RAYS,
    SIMPLICES,
    backend_for,
)
from dwell.cells.weighted_region import weighted_region

SOURCE = Path(dwell.__file__).parent
LITERAL = re.compile(r"(?:dimension|\bn)\s*(?:==|!=|<=|>=|<|>)\s*[1-4]\b")
BY_KIND = re.compile(r"is_(?:planar|polygonal)\(|len\([\w.]*position\) ==")
BELOW = ("_kernels", "geometry", "density", "cells")
ABOVE = ("agents", "controllers", "hybrid", "engine", "measure", "live")
CORE = (*BELOW, *ABOVE, "theory", "verify", "results", "motion.py", "runner.py", "execution.py")
MOST = 34  # five of which count the vertices of a polygon


def lines(*names: str) -> list[tuple[str, str]]:
    """Every line of some folders and files, with the file that has it."""
    files = [one for name in names for one in (SOURCE / name).rglob("*.py")]
    files += [SOURCE / name for name in names if name.endswith(".py")]
    return [
        (path.relative_to(SOURCE).as_posix(), line)
        for path in sorted(set(files))
        for line in path.read_text().splitlines()
    ]


def test_the_search_finds_what_it_is_for() -> None:
    assert LITERAL.search("if system.dimension < 3:")
    assert LITERAL.search("x if n == 1 else y")
    assert not LITERAL.search("if len(n) == 1 or n == 5")
    assert BY_KIND.search("if len(cell.position) == 1:")
    assert len(lines("runner.py", "cells")) > 1000


def test_tests_of_a_literal_dimension_stay_few() -> None:
    found = [(file, line) for file, line in lines(*CORE) for _ in LITERAL.finditer(line)]
    assert len(found) <= MOST, found


def test_nothing_above_the_registry_tests_the_dimension() -> None:
    above = lines(*ABOVE, "cells/centroid_rate.py")
    assert not [one for one in above if LITERAL.search(one[1]) or BY_KIND.search(one[1])]


@pytest.mark.parametrize(
    ("workspace", "backend"),
    [
        (dwell.Interval(0, 1), FLAT[1]),
        (dwell.Box([0], [1]), FLAT[1]),
        (dwell.Ball([0], 1), FLAT[1]),
        (dwell.Box((0, 0), (1, 1)), FLAT[2]),
        (dwell.Region([(0, 0), (2, 0), (1, 0.5), (0, 2)]), FLAT[2]),
        (dwell.Ball((0, 0), 1), CURVED[2]),
        (dwell.Box((0,) * 3, (1,) * 3), FLAT[3]),
        (dwell.Ball((0,) * 3, 1), CURVED[3]),
        (dwell.Box((0,) * 4, (1,) * 4), SIMPLICES),
        (dwell.Ball((0,) * 4, 1), RAYS),
    ],
    ids=lambda one: type(one).__name__,
)
def test_each_workspace_has_its_backend(workspace: dwell.Box, backend: object) -> None:
    assert backend_for(weighted_region(workspace, dwell.Uniform())) is backend


def test_what_backends_offer_beside_cells() -> None:
    kinds = [*FLAT.values(), *CURVED.values(), *FLAT_OF_FUNCTIONS.values()]
    kinds += [*CURVED_OF_FUNCTIONS.values(), SIMPLICES, RAYS]
    assert [one for one in kinds if one.scan] == [FLAT[2]]
    assert [one for one in kinds if one.exact] == [FLAT[1], FLAT[2], CURVED[2]]
    rates = [FLAT[1], FLAT[2], FLAT_OF_FUNCTIONS[1], FLAT_OF_FUNCTIONS[2]]
    assert [one for one in kinds if one.border] == rates

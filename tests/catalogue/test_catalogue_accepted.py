"""Inputs that are accepted, repaired or flagged: the rows of accepted.txt."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.catalogue.kit import Bench, holds_words, rows_of, table

ACCEPTED = {name: columns for _, name, columns in rows_of(Path(__file__).with_name("accepted.txt"))}


@table(ACCEPTED)
def test_accepted(bench: Bench, row: list[str]) -> None:
    changes, words, flags = (column.split(" & ") for column in row)
    figures = bench.repaired(*changes) if words != [""] else bench.accepted(*changes)
    assert bool(figures["repairs"]) == (words != [""])
    assert holds_words("; ".join(figures["repairs"]), words)
    assert " ".join(sorted(flag["code"] for flag in figures["flags"])) == flags[0]
    assert all(flag["says"].endswith(".") for flag in figures["flags"])
    if "density=" not in row[0]:
        assert math.fsum(figures["final_masses"]) == pytest.approx(16.0, rel=1e-13, abs=0.0)

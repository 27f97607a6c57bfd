"""Flags of a run: how well its cells could be integrated."""

from __future__ import annotations

import re

import pytest

import dwell
from dwell import Ball, Box, Gaussian, Timer

CUBE = Box((0, 0, 0), (4, 3, 2))
HYPERCUBE = Box([0] * 4, [1] * 4)
PAIR = [[0.3, 0.4, 0.5, 0.5], [0.6, 0.6, 0.5, 0.4]]


@pytest.mark.parametrize(
    ("site", "start", "weight", "answer"),
    [
        (HYPERCUBE, PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (HYPERCUBE, PAIR, None, False),
        (Ball([0.5] * 4, 0.6), PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (CUBE, [(1, 1, 1), (3, 2, 1)], Gaussian((3, 2, 1), rate=0.3), False),
        (Box((0, 0), (1, 1)), [(0.2, 0.3), (0.6, 0.5)], Gaussian((0.5, 0.5), 9.0), False),
    ],
    ids=["hill", "uniform", "rays", "space", "plane"],
)
def test_a_run_tells_how_well_cells_could_be_weighed(site, start, weight, answer):
    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    run = dwell.simulate(site, weight, start, law, until=0.3, seed=1, sample_every="off")
    says = [flag.says for flag in run.flags if flag.code == "quadrature"]
    assert len(says) == answer
    pattern = r"Masses of cells, and so centroids, are only known to \S+ of themselves\."
    assert all(re.fullmatch(pattern, text) for text in says)


def test_planar_runs_are_not_weighed_again_for_their_flags(monkeypatch):
    from dwell.verify import flags

    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    start = [(0.2, 0.3), (0.6, 0.5)]
    run = dwell.simulate(Box((0, 0), (1, 1)), None, start, law, until=0.3, seed=1)
    monkeypatch.setattr(flags, "measure_cells", None)
    assert "quadrature" not in {flag.code for flag in run.flags}

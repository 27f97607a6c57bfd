"""W1 to W19: the region."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from tests.catalogue.kit import Bench, case, small
from tests.cli.shell import dwell as command

CUBE = [[1, 0, 0, 4], [-1, 0, 0, 0], [0, 1, 0, 4], [0, -1, 0, 0], [0, 0, 1, 4], [0, 0, -1, 0]]


def polytope(key: str, rows: object) -> list[str]:
    """Overrides that make a polytope in space the workspace."""
    workspace = f"workspace={{kind='polytope', {key}={rows}}}"
    return [workspace, "agents.start=[[1,1,1],[2,2,2],[3,3.5,3]]"]


@case("W11-redundant")
def test_redundant_halfspaces_are_left_out(bench: Bench, case: str) -> None:
    sets = polytope("halfspaces", [*CUBE, [1, 1, 1, 50]])
    words = [word for override in sets for word in ("--set", override)]
    repairs = command("validate", bench.file, "--json", *words).json["repairs"]
    assert repairs == ["left out 1 half-space that cuts nothing off the workspace: 6"]
    assert "--strict" in command("validate", bench.file, "--strict", *words).sentences[0]


@case("W1-bits")
def test_direction_changes_nothing(case: str) -> None:
    ring = [(0.0, 0.0), (4.0, 0.1), (4.0, 4.0), (1.0, 3.0)]
    there, back = dwell.Polygon(ring), dwell.Polygon(ring[::-1])
    assert there.area == back.area
    assert {tuple(v) for v in there.vertices} == {tuple(v) for v in back.vertices}


@case("W5-hull")
def test_the_hull_of_what_was_not_convex(case: str) -> None:
    hull = dwell.Polygon.hull_of([(0, 0), (2, 1), (4, 0), (4, 4), (0, 4)])
    assert hull.area == 16.0
    assert len(hull.vertices) == 4


@case("W8-slender")
def test_slender_but_not_too_slender(case: str) -> None:
    thin = dwell.Box((0, 0), (1, 1e-11))
    cells = dwell.tessellate(thin, [(0.2, 0.5e-11), (0.7, 0.5e-11)])
    assert math.fsum(cells.masses) == pytest.approx(1e-11, rel=1e-13, abs=0.0)


@case("W10")
def test_very_many_vertices(case: str) -> None:
    turn = 2 * np.pi * np.arange(1_000_000) / 1_000_000
    circle = dwell.Polygon(np.column_stack([np.cos(turn), np.sin(turn)]))
    assert circle.area == pytest.approx(math.pi, rel=1e-10, abs=0.0)
    assert circle.repairs == ()
    moments = dwell.moments(circle)
    assert moments.mass == pytest.approx(math.pi, rel=1e-10, abs=0.0)
    assert np.abs(moments.centroid).max() <= 1e-13


@pytest.mark.exhaustive
@case("W10-run")
def test_a_run_in_a_fine_circle(bench: Bench, case: str) -> None:
    turn = 2 * np.pi * np.arange(300) / 300
    scenario = small()
    vertices = np.column_stack([2 + 2 * np.cos(turn), 2 + 2 * np.sin(turn)]).tolist()
    scenario["workspace"] = {"kind": "polygon", "vertices": vertices}
    bench.write(scenario)
    figures = bench.accepted()
    area = dwell.Polygon(vertices).area
    assert math.fsum(figures["final_masses"]) == pytest.approx(area, rel=1e-13, abs=0.0)


@case("W2-python")
def test_repairs_are_kept_with_the_run(case: str, tmp_path) -> None:
    site = dwell.Polygon([(0, 0), (0, 4), (4, 4), (4, 0), (0, 0)])
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    run = dwell.simulate(site, None, [(1, 1), (2, 2)], law, until=1.0)
    assert len(run.repairs) == 2
    run.save(tmp_path / "run.nc")
    assert dwell.load_run(tmp_path / "run.nc").repairs == run.repairs

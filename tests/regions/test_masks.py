"""A region is a mask: cells are cut in its hull, and no code asks a workspace whether it is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.cells.weighted_region import weighted_region
from dwell.geometry.convex import ConvexRegion
from tests.regions.sites import U

SOURCE = Path(dwell.__file__).parent
BY_KIND = ["studies/random_starts.py"]  # which moves coordinates, and draws points, by kind
CONVEX = [
    dwell.Interval(0, 2),
    dwell.Polygon([(0, 0), (2, 0), (0, 2)]),
    dwell.Box((0, 0, 0), (1, 2, 3)),
    dwell.Polytope([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2), (2, 2, 2)]),
    dwell.Ball((0, 0), 1),
    dwell.Ellipsoid((0, 0, 0), (3, 2, 1)),
]


def asked(tree: ast.AST) -> Iterator[int]:
    """The lines that test whether a workspace is a region."""
    for node in ast.walk(tree):
        classes: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            classes = node.args[-1] if node.func.id == "isinstance" else None
        if isinstance(node, ast.MatchClass):
            classes = node.cls
        if classes is not None and "Region" in map(_name, ast.walk(classes)):
            yield node.lineno


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def test_workspaces_are_not_asked_whether_they_are_regions() -> None:
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        for _ in asked(ast.parse(path.read_text()))
    ]
    assert sorted(set(found)) == BY_KIND
    assert len(found) == 2


def test_a_region_is_no_convex_region() -> None:
    region = dwell.Region(U)
    assert not isinstance(region, ConvexRegion)
    for part in ("vertices", "normals", "offsets", "faces", "polygon", "interval"):
        assert not hasattr(region, part)
    assert isinstance(region.hull, dwell.Polygon)
    assert region.hull.area == 9.0
    assert region.mask is region
    assert (region.area, region.dimension, region.diameter) == (7.0, 2, region.hull.diameter)
    assert np.array_equal(region.bounds, region.hull.bounds)


@pytest.mark.parametrize("workspace", CONVEX, ids=lambda one: type(one).__name__)
def test_a_convex_workspace_is_its_own_hull(workspace: dwell.Polygon) -> None:
    assert workspace.hull is workspace
    assert workspace.mask is None
    assert not workspace.stay
    middle = np.mean(workspace.bounds, axis=0)
    outside = workspace.bounds[1] + 1.0
    assert workspace.covers(np.stack([middle, outside])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("workspace", "kind", "vertices"),
    [
        (dwell.Box([0], [2]), dwell.Interval, [[0], [2]]),
        (dwell.Polytope([[2], [0], [1]]), dwell.Interval, [[0], [2]]),
        (dwell.Ball([1], 1), dwell.Interval, [[0], [2]]),
        (dwell.Ellipsoid([1], [1]), dwell.Interval, [[0], [2]]),
        (dwell.Box((0, 0), (2, 1)), dwell.Polygon, [[0, 0], [2, 0], [2, 1], [0, 1]]),
        (dwell.Polytope([(0, 0), (2, 0), (0, 2)]), dwell.Polygon, [[0, 0], [2, 0], [0, 2]]),
    ],
)
def test_intervals_and_polygons_of_other_classes_have_them_as_hulls(
    workspace: dwell.Box, kind: type, vertices: list[list[float]]
) -> None:
    assert type(workspace.hull) is kind
    assert workspace.hull.vertices.tolist() == vertices
    assert np.array_equal(workspace.hull.normals, workspace.normals)


def test_cells_are_cut_in_the_hull_and_the_mask_confines_the_density() -> None:
    region = dwell.Region(U)
    ground = weighted_region(region, dwell.Uniform())
    assert (ground.workspace, ground.hull, ground.mask) == (region, region.hull, region)
    plain = weighted_region(region.hull, dwell.Uniform())
    assert (plain.hull, plain.mask) == (region.hull, None)
    places = [(0.5, 0.5), (1.5, 2.5), (2.5, 2.5)]
    masked, whole = (dwell.tessellate(one, places) for one in (region, region.hull))
    assert sum(cell.volume for cell in masked.cells) == pytest.approx(9.0, rel=1e-14)
    assert [cell.vertices.tolist() for cell in masked.cells] == [
        cell.vertices.tolist() for cell in whole.cells
    ]
    assert masked.masses.sum() == pytest.approx(7.0, rel=1e-14)

"""Outlines that are refused, and those that are repaired."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from bench.regions import coast
from tests.regions.sites import U

OUT = [(3, 1), (5, 1), (5, 2), (3, 2)]
WITHIN = [(1.2, 1.2), (1.6, 1.2), (1.6, 1.6)]
SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
HOLE = [(1, 1), (2, 1), (2, 2), (1, 2)]
FAR = [(6, 0), (9, 0), (9, 4), (6, 4)]
FAR_HOLE = [(7, 1), (8, 1), (8, 2)]


def refusal(parts: object, **more: object) -> dwell.DwellError:
    with pytest.raises(dwell.InputError) as refused:
        dwell.Region(parts, **more)  # type: ignore[arg-type]
    return refused.value


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        ([(0, 0), (2, 2), (2, 0), (0, 2)], "workspace.crossing", ["edge 0", "edge 2", "(1, 1)"]),
        ([(0, 0), (4, 0), (4, 4), (4, -1), (2, 3)], "workspace.crossing", ["edge"]),
        ({"outer": SQUARE, "holes": [OUT]}, "workspace.crossing", ["hole 0"]),
        ({"outer": SQUARE, "holes": [[(6, 1), (7, 1), (7, 2)]]}, "workspace.nesting", ["hole 0"]),
        ({"outer": SQUARE, "holes": [HOLE, WITHIN]}, "workspace.nesting", ["hole 1"]),
        ([FAR, {"outer": SQUARE, "holes": [FAR_HOLE]}], "workspace.nesting", ["hole 0"]),
        ([{"outer": SQUARE, "holes": [FAR_HOLE]}, FAR], "workspace.nesting", ["hole 0"]),
        (
            [{"outer": SQUARE, "holes": [FAR_HOLE]}, {"outer": FAR, "holes": [HOLE]}],
            "workspace.nesting", ["part 0, hole 0"],
        ),
        ([SQUARE, [(1, 1), (2, 1), (2, 2)]], "workspace.overlap", ["part 1", "part 0"]),
        ([SQUARE, [(4, 0), (6, 0), (6, 4), (4, 4)]], "workspace.crossing", ["overlap"]),
        ([(0, 0), (1, 0)], "workspace.degenerate", ["three vertices"]),
        ([(0, 0), (1, 1), (2, 2)], "workspace.crossing", ["edge", "back"]),
        ([], "workspace.parts", ["list"]),
        ({"inner": SQUARE}, "workspace.parts", ["outer"]),
        ("harbour", "workspace.parts", ["list"]),
        (7, "workspace.parts", ["list"]),
    ],
)  # fmt: skip
def test_refused(parts: object, code: str, words: list[str]) -> None:
    fault = refusal(parts)
    assert fault.code == code
    for word in words:
        assert word in str(fault)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_vertices_that_are_no_numbers(bad: float) -> None:
    assert "finite" in str(refusal([(0, 0), (1, 0), (bad, 1)]))


def test_stay_is_a_truth_value() -> None:
    assert "stay" in str(refusal(SQUARE, stay="yes"))


def test_repairs_are_recorded() -> None:
    ring = [(0, 0), (0, 4), (0, 4), (4, 4), (4, 2), (4, 0), (0, 0)]
    site = dwell.Region({"outer": ring, "holes": [HOLE]})
    assert site.area == 15.0
    assert len(site.parts[0].outer) == 4
    assert any("repeated" in text for text in site.repairs)
    assert any("straight" in text for text in site.repairs)
    assert any("outer ring: reversed" in text for text in site.repairs)
    assert any("hole 0: reversed" in text for text in site.repairs)


def test_rings_may_touch_in_a_point() -> None:
    hole = [(0, 2), (1, 1), (2, 2), (1, 3)]
    site = dwell.Region({"outer": SQUARE, "holes": [hole]})
    assert site.area == 14.0
    two = dwell.Region([SQUARE, [(4, 4), (6, 4), (6, 6), (4, 6)]])
    assert two.area == 20.0


@pytest.mark.parametrize("stay", [False, True])
def test_a_region_may_be_made_of_the_parts_of_another(stay: bool) -> None:
    given = [{"outer": SQUARE, "holes": [HOLE, [(3, 3), (3.5, 3), (3.5, 3.25)]]},
             {"outer": FAR, "holes": [FAR_HOLE]}]  # fmt: skip
    site = dwell.Region(given, stay=stay)
    points = np.random.default_rng(2).uniform((-1, -1), (10, 5), (400, 2))
    for parts in (site.parts, list(site.parts), [site.parts[1], given[0]]):
        again = dwell.Region(parts, stay=stay)
        assert again.area == pytest.approx(16 - 1 - 0.0625 + 12 - 0.5)
        assert sorted(len(part.holes) for part in again.parts) == [1, 2]
        assert (again.covers(points) == site.covers(points)).all()
    alone = dwell.Region([site.parts[1]])
    assert alone.area == pytest.approx(11.5)
    assert len(alone.parts[0].holes) == 1


def test_an_island_in_a_lake() -> None:
    lake = {"outer": [(0, 0), (9, 0), (9, 9), (0, 9)], "holes": [[(1, 1), (8, 1), (8, 8), (1, 8)]]}
    site = dwell.Region([lake, [(3, 3), (5, 3), (5, 5), (3, 5)]])
    assert site.area == 81 - 49 + 4
    assert site.covers([(4, 4), (2, 2), (0.5, 0.5)]).tolist() == [True, False, True]


def test_points_of_a_coast_are_those_of_shapely() -> None:
    import shapely

    ring = coast(1024, seed=3)
    site, points = dwell.Region(ring), np.random.default_rng(0).uniform(-1.3, 1.3, (20_000, 2))
    peer = shapely.Polygon(ring)
    np.testing.assert_array_equal(site.covers(points), shapely.contains_xy(peer, points))
    assert site.area == pytest.approx(peer.area, rel=1e-12)
    some = points[:300]
    far = [peer.distance(shapely.Point(p)) for p in some]
    gaps = np.hypot(*(site.nearest_inside(some) - some).T)
    np.testing.assert_allclose(gaps, far, atol=1e-13)


@pytest.mark.parametrize(
    "ring", [U, [(0, 0), (5, 0), (5, 1), (1, 1), (1, 1 + 1e-9), (5, 2), (0, 2)]]
)
def test_pieces_have_the_area_of_the_ring(ring: list[tuple[float, float]]) -> None:
    pieces = dwell.Region(ring).pieces
    y0, y1, a, b, d, c = pieces.piece.T
    area = 0.5 * ((b - a) + (c - d)) * (y1 - y0)
    assert (area >= 0.0).all()
    assert area.sum() == pytest.approx(dwell.Region(ring).area, rel=1e-14)

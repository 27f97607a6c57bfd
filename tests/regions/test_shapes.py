"""Regions with many teeth, narrow gaps and rings that touch in points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dwell

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
TURNED = np.array([[0.8, 0.6], [-0.6, 0.8]])
HOLE_ON_AN_EDGE = [(0, 2), (1, 1), (2, 2), (1, 3)]  # it touches the square at (0, 2)
TWO_THAT_TOUCH = [[(1, 1), (2, 2), (1, 3)], [(2, 2), (3, 1), (3, 3)]]


def comb(teeth: int, gap: Fraction) -> tuple[np.ndarray, Fraction]:
    """A bar below teeth of height 1, and its area; `gap` is the share of a tooth's pitch."""
    ring = [(0.0, -0.125), (1.0, -0.125)]
    for k in range(teeth - 1, -1, -1):
        right = float((k + 1 - gap) / teeth)
        ring += [(right, 0.0), (right, 1.0), (k / teeth, 1.0), (k / teeth, 0.0)]
    exact = [(Fraction(x), Fraction(y)) for x, y in ring]
    pairs = zip(exact, exact[1:] + exact[:1], strict=True)
    return np.array(ring), sum((a[0] * b[1] - a[1] * b[0] for a, b in pairs), Fraction(0)) / 2


def agents(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(3).uniform(low, high, (15, 2))


@pytest.mark.parametrize(("teeth", "gap"), [(1000, Fraction(1, 2)), (200, Fraction(1, 10**7))])
def test_cells_divide_a_comb(teeth: int, gap: Fraction) -> None:
    ring, area = comb(teeth, gap)
    masses = dwell.tessellate(dwell.Region(ring), agents(0.0, 1.0)).masses
    assert masses.sum() == pytest.approx(float(area), rel=1e-13)


def test_a_turned_comb_has_the_same_masses() -> None:
    ring, _ = comb(1000, Fraction(1, 2))
    places = agents(0.0, 1.0)
    masses = dwell.tessellate(dwell.Region(ring), places).masses
    turned = dwell.tessellate(dwell.Region(ring @ TURNED), places @ TURNED).masses
    assert turned == pytest.approx(masses, abs=1e-12)


@pytest.mark.parametrize(
    ("parts", "area"),
    [
        ({"outer": SQUARE, "holes": [HOLE_ON_AN_EDGE]}, 14.0),
        ({"outer": SQUARE, "holes": TWO_THAT_TOUCH}, 14.0),
        ([SQUARE, [(4, 4), (6, 4), (6, 6), (4, 6)]], 20.0),
        ([(0, 0), (1, 1), (2, 0), (2, 2), (1, 1), (0, 2)], 2.0),  # a ring that touches itself
    ],
)
def test_rings_may_touch_in_points(parts: object, area: float) -> None:
    region = dwell.Region(parts)
    assert region.area == area
    assert dwell.tessellate(region, agents(0.0, 4.0)).masses.sum() == pytest.approx(area, rel=1e-14)


def test_parts_may_be_close() -> None:
    near = 4.0 + 1e-9
    region = dwell.Region([SQUARE, [(near, 0), (6, 0), (6, 4), (near, 4)]])
    assert region.covers([(4.0 + 5e-10, 2.0), (4.0, 2.0)]).tolist() == [False, True]
    masses = dwell.tessellate(region, agents(0.0, 6.0)).masses
    assert masses.sum() == pytest.approx(24.0 - 4e-9, rel=1e-14)


def test_a_ring_that_crosses_itself_at_a_vertex_is_refused() -> None:
    with pytest.raises(dwell.InputError, match="cross or overlap") as caught:
        dwell.Region([(0, 0), (1, 1), (2, 2.2), (2, 0), (1, 1), (0, 2)])
    assert caught.value.code == "workspace.overlap"


def test_an_island_in_a_lake_is_a_part() -> None:
    lake = {"outer": SQUARE, "holes": [[(1, 1), (3, 1), (3, 3), (1, 3)]]}
    region = dwell.Region([lake, [(1.5, 1.5), (2.5, 1.5), (2.5, 2.5), (1.5, 2.5)]])
    found = dwell.tessellate(region, [(2.0, 2.0), (0.5, 0.5)])
    assert region.area == 13.0
    assert found.masses.sum() == pytest.approx(13.0, rel=1e-15)


def test_many_parts_are_compared_in_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in rings that are compared: a clock would measure the machine."""
    from dwell.geometry import rings

    compared: list[int] = []
    inside = rings.is_inside
    monkeypatch.setattr(rings, "is_inside", lambda *two: compared.append(1) or inside(*two))
    side = 0.8
    cells = [(i, j) for i in range(30) for j in range(30)]
    squares = [[(x, y), (x + side, y), (x + side, y + side), (x, y + side)] for x, y in cells]
    assert dwell.Region(squares).area == pytest.approx(900 * side**2)
    assert len(compared) == 0
    rims = [[(-r, -r), (r, -r), (r, r), (-r, r)] for r in range(400, 0, -1)]
    nested = [{"outer": rims[k], "holes": [rims[k + 1]]} for k in range(0, 400, 2)]
    assert dwell.Region(nested).area == sum(4 * (2 * r - 1) for r in range(400, 0, -2))
    assert len(compared) < 400
    holed = {"outer": rims[0], "holes": [rims[1]]}
    with pytest.raises(dwell.InputError, match="part 2 lies inside part 1"):
        dwell.Region([holed, rims[2], rims[3], *squares[:0]])
    with pytest.raises(dwell.InputError, match="inside another hole"):
        dwell.Region({"outer": rims[0], "holes": [rims[1], rims[2]]})

"""Kernels at their limits: bins of a few agents, intervals in closed form, degenerate polygons."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell._kernels.line.cells import moments_of as line_moments
from dwell._kernels.polygon.buffers import LINES, make_scratch
from dwell._kernels.polygon.cell_list import COLUMNS, FEW, ROWS, lay_frame
from dwell._kernels.polygon.entry_points import make_outlines, outline_few
from dwell._kernels.polygon.gift_wrap import edge_lines
from dwell._kernels.polygon.guaranteed import holds_point, one_ring
from dwell._kernels.polygon.guaranteed_envelope import make_envelope
from dwell._kernels.polygon.vertex_refinement import is_ill_conditioned
from dwell._kernels.space.careful import length
from tests.agents.test_many_any import callable_from_python
from tests.kernels.test_guaranteed import HEPTAGON, arguments
from tests.kernels.test_moments import HEXAGON, isotropic, kernel_moments


@pytest.mark.parametrize(("agents", "single"), [(2, True), (FEW, True), (FEW + 1, False)])
def test_a_few_agents_share_one_bin(agents: int, single: bool) -> None:
    frame = np.zeros(8)
    lay_frame(agents, 0.0, 0.0, 3.0, 2.0, frame)
    assert (frame[COLUMNS] * frame[ROWS] == 1.0) is np.bool_(single)


def test_cells_of_an_interval_end_halfway() -> None:
    places = np.array([0.5, 2.0, 7.0, 7.5])
    found = dwell.tessellate(dwell.Interval(0.0, 10.0), places[:, None])
    ends = np.array([0.0, 1.25, 4.5, 7.25, 10.0])
    assert found.masses == pytest.approx(np.diff(ends), rel=1e-14)
    middles = 0.5 * (ends[1:] + ends[:-1])
    assert found.errors[:, 0] == pytest.approx(middles - places, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("rate", [0.05, 1.0, 30.0])
def test_gaussians_of_an_interval_have_their_closed_form(rate: float) -> None:
    """Two of them, each with a rate of its own: masses are error functions."""
    places = np.array([0.5, 2.0, 7.0, 7.5])
    ends = np.array([0.0, 1.25, 4.5, 7.25, 10.0])
    hills = [(3.0, rate, 1.0), (6.0, 0.3 * rate, 2.0)]
    parts = [dwell.Gaussian((c,), rate=q, weight=w) for c, q, w in hills]
    found = dwell.tessellate(
        dwell.Interval(0.0, 10.0), places[:, None], dwell.Mixture(tuple(parts))
    )

    def mass(c: float, q: float, w: float) -> np.ndarray:
        below = np.array([math.erf(math.sqrt(q) * (z - c)) for z in ends])
        return w * 0.5 * math.sqrt(math.pi / q) * np.diff(below)

    masses = sum(mass(*hill) for hill in hills)
    assert found.masses == pytest.approx(masses, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("distance", "rate"), [(0.5, 0.03), (6.0, 3.0), (40.0, 3.0), (200.0, 0.3)])
def test_a_vertex_listed_twice_changes_no_gaussian(distance: float, rate: float) -> None:
    """An edge of length zero has no slope; the largest exponent lies on any of the others."""
    terms = isotropic((-0.8 * distance, 0.6 * distance), rate)
    scale, mass, *first = kernel_moments(HEXAGON, terms)
    for k in range(len(HEXAGON)):
        longer = np.insert(HEXAGON, k + 1, HEXAGON[k], axis=0)
        again, twice, *moved = kernel_moments(np.roll(longer, -k - 1, axis=0), terms)
        assert math.log(twice) + again == pytest.approx(math.log(mass) + scale, abs=1e-11)
        assert np.divide(moved, twice) == pytest.approx(np.divide(first, mass), rel=1e-11)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("radius", [0.0, 1.5])
def test_points_in_a_guaranteed_cell_are_those_of_its_definition(dual: bool, radius: float) -> None:
    """Nearer than every other agent can be, or than every other agent may be."""
    p = np.array([5.0, 3.0])
    others = np.array([(-4.0, -1.0), (12.0, -6.0), (17.0, 7.0), (6.0, 12.0), (9.0, 1.0)])
    envelope = make_envelope(len(others), len(HEPTAGON))
    arcs = callable_from_python(one_ring)(dual, *arguments(HEPTAGON, p, others, radius), envelope)
    sign = -1.0 if dual else 1.0
    counts = [0, 0]
    for z in np.random.default_rng(4).uniform((-10.0, -12.0), (26.0, 20.0), (400, 2)):
        edges = np.roll(HEPTAGON, -1, axis=0) - HEPTAGON
        inside = edges[:, 0] * (z - HEPTAGON)[:, 1] - edges[:, 1] * (z - HEPTAGON)[:, 0]
        spare = np.linalg.norm(z - others, axis=1) - np.linalg.norm(z - p) - sign * radius
        wanted = (inside >= 0.0).all() and (spare >= 0.0).all()
        found = callable_from_python(holds_point)(arcs, *(z - p), envelope.ring, envelope.curves)
        assert found == wanted
        counts[int(wanted)] += 1
    assert min(counts) > 5


@pytest.mark.parametrize(
    ("width", "workspace", "needed"),
    [
        (1.0, 1.0, False), (0.02, 1.0, False), (0.005, 1.0, True), (1e-6, 1.0, True),
        (1.0, 500.0, False), (1.0, 2000.0, True), (0.1, 100.0, False), (0.1, 400.0, True),
    ],
)  # fmt: skip
def test_thin_and_small_cells_alone_need_more_digits(
    width: float, workspace: float, needed: bool
) -> None:
    """A rectangle of length 1: thin from 1 in 100 on, small from a thousandth of its workspace."""
    x, y = np.array([0.0, 1.0, 1.0, 0.0]), width * np.array([0.0, 0.0, 1.0, 1.0])
    wx = workspace * np.array([-0.5, 0.5, 0.0])
    wy = workspace * np.array([-0.5, -0.5, 1.0])
    assert callable_from_python(is_ill_conditioned)(4, 0.0, 0.0, wx, wy, x, y) == needed


def test_outlines_may_fill_their_memory_to_the_last_row() -> None:
    """The cell of the only agent in a square has four vertices."""
    site = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)])
    x, y, wx, wy = np.array([0.5]), np.array([0.5]), *np.ascontiguousarray(site.T)
    room = make_outlines(1, 4, False)
    exact = room._replace(vertex=np.empty((4, 2)), behind=np.empty((4, 2)))
    outline_few(1, x, y, wx, wy, exact, make_scratch(1, 4))
    assert exact.filled.tolist() == [1, 4]
    assert sorted(map(tuple, exact.vertex + 0.5)) == sorted(map(tuple, site))
    short = room._replace(vertex=np.empty((3, 2)), behind=np.empty((3, 2)))
    short.filled[:] = 0
    outline_few(1, x, y, wx, wy, short, make_scratch(1, 4))
    assert short.filled.tolist() == [0, 0]


def test_an_edge_just_within_reach_is_among_the_lines() -> None:
    """Its offset is half the squared distance of the agent's mirror image."""
    wx, wy = np.array([0.0, 2.0, 2.0, 0.0]), np.array([0.0, 0.0, 2.0, 2.0])
    line, behind = np.zeros((5, LINES)), np.zeros(LINES, dtype=np.int64)
    listed = callable_from_python(edge_lines)
    assert listed(0, 0.5, 0.5, 1.0, wx, wy, line, behind) == 1  # the left one, 0.5 away
    assert behind[0] == -4
    assert listed(0, np.nextafter(0.5, 0.0), 0.5, 1.0, wx, wy, line, behind) == 0


def test_an_interval_without_mass_has_no_moments() -> None:
    terms = dwell.Polynomial([(1, 1.0)]).general_terms(1)
    nothing = line_moments(0.0, 0.0, 0.0, terms, np.empty((0, 16)))
    assert nothing == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("axis", range(3))
def test_the_length_of_a_normal_counts_every_coordinate(axis: int) -> None:
    normal = np.zeros(8)
    normal[2 * axis], normal[2 * axis + 1] = 3.0, 1e-17
    assert callable_from_python(length)(tuple(normal)) == 3.0

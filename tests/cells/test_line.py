"""Cells and moments on the line: against mpmath, closed forms, and optimal quantizers."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell import Gaussian, Interval, Polynomial, Uniform
from dwell.cells import interval as line
from dwell.cells.weighted_region import weighted_region
from dwell.errors import AgentsError
from tests.oracles.mp_moments import along_axis

# Mean squared errors of the optimal quantizers of N(0, 1) with 1 to 36 levels, by Newton's method
# in 30 digits (mpmath).
OPTIMAL = [
    1.0, 0.3633802276324, 0.1901740392479, 0.1174818478293, 0.07994112708828,
    0.05797765371507, 0.04400038249862, 0.0345477607885, 0.02785326095069, 0.0229370529045,
    0.01921950803138, 0.01633965788243, 0.01406305627288, 0.01223200010839, 0.01073721055919,
    0.009501008008192, 0.008466938416713, 0.007593169217492, 0.006848165720427, 0.006207789884888,
    0.005653310431032, 0.005170011022916, 0.004746199457675, 0.004372490983311, 0.004041282327693,
    0.003746360541869, 0.003482608546709, 0.003245780982548, 0.003032331804743, 0.002839280404281,
    0.002664106716193, 0.002504668355675, 0.002359134647608, 0.002225933723702, 0.002103709809623,
    0.001991288518416,
]  # fmt: skip
# As printed by Max (1960). From 8 levels on his digits are off by some units in the fourth place.
PRINTED = {1: 1.000, 2: 0.3634, 3: 0.1902, 4: 0.1175, 8: 0.03454, 16: 0.009497, 32: 0.002499}


def all_cells(workspace, density, x, agents=None):
    points = np.asarray(x, dtype=float).reshape(1, -1, 1)
    who = np.arange(points.shape[1]) if agents is None else np.asarray(agents)
    return line.measure(weighted_region(workspace, density), points, np.zeros_like(who), who)


def interval_moments(a, b, density):
    """Moments by the kernel, relative to 0, and the logarithm to multiply by."""
    from dwell._kernels.line.cells import MEMORY, moments_of

    terms = density.general_terms(1)
    return moments_of(a, b, 0.0, terms, np.empty((len(terms.weights), MEMORY)))


@settings(max_examples=150)
@given(
    width=st.floats(-12, 8),
    share=st.floats(0, 1),
    center=st.floats(-30, 30),
    log_rate=st.floats(-6, 3),
)
def test_gaussian_moments_against_mpmath(width, share, center, log_rate):
    width, rate = 10.0**width, 10.0**log_rate
    a = -share * width
    b = a + width
    if not a < b:
        return
    log_scale, mass, mean, second = interval_moments(a, b, Gaussian((center,), rate=rate))
    with mp.workdps(200):  # a second moment of a narrow cell cancels some 50 digits of them
        m, c, variance = along_axis(a, b, center, rate, digits=200)
        scale = mp.exp(mp.mpf(log_scale))
        assert abs(mass * scale / m - 1) <= 1e-13
        assert abs(second * scale / (m * variance) - 1) <= 1e-13
        assert abs(mean - c) <= 1e-13 * (mp.sqrt(variance) + abs(c))


@pytest.mark.parametrize("start", [0.0, 3.0, 10.0, 40.0, 1e3, 1e6])
@pytest.mark.parametrize("width", [1e-12, 1e-3, 1.0, 1e9])
def test_tails(start, width):
    """exp(-z**2) from `start` on, as far out as exp(-1e12)."""
    if start + width == start:
        pytest.skip("nothing between neighbouring doubles")
    log_scale, mass, mean, second = interval_moments(start, start + width, Gaussian((0,), rate=1.0))
    with mp.workdps(50):
        # Seen from the start, with exp(-start**2) taken out: t = z - start.
        a, w = mp.mpf(start), mp.mpf(start + width) - mp.mpf(start)
        end = min(w, 60 / (a + mp.sqrt(a * a + 60)))

        def integral(power):
            cuts = [end * k / 8 for k in range(9)]
            return mp.quad(lambda t: t**power * mp.exp(-t * (2 * a + t)), cuts)

        m, f, g = (integral(k) for k in range(3))
        top = mp.exp(mp.mpf(log_scale) + a * a)
        assert abs(mass * top / m - 1) <= 1e-13
        assert abs(second * top / (g - f * f / m) - 1) <= 1e-13
        assert abs(mean - (a + f / m)) <= 4e-16 * abs(mean) + 1e-13 * f / m


def test_a_polynomial_in_closed_form():
    density = Polynomial([(0, 1.0), (3, 2.0), (16, 0.5)], origin=(0.25,))
    _, mass, mean, second = interval_moments(-0.5, 2.0, density)

    def integral(power, about=0):
        def f(x):
            return (x - about) ** power * (1 + 2 * (x - 0.25) ** 3 + (x - 0.25) ** 16 / 2)

        return mp.quad(f, [-0.5, 0.25, 2.0])

    with mp.workdps(40):
        m = integral(0)
        c = integral(1) / m
        assert abs(mass / m - 1) < 1e-14
        assert abs(mean / c - 1) < 1e-14
        assert abs(second / integral(2, c) - 1) < 1e-13


@settings(max_examples=80)
@given(
    places=st.lists(st.floats(-2, 3), min_size=1, max_size=30, unique=True),
    offset=st.sampled_from([0.0, 5e6]),
)
def test_cells_tile_the_interval(places, offset):
    x = np.unique(np.array(places) + offset)
    if np.diff(x).min(initial=1.0) < 1e-150:
        return
    workspace = Interval(offset - 1, offset + 2)
    seen = all_cells(workspace, Uniform(), x)
    assert math.fsum(seen.mass) == pytest.approx(3.0, rel=1e-12, abs=0.0)
    center = seen.error[:, 0] + (x - offset)
    assert math.fsum(seen.mass * center) == pytest.approx(1.5, rel=1e-12, abs=1e-9 * (offset > 0))
    for p, cell in enumerate(line.cells(workspace, x[:, None])):
        assert (len(cell.offsets) == 0) == bool(seen.empty[p])
        assert (cell.borders >= 0).sum() == seen.neighbors[p]
        if seen.empty[p]:
            assert seen.error[p] + x[p] == pytest.approx(np.clip(x[p], offset - 1, offset + 2))


def test_all_cells_by_sorting_are_the_cells_by_scanning():
    rng = np.random.default_rng(1)
    x = rng.permutation(rng.normal(size=500))
    workspace, density = Interval(-3, 3), Gaussian((0,), rate=0.5)
    together = all_cells(workspace, density, x)
    for p in range(0, 500, 37):
        alone = all_cells(workspace, density, x, [p])
        for name in ("error", "mass", "second", "polar", "neighbors", "nearest"):
            assert getattr(alone, name)[0] == getattr(together, name)[p]


def test_several_configurations_at_once():
    places = np.random.default_rng(2).random((5, 9, 1))
    row, agent = np.repeat([4, 1], 9), np.tile(np.arange(9), 2)
    ground = weighted_region(Interval(0, 1), Uniform())
    seen = line.measure(ground, places, row, agent, threads=2)
    for k in (0, 1):
        alone = all_cells(Interval(0, 1), Uniform(), places[[4, 1][k]])
        assert (seen.mass[9 * k : 9 * k + 9] == alone.mass).all()


def test_agents_at_one_place_are_found():
    seen = all_cells(Interval(0, 1), Uniform(), [0.2, 0.7, 0.2])
    assert seen.coincident.tolist() == [True, False, True]
    assert all_cells(Interval(0, 1), Uniform(), [0.2, 0.7, 0.2], [1]).coincident.tolist() == [False]
    with pytest.raises(AgentsError, match="agents 0 and 2"):
        line.cells(Interval(0, 1), np.array([[0.2], [0.7], [0.2]]))


def test_what_lies_behind_the_ends():
    left, middle, right = line.cells(Interval(0, 1), np.array([[0.1], [0.5], [0.8]]))
    assert left.borders.tolist() == [-1, 1]
    assert middle.borders.tolist() == [0, 2]
    assert right.borders.tolist() == [1, -2]
    assert middle.vertices.ravel() == pytest.approx([0.3, 0.65])


def newton(density, x, steps=40):
    """Agents moved until each is at its centroid, by the derivatives that borders give."""
    ground = weighted_region(Interval(-14, 14), density)
    for _ in range(steps):
        found = line.borders(ground, x[:, None])
        slope = -np.eye(len(x))
        for k in range(len(found.agent)):
            p, q = found.agent[k], found.other[k]
            change = found.m1[k, 0] - found.errors[p, 0] * found.m0[k]
            change *= 0.5 / found.masses[p] * math.copysign(1.0, found.gap[k, 0])
            slope[p, p] += change
            slope[p, q] += change
        move = np.linalg.solve(slope, -found.errors[:, 0])
        x = x + move
        if np.abs(move).max() < 1e-14:
            break
    return x


@pytest.mark.parametrize("levels", range(1, 37))
def test_optimal_quantizers_of_the_normal_distribution(levels):
    normal = Gaussian((0,), rate=0.5, weight=1.0 / math.sqrt(2.0 * math.pi))
    share = (np.arange(levels) + 0.5) / levels
    start = [float(mp.sqrt(6) * mp.erfinv(2 * float(s) - 1)) for s in share]
    x = newton(normal, np.array(start))
    seen = all_cells(Interval(-14, 14), normal, x)
    assert np.abs(seen.error).max() < 1e-13
    cost = math.fsum(seen.polar)
    assert cost == pytest.approx(OPTIMAL[levels - 1], rel=2e-12, abs=0.0)
    assert np.abs(x + x[::-1]).max() < 1e-13
    if levels in PRINTED:
        assert cost == pytest.approx(PRINTED[levels], abs=8e-6 if levels >= 8 else 5e-5)


@pytest.mark.parametrize("levels", [1, 2, 7, 36])
def test_optimal_quantizers_of_the_uniform_distribution(levels):
    x = (np.arange(levels) + 0.5) / levels
    seen = all_cells(Interval(0, 1), Uniform(), x)
    assert np.abs(seen.error).max() <= 1e-16
    assert math.fsum(seen.polar) == pytest.approx(1.0 / (12.0 * levels**2), rel=1e-14, abs=0.0)

"""The rules are exact by degree, and the table of their reach is what the bound says."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import iv

from dwell._kernels.space import radial, rules

TERMS = 80


def chebyshev_parts(x):
    """I_0(x), 2 I_1(x), 2 I_2(x), ...: how much of each Chebyshev polynomial e**(x t) holds."""
    parts = iv(np.arange(TERMS), x)
    parts[1:] *= 2.0
    return parts


def lost(degree, tilt, bend):
    """Bound on the relative error for exp(l + q): see rules.py."""
    tilts, bends = chebyshev_parts(0.5 * tilt), chebyshev_parts(0.5 * bend)
    a, b = np.meshgrid(np.arange(TERMS), np.arange(TERMS), indexing="ij")
    beyond = (np.outer(tilts, bends) * (a + 2 * b > degree)).sum()
    return 2.0 * beyond * math.exp(0.5 * (tilt + bend))


def longest_tilt(nodes, bend, tolerance):
    """The largest L; -1 if none."""
    low, high = 0.0, 30.0
    if lost(2 * nodes - 2, 0.0, bend) > tolerance:
        return -1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        fits = lost(2 * nodes - 2, middle, bend) <= tolerance
        low, high = (middle, high) if fits else (low, middle)
    return low


def assert_is_reach(table, nodes, bends, tolerance, grain):
    """No entry promises more than the bound allows, and all but the rounding is used."""
    assert table.shape == (len(nodes), len(bends))
    for n, row in zip(nodes, table, strict=True):
        for bend, tilt in zip(bends, row, strict=True):
            most = longest_tilt(n, bend, tolerance)
            assert most - grain <= tilt <= most


def test_tables_of_reach():
    solid = range(rules.FEWEST, rules.MOST + 1)
    assert_is_reach(rules.TILTS, solid, rules.BENDS, rules.TOLERANCE, 2e-3)
    flat = rules.FLAT_NODES
    assert_is_reach(rules.FLAT_TILTS, flat, rules.FLAT_BENDS, rules.FLAT_TOLERANCE, 2e-2)
    assert flat.max() == rules.MAX_FLAT


@pytest.mark.parametrize("n", range(1, rules.MAX_FLAT + 1))
def test_flat_rules_are_exact_by_degree(n):
    flat = slice(rules.FLAT_FIRST[n], rules.FLAT_FIRST[n + 1])
    a, b, w = (t[flat] for t in (rules.FLAT_A, rules.FLAT_B, rules.FLAT_W))
    f = math.factorial
    assert (w >= 0.0).all()
    for i in range(2 * n):
        for j in range(2 * n - i):
            found = (w * a**i * b**j).sum()
            assert found == pytest.approx(f(i) * f(j) / f(i + j + 2), rel=3e-14, abs=0.0)


@pytest.mark.parametrize("n", range(1, rules.MAX_NODES + 1))
def test_rules_are_exact_by_degree(n):
    nodes = slice(rules.FIRST[n], rules.FIRST[n + 1])
    a, b, c, w = (t[nodes] for t in (rules.A, rules.B, rules.C, rules.W))
    f = math.factorial
    assert (w >= 0.0).all()
    for i in range(2 * n):
        for j in range(2 * n - i):
            for k in range(0, 2 * n - i - j, 3):
                found = (w * a**i * b**j * c**k).sum()
                wanted = f(i) * f(j) * f(k) / f(i + j + k + 3)
                assert found == pytest.approx(wanted, rel=3e-14, abs=0.0)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.124, 0.126, 1.9, 7.3, 49.99, 50.01, 300.0, 1e6])
def test_rays(x):
    """Integrals along rays against incomplete gamma functions."""
    inward = getattr(radial.inward, "py_func", radial.inward)
    outward = getattr(radial.outward, "py_func", radial.outward)
    with mp.workdps(40):
        at = mp.mpf(x)
        near = mp.gammainc(1.5, 0, at) / (2 * at**1.5) if x > 0.0 else mp.mpf(1) / 3
        assert inward(x) == pytest.approx(float(near), rel=3e-15, abs=0.0)
        if x >= radial.LEAST_FAR:
            far = mp.exp(at) * mp.gammainc(1.5, at) / (2 * at**1.5)
            assert outward(x) == pytest.approx(float(far), rel=3e-15, abs=0.0)

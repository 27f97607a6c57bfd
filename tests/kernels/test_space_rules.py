"""The rules are exact by degree, and the table of their reach is what the bound says."""

import math

import numpy as np
import pytest

from dwell._kernels.space import rules

TERMS = 50


def chebyshev_parts(x):
    """I_0(x), 2 I_1(x), 2 I_2(x), ...: how much of each Chebyshev polynomial e**(x t) holds."""
    from scipy.special import iv

    parts = iv(np.arange(TERMS), x)
    parts[1:] *= 2.0
    return parts


def lost(degree, tilt, bend):
    """Bound on the relative error for exp(l + q): see rules.py."""
    tilts, bends = chebyshev_parts(0.5 * tilt), chebyshev_parts(0.5 * bend)
    a, b = np.meshgrid(np.arange(TERMS), np.arange(TERMS), indexing="ij")
    beyond = (np.outer(tilts, bends) * (a + 2 * b > degree)).sum()
    return 2.0 * beyond * math.exp(0.5 * (tilt + bend))


def longest_tilt(nodes, bend):
    """The largest L, rounded down to three decimals; -1 if none."""
    low, high = 0.0, 8.0
    if lost(2 * nodes - 2, 0.0, bend) > rules.TOLERANCE:
        return -1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        fits = lost(2 * nodes - 2, middle, bend) <= rules.TOLERANCE
        low, high = (middle, high) if fits else (low, middle)
    return math.floor(1000.0 * low) / 1000.0


def test_table_of_reach():
    for i, row in enumerate(rules.TILTS):
        wanted = [longest_tilt(rules.FEWEST + i, bend) for bend in rules.BENDS]
        np.testing.assert_allclose(row, wanted, atol=1.1e-3)
    assert len(rules.TILTS) == rules.MOST - rules.FEWEST + 1


@pytest.mark.parametrize("n", range(1, rules.MAX_NODES + 1))
def test_exact_by_degree(n):
    nodes = slice(rules.FIRST[n], rules.FIRST[n + 1])
    a, b, c, w = (t[nodes] for t in (rules.A, rules.B, rules.C, rules.W))
    flat = slice(rules.FLAT_FIRST[n], rules.FLAT_FIRST[n + 1])
    fa, fb, fw = (t[flat] for t in (rules.FLAT_A, rules.FLAT_B, rules.FLAT_W))
    f = math.factorial
    assert (w >= 0.0).all()
    for i in range(2 * n):
        for j in range(2 * n - i):
            found = (fw * fa**i * fb**j).sum()
            assert found == pytest.approx(f(i) * f(j) / f(i + j + 2), rel=2e-14)
            for k in range(0, 2 * n - i - j, 3):
                found = (w * a**i * b**j * c**k).sum()
                wanted = f(i) * f(j) * f(k) / f(i + j + k + 3)
                assert found == pytest.approx(wanted, rel=3e-14)

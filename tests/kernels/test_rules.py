"""The table of rules computed anew, rules exact by degree, and the reach that a bound allows."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import iv, roots_jacobi

from dwell._kernels.common import quadrature as rules
from dwell._kernels.common.quadrature import TABLE, rule
from dwell._kernels.space import surface
from tests.agents.test_many_any import callable_from_python

TERMS = 80


RULES = [key for key in TABLE if key[0] in ("legendre", "power0", "power1", "power2", "lobatto")]


def orthogonal(n, beta):
    """Coefficients, rising, of the polynomial of degree n orthogonal on [0, 1] under r**beta."""
    return [(-1) ** (n - k) * math.comb(n, k) * math.comb(n + beta + k, n) for k in range(n + 1)]


def value(coefficients, r):
    return sum(c * r**k for k, c in enumerate(coefficients))


def roots_near(coefficients, rough):
    """The roots that Newton's method finds from rough ones."""
    slope = [k * c for k, c in enumerate(coefficients)][1:]
    found = []
    for start in rough:
        r = mp.mpf(start)
        for _ in range(4):
            r -= value(coefficients, r) / value(slope, r)
        found.append(r)
    return found


def gauss(n, beta):
    """Nodes and weights of the Gauss rule for the weight r**beta on [0, 1]."""
    nodes = roots_near(orthogonal(n, beta), 0.5 * (1.0 + roots_jacobi(n, 0.0, beta)[0]))
    family = [orthogonal(k, beta) for k in range(n)]
    squares = [
        sum((2 * k + beta + 1) * value(p, r) ** 2 for k, p in enumerate(family)) for r in nodes
    ]
    return nodes, [1 / square for square in squares]


def lobatto(n):
    """Nodes and weights of the rule on [0, 1] whose nodes are both ends and the extrema between."""
    legendre = orthogonal(n - 1, 0)
    slope = [k * c for k, c in enumerate(legendre)][1:]
    inside = roots_near(slope, 0.5 * (1.0 + roots_jacobi(n - 2, 1.0, 1.0)[0]))
    nodes = [mp.mpf(0), *inside, mp.mpf(1)]
    return nodes, [1 / (n * (n - 1) * value(legendre, r) ** 2) for r in nodes]


@pytest.mark.parametrize(("family", "n"), RULES)
def test_the_table_computed_anew(family, n):
    with mp.workdps(60):
        beta = int(family[-1]) if family.startswith("power") else 0
        wanted = lobatto(n) if family == "lobatto" else gauss(n, beta)
        wanted = [[float(v) for v in values] for values in wanted]
    if family == "legendre":
        assert np.allclose(rule(family, n), wanted, rtol=5e-14, atol=0.0)
    else:
        assert np.array_equal(rule(family, n), wanted)


def test_the_table_has_nothing_else():
    others = {key[0] for key in TABLE} - {key[0] for key in RULES}
    assert others == {"bends", "tilts", "flat_bends", "flat_tilts"}


def chebyshev_parts(x):
    """I_0(x), 2 I_1(x), 2 I_2(x), ...: how much of each Chebyshev polynomial e**(x t) holds."""
    parts = iv(np.arange(TERMS), x)
    parts[1:] *= 2.0
    return parts


def lost(degree, tilt, bend):
    """Bound on the relative error for exp(l + q): see quadrature.py."""
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


@pytest.mark.parametrize(
    ("table", "tolerance", "grain", "most"),
    [
        (rules.REACH, rules.TOLERANCE, 2e-3, rules.MAX_SOLID),
        (rules.FLAT_REACH, rules.FLAT_TOLERANCE, 2e-2, rules.MAX_FLAT),
    ],
)
def test_tables_of_reach(table, tolerance, grain, most):
    """No entry exceeds what the bound allows, and all but the rounding is used."""
    for n, *row in table[1:]:
        for bend, tilt in zip(table[0, 1:], row, strict=True):
            limit = longest_tilt(int(n), bend, tolerance)
            assert limit - grain <= tilt <= limit
    assert table[-1, 0] == most


FLAT = [(rules.FLAT_FIRST, n) for n in range(1, rules.MAX_FLAT + 1)]
SOLID = [(rules.FIRST, n) for n in range(1, rules.MAX_SOLID + 1)]


@pytest.mark.parametrize(("first", "n"), FLAT + SOLID)
def test_rules_are_exact_by_degree(first, n):
    """Over a triangle or a tetrahedron; the last power goes in steps of three."""
    a, b, c, w = (t[first[n] : first[n + 1]] for t in (rules.A, rules.B, rules.C, rules.W))
    f, flat = math.factorial, first is rules.FLAT_FIRST
    assert (w >= 0.0).all()
    for i in range(2 * n):
        for j in range(2 * n - i):
            for k in range(0, 1 if flat else 2 * n - i - j, 3):
                wanted = f(i) * f(j) * f(k) / f(i + j + k + (2 if flat else 3))
                assert (w * a**i * b**j * c**k).sum() == pytest.approx(wanted, rel=3e-14, abs=0.0)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.124, 0.126, 1.9, 7.3, 49.99, 50.01, 300.0, 1e6])
def test_rays(x):
    """Integrals along rays against incomplete gamma functions."""
    inward, outward = map(callable_from_python, (surface.inward, surface.outward))
    with mp.workdps(40):
        at = mp.mpf(x)
        near = mp.gammainc(1.5, 0, at) / (2 * at**1.5) if x > 0.0 else mp.mpf(1) / 3
        assert inward(x) == pytest.approx(float(near), rel=3e-15, abs=0.0)
        if x >= surface.LEAST_FAR:
            far = mp.exp(at) * mp.gammainc(1.5, at) / (2 * at**1.5)
            assert outward(x) == pytest.approx(float(far), rel=3e-15, abs=0.0)

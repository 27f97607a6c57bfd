"""Gauss rules over tetrahedra and triangles, as constants, and how far they reach.

A tetrahedron (0, a, b, c) is swept by z = s ((1 - u) a + u ((1 - v) b + v c)), dz = K s**2 u, with
K = a . (b x c); Gauss-Jacobi rules in s, u and v take the factors as their weights. With n nodes
each, polynomials in z up to degree 2 n - 1 are integrated exactly, and all weights are positive.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np

MAX_NODES = 10  # per direction: degree 19
MAX_FLAT = 16  # the same over triangles
DIGITS = 40


def _coefficients(n: int, beta: int) -> list[Decimal]:
    """Of the polynomial of degree n orthogonal on [0, 1] under the weight r**beta."""
    found = []
    term = Fraction((-1) ** n * comb(n + beta, n))
    for k in range(n + 1):
        found.append(Decimal(term.numerator) / Decimal(term.denominator))
        term *= Fraction((k - n) * (n + beta + 1 + k), (beta + 1 + k) * (k + 1))
    return found


def _value(coefficients: list[Decimal], r: Decimal) -> Decimal:
    value = Decimal(0)
    for c in reversed(coefficients):
        value = value * r + c
    return value


def _root_between(coefficients: list[Decimal], low: float, high: float) -> Decimal:
    """The only root between two numbers: bisection in doubles, then Newton's method."""
    slope = [k * c for k, c in enumerate(coefficients)][1:]
    rough = [float(c) for c in reversed(coefficients)]
    rising = _rough_value(rough, low) < 0.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        if (_rough_value(rough, middle) < 0.0) == rising:
            low = middle
        else:
            high = middle
    root = Decimal(0.5 * (low + high))
    for _ in range(3):
        root -= _value(coefficients, root) / _value(slope, root)
    return root


def _rough_value(coefficients: list[float], r: float) -> float:
    value = 0.0
    for c in coefficients:
        value = value * r + c
    return value


def _rules(beta: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Row n: nodes, and weights, of the rule with n nodes for the weight r**beta on [0, 1].

    In decimals, so that every processor gets the same doubles.
    """
    nodes, weights = np.zeros((2, most + 1, most))
    family: list[list[Decimal]] = [_coefficients(0, beta)]
    roots: list[Decimal] = []
    for n in range(1, most + 1):
        family.append(_coefficients(n, beta))
        ends = [0.0, *map(float, roots), 1.0]  # roots of one degree separate those of the next
        pairs = pairwise(ends)
        roots = [_root_between(family[n], low, high) for low, high in pairs]
        for k, r in enumerate(roots):
            squares = [(2 * j + beta + 1) * _value(family[j], r) ** 2 for j in range(n)]
            nodes[n, k], weights[n, k] = float(r), float(1 / sum(squares))
    return nodes, weights


with localcontext() as _context:
    _context.prec = DIGITS
    PLAIN, PLAIN_WEIGHTS = _rules(0, MAX_FLAT)
    ONCE, ONCE_WEIGHTS = _rules(1, MAX_FLAT)
    TWICE, TWICE_WEIGHTS = _rules(2, MAX_NODES)


def _padded(points: int) -> int:
    return -(-points // 8) * 8


# Rules one after another: rule n starts at FIRST[n] and has POINTS[n] nodes, a multiple of 8, the
# last ones of weight zero. A, B, C say how much of a, b and c a node takes.
POINTS = np.array([_padded(n**3) for n in range(MAX_NODES + 1)])
FIRST = np.concatenate([[0], np.cumsum(POINTS)])
A, B, C, W = np.zeros((4, FIRST[-1]))
# The same over the triangle (0, a, b): z = u ((1 - v) a + v b), dz = 2 area u.
FLAT_POINTS = np.array([_padded(n**2) for n in range(MAX_FLAT + 1)])
FLAT_FIRST = np.concatenate([[0], np.cumsum(FLAT_POINTS)])
FLAT_A, FLAT_B, FLAT_W = np.zeros((3, FLAT_FIRST[-1]))


def _fill() -> None:
    for n in range(1, MAX_NODES + 1):
        s, u, v = (t.ravel() for t in np.meshgrid(TWICE[n, :n], ONCE[n, :n], PLAIN[n, :n]))
        weights = np.meshgrid(TWICE_WEIGHTS[n, :n], ONCE_WEIGHTS[n, :n], PLAIN_WEIGHTS[n, :n])
        solid = slice(FIRST[n], FIRST[n] + n**3)
        A[solid], B[solid], C[solid] = s * (1.0 - u), s * u * (1.0 - v), s * u * v
        W[solid] = (weights[0] * weights[1] * weights[2]).ravel()
    for n in range(1, MAX_FLAT + 1):
        u, v = (t.ravel() for t in np.meshgrid(ONCE[n, :n], PLAIN[n, :n]))
        pair = np.meshgrid(ONCE_WEIGHTS[n, :n], PLAIN_WEIGHTS[n, :n])
        flat = slice(FLAT_FIRST[n], FLAT_FIRST[n] + n**2)
        FLAT_A[flat], FLAT_B[flat] = u * (1.0 - v), u * v
        FLAT_W[flat] = (pair[0] * pair[1]).ravel()


_fill()

# How far a rule reaches for exp(l + q), l linear with range L and q quadratic with range Q over the
# piece: l and q are expanded in Chebyshev polynomials, whose coefficients are Bessel functions
# I_a(L/2) and I_b(Q/2); of these, what has degree a + 2 b above that of the rule may be lost twice.
# The rule being positive, it errs by no more, relative to the least value exp(-(L + Q) / 2). One
# degree is left for the first moments. TILTS[i, j]: the largest L that FEWEST + i nodes take beside
# Q <= BENDS[j], errors below TOLERANCE; -1 where there is none. Computed in test_space_rules.py.
TOLERANCE = 1e-11
FEWEST, MOST = 3, 10  # nodes per direction that Gaussians take
BENDS = np.array(
    [0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.12, 0.18, 0.25, 0.32, 0.4, 0.5, 0.65, 0.8]
)
TILTS = np.array(
    [
        [0.049, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        [0.291, 0.185, 0.059, 0.000, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        [0.812, 0.747, 0.650, 0.409, 0.145, 0.007, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        [1.602, 1.558, 1.484, 1.290, 1.073, 0.703, 0.148, 0.012, -1, -1, -1, -1, -1, -1, -1],
        [2.610, 2.578, 2.519, 2.354, 2.169, 1.859, 1.328, 0.859, 0.284, 0.033, -1, -1, -1, -1, -1],
        [
            3.785,
            3.760,
            3.711,
            3.568,
            3.402,
            3.128,
            2.663,
            2.247,
            1.677,
            1.074,
            0.544,
            0.157,
            0.009,
            -1,
            -1,
        ],
        [
            5.086,
            5.064,
            5.023,
            4.896,
            4.745,
            4.494,
            4.073,
            3.697,
            3.176,
            2.615,
            2.094,
            1.538,
            0.900,
            0.215,
            0.006,
        ],
        [
            6.481,
            6.462,
            6.425,
            6.311,
            6.172,
            5.938,
            5.547,
            5.200,
            4.717,
            4.194,
            3.703,
            3.173,
            2.549,
            1.683,
            0.901,
        ],
    ]
)

# The same for triangles that make up the moments over a whole cell, where errors may grow.
FLAT_TOLERANCE = 1e-13
FLAT_NODES = np.array([5, 6, 7, 8, 10, 12, 14, 16])
FLAT_BENDS = np.array(
    [0.0, 0.003, 0.01, 0.03, 0.08, 0.15, 0.25, 0.4, 0.6, 0.85, 1.2, 1.6, 2.0, 2.5]
)
FLAT_TILTS = np.array(
    [
        [0.49, 0.28, 0.02, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        [1.08, 0.92, 0.68, 0.17, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        [1.88, 1.76, 1.57, 1.15, 0.32, 0.00, -1, -1, -1, -1, -1, -1, -1, -1],
        [2.87, 2.78, 2.61, 2.25, 1.53, 0.68, 0.04, -1, -1, -1, -1, -1, -1, -1],
        [5.26, 5.19, 5.06, 4.76, 4.19, 3.49, 2.61, 1.45, 0.25, -1, -1, -1, -1, -1],
        [8.02, 7.97, 7.85, 7.60, 7.09, 6.49, 5.72, 4.67, 3.41, 2.00, 0.39, -1, -1, -1],
        [
            11.01,
            10.97,
            10.87,
            10.63,
            10.18,
            9.64,
            8.94,
            7.97,
            6.79,
            5.45,
            3.74,
            1.99,
            0.52,
            -1,
        ],
        [
            14.15,
            14.11,
            14.02,
            13.81,
            13.38,
            12.88,
            12.23,
            11.33,
            10.21,
            8.92,
            7.27,
            5.54,
            3.95,
            2.11,
        ],
    ]
)

"""Gauss rules over tetrahedra and triangles, as constants, and how far they reach.

A tetrahedron (0, a, b, c) is swept by z = s ((1 - u) a + u ((1 - v) b + v c)), dz = K s**2 u, with
K = a . (b x c); Gauss-Jacobi rules in s, u and v take the factors as their weights. With n nodes
each, polynomials in z up to degree 2 n - 1 are integrated exactly, and all weights are positive.
"""

import numpy as np

from dwell._kernels.common.quadrature import TABLE, rules

MAX_NODES = 10  # per direction: degree 19
MAX_FLAT = 16  # over triangles
# Row n: the rule with n nodes on [0, 1] for the weight 1, r or r**2.
PLAIN, PLAIN_WEIGHTS = rules("power0", MAX_FLAT)
ONCE, ONCE_WEIGHTS = rules("power1", MAX_FLAT)
TWICE, TWICE_WEIGHTS = rules("power2", MAX_NODES)


def _padded(points: int) -> int:
    return -(-points // 8) * 8


# Rules one after another: rule n starts at FIRST[n] and has POINTS[n] nodes, a multiple of 8, the
# last ones of weight zero. A, B, C say how much of a, b and c a node takes.
POINTS = np.array([_padded(n**3) for n in range(MAX_NODES + 1)])
FIRST = np.concatenate([[0], np.cumsum(POINTS)])
A, B, C, W = np.zeros((4, FIRST[-1]))
# Over the triangle (0, a, b): z = u ((1 - v) a + v b), dz = 2 area u.
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
# Q <= BENDS[j], errors below TOLERANCE; -1 where there is none. See test_rules.py.
TOLERANCE = 1e-11
FEWEST, MOST = 3, 10  # nodes per direction that Gaussians take
BENDS = TABLE["bends", 0]
TILTS = np.array([TABLE["tilts", n] for n in range(FEWEST, MOST + 1)])

# Over triangles that make up the moments over a whole cell, errors may grow.
FLAT_TOLERANCE = 1e-13
FLAT_NODES = np.array([5, 6, 7, 8, 10, 12, 14, 16])
FLAT_BENDS = TABLE["flat_bends", 0]
FLAT_TILTS = np.array([TABLE["flat_tilts", n] for n in FLAT_NODES])

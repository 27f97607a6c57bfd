"""Gauss rules over tetrahedra and triangles, as constants, and how far they reach.

A tetrahedron (0, a, b, c) is swept by z = s ((1 - u) a + u ((1 - v) b + v c)), dz = K s**2 u, with
K = a . (b x c), a triangle (0, a, b) by z = u ((1 - v) a + v b), dz = 2 area u; Gauss-Jacobi rules
in s, u and v take the factors as their weights. With n nodes each, polynomials in z up to degree
2 n - 1 are integrated exactly, and all weights are positive.
"""

import numpy as np

from dwell._kernels.common.quadrature import TABLE, rules

MAX_NODES = 10  # per direction: degree 19
MAX_FLAT = 16  # over triangles
# Row n: the rule with n nodes on [0, 1] for the weight 1, r or r**2.
PLAIN, PLAIN_WEIGHTS = rules("power0", MAX_FLAT)
ONCE, ONCE_WEIGHTS = rules("power1", MAX_FLAT)
TWICE, TWICE_WEIGHTS = rules("power2", MAX_NODES)


def _solid(n: int) -> np.ndarray:
    s, u, v = (t.ravel() for t in np.meshgrid(TWICE[n, :n], ONCE[n, :n], PLAIN[n, :n]))
    weights = np.meshgrid(TWICE_WEIGHTS[n, :n], ONCE_WEIGHTS[n, :n], PLAIN_WEIGHTS[n, :n])
    weight = (weights[0] * weights[1] * weights[2]).ravel()
    return np.array([s * (1.0 - u), s * u * (1.0 - v), s * u * v, weight])


def _flat(n: int) -> np.ndarray:
    u, v = (t.ravel() for t in np.meshgrid(ONCE[n, :n], PLAIN[n, :n]))
    weights = np.meshgrid(ONCE_WEIGHTS[n, :n], PLAIN_WEIGHTS[n, :n])
    return np.array([u * (1.0 - v), u * v, 0.0 * u, (weights[0] * weights[1]).ravel()])


# Rules one after another, padded to multiples of 8 nodes by nodes of weight zero: over tetrahedra
# rule n takes nodes FIRST[n] to FIRST[n + 1] - 1, over triangles FLAT_FIRST[n] and so on. A, B, C
# say how much of a, b and c a node takes, W is its weight.
_RULES = [*map(_solid, range(MAX_NODES + 1)), *map(_flat, range(MAX_FLAT + 1))]
_PADDED = [np.pad(rule, ((0, 0), (0, -rule.shape[1] % 8))) for rule in _RULES]
_ENDS = np.cumsum([0, *(rule.shape[1] for rule in _PADDED)])
FIRST, FLAT_FIRST = _ENDS[: MAX_NODES + 2].copy(), _ENDS[MAX_NODES + 1 :].copy()
A, B, C, W = np.concatenate(_PADDED, axis=1)

# How far a rule reaches for exp(l + q), l linear with range L and q quadratic with range Q over the
# piece: l and q are expanded in Chebyshev polynomials, whose coefficients are Bessel functions
# I_a(L/2) and I_b(Q/2); of these, what has degree a + 2 b above that of the rule may be lost twice.
# The rule being positive, it errs by no more, relative to the least value exp(-(L + Q) / 2). One
# degree is left for the first moments. A table has ranges Q in its first row and numbers of nodes
# in its first column; entry [i, j] is the largest L that so many nodes take beside a range up to Q
# with errors below the tolerance, -1 where there is none. See test_rules.py.
TOLERANCE = 1e-11
FLAT_TOLERANCE = 1e-13  # over triangles that make up the moments over a whole cell, errors may grow


def _reach(prefix: str, nodes: list[int]) -> np.ndarray:
    bends = TABLE[f"{prefix}bends", 0]
    return np.array([[0, *bends], *([n, *TABLE[f"{prefix}tilts", n]] for n in nodes)])


REACH = _reach("", [3, 4, 5, 6, 7, 8, 9, 10])
FLAT_REACH = _reach("flat_", [5, 6, 7, 8, 10, 12, 14, 16])

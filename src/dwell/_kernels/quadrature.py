"""Gauss-Legendre rules on [0, 1], and their squares swept over a triangle, as constants."""

from itertools import permutations

import numpy as np

from dwell._kernels.scratch import MAX_NODES

# Row n holds the rule with n nodes; exact for polynomials of degree 2n - 1.
NODES = np.zeros((MAX_NODES + 1, MAX_NODES))
WEIGHTS = np.zeros((MAX_NODES + 1, MAX_NODES))


def gauss_legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rule with n nodes, each node refined by Newton's method on the Legendre polynomial."""
    x = np.cos(np.pi * (np.arange(n, 0, -1) - 0.25) / (n + 0.5))
    for _ in range(20):
        before, value = np.ones(n), x.copy()
        for k in range(2, n + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = n * (x * value - before) / (x * x - 1.0)
        x = x - value / slope
    return 0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * slope * slope)


for _n in range(1, MAX_NODES + 1):
    NODES[_n, :_n], WEIGHTS[_n, :_n] = gauss_legendre(_n)


# The tensor rule over z = r ((1 - u) a + u b), flat: row n holds u, r and the weight (r included)
# of its n * n nodes; POINTS[n] of them, rounded up to a multiple of 8 by nodes of weight zero.
TRIANGLE_U = np.zeros((MAX_NODES + 1, MAX_NODES * MAX_NODES))
TRIANGLE_R = np.zeros_like(TRIANGLE_U)
TRIANGLE_W = np.zeros_like(TRIANGLE_U)
POINTS = np.array([-(-n * n // 8) * 8 for n in range(MAX_NODES + 1)])

for _n in range(1, MAX_NODES + 1):
    _x, _w = NODES[_n, :_n], WEIGHTS[_n, :_n]
    TRIANGLE_U[_n, : _n * _n] = np.repeat(_x, _n)
    TRIANGLE_R[_n, : _n * _n] = np.tile(_x, _n)
    TRIANGLE_W[_n, : _n * _n] = np.outer(_w, _w * _x).ravel()

# In row 0 the symmetric rule of degree 8 with 16 nodes, all inside and of positive weight. Such a
# rule is given by its orbits: the weight of a node, and two of its three barycentric coordinates.
SYMMETRIC = 0
_CENTRE = (0.14431560767778716825, 1.0 / 3.0, 1.0 / 3.0)
_ORBITS = (  # of three nodes, then of six
    (0.095091634267284624794, 0.45929258829272315603, 0.45929258829272315603),
    (0.10321737053471825028, 0.17056930775176020662, 0.17056930775176020662),
    (0.032458497623198080311, 0.050547228317030975458, 0.050547228317030975458),
    (0.027230314174434994265, 0.26311282963463811342, 0.72849239295540428124),
)


def _symmetric() -> np.ndarray:
    """A row (weight, share of a, share of b) for each node."""
    nodes = [_CENTRE]
    for weight, first, second in _ORBITS:
        third = 1.0 - first - second
        nodes += [(weight, a, b) for a, b, _ in sorted({*permutations((first, second, third))})]
    return np.array(nodes)


_weight, _a, _b = _symmetric().T
POINTS[SYMMETRIC] = len(_weight)
TRIANGLE_R[SYMMETRIC, : len(_weight)] = _a + _b
TRIANGLE_U[SYMMETRIC, : len(_weight)] = _b / (_a + _b)
TRIANGLE_W[SYMMETRIC, : len(_weight)] = 0.5 * _weight

# The rule with 16 nodes, for panels of an edge.
PANEL_NODES, PANEL_WEIGHTS = gauss_legendre(16)

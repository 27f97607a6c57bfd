"""Gauss-Legendre rules on [0, 1], and their squares swept over a triangle, as constants."""

import numpy as np

from dwell._kernels.scratch import MAX_NODES

# Row n holds the rule with n nodes; exact for polynomials of degree 2n - 1.
NODES = np.zeros((MAX_NODES + 1, MAX_NODES))
WEIGHTS = np.zeros((MAX_NODES + 1, MAX_NODES))


def _polished(n: int) -> tuple[np.ndarray, np.ndarray]:
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
    NODES[_n, :_n], WEIGHTS[_n, :_n] = _polished(_n)


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

# The rule with 16 nodes, for panels of an edge.
PANEL_NODES, PANEL_WEIGHTS = _polished(16)

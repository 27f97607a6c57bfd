"""Gauss-Legendre rules on [0, 1], and how many nodes a range of exponents needs."""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.quadrature import gauss_legendre

MOST = 28  # nodes of the largest rule
MESH = MOST + 1  # row of a rule with three nodes: both ends and the middle
LOBATTO = MOST + 2  # row of the rule of Lobatto with seven nodes, both ends among them
NODES = np.zeros((MOST + 3, MOST))  # row n holds the rule with n nodes
WEIGHTS = np.zeros((MOST + 3, MOST))
COUNT = np.append(np.arange(MOST + 1), [3, 7])  # nodes of each row
for _n in range(1, MOST + 1):
    NODES[_n, :_n], WEIGHTS[_n, :_n] = gauss_legendre(_n)
NODES[MESH, :3], WEIGHTS[MESH, :3] = (0.0, 0.5, 1.0), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0)
_inner, _outer = np.sqrt(5.0 / 11.0 + np.array([-2.0, 2.0]) / 11.0 * np.sqrt(5.0 / 3.0))
_near, _far = (124.0 + np.array([7.0, -7.0]) * np.sqrt(15.0)) / 350.0
NODES[LOBATTO, :7] = 0.5 + 0.5 * np.array([-1.0, -_outer, -_inner, 0.0, _inner, _outer, 1.0])
WEIGHTS[LOBATTO, :7] = 0.5 * np.array(
    [1.0 / 21.0, _far, _near, 256.0 / 525.0, _near, _far, 1.0 / 21.0]
)

RANGES = np.array([0.01, 0.06, 0.2, 0.6, 1.3, 2.4, 4.0])  # of an exponent over an interval ...
LEAST = 6  # ... and the nodes for the first of them, one more for each of the others
WIDEST = 4.0
# Along a ray the factor r**4 comes on top, and exponents up to DEPTH; in the plane, where rays cost
# little, up to DEEPER, with some nodes more.
DEPTH = 36.0
DEEPER = 42.0
MORE_NODES = 3
DEPTHS = np.array([0.01, 0.06, 0.2, 0.6, 1.3, 2.4, 4.0, 6.0, 9.0, 14.0, 20.0, 29.0])
RADIAL = np.array([5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 19, 20])


@inner
def nodes_for(extent):
    """How many nodes an interval with this range of exponents needs."""
    k = 0
    while k < RANGES.shape[0] and extent > RANGES[k]:
        k += 1
    return LEAST + k


@inner
def radial_nodes_for(depth):
    """How many nodes a ray needs along which the exponent falls by `depth`."""
    k = 0
    while k < DEPTHS.shape[0] and depth > DEPTHS[k]:
        k += 1
    return RADIAL[k]

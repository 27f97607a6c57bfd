"""Gauss-Legendre rules on [0, 1], and how many nodes a range of exponents needs."""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.quadrature import rule, rules

MOST = 28  # nodes of the largest rule
MESH = MOST + 1  # row of a rule with three nodes: both ends and the middle
LOBATTO = MOST + 2  # row of the rule of Lobatto with seven nodes, both ends among them
NODES, WEIGHTS = np.zeros((2, MOST + 3, MOST))
COUNT = np.append(np.arange(MOST + 1), [3, 7])  # nodes of each row
NODES[:MESH], WEIGHTS[:MESH] = rules("legendre", MOST)  # row n holds the rule with n nodes
NODES[MESH, :3], WEIGHTS[MESH, :3] = rule("lobatto", 3)
NODES[LOBATTO, :7], WEIGHTS[LOBATTO, :7] = rule("lobatto", 7)

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

"""Gauss-Legendre rules on [0, 1], and how many nodes a range of exponents needs."""

import math

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

WIDEST = 4.0  # range of an exponent over a box, at most
DEPTH = 36.0  # exponents count down to -DEPTH along a ray, ...
DEEPER = 42.0  # ... in the plane, where rays cost little, to -DEEPER


@inner
def nodes_for(extent, planar):
    """How many nodes an interval with this range of exponents needs."""
    return int(6.8 + (4.0 if planar else 3.2) * math.sqrt(extent))


@inner
def nodes_on_ray(depth, planar):
    """How many nodes a ray needs along which the exponent falls by `depth`, with r**4 on top."""
    return int((7.4 if planar else 6.4) + 2.5 * math.sqrt(depth))

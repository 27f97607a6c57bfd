"""Quadrature rules as constants: one table of all rules, and squares swept over a triangle."""

from itertools import permutations
from pathlib import Path

import numpy as np

MAX_NODES = 12  # Gauss-Legendre nodes per direction, at most


def _read_table() -> dict[tuple[str, int], np.ndarray]:
    """The rows of quadrature.txt by family and number of nodes."""
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines()
    words = [line.split() for line in lines if not line.startswith("#")]
    return {(row[0], int(row[1])): np.array(row[2:], dtype=np.float64) for row in words}


TABLE = _read_table()


def rule(family: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1] of the rule of a family with n nodes."""
    nodes, weights = TABLE[family, n].reshape(2, n)
    return nodes, weights


def rules(family: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and weights, of the rules with up to `most` nodes: row n holds that with n."""
    nodes, weights = np.zeros((2, most + 1, most))
    for n in range(1, most + 1):
        nodes[n, :n], weights[n, :n] = rule(family, n)
    return nodes, weights


# Exact for polynomials of degree 2n - 1.
NODES, WEIGHTS = rules("legendre", MAX_NODES)

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
PANEL_NODES, PANEL_WEIGHTS = rule("legendre", 16)

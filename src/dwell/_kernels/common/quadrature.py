"""Quadrature rules as constants: one table of all rules, and rules over triangles and tetrahedra.

In space a tetrahedron (0, a, b, c) is swept by z = s ((1 - u) a + u ((1 - v) b + v c)),
dz = K s**2 u, with K = a . (b x c), a triangle (0, a, b) by z = u ((1 - v) a + v b), dz = 2 area u;
Gauss-Jacobi rules in s, u and v take the factors as their weights. With n nodes each, polynomials
in z up to degree 2 n - 1 are integrated exactly, and all weights are positive.
"""

from itertools import permutations
from pathlib import Path

import numpy as np

MAX_NODES = 12  # Gauss-Legendre nodes per direction of a triangle, at most
MOST = 28  # nodes of the largest rule of Gauss and Legendre
MESH = MOST + 1  # row of a rule with three nodes: both ends and the middle
LOBATTO = MOST + 2  # row of the rule of Lobatto with seven nodes, both ends among them


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


# Row n holds the rule with n nodes, exact for polynomials of degree 2n - 1.
NODES, WEIGHTS = np.zeros((2, MOST + 3, MOST))
COUNT = np.append(np.arange(MOST + 1), [3, 7])  # nodes of each row
NODES[:MESH], WEIGHTS[:MESH] = rules("legendre", MOST)
NODES[MESH, :3], WEIGHTS[MESH, :3] = rule("lobatto", 3)
NODES[LOBATTO, :7], WEIGHTS[LOBATTO, :7] = rule("lobatto", 7)

# The tensor rule over z = r ((1 - u) a + u b), flat: row n holds u, r and the weight (r included)
# of its n * n nodes; POINTS[n] of them, rounded up to a multiple of 8 by nodes of weight zero.
TRIANGLE_U, TRIANGLE_R, TRIANGLE_W = np.zeros((3, MAX_NODES + 1, MAX_NODES * MAX_NODES))
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

MAX_SOLID = 10  # nodes per direction over tetrahedra: degree 19
MAX_FLAT = 16  # over triangles


def _product(n: int, *families: str) -> list[np.ndarray]:
    """Nodes along each direction, and the weights, of a product of rules with n nodes."""
    along = [rule(family, n) for family in families]
    nodes = [t.ravel() for t in np.meshgrid(*(x for x, _ in along))]
    return [*nodes, np.multiply.reduce(np.meshgrid(*(w for _, w in along))).ravel()]


def _solid(n: int) -> np.ndarray:
    s, u, v, weight = _product(n, "power2", "power1", "power0")
    return np.array([s * (1.0 - u), s * u * (1.0 - v), s * u * v, weight])


def _flat(n: int) -> np.ndarray:
    u, v, weight = _product(n, "power1", "power0")
    return np.array([u * (1.0 - v), u * v, 0.0 * u, weight])


# Rules one after another, padded to multiples of 8 nodes by nodes of weight zero: over tetrahedra
# rule n takes nodes FIRST[n] to FIRST[n + 1] - 1, over triangles FLAT_FIRST[n] and so on. A, B, C
# say how much of a, b and c a node takes, W is its weight.
_NONE = np.zeros((4, 0))
_RULES = [_NONE, *map(_solid, range(1, MAX_SOLID + 1)), _NONE, *map(_flat, range(1, MAX_FLAT + 1))]
_PADDED = [np.pad(rule, ((0, 0), (0, -rule.shape[1] % 8))) for rule in _RULES]
_ENDS = np.cumsum([0, *(rule.shape[1] for rule in _PADDED)])
FIRST, FLAT_FIRST = _ENDS[: MAX_SOLID + 2].copy(), _ENDS[MAX_SOLID + 1 :].copy()
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

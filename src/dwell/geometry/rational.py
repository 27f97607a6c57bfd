"""Linear algebra in rational arithmetic: results are exact, or rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dwell._types import Floats, Points

Matrix = Sequence[Sequence[Fraction]]


def exact(rows: object) -> list[list[Fraction]]:
    """A table of doubles as fractions."""
    return [[Fraction(float(v)) for v in row] for row in np.asarray(rows)]


def orientation(a: Points, b: Points, c: Points) -> Fraction:
    """Twice the area of a triangle of the plane; positive if a, b, c go counter-clockwise."""
    (ax, ay), (bx, by), (cx, cy) = exact([a, b, c])
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def solve(matrix: Matrix, right: Matrix) -> list[list[Fraction]]:
    """X with matrix X = right; ZeroDivisionError if the matrix is singular."""
    n = len(matrix)
    table = [[*row, *others] for row, others in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(table[i][k]))
        table[k], table[pivot] = table[pivot], table[k]
        inverse = 1 / table[k][k]
        table[k] = [v * inverse for v in table[k]]
        for i in range(n):
            factor = table[i][k]
            if i != k and factor:
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[n:] for row in table]


def unit_normal(simplex: Points, rough: Points) -> Points | None:
    """The unit normal of the plane through n points that is near `rough`, rounded once.

    None if the points do not span a plane.
    """
    corners = exact(simplex)
    edges = [[v - a for v, a in zip(row, corners[0], strict=True)] for row in corners[1:]]
    order = np.argsort(-np.abs(rough), kind="stable")  # the first column becomes the right side
    try:
        left = [[row[j] for j in order[1:]] for row in edges]
        found = solve(left, [[-row[order[0]]] for row in edges])
    except ZeroDivisionError:
        return None
    normal = [Fraction(1), *(row[0] for row in found)]
    largest = max(abs(v) for v in normal)
    rounded = np.zeros(len(normal))
    rounded[order] = [float(v / largest) for v in normal]
    unit: Points = rounded / math.sqrt(math.fsum(float(v * v) for v in rounded))
    return (unit if float((unit * rough).sum()) > 0.0 else -unit) + 0.0  # no -0


def upper_root(matrix: Matrix) -> Floats:
    """Upper triangular C = sqrt(D) U of the exact factors Q = U'DU; entries are rounded twice."""
    n = len(matrix)
    left = [list(row) for row in matrix]
    root = np.zeros((n, n))
    for k in range(n):
        root[k, k] = math.sqrt(left[k][k])
        for j in range(k + 1, n):
            root[k, j] = root[k, k] * float(left[k][j] / left[k][k])
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                left[i][j] -= left[k][i] * left[k][j] / left[k][k]
    return root

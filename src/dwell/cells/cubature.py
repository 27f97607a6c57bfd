"""Integrals over simplices of any dimension: exact for polynomials, adaptive for anything else.

Simplices come as (S, k + 1, n) corners: k = n fills space, k = n - 1 lies in a facet. `content` is
k! times their volume, with a sign if it has one.

Rules have nodes in barycentric coordinates. Products of one-dimensional rules have positive weights
and, if these are Lobatto's, nodes on the sides, but they need m**k nodes. Grundmann and Moeller's
rules need few nodes and contain each other, but some weights are negative, and all nodes lie
inside: from four dimensions on, a jump beside the sides of a simplex may escape them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats, Points
from dwell.cells import adaptive as quadrature
from dwell.cells.adaptive import SAFETY, Integral, Pieces, error_of

Weight = Callable[[Points], Floats]  # (P, n) places in, (P,) weights out
Values = Callable[[Points], Floats]  # (P, n) places in, (P, c) functions out

# By dimension. Each further digit takes several times as long: from four dimensions on, digits are
# expensive.
RELATIVE = {0: 1e-13, 1: 1e-12, 2: 1e-11, 3: 1e-10}
LOOSEST = 1e-6  # beyond
MOST = {1: 4_000, 2: 6_000, 3: 5_000}  # simplices, for product rules
MOST_SMOOTH = 20_000  # simplices
GAUSS = {1: 12, 2: 12, 3: 7}  # nodes each way of a product rule ...
LOBATTO = {1: 9, 2: 7, 3: 7}  # ... and of that which it is compared with
AT_ONCE = 400_000  # places evaluated at a time
LARGEST_GAIN = 0.01  # a rule is not believed to be better than the last by more
STEPS = {2: 6, 3: 5, 4: 4}  # s of Grundmann-Moeller rules, exact to degree 2 s + 1
FEWEST_STEPS = 3


class Rule(NamedTuple):
    """Barycentric nodes (P, k + 1), and one or more columns of weights (P, r) that sum to 1."""

    nodes: Floats
    weights: Floats


def contents(edges: Floats, across: Points) -> Floats:
    """k! times the signed volume of simplices with these k edges from a corner, (S, k, n).

    They lie at right angles to the n - k unit vectors `across`.
    """
    rows = np.broadcast_to(across, (len(edges), *across.shape))
    return np.asarray(np.linalg.det(np.concatenate([edges, rows], axis=1)), dtype=np.float64)


def volumes(simplices: Floats) -> Floats:
    """n! times the signed volume of each simplex (S, n + 1, n)."""
    return contents(simplices[:, 1:] - simplices[:, :1], np.empty((0, simplices.shape[2])))


def adaptive(values: Values, pieces: Pieces, sizes: Floats, rule: Rule, n: int) -> Integral:
    """Integrals of functions of which the first is a density, until the estimated error is small.

    `sizes` are those of the functions over the first, `n` the dimension of what is integrated over.
    """
    return quadrature.integrate(
        pieces,
        lambda pieces: _estimates(values, pieces, rule),
        lambda pieces: (halved(pieces[0]), np.tile(0.5 * pieces[1], 2)),
        sizes,
        RELATIVE.get(n, LOOSEST),
        MOST_SMOOTH if rule.weights.shape[1] > 2 else MOST[n],
    )


def summed(values: Values, pieces: Pieces, rule: Rule) -> Floats:
    """Integrals of functions by one rule, (c,)."""
    found: Floats = _by_rule(values, pieces, rule)[:, 0].sum(axis=0)
    return found


def halved(simplices: Floats) -> Floats:
    """Each simplex as two, across its longest edge; first all one halves, then all others."""
    count, corners, _ = simplices.shape
    pairs = np.array(list(itertools.combinations(range(corners), 2)))
    edges = simplices[:, pairs[:, 0]] - simplices[:, pairs[:, 1]]
    longest = pairs[np.argmax((edges * edges).sum(axis=2), axis=1)]
    rows = np.arange(count)
    middle = 0.5 * (simplices[rows, longest[:, 0]] + simplices[rows, longest[:, 1]])
    first, second = simplices.copy(), simplices.copy()
    first[rows, longest[:, 0]] = middle
    second[rows, longest[:, 1]] = middle
    return np.concatenate([first, second])


def _product(rules: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Nodes and weights over the k-simplex of k rules on [0, 1].

    One corner after another: what is left of 1 is shared between the next corner and the others.
    """
    nodes, weights = np.ones((1, 1)), np.ones(1)
    for x, w in rules:
        rest = nodes[:, -1:]
        columns = [np.repeat(nodes[:, :-1], len(x), axis=0)]
        columns += [(rest * share).reshape(-1, 1) for share in (x, 1.0 - x)]
        nodes = np.concatenate(columns, axis=1)
        weights = (weights[:, None] * w).reshape(-1)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=64)
def conical(k: int, degree: int) -> Rule:
    """A product rule over the k-simplex with positive weights, exact up to `degree`."""
    from scipy.special import roots_jacobi

    found = [roots_jacobi(degree // 2 + 1, left, 0.0) for left in range(k - 1, -1, -1)]
    nodes, weights = _product([(0.5 * (1.0 + x), w) for x, w in found])
    return Rule(nodes, weights[:, None])


@lru_cache(maxsize=4)
def _gauss_and_lobatto(k: int) -> Rule:
    """Products of rules for the weight 1, over the k-simplex: Gauss, and Lobatto."""
    parts = []
    for x, w in (rule("legendre", GAUSS[k]), rule("lobatto", LOBATTO[k])):
        parts.append(_product([(x, w * (1.0 - x) ** left) for left in range(k - 1, -1, -1)]))
    (nodes, weights), (more, others) = parts
    columns = np.zeros((len(nodes) + len(more), 2))
    columns[: len(nodes), 0], columns[len(nodes) :, 1] = weights, others
    return Rule(np.concatenate([nodes, more]), columns)


@lru_cache(maxsize=16)
def nested(k: int, steps: int) -> Rule:
    """Grundmann and Moeller's rules of degrees 2 s + 1, 2 s - 1, 2 s - 3, as columns of weights."""
    places: dict[tuple[int, ...], list[float]] = {}
    for column, s in enumerate((steps, steps - 1, steps - 2)):
        degree = 2 * s + 1
        for i in range(s + 1):
            base = degree + k - 2 * i
            weight = (-1.0) ** i * 2.0 ** (-2 * s) * float(base) ** degree
            weight *= math.factorial(k) / (math.factorial(i) * math.factorial(degree + k - i))
            for split in _splits(s - i, k + 1):
                node = tuple((2 * b + 1) / base for b in split)
                key = tuple(round(v * 2**40) for v in node)
                places.setdefault(key, [0.0, 0.0, 0.0, *node])[column] += weight
    table = np.array(list(places.values()))
    return Rule(table[:, 3:], table[:, :3])


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write `total` as a sum of so many whole numbers from 0, in order."""
    if parts == 1:
        return [(total,)]
    return [(a, *rest) for a in range(total + 1) for rest in _splits(total - a, parts - 1)]


def rule_over(k: int, smooth: bool) -> Rule:
    """The rule for k-simplices, and those it is compared with.

    Functions that need not be smooth get nodes on the sides of simplices, below four dimensions.
    """
    if k in GAUSS and not smooth:
        return _gauss_and_lobatto(k)
    return nested(k, STEPS.get(k, FEWEST_STEPS))


def _estimates(values: Values, pieces: Pieces, rule: Rule) -> tuple[Floats, Floats]:
    """(S, c) integrals and (S, c) bounds on their errors."""
    found = _by_rule(values, pieces, rule)
    fine, other = found[:, 0], found[:, 1]
    if found.shape[1] == 2:
        return fine, error_of(fine, other)
    # Where each rule is better than the last, the next would be too: what two rules differ by is
    # the error of the lower one. Judged by the slowest of all functions, as one alone may agree by
    # chance. Negative weights let rounding grow with their sum.
    error, before = np.abs(fine - other), np.abs(other - found[:, 2])
    gain = (error / np.where(before > 1e-290, before, np.inf)).max(axis=1, keepdims=True)
    rounding = 1e-16 * np.abs(rule.weights[:, 0]).sum() * np.abs(fine)
    return fine, SAFETY * error * np.clip(gain, LARGEST_GAIN, 1.0) + rounding


def _by_rule(values: Values, pieces: Pieces, rule: Rule) -> Floats:
    """(S, r, c) integrals by each column of weights."""
    simplices, content = pieces
    parts = []
    step = max(1, AT_ONCE // len(rule.nodes))
    for lo in range(0, len(simplices), step):
        corners = simplices[lo : lo + step]
        z = np.einsum("pk,skn->spn", rule.nodes, corners).reshape(-1, corners.shape[2])
        table = values(z).reshape(len(corners), len(rule.nodes), -1)
        parts.append(np.einsum("pr,spc->src", rule.weights, table))
    volume = content / math.factorial(simplices.shape[1] - 1)
    found: Floats = np.concatenate(parts) * volume[:, None, None]
    return found

"""Integrals over simplices of any dimension: exact for polynomials, adaptive for anything else.

Simplices come as (S, k + 1, n) corners: k = n fills space, k = n - 1 lies in a wall. `content` is
k! times their volume, with a sign if it has one.

Two families of rules, with nodes in barycentric coordinates. Products of Gauss-Jacobi rules have
positive weights and lose nothing, but need m**k nodes. Grundmann and Moeller's need few nodes and
contain each other, which gives an error estimate for nothing, but some weights are negative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dwell._kernels.quadrature import rule
from dwell._types import Floats, Points

Weight = Callable[[Points], Floats]  # (P, n) places in, (P,) weights out
Basis = Callable[[Points], Floats]  # (P, n) places in, (P, c) functions out

# By their dimension. The estimate is about a hundred times the true error, and each further digit
# takes several times as long: from four dimensions on, digits are dear.
RELATIVE = {0: 1e-13, 1: 1e-12, 2: 1e-11, 3: 1e-10}
LOOSEST = 1e-6  # beyond
MAX_SIMPLICES = 20_000
AT_ONCE = 400_000  # places evaluated at a time
SAFETY = 4.0
LARGEST_GAIN = 0.01  # a rule is not believed to be better than the last by more
STEPS = {1: 9, 2: 6, 3: 5, 4: 4}  # s of Grundmann-Moeller rules, exact to degree 2 s + 1
FEWEST_STEPS = 3


class Rule(NamedTuple):
    """Barycentric nodes (P, k + 1), and one or more columns of weights (P, r) that sum to 1."""

    nodes: Floats
    weights: Floats


class Integral(NamedTuple):
    """Integrals of the basis functions, bounds on their errors, and what they were taken over."""

    values: Floats  # (c,)
    errors: Floats  # (c,)
    converged: bool
    simplices: Floats  # (S, k + 1, n)
    content: Floats  # (S,)


def contents(simplices: Floats) -> Floats:
    """k! times the volume of each simplex; signed if it fills space."""
    edges = simplices[:, 1:] - simplices[:, :1]
    k, n = edges.shape[1:]
    if k == 0:
        return np.ones(len(simplices))
    if k == n:
        return np.asarray(np.linalg.det(edges), dtype=np.float64)
    gram = np.einsum("sin,sjn->sij", edges, edges)
    return np.asarray(np.sqrt(np.maximum(np.linalg.det(gram), 0.0)), dtype=np.float64)


def exact(weight: Weight, simplices: Floats, content: Floats, basis: Basis, degree: int) -> Floats:
    """Integrals of weight times basis, for polynomials of at most this degree together, (c,)."""
    rule = conical(simplices.shape[1] - 1, degree)
    found: Floats = _by_rule(weight, simplices, content, basis, rule)[:, 0].sum(axis=0)
    return found


def adaptive(
    weight: Weight, simplices: Floats, content: Floats, basis: Basis, sizes: Floats
) -> Integral:
    """Integrals of weight times basis, refined until the estimated error is small.

    `sizes` are the sizes of the basis functions: errors count relative to the integral of the
    first function, which is 1, times these. The estimate is what two rules of different degree
    differ by, times a safety factor: for smooth weights far too careful. No finite number of looks
    can exclude a spike between them.
    """
    k = simplices.shape[1] - 1
    values, errors = _estimates(weight, simplices, content, basis)
    if k == 0:
        return Integral(values.sum(axis=0), errors.sum(axis=0), True, simplices, content)
    goal = RELATIVE.get(k, LOOSEST)
    while True:
        total, error = values.sum(axis=0), errors.sum(axis=0)
        scale = abs(total[0]) * sizes
        share = (errors / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
        enough = share.sum() <= goal
        if enough or len(simplices) >= MAX_SIMPLICES:
            return Integral(total, error, bool(enough), simplices, content)
        worst = share > 0.25 * share.max()
        halves = halved(simplices[worst])
        half_content = np.tile(0.5 * content[worst], 2)
        more_values, more_errors = _estimates(weight, halves, half_content, basis)
        simplices = np.concatenate([simplices[~worst], halves])
        content = np.concatenate([content[~worst], half_content])
        values = np.concatenate([values[~worst], more_values])
        errors = np.concatenate([errors[~worst], more_errors])


def sum_again(weight: Weight, found: Integral, basis: Basis) -> Floats:
    """Integrals of other basis functions over the simplices that an integral ended with."""
    rule = _pair(found.simplices.shape[1] - 1)
    again: Floats = _by_rule(weight, found.simplices, found.content, basis, rule)[:, 0].sum(axis=0)
    return again


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


@lru_cache(maxsize=64)
def conical(k: int, degree: int) -> Rule:
    """A product rule over the k-simplex with positive weights, exact up to `degree`."""
    m = degree // 2 + 1
    nodes, weights = np.ones((1, 1)), np.ones(1)
    # One corner after another: what is left of 1 is shared between the next corner and the rest.
    for left in range(k, 0, -1):
        x, w = _jacobi(m, left - 1)
        rest = nodes[:, -1:]
        nodes = np.concatenate(
            [
                np.repeat(nodes[:, :-1], m, axis=0),
                (rest * x).reshape(-1, 1),
                (rest * (1.0 - x)).reshape(-1, 1),
            ],
            axis=1,
        )
        weights = (weights[:, None] * w).reshape(-1)
    return Rule(nodes, (weights / weights.sum())[:, None])


@lru_cache(maxsize=256)
def _jacobi(m: int, power: int) -> tuple[Floats, Floats]:
    """The m-point Gauss rule on [0, 1] for the weight (1 - x)**power, up to a factor."""
    from scipy.special import roots_jacobi

    x, w = roots_jacobi(m, power, 0.0)
    return 0.5 * (1.0 + x), w


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
                node = tuple((2 * b + 1) * _scale(k, s, i) for b in split)
                key = tuple(round(v * 2**40) for v in node)
                places.setdefault(key, [0.0, 0.0, 0.0, *node])[column] += weight
    table = np.array(list(places.values()))
    return Rule(table[:, 3:], table[:, :3])


def _scale(k: int, s: int, i: int) -> float:
    return 1.0 / (2 * s + 1 + k - 2 * i)


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write `total` as a sum of so many whole numbers from 0, in order."""
    if parts == 1:
        return [(total,)]
    return [(a, *rest) for a in range(total + 1) for rest in _splits(total - a, parts - 1)]


@lru_cache(maxsize=1)
def _gauss_and_lobatto() -> Rule:
    """On an interval: Gauss, and Lobatto, which sees what happens at the ends."""
    (x, w), (y, v) = rule("legendre", 12), rule("lobatto", 9)
    place = np.concatenate([x, y])
    weights = np.zeros((len(place), 2))
    weights[: len(x), 0], weights[len(x) :, 1] = w, v
    return Rule(np.column_stack([1.0 - place, place]), weights)


def _pair(k: int) -> Rule:
    """The rule that is used, and the one it is compared with."""
    if k == 0:
        return Rule(np.ones((1, 1)), np.ones((1, 2)))
    if k == 1:
        return _gauss_and_lobatto()
    return nested(k, STEPS.get(k, FEWEST_STEPS))


def _estimates(
    weight: Weight, simplices: Floats, content: Floats, basis: Basis
) -> tuple[Floats, Floats]:
    """(S, c) integrals and (S, c) bounds on their errors."""
    rule = _pair(simplices.shape[1] - 1)
    both = _by_rule(weight, simplices, content, basis, rule)
    # Negative weights let rounding grow with their sum.
    rounding = 1e-16 * np.abs(rule.weights[:, 0]).sum() * np.abs(both[:, 0])
    error = np.abs(both[:, 0] - both[:, 1])
    if both.shape[1] > 2:
        # Where each rule is better than the last, the next would be too: what two rules differ by
        # is the error of the lower one. Judged by the slowest of all functions, as one alone may
        # agree by chance.
        before = np.abs(both[:, 1] - both[:, 2])
        gain = (error / np.where(before > 0.0, before, np.inf)).max(axis=1, keepdims=True)
        error = error * np.clip(gain, LARGEST_GAIN, 1.0)
    return both[:, 0], SAFETY * error + rounding


def _by_rule(
    weight: Weight, simplices: Floats, content: Floats, basis: Basis, rule: Rule
) -> Floats:
    """(S, r, c) integrals by each column of weights."""
    k = simplices.shape[1] - 1
    parts = []
    step = max(1, AT_ONCE // len(rule.nodes))
    for lo in range(0, len(simplices), step):
        corners = simplices[lo : lo + step]
        z = np.einsum("pk,skn->spn", rule.nodes, corners).reshape(-1, corners.shape[2])
        values = weight(z)[:, None] * basis(z)
        values = values.reshape(len(corners), len(rule.nodes), -1)
        parts.append(np.einsum("pr,spc->src", rule.weights, values))
    volume = content / math.factorial(k)
    found: Floats = np.concatenate(parts) * volume[:, None, None]
    return found

"""Adaptive quadrature: pieces of a region are halved until the sum of estimated errors is small.

An estimate is the difference of two rules times a safety factor: for smooth functions far too
large. One of the two has nodes on the sides of a piece wherever that is affordable, and so meets a
jump that runs beside them. No finite number of nodes can exclude a spike between them: a density
with one is better given as a Gaussian.

Pieces are boxes that kernels fill with nodes, or simplices (S, k + 1, n), given by their corners: k
= n fills space, k = n - 1 lies in a facet. Rules over simplices have nodes in barycentric
coordinates. Products of one-dimensional rules have positive weights and, if these are Lobatto's,
nodes on the sides, but they need m**k nodes. Grundmann and Moeller's rules need few nodes and
contain each other, but some weights are negative, and all nodes lie inside: from four dimensions
on, a jump beside the sides of a simplex may escape them.
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
from dwell.density.base import Density

SAFETY = 8.0  # times the difference of two rules
ROUNDING = 1e-15  # of a value
AT_ONCE = 400_000  # places evaluated at a time
# Simplices, by dimension. Each further digit takes several times as long: from four dimensions on,
# digits are expensive.
RELATIVE = {0: 1e-13, 1: 1e-12, 2: 1e-11, 3: 1e-10}  # error that is aimed at
LOOSEST = 1e-6  # beyond
MOST = {1: 4_000, 2: 6_000, 3: 5_000}  # simplices, for product rules
MOST_SMOOTH = 20_000  # simplices
GAUSS = {1: 12, 2: 12, 3: 7}  # nodes each way of a product rule ...
LOBATTO = {1: 9, 2: 7, 3: 7}  # ... and of that which it is compared with
LARGEST_GAIN = 0.01  # a rule is not believed to be better than the last by more
STEPS = {2: 6, 3: 5, 4: 4}  # s of Grundmann-Moeller rules, exact to degree 2 s + 1
FEWEST_STEPS = 3
# Boxes, by dimension.
NODES = {2: 12, 3: 10}  # each way
COMPARED = 7  # nodes of the rule of Lobatto each way
IN_BOXES = {2: 1e-11, 3: 1e-9}  # error of the mass that is aimed at
MOST_BOXES = {2: 4_000, 3: 400}

Weight = Callable[[Points], Floats]  # (P, n) places in, (P,) weights out
Values = Callable[[Points], Floats]  # (P, n) places in, (P, c) functions out
Pieces = tuple[Floats, ...]  # arrays with a row for each piece


class Integral(NamedTuple):
    """Integrals of some functions, bounds on their errors, and the pieces they were taken over."""

    values: Floats  # (c,)
    errors: Floats  # (c,)
    pieces: Pieces


def integrate(
    pieces: Pieces,
    estimate: Callable[[Pieces], tuple[Floats, Floats]],
    halve: Callable[[Pieces], Pieces],
    sizes: Floats,
    goal: float,
    most: int,
) -> Integral:
    """Halve the worst pieces until all errors are below `goal` or there are `most` pieces.

    `estimate` returns (pieces, c) integrals and (pieces, e) bounds on errors, `halve` twice as many
    pieces. Errors count relative to the integral of the first function, a mass, times `sizes` (e,):
    those of first moments may vanish.
    """
    values, errors = estimate(pieces)
    while True:
        total = values.sum(axis=0)
        scale = np.abs(total[0]) * sizes
        share = (errors / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
        if share.sum() <= goal or len(values) >= most:
            return Integral(total, errors.sum(axis=0), pieces)
        worst = share > 0.25 * share.max()
        halves = halve(tuple(rows[worst] for rows in pieces))
        more, more_errors = estimate(halves)
        pieces = tuple(
            np.concatenate([rows[~worst], new]) for rows, new in zip(pieces, halves, strict=True)
        )
        values = np.concatenate([values[~worst], more])
        errors = np.concatenate([errors[~worst], more_errors])


def error_of(fine: Floats, other: Floats) -> Floats:
    """Bound on the errors of `fine`, integrals by one rule, given those by another."""
    found: Floats = SAFETY * np.abs(fine - other) + ROUNDING * np.abs(fine)
    return found


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
    return integrate(
        pieces,
        lambda pieces: _by_rules(values, pieces, rule),
        lambda pieces: (halved_simplices(pieces[0]), np.tile(0.5 * pieces[1], 2)),
        sizes,
        RELATIVE.get(n, LOOSEST),
        MOST_SMOOTH if rule.weights.shape[1] > 2 else MOST[n],
    )


def summed(values: Values, pieces: Pieces, rule: Rule) -> Floats:
    """Integrals of functions by one rule, (c,)."""
    found: Floats = by_rule(values, pieces, rule)[:, 0].sum(axis=0)
    return found


def halved_simplices(simplices: Floats) -> Floats:
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
            for chosen in itertools.combinations_with_replacement(range(k + 1), s - i):
                node = tuple((2 * chosen.count(c) + 1) / base for c in range(k + 1))
                key = tuple(round(v * 2**40) for v in node)
                places.setdefault(key, [0.0, 0.0, 0.0, *node])[column] += weight
    table = np.array(list(places.values()))
    return Rule(table[:, 3:], table[:, :3])


def rule_over(k: int, smooth: bool) -> Rule:
    """The rule for k-simplices, and those it is compared with.

    Functions that need not be smooth get nodes on the sides of simplices, below four dimensions.
    """
    if k in GAUSS and not smooth:
        return _gauss_and_lobatto(k)
    return nested(k, STEPS.get(k, FEWEST_STEPS))


def _by_rules(values: Values, pieces: Pieces, rule: Rule) -> tuple[Floats, Floats]:
    """(S, c) integrals and (S, c) bounds on their errors."""
    found = by_rule(values, pieces, rule)
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


def by_rule(values: Values, pieces: Pieces, rule: Rule) -> Floats:
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


class Boxes(NamedTuple):
    """The cones over the pieces of a cell's boundary, boxes in (t, s, r); and their nodes."""

    table: Floats  # rows (surface, piece, ranges of t, s and r)
    # (boxes, rule, count) -> (boxes, nodes, 4) rows (place from the agent, weight), by the rule in
    # a row of dwell._kernels.common.quadrature, with `count` nodes each way
    nodes: Callable[[Floats, int, int], Floats]


def moments_of_function(
    density: Density, place: Points, cell: Boxes
) -> tuple[float, Points, float, float]:
    """Moments of a density over the cell of an agent at `place`, by Gauss and Lobatto rules.

    Mass, centroid (3,) seen from the agent, second moment about it, bound on the mass's error.
    """
    n = len(place)
    found = integrate(
        (halved(cell, cell.table, n),),
        lambda pieces: _estimates(density, place, cell, pieces[0]),
        lambda pieces: (halved(cell, pieces[0], n),),
        np.ones(1),
        IN_BOXES[n],
        MOST_BOXES[n],
    )
    mass, error = float(found.values[0]), float(found.errors[0])
    if not mass > 0.0:
        return 0.0, np.zeros(3), 0.0, error
    middle = found.values[1:4] / mass
    spread = float(found.values[4] - mass * (middle @ middle))
    return mass, middle, max(0.0, spread), error


def _estimates(
    density: Density, place: Points, cell: Boxes, boxes: Floats
) -> tuple[Floats, Floats]:
    """(boxes, 5) mass, first moments and polar moment about the agent; errors of the masses."""
    from dwell._kernels.common.quadrature import LOBATTO

    n = len(place)
    fine = _sums(density, place, cell.nodes(boxes, NODES[n], NODES[n]))
    rough = _sums(density, place, cell.nodes(boxes, LOBATTO, COMPARED))
    return fine, error_of(fine[:, :1], rough[:, :1])


def _sums(density: Density, place: Points, nodes: Floats) -> Floats:
    z = nodes[:, :, :3]
    points = place + z[:, :, : len(place)].reshape(-1, len(place))
    w = nodes[:, :, 3] * density.at(points).reshape(z.shape[:2])
    first = (w[:, :, None] * z).sum(axis=1)
    polar = (w * (z * z).sum(axis=2)).sum(axis=1)
    return np.column_stack([w.sum(axis=1), first, polar])


def halved(cell: Boxes, boxes: Floats, n: int) -> Floats:
    """Each box as two, across the direction in which it is longest."""
    if not len(boxes):
        return boxes
    count = NODES[n]
    z = cell.nodes(boxes, count, count)[:, :, :3].reshape(len(boxes), *[count] * n, 3)
    spans = []
    for axis in range(1, n + 1):
        ends = np.take(z, -1, axis=axis) - np.take(z, 0, axis=axis)
        spans.append(np.sqrt((ends * ends).sum(axis=-1)).reshape(len(boxes), -1).max(axis=1))
    begins = np.array([*range(2, 2 * n - 1, 2), 6])  # columns: n - 1 directions across, and r
    columns = begins[np.argmax(spans, axis=0)]
    rows = np.arange(len(boxes))
    middle = 0.5 * (boxes[rows, columns] + boxes[rows, columns + 1])
    low, high = boxes.copy(), boxes.copy()
    low[rows, columns + 1] = middle
    high[rows, columns] = middle
    return np.concatenate([low, high])

"""Moments of a density over a cell from points of its boundary: see sheets.py.

By the divergence theorem the integral of f over a cell is that of the flux of y - a, times the
integral of f(a + r (y - a)) r**(n - 1) over r from 0 to 1, over its boundary, wherever the apex a.
For a constant and for monomials it is the agent. For a Gaussian it is its center: the integral is a
function of x = |C (y - a)|**2 alone. If the center lies well outside of the cell, that from 1 to
infinity is taken instead, with the other sign: so far tails keep all digits.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import (
    ZERO,
    along,
    dot,
    less,
    row_of,
    upper,
    upper_of,
)
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.common.quadrature import MESH
from dwell._kernels.space.moments import degree_of
from dwell._kernels.space.surface import inward, outward
from dwell._kernels.star.arrangement import SHIFT, value
from dwell._kernels.star.buffers import SUMS
from dwell._kernels.star.cones import WHOLE, add_cone, along_ray, halve
from dwell._kernels.star.sheets import KIND, ON_SHEET, SIGN, boundary_nodes, off_region

UNCHANGED = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)  # the identity, for sums in scaled coordinates
PLAIN = -1  # the constant and the monomials; others are Gaussian components
NODES_EACH_WAY = 8
OF_GAUSSIANS = 10
FEWER = 2  # nodes of the rule that the other one is compared with
EXACT = 1e-8  # of the mass: sum of all differences between the two rules that is good enough
IN_BALLS = 2e-6  # the same where curved boundaries of space cut sheets
PART = 0.02  # of that for one box
MOST_HALVED = 400  # boxes of a sector
FAR = 4.0  # x of a center from which on it is outside of a cell by far
BETWEEN = 0.6  # of the size of a box: its points are no farther from one of a few
FADED = 45.0  # fall of an exponent that leaves nothing
RISE = 4.0  # of an exponent over a box
PER_NODE, MOST_SPARED = 5.0, 5  # fall of an exponent for which a node less will do
SERIES = 14


@inner
def series(power, x):
    """Integral of r**power exp(-x r**2) from 0 to 1, for x < 1."""
    total = 0.0
    term = 1.0
    for k in range(SERIES):
        total += term / (2.0 * k + power + 1.0)
        term *= -x / (k + 1.0)
    return total


@inner
def along_component(x, base, planar, far):
    """Integrals of r**(n - 1), r**n, r**(n + 1) times exp(-x r**2), times exp(base).

    From 0 to 1, or, if far, from 1 to infinity with the other sign.
    """
    if not far:
        e = exponential(-x)
        second = inward(x)
        third = series(3, x) if x < 1.0 else 0.5 * (1.0 - (1.0 + x) * e) / (x * x)
        if planar:
            return series(1, x) if x < 1.0 else 0.5 * (1.0 - e) / x, second, third
        return second, third, series(4, x) if x < 1.0 else (1.5 * second - 0.5 * e) / x
    x = max(x, 0.5 * FAR)
    e = -exponential(base - x)
    if planar:
        return 0.5 * e / x, e * outward(x), 0.5 * e * (1.0 + x) / (x * x)
    d = outward(x)
    return e * d, 0.5 * e * (1.0 + x) / (x * x), e * (1.5 * d + 0.5) / x


@inner
def integrate_box(i, box, n, component, apex, base, planar, curved, p, terms, buffers, out):
    """Set `out` to the integrals over a box of sector i with n nodes each way."""
    dimension = 2 if planar else 3
    radial = degree_of(terms.powers) // 2 + 3
    node = buffers.node
    out[:] = 0.0
    for k in range(boundary_nodes(i, box, n, n, planar, curved, buffers, node)):
        d = less(row_of(node, k, 0), apex)
        flux = dot(d, row_of(node, k, 3))
        if component == PLAIN:
            j = along_ray(d, apex, dimension, radial, p, UNCHANGED, terms)
        else:
            v = upper(upper_of(terms.roots[component]), d)
            j = along_component(dot(v, v), base, planar, base > 0.0)
        add_cone(d, flux, j, out)


@inner
def measure_box(i, box, m, apex, planar, curved, buffers):
    """(column to halve, squared size, least x, largest x) of a box of sector i, by a few points."""
    node = buffers.node
    count = boundary_nodes(i, box, MESH, MESH, planar, curved, buffers, node)
    columns = 1 if planar else 3
    middle = row_of(node, count // 2, 0)
    size = around = across = most = 0.0
    least = np.inf
    for k in range(count):
        v = upper(m, less(row_of(node, k, 0), middle))
        size = max(size, dot(v, v))
        v = upper(m, less(row_of(node, k, 0), apex))
        least = min(least, dot(v, v))
        most = max(most, dot(v, v))
    for k in range(columns):
        v = upper(m, less(row_of(node, k, 0), row_of(node, k + 2 * columns, 0)))
        around = max(around, dot(v, v))
        if not planar:
            v = upper(m, less(row_of(node, 3 * k, 0), row_of(node, 3 * k + 2, 0)))
            across = max(across, dot(v, v))
    return 0 if around >= across else 2, size, least, most


@inner
def lower_bound(least, size):
    """x is nowhere less on a box with this squared size and least x at some points."""
    nearest = max(0.0, math.sqrt(least) - BETWEEN * math.sqrt(size))
    return nearest * nearest


@inner
def judge_box(i, box, component, apex, base, planar, curved, terms, buffers):
    """(column to halve, whether to, whether to leave out, nodes to spare) of a box of sector i."""
    m = upper_of(terms.roots[component])
    column, size, least, most = measure_box(i, box, m, apex, planar, curved, buffers)
    if base > 0.0:
        spare = min(MOST_SPARED, max(0, int((least - base) / PER_NODE)))
        return column, most - least > RISE, lower_bound(least, size) > base + FADED, spare
    return column, size > max(1.0, 0.25 * least), False, 0


@inner
def add_sector(i, allowed, component, apex, base, planar, curved, p, terms, buffers):
    """Add sector i to buffers.sums[0]; return the sum of differences between two rules.

    Boxes with differences above `allowed` are halved.
    """
    stack, sums = buffers.stack, buffers.sums
    n = OF_GAUSSIANS
    if component == PLAIN and buffers.sector[i, KIND] == ON_SHEET:
        n = NODES_EACH_WAY + degree_of(terms.powers) // 2
    for k in range(4):
        stack[0, k] = WHOLE[k]
    size = 1
    halved = 0
    error = 0.0
    while size > 0:
        box = (stack[size - 1, 0], stack[size - 1, 1], stack[size - 1, 2], stack[size - 1, 3])
        column, halves, empty, spare = -1, False, False, 0
        if component != PLAIN:
            column, halves, empty, spare = judge_box(
                i, box, component, apex, base, planar, curved, terms, buffers
            )
        if empty:
            size -= 1
            continue
        more = size < stack.shape[0]
        if not (halves and more):
            for k in range(2):
                integrate_box(
                    i, box, n - spare - FEWER * k, component, apex, base, planar, curved, p, terms,
                    buffers, sums[1 + k],
                )  # fmt: skip
            off = abs(sums[1, 0] - sums[2, 0])
            if not (off > allowed and more and halved < MOST_HALVED):
                for k in range(SUMS):
                    sums[0, k] += sums[1, k]
                error += off
                size -= 1
                continue
            halved += 1
            if component == PLAIN:
                column = measure_box(i, box, UNCHANGED, apex, planar, curved, buffers)[0]
        halve(size, column, stack)
        size += 1
    return error


@inner
def add_component(sectors, component, apex, base, planar, curved, p, terms, buffers):
    """Set buffers.sums[0] to one component over all sectors; return the error of the mass.

    A second time with smaller boxes where the first was not exact enough.
    """
    exact = IN_BALLS if curved and not planar else EXACT
    sums = buffers.sums[0]
    allowed = np.inf
    error = 0.0
    for _ in range(2):
        sums[:] = 0.0
        error = 0.0
        for i in range(sectors):
            if buffers.sector[i, SIGN] != 0.0:
                error += add_sector(
                    i, allowed, component, apex, base, planar, curved, p, terms, buffers
                )
        if error <= exact * abs(sums[0]):
            break
        allowed = exact * PART * abs(sums[0])
    return error


@inner
def is_inside(y, count, curved, buffers):
    """Whether a point lies in the cell."""
    r = math.sqrt(dot(y, y))
    for k in range(count):
        if value(k, y, buffers.gauge) + buffers.gauge[k, SHIFT] * (r - 1.0) > 1.0:
            return False
    return not curved or off_region(y, buffers.region) <= 0.0


@inner
def base_of(component, apex, count, sectors, planar, curved, terms, buffers):
    """The least x of a component, nearly, on the boundary of a cell it is far outside of; else 0.

    Sectors are halved until x is above half of FAR for sure.
    """
    if is_inside(apex, count, curved, buffers):
        return 0.0
    m = upper_of(terms.roots[component])
    stack = buffers.stack
    best = np.inf
    for i in range(sectors):
        if buffers.sector[i, SIGN] == 0.0:
            continue
        for k in range(4):
            stack[0, k] = WHOLE[k]
        n = 1
        while n > 0:
            box = (stack[n - 1, 0], stack[n - 1, 1], stack[n - 1, 2], stack[n - 1, 3])
            column, size, least, _ = measure_box(i, box, m, apex, planar, curved, buffers)
            best = min(best, least)
            if best <= FAR:
                return 0.0
            if lower_bound(least, size) < 0.5 * FAR and n < stack.shape[0]:
                halve(n, column, stack)
                n += 1
            else:
                n -= 1
    return best


@inner
def boundary_moments(plain, count, sectors, planar, curved, p, terms, buffers):
    """(drop, mass, first moments, polar moment, error of the mass) about the agent.

    All but the first times exp(drop). With `plain` false, without the constant and the monomials.
    """
    sums = buffers.sums[0]
    mass = polar = error = 0.0
    first = ZERO
    has_plain = terms.constant > 0.0 or terms.coefficients.shape[0] > 0
    components = terms.weights.shape[0]
    drop = 0.0 if has_plain or components == 0 else np.inf
    for g in range(components):
        a = less(row_of(terms.centers, g, 0), p)
        buffers.base[g] = base_of(g, a, count, sectors, planar, curved, terms, buffers)
        drop = min(drop, buffers.base[g])
    for g in range(PLAIN if plain and has_plain else 0, components):
        a, base, w = ZERO, 0.0, 1.0
        if g != PLAIN:
            a, base, w = less(row_of(terms.centers, g, 0), p), buffers.base[g], terms.weights[g]
        if base > drop + 700.0:
            continue
        off = add_component(sectors, g, a, base, planar, curved, p, terms, buffers)
        w *= exponential(drop - base)
        m, d = sums[0], (sums[1], sums[2], sums[3])
        mass += w * m
        first = along(first, w, along(d, m, a))
        polar += w * (sums[4] + sums[7] + sums[9] + 2.0 * dot(a, d) + dot(a, a) * m)
        error += w * off
    return drop, mass, first, polar, error

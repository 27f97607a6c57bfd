"""Moments of a constant and of monomials over a cell, or over one of its facets.

Cells are the cones from an apex over their facets and their patch of the sphere, facets the cones
from an apex over their pieces. Along the rays of a cone the integral of a constant is known.
"""

from dwell._kernels._jit import inner
from dwell._kernels.space.moments import degree_of, power
from dwell._kernels.star.buffers import ANGLE, FAN, FIRST, LAST, NORMAL
from dwell._kernels.star.rules import NODES, WEIGHTS
from dwell._kernels.star.surface import surface_nodes, turn_at
from dwell._kernels.star.vectors import along, dot, row_of, upper

# What is summed over a cell: mass, first moments, second moment in z (all about an apex), and the
# sum of what counts positively and negatively, without signs.
MASS, FIRST_MOMENT, SECOND, WEIGHED, CELL_SUMS = 0, 1, 4, 5, 6
# Over a facet: 1, x, y, z, xx, xy, xz, yy, yz, zz about an apex.
FACET_SUMS = 10
WHOLE = (0.0, 1.0, 0.0, 1.0)  # all of a sector
ON_EDGE = 10  # nodes on an arc of a planar region; of polynomials more, by their degree
ON_ARC = 12  # nodes on an arc in space
ON_PATCH = 13  # nodes from the pole of a patch to its boundary


@inner
def monomials_at(x, y, z, terms):
    """The monomials of a density at a place."""
    value = 0.0
    for i in range(terms.coefficients.shape[0]):
        f = terms.coefficients[i] * power(x - terms.origins[i, 0], terms.powers[i, 0])
        f *= power(y - terms.origins[i, 1], terms.powers[i, 1])
        value += f * power(z - terms.origins[i, 2], terms.powers[i, 2])
    return value


@inner
def along_ray(d, apex, dimension, radial, place, inverse, terms):
    """Integrals of the density times r**(n - 1), r**n, r**(n + 1) from `apex` to apex + d."""
    level = terms.constant
    j0 = level / dimension
    j1 = level / (dimension + 1.0)
    j2 = level / (dimension + 2.0)
    if terms.coefficients.shape[0] > 0:
        for k in range(radial):
            r = NODES[radial, k]
            z = upper(inverse, along(apex, r, d))
            value = monomials_at(place[0] + z[0], place[1] + z[1], place[2] + z[2], terms)
            value *= WEIGHTS[radial, k] * (r if dimension == 2 else r * r)
            j0 += value
            j1 += value * r
            j2 += value * r * r
    return j0, j1, j2


@inner
def add_cone(d, f, j, inverse, out):
    """Add a cone to the sums over a cell: d from the apex, f the flux, j integrals along d."""
    z = upper(inverse, d)
    out[MASS] += f * j[0]
    out[WEIGHED] += abs(f * j[0])
    out[FIRST_MOMENT] += f * j[1] * d[0]
    out[FIRST_MOMENT + 1] += f * j[1] * d[1]
    out[FIRST_MOMENT + 2] += f * j[1] * d[2]
    out[SECOND] += f * j[2] * dot(z, z)


@inner
def add_flat_cone(d, f, j, out):
    """Add a cone to the sums over a facet."""
    out[0] += f * j[0]
    out[1] += f * j[1] * d[0]
    out[2] += f * j[1] * d[1]
    out[3] += f * j[1] * d[2]
    f *= j[2]
    out[4] += f * d[0] * d[0]
    out[5] += f * d[0] * d[1]
    out[6] += f * d[0] * d[2]
    out[7] += f * d[1] * d[1]
    out[8] += f * d[1] * d[2]
    out[9] += f * d[2] * d[2]


@inner
def plain_over_facet(f, fewer, place, inverse, terms, facet, piece, out):
    """Add the constant and the monomials over facet f, about the apex of its fan, to `out`.

    Return the mass of the sectors of arcs. With `fewer` nodes on arcs, only these are added.
    Lengths are those of v.
    """
    degree = degree_of(terms.powers)
    normal = row_of(facet, f, NORMAL)
    o = row_of(facet, f, FAN)
    curved = 0.0
    for i in range(int(facet[f, FIRST]), int(facet[f, LAST])):
        arc = piece[i, ANGLE] > 0.0
        if fewer > 0 and not arc:
            continue
        n = ON_EDGE + degree // 2 - fewer if arc else degree // 2 + 2
        before = out[0]
        for k in range(n):
            c, turn = turn_at(i, NODES[n, k], o, normal, piece)
            j = along_ray(c, o, 2, degree // 2 + 2, place, inverse, terms)
            add_flat_cone(c, WEIGHTS[n, k] * turn, j, out)
        if arc:
            curved += out[0] - before
    return curved


@inner
def plain_over_surface(
    more, arcs_only, first, last, surface, apex, place, inverse, terms, piece, node, out
):  # fmt: skip
    """Add the cones from `apex` over the sectors of pieces first to last - 1 to `out`.

    Return the mass of those of arcs; others are added unless `arcs_only`. With `more` nodes each
    way on them than usual.
    """
    degree = degree_of(terms.powers)
    ns = ON_PATCH + degree // 2 + more if surface[0] else degree // 2 + 2
    curved = 0.0
    for i in range(first, last):
        arc = piece[i, ANGLE] > 0.0
        if not arc and (surface[0] or arcs_only):
            continue
        nt = ON_ARC + degree // 2 + more if arc else degree // 2 + 2
        before = out[MASS]
        for k in range(surface_nodes(i, WHOLE, nt, ns, surface, apex, piece, node)):
            d = row_of(node, k, 0)
            j = along_ray(d, apex, 3, degree // 2 + 3, place, inverse, terms)
            add_cone(d, node[k, 3], j, inverse, out)
        if arc:
            curved += out[MASS] - before
    return curved


@inner
def add_shifted(factor, o, sums, out):
    """Add `factor` times the sums about o to `out`, about the origin."""
    m = factor * sums[0]
    x = factor * sums[1]
    y = factor * sums[2]
    z = factor * sums[3]
    out[0] += m
    out[1] += x + m * o[0]
    out[2] += y + m * o[1]
    out[3] += z + m * o[2]
    out[4] += factor * sums[4] + 2.0 * x * o[0] + m * o[0] * o[0]
    out[5] += factor * sums[5] + x * o[1] + y * o[0] + m * o[0] * o[1]
    out[6] += factor * sums[6] + x * o[2] + z * o[0] + m * o[0] * o[2]
    out[7] += factor * sums[7] + 2.0 * y * o[1] + m * o[1] * o[1]
    out[8] += factor * sums[8] + y * o[2] + z * o[1] + m * o[1] * o[2]
    out[9] += factor * sums[9] + 2.0 * z * o[2] + m * o[2] * o[2]

"""Integrals over the faces between cells, from which derivatives of centroids follow.

In the frame of the agent, and divided by the same exp(log_scale) as the cell's mass.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger
from dwell._kernels.space.careful import sharp_area
from dwell._kernels.space.gaussian import exponent_on_triangle, gaussian_triangle
from dwell._kernels.space.moments import center_of, degree_of, form_of, plain_at
from dwell._kernels.space.rules import FLAT_A, FLAT_B, FLAT_FIRST, FLAT_POINTS, FLAT_W
from dwell._kernels.star.vectors import less

MOMENTS = 10  # 1, x, y, z, xx, xy, xz, yy, yz, zz


@inner
def add_plain_triangle(a, b, c, k, x0, y0, z0, terms, out):
    """Add the constant and the monomials over the triangle of three corners, k twice its area."""
    n = (degree_of(terms.powers) + 4) // 2
    first = FLAT_FIRST[n]
    u = less(b, a)
    v = less(c, a)
    for i in range(first, first + FLAT_POINTS[n]):
        x = a[0] + FLAT_A[i] * u[0] + FLAT_B[i] * v[0]
        y = a[1] + FLAT_A[i] * u[1] + FLAT_B[i] * v[1]
        z = a[2] + FLAT_A[i] * u[2] + FLAT_B[i] * v[2]
        f = k * FLAT_W[i] * plain_at(x0 + x, y0 + y, z0 + z, terms)
        out[0] += f
        out[1] += f * x
        out[2] += f * y
        out[3] += f * z
        out[4] += f * x * x
        out[5] += f * x * y
        out[6] += f * x * z
        out[7] += f * y * y
        out[8] += f * y * z
        out[9] += f * z * z


@inner
def corners_of(t, corner, x, y, z):
    """The corners of triangle t."""
    i = corner[t, 0]
    j = corner[t, 1]
    k = corner[t, 2]
    return (x[i], y[i], z[i]), (x[j], y[j], z[j]), (x[k], y[k], z[k])


@inner
def top_on(first, last, center, q, corner, x, y, z):
    """Largest exponent of a Gaussian over triangles first to last - 1."""
    top = -np.inf
    for t in range(first, last):
        a, b, c = corners_of(t, corner, x, y, z)
        e, _ = exponent_on_triangle(q, less(a, center), less(b, center), less(c, center))
        top = larger(top, e)
    return top


@inner
def integrate_facet(
    first, last, x0, y0, z0, terms, log_scale, corner, x, y, z, low, area, node, pending, out
):
    """Add the moments over triangles first to last - 1 to `out`."""
    for t in range(first, last):
        area[t] = sharp_area(t, corner, x, y, z, low)
    if terms.constant != 0.0 or terms.coefficients.shape[0] > 0:
        factor = exponential(-log_scale)
        for t in range(first, last):
            a, b, c = corners_of(t, corner, x, y, z)
            add_plain_triangle(a, b, c, factor * area[t], x0, y0, z0, terms, out)
    for g in range(terms.weights.shape[0]):
        center = center_of(terms.centers, g, x0, y0, z0)
        q = form_of(terms.forms, g)
        top = top_on(first, last, center, q, corner, x, y, z)
        for t in range(first, last):
            a, b, c = corners_of(t, corner, x, y, z)
            gaussian_triangle(
                center, q, a, less(b, a), less(c, a), terms.weights[g] * area[t], log_scale, top,
                node, pending, out,
            )  # fmt: skip

"""A density along one ray from the agent: integrals of r**2, r**3 and r**4 times it.

In the plane (planar) of r, r**2 and r**3.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.quadrature import NODES, WEIGHTS

ALONG = 8  # nodes of the rule along a ray
STEP = 1.6  # of a ray, in widths of a Gaussian, for one such rule
FALL = 4.0  # e-folds of a ray for one such rule
TRIMMED = 52.0  # e-folds beyond which the rest of a ray has less than 1e-22 of it
LOWEST_DEGREE = 10  # of a polynomial for which a second rule is taken
FADED = 45.0  # e-folds below the largest value that do not count


@inner
def monomials_at(x, y, z, terms):
    """All monomials at a place."""
    total = 0.0
    for m in range(terms.coefficients.shape[0]):
        v = terms.coefficients[m]
        a = x - terms.origins[m, 0]
        b = y - terms.origins[m, 1]
        c = z - terms.origins[m, 2]
        for _ in range(terms.powers[m, 0]):
            v *= a
        for _ in range(terms.powers[m, 1]):
            v *= b
        for _ in range(terms.powers[m, 2]):
            v *= c
        total += v
    return total


@inner
def hill_on_ray(ux, uy, uz, g, p, terms):
    """Gaussian g along a ray, exp(-|w + r v|**2): v and w."""
    c = terms.roots[g]
    ox = p[0] - terms.centers[g, 0]
    oy = p[1] - terms.centers[g, 1]
    oz = p[2] - terms.centers[g, 2]
    return (
        c[0, 0] * ux + c[0, 1] * uy + c[0, 2] * uz,
        c[1, 1] * uy + c[1, 2] * uz,
        c[2, 2] * uz,
        c[0, 0] * ox + c[0, 1] * oy + c[0, 2] * oz,
        c[1, 1] * oy + c[1, 2] * oz,
        c[2, 2] * oz,
    )


@inner
def top_on_ray(hill, rho):
    """Where a Gaussian is largest on a ray: (r, e-folds below its top there, |v|**2).

    Beyond the ray's ends r is where it would be largest on the whole line.
    """
    vx, vy, vz, wx, wy, wz = hill
    v2 = vx * vx + vy * vy + vz * vz
    middle = -(vx * wx + vy * wy + vz * wz) / v2
    r = smaller(larger(middle, 0.0), rho)
    x = wx + r * vx
    y = wy + r * vy
    z = wz + r * vz
    return middle, x * x + y * y + z * z, v2


@inner
def part_of_ray(middle, v2, rho):
    """What of a ray counts for a Gaussian, and in how many pieces: (begin, length, pieces)."""
    beyond = larger(-middle, middle - rho)
    beyond = larger(beyond, 0.0)
    reach = math.sqrt(beyond * beyond + TRIMMED / v2)
    begin = larger(0.0, middle - reach)
    end = smaller(rho, middle + reach)
    far = larger(abs(begin - middle), abs(end - middle))
    fall = v2 * (far - beyond) * (far + beyond)
    length = end - begin
    return begin, length, 1 + int(larger(length * math.sqrt(v2) / STEP, fall / FALL))


@inner
def hill_along(hill, weight, rho, drop, planar):
    """Integrals of r**2, r**3 and r**4 times a Gaussian along a ray, times exp(drop)."""
    vx, vy, vz, wx, wy, wz = hill
    middle, least, v2 = top_on_ray(hill, rho)
    a2 = a3 = a4 = 0.0
    if least - drop > 2.0 * FADED:
        return a2, a3, a4, least
    begin, length, steps = part_of_ray(middle, v2, rho)
    width = length / steps
    for s in range(steps):
        for k in range(ALONG):
            r = begin + (s + NODES[ALONG, k]) * width
            x = wx + r * vx
            y = wy + r * vy
            z = wz + r * vz
            f = WEIGHTS[ALONG, k] * exponential(drop - (x * x + y * y + z * z)) * r
            if not planar:
                f *= r
            a2 += f
            a3 += f * r
            a4 += f * r * r
    return weight * width * a2, weight * width * a3, weight * width * a4, least


@inner
def monomials_along(ux, uy, uz, rho, p, terms, planar):
    """The same for all monomials."""
    degree = 0
    for m in range(terms.powers.shape[0]):
        degree = max(degree, terms.powers[m, 0] + terms.powers[m, 1] + terms.powers[m, 2])
    steps = 1 + degree // LOWEST_DEGREE
    width = rho / steps
    a2 = a3 = a4 = 0.0
    for s in range(steps):
        for k in range(ALONG):
            r = (s + NODES[ALONG, k]) * width
            f = monomials_at(p[0] + r * ux, p[1] + r * uy, p[2] + r * uz, terms)
            f *= WEIGHTS[ALONG, k] * r if planar else WEIGHTS[ALONG, k] * r * r
            a2 += f
            a3 += f * r
            a4 += f * r * r
    return width * a2, width * a3, width * a4


@inner
def along_ray(ux, uy, uz, rho, p, drop, terms, planar):
    """Integrals of r**2, r**3 and r**4 times the density's varying part, times exp(drop).

    Gives (the three, least e-folds below the top of a Gaussian on the ray).
    """
    a2 = a3 = a4 = 0.0
    if terms.coefficients.shape[0] > 0:
        a2, a3, a4 = monomials_along(ux, uy, uz, rho, p, terms, planar)
    least = np.inf
    for g in range(terms.weights.shape[0]):
        hill = hill_on_ray(ux, uy, uz, g, p, terms)
        b2, b3, b4, near = hill_along(hill, terms.weights[g], rho, drop, planar)
        a2 += b2
        a3 += b3
        a4 += b4
        least = smaller(least, near)
    return a2, a3, a4, least

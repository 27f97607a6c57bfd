"""Moments of several densities over one region, added up without cancellation."""

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.star.vectors import along, dot, less, times_upper, upper

NO_MASS = -2  # status: the cell is empty or has no mass
# Columns of a measurement; ERROR takes three.
STATUS, ERROR, LOG_SCALE, MASS, SPREAD, NEIGHBORS, NEAREST, DOUBT = 0, 1, 4, 5, 6, 7, 8, 9
COLUMNS = 10
TRUNCATION = 1e-13  # of a Gaussian component: what lies beyond DEPTH along the rays
ROUNDING = 4e-16  # of all terms of a sum, without signs
SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
NOTHING = (0.0, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0, 1.0)


@inner
def part_of(log_scale, weight, sums, apex, inverse, error):
    """Sums about an apex as (log_scale, mass, centroid, spread, error of the mass, amplification).

    `spread` is the second moment about the centroid.
    """
    mass = sums[0]
    if not mass > 0.0:
        return 0.0, 0.0, (0.0, 0.0, 0.0), 0.0, weight * error, 1.0
    e = (sums[1] / mass, sums[2] / mass, sums[3] / mass)
    z = upper(inverse, e)
    spread = max(0.0, sums[4] - mass * dot(z, z))
    grown = sums[5] / mass
    return log_scale, weight * mass, along(apex, 1.0, e), weight * spread, weight * error, grown


@inner
def joined(a, b, inverse):
    """Two such parts as one."""
    if not b[1] > 0.0:
        return a
    if not a[1] > 0.0:
        return b
    if a[0] < b[0]:
        a, b = b, a
    share = exponential(b[0] - a[0])
    more = share * b[1]
    mass = a[1] + more
    gap = less(b[2], a[2])
    z = upper(inverse, gap)
    spread = a[3] + share * b[3] + a[1] * (more / mass) * dot(z, z)
    grown = (a[5] * a[1] + b[5] * more) / mass
    return a[0], mass, along(a[2], more / mass, gap), spread, a[4] + share * b[4], grown


@inner
def unscaled(part):
    """The part with log_scale 0, where doubles can hold it."""
    scale = part[0]
    if scale == 0.0 or scale < SAFE_EXPONENT:
        return part
    u = exponential(scale)
    return 0.0, u * part[1], part[2], u * part[3], u * part[4], part[5]


@inner
def exponent_frame(t, place, inverse, terms):
    """(M, b) of Gaussian component t: it is exp(-|M v + b|**2)."""
    r = terms.roots
    c = (r[t, 0, 0], r[t, 0, 1], r[t, 0, 2], r[t, 1, 1], r[t, 1, 2], r[t, 2, 2])
    gap = (
        place[0] - terms.centers[t, 0],
        place[1] - terms.centers[t, 1],
        place[2] - terms.centers[t, 2],
    )
    return times_upper(c, inverse), upper(c, gap)


@inner
def is_plain(terms):
    """Whether a density has a constant or monomials."""
    return terms.constant != 0.0 or terms.coefficients.shape[0] > 0


@inner
def put_total(status, neighbors, nearest, total, volume, inverse, terms, out):
    """Write a measurement, by the columns above.

    ERROR is centroid minus position, SPREAD the second moment about the centroid, NEAREST a squared
    distance, -1 without others; mass and spread come divided by exp(LOG_SCALE). `volume`: of the
    parallelepiped of which W makes a unit cube.
    """
    out[:] = 0.0
    out[STATUS] = status
    out[NEIGHBORS] = neighbors
    out[NEAREST] = nearest
    scale, mass, centroid, spread, error, grown = total
    if status != 0:
        return
    if not mass * volume > 0.0:
        out[STATUS] = NO_MASS
        return
    e = upper(inverse, centroid)
    out[ERROR] = e[0]
    out[ERROR + 1] = e[1]
    out[ERROR + 2] = e[2]
    out[LOG_SCALE] = scale
    out[MASS] = mass * volume
    out[SPREAD] = spread * volume
    out[DOUBT] = error / mass + ROUNDING * grown
    if terms.weights.shape[0] > 0:
        out[DOUBT] += TRUNCATION

"""Where on a face narrow hills matter, so that no rule steps over them: see facets.py.

On the line t = const of a face a hill is largest at exp(-depth(t)), depth(t) the least of its
exponent along that line. The face is convex and so is the exponent; hence `depth` is convex, too,
and its least value is found by sections, also where the hill's middle lies outside the face.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.curved.facet_lines import line_at

GOLDEN = 0.6180339887498949
SECTIONS = 60  # of the golden section: to 3e-13 of the face
EDGE = 1e-6  # share of the face at its ends, where its lines may be shorter than rounding
WIDE = 9.0  # hills that fall by less than e**-9 towards both ends need no breaks
GONE = 64.0  # what is e**-64 below the largest value does not count
HILL_BREAKS = 7  # round each narrow hill
SHRINK = 0.8  # leaves at least 0.64 of that


@inner
def hill_in_face(hill, foot, e, f, place, general):
    """A hill's exponent on a face is |g + s u + t v|**2: (g, u, v)."""
    c = general.roots[hill]
    x = (place[0] - general.centers[hill, 0]) + foot[0]
    y = (place[1] - general.centers[hill, 1]) + foot[1]
    z = (place[2] - general.centers[hill, 2]) + foot[2]
    return whitened(c, x, y, z), whitened(c, e[0], e[1], e[2]), whitened(c, f[0], f[1], f[2])


@inner
def whitened(root, x, y, z):
    """C (x, y, z), C upper triangular."""
    return (
        root[0, 0] * x + root[0, 1] * y + root[0, 2] * z,
        root[1, 1] * y + root[1, 2] * z,
        root[2, 2] * z,
    )


@inner
def depth_on(t, low, high, shape):
    """The least exponent on the line t = const from s = low to s = high."""
    g, u, v = shape
    x = g[0] + t * v[0]
    y = g[1] + t * v[1]
    z = g[2] + t * v[2]
    square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    s = -(u[0] * x + u[1] * y + u[2] * z) / square if square > 0.0 else low
    s = smaller(high, larger(low, s))
    x += s * u[0]
    y += s * u[1]
    z += s * u[2]
    return x * x + y * y + z * z


@inner
def depth_at(t, count, lines, a, b, c, shape):
    """A hill's least exponent on the line t = const of the face."""
    found, low, high = line_at(t, count, lines, a, b, c)
    return depth_on(t, low, high, shape) if found else np.inf


@inner
def deepest_at(low, high, count, lines, a, b, c, shape):
    """(t, depth) where a hill is largest on the face, by golden section."""
    one = high - GOLDEN * (high - low)
    two = low + GOLDEN * (high - low)
    first = depth_at(one, count, lines, a, b, c, shape)
    second = depth_at(two, count, lines, a, b, c, shape)
    for _ in range(SECTIONS):
        if first <= second:
            high, two, second = two, one, first
            one = high - GOLDEN * (high - low)
            first = depth_at(one, count, lines, a, b, c, shape)
        else:
            low, one, first = one, two, second
            two = low + GOLDEN * (high - low)
            second = depth_at(two, count, lines, a, b, c, shape)
    return (one, first) if first <= second else (two, second)


@inner
def hill_breaks(ends, foot, e, f, count, lines, a, b, c, place, general, breaks):
    """Values of t round each narrow hill, too; gives how many breaks there are now."""
    begin = breaks[0]
    end = breaks[ends - 1]
    low = begin + EDGE * (end - begin)
    high = end - EDGE * (end - begin)
    n = ends
    for hill in range(general.weights.shape[0]):
        shape = hill_in_face(hill, foot, e, f, place, general)
        middle, least = deepest_at(low, high, count, lines, a, b, c, shape)
        falls = larger(
            depth_at(low, count, lines, a, b, c, shape),
            depth_at(high, count, lines, a, b, c, shape),
        )
        if not (falls - least > WIDE and falls < np.inf and n + HILL_BREAKS <= breaks.shape[0]):
            continue
        breaks[n] = middle
        n += 1
        for side in (low, high):
            step = side - middle
            while depth_at(middle + step, count, lines, a, b, c, shape) - least > GONE:
                step *= SHRINK
            for share in (0.2, 0.5, 1.0):
                breaks[n] = middle + share * step
                n += 1
    breaks[:n].sort()
    return n

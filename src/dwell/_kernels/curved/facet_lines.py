"""The flat faces of cells in an ellipsoid of space, line by line.

With coordinates (s, t) in the plane of a face, u = foot + s e + t f, it is a convex polygon cut by
an ellipse. `lines` are rows (alpha, beta, gamma): alpha s + beta t <= gamma. `disc` = (a, b, c),
nine numbers: the ellipse is |s a + t b + c| <= 1.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller

LENIENT = 1e-9  # of the ellipse's size


@inner
def frame_of(nx, ny, nz):
    """Two unit vectors that stand upright on a unit vector and on each other."""
    if abs(nx) <= abs(ny) and abs(nx) <= abs(nz):
        ex, ey, ez = 0.0, nz, -ny
    elif abs(ny) <= abs(nz):
        ex, ey, ez = -nz, 0.0, nx
    else:
        ex, ey, ez = ny, -nx, 0.0
    size = math.sqrt(ex * ex + ey * ey + ez * ez)
    ex /= size
    ey /= size
    ez /= size
    return (ex, ey, ez), (ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex)


@inner
def dot(a, b):
    """Product of two vectors of space."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def to_ball(u, w):
    """W u."""
    w11, w12, w13, w22, w23, w33 = w
    return w11 * u[0] + w12 * u[1] + w13 * u[2], w22 * u[1] + w23 * u[2], w33 * u[2]


@inner
def lines_in(i, m, planes, foot, e, f, lines):
    """The other planes as lines in plane i; gives how many, or -1 where one leaves nothing."""
    count = 0
    for k in range(m):
        if k == i:
            continue
        n = (planes[k, 0], planes[k, 1], planes[k, 2])
        alpha = dot(n, e)
        beta = dot(n, f)
        gamma = planes[k, 3] - dot(n, foot)
        size = math.sqrt(alpha * alpha + beta * beta)
        if not size > 0.0:
            if gamma < 0.0:
                return -1
            continue
        lines[count, 0] = alpha / size
        lines[count, 1] = beta / size
        lines[count, 2] = gamma / size
        count += 1
    return count


@inner
def in_lines(s, t, slack, count, lines):
    """Whether (s, t) satisfies all lines, up to `slack`."""
    for k in range(count):
        if lines[k, 0] * s + lines[k, 1] * t - lines[k, 2] > slack:
            return False
    return True


@inner
def roots(a, b, c):
    """Both solutions of a x**2 + 2 b x + c = 0: (found, lesser, greater), a > 0."""
    square = b * b - a * c
    if not square > 0.0:
        return False, 0.0, 0.0
    root = math.sqrt(square)
    if b > 0.0:
        q = -(b + root)
        return True, q / a, c / q
    q = root - b
    return True, (c / q if q > 0.0 else 0.0), q / a


@inner
def breaks_of(count, lines, a, b, c, breaks):
    """Values of t at corners of the face, and where its ellipse turns; gives how many."""
    aa = dot(a, a)
    bb = dot(b, b)
    ab = dot(a, b)
    ac = dot(a, c)
    bc = dot(b, c)
    cc = dot(c, c) - 1.0
    slack = LENIENT * (1.0 / math.sqrt(aa) + 1.0 / math.sqrt(bb))
    n = 0
    found, low, high = roots(aa * bb - ab * ab, aa * bc - ab * ac, aa * cc - ac * ac)
    if not found:
        return 0
    for t in (low, high):
        if in_lines(-(ac + t * ab) / aa, t, slack, count, lines):
            breaks[n] = t
            n += 1
    for k in range(count):
        alpha, beta, gamma = lines[k, 0], lines[k, 1], lines[k, 2]
        # Along the line: (s, t) = gamma (alpha, beta) + r (-beta, alpha).
        s0 = gamma * alpha
        t0 = gamma * beta
        d = (alpha * b[0] - beta * a[0], alpha * b[1] - beta * a[1], alpha * b[2] - beta * a[2])
        h = (
            s0 * a[0] + t0 * b[0] + c[0],
            s0 * a[1] + t0 * b[1] + c[1],
            s0 * a[2] + t0 * b[2] + c[2],
        )
        found, low, high = roots(dot(d, d), dot(d, h), dot(h, h) - 1.0)
        if found:
            for r in (low, high):
                inside = in_lines(s0 - r * beta, t0 + r * alpha, slack, count, lines)
                if inside and n < breaks.shape[0]:
                    breaks[n] = t0 + r * alpha
                    n += 1
        for j in range(k):
            det = alpha * lines[j, 1] - beta * lines[j, 0]
            if det != 0.0:
                s = (gamma * lines[j, 1] - beta * lines[j, 2]) / det
                t = (alpha * lines[j, 2] - gamma * lines[j, 0]) / det
                if n < breaks.shape[0] and in_lines(s, t, slack, count, lines):
                    h = (
                        s * a[0] + t * b[0] + c[0],
                        s * a[1] + t * b[1] + c[1],
                        s * a[2] + t * b[2] + c[2],
                    )
                    if dot(h, h) <= 1.0 + LENIENT:
                        breaks[n] = t
                        n += 1
    breaks[:n].sort()
    return n


@inner
def line_at(t, count, lines, a, b, c):
    """The part of the line t = const in the face: (found, from s, to s)."""
    h = (c[0] + t * b[0], c[1] + t * b[1], c[2] + t * b[2])
    found, low, high = roots(dot(a, a), dot(a, h), dot(h, h) - 1.0)
    if not found:
        return False, 0.0, 0.0
    for k in range(count):
        alpha = lines[k, 0]
        rest = lines[k, 2] - lines[k, 1] * t
        if alpha > 0.0:
            high = smaller(high, rest / alpha)
        elif alpha < 0.0:
            low = larger(low, rest / alpha)
        elif rest < 0.0:
            return False, 0.0, 0.0
    return low < high, low, high

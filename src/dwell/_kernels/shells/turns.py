"""Integrals over a cell along one circle of directions: see rim.py.

Between two places of change everything is smooth. Each piece is integrated by the rule of Gauss and
Kronrod with 7 and 15 nodes, and halved until the two agree. The angle is that of
cos = (1 - w**2) / (1 + w**2), sin = 2 w / (1 + w**2), so that no sine is asked of any library.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.shells.panels import middle
from dwell._kernels.shells.rays import along_ray
from dwell._kernels.shells.rim import (
    changes_round,
    demand_at,
    drop_faint,
    ends_of,
    lay_circle,
    long_gaps,
    name_owners,
    put_spot,
)

_X = (
    0.991455371120812639206854697526329,
    0.949107912342758524526189684047851,
    0.864864423359769072789712788640926,
    0.741531185599394439863864773280788,
    0.586087235467691130294144691693013,
    0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
)
_KRONROD = (
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
    0.140653259715525918745189590510238,
    0.169004726639267902826583426598550,
    0.190350578064785409913256402421014,
    0.204432940075298892414161999234649,
)
_GAUSS = (0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
          0.381830050505118944950369775488975)  # fmt: skip
NODES = 15
NODE = np.array([-x for x in _X] + [0.0] + list(_X[::-1]))
KRONROD = np.array([*_KRONROD, 0.209482141084727828012999174891714, *_KRONROD[::-1]])
GAUSS = np.zeros(NODES)
GAUSS[1::2] = [*_GAUSS, 0.417959183673469387755102040816327, *_GAUSS[::-1]]

SHORTEST = 1e-13  # of a piece: not halved further, in w
RUNGS = 5  # of the ladder of places on each side of a hill
NEAREST_RUNG = 1.2  # widths from its middle to the first of them, and so on by
STEP = 3.0
FAR = 9.0  # widths from a hill beyond which it is nowhere steep enough to be overlooked


@inner
def ray_moments(planar, ux, uy, uz, r, p, drop, terms):
    """Integrals of the density along a ray: (of r**n, of r**(n+1), of r**(n+2), least e-folds).

    n = 1 in the plane and 2 in space: what a direction weighs, and its share of the moments.
    """
    a = b = c = 0.0
    least = np.inf
    if terms.weights.shape[0] > 0 or terms.coefficients.shape[0] > 0:
        a, b, c, least = along_ray(ux, uy, uz, r, p, drop, terms, planar)
    if terms.constant > 0.0:
        r2 = terms.constant * r * r
        if planar:
            a += r2 * 0.5
            b += r2 * r / 3.0
            c += r2 * r * r * 0.25
        else:
            a += r2 * r / 3.0
            b += r2 * r * r * 0.25
            c += r2 * r * r * r * 0.2
    return a, b, c, least


@inner
def piece_moments(planar, k, x, y, low, high, p, drop, terms, rim):
    """Owner k's piece from w = low to high about the place (x, y), by both rules.

    Gives (mass, three first moments, polar moment) by 15 nodes, the mass, the sum of the first
    moments and the polar one by 7, the least e-folds below the top of a hill, and how far it goes.
    """
    m = fx = fy = fz = polar = 0.0
    m7 = f7 = polar7 = 0.0
    least = np.inf
    far = 0.0
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    frame = rim.frame
    for i in range(NODES):
        w = mid + half * NODE[i]
        s = 1.0 / (1.0 + w * w)
        c, t = (1.0 - w * w) * s, 2.0 * w * s
        px, py = x * c - y * t, y * c + x * t
        ux = frame[0, 0] + px * frame[1, 0] + py * frame[2, 0]
        uy = frame[0, 1] + px * frame[1, 1] + py * frame[2, 1]
        uz = frame[0, 2] + px * frame[1, 2] + py * frame[2, 2]
        r = 1.0 / demand_at(k, px, py, rim)
        a, b, d, near = ray_moments(planar, ux, uy, uz, r, p, drop, terms)
        turn = 2.0 * s * half
        share = KRONROD[i] * turn
        m += share * a
        fx += share * b * ux
        fy += share * b * uy
        fz += share * b * uz
        polar += share * d
        share = GAUSS[i] * turn
        m7 += share * a
        f7 += share * b * (ux + uy + uz)
        polar7 += share * d
        least = smaller(least, near)
        far = larger(far, r)
    return m, fx, fy, fz, polar, m7, f7, polar7, least, far


@inner
def place_hills(m, p, terms, reach, rim):
    """Add places towards each hill and on both sides of it, so that none is overlooked."""
    e, f, o = rim.frame[1], rim.frame[2], rim.frame[0]
    s2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    for g in range(terms.weights.shape[0]):
        hx = terms.centers[g, 0] - p[0]
        hy = terms.centers[g, 1] - p[1]
        hz = terms.centers[g, 2] - p[2]
        x = hx * e[0] + hy * e[1] + hz * e[2]
        y = hx * f[0] + hy * f[1] + hz * f[2]
        far = math.sqrt(x * x + y * y)  # along the circle's plane, times its radius
        up = hx * o[0] + hy * o[1] + hz * o[2]  # along its axis, times its height
        c = terms.roots[g]
        steep = math.sqrt(
            c[0, 0] * c[0, 0] + c[0, 1] * c[0, 1] + c[0, 2] * c[0, 2]
            + c[1, 1] * c[1, 1] + c[1, 2] * c[1, 2] + c[2, 2] * c[2, 2]
        )  # fmt: skip
        lift2 = hx * hx + hy * hy + hz * hz - (far + up) * (far + up)  # off the nearest ray
        if not (far > 0.0 and far > math.sqrt(s2) / steep and far + up < reach + FAR / steep):
            continue
        if not lift2 * steep * steep < FAR * FAR:
            continue
        m = put_spot(m, x / far, y / far, rim)
        offset = NEAREST_RUNG * math.sqrt(s2) / (steep * far)  # of the angle: width over distance
        x /= far
        y /= far
        for _ in range(RUNGS):
            if offset > 1.0:
                break
            r = 1.0 / math.sqrt(1.0 + offset * offset)
            m = put_spot(m, (x - offset * y) * r, (y + offset * x) * r, rim)
            m = put_spot(m, (x + offset * y) * r, (y - offset * x) * r, rim)
            offset *= STEP
    return m


@inner
def find_pieces(count, p, terms, reach, rim):
    """Cut the circle in rim.frame into pieces with one owner each; gives how many.

    Then how many of the others count on it: in the order of rim.along.
    """
    lay_circle(count, rim)
    count = drop_faint(count, rim)
    m = changes_round(count, rim)
    if terms.weights.shape[0] > 0:
        m = place_hills(m, p, terms, reach, rim)
    m = long_gaps(m, rim)
    name_owners(m, count, rim)
    return m, count


@inner
def turn_moments(planar, count, p, drop, limit, reach, terms, rim):
    """(mass, three first moments, polar moment, least e-folds, error, reach) round the circle.

    limit: what each piece may be wrong by; infinite: each is looked at once. reach: of the cell.
    """
    m, _ = find_pieces(count, p, terms, reach, rim)
    piece = rim.piece
    mass = fx = fy = fz = polar = error = 0.0
    least = np.inf
    far = 0.0
    for k in range(m):
        if rim.owner[k] < -1:
            continue
        x0, y0, x1, y1, _ = ends_of(k, m, rim)
        x, y, w = middle(x0, y0, x1, y1)
        piece[0, 0], piece[0, 1] = -w, w
        depth = 0
        while depth >= 0:
            low, high = piece[depth, 0], piece[depth, 1]
            a, ax, ay, az, b, a7, f7, b7, near, end = piece_moments(
                planar, rim.owner[k], x, y, low, high, p, drop, terms, rim
            )
            off = (
                abs(a - a7) + abs(ax + ay + az - f7) / reach + abs(b - b7) / (reach * reach)
            )
            if off > limit and high - low > SHORTEST and depth + 1 < piece.shape[0]:
                mid = 0.5 * (low + high)
                piece[depth, 0] = mid
                piece[depth + 1, 0], piece[depth + 1, 1] = low, mid
                depth += 1
                continue
            depth -= 1
            mass += a
            fx += ax
            fy += ay
            fz += az
            polar += b
            error += off
            least = smaller(least, near)
            far = larger(far, end)
    return mass, fx, fy, fz, polar, least, error, far


@inner
def turn_rays(n, parts, share, count, p, reach, terms, rim, out):
    """Rays round the circle as rows (u, reach, weight) from n on; gives the next row.

    Each piece is cut into `parts`, with 15 rays across each.
    """
    m, _ = find_pieces(count, p, terms, reach, rim)
    frame = rim.frame
    for k in range(m):
        if rim.owner[k] < -1:
            continue
        x0, y0, x1, y1, _ = ends_of(k, m, rim)
        x, y, most = middle(x0, y0, x1, y1)
        half = most / parts
        for i in range(parts * NODES):
            if n < out.shape[0]:
                w = -most + half * (2 * (i // NODES) + 1 + NODE[i % NODES])
                s = 1.0 / (1.0 + w * w)
                c, t = (1.0 - w * w) * s, 2.0 * w * s
                px, py = x * c - y * t, y * c + x * t
                for d in range(3):
                    out[n, d] = frame[0, d] + px * frame[1, d] + py * frame[2, d]
                out[n, 3] = 1.0 / demand_at(rim.owner[k], px, py, rim)
                out[n, 4] = share * KRONROD[i % NODES] * 2.0 * s * half
            n += 1
    return n

"""Integrals over a cell along one circle of directions: see rim.py.

Between two places of change everything is smooth. Each piece is integrated by the rule of Gauss and
Kronrod with 7 and 15 nodes (or 3 and 7, where it is short), and halved until the two agree. The
angle is that of cos = (1 - w**2) / (1 + w**2), sin = 2 w / (1 + w**2), so that no sine is asked of
any library.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.quadrature import NODES as GAUSS_NODES
from dwell._kernels.quadrature import WEIGHTS as GAUSS_WEIGHTS
from dwell._kernels.shells.kronrod import COUNT, GAUSS, KRONROD, LONG, NODE, SHORT
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

NARROW = 0.3  # pieces of a circle (in w) and belts of latitudes below this: the short rule first
RAYS = 15  # across each part of a piece
SHORTEST = 1e-13  # of a piece: not halved further, in w
RUNGS = 5  # of the ladder of places on each side of a hill
NEAREST_RUNG = 1.2  # widths from its middle to the first of them, and so on by
STEP = 3.0
STEEPEST = 4.0  # pieces of one density whose demand varies by more are halved
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
def place_at(w, x, y):
    """The place of the circle at w from (x, y), and 1 / (1 + w**2)."""
    s = 1.0 / (1.0 + w * w)
    c, t = (1.0 - w * w) * s, 2.0 * w * s
    return x * c - y * t, y * c + x * t, s


@inner
def split(depth, waiting):
    """The last interval that waits as two, the lower one first; gives the new depth."""
    low, high = waiting[depth, 0], waiting[depth, 1]
    mid = 0.5 * (low + high)
    waiting[depth, 0] = mid
    waiting[depth + 1, 0], waiting[depth + 1, 1] = low, mid
    return depth + 1


@inner
def piece_moments(planar, rule, k, x, y, low, high, p, drop, terms, rim):
    """Owner k's piece from w = low to high about the place (x, y), by both rules.

    Gives (mass, three first moments, polar moment) by all nodes, the mass, the sum of the first
    moments and the polar one by every other, the least e-folds below the top of a hill, and how far
    it goes.
    """
    m = fx = fy = fz = polar = 0.0
    m7 = f7 = polar7 = 0.0
    least = np.inf
    far = 0.0
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    frame = rim.frame
    for i in range(COUNT[rule]):
        px, py, s = place_at(mid + half * NODE[rule, i], x, y)
        ux = frame[0, 0] + px * frame[1, 0] + py * frame[2, 0]
        uy = frame[0, 1] + px * frame[1, 1] + py * frame[2, 1]
        uz = frame[0, 2] + px * frame[1, 2] + py * frame[2, 2]
        r = 1.0 / demand_at(k, px, py, rim)
        a, b, d, near = ray_moments(planar, ux, uy, uz, r, p, drop, terms)
        turn = 2.0 * s * half
        share = KRONROD[rule, i] * turn
        m += share * a
        fx += share * b * ux
        fy += share * b * uy
        fz += share * b * uz
        polar += share * d
        share = GAUSS[rule, i] * turn
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
def nodes_for(steep):
    """Nodes of a Gauss rule for powers of a demand that varies by a factor: eight digits."""
    if steep < 1.3:
        return 6
    return 8 if steep < 2.0 else 12


@inner
def plain_piece(nodes, level, k, x, y, low, high, rim):
    """Owner k's piece of space from w = low to high where the density is `level` everywhere."""
    m = fx = fy = fz = polar = far = 0.0
    frame = rim.frame
    for i in range(nodes):
        px, py, s = place_at(low + (high - low) * GAUSS_NODES[nodes, i], x, y)
        r = 1.0 / demand_at(k, px, py, rim)
        share = level * GAUSS_WEIGHTS[nodes, i] * (2.0 * (high - low) * s) * (r * r * r)
        m += share
        share *= r
        fx += share * (frame[0, 0] + px * frame[1, 0] + py * frame[2, 0])
        fy += share * (frame[0, 1] + px * frame[1, 1] + py * frame[2, 1])
        fz += share * (frame[0, 2] + px * frame[1, 2] + py * frame[2, 2])
        polar += share * r
        far = larger(far, r)
    return m / 3.0, 0.25 * fx, 0.25 * fy, 0.25 * fz, 0.2 * polar, far


@inner
def steepness(k, x, y, low, high, rim):
    """By which factor owner k's demand varies between both ends and the middle of a piece."""
    x0, y0, _ = place_at(low, x, y)
    x1, y1, _ = place_at(0.5 * (low + high), x, y)
    x2, y2, _ = place_at(high, x, y)
    a, b, c = demand_at(k, x0, y0, rim), demand_at(k, x1, y1, rim), demand_at(k, x2, y2, rim)
    return larger(larger(a, b), c) / smaller(smaller(a, b), c)


@inner
def plain_turn(count, p, terms, rim):
    """`turn_moments` in a ball where the density is the same everywhere: cut by steepness alone."""
    m, _ = find_pieces(count, p, terms, np.inf, rim)
    piece = rim.piece
    mass = fx = fy = fz = polar = far = 0.0
    for k in range(m):
        own = rim.owner[k]
        if own < -1:
            continue
        x0, y0, x1, y1, _ = ends_of(k, m, rim)
        x, y, w = middle(x0, y0, x1, y1)
        piece[0, 0], piece[0, 1] = -w, w
        depth = 0
        while depth >= 0:
            low, high = piece[depth, 0], piece[depth, 1]
            steep = steepness(own, x, y, low, high, rim)
            if steep > STEEPEST and high - low > SHORTEST and depth + 1 < piece.shape[0]:
                depth = split(depth, piece)
                continue
            depth -= 1
            part, ax, ay, az, more, end = plain_piece(
                nodes_for(steep), terms.constant, own, x, y, low, high, rim
            )
            mass += part
            fx += ax
            fy += ay
            fz += az
            polar += more
            far = larger(far, end)
    return mass, fx, fy, fz, polar, np.inf, 0.0, far


@inner
def judged(planar, rule, k, x, y, low, high, p, drop, reach, terms, rim):
    """The same: (mass, three first moments, polar moment, how much the rules differ, ...)."""
    a, ax, ay, az, b, less, first, polar, near, far = piece_moments(
        planar, rule, k, x, y, low, high, p, drop, terms, rim
    )
    off = abs(a - less) + abs(ax + ay + az - first) / reach + abs(b - polar) / (reach * reach)
    return a, ax, ay, az, b, off, near, far


@inner
def turn_moments(planar, count, p, drop, limit, reach, terms, rim):
    """(mass, three first moments, polar moment, least e-folds, error, reach) round the circle.

    limit: what each piece may be wrong by; infinite: each is looked at once. reach: of the cell.
    """
    flat = terms.weights.shape[0] == 0 and terms.coefficients.shape[0] == 0
    if flat and rim.flag[1] != 0:
        return plain_turn(count, p, terms, rim)
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
            rule = SHORT if high - low < NARROW and not planar else LONG
            a, ax, ay, az, b, off, near, end = judged(
                planar, rule, rim.owner[k], x, y, low, high, p, drop, reach, terms, rim
            )
            if off > limit and rule == SHORT:
                a, ax, ay, az, b, off, near, end = judged(
                    planar, LONG, rim.owner[k], x, y, low, high, p, drop, reach, terms, rim
                )
            if off > limit and high - low > SHORTEST and depth + 1 < piece.shape[0]:
                depth = split(depth, piece)
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
        for i in range(parts * RAYS):
            if n < out.shape[0]:
                w = -most + half * (2 * (i // RAYS) + 1 + NODE[LONG, i % RAYS])
                px, py, s = place_at(w, x, y)
                for d in range(3):
                    out[n, d] = frame[0, d] + px * frame[1, d] + py * frame[2, d]
                out[n, 3] = 1.0 / demand_at(rim.owner[k], px, py, rim)
                out[n, 4] = share * KRONROD[LONG, i % RAYS] * 2.0 * s * half
            n += 1
    return n

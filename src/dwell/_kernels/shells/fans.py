"""Densities that vary: moments of a cell by rays, over fans of directions.

Where demand k is the largest, its patch of the sphere is a fan: from one point of it, the apex,
straight to every place of its borders, with a sign (parts outside the patch are taken away again
by the borders beyond). Fans are cut into boxes until halving a box both ways changes nothing; along
each ray a Gauss rule does the rest. The apex is the demand's own axis if that lies in the patch,
else the place of its borders next to the axis, so that no fan reaches far outside the cell.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.quadrature import NODES, WEIGHTS
from dwell._kernels.shells.arcs import EX, EY, EZ, FX, FY, FZ, MX, MY, MZ
from dwell._kernels.shells.demands import SHIFT, SLOPE, TOP, UX, UY, UZ, value
from dwell._kernels.shells.panels import (
    DEEPEST,
    along_arc,
    is_short,
    middle,
    put_waiting,
    quarter,
)
from dwell._kernels.shells.rays import FADED, along_ray, hill_on_ray, top_on_ray

FINE, ROUGH = 7, 5  # rays across a box, both ways: their rules are held against each other
ACCURACY = 1e-8  # of the mass: difference of the two rules in a box. That of the finer is less
COARSE = 6.0  # widths of a Gaussian that a box may span
MOST_HALVINGS = 9
TRIES = 3
WIDE = 0.7  # shift over slope: larger ones leave no room for straight fans
W0, W1, S0, S1 = range(4)  # columns of a box


@inner
def is_own(k, count, demand):
    """Whether the axis of demand k lies in its own patch."""
    x, y, z = demand[k, UX], demand[k, UY], demand[k, UZ]
    for i in range(count):
        if value(i, x, y, z, demand) > demand[k, TOP]:
            return False
    return True


@inner
def place_on(e, x, y, arc):
    """The direction at (x, y) of arc e."""
    return (
        arc[e, MX] + x * arc[e, EX] + y * arc[e, FX],
        arc[e, MY] + x * arc[e, EY] + y * arc[e, FY],
        arc[e, MZ] + x * arc[e, EZ] + y * arc[e, FZ],
    )


@inner
def axis_apex(k, demand, apex):
    """Let the fan of demand k begin at its axis."""
    apex[k, 0], apex[k, 1], apex[k, 2] = demand[k, UX], demand[k, UY], demand[k, UZ]


@inner
def apex_of(k, arcs, demand, arc, owner, apex):
    """The place of the borders of k next to its axis, if the whole patch can be seen from there."""
    axis_apex(k, demand, apex)
    if demand[k, SHIFT] > WIDE * demand[k, SLOPE]:
        return
    best = -2.0
    bx = by = bz = 0.0
    for turn in range(2):
        for e in range(arcs):
            if k not in (owner[e, 0], owner[e, 1]):
                continue
            for step in range(4):
                x0, y0, x1, y1, last = quarter(e, step, arc)
                xm, ym, _ = middle(x0, y0, x1, y1)
                for part in range(3):
                    x = x0 if part == 0 else (xm if part == 1 else x1)
                    y = y0 if part == 0 else (ym if part == 1 else y1)
                    u = place_on(e, x, y, arc)
                    if turn == 0:
                        t = u[0] * demand[k, UX] + u[1] * demand[k, UY] + u[2] * demand[k, UZ]
                        if t > best:
                            best = t
                            bx, by, bz = u
                    elif u[0] * bx + u[1] * by + u[2] * bz < 0.1:
                        return
                if last:
                    break
    if best > -2.0:
        apex[k, 0], apex[k, 1], apex[k, 2] = bx, by, bz


@inner
def set_apices(count, arcs, shell):
    """The apex of every fan."""
    for k in range(count):
        if is_own(k, count, shell.demand):
            axis_apex(k, shell.demand, shell.apex)
        else:
            apex_of(k, arcs, shell.demand, shell.arc, shell.owner, shell.apex)


@inner
def ray_at(e, k, w, s, p_axes, demand, arc, apex):
    """A ray of a fan: (u, reach, share of the solid angle per w and s).

    p_axes: the two axes of the piece, see panels.py.
    """
    d = 1.0 / (1.0 + w * w)
    cos = (1.0 - w * w) * d
    sin = 2.0 * w * d
    px, py, pz, qx, qy, qz = p_axes
    yx = arc[e, MX] + cos * px + sin * qx
    yy = arc[e, MY] + cos * py + sin * qy
    yz = arc[e, MZ] + cos * pz + sin * qz
    dx = cos * qx - sin * px
    dy = cos * qy - sin * py
    dz = cos * qz - sin * pz
    ax, ay, az = apex[k, 0], apex[k, 1], apex[k, 2]
    turn = (ax * (yy * dz - yz * dy) + ay * (yz * dx - yx * dz) + az * (yx * dy - yy * dx)) * (
        2.0 * d
    )
    x = ax + s * (yx - ax)
    y = ay + s * (yy - ay)
    z = az + s * (yz - az)
    r = 1.0 / math.sqrt(x * x + y * y + z * z)
    x *= r
    y *= r
    z *= r
    return x, y, z, 1.0 / value(k, x, y, z, demand), s * turn * r * r * r


@inner
def box_moments(rays, e, k, box, axes, p, drop, demand, arc, apex, terms):
    """(mass, first moments x, y, z, polar, least e-folds) of a box by so many rays both ways."""
    m = fx = fy = fz = polar = 0.0
    least = np.inf
    dw = box[W1] - box[W0]
    ds = box[S1] - box[S0]
    for i in range(rays):
        w = box[W0] + dw * NODES[rays, i]
        for j in range(rays):
            s = box[S0] + ds * NODES[rays, j]
            x, y, z, rho, share = ray_at(e, k, w, s, axes, demand, arc, apex)
            a2, a3, a4, near = along_ray(x, y, z, rho, p, drop, terms, False)
            least = smaller(least, near)
            share *= dw * ds * WEIGHTS[rays, i] * WEIGHTS[rays, j]
            m += share * a2
            fx += share * a3 * x
            fy += share * a3 * y
            fz += share * a3 * z
            polar += share * a4
    return m, fx, fy, fz, polar, least


@inner
def is_coarse(e, k, box, axes, p, drop, demand, arc, apex, terms):
    """Whether a Gaussian could hide between the rays of a box."""
    wm = 0.5 * (box[W0] + box[W1])
    sm = 0.5 * (box[S0] + box[S1])
    x, y, z, rho, _ = ray_at(e, k, wm, sm, axes, demand, arc, apex)
    wide = 0.0
    for corner in range(4):
        w = box[W0] if corner % 2 == 0 else box[W1]
        s = box[S0] if corner < 2 else box[S1]
        a, b, c, far, _ = ray_at(e, k, w, s, axes, demand, arc, apex)
        reach = larger(far, rho)
        gap = (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z)
        wide = larger(wide, reach * math.sqrt(gap))
    for g in range(terms.weights.shape[0]):
        c = terms.roots[g]
        norm = 0.0
        for i in range(3):
            for j in range(3):
                norm += c[i, j] * c[i, j]
        span = wide * math.sqrt(norm)
        if span > COARSE:
            near = top_on_ray(hill_on_ray(x, y, z, g, p, terms), rho)[1]
            off = larger(0.0, math.sqrt(near) - span)
            if off * off - drop < FADED:
                return True
    return False


@inner
def split_box(depth, boxes):
    """Put four quarters in the place of a box; gives the row of the last one."""
    w0, w1, s0, s1 = boxes[depth, W0], boxes[depth, W1], boxes[depth, S0], boxes[depth, S1]
    wm = 0.5 * (w0 + w1)
    sm = 0.5 * (s0 + s1)
    for part in range(4):
        row = boxes[depth + part]
        row[W0], row[W1] = (w0, wm) if part % 2 == 0 else (wm, w1)
        row[S0], row[S1] = (s0, sm) if part < 2 else (sm, s1)
    return depth + 3


@inner
def refined(e, k, axes, p, drop, limit, reach, shell, terms):
    """What is in the first box of shell.boxes, cut into smaller ones until two rules agree."""
    boxes = shell.boxes
    demand, arc, apex = shell.demand, shell.arc, shell.apex
    m = fx = fy = fz = polar = 0.0
    depth = 0
    smallest = 1.5 / 2.0**MOST_HALVINGS
    while depth >= 0:
        box = boxes[depth]
        splits = False
        allowed = limit
        if box[S1] - box[S0] > smallest and depth + 4 <= boxes.shape[0]:
            splits = is_coarse(e, k, box, axes, p, drop, demand, arc, apex, terms)
        else:
            allowed = np.inf
        if not splits:
            a = box_moments(FINE, e, k, box, axes, p, drop, demand, arc, apex, terms)
            b = box_moments(ROUGH, e, k, box, axes, p, drop, demand, arc, apex, terms)
            change = abs(a[0] - b[0]) * reach * reach + abs(a[4] - b[4])
            change += reach * (abs(a[1] - b[1]) + abs(a[2] - b[2]) + abs(a[3] - b[3]))
            splits = change > allowed * reach * reach
            if not splits:
                m += a[0]
                fx += a[1]
                fy += a[2]
                fz += a[3]
                polar += a[4]
                depth -= 1
        if splits:
            depth = split_box(depth, boxes)
    return m, fx, fy, fz, polar


@inner
def sweep(refine, arcs, p, drop, limit, reach, shell, terms):
    """All fans: (mass, first moments x, y, z, polar, least e-folds).

    refine: cut boxes; else each piece of a border makes one box, for a first look.
    """
    demand, arc, stack, boxes = shell.demand, shell.arc, shell.stack, shell.boxes
    m = fx = fy = fz = polar = 0.0
    least = np.inf
    for e in range(arcs):
        low = flatter(e, demand, shell.owner)
        for step in range(4):
            x0, y0, x1, y1, last = quarter(e, step, arc)
            depth = 0
            put_waiting(0, x0, y0, x1, y1, stack)
            while depth >= 0:
                x0, y0, x1, y1 = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
                x, y, w = middle(x0, y0, x1, y1)
                f0, f1, f2 = along_arc(low, e, x, y, demand, arc)
                if depth < DEEPEST and not is_short(f0, f1, f2, w):
                    put_waiting(depth, x, y, x1, y1, stack)
                    depth += 1
                    put_waiting(depth, x0, y0, x, y, stack)
                    continue
                depth -= 1
                axes = axes_at(e, x, y, arc)
                for side in range(2):
                    k = shell.owner[e, side]
                    sign = 1.0 - 2.0 * side
                    boxes[0, W0], boxes[0, W1], boxes[0, S0], boxes[0, S1] = -w, w, 0.0, 1.0
                    if refine:
                        found = refined(e, k, axes, p, drop, limit, reach, shell, terms)
                    else:
                        a, b, c, d, f, near = box_moments(
                            ROUGH, e, k, boxes[0], axes, p, drop, demand, arc, shell.apex, terms
                        )
                        found = (a, b, c, d, f)
                        least = smaller(least, near)
                    m += sign * found[0]
                    fx += sign * found[1]
                    fy += sign * found[2]
                    fz += sign * found[3]
                    polar += sign * found[4]
            if last:
                break
    return m, fx, fy, fz, polar, least


@inner
def holds_place(x, y, z, count, demand):
    """Whether the place (x, y, z), seen from the agent, lies in the cell."""
    r = math.sqrt(x * x + y * y + z * z)
    for k in range(count):
        v = value(k, x, y, z, demand) + demand[k, SHIFT] * (r - 1.0)
        if v > 1.0:
            return False
    return True


@inner
def drop_of(count, arcs, p, reach, shell, terms):
    """e-folds by which all Gaussians are raised, so that nothing underflows; 0 near a hill."""
    if terms.constant > 0.0 or terms.coefficients.shape[0] > 0:
        return 0.0
    for g in range(terms.weights.shape[0]):
        x = terms.centers[g, 0] - p[0]
        y = terms.centers[g, 1] - p[1]
        z = terms.centers[g, 2] - p[2]
        if holds_place(x, y, z, count, shell.demand):
            return 0.0
    return sweep(False, arcs, p, 0.0, 0.0, reach, shell, terms)[5]


@inner
def fan_moments(count, arcs, p, drop, base, reach, shell, terms):
    """(mass, first moments x, y, z, polar) of the varying part of the density, times exp(drop).

    base: what the constant part weighs. reach: of the cell.
    """
    estimate = abs(sweep(False, arcs, p, drop, 0.0, reach, shell, terms)[0]) + base
    m = fx = fy = fz = polar = 0.0
    for _ in range(TRIES):
        limit = ACCURACY * estimate
        m, fx, fy, fz, polar, _ = sweep(True, arcs, p, drop, limit, reach, shell, terms)
        if not abs(m) + base < 0.3 * estimate:
            break
        estimate = abs(m) + base  # the first look had it too large
    return m, fx, fy, fz, polar


@inner
def axes_at(e, x, y, arc):
    """The two axes of the piece of arc e whose middle is at (x, y)."""
    return (
        x * arc[e, EX] + y * arc[e, FX],
        x * arc[e, EY] + y * arc[e, FY],
        x * arc[e, EZ] + y * arc[e, FZ],
        x * arc[e, FX] - y * arc[e, EX],
        x * arc[e, FY] - y * arc[e, EY],
        x * arc[e, FZ] - y * arc[e, EZ],
    )


@inner
def flatter(e, demand, owner):
    """The flatter of the two demands of arc e."""
    i, j = owner[e, 0], owner[e, 1]
    return i if demand[i, SLOPE] < demand[j, SLOPE] else j

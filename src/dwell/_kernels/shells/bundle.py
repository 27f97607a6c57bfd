"""Rays through a cell as a list, for densities that only Python can evaluate.

Boxes of directions are cut until the volume under them is right; see fans.py.
"""

from dwell._kernels._jit import inner
from dwell._kernels.quadrature import NODES, WEIGHTS
from dwell._kernels.shells.contour import uniform_moments
from dwell._kernels.shells.fans import (
    FINE,
    MOST_HALVINGS,
    ROUGH,
    S0,
    S1,
    W0,
    W1,
    axes_at,
    flatter,
    ray_at,
    split_box,
)
from dwell._kernels.shells.panels import (
    DEEPEST,
    along_arc,
    is_short,
    middle,
    put_waiting,
    quarter,
)

ACCURACY = 1e-9  # of the volume: difference of two rules in a box


@inner
def bare_moments(rays, e, k, box, axes, demand, arc, apex):
    """Volume and polar moment under a box by so many rays both ways."""
    dw = box[W1] - box[W0]
    ds = box[S1] - box[S0]
    m = polar = 0.0
    for i in range(rays):
        w = box[W0] + dw * NODES[rays, i]
        for j in range(rays):
            s = box[S0] + ds * NODES[rays, j]
            _, _, _, rho, share = ray_at(e, k, w, s, axes, demand, arc, apex)
            share *= dw * ds * WEIGHTS[rays, i] * WEIGHTS[rays, j] * rho * rho * rho
            m += share / 3.0
            polar += share * rho * rho / 5.0
    return m, polar


@inner
def put_rays(n, e, k, sign, parts, rays, box, axes, shell, out):
    """The rays of one box, cut into `parts` both ways, as rows from n on; gives the next row."""
    dw = (box[W1] - box[W0]) / parts
    ds = (box[S1] - box[S0]) / parts
    for a in range(parts * rays):
        w = box[W0] + (a // rays + NODES[rays, a % rays]) * dw
        for b in range(parts * rays):
            if n < out.shape[0]:
                s = box[S0] + (b // rays + NODES[rays, b % rays]) * ds
                x, y, z, rho, share = ray_at(e, k, w, s, axes, shell.demand, shell.arc, shell.apex)
                share *= sign * dw * ds * WEIGHTS[rays, a % rays] * WEIGHTS[rays, b % rays]
                out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4] = x, y, z, rho, share
            n += 1
    return n


@inner
def fan_rays(n, e, k, sign, parts, rays, w, axes, volume, polar, shell, out):
    """The rays of one fan as rows from n on; gives the next row."""
    boxes = shell.boxes
    boxes[0, W0], boxes[0, W1], boxes[0, S0], boxes[0, S1] = -w, w, 0.0, 1.0
    depth = 0
    while depth >= 0:
        box = boxes[depth]
        a = bare_moments(FINE, e, k, box, axes, shell.demand, shell.arc, shell.apex)
        b = bare_moments(ROUGH, e, k, box, axes, shell.demand, shell.arc, shell.apex)
        change = abs(a[0] - b[0]) / volume + abs(a[1] - b[1]) / polar
        large = box[S1] - box[S0] > 1.5 / 2.0**MOST_HALVINGS and depth + 4 <= boxes.shape[0]
        if large and change > ACCURACY:
            depth = split_box(depth, boxes)
        else:
            n = put_rays(n, e, k, sign, parts, rays, box, axes, shell, out)
            depth -= 1
    return n


@inner
def rays_into(arcs, parts, rays, shell, out):
    """See `rays_of` in pair.py."""
    demand, arc, stack = shell.demand, shell.arc, shell.stack
    volume, _, _, _, polar = uniform_moments(arcs, shell)
    n = 0
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
                    n = fan_rays(
                        n, e, shell.owner[e, side], 1.0 - 2.0 * side, parts, rays, w, axes,
                        volume, polar, shell, out,
                    )  # fmt: skip
            if last:
                break
    return n

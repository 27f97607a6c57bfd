"""Whole configurations at once: what every agent sees."""

import numpy as np

from dwell._kernels._jit import njit
from dwell._kernels.cells import COINCIDENT, voronoi_cell
from dwell._kernels.look import look, sharpen_if_thin
from dwell._kernels.moments import polygon_moments


@njit
def legs_at(times, log, first_x, first_y, first_hx, first_hy, out_x, out_y, out_hx, out_hy, due):
    """Positions, holds and due times of all agents at ascending `times`, after jumps at each."""
    agents = first_x.shape[0]
    x = first_x.copy()
    y = first_y.copy()
    hx = first_hx.copy()
    hy = first_hy.copy()
    since = np.zeros(agents)
    following = due[0].copy()
    jump = 0
    for k in range(times.shape[0]):
        t = times[k]
        while jump < log.time.shape[0] and log.time[jump] <= t:
            p = log.agent[jump]
            x[p] = log.x[jump]
            y[p] = log.y[jump]
            hx[p] = log.hold_x[jump]
            hy[p] = log.hold_y[jump]
            since[p] = log.time[jump]
            following[p] = log.next_at[jump]
            jump += 1
        for p in range(agents):
            dt = t - since[p]
            out_x[k, p] = x[p] + hx[p] * dt
            out_y[k, p] = y[p] + hy[p] * dt
            out_hx[k, p] = hx[p]
            out_hy[k, p] = hy[p]
            due[k, p] = following[p]


@njit
def survey_rows(lo, hi, x, y, wx, wy, terms, ex, ey, masses, polars, scales, nearest, s):
    """What every agent sees in configurations lo..hi of a table (rows, agents).

    Errors, masses, polar moments about the positions (both divided by exp(scale)) and squared
    distances to the nearest other agent. Gives the first row in which two agents coincide, or -1.
    """
    for k in range(lo, hi):
        for p in range(x.shape[1]):
            status, dx, dy, scale, m, polar, _, d2 = look(p, x[k], y[k], wx, wy, terms, s)
            if status == COINCIDENT:
                return k
            ex[k, p] = dx
            ey[k, p] = dy
            masses[k, p] = m
            polars[k, p] = polar
            scales[k, p] = scale
            nearest[k, p] = d2
    return -1


@njit
def look_rows(lo, hi, agent, x, y, wx, wy, terms, errors, s):
    """Errors of agent[k] in configuration k, for rows lo..hi: what `check` re-derives."""
    for k in range(lo, hi):
        _, ex, ey, _, _, _, _, _ = look(agent[k], x[k], y[k], wx, wy, terms, s)
        errors[k, 0] = ex
        errors[k, 1] = ey


@njit
def second_moments(xs, ys, wx, wy, terms, errors, out, s):
    """Polar moment of each cell about its own centroid (divided by exp(scale)), without loss."""
    for p in range(xs.shape[0]):
        px = xs[p]
        py = ys[p]
        n, _, _ = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
        out[p] = 0.0
        if n > 0:
            sharp = sharpen_if_thin(n, px, py, xs, ys, wx, wy, s)
            ex = errors[p, 0]
            ey = errors[p, 1]
            _, _, _, _, out[p] = polygon_moments(n, px, py, terms, ex, ey, sharp, s)

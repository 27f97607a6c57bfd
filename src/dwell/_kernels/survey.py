"""Whole configurations at once: every agent's error, the cost, the separation."""

import math

import numpy as np

from dwell._kernels._jit import njit
from dwell._kernels.arithmetic import exponential, ordered_sum
from dwell._kernels.cells import COINCIDENT, voronoi_cell
from dwell._kernels.look import look
from dwell._kernels.moments import polygon_moments
from dwell._kernels.timer import saturated


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
def survey(xs, ys, wx, wy, terms, errors, masses, polars, scales, s):
    """Look for every agent; gives (status, cost, smallest separation)."""
    n = xs.shape[0]
    closest = np.inf
    for p in range(n):
        status, ex, ey, scale, m, polar, _, nearest = look(p, xs, ys, wx, wy, terms, s)
        if status == COINCIDENT:
            return COINCIDENT, 0.0, 0.0
        errors[p, 0] = ex
        errors[p, 1] = ey
        masses[p] = m
        polars[p] = polar
        scales[p] = scale
        if nearest >= 0.0:
            closest = min(closest, nearest)
    for p in range(n):
        s.value[p] = polars[p] if scales[p] == 0.0 else polars[p] * exponential(scales[p])
    return 0, ordered_sum(s.value, n), math.sqrt(closest)


@njit
def survey_block(
    lo, hi, x, y, hx, hy, wx, wy, terms, k1, reach, errors, hold_errors, costs, separations, s
):
    """Rows lo..hi of a table of configurations: error and hold-error norms, cost, separation.

    Gives the first row in which two agents coincide, or -1.
    """
    n = x.shape[1]
    e = np.empty((n, 2))
    masses = np.empty(n)
    polars = np.empty(n)
    scales = np.empty(n)
    for k in range(lo, hi):
        status, cost, closest = survey(x[k], y[k], wx, wy, terms, e, masses, polars, scales, s)
        if status == COINCIDENT:
            return k
        costs[k] = cost
        separations[k] = closest
        for p in range(n):
            ux, uy = saturated(e[p, 0], e[p, 1], k1, reach)
            dx = hx[k, p] - ux
            dy = hy[k, p] - uy
            errors[k, p] = math.sqrt(e[p, 0] * e[p, 0] + e[p, 1] * e[p, 1])
            hold_errors[k, p] = math.sqrt(dx * dx + dy * dy)
    return -1


@njit
def look_block(lo, hi, agent, x, y, wx, wy, terms, errors, s):
    """Errors of agent[k] in configuration k, for rows lo..hi: what `check` re-derives."""
    for k in range(lo, hi):
        _, ex, ey, _, _, _, _, _ = look(agent[k], x[k], y[k], wx, wy, terms, s)
        errors[k, 0] = ex
        errors[k, 1] = ey


@njit
def second_moment(p, xs, ys, wx, wy, terms, ex, ey, s):
    """Polar moment of p's cell about its own centroid (divided by exp(log_scale)), without loss."""
    n, _, _ = voronoi_cell(p, xs[p], ys[p], xs, ys, wx, wy, s)
    if n <= 0:
        return 0.0
    _, _, _, _, polar = polygon_moments(n, xs[p], ys[p], terms, ex, ey, s)
    return polar

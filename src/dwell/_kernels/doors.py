"""Where Python enters: kernels over many rows at once, so that entering costs little."""

from dwell._kernels._jit import njit
from dwell._kernels.cells import voronoi_cell
from dwell._kernels.look import look, sharpened
from dwell._kernels.moments import polygon_moments

# Columns of what `look_many` gives.
STATUS, ERROR_X, ERROR_Y, LOG_SCALE, MASS, POLAR, NEIGHBORS, NEAREST = range(8)
COLUMNS = 8


@njit
def look_many(lo, hi, row, agent, x, y, wx, wy, terms, out, s):
    """Looks lo..hi: agent[k] looks in configuration row[k] of the tables x, y (rows, agents).

    Fills out[k] with the columns above: see look.py.
    """
    for k in range(lo, hi):
        r = row[k]
        status, ex, ey, scale, m, polar, neighbors, d2 = look(
            agent[k], x[r], y[r], wx, wy, terms, s
        )
        out[k, STATUS] = status
        out[k, ERROR_X] = ex
        out[k, ERROR_Y] = ey
        out[k, LOG_SCALE] = scale
        out[k, MASS] = m
        out[k, POLAR] = polar
        out[k, NEIGHBORS] = neighbors
        out[k, NEAREST] = d2


@njit
def cell_of(p, xs, ys, wx, wy, s):
    """One Voronoi cell: see cells.py."""
    return voronoi_cell(p, xs[p], ys[p], xs, ys, wx, wy, s)


@njit
def moments_of(n, x0, y0, terms, px, py, sharp, s):
    """Moments of the polygon in s.x, s.y: see moments.py."""
    return polygon_moments(n, x0, y0, terms, px, py, sharp, s)


@njit
def second_moments(xs, ys, wx, wy, terms, errors, out, s):
    """Polar moment of each cell about its own centroid (divided by exp(scale)), without loss."""
    for p in range(xs.shape[0]):
        px = xs[p]
        py = ys[p]
        n, _, _ = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
        out[p] = 0.0
        if n > 0:
            sharp = sharpened(n, px, py, xs, ys, wx, wy, s)
            ex = errors[p, 0]
            ey = errors[p, 1]
            _, _, _, _, out[p] = polygon_moments(n, px, py, terms, ex, ey, sharp, s)


@njit
def legs_at(times, log, start, out_x, out_y, out_hx, out_hy, due):
    """Positions, holds and due times of all agents at ascending `times`, after jumps at each.

    The rows of `start` are x, y, hold x, hold y, since and next_at of the legs to begin with.
    """
    agents = start.shape[1]
    x = start[0].copy()
    y = start[1].copy()
    hx = start[2].copy()
    hy = start[3].copy()
    since = start[4].copy()
    following = start[5].copy()
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

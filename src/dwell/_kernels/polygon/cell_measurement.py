"""Measurement of one cell: its moments, and its centroid relative to the agent."""

import numpy as np

from dwell._kernels._jit import inner, spliced
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.polygon.disc_caps import limited_moments
from dwell._kernels.polygon.disc_clip import is_cut
from dwell._kernels.polygon.gaussian import top_exponent
from dwell._kernels.polygon.grid_quadrature import grid_moments
from dwell._kernels.polygon.halfplane_clip import WITHIN, farthest
from dwell._kernels.polygon.moments import polygon_moments
from dwell._kernels.polygon.vertex_refinement import refine_if_thin

ROUND = (1.0, 0.0, 1.0)  # the form of |z|**2


@inner
def reach_of(n, x, y):
    """How far an agent may be to change a cell; 0 for an empty one."""
    return np.sqrt(WITHIN * farthest(n, x, y)) if n > 0 else 0.0


@inner
def is_settled(reach, nearest, limit):
    """Whether no agent beyond the squared distance `limit` can change the cell or be nearest."""
    return limit == np.inf or (nearest >= 0.0 and reach * reach <= limit)


@inner
def way_to_workspace(px, py, wx, wy, radius):
    """From an agent without mass to the nearest point of the workspace; none with a radius."""
    _, ex, ey = top_exponent(wx.shape[0], px, py, ROUND, wx, wy)
    if radius is None:
        return ex, ey
    return (0.0, 0.0) if radius < np.inf else (ex, ey)


@spliced
def integrate_cell(p, n, candidates, nearest, xs, ys, wx, wy, terms, radius, s):
    """Return the measurement of the cell whose n vertices are in `s`: see `measure_cell`."""
    if n == COINCIDENT:
        return COINCIDENT, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0
    px = xs[p]
    py = ys[p]
    log_scale = m = fx = fy = polar = 0.0
    if n > 0:
        if terms.lattice.shape[0] > 0:
            m, fx, fy, polar = grid_moments(n, p, xs, ys, terms, candidates, s)
        else:
            sharp = refine_if_thin(n, px, py, xs, ys, wx, wy, s)
            if is_cut(n, radius, s.x, s.y):
                n, log_scale, m, fx, fy, polar = limited_moments(n, px, py, terms, radius, s)
            else:
                log_scale, m, fx, fy, polar = polygon_moments(n, px, py, terms, 0.0, 0.0, sharp, s)
    neighbors = 0
    for k in range(n):  # an agent borders along one edge
        neighbors += 1 if s.label[k] >= 0 else 0
    if m > 0.0:
        return 0, fx / m, fy / m, log_scale, m, polar, neighbors, nearest
    ex, ey = way_to_workspace(px, py, wx, wy, radius)
    return NO_MASS, ex, ey, 0.0, 0.0, 0.0, neighbors, nearest


@spliced
def measure_cell(find, p, xs, ys, wx, wy, terms, radius, s):
    """(status, error x, error y, log_scale, mass, polar, neighbors, nearest squared distance).

    status: 0, COINCIDENT or NO_MASS. The error is centroid minus position, taken in the agent's
    own frame; polar is the second moment about the position. mass and polar come divided by
    exp(log_scale). Without mass the error leads to the nearest point of the workspace. `find` is
    `traced_cell` or `cell_among_few`. With a radius (not None), only the part of the cell within a
    disc about the agent counts, and without mass the error is 0.
    """
    quick = terms.lattice.shape[0] == 0
    n, candidates, nearest = find(p, quick, xs[p], ys[p], xs, ys, wx, wy, s)
    return integrate_cell(p, n, candidates, nearest, xs, ys, wx, wy, terms, radius, s)

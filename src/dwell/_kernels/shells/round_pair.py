"""Both cells of an agent within a curved boundary, with what they weigh; in the plane and in space.

In the plane (planar) third coordinates are 0, and the third rows of W and of roots are there for
company.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import exponential
from dwell._kernels.shells.latitudes import (
    coarse_moments,
    find_cuts,
    pile_moments,
    pile_rays,
    set_axis,
)
from dwell._kernels.shells.rim import BEYOND, face_others, face_wall
from dwell._kernels.shells.round_size import (
    gap_inside,
    points_in_plane,
    points_in_space,
    size_of,
)
from dwell._kernels.shells.turns import turn_moments, turn_rays

OK, EMPTY, OUTSIDE, NO_ROOM = 0, 1, 2, 3
GUARANTEED, DUAL = 1.0, -1.0
EXACT = 1e-14  # of the mass: what one piece of the circle may be wrong by in the plane
FAINT = 30.0  # e-folds below the top of all hills from which on masses are raised


class Region(NamedTuple):
    """A curved workspace: |W (z - center)| <= 1."""

    planar: bool
    center: np.ndarray  # (3,)
    root: np.ndarray  # (3, 3) W, upper triangular
    sizes: np.ndarray  # (3,) semi-axes
    axes: np.ndarray  # (3, 3) their directions, one per row


@inner
def set_equator(frame):
    """The circle of all directions of the plane."""
    for i in range(3):
        for j in range(3):
            frame[i, j] = 0.0
    frame[1, 0] = 1.0
    frame[2, 1] = 1.0


@inner
def face(sign, region, p, lean, room, n, q, radius, rim):
    """Note all that bounds a cell: (how many others do, whether one may stand at p)."""
    rim.flag[0] = 0
    face_wall(region.root, max(region.sizes), lean, room, rim.wall)
    return face_others(sign, p, n, q, radius, rim.demand)


@inner
def first_look(planar, cuts, count, p, drop, terms, axes, rim):
    """(mass, least e-folds below the top of a hill, reach), roughly."""
    if planar:
        m, _, _, _, _, near, _, far = turn_moments(True, count, p, drop, np.inf, np.inf, terms, rim)
        return m, near, far
    return coarse_moments(cuts, count, p, drop, terms, axes, rim)


@inner
def raised_by(least, terms):
    """e-folds to raise hills by, so that far ones do not underflow."""
    if terms.constant > 0.0 or terms.coefficients.shape[0] > 0 or not least > FAINT:
        return 0.0
    return least if least < np.inf else 0.0


@inner
def weighed(planar, cuts, count, p, terms, axes, rim):
    """(drop, mass, three first moments, polar moment, error): all but the first times exp(drop)."""
    estimate, least, reach = first_look(planar, cuts, count, p, 0.0, terms, axes, rim)
    drop = raised_by(least, terms)
    if drop > 0.0:
        estimate, _, _ = first_look(planar, cuts, count, p, drop, terms, axes, rim)
    if planar:
        m, fx, fy, fz, polar, _, error, _ = turn_moments(
            True, count, p, drop, EXACT * estimate, reach, terms, rim
        )
        return drop, m, fx, fy, fz, polar, error
    m, fx, fy, fz, polar, error = pile_moments(
        cuts, count, p, drop, estimate, reach, terms, axes, rim
    )
    return drop, m, fx, fy, fz, polar, error


@inner
def prepare(region, count, p, terms, axes, rim):
    """Set the circle of the plane, or find the latitudes of space: gives how many."""
    rim.flag[1] = 0
    if region.planar:
        set_equator(rim.frame)
        return 0
    c = region.center
    set_axis(c[0] - p[0], c[1] - p[1], c[2] - p[2], axes)
    cuts = find_cuts(count, p, terms, axes, rim)
    if min(region.sizes) == max(region.sizes):
        rim.flag[1] = 1
    return cuts


@inner
def hull_points(region, cuts, count, p, terms, axes, rim):
    """Points whose hull holds the cell; gives how many."""
    if region.planar:
        return points_in_plane(count, p, terms, rim)
    return points_in_space(cuts, count, p, terms, axes, rim)


@njit
def round_pair(region, p, lean, room, n, q, radius, terms, rim):
    """Both cells of the agent at p (3,) among n others within radius[j] of q[j].

    lean, room: W (center - p), and 1 - |lean|**2 without cancellation. Gives (status, mass,
    centroid x, y, z, distance of the centroid from the boundary) of the guaranteed cell, then
    (mass, diameter, circumradius) of the dual one, then a bound on the relative error of both
    masses together. The centroid is relative to the agent; the two masses are divided by one common
    factor. status as in pair.py; the rest is void unless it is OK.
    """
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if room < BEYOND:
        return OUTSIDE, *none
    axes = np.empty((3, 3))
    count, met = face(DUAL, region, p, lean, room, n, q, radius, rim)
    if met:
        return EMPTY, *none
    cuts = prepare(region, count, p, terms, axes, rim)
    points = hull_points(region, cuts, count, p, terms, axes, rim)
    diameter, circumradius = size_of(region, points, rim)
    drop, dual, _, _, _, _, off = weighed(region.planar, cuts, count, p, terms, axes, rim)
    if rim.flag[0] != 0:
        return NO_ROOM, *none
    face(GUARANTEED, region, p, lean, room, n, q, radius, rim)
    cuts = prepare(region, count, p, terms, axes, rim)
    less, m, fx, fy, fz, _, error = weighed(region.planar, cuts, count, p, terms, axes, rim)
    if rim.flag[0] != 0:
        return NO_ROOM, *none
    if not m > 0.0:
        return EMPTY, *none
    z = (fx / m, fy / m, fz / m)
    gap = gap_inside(GUARANTEED, z, p, n, q, radius, region.center, region.sizes, region.axes)
    error = error / m + off / dual
    m *= exponential(drop - less)
    return OK, m, z[0], z[1], z[2], gap, dual, diameter, circumradius, error


@njit
def moments_of(sign, region, p, lean, room, n, q, radius, terms, rim):
    """(log_scale, mass, first moments x, y, z, polar, error) of one cell.

    All but the first are divided by its exponential.
    """
    axes = np.empty((3, 3))
    count, _ = face(sign, region, p, lean, room, n, q, radius, rim)
    cuts = prepare(region, count, p, terms, axes, rim)
    drop, m, fx, fy, fz, polar, error = weighed(region.planar, cuts, count, p, terms, axes, rim)
    return -drop, m, fx, fy, fz, polar, error


@njit
def outline_of(sign, region, p, lean, room, n, q, radius, terms, rim):
    """Points whose hull holds the cell, into rim.point; gives how many.

    Of a guaranteed cell, whose sheets bulge outwards, others are taken for the planes that touch
    them on the lines to the agents.
    """
    axes = np.empty((3, 3))
    count, _ = face(sign, region, p, lean, room, n, q, radius, rim)
    if sign > 0.0:
        for i in range(count):
            d = rim.demand[i]
            slope = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
            stretch = (slope + d[3]) / slope
            d[0], d[1], d[2], d[3] = stretch * d[0], stretch * d[1], stretch * d[2], 0.0
    cuts = prepare(region, count, p, terms, axes, rim)
    return hull_points(region, cuts, count, p, terms, axes, rim)


@njit
def extent_of(region, n, rim):
    """(diameter, circumradius) of the points left in `rim` by `outline_of`, or a little more."""
    return size_of(region, n, rim)


@njit
def gap_of(sign, z, region, p, n, q, radius):
    """Distance of z, relative to p, from the boundary of either cell; <= 0 outside it."""
    place = (z[0], z[1], z[2])
    return gap_inside(sign, place, p, n, q, radius, region.center, region.sizes, region.axes)


@njit
def rays_of(parts, sign, region, p, lean, room, n, q, radius, terms, rim, out):
    """Rays through one cell: (u, reach, angle or solid angle) into `out`; gives how many there are.

    Each piece with one owner is cut into `parts`, in space both ways, with 15 rays across each;
    `out` may be too short, even empty.
    """
    axes = np.empty((3, 3))
    count, _ = face(sign, region, p, lean, room, n, q, radius, rim)
    cuts = prepare(region, count, p, terms, axes, rim)
    if region.planar:
        return turn_rays(0, parts, 1.0, count, p, np.inf, terms, rim, out)
    return pile_rays(parts, cuts, count, p, terms, axes, rim, out)

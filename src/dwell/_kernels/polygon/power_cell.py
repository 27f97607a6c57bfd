"""Power cells in a polygon, each within a disc about its agent or not.

The cell of agent p holds the points z with |z - x_p|**2 - w_p <= |z - x_q|**2 - w_q for all q. With
radii the weights w are their squares, and the cell ends at the disc of radius r_p: then only rivals
with d < r_p + r_q matter. Without radii the weights are given, and all agents matter.

At displacement d, the line between p and q is d . z = (d . d + w_p - w_q) / 2. Where that is
positive, it is the bisector with an agent at displacement f d, f = 1 + (w_p - w_q) / (d . d): such
rivals are replaced by that agent, and the cell is found as any other (gift_wrap.py). The others
leave p outside its own cell and cut it last. All of this is in the agent's own frame; only where
radii are equal, and no rival is replaced, in that of the workspace: cells within their discs then
have the bits of Voronoi cells.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner, njit, spliced
from dwell._kernels.common.bins import drift_at, place_in
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.common.tracks import move_terms
from dwell._kernels.polygon.buffers import Scratch
from dwell._kernels.polygon.cell_list import (
    COLUMNS,
    ROWS,
    SIDE,
    SquareBins,
    Y,
    half_width,
    is_stale,
    limit_of,
    note_speed,
    position_at,
    put_all,
    required_radius,
    slice_of,
)
from dwell._kernels.polygon.cells import count_neighbors, way_to_workspace
from dwell._kernels.polygon.disc_caps import cap_moments, joined
from dwell._kernels.polygon.disc_clip import clip_to_disc, is_cut
from dwell._kernels.polygon.entry_points import put_row
from dwell._kernels.polygon.gift_wrap import cell_among_few
from dwell._kernels.polygon.halfplane_clip import WITHIN, cut, deepest, sides
from dwell._kernels.polygon.moments import polygon_moments
from dwell._kernels.polygon.region_moments import region_moments
from dwell._kernels.polygon.vertex_refinement import refine_if_thin


class Power(NamedTuple):
    """The radii of all agents; or their weights, where radii are infinite."""

    radius: np.ndarray  # (N,)
    weight: np.ndarray  # (N,) for infinite radii only
    largest: float  # radius
    equal: bool  # whether all radii are equal


class Rivals(NamedTuple):
    """The agents that may cut a cell, in the frame of its agent, which is the first.

    From the front on those that leave it inside, moved to f d; from the end on the others.
    """

    x: np.ndarray
    y: np.ndarray
    offset: np.ndarray  # of the line x x' + y y' = offset, for the others
    who: np.ndarray  # their numbers
    wx: np.ndarray  # vertices of the workspace
    wy: np.ndarray


def make_rivals(agents: int, vertices: int) -> Rivals:
    """Buffers for so many agents in a polygon with so many vertices."""
    x, y, offset = np.zeros((3, agents + 1))
    wx, wy = np.zeros((2, vertices))
    return Rivals(x, y, offset, np.zeros(agents + 1, dtype=np.int64), wx, wy)


@inner
def weight_gap(p, q, power):
    """w_p - w_q."""
    if power.largest == np.inf:
        return power.weight[p] - power.weight[q]
    return (power.radius[p] - power.radius[q]) * (power.radius[p] + power.radius[q])


@inner
def first_disc(p, power, frame):
    """The radius of a disc that holds all rivals of agent p, or of all bins."""
    if power.largest == np.inf:
        return 2.0 * frame[SIDE] * (frame[COLUMNS] + frame[ROWS])
    return required_radius(0.5 * math.sqrt(WITHIN) * (power.radius[p] + power.largest), frame)


@inner
def put_outside(back, dx, dy, offset, q, rivals):
    """Put a rival before those at the end, in order of offsets; return where they begin now."""
    x, y, offsets, who = rivals.x, rivals.y, rivals.offset, rivals.who
    k = back
    while k < x.shape[0] and (offsets[k], x[k], y[k]) < (offset, dx, dy):
        x[k - 1], y[k - 1], offsets[k - 1], who[k - 1] = x[k], y[k], offsets[k], who[k]
        k += 1
    x[k - 1], y[k - 1], offsets[k - 1], who[k - 1] = dx, dy, offset, q
    return back - 1


@inner
def list_rivals(p, t, px, py, disc, cruise, row, bins, x, y, power, rivals):
    """List the rivals of agent p among the agents of a disc, moving (row) or at rest at (x, y).

    Returns how many there are at the front, with p, where those at the end begin, the squared
    distance of the nearest agent, and that up to which all are known; COINCIDENT in front if one is
    at the same position.
    """
    frame = bins.frame
    drift = 0.0
    if row is not None:
        drift = drift_at(t, bins.clock)
    disc += drift
    limit = limit_of(px, py, disc, drift, frame)
    low = place_in(py - disc, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + disc, frame[Y], frame[SIDE], frame[ROWS])
    m, back, nearest = 1, rivals.x.shape[0], -1.0
    rivals.x[0], rivals.y[0] = (px, py) if power.equal else (0.0, 0.0)
    for k in range(low, high + 1):
        half = half_width(k, py, disc, frame)
        begin, end = slice_of(k, px, half, limit == np.inf, bins) if half >= 0.0 else (0, 0)
        for i in range(begin, end):
            q = bins.who[i]
            if row is None:
                qx, qy = x[q], y[q]
            else:
                qx, qy = position_at(t, q, cruise, row)
            dx, dy = qx - px, qy - py
            d2 = dx * dx + dy * dy
            if q == p:
                continue
            nearest = d2 if nearest < 0.0 or d2 < nearest else nearest
            if d2 == 0.0:
                return COINCIDENT, back, 0.0, limit
            reach = power.radius[p] + power.radius[q]
            if 4.0 * d2 <= WITHIN * reach * reach:  # else the discs do not meet
                gap = weight_gap(p, q, power)
                f = 1.0 + gap / d2
                if f > 0.0:
                    at = (qx, qy) if power.equal else (f * dx, f * dy)
                    rivals.x[m], rivals.y[m], rivals.who[m] = at[0], at[1], q
                    m += 1
                else:
                    back = put_outside(back, dx, dy, 0.5 * (d2 + gap), q, rivals)
    return m, back, nearest, limit


@inlined
def cut_away(n, back, rivals, s):
    """Cut the cell by the rivals at the end, which leave the agent outside; return its vertices."""
    for k in range(back, rivals.x.shape[0]):
        out = sides(n, rivals.x[k], rivals.y[k], rivals.offset[k], s.x, s.y, s.side)
        if n > 0 and out == n:
            return 0
        if out > 0:
            n = cut(
                n, k, deepest(n, s.side), s.side, s.x, s.y, s.label, s.x2, s.y2, s.label2
            )  # fmt: skip
            for i in range(n):
                s.x[i], s.y[i], s.label[i] = s.x2[i], s.y2[i], s.label2[i]
    return n if n >= 3 else 0


@inlined
def find_power_cell(p, t, px, py, cruise, row, bins, x, y, wx, wy, power, rivals, s):
    """The cell of agent p at (px, py) within its disc, in s.x, s.y, s.label.

    Returns (vertices or COINCIDENT, whether s.fan is filled, squared distance of the nearest).
    Labels number entries of `rivals`.
    """
    disc = first_disc(p, power, bins.frame)
    m, back, nearest, limit = list_rivals(
        p, t, px, py, disc, cruise, row, bins, x, y, power, rivals
    )
    while m > 0 and limit < np.inf and not 0.0 <= nearest <= limit:  # the nearest is farther away
        disc *= 2.0
        m, back, nearest, limit = list_rivals(
            p, t, px, py, disc, cruise, row, bins, x, y, power, rivals
        )
    if m < 0:
        return COINCIDENT, False, 0.0
    ox, oy = rivals.x[0], rivals.y[0]
    for k in range(wx.shape[0]):
        rivals.wx[k] = wx[k] if power.equal else wx[k] - px
        rivals.wy[k] = wy[k] if power.equal else wy[k] - py
    rx, ry = rivals.x[:m], rivals.y[:m]
    n, _, _ = cell_among_few(0, True, ox, oy, rx, ry, rivals.wx, rivals.wy, s)
    sharp = False
    if back < rivals.x.shape[0]:
        n = cut_away(n, back, rivals, s)
    elif n > 0:
        sharp = refine_if_thin(n, ox, oy, rx, ry, rivals.wx, rivals.wy, s)
    if is_cut(n, power.radius[p], s.x, s.y):
        n, sharp = clip_to_disc(n, power.radius[p], s), False
    return n, sharp, nearest


@inlined
def power_moments(n, px, py, terms, region, radius, sharp, s):
    """Moments of the cell in `s`, whose arcs are chords and caps: see `polygon_moments`."""
    if region is None:
        caps = cap_moments(n, px, py, terms, radius, s.x, s.y, s.label, s.node, s.pending)
        polygon = polygon_moments(n, px, py, terms, 0.0, 0.0, sharp, s)
        return joined(polygon, caps)
    return region_moments(n, px, py, terms, region, radius, 0.0, 0.0, s)


@inlined
def integrate_power_cell(p, n, sharp, nearest, px, py, terms, power, rivals, s):
    """Return the measurement of the cell whose n vertices are in `s`: see `measure_cell`."""
    if n == COINCIDENT:
        return COINCIDENT, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0
    radius = power.radius[p]
    neighbors = count_neighbors(n, s.label)
    log_scale = m = fx = fy = polar = 0.0
    if n > 0:
        log_scale, m, fx, fy, polar = power_moments(
            n, px, py, terms, terms.region, radius, sharp, s
        )
    if m > 0.0:
        return 0, fx / m, fy / m, log_scale, m, polar, neighbors, nearest
    ex, ey = way_to_workspace(
        rivals.x[0], rivals.y[0], rivals.wx, rivals.wy, terms.region, radius, s.x, s.y, s.label
    )
    return NO_MASS, ex, ey, 0.0, 0.0, 0.0, neighbors, nearest


@inner
def add_power_outline(n, x, y, label, who, outlines):
    """Append a cell to `outlines`, if there are any; return whether it fits."""
    if outlines is None:
        return True
    cell, first = outlines.filled[0], outlines.filled[1]
    n = n if n > 0 else 0
    if first + n > outlines.vertex.shape[0]:
        return False
    for i in range(n):
        outlines.vertex[first + i, 0] = x[i]
        outlines.vertex[first + i, 1] = y[i]
        outlines.label[first + i] = who[label[i]] if label[i] >= 0 else label[i]
    outlines.sizes[cell] = n
    outlines.filled[0] = cell + 1
    outlines.filled[1] = first + n
    return True


@njit
def measure_power(
    lo, hi, t, entry, agent, bins, x, y, wx, wy, terms, power, rivals, out, outlines, s
):
    """Measure the cells of agent[k] at rest at (x, y) into row entry[k] of `out`; k = lo..hi.

    t: when they are there, for densities that move. Returns hi, or the first agent whose cell does
    not fit into `outlines`, which may be None.
    """
    move_terms(t, terms)
    for k in range(lo, hi):
        p = agent[k]
        px, py = x[p], y[p]
        n, sharp, nearest = find_power_cell(
            p, 0.0, px, py, 0.0, None, bins, x, y, wx, wy, power, rivals, s
        )
        if not add_power_outline(n, s.x, s.y, s.label, rivals.who, outlines):
            return k
        measured = integrate_power_cell(p, n, sharp, nearest, px, py, terms, power, rivals, s)
        put_row(entry[k], measured, out)
    return hi


class PowerDomain(NamedTuple):
    """Vertices of the workspace, counter-clockwise, and the radii of the agents."""

    x: np.ndarray
    y: np.ndarray
    power: Power


class PowerBuffers(NamedTuple):
    """Buffers of one run."""

    bins: SquareBins
    rivals: Rivals
    scratch: Scratch


@spliced
def measure(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    move_terms(t, terms)
    row, bins, rivals = segments.row, memory.bins, memory.rivals
    if is_stale(t, row.shape[0], bins):
        put_all(t, cruise, row, bins, rivals)
    px, py = position_at(t, p, cruise, row)
    n, sharp, nearest = find_power_cell(
        p, t, px, py, cruise, row, bins, rivals.x, rivals.y, domain.x, domain.y, domain.power,
        rivals, memory.scratch,
    )  # fmt: skip
    status, ex, ey, _, _, _, neighbors, nearest = integrate_power_cell(
        p, n, sharp, nearest, px, py, terms, domain.power, rivals, memory.scratch
    )
    log.positions[0, j] = px
    log.positions[1, j] = py
    log.errors[0, j] = ex
    log.errors[1, j] = ey
    return status, neighbors, nearest


@spliced
def note_jump(j, p, t, following, cruise, segments, log, memory):
    """Bring the bins up to date: see ../common/event_loop.py."""
    note_speed(log.holds[0, j], log.holds[1, j], memory.bins.clock)


@njit
def run_power(until, segments, domain, terms, program, key, streams, log, memory):
    """Return (jumps, reason) for agents with radii of their own: see ../common/event_loop.py."""
    return event_loop(
        measure, note_jump, until, segments, domain, terms, program, key, streams, log, memory
    )

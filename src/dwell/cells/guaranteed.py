"""Both cells of an agent that knows the others only roughly, and the moments of each."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dwell._compatibility import Feature, Need, refuse
from dwell._types import Floats, Ints, Points, columns, dots
from dwell.cells.adaptive import Boxes, halved, moments_of_function
from dwell.cells.curved import space_terms, terms_of
from dwell.cells.measurement import Moments
from dwell.cells.simplices import weigh_function
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density, as_density, general_terms_of
from dwell.density.uniform import Uniform
from dwell.errors import AgentsError
from dwell.geometry import (
    Star,
    StarCell,
    StarInterval,
    StarRegion,
    dual_guaranteed_cell,
    guaranteed_cell,
    interval_of,
    shape_of,
)
from dwell.geometry.guaranteed_region import known_in, with_buffers

if TYPE_CHECKING:
    from dwell._kernels.polygon.self_trigger import Trigger

PIECES = 8  # of an interval, at first

# Interval until the next sample, evaluations of the trigger, and which limit set it.
Scanned = tuple[float, int, int]


class CellPair(NamedTuple):
    """What an agent can tell of its cell when it knows the others only roughly."""

    share: float  # mass of the guaranteed cell over that of the dual one
    offset: Points  # (n,) centroid of the guaranteed cell, seen from the agent
    clearance: float  # its distance from that cell's boundary
    diameter: float  # of the dual cell, or a little more
    circumradius: float  # the same

    def size(self, bound: str) -> float:
        """Size of the dual cell by its "diameter", or by its "circumradius": twice that."""
        return self.diameter if bound == "diameter" else 2.0 * self.circumradius


def _refuse_raster(terms: Any) -> None:
    if getattr(terms, "raster", None) is not None:
        refuse(Need.GUARANTEED_CELLS, (Feature.RASTER,))


def pair_of_functions(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Both cells of an agent, for densities that only Python can evaluate."""
    known = (ground.workspace, position, places, radii)
    try:
        inner = guaranteed_cell(*known)
    except AgentsError:  # outside the workspace
        return None
    less = star_moments(inner, ground.density)
    if less.log_mass == -math.inf:
        return None
    outer = dual_guaranteed_cell(*known)
    more = star_moments(outer, ground.density)
    share = less.mass / more.mass if less.mass > 0.0 else math.exp(less.log_mass - more.log_mass)
    if not isinstance(inner, StarCell):
        share *= max(0.0, 1.0 - less.error - more.error)  # rather sample too early than too late
    clearance = inner.distance_to_boundary(less.centroid)
    return CellPair(share, less.offset, clearance, outer.diameter, outer.circumradius)


def pair_in_polygon(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Both cells of an agent in a polygon: see `backend.pair_of`."""
    from dwell._kernels.polygon.guaranteed import OK, guaranteed_pair

    _refuse_raster(ground.terms)
    count, (wx, wy) = len(places), boundary_of(ground)
    x, y, reach, envelope = working_memory(count, len(wx))
    x[:count], y[:count], reach[:count] = places[:, 0], places[:, 1], radii
    status, mass, cx, cy, clearance, dual_mass, _, _, diameter, circumradius = guaranteed_pair(
        float(position[0]), float(position[1]), count, x, y, reach, wx, wy, ground.terms, envelope
    )
    if status != OK:
        return None
    return CellPair(mass / dual_mass, np.array([cx, cy]), clearance, diameter, circumradius)


def scan_in_polygon(
    ground: WeightedRegion, trigger: Trigger, motion: Sequence[float], places: Points
) -> Scanned:
    """The scan of a trigger for an agent in a polygon, among others sampled at `places`.

    motion : its position, error and held velocity, for how long it holds that, and the age of the
    sample, as numbers.
    """
    from dwell._kernels.polygon.self_trigger import scan_trigger

    count, (wx, wy) = len(places), boundary_of(ground)
    x, y, radius, envelope = working_memory(count, len(wx))
    x[:count], y[:count] = places.T
    interval, steps, limit = scan_trigger(
        *map(float, motion), count, x, y, radius, trigger, wx, wy, ground.terms, envelope
    )
    return float(interval), int(steps), int(limit)


_LOCAL = threading.local()  # working memory, for each thread its own


def working_memory(others: int, vertices: int) -> tuple[Floats, Floats, Floats, Any]:
    """Arrays for the others' positions and radii, and for the kernels of polygons."""
    kept: tuple[Floats, Floats, Floats, Any] | None = getattr(_LOCAL, "kept", None)
    if kept is None or _LOCAL.vertices != vertices or len(kept[0]) < others:
        from dwell._kernels.polygon.guaranteed_envelope import make_envelope

        capacity = max(2 * others, 16)
        kept = (*np.empty((3, capacity)), make_envelope(capacity, vertices))
        _LOCAL.kept, _LOCAL.vertices = kept, vertices
    return kept


def boundary_of(ground: WeightedRegion) -> tuple[Floats, Floats]:
    """x and y of the workspace's vertices, as the kernels take them."""
    return ground.once(_vertices_in_columns)


def _vertices_in_columns(ground: WeightedRegion) -> tuple[Floats, Floats]:
    refuse(Need.GUARANTEED_CELLS, shape_of(ground.workspace))
    x, y = columns(ground.hull.vertices)
    return x, y


def pair_on_line(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Both cells of an agent in an interval: see `backend.pair_of`."""
    from dwell._kernels.line.cells import MEMORY, OK, guaranteed_pair

    terms: Any = ground.terms
    line = interval_of(ground.workspace)
    memory = np.empty((len(terms.weights), MEMORY))
    q, reach = (np.ascontiguousarray(v, dtype=np.float64).reshape(-1) for v in (places, radii))
    status, share, e, clearance, length = guaranteed_pair(
        float(position[0]), len(q), q, reach, line.lower, line.upper, terms, memory
    )
    return CellPair(share, np.array([e]), clearance, length, 0.5 * length) if status == OK else None


def pair_in_region(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Both cells of an agent in space or a curved workspace: see `backend.pair_of`."""
    from dwell._kernels.star.guaranteed import OK, guaranteed_pair

    workspace: Any = ground.workspace
    terms: Any = terms_of(ground)
    if terms is None:
        return pair_of_functions(ground, position, places, radii)
    known = known_in(workspace, np.asarray(position, dtype=np.float64), places, radii)
    status, mass, x, y, z, clearance, dual, diameter, circumradius, error = with_buffers(
        lambda *known: guaranteed_pair(terms, *known), known, len(terms.weights)
    )
    if status != OK:
        return None
    # The centroid may be off by so much too; rather sample too early than too late.
    share = mass / dual * max(0.0, 1.0 - 2.0 * error)
    offset = np.array([x, y, z][: ground.dimension])
    return CellPair(share, offset, clearance, diameter, circumradius)


def star_moments(cell: Star, density: Density | object = None) -> Moments:
    """Mass, centroid and second moment of `density` (uniform by default) over `cell`.

    The offset is that of the centroid from the cell's agent. Densities that have terms are
    integrated to within rounding on the line and in polygons, elsewhere with an estimate of the
    mass's relative error (about 1e-8, in balls and ellipsoids of space 1e-6). Any other function is
    integrated adaptively, also with an estimate.

    >>> from dwell.geometry import Box, guaranteed_cell
    >>> cell = guaranteed_cell(Box((0, 0), (2, 1)), (0.5, 0.5), [(1.5, 0.5)], 0.0)
    >>> round(star_moments(cell).mass, 12)
    1.0
    """
    weight = Uniform() if density is None else as_density(density)
    if cell.empty:
        return _nothing(cell)
    if isinstance(cell, StarInterval):
        return _on_line(cell, weight)
    if isinstance(cell, StarCell):
        return _in_polygon(cell, weight)
    terms = space_terms(weight, len(cell.position))
    if terms is None:
        return cell.in_kernel(lambda *known: _of_function_in_region(cell, weight, *known))
    log_scale, mass, x, y, z, polar, error = cell.moments(terms)
    if not mass > 0.0:
        return _nothing(cell)
    e = np.array([x, y, z][: len(cell.position)]) / mass
    return _scaled(cell, log_scale, mass, e, polar - mass * float(dots(e, e)), error / mass)


def _nothing(cell: Star, error: float = 0.0) -> Moments:
    """The moments of a cell without mass, which is certain unless there is an error."""
    n, doubt = len(cell.position), math.inf if error > 0.0 else 0.0
    return Moments(0.0, -math.inf, cell.position.copy(), np.zeros(n), 0.0, doubt)


def _scaled(
    cell: Star, log_scale: float, mass: float, offset: Points, second: float, error: float = 0.0
) -> Moments:
    scale, log_mass = math.exp(log_scale), math.log(mass) + log_scale
    return Moments(mass * scale, log_mass, cell.position + offset, offset, second * scale, error)


def _on_line(cell: StarInterval, density: Density) -> Moments:
    from dwell._kernels.line.cells import MEMORY, moments_of

    low, high = (float(v) for v in cell.offsets[:, 0])
    terms = general_terms_of(density, 1)
    if terms is None:
        ends = np.linspace(low, high, PIECES + 1)[:, None]
        pieces = np.stack([ends[:-1], ends[1:]], axis=1)
        found = weigh_function(density, cell.position, pieces)
        if not found.mass > 0.0:
            return _nothing(cell, found.doubt)
        return _scaled(cell, found.log_scale, found.mass, found.error, found.second, found.doubt)
    memory = np.empty((max(1, len(terms.weights)), MEMORY))
    log_scale, mass, e, second = moments_of(low, high, float(cell.position[0]), terms, memory)
    if not mass > 0.0:
        return _nothing(cell)
    return _scaled(cell, log_scale, mass, np.array([e]), second)


def _in_polygon(cell: StarCell, density: Density) -> Moments:
    from dwell._kernels.polygon.guaranteed import star_moments_of

    terms = density.terms()
    if terms is None:
        return _of_function_in_polygon(cell, density)
    _refuse_raster(terms)
    known, env = cell.kernel_arguments(), cell.envelope()
    log_scale, mass, fx, fy, _ = star_moments_of(*known, terms, 0.0, 0.0, env)
    if mass <= 0.0:
        return _nothing(cell)
    x, y = fx / mass, fy / mass
    second = star_moments_of(*known, terms, x, y, env)[4]
    return _scaled(cell, log_scale, mass, np.array([x, y]), second)


def _of_function_in_polygon(cell: StarCell, density: Density) -> Moments:
    from dwell._kernels.common.quadrature import NODES, WEIGHTS
    from dwell._kernels.polygon.guaranteed import panels_of
    from dwell._kernels.polygon.guaranteed_envelope import EX, EY, W0, W1, A, B, F

    env = cell.envelope()
    n = panels_of(*cell.kernel_arguments(), env)
    table = _boxes_of(env.owner[:n])
    table[:, 2:4] = env.panels[:n, [W0, W1]]

    def edge(boxes: Floats, rule: int, count: int) -> Floats:
        curve = env.curves[boxes[:, 0].astype(np.int64)][:, :, None]
        w0, width = boxes[:, 2, None], boxes[:, 3, None] - boxes[:, 2, None]
        w = w0 + width * NODES[rule, :count]
        s = np.sqrt(1.0 + w * w)
        along, across = curve[:, F] - curve[:, A] * s, curve[:, B] * w
        turn = curve[:, B] * (curve[:, F] - curve[:, A] / s)
        out = np.zeros((len(boxes), count, 4))
        out[..., 0] = curve[:, EX] * along - curve[:, EY] * across
        out[..., 1] = curve[:, EY] * along + curve[:, EX] * across
        out[..., 3] = turn * WEIGHTS[rule, :count] * width
        return out

    return _of_function(cell, density, table, edge)


def _of_function_in_region(
    cell: StarRegion, density: Density, known: Any, site: Any, buffers: Any
) -> Moments:
    from dwell._kernels.star.guaranteed import nodes_of, sectors_in
    from dwell._kernels.star.sheets import SIGN

    n = len(cell.position)
    count = sectors_in(cell.sign, known, site, buffers)
    if buffers.flag[0]:  # once more with more memory
        return _nothing(cell)

    def edge(boxes: Floats, rule: int, count: int) -> Floats:
        out = np.empty((len(boxes), count ** (n - 1), 4))
        nodes_of(rule, boxes, site, buffers, out)
        return out

    return _of_function(
        cell, density, _boxes_of(np.flatnonzero(buffers.sector[:count, SIGN])), edge
    )


def _boxes_of(pieces: Ints) -> Floats:
    """Boxes (t, s, r) of the cones from the agent (r = 0) over pieces of a boundary (r = 1)."""
    table = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], (len(pieces), 1))
    table[:, 0] = pieces
    return table


def _of_function(
    cell: StarCell | StarRegion,
    density: Density,
    table: Floats,
    edge: Callable[[Floats, int, int], Floats],
) -> Moments:
    """Moments over boxes; `edge` gives points of the boundary and the flux of y through them."""
    from dwell._kernels.common.quadrature import NODES, WEIGHTS

    n = len(cell.position)

    def nodes(boxes: Floats, rule: int, count: int) -> Floats:
        boundary, r0, r1 = edge(boxes, rule, count), boxes[:, 6, None], boxes[:, 7, None]
        r = r0 + (r1 - r0) * NODES[rule, :count]
        out = boundary[:, :, None] * r[:, None, :, None]
        radial = r ** (n - 1) * WEIGHTS[rule, :count] * (r1 - r0)
        out[..., 3] = boundary[:, :, None, 3] * radial[:, None]
        return out.reshape(len(boxes), -1, 4)

    boxes = Boxes(table, nodes)
    if n == 2:
        boxes = boxes._replace(table=halved(boxes, table, n))
    mass, offset, second, error = moments_of_function(density, cell.position, boxes)
    if mass <= 0.0:
        return _nothing(cell, error)
    return _scaled(cell, 0.0, mass, offset[:n], second, error / mass)

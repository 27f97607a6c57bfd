"""Both cells of an agent that knows the others only roughly: all that a trigger needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.curved import terms_of
from dwell.cells.guaranteed_moments import star_moments
from dwell.cells.weighted_region import WeightedRegion
from dwell.errors import AgentsError
from dwell.geometry import (
    StarCell,
    dual_guaranteed_cell,
    guaranteed_cell,
    interval_of,
    is_flat,
)
from dwell.geometry.guaranteed_region import known_in, with_buffers

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms
    from dwell._kernels.star.buffers import SheetBuffers


class CellPair(NamedTuple):
    """What an agent can tell of its cell when it knows the others only roughly."""

    share: float  # mass of the guaranteed cell over that of the dual one
    offset: Points  # (n,) centroid of the guaranteed cell, seen from the agent
    clearance: float  # its distance from that cell's boundary
    diameter: float  # of the dual cell, or a little more
    circumradius: float  # the same


def pair_of(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    """Both cells of the agent at `position`; None if nothing is known.

    The others are within radii[j] of places[j]. Nothing is known when another agent may stand at
    the same place, when the guaranteed cell weighs nothing, or outside the workspace. In polygons
    this is for densities that only Python can evaluate; _kernels/guaranteed.py is quicker.
    """
    terms = _space_terms(ground)
    if terms is not None:
        return _in_region(ground, terms, position, places, radii)
    if ground.dimension == 1 and ground.terms is not None:
        return _on_line(ground, position, places, radii)
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


def _on_line(
    ground: WeightedRegion, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    from dwell._kernels.line.guaranteed import OK, guaranteed_pair
    from dwell._kernels.line.moments import MEMORY

    terms: Any = ground.terms
    line = interval_of(ground.workspace)
    memory = np.empty((len(terms.weights), MEMORY))
    q, reach = (np.ascontiguousarray(v, dtype=np.float64).reshape(-1) for v in (places, radii))
    status, share, e, clearance, length = guaranteed_pair(
        float(position[0]), len(q), q, reach, line.lower, line.upper, terms, memory
    )
    return CellPair(share, np.array([e]), clearance, length, 0.5 * length) if status == OK else None


def _space_terms(ground: WeightedRegion) -> GeneralTerms | None:
    """The density for kernels with three coordinates; None if there are none for it."""
    if ground.dimension not in (2, 3) or (ground.dimension == 2 and is_flat(ground.workspace)):
        return None
    return terms_of(ground)


def _in_region(
    ground: WeightedRegion, terms: GeneralTerms, position: Points, places: Points, radii: Floats
) -> CellPair | None:
    from dwell._kernels.star.guaranteed import OK, guaranteed_pair

    workspace: Any = ground.workspace
    known = known_in(workspace, np.asarray(position, dtype=np.float64), places, radii)

    def both(buffers: SheetBuffers) -> tuple[float, ...]:
        found: tuple[float, ...] = guaranteed_pair(*known, terms, buffers)
        return found

    status, mass, x, y, z, clearance, dual, diameter, circumradius, error = with_buffers(
        both, known, len(terms.weights)
    )
    if status != OK:
        return None
    # The centroid may be off by so much too; rather sample too early than too late.
    share = mass / dual * max(0.0, 1.0 - 2.0 * error)
    return CellPair(
        share, np.array([x, y, z][: ground.dimension]), clearance, diameter, circumradius
    )

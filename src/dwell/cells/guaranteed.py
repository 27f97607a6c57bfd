"""Both cells of an agent that knows the others only roughly: all that a trigger asks for."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.ground import Ground
from dwell.cells.guaranteed_curved import round_terms
from dwell.cells.guaranteed_moments import star_moments
from dwell.errors import AgentsError
from dwell.geometry import (
    Curved,
    StarCell,
    dual_guaranteed_cell,
    guaranteed_cell,
    interval_of,
    is_flat,
)
from dwell.geometry.star_round import in_rim, seen_in
from dwell.geometry.star_solid import in_shell, walls_of

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms
    from dwell._kernels.shells.demands import Shell
    from dwell._kernels.shells.rim import Rim


class Pair(NamedTuple):
    """What an agent can tell of its cell when it knows the others only roughly."""

    share: float  # mass of the guaranteed cell over that of the dual one
    offset: Points  # (n,) centroid of the guaranteed cell, seen from the agent
    room: float  # its distance from that cell's boundary
    diameter: float  # of the dual cell, or a little more
    circumradius: float  # the same


def pair_of(ground: Ground, position: Points, places: Points, radii: Floats) -> Pair | None:
    """Both cells of the agent at `position`; None if nothing is known.

    The others are within radii[j] of places[j]. Nothing is known when another agent may stand at
    the same place, when the guaranteed cell weighs nothing, or outside the workspace. In polygons
    this is for densities that only Python can evaluate; _kernels/guaranteed.py is quicker.
    """
    terms = _round_terms(ground)
    if terms is not None:
        return _in_curve(ground, terms, position, places, radii)
    if ground.dimension == 3 and ground.terms is not None and is_flat(ground.workspace):
        return _in_space(ground, position, places, radii)
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
        share *= max(0.0, 1.0 - less.error - more.error)  # rather look too early than too late
    room = inner.distance_to_boundary(less.centroid)
    return Pair(share, less.offset, room, outer.diameter, outer.circumradius)


def _on_line(ground: Ground, position: Points, places: Points, radii: Floats) -> Pair | None:
    from dwell._kernels.line.guaranteed import OK, guaranteed_pair
    from dwell._kernels.line.moments import MEMORY

    terms: Any = ground.terms
    line = interval_of(ground.workspace)
    memory = np.empty((len(terms.weights), MEMORY))
    q, reach = (np.ascontiguousarray(v, dtype=np.float64).reshape(-1) for v in (places, radii))
    status, share, e, room, length = guaranteed_pair(
        float(position[0]), len(q), q, reach, line.lower, line.upper, terms, memory
    )
    return Pair(share, np.array([e]), room, length, 0.5 * length) if status == OK else None


def _in_space(ground: Ground, position: Points, places: Points, radii: Floats) -> Pair | None:
    from dwell._kernels.shells.pair import OK, guaranteed_pair

    normals, offsets, size = walls_of(ground.workspace)
    p, q, reach = (np.ascontiguousarray(v, dtype=np.float64) for v in (position, places, radii))

    def both(shell: Shell) -> tuple[float, ...]:
        found: tuple[float, ...] = guaranteed_pair(
            p, size, len(q), q, reach, normals, offsets, ground.terms, shell
        )
        return found

    status, mass, x, y, z, room, dual, *sizes = in_shell(both, len(q), len(offsets))
    if status != OK:
        return None
    return Pair(mass / dual, np.array([x, y, z]), room, sizes[0], sizes[1])


@lru_cache(maxsize=8)
def _round_terms(ground: Ground) -> GeneralTerms | None:
    """The density for the kernels of curved workspaces; None on others, and if it has no terms."""
    if ground.dimension in (2, 3) and not is_flat(ground.workspace):
        return round_terms(ground.density, ground.dimension)
    return None


def _in_curve(
    ground: Ground, terms: GeneralTerms, position: Points, places: Points, radii: Floats
) -> Pair | None:
    from dwell._kernels.shells.round_pair import OK, round_pair

    region, n = cast(Curved, ground.workspace), ground.dimension

    def both(rim: Rim) -> tuple[float, ...]:
        known = seen_in(region, np.asarray(position, dtype=np.float64), places, radii)
        found: tuple[float, ...] = round_pair(*known, terms, rim)
        return found

    status, mass, x, y, z, room, dual, diameter, circumradius, error = in_rim(both, len(radii))
    if status != OK:
        return None
    # The centroid may be off by so much too; rather look too early than too late.
    share = mass / dual * max(0.0, 1.0 - 2.0 * error)
    return Pair(share, np.array([x, y, z][:n]), room, diameter, circumradius)

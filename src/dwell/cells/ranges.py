"""Sensing radii and power weights: what is accepted, and the cost with a limited range."""

from __future__ import annotations

import math

import numpy as np

from dwell._types import Floats, Points, as_numbers, finite_number, in_short, lengths
from dwell.errors import AgentsError, arriving
from dwell.geometry import Workspace

KEY = "agents.radius"
FEW = 64  # agents up to which all are listed
SCALE = 1e9  # by which a radius may be smaller or larger than the workspace
CROWD = 12.0  # agents within two radii, on average, from which few discs cut their cells


def as_radii(radius: object, agents: int, later: int = 0) -> tuple[float, ...]:
    """The radius of each agent from one number or one per agent; refuse anything else.

    `later` of the agents arrive during the run.
    """
    one = finite_number(radius)
    if one is not None:
        found = np.full(agents, one)
    else:
        found = _row_of(radius, agents, "radius", KEY, "positive numbers", later)
    bad = np.flatnonzero(~(np.isfinite(found) & (found > 0.0)))
    if bad.size:
        whose = "is" if one is not None else f"of agent {bad[0]} is"
        raise AgentsError(
            f"the sensing radius {whose} {found[bad[0]]:g}; a positive finite number is needed; "
            "leave the radius out where it is unlimited",
            code=KEY,
            key=KEY,
        )
    return tuple(found.tolist())


def refuse_scale(radii: Floats, workspace: Workspace) -> None:
    """Refuse radii out of proportion to the workspace: discs like points, squares that overflow."""
    diameter = workspace.diameter
    least, most = diameter / SCALE, diameter * SCALE
    bad = np.flatnonzero((radii < least) | (radii > most))
    if bad.size:
        raise AgentsError(
            f"the sensing radius of agent {bad[0]} is {radii[bad[0]]:g}; a length from {least:.3g} "
            f"to {most:.3g} is needed in a workspace {diameter:.3g} across; leave the radius out "
            "where it is unlimited",
            code=KEY,
            key=KEY,
        )


def as_weights(weights: object, agents: int) -> Floats:
    """The power weight of each agent, (N,); refuse anything else."""
    found = _row_of(weights, agents, "weights", "weights", "finite numbers")
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        raise AgentsError(
            f"the power weight of agent {bad[0]} is {found[bad[0]]:g}; finite numbers are needed",
            code="agents.weights",
            key="weights",
        )
    return found


def _row_of(
    values: object, agents: int, name: str, key: str, needed: str, later: int = 0
) -> Floats:
    found = as_numbers(values)
    if found is None or found.shape != (agents,):
        count = "" if found is None or found.ndim != 1 else f", {len(found)} of them"
        raise AgentsError(
            f"{name} is {in_short(values)}{count}; {needed} are needed, one for each of the "
            f"{agents} agents{arriving(later)}"
            + ("" if name == "weights" else ", or one number for all"),
            code=f"agents.{name}",
            key=key,
        )
    return found


def wide_radius(radius: Floats | None, workspace: Workspace) -> float | None:
    """The radius of all agents of the plane, if so many are within reach that discs cut few cells.

    Such cells are found as without a radius, and then cut. Where radii differ, or few agents are
    within reach, or there are few, cells are found among the agents within reach: None.
    """
    agents = 0 if radius is None else len(radius)
    if radius is None or agents <= FEW or (radius != radius[0]).any():
        return None
    lower, upper = workspace.bounds
    within = agents * 4.0 * math.pi * float(radius[0]) ** 2
    return float(radius[0]) if within > CROWD * float(np.prod(upper - lower)) else None


def limited_cost(shares: Floats, masses: Floats, radius: Floats, total: float) -> float:
    """The integral of min(R**2, min over p of |z - x_p|**2 + R**2 - r_p**2), R the largest radius.

    shares: second moments of the clipped cells about their agents, (N,); masses: theirs, (N,);
    total: the mass of the workspace, infinite if every cell lies within its disc.
    """
    largest = float(radius.max())
    inside = math.fsum(shares + (largest - radius) * (largest + radius) * masses)
    if math.isinf(total):
        return inside
    return inside + largest**2 * max(0.0, math.fsum([total, *(-masses)]))


def reaches_all(workspace: Workspace, positions: Points, radius: Floats) -> bool:
    """Whether equal radii hold the workspace, seen from each of (..., N, n) positions."""
    lower, upper = workspace.bounds
    far = np.maximum(np.abs(positions - lower), np.abs(positions - upper))
    equal = bool((radius == radius[0]).all())
    return equal and bool((lengths(far) <= radius[0]).all())

"""Deployments of agents that stay in a region that is not convex.

Each agent moves to the point of the region that is nearest to the centroid of its cell, again and
again: no step raises the cost, and where nothing moves, agents that stay in the region stop.
"""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, lengths
from dwell.geometry import Region
from dwell.studies.newton import Descent, Kind
from dwell.studies.objective import Evaluation, Objective

STEPS = 2000  # at most
REST = 1e-9  # of the diameter: a step that counts as none


def beside_targets(region: Region, at: Evaluation) -> Floats:
    """How far each agent is from the point of the region nearest to its centroid, (N,)."""
    return lengths(region.nearest_inside(at.positions + at.errors) - at.positions)


def is_admissible(region: Region, descent: Descent) -> bool:
    """Whether all agents are in the region."""
    away = lengths(region.nearest_inside(descent.positions) - descent.positions)
    return bool((away <= REST * region.diameter).all())


def confine(objective: Objective, region: Region, found: Descent, start: np.ndarray) -> Descent:
    """A descent within a region, from the nearest points to one without it.

    From `start`, which is in the region, where two of these points are one.
    """
    spent = objective.evaluations
    now = objective.evaluate(region.nearest_inside(found.positions), even_light=True)
    if now is None:
        now = objective.evaluate(region.nearest_inside(start), even_light=True)
    if now is None:
        return Descent(start, np.inf, np.inf, None, Kind.WEIGHTLESS, found.evaluations, ())
    costs, kind = [now.cost], Kind.UNFINISHED
    for _ in range(STEPS):
        step = float(beside_targets(region, now).max())
        if step <= REST * region.diameter:
            kind = Kind.CONFINED
            break
        after = objective.evaluate(
            region.nearest_inside(now.positions + now.errors), even_light=True
        )
        if after is None:
            break
        now = after
        costs.append(now.cost)
    norm = float(beside_targets(region, now).max()) / region.diameter
    evaluations = found.evaluations + objective.evaluations - spent
    return Descent(now.positions, now.cost, norm, None, kind, evaluations, tuple(costs))

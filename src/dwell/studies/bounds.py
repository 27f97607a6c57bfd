"""How low the cost of N agents can be: a reference for many agents, and bounds that always hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell.density import Density, Function, Gaussian, Tessellation, Uniform
from dwell.density import moments as moments_of
from dwell.density.moments import polygon_moments
from dwell.geometry import Workspace, polygon_of, voronoi_cells
from dwell.theory.lipschitz_bound import density_range

HEXAGON = 5.0 / (18.0 * math.sqrt(3.0))  # second moment of a regular hexagon of area 1
DISC = 1.0 / (2.0 * math.pi)  # ... of a disc of area 1: no shape has less
MOST_SIDES = 6  # of a workspace for which no cells are better than regular hexagons
PIECES = 64  # of the workspace, at most, that a square root is integrated over

ASYMPTOTIC = (
    "Zador's and Gersho's value for many agents, C N^-1 (integral of density^1/2)^2 with the "
    "hexagon's C; for few agents the best cost may lie on either side of it"
)


@final
@dataclass(frozen=True, slots=True)
class LowerBound:
    """A cost that no deployment of so many agents can be below."""

    name: str
    value: float
    says: str


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """What a cost is compared with. Only the `lower_bounds` are bounds."""

    value: float  # for many agents; approached as their number grows, from either side
    lower_bounds: tuple[LowerBound, ...]
    says: str = ASYMPTOTIC

    def as_json(self, cost: float) -> dict[str, Any]:
        """For programs, with the ratio of `cost` to the reference."""
        bounds = [
            {"name": bound.name, "value": bound.value, "says": bound.says}
            for bound in self.lower_bounds
        ]
        ratio = cost / self.value if self.value > 0.0 else None
        return {
            "name": "zador-gersho", "value": self.value, "ratio": ratio, "says": self.says,
            "lower_bounds": bounds,
        }  # fmt: skip


def reference_for(cells: Tessellation, density: Density) -> Reference:
    """For as many agents as `cells` has, on its workspace."""
    agents, workspace = len(cells.positions), cells.workspace
    root = root_mass(cells, density)
    mass = math.fsum(cells.masses)
    return Reference(
        value=HEXAGON * root * root / agents,
        lower_bounds=tuple(_lower_bounds(workspace, density, agents, mass)),
    )


def _lower_bounds(
    workspace: Workspace, density: Density, agents: int, mass: float
) -> list[LowerBound]:
    ends = density_range(density, workspace)
    if ends is None or not ends[1] > 0.0:
        return []
    highest = ends[1]
    disc = DISC * mass * (mass / highest) / agents
    if not isinstance(density, Uniform):
        says = "no cell costs less than a disc of its mass at the density's highest value"
        return [LowerBound("full-density", disc, says)]
    says = "no cell costs less than a disc of its area"
    found = [LowerBound("disc", disc, says)]
    sides = len(workspace.vertices)
    if sides <= MOST_SIDES:
        says = f"Fejes Toth: in a polygon of {sides} sides nothing is better than regular hexagons"
        found.append(LowerBound("fejes-toth", HEXAGON * mass * (mass / highest) / agents, says))
    return found


def root_mass(cells: Tessellation, density: Density) -> float:
    """The integral of the density's square root over the workspace.

    Without a closed form it is taken piece by piece, over the cells of some of the agents: these
    are small where the density is high, so that no hill is overlooked.
    """
    polygon = polygon_of(cells.workspace)
    match density:
        case Uniform(level=level):
            return math.sqrt(level) * polygon.area
        case Gaussian(center=center, rate=rate, covariance=covariance, weight=weight):
            if covariance is None:
                wider = Gaussian(center, 0.5 * (rate or 0.0), None, math.sqrt(weight))
            else:
                doubled = 2.0 * np.array(covariance)
                wider = Gaussian(center, None, doubled.tolist(), math.sqrt(weight))
            return moments_of(polygon, wider).mass
    root = Function(lambda points: np.sqrt(np.maximum(density.at(points), 0.0)))
    some = cells.positions[:: -(-len(cells.positions) // PIECES)]
    pieces = voronoi_cells(polygon, some)
    return math.fsum(
        polygon_moments(piece.offsets, piece.position, root).mass
        for piece in pieces
        if len(piece.offsets)
    )

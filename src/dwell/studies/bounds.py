"""How low the cost of N agents can be: a reference for many agents, and bounds that always hold."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from dwell.cells import Tessellation, tessellate
from dwell.density import Density, Function, Gaussian, Uniform
from dwell.geometry import Workspace, is_flat
from dwell.geometry.ellipsoid import unit_ball
from dwell.theory.lipschitz_bound import density_range

# Second moment of the best cell of content 1 that is known to fill the line, the plane and space.
INTERVAL = 1.0 / 12.0
HEXAGON = 5.0 / (18.0 * math.sqrt(3.0))
OCTAHEDRON = 3.0 * 19.0 / (192.0 * 2.0 ** (1.0 / 3.0))  # truncated: body-centred cubic
BEST = {1: ("interval", INTERVAL), 2: ("hexagon", HEXAGON), 3: ("truncated octahedron", OCTAHEDRON)}
ROUND = {1: "interval", 2: "disc", 3: "ball"}  # no shape of the same content has less
MOST_SIDES = 6  # of a workspace for which no cells are better than regular hexagons
PIECES = 64  # of the workspace, at most, that a root is integrated over


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
    says: str

    def as_json(self, cost: float) -> dict[str, Any]:
        """For programs, with the ratio of `cost` to the reference."""
        return {
            "name": "zador-gersho",
            "value": self.value,
            "ratio": cost / self.value if self.value > 0.0 else None,
            "says": self.says,
            "lower_bounds": [asdict(bound) for bound in self.lower_bounds],
        }


def reference_for(cells: Tessellation, density: Density) -> Reference:
    """For as many agents as `cells` has, on its workspace."""
    agents, workspace = len(cells.positions), cells.workspace
    n, mass = workspace.dimension, math.fsum(cells.masses)
    shape, constant = BEST[n]
    return Reference(
        value=constant * root_mass(cells, density) ** (1.0 + 2.0 / n) / agents ** (2.0 / n),
        lower_bounds=tuple(_lower_bounds(workspace, density, agents, mass)),
        says=(
            f"Zador's and Gersho's value for many agents, C N^(-2/{n}) (integral of "
            f"density^({n}/{n + 2}))^({n + 2}/{n}) with the C of the {shape}; for few agents the "
            "best cost may lie on either side of it"
        ),
    )


def _lower_bounds(
    workspace: Workspace, density: Density, agents: int, mass: float
) -> list[LowerBound]:
    ends = density_range(density, workspace)
    if ends is None or not ends[1] > 0.0:
        return []
    n, highest = workspace.dimension, ends[1]
    size = mass * (mass / highest / agents) ** (2.0 / n)
    best = n / (n + 2.0) * unit_ball(n) ** (-2.0 / n) * size  # by a ball's second moment
    if not isinstance(density, Uniform):
        says = f"no cell costs less than a {ROUND[n]} of its mass at the density's highest value"
        return [LowerBound("full-density", best, says)]
    found = [LowerBound(ROUND[n], best, f"no cell costs less than a {ROUND[n]} of its size")]
    sides = len(workspace.vertices) if n == 2 and is_flat(workspace) else math.inf
    if sides <= MOST_SIDES:
        says = f"Fejes Toth: in a polygon of {sides} sides nothing is better than regular hexagons"
        found.append(LowerBound("fejes-toth", HEXAGON * size, says))
    return found


def root_mass(cells: Tessellation, density: Density) -> float:
    """The integral of density^(n / (n + 2)) over the workspace.

    Without a closed form it is summed over the cells of some of the agents: these are small where
    the density is high, so that no peak is missed.
    """
    workspace, n = cells.workspace, cells.workspace.dimension
    power = n / (n + 2.0)
    some = cells.positions[:: -(-len(cells.positions) // PIECES)]
    root: Density
    match density:
        case Uniform(level=level):
            return float(level**power * workspace.volume)
        case Gaussian(center=center, rate=rate, covariance=covariance, weight=weight):
            if covariance is None:
                root = Gaussian(center, power * (rate or 0.0), None, weight**power)
            else:
                wider = (np.array(covariance) / power).tolist()
                root = Gaussian(center, None, wider, weight**power)
        case _:
            root = Function(lambda points: np.maximum(density.at(points), 0.0) ** power)
    return math.fsum(tessellate(workspace, some, root).masses)

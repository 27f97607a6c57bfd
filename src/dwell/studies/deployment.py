"""A deployment: positions of lowest cost, and where each start led."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell._units import OPEN, Units
from dwell.cells import Tessellation, tessellate
from dwell.density import Density, Function, Gaussian, Raster, Uniform
from dwell.density.base import terms_of
from dwell.geometry import Workspace, is_polygonal
from dwell.geometry.ellipsoid import unit_ball
from dwell.studies.newton import Descent, Kind
from dwell.theory.lipschitz_bound import density_range

if TYPE_CHECKING:
    from dwell.sites import Frame

SCHEMA = 1
SAME = 1e-10  # relative difference of costs up to which two starts found one minimum
MOST_LOG = 709.0  # logarithms of larger numbers than this have no exponential
# Second moment of the best cell of content 1 that is known to fill the line, the plane and space.
INTERVAL = 1.0 / 12.0
HEXAGON = 5.0 / (18.0 * math.sqrt(3.0))
OCTAHEDRON = 3.0 * 19.0 / (192.0 * 2.0 ** (1.0 / 3.0))  # truncated: body-centred cubic
BEST = {1: ("interval", INTERVAL), 2: ("hexagon", HEXAGON), 3: ("truncated octahedron", OCTAHEDRON)}
ROUND = {1: "interval", 2: "disc", 3: "ball"}  # no shape of the same content has less
MOST_SIDES = 6  # of a workspace for which no cells are better than regular hexagons
PIECES = 64  # of the workspace, at most, that a root is integrated over
SAMPLED = 512  # points along each side of the grid on which a root is known, if it is not smooth

SAYS = {
    Kind.MINIMUM: "a strict local minimum: every small move of the agents raises the cost",
    Kind.DEGENERATE: "a degenerate minimum: no small move was found that lowers the cost, but some "
    "leave it unchanged to second order",
    Kind.CONFINED: "confined: each agent is at the point of the region nearest to its centroid, "
    "where it would stop; whether some small move lowers the cost is not known",
    Kind.SADDLE: "a saddle: some small moves lower the cost",
    Kind.UNFINISHED: "unfinished: the search ended before the gradient vanished",
    Kind.WEIGHTLESS: "undefined: a cell weighs nothing",
}


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


@final
@dataclass(frozen=True, eq=False)
class Deployment:
    """The best of all starts, and what each of them came to."""

    workspace: Workspace
    density: Density
    descents: dict[int, Descent]  # by number of the start
    seed: int
    interrupted: bool = False  # whether some starts were not followed to their ends
    name: str | None = None  # of the scenario
    notes: tuple[str, ...] = ()  # what was repaired or decided on the way
    wall_seconds: float = 0.0
    log_scale: float = 0.0  # costs of `descents` are to be multiplied by its exponential
    units: Units = OPEN

    def __repr__(self) -> str:
        return f"<Deployment: {self.agents} agents, cost {self.cost:.7g}; {self.says}>"

    @cached_property
    def ended(self) -> dict[int, Descent]:
        """The descents that came to rest; all that have a cost, if none did."""
        known = {k: d for k, d in self.descents.items() if math.isfinite(d.cost)}
        return {k: d for k, d in known.items() if d.at_rest} or known

    @cached_property
    def best(self) -> int:
        """The start of lowest cost; the first of those that differ by rounding only."""
        least = float(self.costs[0])
        return min(k for k, d in self.ended.items() if d.cost <= (1.0 + SAME) * least)

    @property
    def lowest(self) -> Descent:
        """The descent from the best start."""
        return self.descents[self.best]

    @property
    def positions(self) -> Points:
        """The best positions found, (N, n)."""
        return self.lowest.positions

    @cached_property
    def cells(self) -> Tessellation:
        """Their cells."""
        return tessellate(self.workspace, self.positions, self.density)

    def export_gis(
        self, path: str | os.PathLike[str], *, frame: Frame, force: bool = False
    ) -> Path:
        """Write the best positions found and their cells as a map.

        Parameters
        ----------
        path : str or path
            The map to write: a GeoPackage (.gpkg) in metres, or GeoJSON (.geojson) in degrees.
        frame : Frame
            The coordinate system of the workspace: that of its site.
        force : bool
            Replace a map that exists.

        Returns
        -------
        Path
            Where the map was written. Its layers are region, cells and agents.
        """
        from dwell.exports.gis import write_cells

        return write_cells(self.cells, path, frame, force=force)

    @property
    def agents(self) -> int:
        """How many there are."""
        return len(self.positions)

    @property
    def cost(self) -> float:
        """The locational cost; 0 where it is below the smallest number, see `log_cost`."""
        return self.cells.cost if self.log_scale == 0.0 else _times(self.log_cost)

    @property
    def log_cost(self) -> float:
        """The logarithm of the cost."""
        return math.log(self.lowest.cost) + self.log_scale

    @property
    def gradient_norm(self) -> float:
        """The largest |gradient| / (2 mass) of an agent, over the workspace's diameter.

        That is the largest distance between an agent and its centroid, as a share of the workspace;
        of agents that stay in a region, the largest distance from where they would stop.
        """
        if self.kind is Kind.CONFINED:
            return self.lowest.gradient_norm
        return float(lengths(self.cells.errors).max()) / self.workspace.diameter

    @property
    def spectral_gap(self) -> float | None:
        """1 - largest eigenvalue of the centroids' derivative Dc; positive at a strict minimum.

        Lloyd's steps multiply small errors by 1 - gap.
        """
        return self.lowest.spectral_gap

    @property
    def kind(self) -> Kind:
        """Whether this is a minimum, and of which kind."""
        return self.lowest.kind

    @property
    def ending(self) -> str:
        """`finished`, `interrupted`, or `unfinished` if no start came to rest."""
        if self.interrupted:
            return "interrupted"
        return "unfinished" if self.kind is Kind.UNFINISHED else "finished"

    @property
    def says(self) -> str:
        """The kind of the best deployment, in words."""
        return SAYS[self.kind]

    @cached_property
    def costs(self) -> Floats:
        """What the starts that came to rest cost, ascending."""
        return np.sort(np.array([descent.cost for descent in self.ended.values()]))

    @property
    def median(self) -> float:
        """The median of these costs."""
        return float(np.median(self.costs))

    @property
    def times_found(self) -> int:
        """How many starts came to the best cost."""
        return int((self.costs <= (1.0 + SAME) * self.costs[0]).sum())

    @property
    def evaluations(self) -> int:
        """Cells that were computed from all starts together."""
        return sum(descent.evaluations for descent in self.descents.values())

    @cached_property
    def reference(self) -> Reference:
        """What the cost may be compared with."""
        return reference_for(self.cells, self.density)

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell optimize --json` prints."""
        kinds = [descent.kind for descent in self.descents.values()]
        return {
            "schema": SCHEMA,
            "scenario": self.name,
            "dimension": self.workspace.dimension,
            "agents": self.agents,
            **self.units.as_json(),
            "seed": self.seed,
            "integration": "exact",
            "stop": {"reason": self.ending, "ok": self.ending == "finished"},
            "cost": self.cost,
            "log_cost": self.log_cost if self.cost != 0.0 or self.log_scale != 0.0 else None,
            "mass": math.fsum(self.cells.masses),
            "positions": self.positions.tolist(),
            "masses": self.cells.masses.tolist(),
            "gradient_norm": self.gradient_norm,
            "spectral_gap": self.spectral_gap,
            "kind": self.kind.value,
            "says": self.says,
            "starts": {
                "count": len(self.descents),
                "best": self.outward(float(self.costs[0])),
                "median": self.outward(self.median),
                "worst": self.outward(float(self.costs[-1])),
                "best_start": self.best,
                "times_found": self.times_found,
                "kinds": {kind.value: kinds.count(kind) for kind in Kind if kind in kinds},
                "each": [self._row(number, descent) for number, descent in self.descents.items()],
            },
            "reference": self.reference.as_json(self.cost),
            "evaluations": self.evaluations,
            "notes": list(self.notes),
            "wall_seconds": self.wall_seconds,
        }

    def outward(self, cost: float) -> float:
        """A cost of one of the descents as it really is."""
        return cost if self.log_scale == 0.0 else _times(math.log(cost) + self.log_scale)

    def _row(self, number: int, descent: Descent) -> dict[str, Any]:
        """One start for programs."""
        known = math.isfinite(descent.cost)
        return {
            "start": number,
            "cost": self.outward(descent.cost) if known else None,
            "gradient_norm": descent.gradient_norm if known else None,
            "spectral_gap": descent.spectral_gap,
            "kind": descent.kind.value,
            "iterations": len(descent.costs),
            "evaluations": descent.evaluations,
        }


def _times(log: float) -> float:
    """The exponential of a logarithm; 0 or the largest number where it is beyond the range."""
    return math.exp(log) if log < MOST_LOG else sys.float_info.max


# How low the cost of N agents can be: a reference for many agents, and bounds that always hold.


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
    hull = workspace.hull
    convex = workspace.mask is None and is_polygonal(hull)
    sides = len(hull.vertices) if convex else math.inf
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
        case Raster(interpolation="constant"):
            root = density.like((density.scale * density.grid) ** power / density.scale)
        case _ if workspace.mask is not None or _has_raster(density, n):
            return _sampled_mass(workspace, some, density, power)
        case _:
            root = Function(lambda points: np.maximum(density.at(points), 0.0) ** power)
    return math.fsum(tessellate(workspace, some, root).masses)


def _has_raster(density: Density, dimension: int) -> bool:
    return getattr(terms_of(density, dimension), "raster", None) is not None


def _sampled_mass(workspace: Workspace, some: Points, density: Density, power: float) -> float:
    """The integral of density^power, bilinear between points of a fine grid, in the plane."""
    lower, upper = workspace.bounds
    sides = (upper - lower) / SAMPLED
    x, y = (lower + (np.arange(SAMPLED)[:, None] + 0.5) * sides).T
    points = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)
    values = np.maximum(density.at(points), 0.0).reshape(SAMPLED, SAMPLED) ** power
    if not values.any():
        return 0.0
    place: Any = {"origin": tuple(lower), "pixel": tuple(sides)}
    root = Raster(values, **place, interpolation="bilinear")
    return math.fsum(tessellate(workspace, some, root).masses)

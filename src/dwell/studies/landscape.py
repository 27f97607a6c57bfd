"""The cost as a landscape over all configurations: its height, slope and curvature at one of them.

With e the errors (centroid minus position) and M the masses, the cost has the gradient -2 M e and
the Hessian 2 (M - A); see `dwell.theory.derivatives`. In the variables M^(1/2) x, where agents of
all masses count alike, the Hessian is 2 (I - S) with S = M^(-1/2) A M^(-1/2), whose eigenvalues are
not negative. Where the gradient vanishes they are those of the derivative Dc of the centroids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.cells.backend import borders, measure_cells
from dwell.cells.measurement import Looks
from dwell.cells.weighted_region import weighted_region
from dwell.density import Density
from dwell.errors import DensityError
from dwell.geometry import Ball, Ellipsoid, Workspace
from dwell.theory.derivatives import from_borders

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TO_BOUNDARY = 0.9  # of the way to the boundary, at most, in one step
ROUNDING, QUADRATURE = 1e-13, 1e-10  # relative noise of a cost: closed forms, Python functions
MOST_DOUBT = 1e-6  # relative error of a mass from which on no slope of the cost can be trusted


@final
@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A configuration, and the cost and its slope there."""

    positions: Points  # (N, n)
    cost: float
    masses: Floats  # (N,)
    errors: Points  # (N, n) centroid minus position
    nearest: Floats  # (N,) distance of the nearest other agent; inf if there is none

    @property
    def heaviest(self) -> float:
        """The largest mass, which the others are measured by."""
        return float(self.masses.max())

    @property
    def roots(self) -> Floats:
        """Square roots of the masses over the largest, once per coordinate, (nN,)."""
        return np.repeat(np.sqrt(self.masses / self.heaviest), self.positions.shape[1])


@final
class Landscape:
    """The cost of a density on a workspace. Counts the cells that are computed to see it.

    Masses and costs are divided by exp(log_scale), so that a density beyond the range of numbers
    has some nevertheless.
    """

    def __init__(self, workspace: Workspace, density: Density, log_scale: float = 0.0) -> None:
        self.workspace = workspace
        self.density = density
        self.evaluations = 0
        self._ground = weighted_region(workspace, density)
        self.noise = QUADRATURE if self._ground.terms is None else ROUNDING
        self.log_scale = log_scale

    def look(self, positions: Points, *, even_light: bool = False) -> Place | None:
        """What is at `positions`; None where two agents meet or a cell weighs nothing.

        `even_light` lets cells pass that weigh something, but less than the smallest number.
        """
        first = self.evaluations == 0
        self.evaluations += len(positions)
        all_agents = np.arange(len(positions))
        seen = measure_cells(self._ground, positions[None], np.zeros_like(all_agents), all_agents)
        if seen.coincident.any() or seen.empty.any():
            return None
        if first:
            _refuse_doubt(self.workspace, seen)
        scale = np.exp(seen.log_scale - self.log_scale)
        masses = seen.mass * scale
        if not even_light and not (masses > 0.0).all():
            return None
        polar = math.fsum(seen.polar * scale)
        return Place(positions, polar, masses, np.ascontiguousarray(seen.error), seen.nearest)

    def curvature(self, place: Place) -> csr_array:
        """The matrix S at `place`, (nN, nN)."""
        self.evaluations += len(place.positions)
        found = borders(self.workspace, place.positions, self.density)
        return from_borders(found, self.log_scale).weighed_facets()

    def gradient_norm(self, place: Place) -> float:
        """The largest |gradient| / (2 mass) of an agent, over the workspace's diameter.

        That is the largest distance between an agent and its centroid, as a share of the workspace:
        a number without a unit, in which light cells count as much as heavy ones.
        """
        return float(lengths(place.errors).max()) / self.workspace.diameter

    def share_inside(self, place: Place, step: Points) -> float:
        """How much of `step` can be taken so that no agent comes close to the boundary at once."""
        free = steps_to_walls(self.workspace, place.positions, step)
        return max(min(1.0, TO_BOUNDARY * float(free.min())), 0.0)


def _refuse_doubt(workspace: Workspace, seen: Looks) -> None:
    """Refuse to seek the lowest of costs that are known too roughly to be compared."""
    doubt = 0.0 if seen.doubt is None else float(seen.doubt.max())
    if workspace.dimension <= 2 or not doubt > MOST_DOUBT:  # in the plane it errs far too high
        return
    raise DensityError(
        "the cost is not known well enough to seek its lowest: weights of cells of this density in "
        f"a {type(workspace).__name__} in {workspace.dimension} dimensions have relative errors of "
        f"{doubt:.1g}, and {MOST_DOUBT:g} is needed; use a density of dwell's "
        "own, or a smoother function (in space, between flat walls)",
        code="optimize.density",
        key="density",
    )


def steps_to_walls(workspace: Workspace, places: Points, step: Points) -> Floats:
    """How many such steps lead each agent to the boundary, (N,); inf where none does."""
    if not isinstance(workspace, Ball | Ellipsoid):
        free = np.full(len(places), np.inf)
        for normal, offset in zip(workspace.normals, workspace.offsets, strict=True):
            approach = dots(step, normal)
            ahead = approach > 0.0
            distance = offset - dots(places[ahead], normal)
            free[ahead] = np.minimum(free[ahead], distance / approach[ahead])
        return free
    semi_axes, axes = np.array(workspace.semi_axes), np.array(workspace.axes)
    z = (places - np.array(workspace.center)) @ axes.T / semi_axes  # |z + s v| = 1 on the boundary
    v = step @ axes.T / semi_axes
    a, b, c = dots(v, v), dots(z, v), np.maximum(1.0 - dots(z, z), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(a > 0.0, c / (b + np.sqrt(b * b + a * c)), np.inf)
    return found


def decrease(before: Place, after: Place, step: Points, noise: float) -> float:
    """By how much the cost fell over `step`.

    Where that is close to the relative `noise` of a cost, the slopes at both ends tell.
    """
    plain = before.cost - after.cost
    if abs(plain) > 10.0 * noise * before.cost:
        return plain
    pull = before.masses[:, None] * before.errors + after.masses[:, None] * after.errors
    return dot(pull.ravel(), step.ravel())


def dot(a: Floats, b: Floats) -> float:
    """The inner product, summed in an order that no number of processors changes."""
    return float(np.add.reduce(a * b))

"""The locational cost as an objective: its value, gradient and Hessian at a configuration.

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
from dwell.cells.backend import borders, measure_one
from dwell.cells.weighted_region import weighted_region
from dwell.density import Density
from dwell.errors import DensityError
from dwell.geometry import Ball, Ellipsoid, Workspace
from dwell.theory.derivatives import from_borders

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TO_BOUNDARY = 0.9  # of the way to the boundary, at most, in one step
ROUNDING, QUADRATURE = 1e-13, 1e-10  # relative noise of a cost: closed forms, Python functions
ROUGHEST = 1e-6  # relative error of a mass beyond which no gradient of the cost can be trusted


@final
@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """A configuration with its cost and its gradient."""

    positions: Points  # (N, n)
    cost: float
    masses: Floats  # (N,)
    errors: Points  # (N, n) centroid minus position
    nearest: Floats  # (N,) distance of the nearest other agent; inf if there is none
    diameter: float  # of the workspace

    @property
    def gradient_norm(self) -> float:
        """The largest |gradient| / (2 mass) of an agent, over the workspace's diameter.

        That is the largest distance between an agent and its centroid, as a share of the workspace:
        a number without a unit, in which light cells count as much as heavy ones.
        """
        return float(lengths(self.errors).max()) / self.diameter

    @property
    def heaviest(self) -> float:
        """The largest mass, which scales the others."""
        return float(self.masses.max())

    @property
    def roots(self) -> Floats:
        """Square roots of the masses over the largest, once per coordinate, (nN,)."""
        return np.repeat(np.sqrt(self.masses / self.heaviest), self.positions.shape[1])


@final
class Objective:
    """The cost of a density on a workspace, with a count of the cells computed for it.

    Masses and costs are divided by exp(log_scale), which brings a density beyond the range of
    doubles into it.
    """

    def __init__(self, workspace: Workspace, density: Density, log_scale: float = 0.0) -> None:
        self.workspace = workspace
        self.density = density
        self.evaluations = 0
        self._ground = weighted_region(workspace, density)
        self.noise = QUADRATURE if self._ground.terms is None else ROUNDING
        self.log_scale = log_scale

    def evaluate(self, positions: Points, *, even_light: bool = False) -> Evaluation | None:
        """The cost at `positions`; None where two agents coincide or a cell has no mass.

        `even_light` accepts masses that are positive, but below the smallest double.
        """
        first = self.evaluations == 0
        self.evaluations += len(positions)
        seen = measure_one(self._ground, positions)
        if seen.coincident.any() or seen.empty.any():
            return None
        if first and seen.doubt is not None:
            _refuse_rough(self.workspace, float(seen.doubt.max()))
        scale = np.exp(seen.log_scale - self.log_scale)
        masses = seen.mass * scale
        if not even_light and not (masses > 0.0).all():
            return None
        cost, errors = math.fsum(seen.polar * scale), np.ascontiguousarray(seen.error)
        return Evaluation(positions, cost, masses, errors, seen.nearest, self.workspace.diameter)

    def curvature(self, at: Evaluation) -> csr_array:
        """The matrix S at a configuration, (nN, nN)."""
        self.evaluations += len(at.positions)
        found = borders(self.workspace, at.positions, self.density)
        return from_borders(found, self.log_scale).weighed_facets()

    def share_inside(self, at: Evaluation, step: Points) -> float:
        """How much of `step` can be taken so that no agent comes close to the boundary at once."""
        free = steps_to_boundary(self.workspace, at.positions, step)
        return max(min(1.0, TO_BOUNDARY * float(free.min())), 0.0)


def _refuse_rough(workspace: Workspace, error: float) -> None:
    """Refuse to minimise a cost whose masses have too large a relative `error`."""
    if workspace.dimension <= 2 or not error > ROUGHEST:  # in the plane the estimate is too high
        return
    raise DensityError(
        "the cost is not known well enough to seek its lowest: weights of cells of this density in "
        f"a {type(workspace).__name__} in {workspace.dimension} dimensions have relative errors of "
        f"{error:.1g}, and {ROUGHEST:g} is needed; use a density of dwell's "
        "own, or a smoother function (in space, between flat walls)",
        code="optimize.density",
        key="density",
    )


def steps_to_boundary(workspace: Workspace, positions: Points, step: Points) -> Floats:
    """How many such steps lead each agent to the boundary, (N,); inf where none does."""
    site = workspace.hull
    if not isinstance(site, Ball | Ellipsoid):
        free = np.full(len(positions), np.inf)
        for normal, offset in zip(site.normals, site.offsets, strict=True):
            approach = dots(step, normal)
            ahead = approach > 0.0
            distance = offset - dots(positions[ahead], normal)
            free[ahead] = np.minimum(free[ahead], distance / approach[ahead])
        return free
    semi_axes, axes = np.array(site.semi_axes), np.array(site.axes)
    # In these coordinates |z + s v| = 1 on the boundary.
    z = (positions - np.array(site.center)) @ axes.T / semi_axes
    v = step @ axes.T / semi_axes
    a, b, c = dots(v, v), dots(z, v), np.maximum(1.0 - dots(z, z), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0.0, c / (b + np.sqrt(b * b + a * c)), np.inf)


def decrease(before: Evaluation, after: Evaluation, step: Points, noise: float) -> float:
    """By how much the cost fell over `step`.

    Where that is close to the relative `noise` of a cost, the gradients at both ends decide.
    """
    plain = before.cost - after.cost
    if abs(plain) > 10.0 * noise * before.cost:
        return plain
    pull = before.masses[:, None] * before.errors + after.masses[:, None] * after.errors
    return dot(pull.ravel(), step.ravel())


def dot(a: Floats, b: Floats) -> float:
    """The inner product, summed in an order that no number of processors changes."""
    return float(np.add.reduce(a * b))

"""Where a density meets a workspace: is it positive enough to divide by?"""

from __future__ import annotations

import itertools
import math

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.density.base import Density, refuse_dimension, terms_of
from dwell.density.gaussian import Gaussian, drops
from dwell.density.mixture import Mixture
from dwell.density.uniform import Uniform
from dwell.errors import DensityError
from dwell.geometry import Workspace, is_flat

SAMPLES = 65  # lattice points per side of the bounding box
MOST_PROBES = 16_000  # outside the plane
DECADES = 300  # moments lie between 1e-300 and 1e300
STEEPEST = 1e14  # exponents beyond have no digits left for differences of 1
ROUNDING = 1e-13  # relative errors of masses up to this are not worth a word
ULPS = 1.0  # of the lengths in a cell's frame: by so much rounding may move its corners


def check_density(density: Density, workspace: Workspace) -> None:
    """Refuse a density that is negative, not finite, or zero all over `workspace`.

    Evaluates a lattice of points and the vertices; Gaussians and constants are positive by
    construction, so for them the vertices suffice.
    """
    refuse_dimension(density, workspace.dimension)
    positive = all(isinstance(part, (Uniform, Gaussian)) for part in _parts(density))
    points = _rim(workspace) if positive else _probes(workspace)
    with np.errstate(all="ignore"):
        values = density.at(points)
    for bad, k, code, need in (
        (~np.isfinite(values), np.argmin(np.isfinite(values)), "density.nonfinite", "be finite"),
        (values < 0.0, np.argmin(values), "density.negative", "not be negative"),
    ):
        if bad.any():
            raise DensityError(
                f"the density is {values[k]:g} at {points[k].tolist()}; it must {need} anywhere in "
                "the workspace",
                code=code,
                key="density",
            )
    _refuse_range(density, workspace, float(values.max()))
    if not (values > 0.0).any() and terms_of(density, workspace.dimension) is None:
        raise DensityError(
            "the density is zero at every place looked at in the workspace; agents could not tell "
            "where to go: give some part of the workspace a positive weight (a narrow peak as a "
            "Gaussian)",
            code="density.zero",
            key="density",
        )


def rounding_of(
    density: Density, workspace: Workspace, positions: Points, log_masses: Floats
) -> Floats:
    """Relative errors of cells' masses by rounding of their vertices, (N,); 0 if negligible.

    A vertex that moves by a fraction s of the width of a Gaussian component changes a mass by about
    s; in the tail, by s times the distance in widths, which follows from the mass.
    """
    found = np.zeros(len(positions))
    ends = np.stack(workspace.bounds)
    for hill in (part for part in _parts(density) if isinstance(part, Gaussian)):
        root, center = hill.root, np.array(hill.center)
        frame = lengths(positions - center) + lengths(np.abs(ends - center).max(axis=0))
        whole = 0.5 * len(center) * math.log(math.pi) - math.fsum(np.log(np.diag(root)))
        tail = math.log(hill.weight) + whole - log_masses
        widths = math.sqrt(float((root**2).sum())) * frame
        share = ULPS * np.finfo(float).eps * widths * (1.0 + np.sqrt(np.maximum(tail, 0.0)))
        found = np.maximum(found, share)
    return np.where(found > ROUNDING, found, 0.0)


def least_log_cost(density: Density, workspace: Workspace, agents: int) -> float:
    """A lower bound of the logarithm of the cost of any `agents` positions; -inf if unknown.

    Of all sets of one volume a ball has the least second moment, and equal volumes the least sum.
    """
    n = workspace.dimension
    parts = _parts(density)
    if n > 5 or not all(isinstance(part, (Uniform, Gaussian)) for part in parts):
        return -math.inf
    corners = np.array(list(itertools.product(*np.transpose(workspace.bounds))))
    with np.errstate(under="ignore"):
        least = max(float(part.at(corners).min()) for part in parts)
    if least <= 0.0:
        return -math.inf
    unit_ball = 0.5 * n * math.log(math.pi) - math.lgamma(0.5 * n + 1.0)
    share = math.log(workspace.volume) - math.log(agents)
    moment = math.log(agents * n / (n + 2)) + share + 2.0 / n * (share - unit_ball)
    return math.log(least) + moment


def _parts(density: Density) -> tuple[Density, ...]:
    return density.parts if isinstance(density, Mixture) else (density,)


def _refuse_range(density: Density, workspace: Workspace, largest: float) -> None:
    """Refuse moments out of the range of doubles, and components too steep for an exponent."""
    hills = [part for part in _parts(density) if isinstance(part, Gaussian)]
    largest = max([largest, *(hill.weight for hill in hills)])
    n = workspace.dimension
    for power in (0, n, n + 2) if largest > 0.0 else ():
        size = math.log10(largest) + power * math.log10(workspace.diameter)
        if abs(size) > DECADES:
            raise DensityError(
                f"the density reaches {largest:g} in a workspace {workspace.diameter:g} across, so "
                f"its moments would leave the range of numbers, 1e-{DECADES} to 1e{DECADES}; "
                "choose another unit of density",
                code="density.range",
                key="density",
            )
    for hill in hills:
        drop = _deepest(hill, workspace)
        if not drop <= STEEPEST:
            raise DensityError(
                f"the Gaussian density at {list(hill.center)} falls to exp(-{drop:.3g}) in the "
                f"workspace; at most exp(-{STEEPEST:g}) can be told apart: make it wider, or move "
                "its center nearer",
                code="density.range",
                key="density",
            )


def _deepest(hill: Gaussian, workspace: Workspace) -> float:
    """The largest (z - center)' Q (z - center) in the workspace."""
    if workspace.dimension != 2 or not is_flat(workspace):
        return _deepest_anywhere(hill, workspace)
    x, y = (workspace.vertices - hill.center).T
    qxx, qxy, qyy = hill.form
    with np.errstate(all="ignore"):
        falls = qxx * x * x + 2.0 * qxy * x * y + qyy * y * y
    return float(falls.max())


def _deepest_anywhere(hill: Gaussian, workspace: Workspace) -> float:
    """Volume in any dimension; a bound where the boundary is curved."""
    with np.errstate(all="ignore"):
        if is_flat(workspace):
            return float(drops(workspace.vertices - np.array(hill.center), hill.root).max())
        lower, upper = workspace.bounds
        middle = drops((0.5 * (lower + upper) - hill.center)[None], hill.root)[0]
        steepest = math.sqrt(float((hill.root**2).sum())) * 0.5 * workspace.diameter
        return (math.sqrt(float(middle)) + steepest) ** 2


def _rim(workspace: Workspace) -> Points:
    """Corners; where there are none, the ends of a curved workspace along each coordinate."""
    if is_flat(workspace):
        return workspace.vertices
    lower, upper = workspace.bounds
    middle = 0.5 * (lower + upper)
    reach = np.diag(0.5 * (upper - lower))
    return workspace.nearest(np.vstack([middle - reach, middle + reach]))


def _probes(workspace: Workspace) -> Points:
    lower, upper = workspace.bounds
    if workspace.dimension == 2:
        x, y = (np.linspace(a, b, SAMPLES) for a, b in zip(lower, upper, strict=True))
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    else:
        points = _scattered(lower, upper)
    inside = points[workspace.contains(points)]
    rim = _rim(workspace)
    return np.vstack([rim, rim.mean(axis=0, keepdims=True), inside])


def _scattered(lower: Floats, upper: Floats) -> Points:
    """A lattice in the bounding box, about as many points as in the plane; else by chance."""
    n = len(lower)
    side = int(MOST_PROBES ** (1.0 / n))
    if side < 4:
        shares = np.random.default_rng(0).random((MOST_PROBES, n))
        return lower + shares * (upper - lower)
    axes = [np.linspace(a, b, min(side, 1025)) for a, b in zip(lower, upper, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, n)

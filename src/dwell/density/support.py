"""Where a density meets a workspace: is it positive enough to divide by?"""

from __future__ import annotations

import itertools
import math

import numpy as np

from dwell._compatibility import Need, refuse
from dwell._types import Floats, Points, lengths
from dwell.density.base import Density, refuse_dimension, terms_of
from dwell.density.gaussian import Gaussian, drops
from dwell.density.mixture import Mixture
from dwell.density.raster import Raster
from dwell.density.uniform import Uniform
from dwell.errors import DensityError
from dwell.geometry import Region, Workspace, is_flat, shape_of, words_of

SAMPLES = 65  # lattice points per side of the bounding box
MOST_PROBES = 16_000  # outside the plane
DECADES = 300  # moments lie between 1e-300 and 1e300
STEEPEST = 1e14  # exponents beyond have no digits left for differences of 1
ROUNDING = 1e-13  # relative errors of masses up to this are not worth a word
UNCOVERED = 1e-9  # of the area of a workspace: rounding of its corners, or of a grid's
OF_SIDES = 32.0  # roundings of the sides of a cell, which are eight times its radius of gyration
ROD = 4.0  # length of a slender cell over its spread
AROUND = 2.2  # edges of a cell over that length
ULPS = 1.0  # of the lengths in a cell's frame: by so much rounding may move its corners


def check_density(density: Density, workspace: Workspace) -> None:
    """Refuse a density that is negative, not finite, or zero all over `workspace`.

    Evaluates a lattice of points and the vertices; Gaussians and constants are positive by
    construction, so for them the vertices suffice.
    """
    refuse_dimension(density, workspace.dimension)
    for part in _parts(density):
        if isinstance(part, Raster):
            _refuse_raster(part, workspace, alone=part is density)
    positive = all(isinstance(part, (Uniform, Gaussian)) for part in _parts(density))
    points = _extremes(workspace) if positive else _probes(workspace)
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
            "the density is zero at every point evaluated in the workspace; agents could not tell "
            "where to go: give some part of the workspace a positive weight (a narrow peak as a "
            "Gaussian)",
            code="density.zero",
            key="density",
        )


def is_zero_somewhere(density: Density, workspace: Workspace) -> bool:
    """Whether a density is 0 at a vertex, or at a point of a lattice, of a workspace."""
    with np.errstate(all="ignore"):
        return bool((density.at(_probes(workspace)) <= 0.0).any())


def _refuse_raster(raster: Raster, workspace: Workspace, *, alone: bool) -> None:
    """Refuse a raster that does not cover a workspace, or that weighs nothing there."""
    refuse(Need.RASTER, shape_of(workspace), **words_of(workspace))
    corners = workspace.hull.polygon.vertices
    uncovered = raster.uncovered(corners)
    if uncovered > UNCOVERED and raster.outside is None:
        raise DensityError(
            f"the raster leaves {uncovered:.3g} of the workspace's area uncovered; it must cover "
            "all of it: check origin, pixel and rows, or give outside = 0.0, so that the rest "
            "weighs nothing",
            code="density.coverage",
            key="density.outside",
        )
    if alone and not raster.window(corners).any():
        raise DensityError(
            "the raster is 0 in all pixels round the workspace; agents could not tell where to go: "
            "check origin, pixel and rows",
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
    for gaussian in _gaussians(density):
        root, center = gaussian.root, np.array(gaussian.center)
        frame = lengths(positions - center) + lengths(np.abs(ends - center).max(axis=0))
        whole = 0.5 * len(center) * math.log(math.pi) - math.fsum(np.log(np.diag(root)))
        tail = math.log(gaussian.weight) + whole - log_masses
        widths = math.sqrt(float((root**2).sum())) * frame
        share = ULPS * np.finfo(float).eps * widths * (1.0 + np.sqrt(np.maximum(tail, 0.0)))
        found = np.maximum(found, share)
    return np.where(found > ROUNDING, found, 0.0)


def rounding_of_sides(density: Density, areas: Floats, squares: Floats) -> Floats:
    """Relative errors of masses over a raster by rounding of the sides of cells; 0 if negligible.

    Sides are rounded as their own length and that of a pixel are: a slender cell loses digits.
    squares : of distances from the agent, on average over each area.
    """
    raster = getattr(terms_of(density, 2), "raster", None)
    if raster is None:
        return np.zeros(len(areas))
    reach, pixel = np.sqrt(squares), float(np.sqrt((raster.place[6:10] ** 2).sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = OF_SIDES * np.finfo(float).eps * (reach + pixel) * reach / areas
    found: Floats = np.where(share > ROUNDING, share, 0.0)
    return found


def rounding_of_edges(
    density: Density, region: Region, centroids: Points, log_masses: Floats, spreads: Floats
) -> Floats:
    """Relative errors of masses in a region by rounding of its pieces, (N,); 0 if negligible.

    Pieces are rounded at the size of the region: a strip along the edges, so much wider or
    narrower, is the more of a mass the more slender that is.
    spreads : of the mass about the agent, the root of the mean square.
    """
    size = float(np.ptp(region.hull.vertices, axis=0).max())
    edges = AROUND * ROD * spreads
    with np.errstate(all="ignore"):
        share = ULPS * np.finfo(float).eps * size * edges * density.at(centroids)
        found = np.where(share > 0.0, share * np.exp(-log_masses), 0.0)
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


def _gaussians(density: Density) -> list[Gaussian]:
    return [part for part in _parts(density) if isinstance(part, Gaussian)]


def _refuse_range(density: Density, workspace: Workspace, largest: float) -> None:
    """Refuse moments out of the range of doubles, and components too steep for an exponent."""
    gaussians = _gaussians(density)
    largest = max([largest, *(gaussian.weight for gaussian in gaussians)])
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
    for gaussian in gaussians:
        drop = _deepest(gaussian, workspace)
        if not drop <= STEEPEST:
            raise DensityError(
                f"the Gaussian density at {list(gaussian.center)} falls to exp(-{drop:.3g}) in the "
                f"workspace; at most exp(-{STEEPEST:g}) can be told apart: make it wider, or move "
                "its center nearer",
                code="density.range",
                key="density",
            )


def _deepest(gaussian: Gaussian, workspace: Workspace) -> float:
    """The largest (z - center)' Q (z - center) in the workspace; a bound if that is curved."""
    with np.errstate(all="ignore"):
        if is_flat(workspace.hull):
            return float(drops(gaussian, workspace.hull.vertices).max())
        lower, upper = workspace.bounds
        middle = drops(gaussian, (0.5 * (lower + upper))[None])[0]
        steepest = math.sqrt(float((gaussian.root**2).sum())) * 0.5 * workspace.diameter
        return (math.sqrt(float(middle)) + steepest) ** 2


def _extremes(workspace: Workspace) -> Points:
    """Vertices; where there are none, the ends of a curved workspace along each coordinate."""
    if is_flat(workspace.hull):
        return workspace.hull.vertices
    lower, upper = workspace.bounds
    middle = 0.5 * (lower + upper)
    reach = np.diag(0.5 * (upper - lower))
    return workspace.nearest(np.vstack([middle - reach, middle + reach]))


def _probes(workspace: Workspace) -> Points:
    """Extreme points, their mean, and those points of a lattice that lie in the workspace.

    Where a lattice would be too coarse, points are drawn at random.
    """
    n, (lower, upper) = workspace.dimension, workspace.bounds
    side = SAMPLES if n == 2 else min(int(MOST_PROBES ** (1.0 / n)), 1025)
    if side < 4:
        points = lower + np.random.default_rng(0).random((MOST_PROBES, n)) * (upper - lower)
    else:
        axes = [np.linspace(a, b, side) for a, b in zip(lower, upper, strict=True)]
        mesh = np.meshgrid(*axes) if n == 2 else np.meshgrid(*axes, indexing="ij")
        points = np.stack(mesh, axis=-1).reshape(-1, n)
    ends = _extremes(workspace)
    return np.vstack([ends, ends.mean(axis=0, keepdims=True), points[workspace.contains(points)]])

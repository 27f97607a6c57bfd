"""A workspace together with a density on it, as the kernels use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, final

from dwell._compatibility import Feature, Need, refuse
from dwell._kernels.common.density_terms import GeneralTerms, Terms
from dwell.cells.grid import lattice_terms
from dwell.density.base import Density, refuse_dimension, terms_of
from dwell.density.moving import density_at, moves
from dwell.geometry import (
    Convex,
    Region,
    Workspace,
    is_flat,
    is_planar,
    shape_of,
    words_of,
)
from dwell.geometry.moving import MovingPolygon

if TYPE_CHECKING:
    from dwell._kernels.polygon.pieces import Pieces


Made = TypeVar("Made")
AT = "at"  # the key under which `WeightedRegion.at` keeps its last time and result


@final
@dataclass(frozen=True, eq=False, slots=True)
class WeightedRegion:
    """A workspace and its density; of one that changes over time see `at`.

    Cells are cut in `hull`, and the density counts in the `mask`, if there is one.
    """

    workspace: Workspace  # of one that moves, at time 0
    density: Density
    terms: Terms | GeneralTerms | None  # for the kernels; None if only Python can evaluate it
    moves: bool = False  # whether workspace or density change over time
    boundary: MovingPolygon | None = None  # the workspace, if it moves
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, make: Callable[[WeightedRegion], Made]) -> Made:
        """What `make` returns of this region, made once; it is kept as long as the region."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made

    @property
    def hull(self) -> Convex:
        """The convex workspace in which cells are cut."""
        return self.workspace.hull

    @property
    def mask(self) -> Region | None:
        """The region outside which the density counts as zero; None if it counts everywhere."""
        return self.workspace.mask

    @property
    def dimension(self) -> int:
        """Of the workspace."""
        return self.workspace.dimension

    @property
    def tracked(self) -> bool:
        """Whether kernels can bring the density to any time, and nothing else moves."""
        own = self.terms
        follows = isinstance(own, Terms) and len(own.track) > 0
        return follows and self.boundary is None and is_flat(self.hull)

    def at(self, t: float) -> WeightedRegion:
        """The workspace and the density at time t; successive calls at one time share it."""
        if not self.moves:
            return self
        last: tuple[float, WeightedRegion] | None = self._made.get(AT)
        if last is None or last[0] != t:
            site = self.workspace if self.boundary is None else self.boundary.now(t)
            last = t, weighted_region(site, density_at(self.density, t))
            self._made[AT] = last
        return last[1]


def own_terms(ground: WeightedRegion) -> Any:
    """The terms of the density; copies of those that kernels bring to other times."""
    terms: Any = ground.terms
    if not ground.tracked:
        return terms
    raster = terms.raster
    if raster is not None:
        raster = raster._replace(frame=raster.frame.copy())
    return terms._replace(gaussians=terms.gaussians.copy(), raster=raster)


def confined(workspace: Workspace, density: Density) -> Terms | GeneralTerms | None:
    """The terms of a density, confined to the mask of a workspace, if it has one."""
    terms, mask = terms_of(density, workspace.dimension), workspace.mask
    if mask is None:
        return terms
    if not isinstance(terms, Terms):
        refuse(Need.REGION, (Feature.FUNCTION,), density=type(density).__name__)
    assert isinstance(terms, Terms)
    try:
        key: Any = density
        pieces = _kept(mask, key)
    except TypeError:  # a density without a hash
        pieces = _weighed(terms, mask.pieces)
    return terms._replace(region=pieces)


@lru_cache(maxsize=8)
def _kept(mask: Region, density: Density) -> Pieces:
    """The pieces of a region with the moments of a density, kept for the next call."""
    return _weighed(terms_of(density, mask.dimension), mask.pieces)


def _weighed(terms: Any, pieces: Pieces) -> Pieces:
    """The pieces of a region with the moments of a density; of one that moves, without."""
    from dwell._kernels.polygon.buffers import make_scratch
    from dwell._kernels.polygon.pieces import MASS, POLAR
    from dwell._kernels.polygon.region_moments import weigh_nodes

    node = pieces.node.copy()
    if len(terms.track):
        node[:, MASS] = -1.0
    elif len(terms.gaussians) or len(terms.polynomials) or terms.raster is not None:
        weigh_nodes(terms, pieces, node, make_scratch(1, 4))
    else:
        node[:, [MASS, POLAR]] *= terms.constant
    return pieces._replace(node=node)


def changing_region(
    workspace: Workspace | MovingPolygon, density: Density, spacing: float | None = None
) -> WeightedRegion:
    """Return `density` on `workspace`, both of which may change over time.

    With a spacing nothing changes, and it is integrated on a grid of points.
    """
    boundary = workspace if isinstance(workspace, MovingPolygon) else None
    site = workspace.now(0.0) if isinstance(workspace, MovingPolygon) else workspace
    moving = moves(density)
    if not moving and boundary is None:
        return weighted_region(site, density, spacing)
    refuse_dimension(density, site.dimension)
    if moving and (not is_planar(site) or density.terms() is None):
        confined(site, density_at(density, 0.0))  # which refuses what a region does not take
        return WeightedRegion(site, density, None, True, boundary)
    return WeightedRegion(site, density, confined(site, density), True, boundary)


def weighted_region(
    workspace: Workspace, density: Density, spacing: float | None = None
) -> WeightedRegion:
    """Return `density` on `workspace`, integrated exactly or on a grid with this spacing."""
    refuse_dimension(density, workspace.dimension)
    if spacing is None:
        return WeightedRegion(workspace, density, confined(workspace, density))
    refuse(Need.GRID, shape_of(workspace), **words_of(workspace))
    return WeightedRegion(workspace, density, lattice_terms(density, workspace, spacing))

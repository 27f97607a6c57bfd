"""The features of a workspace and its density that decide what goes with them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dwell._compatibility import Feature
from dwell._kernels.common.density_terms import Terms
from dwell.cells.weighted_region import WeightedRegion
from dwell.density import Mixture, MovingRaster, Raster
from dwell.geometry import shape_of


@lru_cache(maxsize=4)
def features_of(ground: WeightedRegion, time: float = 0.0) -> frozenset[Feature]:
    """The features of a workspace with its density, at a time where they move."""
    now = ground.at(time)
    terms: Any = now.terms
    density = ground.density
    parts = density.parts if isinstance(density, Mixture) else (density,)
    having = {
        Feature.FUNCTION: terms is None,
        Feature.GRID: isinstance(terms, Terms) and len(terms.lattice) > 0,
        Feature.RASTER: any(isinstance(part, Raster | MovingRaster) for part in parts),
        Feature.MOVING: ground.moves,
        Feature.UNTRACKED: ground.moves and not ground.tracked,
        Feature.BOUNDARY: ground.boundary is not None,
    }
    return shape_of(now.workspace) | {feature for feature, has in having.items() if has}

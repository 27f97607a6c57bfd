"""Mixture: the sum of several densities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from dwell._kernels.common.density_terms import FIRST, OF_RASTER, ROW, GeneralTerms, Terms
from dwell._types import Floats, Points, listed
from dwell.density.base import Density, as_density, dimension_of, general_terms_of
from dwell.density.moving_raster import MovingRaster
from dwell.density.raster import Raster
from dwell.errors import DensityError


@final
@dataclass(frozen=True)
class Mixture:
    """The sum of several densities; each Gaussian has its own weight, each uniform part its level.

    Parameters
    ----------
    parts : tuple of densities
        The summands: Uniform, Polynomial, Gaussian, and rasters on one grid.

    Examples
    --------
    >>> import dwell
    >>> two = dwell.Mixture((dwell.Uniform(1.0), dwell.Gaussian((0, 0), rate=1.0)))
    >>> float(two.at([[0.0, 0.0]])[0])
    2.0
    """

    parts: tuple[Density, ...]

    def __post_init__(self) -> None:
        parts = tuple(as_density(part) for part in listed(self.parts))
        if not parts:
            raise DensityError(
                "a mixture has no parts; at least one density is needed",
                code="density.zero",
                key="density.parts",
            )
        object.__setattr__(self, "parts", parts)
        _refuse_grids([part for part in parts if isinstance(part, Raster | MovingRaster)])
        known = {n for n in map(dimension_of, parts) if n is not None}
        if len(known) > 1:
            counts = " and ".join(map(str, sorted(known)))
            raise DensityError(
                f"the parts of a mixture have {counts} coordinates; all must have the same number",
                code="density.dimension",
                key="density.parts",
            )

    @property
    def dimension(self) -> int | None:
        """That of its parts; None if they go with any."""
        return next((n for n in map(dimension_of, self.parts) if n is not None), None)

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        total: Floats = np.sum([part.at(points) for part in self.parts], axis=0)
        return total

    def terms(self) -> Terms | None:
        """The terms of all parts together; None if one of them has none."""
        parts = [part.terms() for part in self.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        rasters = tuple(part for part in self.parts if isinstance(part, Raster))
        whole = [_sum(rasters).terms()] if len(rasters) > 1 else known
        tables = [p.polynomials for p in known]
        missing = max(t.shape[1] for t in tables) - np.array([t.shape[1] for t in tables])
        wide = [np.pad(t, ((0, 0), (0, m), (0, m))) for t, m in zip(tables, missing, strict=True)]
        return Terms(
            constant=sum((p.constant for p in known), 0.0),
            polynomials=np.concatenate(wide),
            origins=np.concatenate([p.origins for p in known]),
            gaussians=np.concatenate([p.gaussians for p in known]),
            raster=next((p.raster for p in whole if p.raster is not None), None),
            **_tracks(known),
        )

    def general_terms(self, dimension: int) -> GeneralTerms | None:
        """The terms of all parts together in n dimensions; None if one of them has none."""
        parts = [general_terms_of(part, dimension) for part in self.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        constant, *columns = zip(*known, strict=True)
        return GeneralTerms(sum(constant), *(np.concatenate(arrays) for arrays in columns))


def _refuse_grids(rasters: list[Raster | MovingRaster]) -> None:
    """Refuse rasters that cannot be added value by value."""
    for k, one in enumerate(rasters[1:]):
        first = rasters[0]
        if isinstance(first, MovingRaster) or isinstance(one, MovingRaster):
            differs = "changes over time beside another raster"
        else:
            differs = first.difference(one) or ""
        if differs:
            raise DensityError(
                f"raster {k + 1} of a mixture {differs}; rasters of a mixture must lie on one grid "
                "and not change: resample them, or add their values in one raster",
                code="density.raster",
                key="density.parts",
            )


@lru_cache(maxsize=4)
def _sum(rasters: tuple[Raster, ...]) -> Raster:
    """The raster of the sums of values."""
    whole = np.asarray(np.sum([one.grid for one in rasters], axis=0, dtype=np.float64))
    return rasters[0].like(whole)


def _tracks(parts: list[Terms]) -> dict[str, np.ndarray]:
    """The tracks of all parts, which refer to the Gaussians and keyframes of all parts."""
    gaussians = np.cumsum([0, *(len(part.gaussians) for part in parts)])
    keys = np.cumsum([0, *(len(part.key_times) for part in parts)])
    rows = [part.track.copy() for part in parts]
    for k, own in enumerate(rows):
        own[own[:, ROW] != OF_RASTER, ROW] += gaussians[k]
        own[:, FIRST] += keys[k]
    return {
        "track": np.concatenate(rows),
        "key_times": np.concatenate([part.key_times for part in parts]),
        "key_values": np.concatenate([part.key_values for part in parts]),
    }

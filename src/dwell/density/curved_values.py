"""Ground and Looks as the curved workspaces use them: here until the shared ones are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from dwell._types import Floats, Ints, Points


class CurvedWorkspace(Protocol):
    """A ball or an ellipsoid: sum over i of (axes[i] . (z - center) / semi_axes[i])**2 <= 1."""

    @property
    def center(self) -> tuple[float, ...]: ...
    @property
    def semi_axes(self) -> tuple[float, ...]: ...
    @property
    def axes(self) -> Floats: ...
    def nearest(self, points: Points) -> Points: ...


@final
@dataclass(frozen=True, eq=False, slots=True)
class Ground:
    """The workspace and how much each place matters."""

    workspace: CurvedWorkspace
    density: Any
    terms: Any  # for the kernels; None if only Python can evaluate the density


@final
@dataclass(frozen=True, eq=False)
class Looks:
    """What agents saw, one entry per look."""

    met: np.ndarray  # whether another agent stood at the same place; the rest is then void
    empty: np.ndarray  # whether the cell weighed nothing
    error: Points  # (K, n) centroid minus position
    log_scale: Floats  # mass and moments are to be multiplied by its exponential
    mass: Floats
    polar: Floats  # second moment about the position
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent; inf if there is none
    second: Floats | None = None  # second moment about the centroid, where it came along
    doubt: Floats | None = None  # bound on the mass's relative error; None: rounding only

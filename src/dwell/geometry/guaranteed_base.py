"""What guaranteed and dual guaranteed cells have in common in all workspaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.geometry.validation import as_rows


@dataclass(frozen=True, eq=False)
class GuaranteedBase(ABC):
    """A guaranteed cell, or the dual one, of an agent at `position`.

    Agent j lies somewhere within `radii[j]` of `others[j]`. With p, q and R for these, the
    guaranteed cell is the set of z in the workspace with |z - p| + R <= |z - q| for all j, the
    dual one that with |z - p| <= |z - q| + R.
    """

    workspace: Any
    position: Points  # (n,)
    others: Points  # (k, n)
    radii: Floats  # (k,)
    dual: bool

    @property
    def empty(self) -> bool:
        """Whether nothing is certain: another agent may be at the same place.

        A dual cell never is.
        """
        return not self.dual and bool((lengths(self.others - self.position) <= self.radii).any())

    @property
    def sign(self) -> float:
        """1 for a guaranteed cell, -1 for a dual one, as the kernels take it."""
        return -1.0 if self.dual else 1.0

    @property
    @abstractmethod
    def offsets(self) -> Points:
        """Corners relative to the agent, (k, n)."""

    @property
    def corners(self) -> Points:
        """Corners in the coordinates of the workspace, (k, n); in polygons counter-clockwise.

        In space in no order. Within curved boundaries only those between sheets.
        """
        corners: Points = self.position + self.offsets
        return corners

    def contains(self, points: object) -> np.ndarray:
        """Whether each point lies in the cell, by its definition; the boundary belongs to it."""
        places = as_rows(points, len(self.position))
        inside: np.ndarray = self.workspace.contains(places)
        own = lengths(places - self.position)
        for q, r in zip(self.others, self.radii, strict=True):
            inside &= own + self.sign * r <= lengths(places - q)
        return inside

    @property
    @abstractmethod
    def volume(self) -> float:
        """Length, area or volume."""

    @property
    def area(self) -> float:
        """Area, in the plane."""
        return self.volume

    @property
    @abstractmethod
    def _extent(self) -> tuple[float, float]:
        """Diameter and circumradius."""

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the cell, or a little more; never less.

        Of a dual cell between flat sides it is exact: it is that of the corners. In a guaranteed
        cell of a polygon the arcs are searched, to about 1e-12. In a polytope of space planes are
        put round it until hardly anything is left between, as a rule less than 1e-3. In a disc or
        an ellipse the diameter of a dual cell is within 1e-4, in a ball or an ellipsoid within a
        few hundredths; round a guaranteed cell there one plane stands for each sheet.
        """
        return self._extent[0]

    @property
    def circumradius(self) -> float:
        """Radius of the smallest ball that holds the cell, or a little more: see `diameter`."""
        return self._extent[1]

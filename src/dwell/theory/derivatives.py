"""How centroids and cost change as agents move: exactly, from integrals over borders.

A border moves outward from cell p at z with the speed (z - x_p) . v_p / d + (x_q - z) . v_q / d, so

    dc_p/dx_q = 1/m_p int phi (z - c_p)(x_q - z)' / d
    dc_p/dx_p = 1/m_p sum int phi (z - c_p)(z - x_p)' / d
    Hessian of the cost = 2 (M - A),  A_pp = sum int phi (z - x_p)(z - x_p)' / d,
                                      A_pq = -int phi (z - x_p)(z - x_q)' / d

with d = |x_q - x_p|, at every configuration of distinct agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.cells.backend import borders
from dwell.cells.facets import Borders
from dwell.cells.sensitivity import centroid_blocks, outer
from dwell.density import Density
from dwell.errors import DensityError
from dwell.geometry import Workspace

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@final
@dataclass(frozen=True, eq=False)
class Derivatives:
    """First derivatives of the centroids and second ones of the cost, block by block.

    Entry k says how agent `row[k]` depends on agent `column[k]`; blocks that are not listed are
    zero. An agent depends on itself and on its Voronoi neighbours only.
    """

    masses: Floats  # (N,)
    log_masses: Floats  # (N,) right also where a mass is below the smallest double
    errors: Points  # (N, n)
    row: Ints  # (K,)
    column: Ints  # (K,)
    centroid: Floats  # (K, n, n) derivative of the centroid of row with respect to column
    facets: Floats  # (K, n, n) the matrix A, with Hessian 2 (M - A)

    @property
    def agents(self) -> int:
        """How many there are."""
        return len(self.masses)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.errors.shape[1])

    @cached_property
    def jacobian(self) -> csr_array:
        """Dc as a sparse matrix, (nN, nN); agent by agent, and there coordinate by coordinate."""
        return self._sparse(self.centroid)

    @cached_property
    def hessian(self) -> csr_array:
        """The Hessian of the cost as a sparse matrix, (nN, nN)."""
        from scipy.sparse import diags_array

        axes = self.errors.shape[1]
        whole: Any = diags_array(np.repeat(2.0 * self.masses, axes))
        whole = whole - 2.0 * self._sparse(self.facets)
        return whole.tocsr()

    @property
    def gradient(self) -> Points:
        """Of the cost, (N, n)."""
        return -2.0 * self.masses[:, None] * self.errors

    def lipschitz(self) -> Floats:
        """Norm of the derivative of each centroid with respect to all positions, (N,)."""
        squares = np.zeros((self.agents, *self.centroid.shape[1:]))
        np.add.at(squares, self.row, self.centroid @ self.centroid.transpose(0, 2, 1))
        norms: Floats = np.sqrt(np.linalg.eigvalsh(squares)[:, -1].clip(0.0))
        return norms

    def weighed_facets(self) -> csr_array:
        """S = M^(-1/2) A M^(-1/2) as a sparse matrix, with rounding made symmetric."""
        root = np.sqrt(self.masses)
        scale = 1.0 / (root[self.row] * root[self.column])
        whole: Any = self._sparse(self.facets * scale[:, None, None])
        return (0.5 * (whole + whole.T)).tocsr()

    def _sparse(self, blocks: Floats) -> csr_array:
        from scipy.sparse import coo_array

        n = self.dimension
        down, across = np.indices((n, n))
        i = (n * self.row[:, None, None] + down).ravel()
        j = (n * self.column[:, None, None] + across).ravel()
        size = n * self.agents
        found: Any = coo_array((blocks.ravel(), (i, j)), shape=(size, size))
        return found.tocsr()


def derivatives(workspace: Workspace, positions: Points, density: Density) -> Derivatives:
    """Derivatives at a configuration of distinct agents whose cells all weigh something."""
    found = borders(workspace, positions, density)
    if found.empty.any():
        raise DensityError(
            f"the cell of agent {int(np.argmax(found.empty))} weighs nothing, so its centroid has "
            "no derivative; move the agent, or use a density that is positive there",
            code="density.derivatives",
        )
    return from_borders(found)


def from_borders(found: Borders, log_scale: float = 0.0) -> Derivatives:
    """Blocks from the moments along the borders; masses and facets divided by exp(log_scale)."""
    n = len(found.masses)
    own, towards = centroid_blocks(found)
    weight = np.exp(found.log_scales - log_scale)
    per_length = (weight[found.agent] / lengths(found.gap))[:, None, None]
    facet_own = np.zeros_like(own)
    np.add.at(facet_own, found.agent, per_length * found.m2)
    facet_other = -per_length * (found.m2 - outer(found.m1, found.gap))
    agents = np.arange(n)
    return Derivatives(
        masses=found.masses * weight,
        log_masses=np.log(found.masses) + found.log_scales,
        errors=found.errors,
        row=np.concatenate([agents, found.agent]),
        column=np.concatenate([agents, found.other]),
        centroid=np.concatenate([own, towards]),
        facets=np.concatenate([facet_own, facet_other]),
    )

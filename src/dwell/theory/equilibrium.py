"""Where agents come to rest: the centroidal configuration that a start leads to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.cells import Tessellation, tessellate
from dwell.density import Density, Uniform, as_density
from dwell.errors import AgentsError
from dwell.geometry import Workspace, as_workspace
from dwell.theory.derivatives import Derivatives, derivatives
from dwell.theory.spectrum import largest, symmetric, weighed

CENTROIDAL = 1e-6  # errors up to here, in radii of their cells, count as 0
ENOUGH = 1e-13  # errors at which polishing ends
NEAR = 0.1  # and below which it no longer goes by Lloyd's steps alone
MOST_STEPS = 400
SMALL = 60  # agents up to which dense matrices are quicker


def settled(workspace: Workspace, density: Density | object, positions: object) -> Points:
    """The centroidal configuration that Lloyd's method leads to, found with Newton's help.

    A step solves (I - Dc + damping) step = error. Damping that is large gives short steps along
    Lloyd's, none at all gives Newton's; it is never so small that the cost could rise to first
    order. The cost falls at every step, so a start that is not on a saddle ends at a minimum.
    Where that takes too many steps the last configuration is given; its `Rates` say so.
    """
    weight = Uniform() if density is None else as_density(density)
    cells = tessellate(as_workspace(workspace), positions, weight)
    damping = 0.0
    for _ in range(MOST_STEPS):
        before = largest_error(cells)
        if before <= ENOUGH:
            break
        kept = cells
        cells, damping = _improved(cells, weight, before, damping)
        if cells is kept or (before < 0.01 * CENTROIDAL and largest_error(cells) > 0.5 * before):
            break  # as good as rounding allows
    return cells.positions


def _improved(
    cells: Tessellation, weight: Density, before: float, damping: float
) -> tuple[Tessellation, float]:
    """The cells after one step, and the damping to try first at the next."""
    for step, used in _steps(cells, weight, before, damping):
        longest = float((lengths(step) / radii(cells)).max())
        try:
            after = tessellate(cells.workspace, cells.positions + step / max(1.0, longest), weight)
        except AgentsError:  # two of them would meet
            continue
        closer = after.cost <= cells.cost * (1.0 + 1e-13) and largest_error(after) < before
        if after.cost < cells.cost or closer:
            return after, 0.1 * used if used > 1e-6 else 0.0
    return cells, 0.0


def _steps(
    cells: Tessellation, weight: Density, before: float, damping: float
) -> Iterator[tuple[Points, float]]:
    """Steps to try, boldest first, each with its damping; the last is Lloyd's."""
    if before < NEAR:
        found = derivatives(cells.workspace, cells.positions, weight)
        excess = largest(symmetric(weighed(found, SMALL))) - 1.0
        least = 0.0 if excess < -1e-9 else 2.0 * excess + 1e-9
        while damping < 0.5:
            yield _solved(found, least + damping), damping
            damping = max(1e-5, 5.0 * damping)
    yield cells.errors, 0.5


def _solved(found: Derivatives, damping: float) -> Points:
    errors = found.errors.ravel()
    if found.agents <= SMALL:
        whole = (1.0 + damping) * np.eye(len(errors)) - found.jacobian.toarray()
        return np.linalg.solve(whole, errors).reshape(found.errors.shape)
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import spsolve

    rest = (1.0 + damping) * eye_array(len(errors)) - found.jacobian
    step: Points = spsolve(rest.tocsc(), errors)
    return step.reshape(found.errors.shape)


def radii(cells: Tessellation) -> Floats:
    """Root mean square distance of each cell's weight from its centroid, (N,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        radii = np.sqrt(cells.second_moments / cells.masses)
    light = np.flatnonzero(~(np.isfinite(radii) & (radii > 0.0)))
    if light.size:  # below the smallest double: take half the way to the nearest agent instead
        away = lengths(cells.positions[light, None] - cells.positions)
        away[away == 0.0] = cells.workspace.diameter
        radii[light] = 0.5 * away.min(axis=1)
    return radii


def largest_error(cells: Tessellation) -> float:
    return float((lengths(cells.errors) / radii(cells)).max())

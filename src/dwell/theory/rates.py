"""How displacements die out near a configuration: the spectrum of the centroid map.

Near a centroidal configuration x* centroids follow the agents as Dc (x - x*), so every law that
heads for centroids acts through I - Dc. In the inner product weighed by the masses Dc is symmetric
and nowhere negative: its eigenvalues lambda are real, and the gaps 1 - lambda are at most 1. The
Hessian of the cost is 2 M (I - Dc), so that the configuration is a strict minimum where all gaps
are positive, and the smallest gap says how fast the slowest displacement dies out.

Elsewhere eigenvalues of Dc may be complex. They then say how the errors change at that moment:
along Lloyd's flow de/dt = -k2 (I - Dc) e.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, final

import numpy as np

from dwell._compatibility import Need
from dwell._types import Floats, Points, lengths
from dwell.agents import CoverageSystem
from dwell.cells import Tessellation, tessellate
from dwell.cells.positions import as_positions
from dwell.density import Density, Uniform, as_density
from dwell.errors import AgentsError
from dwell.geometry import Workspace, as_workspace
from dwell.theory.derivatives import Derivatives, derivatives
from dwell.theory.spectrum import FLAT, eigenpairs, largest, symmetric, weighed

CENTROIDAL = 1e-6  # errors up to here, in radii of their cells, count as 0
ENOUGH = 1e-13  # errors at which polishing ends
NEAR = 0.1  # and below which it no longer goes by Lloyd's steps alone
MOST_STEPS = 400
SMALL = 60  # agents up to which dense matrices are quicker

MINIMUM, SADDLE, DEGENERATE, UNSETTLED = "minimum", "saddle", "degenerate", "unsettled"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


class RunLike(Protocol):
    """The part of `dwell.results.Run` that is needed here."""

    @property
    def system(self) -> CoverageSystem: ...
    @property
    def horizon(self) -> float: ...
    def positions(self, t: Any) -> Points: ...


@final
@dataclass(frozen=True, eq=False)
class Rates:
    """How a configuration answers to small displacements; softest modes first."""

    workspace: Workspace
    density: Density
    positions: Points  # (N, n)
    derivatives: Derivatives
    radii: Floats  # (N,) root mean square distance of each cell's weight from its centroid
    error: float  # the largest error, in radii of its cell
    spectrum: Floats  # (K,) eigenvalues of Dc, descending; real parts where it is not centroidal
    turning: Floats  # (K,) their imaginary parts; all 0 at a centroidal configuration
    modes: Floats  # (K, N, n) eigenvectors; the largest displacement of an agent is 1
    contraction: float  # with frozen masses: of the symmetric part of M^1/2 (Dc - I) M^-1/2
    tolerance: float  # gaps up to here count as 0
    moved: float = 0.0  # how far the given configuration was from this one, in radii

    @property
    def agents(self) -> int:
        """How many there are."""
        return len(self.positions)

    @property
    def centroidal(self) -> bool:
        """Whether every agent is at the centroid of its cell, up to a millionth of its radius."""
        return self.error <= CENTROIDAL

    @property
    def whole(self) -> bool:
        """Whether all eigenvalues are known, not only the softest ones and the stiffest."""
        return len(self.spectrum) == self.positions.size

    @property
    def gaps(self) -> Floats:
        """1 - lambda of every mode, ascending."""
        return 1.0 - self.spectrum

    @property
    def gap(self) -> float:
        """The smallest one."""
        return float(self.gaps[0])

    @property
    def lambda_max(self) -> float:
        """The largest eigenvalue of Dc."""
        return float(self.spectrum[0])

    @property
    def lambda_min(self) -> float:
        """The smallest eigenvalue of Dc."""
        return float(self.spectrum[-1])

    @property
    def descending(self) -> int:
        """The number of directions along which the cost falls."""
        return int((self.gaps < -self.tolerance).sum())

    @property
    def neutral(self) -> int:
        """The number of directions along which it is constant to second order."""
        return int((np.abs(self.gaps) <= self.tolerance).sum())

    @property
    def kind(self) -> str:
        """minimum, saddle or degenerate; unsettled where some error is not 0."""
        if not self.centroidal:
            return UNSETTLED
        if self.descending:
            return SADDLE
        return DEGENERATE if self.neutral else MINIMUM

    @property
    def says(self) -> str:
        """The kind of configuration as a sentence, with the numbers."""
        gap = f"gap {self.gap:.3g}"
        if self.kind == UNSETTLED:
            return f"unsettled: an agent is {self.error:.3g} radii of its cell from its centroid"
        if self.kind == SADDLE:
            rest = f", {_counted(self.neutral, 'neutral mode')}" if self.neutral else ""
            return f"saddle: {_counted(self.descending, 'direction')} down{rest} ({gap})"
        if self.kind == DEGENERATE:
            return f"degenerate: {_counted(self.neutral, 'neutral mode')} ({gap})"
        return f"minimum: every displacement raises the cost ({gap})"

    @cached_property
    def shares(self) -> Floats:
        """What part of all weight each cell holds, (N,)."""
        log = self.derivatives.log_masses
        parts = np.exp(log - log.max())
        shares: Floats = parts / parts.sum()
        return shares

    def coordinates(self, displacements: Points) -> Floats:
        """How much of each mode is in displacements (..., N, n): (..., K), in the same unit.

        Coordinate k is the root mean square, weighed by the masses, of the part along mode k.
        """
        root = np.sqrt(self.shares)[:, None]
        shapes = root * self.modes
        shapes /= np.sqrt((shapes**2).sum(axis=(1, 2), keepdims=True))
        return np.tensordot(root * displacements, shapes, axes=([-2, -1], [-2, -1]))

    def as_json(self) -> dict[str, Any]:
        """The numbers, plain."""
        keys = ("kind", "says", "gap", "lambda_min", "lambda_max", "contraction", "tolerance",
                "error", "moved", "whole")  # fmt: skip
        arrays = {"spectrum": self.spectrum.tolist(), "positions": self.positions.tolist()}
        return {**{key: getattr(self, key) for key in keys}, **arrays}


def rates(
    workspace: Workspace | object,
    density: Density | object,
    positions: object,
    *,
    tolerance: float = FLAT,
) -> Rates:
    """The spectrum at a configuration of distinct agents whose cells all weigh something.

    Gaps within `tolerance` count as 0.

    >>> from dwell import Box
    >>> rates(Box((0, 0), (1, 1)), None, [(0.25, 0.5), (0.75, 0.5)]).says
    'minimum: every displacement raises the cost (gap 0.333)'
    """
    weight = Uniform() if density is None else as_density(density)
    site = as_workspace(workspace)
    points = as_positions(positions, site.dimension)
    cells, found = tessellate(site, points, weight), derivatives(site, points, weight)
    error = largest_error(cells)
    centroidal = error <= CENTROIDAL
    spectrum, turning, modes = eigenpairs(found, centroidal)
    top = spectrum[0] if centroidal else largest(symmetric(weighed(found)))
    return Rates(
        workspace=site,
        density=weight,
        positions=points,
        derivatives=found,
        radii=radii(cells),
        error=error,
        spectrum=spectrum,
        turning=turning,
        modes=modes,
        contraction=float(top) - 1.0,
        tolerance=tolerance,
    )


def rates_near(
    workspace: Workspace, density: Density | object, positions: object, **options: Any
) -> Rates:
    """The spectrum at the centroidal configuration that `positions` lead to."""
    start = as_positions(positions, workspace.dimension)
    found = rates(workspace, density, settled(workspace, density, start), **options)
    distance = lengths(found.positions - start) / found.radii
    return replace(found, moved=float(distance.max()))


def rates_of(run: RunLike, at: float | None = None, **options: Any) -> Rates:
    """The spectrum at the configuration that a run is about to reach, from its last positions.

    With `at`, from its positions at that time, in the world of that time.
    """
    run.system.refuse(Need.RATES)
    time = run.horizon if at is None else at
    ground, present = run.system.ground_at(time), run.system.world_at(time).present
    places = run.positions(time)
    some = places if present is None else places[present]
    return rates_near(ground.workspace, ground.density, some, **options)


def _counted(count: int, noun: str) -> str:
    number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
    return f"{number} {noun}" if count == 1 else f"{number} {noun}s"


# Where agents come to rest.


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

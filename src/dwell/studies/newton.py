"""From one start down to a local minimum of the cost: Lloyd's steps first, then Newton's.

Far from a minimum the quadratic model of the cost is made small within a trust region, by
conjugate gradients that stop at its edge or at negative curvature (Steihaug). Close to one,
Newton's equations are solved directly. Where that comes to rest the largest eigenvalue of S (see
`objective`) tells a minimum from a saddle, and a saddle is left along the eigenvector.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.studies.objective import Evaluation, Objective, decrease, dot
from dwell.theory.spectrum import FLAT, softest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TARGET = 1e-14  # gradient norm at which a descent ends
NEARLY = 1e4  # times the noise: gradient norm up to which a configuration is stationary
CLOSE = 1e-5  # gradient norm below which Newton's equations are solved directly

LLOYD = (5, 200)  # steps, at least and at most
SLOW = 0.01  # relative decrease of the cost below which Lloyd's steps no longer pay
LIGHT = 1e-8  # smallest mass over largest while some agents are still far out in a tail
NEWTON = 500  # steps, at most, between two saddles
ESCAPES = 50  # saddles that may be left
PROBES = (0.4, 0.1, 0.03)  # of the least distance between agents: steps off a saddle
USUAL = 40.0  # steps of a descent, for the progress bar


class Kind(StrEnum):
    """What a descent came to."""

    MINIMUM = "minimum"  # strict: every small move raises the cost
    DEGENERATE = "degenerate"  # no move was found to lower it; one leaves it alone to second order
    SADDLE = "saddle"  # some small move lowers it
    CONFINED = "confined"  # agents that stay in a region are where they would stop
    UNFINISHED = "unfinished"  # the gradient does not vanish
    WEIGHTLESS = "weightless"  # a cell of the start weighs nothing: there is no gradient


@final
@dataclass(frozen=True, eq=False, slots=True)
class Descent:
    """Where one start led."""

    positions: Points  # (N, n)
    cost: float
    gradient_norm: float  # see Evaluation.gradient_norm
    spectral_gap: float | None  # 1 - largest eigenvalue of S; None where there is no telling
    kind: Kind
    evaluations: int  # cells that were computed
    costs: tuple[float, ...]  # after each step

    @property
    def at_rest(self) -> bool:
        """Whether the gradient vanishes."""
        return self.kind in (Kind.MINIMUM, Kind.DEGENERATE, Kind.SADDLE, Kind.CONFINED)


class DescentInterrupted(KeyboardInterrupt):
    """An interrupt, with how far the descent had come."""

    def __init__(self, descent: Descent) -> None:
        super().__init__()
        self.descent = descent


def descend(
    objective: Objective, start: Points, tell: Callable[[float], None] = lambda share: None
) -> Descent:
    """Go down from `start` until the gradient is as small as rounding allows."""
    first = objective.evaluate(start, even_light=True)
    if first is None:
        return Descent(start, math.inf, math.inf, None, Kind.WEIGHTLESS, len(start), ())
    walk = _Walk(objective, first, tell)
    try:
        walk.settle()
        gap, kind = walk.rest()
    except KeyboardInterrupt:
        raise DescentInterrupted(walk.outcome(None, Kind.UNFINISHED)) from None
    return walk.outcome(gap, kind)


class _Walk:
    """The configuration that a descent has reached, and the cost after each of its steps."""

    def __init__(
        self, objective: Objective, first: Evaluation, tell: Callable[[float], None]
    ) -> None:
        self.objective = objective
        self.now = first
        self.costs: list[float] = []
        self.before = objective.evaluations - len(first.positions)
        self.radius = 0.0  # of the trust region, in the variables M^(1/2) x
        self._tell = tell

    @property
    def at_rest(self) -> bool:
        """Whether the gradient vanishes, within rounding."""
        return self.now.gradient_norm <= NEARLY * self.objective.noise

    def outcome(self, gap: float | None, kind: Kind) -> Descent:
        """The descent so far."""
        if not self.at_rest:
            gap, kind = None, Kind.UNFINISHED
        now, spent = self.now, self.objective.evaluations - self.before
        return Descent(
            now.positions, now.cost, now.gradient_norm, gap, kind, spent, tuple(self.costs)
        )

    def go(self, found: Evaluation) -> None:
        """Take a step."""
        self.now = found
        self.costs.append(found.cost)
        self._tell(len(self.costs) / (len(self.costs) + USUAL))

    def settle(self) -> None:
        """Lloyd's steps, while they pay: each moves all agents to the centroids."""
        least, most = LLOYD
        for k in range(most):
            before = self.now
            after = self.objective.evaluate(before.positions + before.errors, even_light=True)
            if after is None:
                return
            self.go(after)
            spread = after.masses.min() >= LIGHT * after.masses.max()
            if k + 1 >= least and spread and after.cost > (1.0 - SLOW) * before.cost:
                return

    def rest(self) -> tuple[float | None, Kind]:
        """Newton's steps, past saddles, to a minimum, and the spectral gap there."""
        if not (self.now.masses > 0.0).all():
            return None, Kind.UNFINISHED
        gap = 0.0
        for _ in range(ESCAPES):
            matrix = self.descend()
            if not self.at_rest:
                return None, Kind.UNFINISHED
            largest, mode = softest(matrix)
            gap = 1.0 - largest
            if gap > FLAT:
                return gap, Kind.MINIMUM
            lower = self.below(mode)
            if lower is None:
                return gap, Kind.DEGENERATE if gap >= -FLAT else Kind.SADDLE
            self.go(lower)
        return gap, Kind.SADDLE

    def descend(self) -> csr_array:
        """Newton's steps until the gradient vanishes, and S there."""
        now, noise = self.now, self.objective.noise
        whole = math.sqrt(math.fsum(now.masses / now.heaviest))
        self.radius = 2.0 * whole * float(lengths(now.errors).max())
        least = 1e-3 * noise * whole * self.objective.workspace.diameter
        matrix = self.objective.curvature(now)
        for _ in range(NEWTON):
            norm = self.now.gradient_norm
            if norm <= TARGET:
                break
            found = self.directly(matrix, norm) if norm <= CLOSE else None
            if found is None:
                if norm <= 10.0 * noise or self.radius <= least:
                    break  # rounding allows no better
                found = self.in_region(matrix, norm)
            if found is not None:
                self.go(found)
                matrix = self.objective.curvature(found)
        return matrix

    def directly(self, matrix: csr_array, norm: float) -> Evaluation | None:
        """Newton's step as it is, if the gradient gets much smaller and the cost no larger."""
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        now, roots = self.now, self.now.roots
        system: Any = eye_array(len(roots)) - matrix
        try:
            solved = splu(system.tocsc()).solve(roots * now.errors.ravel())
        except RuntimeError:  # singular
            return None
        step = (solved / roots).reshape(now.positions.shape)
        if not float(lengths(step).max()) <= 0.1 * float(now.nearest.min()):
            return None
        if self.objective.share_inside(now, step) < 1.0:
            return None
        found = self.objective.evaluate(now.positions + step)
        if found is None or found.cost > (1.0 + self.objective.noise) * now.cost:
            return None
        return found if found.gradient_norm < 0.5 * norm else None

    def in_region(self, matrix: csr_array, norm: float) -> Evaluation | None:
        """A step within the trust region, if it is good; the radius is set anew in any case."""
        now, roots = self.now, self.now.roots
        slope = -2.0 * roots * now.errors.ravel()
        scaled, at_edge = steihaug(matrix, slope, self.radius, min(0.1, math.sqrt(norm)))
        share = self.objective.share_inside(now, (scaled / roots).reshape(now.positions.shape))
        scaled = share * scaled
        step = (scaled / roots).reshape(now.positions.shape)
        expected = -(dot(slope, scaled) + dot(scaled, scaled - matrix @ scaled))
        found = self.objective.evaluate(now.positions + step)
        ratio = -1.0
        if found is not None and expected > 0.0:
            fell = decrease(now, found, step, self.objective.noise)
            ratio = fell / now.heaviest / expected
        length = math.sqrt(dot(scaled, scaled))
        if ratio < 0.25:
            self.radius = 0.25 * length
        elif ratio > 0.75 and at_edge:
            self.radius = max(self.radius, 2.0 * length)
        return found if ratio > 0.05 else None

    def below(self, mode: Floats) -> Evaluation | None:
        """A configuration of lower cost to either side along `mode`; None if none is found."""
        now = self.now
        along = (mode / now.roots).reshape(now.positions.shape)
        along = along * float(now.nearest.min()) / float(lengths(along).max())
        for size in PROBES:
            seen = []
            for step in (size * along, -size * along):
                share = self.objective.share_inside(now, step)
                seen.append(self.objective.evaluate(now.positions + share * step))
            lower = [found for found in seen if found is not None]
            if lower:
                best = min(lower, key=lambda found: found.cost)
                if best.cost < (1.0 - 10.0 * self.objective.noise) * now.cost:
                    return best
        return None


def steihaug(
    matrix: csr_array, slope: Floats, radius: float, tolerance: float
) -> tuple[Floats, bool]:
    """The y that makes slope . y + y . (I - S) y small with |y| <= radius; whether |y| = radius.

    Conjugate gradients until the residual has fallen to `tolerance` of what it was.
    """
    found = np.zeros_like(slope)
    rest, along = slope.copy(), -slope
    square = dot(rest, rest)
    goal = tolerance * tolerance * square
    for _ in range(2 * len(slope) + 10):
        bent = 2.0 * (along - matrix @ along)
        curvature = dot(along, bent)
        a, b = dot(along, along), dot(found, along)
        c = dot(found, found) - radius * radius
        to_edge = (math.sqrt(max(b * b - a * c, 0.0)) - b) / a
        size = square / curvature if curvature > 0.0 else math.inf
        if size >= to_edge:
            return found + to_edge * along, True
        found = found + size * along
        rest = rest + size * bent
        after = dot(rest, rest)
        if after <= goal:
            break
        along = (after / square) * along - rest
        square = after
    return found, False

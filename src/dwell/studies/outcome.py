"""When errors settle, and whether two runs end in the same tessellation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._compatibility import Need
from dwell._types import Floats, Points, lengths
from dwell.errors import InputError
from dwell.results import Run
from dwell.theory.rates import settled as come_to_rest

# Two configurations count as one tessellation when agents can be paired so that no pair is farther
# apart than this part of the workspace's diameter.
SAME = 1e-3
SMALL = 0.01  # of the diameter: the level of settling where no law has a nu
PARTS = (1.0, 0.1, 0.01, 0.001)  # of nu, for settling times


def levels_of(runs: Sequence[Run]) -> list[float]:
    """Levels of settling: nu, or a hundredth of the diameter where there is none, and parts of it.

    The first run that has a nu decides for all.
    """
    usual = SMALL * runs[0].workspace.diameter
    whole = next((run.system.nu for run in runs if run.system.nu is not None), usual)
    return [part * whole for part in PARTS]


def worst_errors(run: Run) -> Floats:
    """The largest error of all agents, at each sample of `run`."""
    return run.metrics.errors.max(axis=1) if len(run.metrics.times) else np.empty(0)


def settled_at(run: Run, nu: float) -> float | None:
    """The first sample from which every error stays within `nu`; None if it never does.

    Known to within the time between two samples; None where no samples were kept.
    """
    worst, times = worst_errors(run), run.metrics.times
    late = np.flatnonzero(worst > nu)
    if not len(worst) or (len(late) and late[-1] == len(worst) - 1):
        return None
    return float(times[late[-1] + 1]) if len(late) else float(times[0])


def largest_error(run: Run, since: float) -> float | None:
    """The largest error at the samples from time `since` on; None if there are none."""
    later = worst_errors(run)[run.metrics.times >= since]
    return float(later.max()) if len(later) else None


@final
@dataclass(frozen=True, slots=True)
class Match:
    """How far apart two final configurations are, agents paired as well as can be."""

    distance: float  # of the pair farthest apart, as the runs end
    settled: float | None  # once both have come to rest; None where that is not known
    tolerance: float

    @property
    def same(self) -> bool:
        """Whether they lead to one tessellation."""
        apart = self.distance if self.settled is None else self.settled
        return apart <= self.tolerance


def match(run: Run, reference: Run) -> Match:
    """Pair the agents of two runs by where they end, and by where they would come to rest.

    Runs are finite: along the soft modes of a tessellation, agents may be far from where they are
    heading even when their errors are small.
    """
    ends = [one.positions(one.horizon) for one in (run, reference)]
    rests = [resting_place(one) for one in (run, reference)]
    settled = None if rests[0] is None or rests[1] is None else distance(rests[0], rests[1])
    return Match(distance(*ends), settled, SAME * reference.workspace.diameter)


def resting_place(run: Run) -> Points | None:
    """The centroidal configuration that the end of a run leads to; None where none is known.

    Found from exact integrals by Newton's method. On a grid of points centroids move in jumps, and
    where agents have come to rest is where they are.
    """
    if run.details.ends_in_contact:
        return None
    ends = run.positions(run.horizon)
    if run.system.spacing is not None:
        return ends
    ground, present = run.system.ground_at(run.horizon), run.system.world_at(run.horizon).present
    if present is not None or not run.system.fits(Need.ONE_TIME):
        return None
    return come_to_rest(ground.workspace, ground.density, ends)


def distance(points: Points, reference: Points) -> float:
    """The largest distance in a pair, paired so that the sum of their squares is smallest."""
    from scipy.optimize import linear_sum_assignment

    if points.shape != reference.shape:
        raise InputError(
            f"{len(points)} agents cannot be paired with {len(reference)}; as many are needed",
            code="studies.agents",
        )
    distances = lengths(points[:, None, :] - reference[None, :, :])
    rows, columns = linear_sum_assignment(distances**2)
    return float(distances[rows, columns].max())

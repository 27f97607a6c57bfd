"""When errors settle, and whether two runs end in the same tessellation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import InputError
from dwell.results import Run

# Two final configurations count as one tessellation when agents can be paired so that no pair is
# farther apart than this part of the workspace's diameter. Runs are finite: along the soft modes
# of a tessellation, agents that head for one configuration may still be this far from it.
SAME = 1e-2


def worst_errors(run: Run) -> Floats:
    """The largest error of all agents, at each sample of `run`."""
    if not len(run.metrics.times):
        return np.empty(0)
    worst: Floats = run.metrics.errors.max(axis=1)
    return worst


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


def final_error(run: Run) -> float | None:
    """The largest error at the end; None where two agents have met."""
    return None if run.ends_in_contact else float(run.errors(run.horizon).max())


def final_cost(run: Run) -> float | None:
    """The locational cost at the end; None where two agents have met."""
    return None if run.ends_in_contact else float(run.cost(run.horizon))


@final
@dataclass(frozen=True, slots=True)
class Match:
    """How far apart two final configurations are, agents paired as well as can be."""

    distance: float  # of the pair farthest apart
    tolerance: float

    @property
    def same(self) -> bool:
        """Whether they count as one tessellation."""
        return self.distance <= self.tolerance


def match(run: Run, reference: Run) -> Match:
    """Pair the agents of two runs by where they end."""
    return match_points(
        run.positions(run.horizon),
        reference.positions(reference.horizon),
        SAME * reference.workspace.diameter,
    )


def match_points(points: Points, reference: Points, tolerance: float) -> Match:
    """Pair points so that the sum of the squared distances is as small as possible."""
    from scipy.optimize import linear_sum_assignment

    if points.shape != reference.shape:
        raise InputError(
            f"{len(points)} agents cannot be paired with {len(reference)}; as many are needed",
            code="studies.agents",
        )
    gaps = points[:, None, :] - reference[None, :, :]
    distances = np.hypot(gaps[..., 0], gaps[..., 1])
    rows, columns = linear_sum_assignment(distances**2)
    return Match(float(distances[rows, columns].max()), tolerance)

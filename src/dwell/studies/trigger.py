"""What the self-trigger guarantees, and what became of it along a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR
from dwell.results import Run
from dwell.verify.guarantees import follow_centroids


@final
@dataclass(frozen=True, slots=True)
class TriggerFigures:
    """One run: which limits set its intervals, and the worst of G1 and G2 where no floor was hit.

    None where every interval hit the floor.
    """

    floor_hits: int
    ceiling_hits: int
    intervals: int
    drift: float | None  # the farthest that a centroid moved between two looks
    room: float | None  # the least that a sampled centroid was inside its agent's cell


@final
@dataclass(frozen=True, slots=True)
class Watched:
    """Figures of the trigger with exact integrals and on a grid of points."""

    exact: TriggerFigures
    grid: TriggerFigures

    def as_json(self) -> dict[str, Any]:
        """The numbers for programs."""
        return asdict(self)


def trigger_figures(run: Run) -> TriggerFigures:
    """The numbers of a run of the self-triggered law."""
    marks = np.concatenate([run.start.marks, run.events.count("mark")])
    seen = follow_centroids(run.system, run.start, run.events, run.horizon)
    free = seen.free.any()
    return TriggerFigures(
        floor_hits=int((marks == FLOOR).sum()),
        ceiling_hits=int((marks == CEILING).sum()),
        intervals=len(marks),
        drift=float(seen.drift[seen.free].max()) if free else None,
        room=float(seen.depth[seen.free].min()) if free else None,
    )

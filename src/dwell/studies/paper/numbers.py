"""Numbers of a run that the paper states: cells, intervals, hold errors, bounds, guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR
from dwell._types import Floats, Ints
from dwell.controllers import Timer
from dwell.results import Run
from dwell.theory.certificate import max_dwell_time
from dwell.verify.guarantees import follow_centroids

TIDY = 1e-9  # intervals are differences of times, which are rounded


def largest_hold_error(run: Run) -> float | None:
    """Over the ends of all holds and over all samples; None for a law without hold errors."""
    if not isinstance(run.system.controller, Timer):
        return None
    seen = (run.events.hold_error, run.metrics.hold_errors)
    return max(float(values.max(initial=0.0)) for values in seen)


def dwell_bound(run: Run) -> float | None:
    """The longest interval that the theorem allows; None without a certificate."""
    law, assumed = run.system.controller, run.details.assumed
    if assumed is None or not isinstance(law, Timer):
        return None
    lipschitz = float(np.max(assumed["lipschitz"]))
    return max_dwell_time(float(assumed["eta_max"]), law.reach, law.k1, lipschitz, run.agents)


def cells_before_end(run: Run) -> Ints:
    """Cells of all kinds that each agent computed before the horizon."""
    kinds = ("looked", "guaranteed", "dual_guaranteed")
    start = [sum(getattr(spent, kind) for kind in kinds) for spent in run.start.spent]
    return _counted(run, kinds) + np.array(start, dtype=np.int64)


def samples_since(run: Run, since: float) -> Ints:
    """Samples of each agent from time `since` to before the horizon."""
    return _counted(run, ("looked",), since)


def _counted(run: Run, kinds: tuple[str, ...], since: float = 0.0) -> Ints:
    """Events of some kinds, by agent, from time `since` to before the horizon."""
    table = run.events
    rows = (table.time >= since) & (table.time < run.horizon)
    counts = np.zeros(run.agents, dtype=np.int64)
    for kind in kinds:
        np.add.at(counts, table.agent[rows], table.count(kind)[rows])
    return counts


def late_intervals(run: Run, since: float = 50.0) -> list[Floats]:
    """The intervals of each agent that begin at time `since` or later, and end within the run."""
    found = []
    for p in range(run.agents):
        times = np.append(0.0, run.events.time[run.events.of_agent(p)])
        found.append(np.diff(times)[times[:-1] >= since])
    return found


def usual_least(run: Run) -> float | None:
    """The length that nine of ten late intervals reach; None if there are none."""
    late = np.concatenate(late_intervals(run) or [np.empty(0)])
    return float(np.quantile(late, 0.1, method="inverted_cdf")) if len(late) else None


def patient_agents(run: Run) -> float | None:
    """Share of the agents whose late intervals are all at least 0.1; None if there are none."""
    late = late_intervals(run)
    if not any(map(len, late)):
        return None
    return float(np.mean([bool((own >= 0.1 - TIDY).all()) for own in late]))


@final
@dataclass(frozen=True, slots=True)
class TriggerFigures:
    """Which limits set the intervals of a run, and the worst of G1 and G2 where no floor was hit.

    None where every interval hit the floor.
    """

    floor_hits: int
    ceiling_hits: int
    intervals: int
    drift: float | None  # the farthest that a centroid moved between two samples
    room: float | None  # the least depth of a sampled centroid inside its agent's cell


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

"""Numbers of a run that the paper states: cells, intervals, hold errors, the dwell-time bound."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Ints
from dwell.controllers import Timer
from dwell.results import Run
from dwell.theory.certificate import max_dwell_time

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
    table = run.events
    made = table.count("looked") + table.count("guaranteed") + table.count("dual_guaranteed")
    early = table.time < run.horizon
    later = np.zeros(run.agents, dtype=np.int64)
    np.add.at(later, table.agent[early], made[early])
    start = [s.looked + s.guaranteed + s.dual_guaranteed for s in run.start.spent]
    return later + np.array(start, dtype=np.int64)


def samples_since(run: Run, since: float) -> Ints:
    """Samples of each agent from time `since` to before the horizon."""
    table = run.events
    counted = (table.time >= since) & (table.time < run.horizon)
    looks = np.zeros(run.agents, dtype=np.int64)
    np.add.at(looks, table.agent[counted], table.count("looked")[counted])
    return looks


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

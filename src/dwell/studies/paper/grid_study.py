"""Results on other grids: the paper does not say which one it used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

from dwell.results import Run
from dwell.studies.outcome import final_cost, final_error, settled_at
from dwell.studies.paper.simulations import OTHER_SPACINGS, TEMPLATES, job_of, paper_scenario
from dwell.workers.threads import Job

# The level at which the paper first sees the errors of each simulation at rest, rounded up.
LEVELS = {"n30": 1e-9, "lloyd": 1.3e-13, "self-triggered": 1.3e-12, "timer": 8.8e-14}
PAPER_TIMES = {"n30": None, "lloyd": 80.0, "self-triggered": 149.5, "timer": 105.0}


@final
@dataclass(frozen=True, slots=True)
class GridRow:
    """One simulation on one grid."""

    simulation: str
    spacing: float
    at_rest: float | None  # time from which errors are within the paper's level
    final_error: float | None
    final_cost: float | None


def grid_jobs(horizon: float | None = None) -> dict[str, Job[GridRow]]:
    """A job for each simulation and each of the other spacings."""
    return {
        f"{name}-{spacing:g}": job_of(
            paper_scenario(name, spacing, horizon), partial(grid_row, name, spacing)
        )
        for spacing in OTHER_SPACINGS
        for name in TEMPLATES
    }


def grid_row(name: str, spacing: float, run: Run) -> GridRow:
    """The row of a run."""
    at_rest = settled_at(run, LEVELS[name])
    return GridRow(name, spacing, at_rest, final_error(run), final_cost(run))

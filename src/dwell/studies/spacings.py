"""What other grids give: the paper does not say which one it used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from dwell.progress import Progress
from dwell.results import Run
from dwell.runner import run_scenario
from dwell.scenario import Scenario
from dwell.studies.outcome import final_cost, final_error, settled_at
from dwell.studies.paper import OTHER_SPACINGS, PRESET, TEMPLATES, paper_scenario
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

    def as_json(self) -> dict[str, Any]:
        """The row for programs."""
        return {
            "simulation": self.simulation, "spacing": self.spacing, "at_rest": self.at_rest,
            "final_error": self.final_error, "final_cost": self.final_cost,
        }  # fmt: skip


def grid_jobs(horizon: float | None = None) -> dict[str, Job[GridRow]]:
    """A job for each simulation and each of the other spacings."""
    jobs: dict[str, Job[GridRow]] = {}
    for spacing in OTHER_SPACINGS:
        for name in TEMPLATES:
            preset = PRESET if name == "self-triggered" else None
            scenario = paper_scenario(name, spacing, horizon, preset)
            jobs[f"{name}-{spacing:g}"] = _job(scenario, name, spacing)
    return jobs


def _job(scenario: Scenario, name: str, spacing: float) -> Job[GridRow]:
    def job(progress: Progress) -> GridRow:
        run = run_scenario(scenario, progress=progress, threads=1)
        return grid_row(run, name, spacing)

    return job


def grid_row(run: Run, name: str, spacing: float) -> GridRow:
    """The row of a run."""
    at_rest = settled_at(run, LEVELS[name])
    return GridRow(name, spacing, at_rest, final_error(run), final_cost(run))

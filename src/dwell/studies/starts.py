"""The three laws from many random starts: the paper shows one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell.agents import scatter
from dwell.progress import Progress
from dwell.results import Run
from dwell.runner import run_scenario
from dwell.scenario import Scenario
from dwell.scenario.build import build_workspace
from dwell.studies.outcome import final_cost, final_error, settled_at
from dwell.studies.paper import LAWS, PRESET, paper_scenario
from dwell.workers.threads import Job

AGENTS = 12
SIDE = 6.0  # of the square that a clustered start is drawn from
SEED = 20240228  # of the places of these squares

# What is recorded of each run, and what it is called.
QUANTITIES = {
    "settled_half": "errors within 0.5 from",
    "settled_hundredth": "errors within 0.01 from",
    "final_error": "final error",
    "final_cost": "final cost",
    "cells": "cells per agent",
    "looks": "looks per agent",
    "distance": "distance per agent",
}
WIDE_RANGE = ("final_error", "cells", "looks")  # drawn on log axes


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One law from one start; a time is None if it never came."""

    start: str
    law: str
    settled_half: float | None
    settled_hundredth: float | None
    final_error: float | None
    final_cost: float | None
    cells: float  # mean over the agents, as are the next two
    looks: float
    distance: float
    ended: str  # why the run ended


@final
@dataclass(frozen=True, slots=True)
class Quartiles:
    """Of one quantity under one law; None stands for never."""

    low: float | None
    median: float | None
    high: float | None


def start_tables(count: int) -> dict[str, dict[str, Any]]:
    """`count` starts spread over the whole workspace, and a quarter as many in tight clusters."""
    found: dict[str, dict[str, Any]] = {}
    for k in range(1, count + 1):
        found[f"spread-{k}"] = {"count": AGENTS, "region": "workspace", "seed": k}
    clusters = -(-count // 4)
    workspace = build_workspace(paper_scenario("timer").workspace)
    for k, (x, y) in enumerate(scatter(workspace, clusters, SEED), start=1):
        half = 0.5 * SIDE
        square = {"lower": [x - half, y - half], "upper": [x + half, y + half]}
        found[f"clustered-{k}"] = {"count": AGENTS, "region": square, "seed": k}
    return found


def start_jobs(count: int, horizon: float | None = None) -> dict[str, Job[Row]]:
    """A job for each start and law, named after both."""
    jobs: dict[str, Job[Row]] = {}
    for start, table in start_tables(count).items():
        for law in LAWS:
            preset = PRESET if law == "self-triggered" else None
            scenario = paper_scenario(law, horizon=horizon, preset=preset, start=table)
            jobs[f"{start}-{law}"] = _job(scenario, start, law)
    return jobs


def _job(scenario: Scenario, start: str, law: str) -> Job[Row]:
    def job(progress: Progress) -> Row:
        run = run_scenario(scenario, progress=progress, threads=1)
        return row_of(run, start, law)

    return job


def row_of(run: Run, start: str, law: str) -> Row:
    """What is recorded of a run."""
    counted = run.counters
    return Row(
        start=start,
        law=law,
        settled_half=settled_at(run, 0.5),
        settled_hundredth=settled_at(run, 1e-2),
        final_error=final_error(run),
        final_cost=final_cost(run),
        cells=float(counted.cells.mean()),
        looks=float(counted.voronoi.mean()),
        distance=float(counted.distance.mean()),
        ended=run.stop.reason.value,
    )


def values_of(rows: Sequence[Row], law: str, quantity: str) -> list[float | None]:
    """One quantity of one law, start by start."""
    return [getattr(row, quantity) for row in rows if row.law == law]


def quartiles_of(values: Sequence[float | None]) -> Quartiles:
    """Quartiles, where what never came counts as later than everything."""
    if not values:
        return Quartiles(None, None, None)
    ordered = np.sort([np.inf if value is None else value for value in values])
    found = np.quantile(ordered, (0.25, 0.5, 0.75), method="inverted_cdf")
    return Quartiles(*(float(q) if np.isfinite(q) else None for q in found))


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Quartiles by law and quantity, and how many starts of each kind there are."""
    starts = {row.start for row in rows}
    laws = {
        law: {
            quantity: {"low": q.low, "median": q.median, "high": q.high}
            for quantity in QUANTITIES
            for q in [quartiles_of(values_of(rows, law, quantity))]
        }
        for law in dict.fromkeys(row.law for row in rows)
    }
    spread = sum(start.startswith("spread") for start in starts)
    return {"spread": spread, "clustered": len(starts) - spread, "laws": laws}

"""The three laws from many random starts, of which the paper shows one, and on other grids.

The paper does not say which grid it used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from dwell.agents import scatter
from dwell.results import Run
from dwell.results.figures import figure_of, figures
from dwell.scenario.build import build
from dwell.studies.outcome import settled_at
from dwell.studies.paper.simulations import LAWS, OTHER_SPACINGS, TEMPLATES, job_of, paper_scenario
from dwell.workers.threads import Job

# The level at which the paper first sees the errors of each simulation at rest, rounded up.
REST_LEVELS = {"n30": 1e-9, "lloyd": 1.3e-13, "self-triggered": 1.3e-12, "timer": 8.8e-14}
PAPER_TIMES = {"n30": None, "lloyd": 80.0, "self-triggered": 149.5, "timer": 105.0}

AGENTS = 12
SIDE = 6.0  # of the square that a clustered start is drawn from
SEED = 20240228  # of the positions of these squares

# What is recorded of each run: times of settling by their levels, and figures by their keys.
SETTLED = {"settled_half": 0.5, "settled_hundredth": 1e-2}
FIGURES = {
    "final_error": "error.final_max", "final_cost": "cost.final", "cells": "cells.per_agent",
    "looks": "cells.voronoi", "distance": "distance",
}  # fmt: skip
QUANTITIES = (*SETTLED, *FIGURES)


def _label(key: str) -> str:
    """The label of a figure; counts and lengths are means over the agents."""
    figure = figures()[key]
    return figure.label if figure.each is None else f"{figure.label} per agent"


LABELS = {name: f"errors within {level:g} from" for name, level in SETTLED.items()}
LABELS |= {name: _label(key) for name, key in FIGURES.items()}
WIDE_RANGE = ("final_error", "cells", "looks")  # drawn on log axes


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One law from one start."""

    start: str
    law: str
    ended: str  # why the run ended
    values: dict[str, float | None]  # by quantity; a time is None if it never came


def start_tables(count: int) -> dict[str, dict[str, Any]]:
    """`count` starts spread over the whole workspace, and a quarter as many in tight clusters."""
    found: dict[str, dict[str, Any]] = {}
    for k in range(1, count + 1):
        found[f"spread-{k}"] = {"count": AGENTS, "region": "workspace", "seed": k}
    clusters = -(-count // 4)
    workspace = build(paper_scenario("timer"))[0].workspace
    for k, (x, y) in enumerate(scatter(workspace, clusters, SEED), start=1):
        half = 0.5 * SIDE
        square = {"lower": [x - half, y - half], "upper": [x + half, y + half]}
        found[f"clustered-{k}"] = {"count": AGENTS, "region": square, "seed": k}
    return found


def start_jobs(count: int, horizon: float | None = None) -> dict[str, Job[Row]]:
    """A job for each start and law, named after both."""
    return {
        f"{start}-{law}": job_of(
            paper_scenario(law, horizon=horizon, start=table), partial(row_of, start, law)
        )
        for start, table in start_tables(count).items()
        for law in LAWS
    }


def row_of(start: str, law: str, run: Run) -> Row:
    """The recorded quantities of a run."""
    values = {name: settled_at(run, level) for name, level in SETTLED.items()}
    for name, key in FIGURES.items():
        value = figures()[key].compared_value(run)
        values[name] = value["mean"] if isinstance(value, dict) else value
    return Row(start, law, run.stop.reason.value, values)


def values_of(rows: Sequence[Row], law: str, quantity: str) -> list[float | None]:
    """One quantity of one law, start by start."""
    return [row.values[quantity] for row in rows if row.law == law]


def quartiles_of(values: Sequence[float | None]) -> dict[str, float | None]:
    """Quartiles and median, where None stands for never, which is later than any time."""
    names = ("low", "median", "high")
    if not values:
        return dict.fromkeys(names)
    ordered = np.sort([np.inf if value is None else value for value in values])
    found = np.quantile(ordered, (0.25, 0.5, 0.75), method="inverted_cdf")
    known = (float(q) if np.isfinite(q) else None for q in found)
    return dict(zip(names, known, strict=True))


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Quartiles by law and quantity, and how many starts of each kind there are."""
    starts = {row.start for row in rows}
    laws = {
        law: {name: quartiles_of(values_of(rows, law, name)) for name in QUANTITIES}
        for law in dict.fromkeys(row.law for row in rows)
    }
    spread = sum(start.startswith("spread") for start in starts)
    return {"spread": spread, "clustered": len(starts) - spread, "laws": laws}


# Other grids.


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
    at_rest = settled_at(run, REST_LEVELS[name])
    error, cost = (figure_of(run, key) for key in ("error.final_max", "cost.final"))
    return GridRow(name, spacing, at_rest, error, cost)

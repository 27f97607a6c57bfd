"""The messages of a run to the page: its start and its metric samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.state import counts_of
from dwell.exports.workspace_json import workspace_json
from dwell.exports.world_json import world_json
from dwell.measure import Metrics
from dwell.measure.metrics import measure_configurations
from dwell.scenario import Scenario
from dwell.verify.flags import own_limit

FEW = 200  # agents up to which samples include the error of each


def begin_message(system: CoverageSystem, start: AgentsState, scenario: Scenario) -> dict[str, Any]:
    """Return the first message of a run, as JSON values."""
    limit = own_limit(system)
    if scenario.certificate is not None:
        limit = scenario.certificate.eta_max
    errors = measure_configurations(system, start.positions[None], np.zeros(1)).error.tolist()
    return {
        "type": "begin",
        "start": {**_state(start), "errors": errors, "spent": _spent(start)},
        "fade": _finite(start.segments.fade),
        "workspace": workspace_json(system.workspace),
        "world": world_json(scenario, system.changes),
        "radii": system.radius,
        "nu": system.nu,
        "eta_max": limit,
        "law": scenario.controller.kind,
        "agents": system.agents,
        "dimension": system.dimension,
        "horizon": scenario.run.horizon,
        "seed": system.seed,
    }


def sample_columns(found: Metrics) -> dict[str, np.ndarray]:
    """Return the columns of metric samples."""
    columns = {
        "time": found.times,
        "cost": found.costs,
        "error": found.errors.max(axis=1),
        "separation": found.separations,
    }
    held = found.hold_errors.shape[1] > 0
    if held:
        columns["hold_error"] = found.hold_errors.max(axis=1)
    if found.errors.shape[1] <= FEW:
        columns["errors"] = found.errors
        if held:
            columns["hold_errors"] = found.hold_errors
    return columns


def _state(start: AgentsState) -> dict[str, Any]:
    begun = start.segments
    return {
        "time": start.time,
        "positions": begun.place.tolist(),
        "holds": begun.hold.tolist(),
        "next_at": [_finite(t) for t in begun.next_at.tolist()],
        "cruise": [_finite(t) for t in begun.cruise.tolist()] if begun.cruises else None,
        "bend": None if begun.bend is None else begun.bend.tolist(),
    }


def _spent(start: AgentsState) -> dict[str, list[int]]:
    """Return the cost of the first samples by agent; events hold that of later ones."""
    names = ("looked", "received", "sent")
    if not start.spent:
        return {name: [0] * len(start.first) for name in names}
    return {name: counts_of(start.spent, name).tolist() for name in names}


def _finite(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not have."""
    return value if math.isfinite(value) else None

"""The figures of a run as one JSON object. Its keys are a promise: scripts depend on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dwell.theory import Metrics, measure
from dwell.theory.finding import HOLDS, NOT_APPLICABLE, VIOLATED
from dwell.theory.flags import own_limit

if TYPE_CHECKING:
    from dwell.results.run import Run

SUMMARY_VERSION = 1


def summarize(run: Run) -> dict[str, Any]:
    """Everything `dwell run --json` prints."""
    # Where two agents met in the end there are no cells: what would need them is null.
    defined = [0.0] if run.ends_in_contact else [0.0, run.horizon]
    ends = measure(run.system, run.start, run.events, np.array(defined), threads=1)
    final_cost, final_error = float(ends.costs[-1]), float(ends.errors[-1].max())
    looks = np.bincount(run.events.agent, minlength=run.agents)
    spent = run.counters
    return {
        "schema": SUMMARY_VERSION,
        "law": _law(run),
        "dimension": run.workspace.dimension,
        "agents": run.agents,
        "horizon": run.scenario.run.horizon if run.scenario else run.horizon,
        "seed": run.system.seed,
        "integration": "exact" if run.system.spacing is None else "grid",
        "stop": {
            "reason": run.stop.reason.value,
            "ok": run.stop.reason.ok,
            "time": run.stop.time,
            "detail": run.stop.detail,
        },
        "events": {"total": len(run.events), "per_agent": _spread(looks)},
        "cells": {
            "voronoi": int(spent.voronoi.sum()),
            "guaranteed": int(spent.guaranteed.sum()),
            "dual_guaranteed": int(spent.dual_guaranteed.sum()),
            "per_agent": _spread(spent.cells),
        },
        "measurements": int(spent.measurements.sum()),
        "messages": int(spent.received.sum()),
        "broadcasts": int(spent.sent.sum()),
        "updates": _spread(spent.updates),
        "cost": {
            "initial": float(ends.costs[0]),
            "final": None if run.ends_in_contact else final_cost,
        },
        "error": {"final_max": None if run.ends_in_contact else final_error},
        "coverage": {
            "nu": getattr(run.system.controller, "nu", None),
            "reached_at": run.reached_at,
        },
        "hold_error": {"max": _largest_hold_error(run, ends), "limit": _limit(run)},
        "separation": _closest(run),
        "certificate": _certificate(run),
        "distance": _spread(spent.distance),
        "energy": _spread(spent.energy),
        **_final(run),
        "repairs": list(run.repairs),
        "flags": [{"code": flag.code, "says": flag.says} for flag in run.flags],
        "wall_seconds": run.wall_seconds,
    }


def _law(run: Run) -> str:
    return run.scenario.controller.kind if run.scenario else type(run.system.controller).__name__


def _spread(values: Any) -> dict[str, Any]:
    low, high = values.min(), values.max()
    whole = np.issubdtype(values.dtype, np.integer)
    as_number = int if whole else float
    return {"min": as_number(low), "mean": float(values.mean()), "max": as_number(high)}


def _largest_hold_error(run: Run, ends: Metrics) -> float | None:
    """Over the ends of all holds and over all samples."""
    if ends.hold_errors.shape[1] == 0:
        return None
    candidates = (run.events.hold_error, run.metrics.hold_errors, ends.hold_errors)
    return max(float(values.max(initial=0.0)) for values in candidates)


def _limit(run: Run) -> float | None:
    """Of the certificate, or else the one that adaptive timers keep to."""
    return own_limit(run.system) if run.assumed is None else float(run.assumed["eta_max"])


def _closest(run: Run) -> dict[str, Any]:
    """Also between samples and events."""
    found = run.closest
    if not np.isfinite(found.distance):
        return {"min": None, "time": None, "agents": None}
    return {"min": found.distance, "time": found.time, "agents": list(found.agents)}


def _certificate(run: Run) -> dict[str, Any] | None:
    """The theorem held against the run, and the constants it assumes beside those measured."""
    if not run.certificate:
        return None
    assert run.assumed is not None
    named = {
        status: [f.name for f in run.certificate if f.status == status]
        for status in (HOLDS, VIOLATED, NOT_APPLICABLE)
    }
    seen = run.measured
    return {
        "holds": named[HOLDS],
        "violated": named[VIOLATED],
        "not_applicable": named[NOT_APPLICABLE],
        "findings": [finding.as_json() for finding in run.certificate],
        "assumed_lipschitz": run.assumed["lipschitz"],
        "measured_lipschitz": None if seen is None else seen.as_json(),
    }


def _final(run: Run) -> dict[str, Any]:
    places = run.positions(run.horizon)
    if run.ends_in_contact:
        return {
            "final_positions": places.tolist(), "final_centroids": None, "final_masses": None
        }  # fmt: skip
    looks = [run.system.look(places, p) for p in range(run.agents)]
    centroids = places + np.array([look.error for look in looks])
    return {
        "final_positions": places.tolist(),
        "final_centroids": centroids.tolist(),
        "final_masses": [look.mass for look in looks],
    }

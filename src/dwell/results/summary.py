"""The figures of a run as one JSON object. Its keys are a promise: scripts depend on them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density.looking import Looks
from dwell.theory import Metrics
from dwell.theory.finding import HOLDS, NOT_APPLICABLE, VIOLATED
from dwell.theory.flags import own_limit
from dwell.theory.metrics import Snapshots, metrics_of

if TYPE_CHECKING:
    from dwell.results.run import Run

SUMMARY_VERSION = 1


def summarize(run: Run) -> dict[str, Any]:
    """Everything `dwell run --json` prints."""
    # Where two agents met in the end there are no cells: what would need them is null.
    ends = [_at_the_start(run)]
    places = run.at_the_end.positions[0]
    seen = None if run.ends_in_contact else run.final_looks
    if seen is not None:
        ends.append(metrics_of(run.system, run.at_the_end, np.array([run.horizon]), seen))
    final_cost, final_error = float(ends[-1].costs[0]), float(ends[-1].errors.max())
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
        "record": run.record,
        "events": {"total": run.tally.jumps, "per_agent": _spread(run.tally.looks)},
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
            "initial": float(ends[0].costs[0]),
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
        **_final(places, seen),
        "repairs": list(run.repairs),
        "flags": [{"code": flag.code, "says": flag.says} for flag in run.flags],
        "wall_seconds": run.wall_seconds,
    }


def _at_the_start(run: Run) -> Metrics:
    places, velocities = run.start.positions, run.start.velocities
    now = Snapshots(places[None], velocities[None], np.empty((1, run.agents)))
    seen = run.system.looks_of_all(places, threads=run.recorder.threads)
    return metrics_of(run.system, now, np.zeros(1), seen)


def _law(run: Run) -> str:
    return run.scenario.controller.kind if run.scenario else type(run.system.controller).__name__


def _spread(values: Any) -> dict[str, Any]:
    low, high = values.min(), values.max()
    whole = np.issubdtype(values.dtype, np.integer)
    as_number = int if whole else float
    return {"min": as_number(low), "mean": float(values.mean()), "max": as_number(high)}


def _largest_hold_error(run: Run, ends: list[Metrics]) -> float | None:
    """Over the ends of all holds and over all samples."""
    if ends[0].hold_errors.shape[1] == 0:
        return None
    at_ends = (float(one.hold_errors.max(initial=0.0)) for one in ends)
    return max(run.tally.hold_error, run.tally.samples.hold_error, *at_ends)


def _limit(run: Run) -> float | None:
    """Of the certificate, or else the one that adaptive timers keep to."""
    return own_limit(run.system) if run.assumed is None else float(run.assumed["eta_max"])


def _closest(run: Run) -> dict[str, Any]:
    """Also between samples and events, if these were kept; and at these alone."""
    seen = run.seen_separation if np.isfinite(run.seen_separation) else None
    nothing = {"min": None, "time": None, "agents": None, "seen": seen}
    if run.table is None or not np.isfinite(run.closest.distance):
        return nothing
    found = run.closest
    return {**nothing, "min": found.distance, "time": found.time, "agents": list(found.agents)}


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


def _final(places: Points, seen: Looks | None) -> dict[str, Any]:
    if seen is None:  # two agents at one place
        return {
            "final_positions": in_lists(places), "final_centroids": None, "final_masses": None
        }  # fmt: skip
    return {
        "final_positions": in_lists(places),
        "final_centroids": in_lists(places + seen.error),
        "final_masses": in_lists(seen.mass * np.exp(seen.log_scale)),
    }


def in_lists(values: Floats) -> list[Any]:
    """An array as lists, which hold numbers only: nobody need look whether they hold each other."""
    watched = gc.isenabled()
    gc.disable()  # else it counts a million short lists over and over
    try:
        found: list[Any] = values.tolist()
        return found
    finally:
        if watched:
            gc.enable()

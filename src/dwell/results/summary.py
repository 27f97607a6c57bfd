"""The numbers of a run as one JSON object. Its keys are stable: scripts depend on them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.measurement import CellMeasurements
from dwell.measure.metrics import log_cost_of
from dwell.verify import Flag
from dwell.verify.finding import HOLDS, NOT_APPLICABLE, VIOLATED
from dwell.verify.flags import own_limit

if TYPE_CHECKING:
    from dwell.results.run import Run

SUMMARY_VERSION = 1
SHOWN = (  # in a notebook
    ("cost", "initial"), ("cost", "final"), ("error", "final_max"), ("coverage", "reached_at"),
    ("separation", "min"),
)  # fmt: skip
UNSEEN = Flag(
    "coverage-unseen",
    "When coverage was reached is not known: a summary without samples looks at the end alone; "
    "give record.sample_every.",
)


def summarize(run: Run) -> dict[str, Any]:
    """Everything `dwell run --json` prints."""
    # Where two agents coincide at the end there are no cells: what would need them is null.
    ends, places = run.details.ends, run.details.at_the_end.positions[0]
    seen = None if run.details.ends_in_contact else run.details.final_measurements
    final_cost, final_error = float(ends[-1].costs[0]), float(ends[-1].errors.max())
    spent = run.counters
    return {
        "schema": SUMMARY_VERSION,
        "law": law_of(run),
        "dimension": run.workspace.dimension,
        "agents": run.agents,
        "horizon": run.scenario.run.horizon if run.scenario else run.horizon,
        "seed": run.system.seed,
        "start_seed": None if run.scenario is None else run.scenario.agents.start_seed,
        "integration": "exact" if run.system.spacing is None else "grid",
        "stop": {
            "reason": run.stop.reason.value,
            "ok": run.stop.reason.ok,
            "time": run.stop.time,
            "detail": run.stop.detail,
        },
        "record": run.details.record,
        "events": {
            "total": run.details.tally.jumps,
            "per_agent": _spread(run.details.tally.event_counts),
        },
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
            "final": None if run.details.ends_in_contact else final_cost,
        },
        "log_cost": {
            "initial": log_cost_of(run.details.initial_measurements),
            "final": None if seen is None else log_cost_of(seen),
        },
        "error": {"final_max": None if run.details.ends_in_contact else final_error},
        "coverage": {
            "nu": run.system.nu,
            "reached_at": run.reached_at,
            "last_beyond": run.details.last_beyond,
        },
        "hold_error": {"max": run.details.largest_hold_error, "limit": _limit(run)},
        "separation": _closest(run),
        "certificate": _certificate(run),
        "distance": _spread(spent.distance),
        "top_speed": run.details.tally.top_speed_until(run.horizon),
        "energy": _spread(spent.energy),
        **_final(places, seen),
        "repairs": list(run.repairs),
        "flags": [{"code": flag.code, "says": flag.says} for flag in run.flags],
        "wall_seconds": run.details.wall_seconds,
    }


def law_of(run: Run) -> str:
    """The kind of the law in a scenario; of a law in Python, its class."""
    law = run.scenario.controller if run.scenario else None
    own = getattr(law, "law", None)  # of a law in Python
    return own or (law.kind if law else type(run.system.controller).__name__)


def _spread(values: Any) -> dict[str, Any]:
    low, high = values.min(), values.max()
    whole = np.issubdtype(values.dtype, np.integer)
    as_number = int if whole else float
    return {"min": as_number(low), "mean": float(values.mean()), "max": as_number(high)}


def _limit(run: Run) -> float | None:
    """Of the certificate, or else the one that adaptive timers keep to."""
    return (
        own_limit(run.system)
        if run.details.assumed is None
        else float(run.details.assumed["eta_max"])
    )


def _closest(run: Run) -> dict[str, Any]:
    """At any time, if the events were kept; and at the start, at events and at the end."""
    seen = run.details.seen_separation if np.isfinite(run.details.seen_separation) else None
    nothing = {"min": None, "time": None, "agents": None, "seen": seen}
    if run.details.table is None or not np.isfinite(run.details.closest.distance):
        return nothing
    found = run.details.closest
    return {**nothing, "min": found.distance, "time": found.time, "agents": list(found.agents)}


def _certificate(run: Run) -> dict[str, Any] | None:
    """The theorem held against the run, and the constants it assumes beside those measured."""
    if not run.certificate:
        return None
    assert run.details.assumed is not None
    named = {
        status: [f.name for f in run.certificate if f.status == status]
        for status in (HOLDS, VIOLATED, NOT_APPLICABLE)
    }
    seen = run.details.measured
    return {
        "holds": named[HOLDS],
        "violated": named[VIOLATED],
        "not_applicable": named[NOT_APPLICABLE],
        "findings": [finding.as_json() for finding in run.certificate],
        "assumed_lipschitz": run.details.assumed["lipschitz"],
        "measured_lipschitz": None if seen is None else seen.as_json(),
    }


def _final(places: Points, seen: CellMeasurements | None) -> dict[str, Any]:
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
    """Return an array as lists, made without the search for reference cycles."""
    watched = gc.isenabled()
    gc.disable()  # else it counts a million short lists over and over
    try:
        found: list[Any] = values.tolist()
        return found
    finally:
        if watched:
            gc.enable()

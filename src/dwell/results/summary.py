"""The numbers of a run as one JSON object. Its keys are stable: scripts depend on them."""

from __future__ import annotations

import gc
import math
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.density.moving import tracks_of
from dwell.geometry.moving import MovingPolygon
from dwell.measure.metrics import Snapshots, cost_in, log_cost_of
from dwell.results.live_record import live_numbers
from dwell.verify import Flag
from dwell.verify.finding import HOLDS, NOT_APPLICABLE, NOT_YET, VIOLATED
from dwell.verify.flags import own_limit

if TYPE_CHECKING:
    from dwell.agents import CoverageSystem
    from dwell.agents.world import Timeline
    from dwell.results.details import Details
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
    kept, spent = run.details, run.counters
    initial, *final = kept.ends
    limited = [None if run.system.radius is None else float(end.costs[0]) for end in kept.ends]
    return {
        "schema": SUMMARY_VERSION,
        "law": law_of(run),
        **run.details.units.as_json(),
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
        "record": kept.record,
        "events": {"total": kept.tally.jumps, "per_agent": _spread(kept.tally.event_counts)},
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
            "initial": float(initial.costs[0]),
            "final": float(final[0].costs[0]) if final else None,
        },
        "log_cost": {
            "initial": log_cost_of(kept.initial_measurements, limited[0]),
            "final": log_cost_of(kept.final_measurements, limited[-1]) if final else None,
        },
        "error": {"final_max": float(final[0].errors.max()) if final else None},
        "coverage": {
            "nu": run.system.nu,
            "reached_at": run.reached_at,
            "last_beyond": kept.last_beyond,
        },
        "hold_error": {
            "max": kept.largest_hold_error,
            "limit": float(kept.assumed["eta_max"]) if kept.assumed else own_limit(run.system),
        },
        "separation": _closest(kept),
        "certificate": _certificate(kept),
        **_world(kept),
        **({} if (live := kept.live) is None else {"live": live_numbers(kept.system, live)}),
        "distance": _spread(spent.distance),
        "top_speed": kept.tally.top_speed_until(run.horizon),
        "energy": _spread(spent.energy),
        **_final(kept),
        "repairs": list(run.repairs),
        "flags": [asdict(flag) for flag in run.flags],
        "wall_seconds": kept.wall_seconds,
    }


def law_of(run: Run) -> str:
    """The kind of the law in a scenario; of a law in Python, its class."""
    law = run.scenario.controller if run.scenario else None
    own = getattr(law, "law", None)  # of a law in Python
    return own or (law.kind if law else type(run.system.controller).__name__)


def _spread(values: Any) -> dict[str, Any]:
    return {
        "min": values.min().item(), "mean": float(values.mean()), "max": values.max().item()
    }  # fmt: skip


def _closest(kept: Details) -> dict[str, Any]:
    """At any time, if the events were kept; and at the start, at events and at the end."""
    seen = kept.seen_separation if np.isfinite(kept.seen_separation) else None
    nothing = {"min": None, "time": None, "agents": None, "seen": seen}
    if kept.table is None or not np.isfinite(kept.closest.distance):
        return nothing
    found = kept.closest
    return {**nothing, "min": found.distance, "time": found.time, "agents": list(found.agents)}


def _certificate(kept: Details) -> dict[str, Any] | None:
    """The theorem held against the run, and the constants it assumes beside those measured."""
    if not kept.certificate:
        return None
    assert kept.assumed is not None
    named: dict[str, Any] = {
        status.replace(" ", "_"): [f.name for f in kept.certificate if f.status == status]
        for status in (HOLDS, VIOLATED, NOT_YET, NOT_APPLICABLE)
    }
    return named | {
        "findings": [finding.as_json() for finding in kept.certificate],
        "assumed_lipschitz": kept.assumed["lipschitz"],
        "measured_lipschitz": None if kept.measured is None else kept.measured.as_json(),
    }


def _world(kept: Details) -> dict[str, Any]:
    """What changes in a world, with the cost just before and after each switch."""
    timeline = kept.system.timeline
    if kept.system.changes is None:
        return {}
    switches = []
    for before, after in pairwise(timeline.phases):
        if after.begin > kept.horizon:
            break
        present = timeline.present_at(after.begin)
        found: dict[str, Any] = {"time": after.begin, "cost_before": None, "cost_after": None}
        found["agents"] = kept.system.agents if present is None else len(present)
        found |= _comings(kept.system, after.begin)
        if kept.table is not None:
            now = kept.snapshots_at(after.begin)
            for name, t in (("cost_before", before), ("cost_after", after)):
                found[name] = _cost_in(kept, t.begin, after.begin, now)
        switches.append(found)
    found = {"moves": timeline.moves, "switches": switches}
    found["moving"] = _moving(timeline, kept.horizon)
    found["sensors"] = [{"name": s.name, "owners": list(s.owners)} for s in timeline.sensors]
    return {"world": found}


def _comings(system: CoverageSystem, t: float) -> dict[str, list[int]]:
    """The agents that leave and arrive at a switch."""
    when = {"leave": system.departures, "arrive": system.arrivals}
    return {name: np.flatnonzero(times == t).tolist() for name, times in when.items()}


def _moving(timeline: Timeline, horizon: float) -> list[dict[str, Any]]:
    """From when to when density and workspace move; "until" is null if they do to the end."""
    found: list[dict[str, Any]] = []
    ends = [*timeline.begins[1:], math.inf]
    for what in ("density", "workspace"):
        spans: list[list[float]] = []
        for phase, end in zip(timeline.phases, ends, strict=True):
            until = min(end, _moves_until(getattr(phase, what)))
            if phase.begin < min(until, horizon):
                if not spans or spans[-1][1] != phase.begin:
                    spans.append([phase.begin, until])
                spans[-1][1] = until
        found += [
            {"what": what, "from": begin, "until": until if until < horizon else None}
            for begin, until in spans
        ]
    return found


def _moves_until(part: object) -> float:
    """The time of the last keyframe of a density or a workspace; inf on a circle."""
    tracks: list[Any] = [track for _, track in tracks_of(part)]
    tracks += [part.vertices] if isinstance(part, MovingPolygon) else []
    return max((getattr(track, "times", (math.inf,))[-1] for track in tracks), default=0.0)


def _cost_in(kept: Details, phase: float, time: float, now: Snapshots) -> float | None:
    """The cost of positions in the world of a phase; None where two agents coincide."""
    world, agents = kept.system.world_at(phase), np.arange(kept.system.agents)
    row, when = np.zeros_like(agents), np.array([time])
    radii = kept.system.radii
    seen = world.measure(now.positions, row, agents, when, radius=radii)
    if seen.coincident.any():
        return None
    return cost_in(world.ground_at(time), now.positions[0], seen, radii)


def _final(kept: Details) -> dict[str, Any]:
    """Where two agents coincide there are no cells: what would need them is null."""
    places = kept.at_the_end.positions[0]
    found = {"final_positions": in_lists(places), "final_centroids": None, "final_masses": None}
    if kept.ends_in_contact:
        return found
    seen = kept.final_measurements
    centroids, masses = places + seen.error, seen.mass * np.exp(seen.log_scale)
    return found | {"final_centroids": in_lists(centroids), "final_masses": in_lists(masses)}


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

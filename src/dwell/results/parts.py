"""Parts of a summary that take more than a line: law, closest pair, certificate, world, end."""

from __future__ import annotations

import gc
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats
from dwell.agents.trajectory import Snapshots
from dwell.cells.measurement import of_one
from dwell.density.moving import tracks_of
from dwell.geometry.moving import MovingPolygon
from dwell.measure.metrics import cost_in, log_cost_of
from dwell.scenario.laws import class_of
from dwell.verify.finding import HOLDS, NOT_APPLICABLE, NOT_YET, VIOLATED
from dwell.verify.flags import own_limit

if TYPE_CHECKING:
    from dwell.agents import CoverageSystem
    from dwell.agents.world import Timeline, World
    from dwell.measure.closest_approach import Approach
    from dwell.results.details import Details
    from dwell.results.run import Run


def law_of(run: Run) -> str:
    """The kind of the law in a scenario; of a law in Python, its class."""
    if run.scenario is None:
        return run.system.traits.name
    spec = run.scenario.controller
    return class_of(spec) or spec.kind


def cost_at(kept: Details, end: int) -> float | None:
    """The cost at the start (0) or at the end (1); None where two agents coincide."""
    return float(kept.ends[end].costs[0]) if end < len(kept.ends) else None


def log_cost_at(kept: Details, end: int) -> float | None:
    """The logarithm of the cost at the start (0) or at the end (1)."""
    if end >= len(kept.ends):
        return None
    seen = kept.final_measurements if end else kept.initial_measurements
    radius = kept.system.radius
    return log_cost_of(seen, None if radius is None else float(kept.ends[end].costs[0]))


def final_error(kept: Details) -> float | None:
    """The largest error at the end; None where two agents coincide."""
    return float(kept.ends[1].errors.max()) if len(kept.ends) > 1 else None


def hold_limit(run: Run) -> float | None:
    """The limit of the hold error: that of the certificate, or else of adaptive timers."""
    assumed = run.details.assumed
    return float(assumed["eta_max"]) if assumed else own_limit(run.system)


def seen_separation(kept: Details) -> float | None:
    """The smallest distance of two agents at the start, events and end; None for one agent."""
    return kept.seen_separation if np.isfinite(kept.seen_separation) else None


def closest(kept: Details) -> Approach | None:
    """The closest two agents at any time; None for one agent, and where no events were kept."""
    known = kept.table is not None and np.isfinite(kept.closest.distance)
    return kept.closest if known else None


def certificate(kept: Details) -> dict[str, Any] | None:
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


def world(kept: Details) -> dict[str, Any] | None:
    """What changes in a world, with the cost just before and after each switch."""
    timeline = kept.system.timeline
    if kept.system.changes is None:
        return None
    switches = []
    for before, after in pairwise(timeline.worlds):
        if after.begin > kept.horizon:
            break
        present = after.present
        found: dict[str, Any] = {"time": after.begin, "cost_before": None, "cost_after": None}
        found["agents"] = kept.system.agents if present is None else len(present)
        found |= _comings(kept.system, after.begin)
        if kept.table is not None:
            now = kept.snapshots_at(after.begin)
            for name, one in (("cost_before", before), ("cost_after", after)):
                found[name] = _cost_in(kept, one, after.begin, now)
        switches.append(found)
    found = {"moves": timeline.moves, "switches": switches}
    found["moving"] = _moving(timeline, kept.horizon)
    found["sensors"] = [{"name": s.name, "owners": list(s.owners)} for s in timeline.sensors]
    return found


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
        for world, end in zip(timeline.worlds, ends, strict=True):
            until = min(end, _moves_until(getattr(world, what)))
            if world.begin < min(until, horizon):
                if not spans or spans[-1][1] != world.begin:
                    spans.append([world.begin, until])
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


def _cost_in(kept: Details, world: World, time: float, now: Snapshots) -> float | None:
    """The cost of positions in a world; None where two agents coincide."""
    rows = of_one(now.positions[0], np.arange(kept.system.agents))
    seen = kept.system.measure(*rows, np.array([time]), world=world)
    if seen.coincident.any():
        return None
    return cost_in(world.ground.at(time), now.positions[0], seen, kept.system.radii)


def masses(kept: Details) -> list[float] | None:
    """The mass of each cell at the end; None where two agents coincide."""
    if kept.ends_in_contact:
        return None
    seen = kept.final_measurements
    return in_lists(seen.mass * np.exp(seen.log_scale))


def centroids(kept: Details) -> list[list[float]] | None:
    """The centroid of each cell at the end; None where two agents coincide."""
    if kept.ends_in_contact:
        return None
    return in_lists(kept.at_the_end.positions[0] + kept.final_measurements.error)


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

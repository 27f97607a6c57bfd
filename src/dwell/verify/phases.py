"""The theorem held against each phase of a world that switches, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dwell._types import at_time
from dwell.agents import AgentsState, Trajectory
from dwell.verify.finding import NOT_APPLICABLE, NOT_YET, VIOLATED, Finding
from dwell.verify.recorded import Recorded


def phases_of(recorded: Recorded) -> Iterator[tuple[float, Recorded]]:
    """Each phase of a run as a run of its own from time 0, with the time at which it begins."""
    run = recorded.path
    timeline = run.system.timeline
    ends = [*timeline.begins[1:], np.inf]
    for world, end in zip(timeline.worlds, ends, strict=True):
        if world.begin >= run.until > 0.0:
            return
        still = replace(
            run.system,
            workspace=world.ground.workspace,
            density=world.density,
            network=world.network,
            changes=None,
        )
        rows = (run.table.time >= world.begin) & (run.table.time < end)
        before = run.state_after(int(np.count_nonzero(run.table.time < world.begin)))
        first = _shifted(before, world.begin)
        own = run.table.take(rows)
        shifted = replace(own, time=own.time - world.begin, next_at=own.next_at - world.begin)
        until = min(end, run.until) - world.begin
        metrics = recorded.metrics
        if metrics is not None:
            some = (metrics.times >= world.begin) & (metrics.times < end)
            kept = {name: values[some] for name, values in vars(metrics).items()}
            metrics = type(metrics)(**{**kept, "times": kept["times"] - world.begin})
        yield world.begin, Recorded(Trajectory(still, first, shifted, until), metrics)


def _shifted(state: AgentsState, begin: float) -> AgentsState:
    """The state with its present position as the start, on a clock that begins then."""
    now = state.segments
    moved = replace(
        now,
        since=np.zeros(len(now.since)),
        place=now.at(begin),
        hold=now.velocity_at(begin),
        next_at=now.next_at - begin,
        cruise=np.maximum(now.cruise - (begin - now.since), 0.0),
    )
    return replace(state, segments=moved, time=0.0)


def worst_of_phases(found: Sequence[tuple[float, Sequence[Finding]]]) -> tuple[Finding, ...]:
    """For each finding that of the phase in which it is worst, with the time that this begins."""
    rank = {NOT_APPLICABLE: 0, NOT_YET: 2, VIOLATED: 3}
    merged = []
    for same in zip(*(findings for _, findings in found), strict=True):
        excess = [(rank.get(f.status, 1), f.worst - f.limit, -k) for k, f in enumerate(same)]
        k = -max(excess)[2]
        begin, one = found[k][0], same[k]
        where = f"in the world from {at_time(begin)} on" + ", counted from then" * (begin > 0.0)
        merged.append(replace(one, where=f"{one.where}, {where}" if one.where else where))
    return tuple(merged)

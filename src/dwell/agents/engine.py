"""The compiled engine's rim: hands arrays down, dresses what comes back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dwell.agents.events import EventTable, LoggedEvents, LoggedStates
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.geometry.voronoi import columns
from dwell.hybrid import HybridArc, Stop, StopReason

CHUNK = 16_384  # jumps between two looks at the outside world: a few hundredths of a second

Progress = Callable[[float], None]  # told the time reached


def can_compile(system: CoverageSystem) -> bool:
    """Whether the engine knows this system's law and density."""
    return hasattr(system.controller, "program") and system.terms is not None


def run_compiled(
    system: CoverageSystem,
    start: AgentsState,
    *,
    until: float,
    max_jumps: int = 50_000_000,
    progress: Progress | None = None,
) -> HybridArc[AgentsState]:
    """The same arc as `dwell.hybrid.simulate`, bit for bit, a thousand times faster.

    An interrupt from the keyboard ends the run between two chunks: what was done is kept.
    """
    legs, arrays = _prepare(system, start)
    parts: list[EventTable] = []
    done = 0
    reason, end = StopReason.HORIZON, until
    detail = ""
    try:
        while True:
            buffer = EventTable.blank(min(CHUNK, max_jumps - done))
            made, status = _run_chunk(until, legs, arrays, buffer)
            parts.append(buffer.head(made))
            done += made
            now = float(buffer.time[made - 1]) if made else (float(parts[-2].time[-1]) if done else 0.0)
            if status != 0:
                break
            if done >= max_jumps:
                reason, end = StopReason.JUMP_LIMIT, now
                break
            if progress is not None:
                progress(now)
    except KeyboardInterrupt:
        status = 0
        reason, end = StopReason.INTERRUPTED, float(parts[-1].time[-1]) if done else start.time
    if status == 2:
        reason, end, detail = _contact(system, legs)
    table = EventTable.joined(parts) if parts else EventTable.blank(0)
    return HybridArc(
        system, LoggedStates(start, table), LoggedEvents(table), end, Stop(reason, end, detail)
    )


def _prepare(system: CoverageSystem, start: AgentsState):  # type: ignore[no-untyped-def]
    """The state and the constants of a run in the form the kernels take."""
    from dwell._kernels.engine import Legs, build_queue
    from dwell._kernels.scratch import make_scratch

    n = system.agents
    legs = Legs(
        *(np.ascontiguousarray(start.start[:, k]) for k in (0, 1)),
        *(np.ascontiguousarray(start.hold[:, k]) for k in (0, 1)),
        since=start.since.copy(),
        first=start.first.copy(),
        next_at=start.next_at.copy(),
        looks=start.looks.copy(),
        queue=np.empty(n, dtype=np.int64),
    )
    build_queue(legs.queue, legs.next_at)
    arrays = (
        *columns(system.workspace.vertices),
        system.terms,
        system.controller.program(n),  # type: ignore[attr-defined]
        np.array(system.key, dtype=np.int64),
        np.array(system.streams, dtype=np.int64),
        np.empty(n),
        np.empty(n),
        make_scratch(n, len(system.workspace.vertices)),
    )
    return legs, arrays


def _run_chunk(until, legs, arrays, buffer):  # type: ignore[no-untyped-def]
    from dwell._kernels.engine import run_events

    wx, wy, terms, program, key, streams, xs, ys, scratch = arrays
    return run_events(
        until, legs, wx, wy, terms, program, key, streams, buffer.as_log(), xs, ys, scratch
    )


def _contact(system, legs):  # type: ignore[no-untyped-def]
    """Which two agents met, where and when, in words."""
    from dwell._kernels.engine import positions_at

    agent = int(legs.queue[0])
    t = float(legs.next_at[agent])
    xs, ys = np.empty(system.agents), np.empty(system.agents)
    positions_at(t, legs, xs, ys)
    points = np.column_stack([xs, ys])
    gap = (points - points[agent])
    gap[agent] = np.inf
    other = int(np.argmin((gap**2).sum(axis=1)))
    from dwell.geometry.voronoi import coincident

    return StopReason.COINCIDENT, t, str(coincident(agent, other, points[agent]))

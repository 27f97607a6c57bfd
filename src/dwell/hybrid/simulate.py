"""The loop. It reads as the definition of a solution: flow to the next event, jump, repeat."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from dwell.errors import DwellError
from dwell.hybrid.arc import HybridArc
from dwell.hybrid.system import FAILED, Event, Halt, HybridSystem, Stop, StopReason

S = TypeVar("S")


def simulate(
    system: HybridSystem[S],
    start: S,
    *,
    until: float,
    max_jumps: int = 1_000_000,
    max_simultaneous: int = 10_000,
    standing: int = 0,
    keep_failed: bool = False,
    progress: Callable[[float], None] | None = None,
) -> HybridArc[S]:
    """Solve `system` exactly from `start` until time `until`; a jump due at `until` is executed.

    Stops early after `max_jumps` jumps, after more than `max_simultaneous` jumps in a row without
    progress of time (Zeno), or on an interrupt from the keyboard; see the arc's `stop`. `standing`
    is the number of such jumps just before `start`. A DwellError of a jump is raised; with
    `keep_failed` it ends the arc, as its `stop.fault`. `progress` is called with the time reached
    after each jump.
    """
    states: list[S] = [start]
    events: list[Event] = []

    def arc(end: float, reason: StopReason, *more: Any) -> HybridArc[S]:
        return HybridArc(system, states, events, end, Stop(reason, end, *more), standing)

    try:
        while (event := system.next_event(states[-1])) is not None and event.time <= until:
            now = system.time_of(states[-1])
            # A few units in the last place are no progress: a ball at rest would bounce for ever.
            moved = max(8.0 * math.ulp(now), 1e-18 * until)
            in_a_row = standing + 1 if event.time <= now + moved else 0
            if in_a_row > max_simultaneous:
                return arc(now, StopReason.ZENO)
            if len(events) == max_jumps:
                return arc(now, StopReason.JUMP_LIMIT)
            try:
                after = system.jump(system.flow(states[-1], event.time), event)
            except Halt as halt:
                return arc(event.time, halt.reason, halt.detail)
            except DwellError as fault:
                if not keep_failed:
                    raise
                return arc(now, StopReason.INTERRUPTED, f"{FAILED}{fault}", fault)
            states.append(after)
            events.append(event)
            standing = in_a_row
            if progress is not None:
                progress(event.time)
    except KeyboardInterrupt:
        del states[len(events) + 1 :]  # in case it came between the two lists
        return arc(system.time_of(states[-1]), StopReason.INTERRUPTED)
    return arc(until, StopReason.HORIZON)

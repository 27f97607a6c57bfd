"""How many events a run will have, estimated before it begins."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats
from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.continuous import is_continuous


def expected_events(
    system: CoverageSystem, start: AgentsState | None, until: float
) -> float | None:
    """How many jumps there will be, roughly: by the law where it says so, else by first waits."""
    looks = looks_by_law(system, until)
    if looks is not None:
        return float(looks.sum())
    if is_continuous(system) or start is None:
        return None
    waits = start.next_at[np.isfinite(start.next_at)]
    mean = float(waits.mean()) if len(waits) else 0.0
    return system.agents * until / mean if mean > 0.0 else None


def looks_by_law(system: CoverageSystem, until: float) -> Floats | None:
    """The expected number of looks of each agent; None where the law chooses waits on the way."""
    if system.program is None or not system.network.perfect or is_continuous(system):
        return None
    return until / _mean_waits(system)


def _mean_waits(system: CoverageSystem) -> Floats:
    from dwell._kernels import hold

    program = system.program
    assert program is not None
    if program.rule == hold.PERIODIC:
        return np.asarray(program.period)
    if program.rule == hold.SEQUENCE:
        return np.asarray(program.intervals.mean(axis=1))
    if program.rule == hold.DROPOUT:
        return np.asarray(np.minimum(program.t1 / (1.0 - program.loss), program.t2))
    shares = {hold.EARLIEST: 0.0, hold.LATEST: 1.0}
    share = shares.get(program.rule, 0.5)
    return np.asarray(program.t1 + share * (program.t2 - program.t1))

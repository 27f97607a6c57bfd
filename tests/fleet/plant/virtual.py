"""Agents with plants in virtual time, in one process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dwell.fleet.journal import read_fleet_journal
from dwell.fleet.plan import FleetPlan
from dwell.fleet.plant import Plant
from dwell.fleet.transport.memory import MemoryTransport


class VirtualClock:
    """A clock that passes exactly as long as is slept."""

    def __init__(self) -> None:
        self.origin, self.time = 0.0, 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, until: float) -> float:
        self.time = max(self.time, until)
        return self.time


def samples_of(plan: FleetPlan, plants: Sequence[Plant]) -> np.ndarray:
    """The samples of a run of all agents of a plan, with these robots."""
    clock = VirtualClock()
    host = plan.host(
        "all", range(len(plants)), MemoryTransport.network(1)[0], clock, boot=0,
        shared_clock=True, plants=dict(enumerate(plants)),
    )  # fmt: skip
    host.announce_standing()
    host.run(plan.until)
    host.close()
    return read_fleet_journal(Path(host.journal.path)).samples


def residuals(rows: np.ndarray, k1: float, times: str = "time") -> np.ndarray:
    """How far robots were from where their segments lead, per second of these, in units of k1."""
    found = []
    for p in np.unique(rows["agent"]):
        own = rows[rows["agent"] == p]
        moved, seconds = np.diff(own["position"], axis=0), np.diff(own[times])[:, None]
        found.append(np.linalg.norm(moved / seconds - own["hold"][:-1], axis=1) / k1)
    return np.concatenate(found)

"""Limits on one request, on one job and on all jobs together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import final

from dwell.errors import InputError


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server; most are options of `dwell serve`."""

    agents: int = 2_000
    horizon: float = 1e6
    events: float = 2e6  # that a run is expected to make; one that makes twice as many is ended
    seconds: float = 120.0  # of real time that a job may take
    memory: float = 2e9  # bytes that a job may take beyond an idle worker
    workers: int = 2  # runs at a time
    queued: int = 200  # jobs that may wait
    kept: int = 100  # runs that are over and not yet deleted
    disk: float = 2e9  # bytes of their files together
    body: int = 1_000_000  # bytes of a request
    depth: int = 20  # brackets within brackets
    numbers: int = 100_000  # in one request
    keyframes: int = 2_000  # of all that changes over time in a scenario, together
    worlds: int = 100  # switches of the world
    sensors: int = 20
    absent: float = 20.0  # seconds after which a live job without listeners is ended
    drain: float = 20.0  # seconds that runs are given when the server ends

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value < float("inf"):
                says = f"the limit {field.name} is {value!r}; a number greater than 0 is needed"
                raise InputError(says, code="web.limits")

"""The saturated input, in any dimension, and what the laws that hold it have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.agents.interfaces import Command, Observation

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram


def saturated(errors: Points, k1: float | Floats, reach: float | Floats) -> Points:
    """k1 sat(e, reach) of each error, (..., n): k1 e / reach up to |e| = reach, k1 e / |e| beyond.

    The kernel `saturate` has the same bits.
    """
    size = lengths(errors)
    scale = np.where(size > reach, size, reach)
    inputs: Points = k1 * (errors / scale[..., None])
    return inputs


def gain(rate: float, speed: float | None) -> tuple[float, float]:
    """k1 and reach such that saturated(e) is rate e, up to a largest speed if there is one."""
    from dwell._kernels.common.hold_law import NEVER_SATURATED

    return (rate * NEVER_SATURATED, NEVER_SATURATED) if speed is None else (speed, speed / rate)


def centroid_of(observation: Observation) -> Points:
    """The position of the measured centroid, to be remembered in case the next sample is lost."""
    assert observation.measurement is not None
    return observation.position + observation.measurement.error


def without_sample(observation: Observation, k1: float, reach: float, next_at: float) -> Command:
    """The command after a lost sample: move to the last known centroid, and stop there."""
    target: Any = observation.position if observation.memory is None else observation.memory
    left = target - observation.position
    cruise = max(float(lengths(left)), reach) / k1
    return Command(saturated(left, k1, reach), next_at, cruise, memory=target)


def next_periodic(observation: Observation, period: float) -> float:
    """The time of the next event of a periodic law."""
    from dwell._kernels.common.hold_law import periodic_sample

    return float(periodic_sample(observation.event_count, observation.first_event_at, period))


def periodic_program(
    k1: float, reach: float, agents: int, period: float, cruise: float = math.inf
) -> HoldProgram:
    """A law that takes the saturated input at every multiple of a period."""
    from dwell._kernels.common.hold_law import PERIODIC, HoldProgram

    periods = np.full(agents, period)
    return HoldProgram(
        k1, reach, PERIODIC, periods, periods, periods, np.zeros((agents, 0)), 0.0, cruise
    )

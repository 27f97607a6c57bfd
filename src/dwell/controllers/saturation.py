"""The saturated input, in any dimension, and laws that hold it for fixed periods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats, Points, lengths

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram


def saturated(errors: Points, k1: float | Floats, reach: float | Floats) -> Points:
    """k1 sat(e, reach) of each error, (..., n): k1 e / reach up to |e| = reach, k1 e / |e| beyond.

    In the plane the same bits as the kernel of the same name.
    """
    size = lengths(errors)
    scale = np.where(size > reach, size, reach)
    inputs: Points = k1 * (errors / scale[..., None])
    return inputs


def gain(rate: float, speed: float | None) -> tuple[float, float]:
    """k1 and reach such that saturated(e) is rate e, up to a largest speed if there is one."""
    from dwell._kernels.common.hold_law import NEVER_SATURATED

    return (rate * NEVER_SATURATED, NEVER_SATURATED) if speed is None else (speed, speed / rate)


def periodic_program(
    k1: float, reach: float, agents: int, period: float, cruise: float = math.inf
) -> HoldProgram:
    """A law that takes the saturated input at every multiple of a period."""
    from dwell._kernels.common.hold_law import PERIODIC, HoldProgram

    periods = np.full(agents, period)
    return HoldProgram(
        k1, reach, PERIODIC, periods, periods, periods, np.zeros((agents, 0)), 0.0, cruise
    )

"""The saturated input, in any dimension."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points, lengths


def saturated(errors: Points, k1: float | Floats, reach: float | Floats) -> Points:
    """k1 sat(e, reach) of each error, (..., n): k1 e / reach up to |e| = reach, k1 e / |e| beyond.

    In the plane the same bits as the kernel of the same name.
    """
    size = lengths(errors)
    scale = np.where(size > reach, size, reach)
    inputs: Points = k1 * (errors / scale[..., None])
    return inputs

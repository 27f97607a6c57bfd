"""Echoes: what each message says of those that its sender has received, one record per agent."""

from __future__ import annotations

from typing import Any

import numpy as np

TICK = 1e-4  # seconds, the unit of a hold
LONG = 0xFFFF  # a hold of that many units or more
# The last message received of an agent: its start and its number, and how long ago it arrived.
ECHO: np.dtype[Any] = np.dtype([("tag", "<u2"), ("hold", "<u2"), ("serial", "<u4")])


def tag_of(incarnation: Any) -> Any:
    """The part of an incarnation that echoes hold, never 0."""
    return incarnation % LONG + 1


def no_echoes(agents: int) -> np.ndarray:
    """Echoes of a sender that has received nothing."""
    return np.zeros(agents, dtype=ECHO)

"""The date and time at which a run began."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from dwell.errors import InputError
from dwell.scenario.site import as_epoch

EPOCH = "1970-01-01T00:00:00Z"


def instant(epoch: str) -> np.datetime64:
    """A date and time in words; refused if it is none."""
    try:
        text = as_epoch(epoch)
    except ValueError as bad:
        says = f'epoch is {epoch!r}; a date and time such as "2026-05-01T06:00:00Z" is needed'
        raise InputError(says, code="export.epoch", key="epoch") from bad
    return np.datetime64(datetime.fromisoformat(text).replace(tzinfo=None), "ms")

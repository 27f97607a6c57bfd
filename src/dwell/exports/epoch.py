"""The date and time at which a run began."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from dwell._types import in_short
from dwell.errors import InputError
from dwell.scenario.site import as_epoch

EPOCH = "1970-01-01T00:00:00Z"


def beginning_of(epoch: str | None, site: Any) -> np.datetime64:
    """When a run began: as given, or as its site says, or 1970."""
    known = site.epoch if epoch is None and site is not None else epoch
    return instant(EPOCH if known is None else known)


def instant(epoch: str) -> np.datetime64:
    """A date and time in words; refused if it is none."""
    try:
        text = as_epoch(epoch)
    except ValueError as bad:
        need = 'a date and time such as "2026-05-01T06:00:00Z" is needed'
        says = f"epoch is {in_short(epoch)}; {need}"
        raise InputError(says, code="export.epoch", key="epoch") from bad
    return np.datetime64(datetime.fromisoformat(text).replace(tzinfo=None), "ms")

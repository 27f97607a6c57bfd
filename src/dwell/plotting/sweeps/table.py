"""What the pictures of a sweep are drawn from: one entry per run in every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dwell._types import Floats, Ints

Mask = NDArray[np.bool_]


class Table(Protocol):
    """A sweep's runs; those that failed are not among them."""

    @property
    def keys(self) -> Sequence[str]:
        """What was varied."""
        ...

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Every column by its dotted name; None where a run has no such value."""
        ...

    @property
    def marks(self) -> Mapping[str, Sequence[tuple[float, str]]]:
        """Values of a key that mean something, such as limits of theory, and what they are."""
        ...

    def __len__(self) -> int:
        """How many runs there are."""
        ...

    def numbers(self, name: str) -> Floats:
        """A column of numbers; nan where a run has none."""
        ...


def numbers_of(table: Table, name: str) -> Floats:
    """A column of numbers; nan all over if there is no such column."""
    if name not in table.columns:
        return np.full(len(table), np.nan)
    return table.numbers(name)


def groups(runs: Mask, *columns: Floats) -> tuple[Floats, list[Ints]]:
    """The combinations of values that some runs have, (k, columns), and the runs of each.

    Runs without a value in some column are left out. One sort, however many groups there are.
    """
    rows = np.stack(columns, axis=1)
    chosen = np.flatnonzero(runs & ~np.isnan(rows).any(axis=1))
    values, which = np.unique(rows[chosen], axis=0, return_inverse=True)
    which = np.ravel(which)
    ordered = chosen[np.argsort(which, kind="stable")]
    ends = np.cumsum(np.bincount(which, minlength=len(values)))
    return values, np.split(ordered, ends[:-1]) if len(values) else []

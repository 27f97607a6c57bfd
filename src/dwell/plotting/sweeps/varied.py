"""What was varied: keys with numbers for axes, keys with words for lines, and which go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell.plotting.style import letter, short, value_words
from dwell.plotting.sweeps.quantities import Mask, SweepRuns

KIND = "controller.kind"
MOST_LINES = 8  # as many as there are colours
FEW_VALUES = 6  # of a second number, each of which may have a line of its own
MANY_VALUES = 40  # of one key, with hardly any run at each: dots rather than a curve


@final
@dataclass(frozen=True, eq=False)
class Line:
    """Runs that are drawn alike."""

    label: str
    runs: Mask


@final
@dataclass(frozen=True, eq=False)
class VariedKeys:
    """The keys of a sweep, by what can be drawn of them."""

    table: SweepRuns
    numeric: tuple[str, ...]  # axes; of keys that rise together, the first
    tied: dict[str, tuple[str, ...]]  # the others, by the one that stands for them
    words: tuple[str, ...]

    def scattered(self, key: str) -> bool:
        """Whether points were drawn, or are many with hardly any run at each, not a grid."""
        values = self.table.numbers(key)
        there = ~np.isnan(values)
        distinct = len(np.unique(values[there]))
        if len(self.numeric) == 1:
            return bool(distinct > MANY_VALUES and there.sum() < 3 * distinct)
        rows = np.stack([self.table.numbers(k)[there] for k in self.numeric], axis=1)
        points = len(np.unique(rows, axis=0))
        grid = math.prod(len(np.unique(column)) for column in rows.T)
        return distinct > FEW_VALUES and 2 * points < grid

    def lines(self, key: str | None = None) -> tuple[list[Line], list[str]]:
        """The lines of a picture over `key`, and those keys whose values they do not tell apart."""
        apart = list(self.words)
        while len(apart) > 1 and len(set(self._rows(apart))) > MOST_LINES:
            apart.remove(next(k for k in reversed(apart) if k != KIND))
        others = [k for k in self.numeric if k != key]
        if key is not None and len(others) == 1 and not self.scattered(key):
            more = [*apart, others[0]]
            few = len(set(self.table.columns[others[0]]) - {None}) <= FEW_VALUES
            if few and len(set(self._rows(more))) <= MOST_LINES:
                apart, others = more, []
        left = [k for k in self.words if k not in apart] + others
        return self.lines_of(apart), left

    def parts(self) -> list[Line]:
        """Runs for a picture of their own where lines cannot tell them apart, mostly by law."""
        word = KIND if KIND in self.words else next(iter(self.words), None)
        lines = self.lines_of([] if word is None else [word])
        return lines if len(lines) <= MOST_LINES else self.lines_of([])

    def _rows(self, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        columns = [self.table.columns[key] for key in keys]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self.table)

    def lines_of(self, keys: Sequence[str]) -> list[Line]:
        """The runs of each combination of values of some keys; all runs without keys."""
        rows = self._rows(keys)
        number_of = {row: k for k, row in enumerate(dict.fromkeys(rows))}
        which = np.array([number_of[row] for row in rows])
        found = []
        for row, k in number_of.items():
            parts = [_part(*named) for named in zip(keys, row, strict=True) if named[1] is not None]
            name = ", ".join(parts)
            if keys and not parts:
                name = "none"
            found.append(Line(name, which == k))
        return found


def _part(key: str, value: Any) -> str:
    words = value_words(value)
    if isinstance(value, (int, float)):
        return f"{letter(key)} = {words}"
    return words if key in (KIND, "controller.reset") else f"{short(key)} {words}"


def varied_keys(table: SweepRuns) -> VariedKeys:
    """What the keys of a table are good for; those with one value only are left out."""
    varied = [key for key in table.keys if len(set(table.columns[key]) - {None}) > 1]
    numeric = [key for key in varied if all(map(_is_number, table.columns[key]))]
    tied: dict[str, tuple[str, ...]] = {}
    for key in numeric:
        leader = next((k for k in tied if _rise_together(table.numbers(k), table.numbers(key))), "")
        if leader:
            tied[leader] = (*tied[leader], key)
        else:
            tied[key] = ()
    words = tuple(key for key in varied if key not in numeric)
    return VariedKeys(table, tuple(tied), tied, words)


def _is_number(value: Any) -> bool:
    """Whether a value can be drawn as a number, or is none."""
    return isinstance(value, int | float | None) and not isinstance(value, bool)


def _rise_together(one: Floats, other: Floats) -> bool:
    """Whether two keys always change together, in one direction, as where they are zipped."""
    if (np.isnan(one) != np.isnan(other)).any():
        return False
    there = ~np.isnan(one)
    pairs = np.unique(np.stack([one[there], other[there]], axis=1), axis=0)
    steps = np.diff(pairs, axis=0)
    return bool(
        (steps[:, 0] > 0.0).all() and ((steps[:, 1] > 0.0).all() or (steps[:, 1] < 0.0).all())
    )

"""Axes of values, and how they combine to points."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from dwell._types import Floats

KIND = "controller.kind"  # the key whose values are laws
MOST_CASES = 100_000_000
Value: TypeAlias = Any  # what TOML can hold; None where a key does not apply


@final
@dataclass(frozen=True)
class Range:
    """Numbers between two bounds, spread evenly or in equal ratios."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, shares: Floats) -> list[float] | list[int]:
        """Return the values at some shares, from 0 to below 1, of the range."""
        top = self.high + (1.0 if self.whole else 0.0)  # each whole number has an equal part
        if self.log:
            values = self.low * np.exp(shares * math.log(top / self.low))
            values = np.floor(values) if self.whole else values
        else:
            steps = shares * (top - self.low)
            values = self.low + (np.floor(steps) if self.whole else steps)
        kind = int if self.whole else float
        return [kind(value) for value in np.clip(values, self.low, self.high)]


@final
@dataclass(frozen=True)
class Group:
    """Keys whose values go together: one key of a grid, the keys of a zip, those of a sample."""

    keys: tuple[str, ...]
    columns: tuple[tuple[Value, ...], ...]  # one for each key, all as long

    def __len__(self) -> int:
        return len(self.columns[0])

    def row(self, k: int) -> dict[str, Value]:
        """Return the values of row k by key."""
        return {key: column[k] for key, column in zip(self.keys, self.columns, strict=True)}

    def only(self, keys: Sequence[str]) -> Group | None:
        """Return the group with these keys only, each row once; None if no key is left."""
        kept = [k for k, key in enumerate(self.keys) if key in keys]
        if not kept:
            return None
        if len(kept) == len(self.keys):
            return self
        rows = zip(*(self.columns[k] for k in kept), strict=True)
        unlike = {value_text(row): row for row in rows}.values()
        return Group(tuple(self.keys[k] for k in kept), tuple(zip(*unlike, strict=True)))


def value_text(value: Value) -> str:
    """Return a text that is equal for values of equal runs: 1 and 1.0, not 1 and true."""
    if isinstance(value, Mapping):
        inner = ",".join(f"{key!r}:{value_text(value[key])}" for key in sorted(value))
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(value_text, value))}]"
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(value)


def product_size(groups: Sequence[Group]) -> int:
    """Return the number of combinations of `groups`."""
    return math.prod(len(group) for group in groups)


def product_row(groups: Sequence[Group], k: int) -> dict[str, Value]:
    """Return combination k; the last group changes first."""
    chosen: list[dict[str, Value]] = []
    for group in reversed(groups):
        k, row = divmod(k, len(group))
        chosen.append(group.row(row))
    return {key: value for row in reversed(chosen) for key, value in row.items()}


def latin_hypercube(ranges: Mapping[str, Range], count: int, seed: int) -> Group:
    """Return `count` points, with one in each of `count` equal parts of the range of every key.

    What a key draws depends on the seed and its own name alone, so adding another key changes
    nothing for it.
    """
    columns: list[tuple[Value, ...]] = []
    for key, bounds in ranges.items():
        order = np.argsort(_draws(seed, key, "order", count), kind="stable")
        shares = (order + _draws(seed, key, "place", count)) / count
        columns.append(tuple(bounds.at(shares)))
    return Group(tuple(ranges), tuple(columns))


def _draws(seed: int, key: str, purpose: str, count: int) -> Floats:
    """Return numbers from 0 to below 1, digests of their places."""
    words = np.empty(count, dtype=np.uint64)
    for lo in range(0, count, 8):
        name = f"{seed}/{key}/{purpose}/{lo // 8}".encode()
        few = words[lo : lo + 8]
        few[:] = np.frombuffer(hashlib.blake2b(name).digest(), dtype="<u8")[: len(few)]
    found: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found

"""Axes of values, and how they combine to points."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from dwell._types import Floats

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
        if self.whole:
            steps = np.floor(shares * (self.high - self.low + 1.0)) if not self.log else None
            values = self.low + steps if steps is not None else np.floor(self._ratio(shares, 1.0))
            return [int(value) for value in np.clip(values, self.low, self.high)]
        values = self._ratio(shares, 0.0) if self.log else self._even(shares)
        return [float(value) for value in np.clip(values, self.low, self.high)]

    def _even(self, shares: Floats) -> Floats:
        found: Floats = self.low + shares * (self.high - self.low)
        return found

    def _ratio(self, shares: Floats, margin: float) -> Floats:
        """Return values in equal ratios; `margin` is the width above the last whole number."""
        found: Floats = self.low * np.exp(shares * math.log((self.high + margin) / self.low))
        return found


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
    for block, name in enumerate(_names(seed, key, purpose, count)):
        few = words[block * 8 : block * 8 + 8]
        few[:] = np.frombuffer(hashlib.blake2b(name).digest(), dtype="<u8")[: len(few)]
    found: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def _names(seed: int, key: str, purpose: str, count: int) -> Iterator[bytes]:
    for block in range(-(-count // 8)):
        yield f"{seed}/{key}/{purpose}/{block}".encode()

"""How close agents came to each other, also between their samples.

Between two of its events an agent moves on one segment, so the distance of a pair has a closed form
from event to event. Not every pair is followed all along: at times spread over the run all
distances are known, and in between only those pairs are followed that are slow and far enough
from each other not to have come closer than what is known already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from dwell._types import Floats, Ints, at_time, dots, lengths
from dwell.agents.segments import Segments
from dwell.measure.metrics import Paths

NEAR = 2.0**-40  # of the workspace's diameter: agents this close all but coincide
ULPS = 4.0  # units in the last place of a coordinate within which two agents stand at one place
TIMES = 1000  # at which all distances are known
DENSE = 64  # agents up to which all pairs are listed
BLOCK = 2_000_000  # numbers held at a time
MOST = 4000  # pairs followed from one of these times to the next
KEPT = 20  # approaches that are reported, closest first
PIECES = 16  # of a curved or decaying segment
ROUNDS, FINER = 11, 16  # of samples within such a piece, each so many times finer than the last


@final
@dataclass(frozen=True, eq=False)
class Approach:
    """The closest that two agents came, and the times of the closest approaches."""

    distance: float = math.inf  # inf for one agent
    time: float = 0.0
    agents: tuple[int, int] = (0, 0)
    times: Floats = field(default_factory=lambda: np.empty(0))  # of close ones, this one first
    thorough: bool = True  # whether no pair was left out for want of time

    @property
    def says(self) -> str:
        """Who, and when."""
        a, b = self.agents
        return f"agents {a} and {b} at {at_time(self.time)}"


def closest_approach(known: Paths, until: float, *, since: float = 0.0) -> Approach:
    """The smallest distance of two agents at any time from `since` to `until`."""
    if known.agents < 2:
        return Approach()
    paths = _PairSearch(known, since, until)
    piece, a, b, bound = paths.candidates()
    for count, k in enumerate(np.argsort(bound, kind="stable")):
        if bound[k] >= paths.best:
            break
        if count == MOST:
            return paths.closest(thorough=False)
        paths.follow(int(piece[k]), int(a[k]), int(b[k]))
    return paths.closest()


def meet(distance: float, points: Floats) -> bool:
    """Whether agents this far apart stand at one place, as far as their coordinates can tell."""
    return distance <= ULPS * float(np.spacing(np.abs(points).max()))


class _PairSearch:
    """Trajectory segments of all agents, positions at some times, and approaches so far."""

    def __init__(self, known: Paths, since: float, until: float) -> None:
        self.agents, self.segments, self.begins = known.agents, known.segments, known.begins
        self.times = np.linspace(since, until, TIMES + 1) if until > since else np.array([since])
        self.places = known.at(self.times).positions
        first = self.segments[0]
        self.affine = first.bend is None and math.isinf(first.fade)
        self.rows: list[tuple[float, float, tuple[int, int]]] = []
        self.best = math.inf

    def add(self, distance: float, time: float, a: int, b: int) -> None:
        """One more approach."""
        self.rows.append((distance, time, (a, b)))
        self.best = min(self.best, distance)

    def closest(self, thorough: bool = True) -> Approach:
        """The closest approaches."""
        rows = sorted(self.rows)
        times = list(dict.fromkeys(row[1] for row in rows))[:KEPT]
        return Approach(*rows[0], np.array(times), thorough)

    def candidates(self) -> list[np.ndarray]:
        """Pieces of time and pairs (a, b) that might come closer than the closest pair known.

        And a distance that the pair does not fall below there.
        """
        travel = self._travel()
        parts = []
        for lo, hi in self._blocks():
            a, b = self._pairs(lo, hi, travel)
            here, there = self.places[lo : hi + 1, a], self.places[lo : hi + 1, b]
            gaps = lengths(there - here)
            k, least = divmod(int(np.argmin(gaps)), gaps.shape[1])
            self.add(float(gaps[k, least]), float(self.times[lo + k]), int(a[least]), int(b[least]))
            # Speeds bound how close a pair can have come in between.
            bound = 0.5 * (gaps[:-1] + gaps[1:] - travel[lo:hi, a] - travel[lo:hi, b])
            piece, pair = np.nonzero(bound < self.best)
            parts.append((lo + piece, a[pair], b[pair], bound[piece, pair]))
        return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Rows of times, so few at once that their distances fit into memory."""
        last = len(self.times) - 1
        if last == 0:
            yield 0, 0
            return
        pairs = self.agents * (self.agents - 1) // 2 * self.places.shape[2]
        step = max(1, BLOCK // pairs) if self.agents <= DENSE else 1
        for lo in range(0, last, step):
            yield lo, min(lo + step, last)

    def _pairs(self, lo: int, hi: int, travel: Floats) -> tuple[Ints, Ints]:
        """All pairs of a few agents; of many, those near each other at the first of the times."""
        if self.agents <= DENSE:
            a, b = np.triu_indices(self.agents, 1)
            return a, b
        from scipy.spatial import cKDTree

        tree = cKDTree(self.places[lo])
        nearest = float(tree.query(self.places[lo], k=2)[0][:, 1].min())
        farthest = 2.0 * float(travel[lo].max()) if hi > lo else 0.0
        pairs = tree.query_pairs(min(nearest, self.best) + farthest, output_type="ndarray")
        if not len(pairs):  # no pair is as near as what is known: one pair, so that there is one
            pairs = np.array([[0, 1]])
        return pairs[:, 0], pairs[:, 1]

    def _travel(self) -> Floats:
        """How far each agent can go from each time to the next, (K, N)."""
        spans = np.diff(self.times)
        found = np.zeros((len(spans), self.agents))
        for p, segments in enumerate(self.segments):
            made = np.searchsorted(self.begins[p], self.times, side="right")
            speeds = np.append(self._speeds(segments), 0.0)
            ends = np.column_stack([made[:-1], made[1:] + 1]).ravel()
            found[:, p] = np.maximum.reduceat(speeds, ends)[::2] * spans if len(spans) else 0.0
        return found

    def _speeds(self, segments: Segments) -> Floats:
        """The highest speed on each segment."""
        speeds = lengths(segments.hold)
        if segments.bend is None:
            return speeds
        last = np.where(np.isfinite(segments.next_at), segments.next_at, self.times[-1])
        span = np.maximum(np.minimum(last, self.times[-1]) - segments.since, 0.0)
        square, cube = (lengths(segments.bend[..., k, :]) for k in (0, 1))
        highest: Floats = speeds + (2.0 * square + 3.0 * cube * span) * span
        return highest

    def follow(self, piece: int, a: int, b: int) -> None:
        """Add the closest that a pair comes from one of the times to the next."""
        lo, hi = float(self.times[piece]), float(self.times[piece + 1])
        knots = [np.array([lo, hi])]
        for p in (a, b):
            begins = self.begins[p]
            knots.append(begins[np.searchsorted(begins, lo) : np.searchsorted(begins, hi)])
            knots.append(self._turns(p, lo, hi))
        t = np.unique(np.concatenate(knots))
        if not self.affine:
            parts = np.linspace(0.0, 1.0, PIECES + 1)[:-1]
            t = np.append((t[:-1, None] + parts * np.diff(t)[:, None]).ravel(), t[-1])
        (xa, va), (xb, vb) = (self._at(p, t[:-1]) for p in (a, b))
        apart, closing = xb - xa, vb - va
        square = dots(closing, closing)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(square > 0.0, -dots(apart, closing) / square, 0.0)
        step = np.clip(step, 0.0, np.diff(t))
        gaps = lengths(apart + closing * step[:, None])
        k = int(np.argmin(gaps))
        if self.affine:
            return self.add(float(gaps[k]), float(t[k] + step[k]), a, b)
        ends = float(t[max(k - 1, 0)]), float(t[min(k + 2, len(t) - 1)])
        return self.add(*self._polished(a, b, *ends), a, b)

    def _turns(self, p: int, lo: float, hi: float) -> Floats:
        """When an agent's velocity changes without an event, at the end of its hold duration."""
        segments = self.segments[p]
        made = np.searchsorted(self.begins[p], [lo, hi], side="right")
        some = slice(int(made[0]), int(made[1]) + 1)
        ends = segments.since[some] + segments.cruise[some]
        return ends[(ends > lo) & (ends < hi)]

    def _at(self, p: int, t: Floats) -> tuple[Floats, Floats]:
        segments = self.segments[p].take(np.searchsorted(self.begins[p], t, side="right"))
        return segments.at(t), segments.velocity_at(t)

    def _polished(self, a: int, b: int, lo: float, hi: float) -> tuple[float, float]:
        """By finer and finer samples, where the distance has no closed form."""
        for _ in range(ROUNDS):
            t = np.linspace(lo, hi, 2 * FINER + 1)
            gaps = lengths(self._at(b, t)[0] - self._at(a, t)[0])
            k = int(np.argmin(gaps))
            lo, hi = t[max(k - 1, 0)], t[min(k + 1, 2 * FINER)]
        return float(gaps[k]), float(t[k])

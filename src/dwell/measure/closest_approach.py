"""How close agents came to each other, also between their samples.

Between two of its events an agent moves on one segment, so the distance of a pair has a closed form
from event to event. Not every pair is followed all along: at times spread over the run all
distances are known, and in between only those pairs are followed that are slow and far enough
from each other not to have come closer than what is known already. The more agents, the fewer of
these times: between two of them most agents move on one straight segment, and how close two such
agents come there is known for many pairs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, dots, lengths
from dwell.agents.segments import Segments
from dwell.agents.trajectory import Trajectory

NEAR = 2.0**-40  # of the workspace's diameter: agents this close all but coincide
ULPS = 4.0  # units in the last place of a coordinate within which two agents stand at one place
TIMES = 1000  # at which all distances are known, at most
WORK = 2_000_000  # agents times such times, about,
FEWEST = 16  # ... but so many times at least
MOST_PAIRS = 3_000_000  # followed from one of these times to the next
PROBED = 256  # agents by which pairs are counted beforehand
DENSE = 64  # agents up to which all pairs are listed
BLOCK = 2_000_000  # numbers held at a time
MOST = 4000  # pairs followed from one of these times to the next
ROUNDED = 1e-9  # of the least distance of two straight paths: the rest may be rounding
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


def closest_approach(path: Trajectory) -> Approach:
    """The smallest distance of two agents at any time up to the end."""
    return _closest_of(path, np.arange(path.agents), 0.0, path.until)


def closest_in_one_world(path: Trajectory) -> Approach:
    """The smallest distance of two agents of one diagram while both are in it."""
    timeline = path.system.timeline
    if timeline.same_agents and not timeline.sensors:
        return closest_approach(path)
    every, least = np.arange(path.agents), Approach()
    ends = [min(end, path.until) for end in (*timeline.begins[1:], np.inf)]
    for begin, end, world in zip(timeline.begins, ends, timeline.worlds, strict=True):
        for diagram in world.diagrams if begin <= path.until else ():
            who = every if diagram.members is None else diagram.members
            one = _closest_of(path, who, begin, end)
            least = min(least, one, key=lambda approach: approach.distance)
    return least


def _closest_of(path: Trajectory, who: Ints, since: float, until: float) -> Approach:
    """The smallest distance of two of some agents at any time from `since` to `until`."""
    if len(who) < 2:
        return Approach()
    paths = _PairSearch(path, who, since, until)
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


def _least(apart: Points, then: Points) -> Floats:
    """The least lengths of vectors that change evenly from one value to another."""
    change = then - apart
    square = dots(change, change)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(square > 0.0, -dots(apart, change) / square, 0.0)
    return lengths(apart + np.clip(share, 0.0, 1.0)[:, None] * change)


class _PairSearch:
    """Trajectory segments of some agents, positions at some times, and approaches so far."""

    def __init__(self, path: Trajectory, who: Ints, since: float, until: float) -> None:
        self.who, self.agents = who, len(who)
        count = TIMES if self.agents <= DENSE else min(TIMES, max(FEWEST, WORK // self.agents))
        self.times = np.linspace(since, until, count + 1) if until > since else np.array([since])
        self.places = path.at(self.times).positions[:, who]
        self.rounding = ULPS * float(np.spacing(np.abs(self.places).max()))
        # The segments of these agents, numbered anew.
        number = np.full(path.agents, -1)
        number[who] = np.arange(len(who))
        agent = number[np.concatenate([np.arange(path.agents), path.table.agent])]
        starts = np.concatenate([np.full(path.agents, -np.inf), path.table.time])
        theirs = np.flatnonzero(agent >= 0)
        agent, self.starts, self.every = agent[theirs], starts[theirs], path.every.take(theirs)
        self.affine = self.every.bend is None and math.isinf(self.every.fade)
        # The rows of every segment, agent by agent, and where those of each begin.
        self.rows_of = np.argsort(agent, kind="stable")
        self.first = np.searchsorted(agent[self.rows_of], np.arange(self.agents + 1))
        self.left_out = False  # whether pairs were left out for want of time
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
        distance, time, (a, b) = rows[0]
        pair = int(self.who[a]), int(self.who[b])
        return Approach(distance, time, pair, np.array(times), thorough and not self.left_out)

    def candidates(self) -> list[np.ndarray]:
        """Pieces of time and pairs (a, b) that might come closer than the closest pair known.

        And a distance that the pair does not fall below there.
        """
        travel, straight = self._travel()
        parts = []
        for lo, hi in self._blocks():
            a, b = self._pairs(lo, hi, travel)
            here, there = self.places[lo : hi + 1, a], self.places[lo : hi + 1, b]
            gaps = lengths(there - here)
            k, least = divmod(int(np.argmin(gaps)), gaps.shape[1])
            self.add(float(gaps[k, least]), float(self.times[lo + k]), int(a[least]), int(b[least]))
            # Speeds bound how close a pair can have come in between.
            bound = 0.5 * (gaps[:-1] + gaps[1:] - travel[lo:hi, a] - travel[lo:hi, b])
            if self.agents > DENSE and len(bound):
                both = straight[lo, a] & straight[lo, b]
                apart, then = (there - here)[:, both]
                least = (1.0 - ROUNDED) * _least(apart, then) - self.rounding
                bound[0, both] = np.maximum(bound[0, both], least)
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

        points = self.places[lo]
        tree = cKDTree(points)
        if math.isinf(self.best):
            near, other = (column[:, 1] for column in tree.query(points, k=2))
            k = int(np.argmin(near))
            self.add(float(near[k]), float(self.times[lo]), *sorted((k, int(other[k]))))
        reach = self.best + (2.0 * float(travel[lo].max()) if hi > lo else 0.0)
        some = points[:: max(1, self.agents // PROBED)]
        while True:
            counts = tree.query_ball_point(some, reach, return_length=True) - 1.0
            if 0.5 * float(counts.mean()) * self.agents <= MOST_PAIRS:
                break
            self.left_out, reach = True, 0.7 * reach
        pairs = tree.query_pairs(reach, output_type="ndarray")
        if not len(pairs):  # no pair is as near as what is known: one pair, so that there is one
            pairs = np.array([[0, 1]])
        return pairs[:, 0], pairs[:, 1]

    def _travel(self) -> tuple[Floats, np.ndarray]:
        """How far each agent can go from each time to the next, and whether on a line, (K, N)."""
        spans = np.diff(self.times)
        found, pieces = np.zeros((2, len(spans), self.agents))
        if not len(spans):
            return found, pieces == 1.0
        rows, speeds = self.rows_of, self._speeds(self.every)[self.rows_of]
        agent = np.repeat(np.arange(self.agents), np.diff(self.first))
        begin = self.starts[rows]
        end = np.append(begin[1:], np.inf)
        end[self.first[1:] - 1] = np.inf
        # From one of the times to the next an agent has the segments at both, and those between.
        low = np.maximum(np.searchsorted(self.times, begin, side="left") - 1, 0)
        high = np.minimum(np.searchsorted(self.times, end, side="left"), len(spans))
        counts = np.maximum(high - low, 0)
        k = np.repeat(low - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        place = k * self.agents + np.repeat(agent, counts)
        np.maximum.at(found.ravel(), place, np.repeat(speeds, counts))
        # A hold that ends between two of the times makes two pieces of a segment.
        turn = self.every.since[rows] + self.every.cruise[rows]
        ends = np.repeat(turn, counts)
        bent = (ends > self.times[k]) & (ends < self.times[k + 1])
        pieces += np.bincount(place, 1.0 + bent, found.size).reshape(found.shape)
        return found * spans[:, None], (pieces == 1.0) & self.affine

    def _own(self, p: int) -> tuple[Segments, Floats]:
        """The segments of an agent in order, and when those after its first begin."""
        rows = self.rows_of[self.first[p] : self.first[p + 1]]
        return self.every.take(rows), self.starts[rows[1:]]

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
            begins = self._own(p)[1]
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
        segments, begins = self._own(p)
        made = np.searchsorted(begins, [lo, hi], side="right")
        some = slice(int(made[0]), int(made[1]) + 1)
        ends = segments.since[some] + segments.cruise[some]
        return ends[(ends > lo) & (ends < hi)]

    def _at(self, p: int, t: Floats) -> tuple[Floats, Floats]:
        segments, begins = self._own(p)
        segments = segments.take(np.searchsorted(begins, t, side="right"))
        return segments.at(t), segments.velocity_at(t)

    def _polished(self, a: int, b: int, lo: float, hi: float) -> tuple[float, float]:
        """By finer and finer samples, where the distance has no closed form."""
        for _ in range(ROUNDS):
            t = np.linspace(lo, hi, 2 * FINER + 1)
            gaps = lengths(self._at(b, t)[0] - self._at(a, t)[0])
            k = int(np.argmin(gaps))
            lo, hi = t[max(k - 1, 0)], t[min(k + 1, 2 * FINER)]
        return float(gaps[k]), float(t[k])

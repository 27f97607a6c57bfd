"""Fleets in virtual time with all that can go wrong, and where their robots really were.

Agents, beliefs, leases, limits and datagrams are those of a live fleet. Only time, the network and
the robots are made up here, so that the true motion of each robot is known exactly.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dwell.fleet.configuration import fleet_settings
from dwell.fleet.wire import Codec
from dwell.live.agent import LiveAgent
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.record import MUTE
from dwell.live.safety import STANDS
from dwell.live.settings import HELLO, live_law
from dwell.scenario import parse_scenario
from dwell.scenario.build import build

MUSTER = 0.8  # seconds before time 0 in which agents announce themselves
BACK = 0.5  # seconds for which a restarted agent announces itself before it samples
REMIND = 1.0
FIRST = 1e-3


def always(sender: int, receiver: int, time: float, chance: random.Random) -> list[float]:
    return [0.002]


@dataclass
class Robot:
    """Where a robot really is: it holds each velocity as long as it was told to."""

    pieces: list[tuple[float, np.ndarray, np.ndarray, float]]

    def at(self, time: float) -> np.ndarray:
        held = [one for one in self.pieces if one[0] <= time] or self.pieces[:1]
        begun, place, velocity, cruise = held[-1]
        return place + velocity * min(max(time - begun, 0.0), cruise)

    def hold(self, time: float, velocity: np.ndarray, cruise: float) -> None:
        self.pieces.append((time, self.at(time), np.array(velocity, dtype=float), cruise))

    def along(self, times: np.ndarray) -> np.ndarray:
        begun, cruise = (np.array([one[k] for one in self.pieces]) for k in (0, 3))
        places, velocities = (np.array([one[k] for one in self.pieces]) for k in (1, 2))
        k = np.maximum(np.searchsorted(begun, times, side="right") - 1, 0)
        used = np.clip(times - begun[k], 0.0, cruise[k])
        return places[k] + velocities[k] * used[:, None]


@dataclass
class Chaos:
    """A fleet, the network between its agents, and what happens to them.

    offsets : of the clocks.
    link : delays of the arrivals of a message from one agent at another; none if it is lost.
    kills : (time, agent, for how long it is down); inf: for good.
    late : how much later than due a sample is.
    pose_age : how old measured positions are.
    """

    case: object
    offsets: list[float] | None = None
    link: Callable[..., list[float]] = always
    kills: tuple[tuple[float, int, float], ...] = ()
    late: Callable[[random.Random], float] = lambda chance: 0.0
    pose_age: float = 0.0
    seed: int = 0
    samples: list = field(default_factory=list)

    def __post_init__(self) -> None:
        self.system, self.start, _ = build(self.case)
        self.law = live_law(self.system, fleet_settings(self.case)[0])
        n, d = self.n, self.d = self.start.shape
        self.offsets = [0.0] * n if self.offsets is None else list(self.offsets)
        self.chance = random.Random(self.seed)
        self.codec = Codec("", n, d, echoes=self.law.settings.clearance > 0.0)
        self.robots = [Robot([(-1e9, p.copy(), np.zeros(d), math.inf)]) for p in self.start]
        self.boots, self.alive = [0] * n, [True] * n
        self.mail: list[list[tuple[float, int, bytes]]] = [[] for _ in range(n)]
        self.agents, self.beliefs = [None] * n, [None] * n
        self.last = [None] * n  # what each announced last
        self.due = [-math.inf] * n
        self.count = 0
        for p in range(n):
            self._boot(p, -MUSTER)
        self.events: list[tuple[float, int, str, int, int]] = []
        for p in range(n):
            for k in range(math.ceil(MUSTER / HELLO)):
                self._at(-MUSTER + HELLO * k + 1e-3 * p, "hello", p)
            self._at(FIRST + 5e-4 * p, "sample", p)
        for time, p, down in self.kills:
            self._at(time, "kill", p)
            if math.isfinite(down):
                self._at(time + down, "boot", p)

    def _at(self, time: float, what: str, p: int, boot: int | None = None) -> None:
        self.count += 1
        boot = self.boots[p] if boot is None else boot
        heapq.heappush(self.events, (time, self.count, what, p, boot))

    def clock(self, p: int, time: float) -> float:
        return time + self.offsets[p]

    def _boot(self, p: int, time: float) -> None:
        boot, now = self.boots[p], self.clock(p, time)
        place = self.robots[p].at(time)
        began = now if boot > 0 else -math.inf
        self.agents[p] = LiveAgent(self.law, p, boot, place, began=began)
        self.beliefs[p] = Beliefs(self.n, self.d, math.inf, shared_clock=False)
        self.beliefs[p].position[:] = self.start
        self.mail[p], self.alive[p] = [], True

    def _send(self, p: int, own: Announcement, time: float) -> None:
        now = self.clock(p, time)
        message = self.agents[p].message(own, now, self.beliefs[p])
        self.beliefs[p].put(message, now)
        self.last[p] = own
        datagram = self.codec.pack(message)
        for q in range(self.n):
            if q != p:
                for delay in self.link(p, q, time, self.chance):
                    self.count += 1
                    heapq.heappush(self.mail[q], (time + delay, self.count, datagram))

    def _hear(self, p: int, time: float) -> None:
        while self.mail[p] and self.mail[p][0][0] <= time:
            at, _, datagram = heapq.heappop(self.mail[p])
            message, arrived = self.codec.unpack(datagram), self.clock(p, at)
            if self.beliefs[p].receive(message, arrived):
                self.agents[p].lease.hear(message, arrived, self.beliefs[p])

    def _hello(self, p: int, time: float) -> None:
        self._hear(p, time)
        now = self.clock(p, time)
        self.agents[p].place = self.robots[p].at(time)
        self.agents[p].may_move(now)
        self._send(p, self.agents[p].standing(now), time)

    def _sample(self, p: int, time: float) -> None:
        self._hear(p, time)
        now, measured = self.clock(p, time), max(time - self.pose_age, 0.0)
        place = self.robots[p].at(measured)
        decided = self.agents[p].sample(now, place, self.clock(p, measured), self.beliefs[p])
        own = decided.announcement
        self.robots[p].hold(time, own.velocity, own.cruise)
        self._send(p, own, time)
        self.samples.append((time, decided))
        due = self.agents[p].due - self.offsets[p]
        self.due[p] = due
        if math.isinf(due):
            self._at(time + REMIND, "remind", p)
        else:
            self._at(max(due, time) + self.late(self.chance), "sample", p)

    def run(self, until: float) -> Chaos:
        while self.events and self.events[0][0] <= until:
            time, _, what, p, boot = heapq.heappop(self.events)
            if what == "boot":
                self.boots[p] += 1
                self.robots[p].hold(time, np.zeros(self.d), math.inf)
                last = self.last[p]
                self._boot(p, time)
                soonest = last.stamp + float(self.law.shortest[p]) if last.k else -math.inf
                for k in range(math.ceil(BACK / HELLO)):
                    self._at(time + HELLO * k, "hello", p)
                first = max(self.clock(p, time + BACK), soonest)
                self.agents[p].due = first
                self._at(first - self.offsets[p], "sample", p)
            elif boot != self.boots[p] or not self.alive[p]:
                continue
            elif what == "kill":
                self.alive[p] = False
            elif what == "hello":
                self._hello(p, time)
            elif what == "remind":
                self._hear(p, time)
                self._send(p, self.last[p], time)
                self._at(time + REMIND, "remind", p)
            else:
                self._sample(p, time)
        return self

    def paths(self, until: float, step: float = 0.005) -> list[np.ndarray]:
        times = np.arange(0.0, until, step)
        return [robot.along(times) for robot in self.robots]

    def closest(self, until: float, step: float = 0.005) -> tuple[float, int, int, float]:
        """The least distance of two robots, which, and when; absent ones included."""
        paths, best = self.paths(until, step), (math.inf, -1, -1, 0.0)
        for a in range(self.n):
            for b in range(a + 1, self.n):
                gaps = np.linalg.norm(paths[a] - paths[b], axis=1)
                k = int(gaps.argmin())
                best = min(best, (float(gaps[k]), a, b, k * step))
        return best

    def outside(self, until: float) -> float:
        shape = self.system.workspace
        return max(float(shape.outside_by(path).max()) for path in self.paths(until))

    def moved(self, p: int, begin: float, end: float) -> float:
        """How far a robot has gone in some time."""
        times = np.linspace(begin, end, 400)
        return float(np.linalg.norm(np.diff(self.robots[p].along(times), axis=0), axis=1).sum())

    def mute(self, p: int) -> list[float]:
        """The times at which an agent stood as too few had heard of it."""
        return [t for t, one in self.samples if one.sample["agent"] == p
                and one.sample["flags"] & MUTE]  # fmt: skip


@dataclass
class Recorded:
    """The doubts of an agent, and what they were last."""

    doubts: object
    last: np.ndarray | None = None

    def at(self, now, beliefs):
        self.last = self.doubts.at(now, beliefs)
        return self.last


@dataclass
class Wanderers(Chaos):
    """Robots that turn as they like at full speed, until some stop in the midst of a segment.

    They keep no distance: this is about where agents take each other to be.
    """

    claims: list = field(default_factory=list)
    ended: set = field(default_factory=set)

    def _boot(self, p: int, time: float) -> None:
        super()._boot(p, time)
        self.agents[p].doubts = Recorded(self.agents[p].doubts)

    def _send(self, p: int, own: Announcement, time: float) -> None:
        if own.k > 0 and own.stamp == self.clock(p, time):
            own = own._replace(velocity=self._turned(p, own))
            self._claim(p, time)
            self.robots[p].pieces[-1] = (time, self.robots[p].at(time), own.velocity, own.cruise)
            if self.chance.random() < 0.01:
                self.ended.add(p)
                stop = time + self.chance.uniform(0.0, float(self.law.shortest[p]))
                self.robots[p].hold(stop, np.zeros(self.d), math.inf)
        super()._send(p, own, time)

    def _turned(self, p: int, own: Announcement) -> np.ndarray:
        absent = not self.system.arrivals[p] <= own.stamp < self.system.departures[p]
        if absent or p in self.ended or self.agents[p].flags & STANDS:
            return np.zeros(self.d)
        angle = self.chance.choice([0.0, math.pi, self.chance.uniform(0.0, 7.0)])
        return self.law.speed * np.array([math.cos(angle), math.sin(angle)])

    def _claim(self, p: int, time: float) -> None:
        beliefs, now = self.beliefs[p], self.clock(p, time)
        segments, doubt = beliefs.segments(), self.agents[p].doubts.last
        for q in range(self.n):
            if q != p and beliefs.boot[q] >= 0:
                self.claims.append(
                    (time, q, segments.at(now)[q], segments.velocity_at(now)[q],
                     max(float(beliefs.ages(now)[q]), 0.0), float(doubt[q]),
                     float(beliefs.pose_age[q]))
                )  # fmt: skip

    def worst(self) -> float:
        """How far beyond their doubt agents were, up to the end of their segments, at most."""
        worst, longest = -math.inf, float(self.law.longest.max())
        for time, q, place, velocity, age, doubt, pose_age in self.claims:
            held = [one for one in self.robots[q].pieces if one[0] <= time][-1]
            times = np.linspace(time, time + longest, 9)
            true = held[1] + held[2] * np.clip(times - held[0], 0.0, held[3])[:, None]
            since = 0.0 if doubt > 0.0 else age
            path = velocity * (0.0 if doubt > 0.0 else longest)
            begin = place - velocity * since
            share = np.clip((true - begin) @ path / max(path @ path, 1e-300), 0.0, 1.0)
            far = np.linalg.norm(true - begin - share[:, None] * path, axis=1).max()
            worst = max(worst, float(far) - self.law.speed * (doubt + pose_age))
        return worst


def yard(start, *, peak=(2.0, 1.5), rate=3.0, k1=0.5, t1=0.1, t2=0.3, clearance=0.2, seed=1,
         horizon=20.0, **more):  # fmt: skip
    """Robots in a box of 4 by 3 that one narrow peak attracts."""
    fleet = {"clearance": clearance, **more.pop("fleet", {})}
    return parse_scenario(
        {
            "workspace": {"kind": "polygon", "vertices": [[0, 0], [4, 0], [4, 3], [0, 3]]},
            "density": {"kind": "gaussian", "center": list(peak), "rate": rate},
            "agents": {"start": [list(one) for one in start]},
            "controller": {"kind": "timer", "k1": k1, "nu": 0.05, "t1": t1, "t2": t2},
            "run": {"horizon": horizon, "seed": seed}, "fleet": fleet, **more,
        }
    )  # fmt: skip


def scattered(chance: random.Random, count: int, gap: float) -> list[list[float]]:
    """Random starts that are some distance apart."""
    found: list[list[float]] = []
    while len(found) < count:
        one = [chance.uniform(0.2, 3.8), chance.uniform(0.2, 2.8)]
        if all(math.dist(one, other) > gap for other in found):
            found.append(one)
    return found

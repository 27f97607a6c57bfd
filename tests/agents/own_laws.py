"""Laws in Python whose traits say more than those of most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dwell
from dwell import Command, Information, Observation, Traits


@dataclass(frozen=True)
class Note:
    """What an agent tells the others besides its position."""

    error: float
    route: tuple[int, ...]


@dataclass(frozen=True)
class Talking:
    """Goes to its centroid more slowly the larger the errors are of which it was told."""

    speed: float = 0.4
    wait: float = 0.2

    @property
    def traits(self) -> Traits:
        return Traits(information=Information(messages=True), top_speed=self.speed)

    def begin(self, view: Observation) -> Command:
        return self.decide(view)

    def decide(self, view: Observation) -> Command:
        error = view.measurement.error
        size = float(np.hypot(*error))
        told = [said.data.error for said in view.heard.values()]
        share = 1.0 / (1.0 + max(told, default=0.0))
        hold = error * (share * min(self.speed / max(size, 1e-12), 1.0))
        note = Note(size, (view.agent, len(told)))
        following = view.time + self.wait * (0.5 + view.draw)
        return Command(hold, following, promise=self.speed, data=note)


@dataclass(frozen=True)
class Undeclared(Talking):
    """The same, without saying so."""

    @property
    def traits(self) -> Traits:
        return Traits(top_speed=self.speed)


@dataclass(frozen=True)
class Unstorable(Talking):
    """Sends what no file can hold."""

    def decide(self, view: Observation) -> Command:
        still = np.zeros(len(view.position))
        return Command(still, view.time + 1.0, promise=0.0, data={1, 2})


@dataclass(frozen=True)
class OwnTimer:
    """The timer law, written anew."""

    k1: float = 0.8
    nu: float = 0.8
    t1: float = 0.1
    t2: float = 0.2

    @property
    def _numbers(self) -> dwell.Timer:
        return dwell.Timer(k1=self.k1, nu=self.nu, t1=self.t1, t2=self.t2)

    @property
    def traits(self) -> Traits:
        return Traits(top_speed=self.k1, nu=self.nu, timer=self._numbers)

    def begin(self, view: Observation) -> Command:
        return self._numbers.begin(view)

    def decide(self, view: Observation) -> Command:
        return self._numbers.decide(view)


@dataclass(frozen=True)
class OwnEquation:
    """A differential equation: the agents turn a little on their way to the centroids."""

    turn: float = 0.5

    @property
    def traits(self) -> Traits:
        return Traits(accuracy=1e-8)

    def velocities(self, errors: np.ndarray) -> np.ndarray:
        return errors + self.turn * np.stack([-errors[:, 1], errors[:, 0]], axis=1)

    def begin(self, view: Observation) -> Command:
        raise NotImplementedError

    decide = begin


@dataclass(frozen=True)
class Counting:
    """Computes cells of its own, and says so."""

    wait: float = 0.3

    def begin(self, view: Observation) -> Command:
        return Command(0.2 * view.measurement.error, view.time + self.wait, voronoi=3)

    decide = begin


@dataclass(frozen=True)
class Odd:
    """Parameters that are called as traits, and as parameters of built-in laws."""

    accuracy: float = 0.1
    radius: float = 0.5
    nu: float = 0.2
    t1: float = 0.3
    t2: float = 0.1
    step: float = 0.2
    rounding: float = 5.0
    feedforward: str = "own"
    reset: str = "adaptive"
    gain: str = "high"
    fade: float = 2.0
    top_speed: float = 1e-3
    information: int = 3
    period: float = -1.0
    timer: float = 7.0

    def begin(self, view: Observation) -> Command:
        return Command(0.5 * view.measurement.error, view.time + 0.2 + 0.3 * view.draw)

    decide = begin

"""The state of a run at the time of each frame of a film."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.plotting.maps import is_slim
from dwell.results import Run

FLASH = 0.3  # seconds of film for which a sample shows
POINTS = 20_000  # of all trails together: more would not be drawn in time
ARROW = 0.08  # of the workspace's diameter: the velocity of the faster agents
SHORTEST, RESTING = 0.25, 1e-3  # of that length and of that velocity
CROWD = 0.4  # the same for many agents, times the square root of their number


@final
@dataclass(frozen=True, eq=False)
class FilmFrames:
    """A run at the frames of a film; `rate` is how much of its time goes by in a second."""

    run: Run
    times: Floats  # (F,)
    span: tuple[float, float]  # that the film is about
    rate: float
    camera: Floats  # (F,) degrees that the camera has gone round

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def places(self) -> Points:
        """Positions, (F, N, n)."""
        return self.run.positions(self.times)

    @cached_property
    def holds(self) -> Points:
        """The velocities, (F, N, n)."""
        return self.run.holds(self.times)

    @cached_property
    def fresh(self) -> Floats:
        """How recently each agent sampled, (F, N): 1 just now, 0 from half the usual wait on."""
        events = self.run.events
        sampling = events.count("looked") > 0
        fresh = np.zeros((len(self), self.run.agents))
        span = max(min(FLASH * self.rate, 0.5 * self._wait), 1e-300)
        for p in range(self.run.agents if self.flashes else 0):
            rows = events.of_agent(p)
            sampled = np.append(0.0, events.time[rows][sampling[rows]])
            last = sampled[np.searchsorted(sampled, self.times, side="right") - 1]
            fresh[:, p] = np.clip(1.0 - (self.times - last) / span, 0.0, 1.0)
        return fresh

    @property
    def flashes(self) -> bool:
        """Whether samples are distinguishable: a frame is well shorter than the usual wait."""
        return bool(np.diff(self.times[:2]).sum() < 0.75 * self._wait)

    @cached_property
    def _wait(self) -> float:
        """The usual time between two samples of an agent."""
        count = int(np.count_nonzero(self.run.events.count("looked")))
        return self.run.horizon * self.run.agents / max(count, 1)

    @cached_property
    def arrows(self) -> Points:
        """The velocities as lengths on the picture, (F, N, n): a quarter of the longest or more."""
        workspace = self.run.workspace
        lower, upper = workspace.bounds
        size = np.where(is_slim(workspace), upper - lower, workspace.diameter)
        unit = size * min(ARROW, CROWD / math.sqrt(self.run.agents))
        seen = self.holds / unit
        speed = lengths(seen)
        moving = speed[speed > 0.0]
        usual = float(np.quantile(moving, 0.9)) if moving.size else 1.0
        long = np.clip(speed / usual, np.where(speed > RESTING * usual, SHORTEST, 0.0), 1.0)
        arrows: Points = seen * (unit * (long / np.where(speed > 0.0, speed, 1.0))[..., None])
        return arrows

    @property
    def shown_span(self) -> tuple[float, float]:
        """The limits of an axis of time."""
        begin, end = self.span
        return (begin, end) if end > begin else (begin - 0.5, begin + 0.5)

    @property
    def stands(self) -> bool:
        """Whether time stands still, and only the camera goes round."""
        return len(self) > 1 and bool(self.times[0] == self.times[-1])

    @cached_property
    def _whole_path(self) -> Points:
        points = int(np.clip(POINTS // self.run.agents, 2, 400))
        return self.run.positions(np.linspace(*self.span, points))

    def trail(self, k: int) -> Points:
        """The paths up to frame k, (points, N, n); of many agents only its last part."""
        most = max(2, POINTS // self.run.agents)
        if self.stands:
            return self._whole_path
        return self.places[max(0, k + 1 - most) : k + 1]

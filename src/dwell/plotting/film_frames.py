"""A run at the frames of a film."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Points, finite_number, in_short, lengths
from dwell.errors import InputError
from dwell.plotting import worlds
from dwell.plotting.maps import is_slim
from dwell.plotting.style import Artist
from dwell.results import Run

FPS = 25.0
MOST_FRAMES = 1_000_000
SECONDS = 12.0
SWAY = (-15.0, 40.0)  # degrees that the camera goes round while time goes on
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
    def present(self) -> np.ndarray:
        """Whether each agent is present, (F, N)."""
        return worlds.presence(self.run, self.times)

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
        workspace = worlds.scope_of(self.run)
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
    def stands(self) -> bool:
        """Whether time stands still, and only the camera goes round."""
        return len(self) > 1 and bool(self.times[0] == self.times[-1])

    def trail(self, k: int) -> Points:
        """The paths up to frame k, (points, N, n); of many agents only its last part."""
        most = max(2, POINTS // self.run.agents)
        if self.stands:
            return self.run.positions(np.linspace(*self.span, min(most, 400)))
        return self.places[max(0, k + 1 - most) : k + 1]

    def trails(self, k: int) -> list[Points]:
        """The paths up to frame k, one per agent, (points, n); no point for absent agents."""
        trail, here = self.trail(k).transpose(1, 0, 2), self.present[k]
        return [path if here[p] else path[:0] for p, path in enumerate(trail)]


def frames_of(
    run: Run,
    *,
    fps: float = FPS,
    seconds: float = SECONDS,
    since: float | None = None,
    until: float | None = None,
    turn: bool = False,
) -> FilmFrames:
    """What each frame shows."""
    for name, value in (("fps", fps), ("seconds", seconds)):
        given = finite_number(value)
        if given is None or not given > 0.0:
            need = "a positive number is needed"
            raise InputError(f"{name} is {in_short(value)}; {need}", code="film.time")
    fps, seconds = float(fps), float(seconds)
    begin = 0.0 if since is None else finite_number(since)
    end = run.horizon if until is None else finite_number(until)
    if begin is None or end is None or not 0.0 <= begin <= end <= run.horizon:
        raise InputError(
            f"the film was to go from {in_short(since)} to {in_short(until)}; the run "
            f"knows times from 0 to {run.horizon!r}",
            code="film.time",
        )
    if not fps * seconds <= MOST_FRAMES:
        raise InputError(
            f"{fps:g} frames a second for {seconds:g} s are too many; at most {MOST_FRAMES} "
            "frames are drawn: give smaller numbers",
            code="film.time",
        )
    count = max(1, round(fps * seconds))
    if turn:
        n = run.workspace.dimension
        if n != 3:
            raise InputError(
                f"a camera can turn round agents in space, and these have {n} coordinates; leave "
                "out turn",
                code="film.turn",
            )
        angles = np.linspace(0.0, 360.0, count, endpoint=False)
        return FilmFrames(run, np.full(count, end), (begin, end), 1.0, angles)
    times = np.linspace(begin, end, count) if count > 1 else np.array([end])
    sway = np.linspace(*SWAY, count)
    return FilmFrames(run, times, (begin, end), (end - begin) / seconds, sway)


class Animated(NamedTuple):
    """Artists that are drawn anew for each frame, in order, and what brings them to frame k."""

    artists: Sequence[Artist]
    show: Callable[[int], None]

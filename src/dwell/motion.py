"""Parameters that change over time in closed form: on keyframes, or on a circle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias, final

import numpy as np

from dwell._types import Floats, as_numbers, finite_number, in_short, is_one_of, listed
from dwell.errors import InputError

BETWEEN = ("step", "linear")  # as numbered in _kernels/common/tracks.py, and then a circle
AFTER = ("hold",)


@final
@dataclass(frozen=True)
class Keyframes:
    """A value that is given at some times.

    Parameters
    ----------
    times : sequence of float
        Ascending times, from 0 on.
    values : sequence
        The value at each of them: numbers, points or matrices, all of one shape.
    between : {"linear", "step"}
        How the value gets from one keyframe to the next: evenly, or at once when the next begins.
    after : {"hold"}, optional
        Keep the last value after the last keyframe; without it, the last time is the end.

    Examples
    --------
    >>> import dwell
    >>> dwell.Keyframes([0, 40], [(0, 0), (8, 0)]).at(10.0)
    (2.0, 0.0)
    """

    times: tuple[float, ...]
    values: tuple[Any, ...]
    between: str = "linear"
    after: str | None = None

    def __post_init__(self) -> None:
        times = [finite_number(t) for t in listed(self.times)]
        if not times or None in times or any(t is not None and t < 0.0 for t in times):
            raise _refused("times", self.times, "a list of times from 0 on")
        object.__setattr__(self, "times", tuple(times))
        for k, (before, then) in enumerate(pairwise(self.times)):
            if not before < then:
                raise _refused(f"times[{k + 1}]", then, f"a time after times[{k}] = {before!r}")
        values = as_numbers(self.values)
        if values is None or not np.isfinite(values).all() or values.shape[:1] != (len(times),):
            need = f"{len(times)} finite values of one shape, one for each of the times,"
            raise _refused("values", self.values, need)
        object.__setattr__(self, "values", _nested(values))
        if not is_one_of(self.between, BETWEEN):
            raise _refused("between", self.between, '"linear" or "step"')
        if not is_one_of(self.after, (None, *AFTER)):
            raise _refused("after", self.after, '"hold", or nothing,')

    @property
    def first(self) -> float:
        """The time of the first keyframe."""
        return self.times[0]

    @property
    def last(self) -> float:
        """The last time at which the value is known."""
        return math.inf if self.after == "hold" else self.times[-1]

    def at(self, t: float) -> Any:
        """The value at time t."""
        return _nested(_evaluated(self, "value", t).reshape(np.shape(self.values[0])))

    def rate(self, t: float) -> Any:
        """The time derivative of the value, from t on."""
        return _nested(_evaluated(self, "rate", t).reshape(np.shape(self.values[0])))

    @cached_property
    def table(self) -> tuple[int, Floats, Floats]:
        """Kind, times and values (one row per keyframe), as the kernels take them."""
        rows = np.array(self.values, dtype=np.float64).reshape(len(self.times), -1)
        return BETWEEN.index(self.between), np.array(self.times), rows


@final
@dataclass(frozen=True)
class Circle:
    """A point of the plane that moves on a circle at a constant speed, counter-clockwise.

    Parameters
    ----------
    center : tuple of float
        The middle of the circle.
    radius : float
        Its radius.
    period : float
        The time of one turn; negative for clockwise.
    phase : float
        Where the point is at time 0, in turns from the direction of x.

    Examples
    --------
    >>> import dwell
    >>> dwell.Circle((0, 0), radius=2.0, period=8.0).at(2.0)
    (0.0, 2.0)
    """

    center: tuple[float, float]
    radius: float
    period: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        center = as_numbers(self.center)
        if center is None or center.shape != (2,) or not np.isfinite(center).all():
            raise _refused("center", self.center, "a point [x, y] of two finite numbers")
        object.__setattr__(self, "center", _nested(center))
        for name, least in (("radius", 0.0), ("period", None), ("phase", None)):
            value = finite_number(getattr(self, name))
            if value is None or (name == "period" and value == 0.0):
                raise _refused(name, getattr(self, name), "a finite number (a period is not 0)")
            if least is not None and value <= least:
                raise _refused(name, value, "a number above 0")
            object.__setattr__(self, name, value)
        if not math.isfinite(2.0 * math.pi / self.period * self.radius):
            raise _refused("period", self.period, "one that makes the speed a finite number")

    first = 0.0
    last = math.inf

    def at(self, t: float) -> tuple[float, float]:
        """The point at time t."""
        x, y = _evaluated(self, "value", t).tolist()
        return x, y

    def rate(self, t: float) -> tuple[float, float]:
        """The velocity at time t."""
        x, y = _evaluated(self, "rate", t).tolist()
        return x, y

    @cached_property
    def table(self) -> tuple[int, Floats, Floats]:
        """Kind, times and values, as the kernels take them."""
        values = np.array([self.center, (self.radius, self.radius)])
        return len(BETWEEN), np.array([self.period, self.phase]), values


Track: TypeAlias = Keyframes | Circle


def _evaluated(track: Track, what: str, t: float) -> Floats:
    """The value or the rate of a track at time t, all numbers in a row."""
    from dwell._kernels.common.tracks import rate_on_track, value_on_track

    kind, times, rows = track.table
    evaluate = value_on_track if what == "value" else rate_on_track
    every = range(rows.shape[1])
    return np.array([evaluate(i, float(t), kind, 0, len(times), times, rows) for i in every])


def _nested(values: np.ndarray) -> Any:
    """An array as nested tuples; a number as a float."""
    return float(values) if values.ndim == 0 else tuple(_nested(row) for row in values)


def _refused(name: str, value: object, need: str) -> InputError:
    return InputError(
        f"the {name} of a parameter that changes over time is {in_short(value)}; {need} is needed",
        code="world.track",
        key=name,
    )

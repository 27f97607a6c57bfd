"""Trajectory segments: the motion of an agent between two of its events, in closed form.

Every segment begins at a position with a velocity. The velocity is held until the next event (most
laws), or for a time `cruise` after which the agent stops or its velocity decays exponentially (laws
that approach a target); or the path is a cubic (the solution of a differential equation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths

PARTS = ("since", "place", "hold", "next_at", "cruise", "bend")  # the arrays of `Segments`


@final
@dataclass(frozen=True, eq=False, slots=True)
class Segments:
    """Many segments; vectors have one axis more than the other arrays, `bend` has two."""

    since: Floats  # time at which each begins
    place: Points  # (..., n) position at that time
    hold: Points  # (..., n) velocity at that time
    next_at: Floats  # time of the agent's next event
    cruise: Floats  # how long the velocity is held; inf: until the next event
    fade: float = math.inf  # rate at which it then decays; inf: the agent stops at once
    bend: Floats | None = None  # (..., 2, n): coefficients of dt**2 and dt**3 of the path

    @property
    def cruises(self) -> bool:
        """Whether some velocity is held for a limited time."""
        return not np.isinf(self.cruise).all()

    def at(self, t: Any) -> Points:
        """Positions at time t (anything that broadcasts with the segments), (..., n)."""
        dt = t - self.since
        used, _ = self._used_and_left(dt)
        place: Points = self.place + self.hold * np.asarray(used)[..., None]
        if self.bend is not None:
            square, cube, dt = self.bend[..., 0, :], self.bend[..., 1, :], np.asarray(dt)[..., None]
            place = place + (square + cube * dt) * dt * dt
        return place

    def velocity_at(self, t: Any) -> Points:
        """Velocities at time t, (..., n)."""
        dt = t - self.since
        _, left = self._used_and_left(dt)
        velocity: Points = self.hold * np.asarray(left)[..., None]
        if self.bend is not None:
            square, cube, dt = self.bend[..., 0, :], self.bend[..., 1, :], np.asarray(dt)[..., None]
            velocity = velocity + (2.0 * square + 3.0 * cube * dt) * dt
        return velocity

    def work_until(self, t: Any) -> tuple[Floats, Floats]:
        """Length of the path, and integral of the squared speed, from the beginning until t."""
        dt = np.asarray(t - self.since)
        if self.bend is not None:
            return self._work_by_quadrature(dt)
        used, left = self._used_and_left(dt)
        speed = lengths(self.hold)
        decaying = 0.0 if math.isinf(self.fade) else (1.0 - left * left) / (2.0 * self.fade)
        return speed * used, speed * speed * (np.minimum(dt, self.cruise) + decaying)

    def top_speed(self, length: Floats, t: Any) -> float:
        """The largest speed until t on segments of these lengths."""
        fastest = lengths(self.hold)
        if self.bend is not None:
            for part in np.linspace(0.0, 1.0, 9)[1:]:
                now = self.velocity_at(self.since + part * np.asarray(t - self.since))
                fastest = np.maximum(fastest, lengths(now))
        return float(fastest[length > 0.0].max(initial=0.0))

    def _work_by_quadrature(self, dt: Floats) -> tuple[Floats, Floats]:
        nodes, weights = np.polynomial.legendre.leggauss(8)
        length, energy = np.zeros(dt.shape), np.zeros(dt.shape)
        for node, weight in zip(nodes, weights, strict=True):
            velocity = self.velocity_at(self.since + 0.5 * (1.0 + node) * dt)
            square = dots(velocity, velocity)
            length += 0.5 * weight * dt * np.sqrt(square)
            energy += 0.5 * weight * dt * square
        return length, energy

    def _used_and_left(self, dt: Any) -> tuple[Any, Any]:
        if not self.cruises:
            return dt, 1.0
        from dwell._kernels.common.segments import times_and_fractions

        dt, cruise = np.asarray(dt, dtype=np.float64), self.cruise
        if dt.shape != cruise.shape:
            dt, cruise = np.broadcast_arrays(dt, cruise)
        used, left = np.empty(dt.size), np.empty(dt.size)
        times_and_fractions(dt.ravel(), cruise.ravel(), self.fade, used, left)
        return used.reshape(dt.shape), left.reshape(dt.shape)

    def parts(self) -> dict[str, np.ndarray]:
        """The arrays by name, without `bend` where there is none."""
        every = {name: getattr(self, name) for name in PARTS}
        return {name: values for name, values in every.items() if values is not None}

    def _each(self, change: Callable[[np.ndarray], Any]) -> Segments:
        return Segments(
            change(self.since), change(self.place), change(self.hold), change(self.next_at),
            change(self.cruise), self.fade, None if self.bend is None else change(self.bend),
        )  # fmt: skip

    def take(self, which: Any) -> Segments:
        """The segments that an index into the arrays selects."""
        return self._each(lambda values: values[which])

    def copied(self) -> Segments:
        """Copies of the segments, for `put`."""
        return self._each(np.ndarray.copy)

    def put(self, where: Any, new: Segments) -> None:
        """Replace some of the segments in place; of several at one index the last counts."""
        for name, values in self.parts().items():
            values[where] = getattr(new, name)

    @staticmethod
    def joined(several: Sequence[Segments]) -> Segments:
        """Segments of several arrays, one after another."""
        first = several[0]
        parts: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in several]) for name in first.parts()
        }
        return replace(first, **parts)

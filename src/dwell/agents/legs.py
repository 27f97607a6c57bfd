"""Legs of motion: where an agent is between two of its events, in closed form.

Every leg begins at a place with a velocity. It keeps that velocity for ever (most laws), or for a
time `cruise` after which it stops or fades away exponentially (laws that approach a target), or it
bends along a cubic (the reference solution of a differential equation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths


@final
@dataclass(frozen=True, eq=False, slots=True)
class Legs:
    """Many legs; vectors have one axis more than the other arrays, `bend` two."""

    since: Floats  # when each began
    place: Points  # (..., n) where
    hold: Points  # (..., n) with which velocity
    next_at: Floats  # when the agent decides anew
    cruise: Floats | None = None  # for how long the velocity is kept; None: for ever
    fade: float = math.inf  # rate at which it then decays; inf: at once
    bend: Floats | None = None  # (..., 2, n): coefficients of dt**2, then of dt**3

    def at(self, t: Any) -> Points:
        """Positions at time t (anything that broadcasts with the legs), (..., n)."""
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
        steady = dt if self.cruise is None else np.minimum(dt, self.cruise)
        fading = 0.0 if math.isinf(self.fade) else (1.0 - left * left) / (2.0 * self.fade)
        return speed * used, speed * speed * (steady + fading)

    def top_speed(self, length: Floats, t: Any) -> float:
        """The largest speed on legs of these lengths until t: their first, unless they bend."""
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
        if self.cruise is None:
            return dt, 1.0
        from dwell._kernels.common.segments import times_and_fractions

        dt, cruise = np.broadcast_arrays(np.asarray(dt, dtype=np.float64), self.cruise)
        used, left = np.empty(dt.size), np.empty(dt.size)
        flat = np.ascontiguousarray(dt).ravel(), np.ascontiguousarray(cruise).ravel()
        times_and_fractions(*flat, self.fade, used, left)
        return used.reshape(dt.shape), left.reshape(dt.shape)

    def take(self, which: Any) -> Legs:
        """Some of the legs, as an index into the arrays says."""
        parts: dict[str, Any] = {
            f.name: None if getattr(self, f.name) is None else getattr(self, f.name)[which]
            for f in fields(self)
            if f.name != "fade"
        }
        return Legs(**parts, fade=self.fade)

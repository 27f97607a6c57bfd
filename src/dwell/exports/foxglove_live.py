"""A live fleet in Foxglove: a server that publishes what agents announce."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import final

import numpy as np

from dwell._types import Points, lengths
from dwell.agents import CoverageSystem
from dwell.agents.interfaces import decay_rate_of
from dwell.errors import InputError
from dwell.exports.foxglove_topics import FoxgloveTopics, check_dimension, foxglove_sdk
from dwell.live.beliefs import Announcement, Beliefs

FRAMES, SCENES = 20.0, 10.0  # a second, at most
AGAIN = 2.0  # seconds from one grid of the density to the next, for clients that come later
PORT = 8765  # the one that Foxglove suggests


@final
class FoxgloveView:
    """Publishes the topics /tf, /scene, /density, /cost and /errors of a fleet.

    Agents stand at `positions` until they announce a segment. Those whose last announcement is
    older than `silence` seconds are not shown. Times are those of the run, and announcements are
    stamped with them.
    """

    def __init__(
        self,
        system: CoverageSystem,
        positions: Points,
        *,
        silence: float = math.inf,
        host: str = "127.0.0.1",
        port: int = PORT,
    ) -> None:
        sdk = foxglove_sdk()
        check_dimension(system)
        context = sdk.Context()
        self._topics = FoxgloveTopics(system, context, zero=time.time_ns())
        fade = decay_rate_of(system.controller)
        self._beliefs = Beliefs(system.agents, system.dimension, fade, shared_clock=True)
        for p, place in enumerate(positions):
            still = np.zeros(system.dimension)
            self._beliefs.put(Announcement(p, 0, 0, 0.0, math.inf, place, still))
        self._silence = silence
        self._next = dict.fromkeys(("frames", "scene", "density"), -math.inf)
        try:
            self._server = sdk.start_server(name="dwell", host=host, port=port, context=context)
        except (RuntimeError, OSError) as fault:
            says = f"Foxglove cannot be served at {host}:{port} ({fault})"
            raise InputError(
                f"{says}; choose another port, or 0 for any", code="web.address"
            ) from None
        self.address = f"ws://{host}:{self._server.port}"
        self.update(0.0, [])  # compiles what later updates need

    def update(self, now: float, announcements: Sequence[Announcement]) -> None:
        """Take in announcements, and publish the present state if it is time."""
        for one in announcements:
            self._beliefs.receive(one, now)
        known = self._beliefs.known(now, self._silence)
        segments = self._beliefs.segments()
        if self._is_due("frames", now, 1.0 / FRAMES):
            agents = np.flatnonzero(known)
            self._topics.frames(now, agents, segments.at(now)[agents])
        if self._is_due("scene", now, 1.0 / SCENES):
            self._show(now, segments.at(now), segments.velocity_at(now), known)
        if self._is_due("density", now, AGAIN):
            self._topics.density(now)

    def _is_due(self, what: str, now: float, every: float) -> bool:
        due = now >= self._next[what]
        if due:
            self._next[what] = now + every
        return due

    def _show(self, now: float, positions: Points, velocities: Points, known: np.ndarray) -> None:
        """Publish a scene, with cost and errors where the cells were weighed."""
        divided = self._topics.scene(now, positions, velocities, known)
        if not divided or not all(one.weighed for one in divided):
            return
        mass, pull = np.zeros(len(positions)), np.zeros(positions.shape)
        for _, agents, cells, _ in divided:  # an agent with several sensors has several cells
            mass[agents] += cells.masses
            pull[agents] += cells.masses[:, None] * cells.errors
        with np.errstate(invalid="ignore"):
            errors = lengths(pull / mass[:, None])
        self._topics.numbers(now, sum(one.cells.cost for one in divided), errors)

    def close(self) -> None:
        """End the server."""
        self._server.stop()

"""A live fleet in Foxglove: a server that publishes what agents announce."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import final

import numpy as np

from dwell._types import Ints, Points
from dwell.agents import CoverageSystem
from dwell.errors import InputError
from dwell.exports.foxglove_topics import SECOND, FoxgloveTopics, check_dimension, foxglove_sdk
from dwell.live.beliefs import Announcement, Beliefs
from dwell.measure.metrics import error_sizes

EVERY = {"frames": 0.05, "scene": 0.1, "density": 2.0}  # seconds; the last for late clients
PORT = 8765  # the one that Foxglove suggests


@final
class FoxgloveView:
    """Publishes the topics /tf, /scene, /density, /cost and /errors of a fleet.

    Agents stand at `positions` until they announce a segment. Those whose last announcement is
    older than `silence` seconds are not shown. Times, and the stamps of announcements, are those of
    the launcher's clock.
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
        self._system, self._topics = system, FoxgloveTopics(system, context)
        fade = system.traits.fade
        self._beliefs = Beliefs(system.agents, system.dimension, fade, shared_clock=True)
        for p, place in enumerate(positions):
            still = np.zeros(system.dimension)
            self._beliefs.put(Announcement(p, 0, 0, 0.0, math.inf, place, still))
        self._silence = silence
        self._next = dict.fromkeys(EVERY, -math.inf)
        self._dated = True  # whether it is known when time 0 was
        self.update(0.0, [])  # compiles what later updates need
        self._dated = False
        try:
            self._server = sdk.start_server(name="dwell", host=host, port=port, context=context)
        except (RuntimeError, OSError) as fault:
            says = f"Foxglove cannot be served at {host}:{port} ({fault})"
            other = "choose another --port, or --port 0 for any that is free"
            raise InputError(f"{says}; {other}", code="web.address") from None
        self.address = f"ws://{host}:{self._server.port}"

    def update(self, now: float, announcements: Sequence[Announcement]) -> None:
        """Take in announcements, and publish the present state if it is time."""
        if not self._dated:  # those before time 0 are dated as if it were now
            self._topics.zero = time.time_ns() - round(max(now, 0.0) * SECOND)
            self._dated = now >= 0.0
        for one in announcements:
            self._beliefs.receive(one, now)
        segments = self._beliefs.segments()
        agents = self._system.world_at(now).agents_among(segments.place)
        agents = agents[self._beliefs.known(now, self._silence)[agents]]
        if self._is_due("frames", now):
            self._topics.frames(now, agents, segments.at(now)[agents])
        if self._is_due("scene", now):
            self._show(now, segments.at(now), segments.velocity_at(now), agents)
        if self._is_due("density", now):
            self._topics.density(now)

    def _is_due(self, what: str, now: float) -> bool:
        due = now >= self._next[what]
        if due:
            self._next[what] = now + EVERY[what]
        return due

    def _show(self, now: float, positions: Points, velocities: Points, agents: Ints) -> None:
        """Publish a scene, with cost and errors where the cells of every sensor were weighed."""
        known = np.isin(np.arange(len(positions)), agents)
        divided = self._topics.scene(now, positions, velocities, known)
        whole = len(divided) == len(self._system.world_at(now).diagrams)
        if not whole or not all(one.weighed for one in divided):
            return
        mass, pull = np.zeros(len(positions)), np.zeros(positions.shape)
        for _, agents, cells, _ in divided:  # an agent with several sensors has several cells
            mass[agents] += cells.masses
            pull[agents] += cells.masses[:, None] * cells.errors
        with np.errstate(invalid="ignore"):
            errors = error_sizes(self._system, pull / mass[:, None], mass == 0.0)
        errors[~known] = np.nan
        self._topics.numbers(now, sum(one.cells.cost for one in divided), errors)

    def close(self) -> None:
        """End the server."""
        self._server.stop()

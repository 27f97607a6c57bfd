"""CoverageSystem: agents that share out a workspace, as a hybrid system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Points
from dwell.agents.interfaces import Controller, Look, View, checked
from dwell.agents.start import seed_words
from dwell.agents.state import AgentsState
from dwell.density import Density
from dwell.density.lattice import lattice_terms
from dwell.density.looking import look_many
from dwell.density.moments import polygon_moments
from dwell.errors import AgentsError
from dwell.geometry import Workspace, polygon_of, voronoi_cells
from dwell.geometry.voronoi import coincident, columns
from dwell.hybrid import Event, Halt, StopReason

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms


@final
@dataclass(frozen=True, eq=False)
class CoverageSystem:
    """What never changes during a run.

    At an event one agent looks: it gets the centroid of its Voronoi cell at the present positions,
    and its controller says which velocity to hold and when to look again. Between events every
    agent moves on a straight leg.
    """

    workspace: Workspace
    density: Density
    controller: Controller
    agents: int
    seed: int = 0
    ids: tuple[int, ...] | None = None  # whose random draws each agent uses; None: 0, 1, 2, ...
    spacing: float | None = None  # of a grid of points; None: exact integrals

    @cached_property
    def terms(self) -> Terms | None:
        """The density for the kernels; None if only Python can evaluate it."""
        if self.spacing is not None:
            return lattice_terms(self.density, self.workspace, self.spacing)
        return self.density.terms()

    @cached_property
    def key(self) -> tuple[int, int]:
        """The seed's two words."""
        return seed_words(self.seed)

    @property
    def streams(self) -> tuple[int, ...]:
        """Whose draws each agent uses."""
        return tuple(range(self.agents)) if self.ids is None else self.ids

    # What an agent sees.

    def look(self, positions: Points, agent: int) -> Look:
        """What `agent` sees when everybody stands at `positions`; raises AgentsError on contact."""
        return self.looks(positions, [agent])[0]

    def looks(self, positions: Points, agents: Sequence[int] | None = None) -> list[Look]:
        """The same for several agents (all, by default) at once."""
        who = np.arange(self.agents) if agents is None else np.array(agents, dtype=np.int64)
        if self.terms is None:
            return [self._look_by_quadrature(positions, int(p)) for p in who]
        xs, ys = columns(positions)
        rows = np.zeros_like(who)
        seen = look_many(self.workspace, self.terms, xs[None], ys[None], rows, who)
        if seen.met.any():
            raise self._contact(positions, int(who[np.argmax(seen.met)]))
        masses = seen.mass * np.exp(seen.log_scale)
        return [
            Look(
                int(p),
                np.array([seen.error_x[k], seen.error_y[k]]),
                float(masses[k]),
                int(seen.neighbors[k]),
                float(seen.nearest[k]),
                bool(seen.empty[k]),
            )
            for k, p in enumerate(who)
        ]

    def _contact(self, positions: Points, agent: int) -> AgentsError:
        gaps = np.hypot(*(positions - positions[agent]).T)
        gaps[agent] = np.inf
        return coincident(agent, int(np.argmin(gaps)), positions[agent])

    def _look_by_quadrature(self, positions: Points, agent: int) -> Look:
        cell = voronoi_cells(polygon_of(self.workspace), positions, [agent])[0]
        others = np.delete(positions, agent, axis=0) - positions[agent]
        nearest = float(np.hypot(*others.T).min()) if len(others) else math.inf
        neighbors = int((cell.borders >= 0).sum())
        if len(cell.offsets):
            found = polygon_moments(cell.offsets, np.zeros(2) + cell.position, self.density)
            if found.mass > 0.0:
                return Look(agent, found.offset, found.mass, neighbors, nearest, False)
        error = self.workspace.nearest(positions[agent : agent + 1])[0] - positions[agent]
        return Look(agent, error, 0.0, neighbors, nearest, True)

    def view(self, state: AgentsState, agent: int, positions: Points, look: Look) -> View:
        """What `agent`'s controller is shown at `state`, everybody standing at `positions`."""
        from dwell._kernels.philox import STREAM_RESETS, uniform

        looks = int(state.looks[agent])
        return View(
            time=state.time,
            agent=agent,
            agents=self.agents,
            looks=looks,
            first_look_at=float(state.first[agent]),
            position=_for_reading(positions[agent]),
            look=look,
            draw=uniform(*self.key, STREAM_RESETS, self.streams[agent], looks),
        )

    def start(self, positions: Points) -> AgentsState:
        """The state at time 0: everybody looks once and takes a first order."""
        n = self.agents
        zeros = np.zeros(n)
        legs = np.zeros((n, 2))
        none = np.zeros(n, dtype=np.int64)
        state = AgentsState(0.0, positions.copy(), legs, zeros, zeros, zeros, none)
        hold, next_at = np.empty((n, 2)), np.empty(n)
        for p, look in enumerate(self.looks(positions)):
            order = checked(self.controller.begin(self.view(state, p, positions, look)), p, 0.0)
            hold[p], next_at[p] = order.hold, order.next_at
        return replace(state, hold=hold, next_at=next_at, first=next_at.copy())

    # The hybrid system: see dwell.hybrid.HybridSystem.

    def time_of(self, state: AgentsState) -> float:
        """The time of `state`."""
        return state.time

    def next_event(self, state: AgentsState) -> Event:
        """The earliest look that is due; of simultaneous ones, that of the first agent."""
        agent = int(np.argmin(state.next_at))
        return Event(float(state.next_at[agent]), agent)

    def flow(self, state: AgentsState, to: float) -> AgentsState:
        """The same legs, later: positions follow from them in closed form."""
        return state.at(to)

    def jump(self, state: AgentsState, event: Event) -> AgentsState:
        """One agent looks, decides, and sets off."""
        agent = event.source
        positions = state.positions
        try:
            look = self.look(positions, agent)
        except AgentsError as contact:
            raise Halt(StopReason.COINCIDENT, str(contact)) from None
        view = self.view(state, agent, positions, look)
        order = checked(self.controller.decide(view), agent, state.time)
        return state.with_order(agent, positions[agent], order, look)


def _for_reading(point: Points) -> Points:
    """A copy that a controller cannot move an agent with."""
    copy = point.copy()
    copy.setflags(write=False)
    return copy

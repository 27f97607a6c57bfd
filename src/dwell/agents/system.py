"""CoverageSystem: agents that cover a workspace, as a hybrid system."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.agents.interfaces import (
    CellMeasurement,
    Command,
    FirstCommands,
    Message,
    Observation,
    commanded,
)
from dwell.agents.knowledge import positions_received
from dwell.agents.network import PERFECT
from dwell.agents.problem import CoverageProblem, cell_in, for_reading
from dwell.agents.state import AgentsState, Mail, SampledStart, Spent
from dwell.errors import AgentsError, ControllerError
from dwell.hybrid import Event, Halt, StopReason

MOST_AGENTS = 2**31  # ids are below: see dwell.runner


@final
@dataclass(frozen=True, eq=False)
class CoverageSystem(CoverageProblem):
    """Everything that is constant during a run.

    At an event one agent samples its cell, or only decides again: its controller receives an
    observation and returns a command. Between events every agent moves on a segment in closed form.
    """

    def start(self, positions: Points, *, threads: int | None = None) -> AgentsState:
        """The state at time 0: every agent samples once, if its law does, and gets a first command.

        The network is perfect then: all receive the messages of time 0 before their first event.
        """
        n, law = self.agents, self.controller
        zeros = np.zeros(n)
        none = np.zeros(n, dtype=np.int64)
        still = np.zeros((n, self.dimension))
        blank = AgentsState(0.0, positions.copy(), still, zeros, zeros, zeros, none)
        together = self.program is not None and self.perfect and not self.sensors
        if together and "begin_all" in self.traits.methods:
            return self._start_together(blank, threads)
        seen = self.measurements(positions)
        cells = [cell_in(seen, p, p) for p in range(n)]
        arrivals = self.arrivals
        orders = [
            _straight(commanded(law.begin, law, self.observation(blank, p, positions, cell)), cell)
            if arrivals[p] == 0.0
            else Command(np.zeros(self.dimension), float(arrivals[p]))
            for p, cell in enumerate(cells)
        ]
        looked = int(self.information.others != "broadcasts")
        memory = tuple(order.memory for order in orders)
        promises = [-1.0 if order.promise is None else order.promise for order in orders]
        state = replace(
            blank,
            hold=np.array([order.hold for order in orders], dtype=np.float64),
            next_at=np.array([order.next_at for order in orders], dtype=np.float64),
            fade=self.traits.fade,
            cruise=_unless_all([order.cruise for order in orders], math.inf),
            samples_next=_unless_all([order.measures for order in orders], True),
            memory=() if all(order.memory is None for order in orders) else memory,
            promised=_unless_all(promises, -1.0),
            spent=tuple(
                _spent(order, looked * self.cells_of(p, 0.0), looked * self._received(cell, 0.0))
                if arrivals[p] == 0.0
                else _spent(order, 0, 0)
                for p, (order, cell) in enumerate(zip(orders, cells, strict=True))
            ),
        )
        if self.information.others == "velocities":  # at rest before time 0
            state = replace(state, before=np.zeros((n, self.dimension)))
        perfect = replace(self, network=PERFECT, changes=None)
        for p, order in enumerate(orders):
            state = perfect._spoken(state, p, positions[p], order, None)
        return replace(state, first=state.next_at.copy())

    def _start_together(self, blank: AgentsState, threads: int | None) -> AgentsState:
        """The state at time 0 for laws in plain numbers, computed for all agents together.

        Such a law uses its memory for lost samples only, and none are lost here.
        """
        law: Any = self.controller
        seen = self.measurements(blank.start, threads=threads)
        first: FirstCommands = law.begin_all(seen.error)
        cruise = np.full(self.agents, first.cruise) if math.isfinite(first.cruise) else None
        later = self.arrivals > 0.0
        hold = np.where(later[:, None], 0.0, first.hold)
        next_at = np.where(later, self.arrivals, first.next_at)
        return replace(
            blank,
            hold=np.ascontiguousarray(hold),
            next_at=next_at,
            first=next_at.copy(),
            fade=self.traits.fade,
            cruise=cruise,
            spent=SampledStart(seen.neighbors, 1 - later.astype(np.int64)),
        )

    # The hybrid system: see dwell.hybrid.HybridSystem.

    def time_of(self, state: AgentsState) -> float:
        """The time of `state`."""
        return state.time

    def next_event(self, state: AgentsState) -> Event:
        """The earliest event; of simultaneous ones, that of the first agent.

        Agents that leave do so before all others at that time.
        """
        agent = int(np.argmin(state.next_at))
        due = float(state.next_at[agent])
        leaving = self.leaving(state)
        if leaving is not None and leaving[0] <= due:
            return Event(*leaving)
        return Event(due, agent)

    def leaving(self, state: AgentsState) -> tuple[float, int] | None:
        """The time and the agent of the next departure, if there is one."""
        if self.timeline.same_agents:
            return None
        left = state.since >= self.departures
        due = np.where(left, np.inf, self.departures)
        agent = int(np.argmin(due))
        return (float(due[agent]), agent) if due[agent] < np.inf else None

    def flow(self, state: AgentsState, to: float) -> AgentsState:
        """The state at a later time: positions follow from the segments in closed form."""
        return state.at(to)

    def jump(
        self, state: AgentsState, event: Event, *, begins: bool = False, behind: bool = False
    ) -> AgentsState:
        """The state after one agent has sampled and decided.

        begins : it is its first decision.
        behind : the next decision may be due before this one, as after a pause of several periods.
        """
        agent = event.source
        here = state.positions
        if self._is_absent(agent, state.time):
            return self._departed(state, agent, here[agent])
        try:
            truth = self.measurement(here, agent, state.time)  # recorded, whatever it observes
            order, spent, state = self._decided(state, agent, here, truth, begins, behind)
        except AgentsError as contact:
            raise halted(contact) from None
        state = self._noted(state, agent)
        after = state.with_order(agent, here[agent], order, truth, spent)
        return self._spoken(after, agent, here[agent], order, state.promised)

    def _noted(self, state: AgentsState, agent: int) -> AgentsState:
        """The state before a jump of `agent`, with what others may read of its motion until now."""
        if self.delayed:
            state = state.remembering(agent)
        return state.noting(agent)

    def _is_absent(self, agent: int, time: float) -> bool:
        """Whether an agent has left by this time."""
        return bool(self.departures[agent] <= time)

    def _departed(self, state: AgentsState, agent: int, place: Points) -> AgentsState:
        """The state after an agent has left: it stays at its place, and has no further event."""
        cruise = math.inf if self.program is None else self.program.cruise
        order = Command(np.zeros(self.dimension), math.inf, cruise)
        nothing = CellMeasurement(agent, np.zeros(self.dimension), 0.0, 0, math.inf, False)
        state = self._noted(state, agent)
        return state.with_order(agent, place, order, nothing, _spent(order, 0, 0))

    def _decided(
        self,
        state: AgentsState,
        agent: int,
        here: Points,
        truth: CellMeasurement,
        begins: bool,
        behind: bool,
    ) -> tuple[Command, Spent, AgentsState]:
        """The command of `agent`, its cost, and the state with the messages it received."""
        heard = 0
        if state.mail:
            mail, heard = state.mail[agent].opened(state.time)
            state = replace(state, mail=(*state.mail[:agent], mail, *state.mail[agent + 1 :]))
        tries = state.samples_next is None or bool(state.samples_next[agent])
        delay, count = self.world_at(state.time).network.delay, int(state.event_counts[agent])
        arrives = begins or (count == 0 and self.arrivals[agent] > 0.0)
        arrives = arrives and self.program is None
        lost = tries and not arrives and self._is_lost(agent, agent, count, state.time)
        looked = int(tries and not lost and self.information.others != "broadcasts")
        seen, measurement = here, truth if looked else None
        if looked and delay > 0.0:
            seen = state.positions_then(state.time - delay)
            seen[agent] = here[agent]
            measurement = self.measurement(seen, agent, state.time)
        observation = self.observation(state, agent, seen, measurement)
        law = self.controller
        decide = law.begin if arrives else law.decide
        order = commanded(self._missed if lost else decide, law, observation, behind=behind)
        if self.stays:  # after a lost sample the way around corners is not known
            order = replace(order, hold=0.0 * order.hold) if lost else _straight(order, measurement)
        received = 0 if measurement is None else self._received(measurement, state.time)
        cells = looked * self.cells_of(agent, state.time)
        return order, _spent(order, cells, received + heard), state

    def _received(self, cell: CellMeasurement, time: float) -> int:
        """How many positions of other agents a sample contains."""
        return positions_received(self.information, self.world_at(time), cell, self.agents)

    def _missed(self, observation: Observation) -> Command:
        """The command of the controller after a lost sample."""
        law: Any = self.controller
        if "miss" not in self.traits.methods:
            raise ControllerError(
                f"a sample of agent {observation.agent} was lost at t = {observation.time:g}, but "
                f"{self.traits.name} has no method miss(observation) for that; add "
                "one like decide(observation), or set the network's loss to 0",
                code="controller.miss",
            )
        order: Command = law.miss(observation)
        return order

    def _is_lost(self, to: int, sender: int, k: int, time: float) -> bool:
        """Whether sample k of an agent, or message k on its way to `to`, is lost."""
        loss = self.world_at(time).network.loss
        if loss == 0.0:
            return False
        from dwell._kernels.common.philox import STREAM_LOSSES, uniform

        counter = k * MOST_AGENTS + self.streams[to]
        draw = uniform(*self.key, STREAM_LOSSES, self.streams[sender], counter)
        return float(draw) < loss

    def _spoken(
        self, state: AgentsState, agent: int, place: Points, order: Command, promised: Floats | None
    ) -> AgentsState:
        """The state with the message of `order` on its way to all other agents.

        `promised` are the speed bounds before this jump.
        """
        if order.promise is None:
            return state
        if not self.information.receives:
            raise ControllerError(
                f"{self.traits.name} broadcasts, but its information says that no agent receives "
                "messages; give it Information(messages=True), or leave promise out",
                code="controller.information",
            )
        promise = float(order.promise)
        before = promise if promised is None or promised[agent] < 0.0 else float(promised[agent])
        message = Message(agent, state.time, for_reading(place), promise, before, order.data)
        delay = self.world_at(state.time).network.delay
        arrives, k = state.time + delay, int(state.event_counts[agent])
        mail = state.mail or tuple(Mail() for _ in range(self.agents))
        later = tuple(
            box
            if q == agent or self._is_lost(q, agent, k, state.time)
            else Mail(box.heard, (*box.coming, (arrives, message)))
            for q, box in enumerate(mail)
        )
        return replace(state, mail=later)


def _spent(order: Command, looked: int, received: int) -> Spent:
    guaranteed, dual, sent = order.guaranteed, order.dual_guaranteed, order.promise is not None
    mark, voronoi = int(order.mark), int(order.voronoi)
    return Spent(looked, int(guaranteed), int(dual), int(sent), received, mark, voronoi)


def halted(contact: AgentsError) -> Halt:
    """The end of a run in which two agents coincide; any other error is raised again."""
    if contact.code != "agents.coincident":
        raise contact
    return Halt(StopReason.COINCIDENT, str(contact))


def _unless_all(values: list[float], usual: float) -> np.ndarray | None:
    """The values as an array; None if all are equal to `usual`."""
    return None if all(value == usual for value in values) else np.array(values)


def _straight(order: Command, measurement: CellMeasurement | None) -> Command:
    """`order` with an end where the first straight stretch of the way ends."""
    if measurement is None or measurement.stretch == math.inf:
        return order
    speed = float(lengths(np.asarray(order.hold, dtype=np.float64)))
    if speed == 0.0:
        return order
    return replace(order, cruise=min(order.cruise, measurement.stretch / speed))

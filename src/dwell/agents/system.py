"""CoverageSystem: agents that cover a workspace, as a hybrid system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.interfaces import (
    CellMeasurement,
    Command,
    CompiledController,
    Controller,
    FirstCommands,
    Information,
    Message,
    Observation,
    Sample,
    commanded,
    decay_rate_of,
    information_of,
)
from dwell.agents.knowledge import (
    changes_known,
    neighbors_seen,
    others_seen,
    positions_received,
)
from dwell.agents.network import PERFECT, Network
from dwell.agents.start import seed_words
from dwell.agents.state import AgentsState, Mail, SampledStart, Spent
from dwell.agents.world import Sensor, Timeline, World
from dwell.cells.backend import measure_cells
from dwell.cells.measurement import CellMeasurements
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density import Density
from dwell.errors import AgentsError, ControllerError
from dwell.geometry import Workspace
from dwell.geometry.voronoi import coincident
from dwell.hybrid import Event, Halt, StopReason

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms, Terms
    from dwell._kernels.common.hold_law import HoldProgram

MOST_AGENTS = 2**31  # ids are below: see dwell.runner
MOST_KEPT = 2  # configurations whose measurements are kept: the first and the last of a run


@final
@dataclass(frozen=True, eq=False)
class CoverageSystem:
    """Everything that is constant during a run.

    At an event one agent samples its cell, or only decides again: its controller receives an
    observation and returns a command. Between events every agent moves on a segment in closed form.
    """

    workspace: Workspace
    density: Density
    controller: Controller
    agents: int
    seed: int = 0
    ids: tuple[int, ...] | None = None  # random stream of each agent; None: 0, 1, 2, ...
    spacing: float | None = None  # of the integration grid; None: exact integration
    network: Network = PERFECT
    nu: float | None = None  # the error that counts as covered; None: the law's own, if it has one
    # How the world changes; None: it does not. Workspace, density and network are those of time 0.
    timeline: Timeline | None = None

    def __post_init__(self) -> None:
        if self.nu is None:
            object.__setattr__(self, "nu", getattr(self.controller, "nu", None))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, without cached values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density."""
        return weighted_region(self.workspace, self.density, self.spacing)

    def world_at(self, time: float) -> World:
        """The world at a time: where it moves, its ground is to be taken at that time."""
        return self._world if self.timeline is None else self.timeline.world_at(time)

    @cached_property
    def _world(self) -> World:
        return World(self.ground, self.network)

    def ground_at(self, time: float) -> WeightedRegion:
        """The workspace with its density at a time."""
        return self.world_at(time).ground_at(time)

    @cached_property
    def delayed(self) -> bool:
        """Whether samples show the past at some time of the run."""
        phases = self.timeline.phases if self.timeline else ()
        return any(network.delay > 0.0 for network in (self.network, *(p.network for p in phases)))

    @cached_property
    def perfect(self) -> bool:
        """Whether the network is perfect all the time."""
        phases = self.timeline.phases if self.timeline else ()
        return self.network.perfect and all(phase.network.perfect for phase in phases)

    @property
    def terms(self) -> Terms | GeneralTerms | None:
        """The density for the kernels; None if only Python can evaluate it."""
        return self.ground.terms

    @property
    def dimension(self) -> int:
        """Dimension of the workspace."""
        return self.workspace.dimension

    @cached_property
    def key(self) -> tuple[int, int]:
        """The seed as two 32-bit words."""
        return seed_words(self.seed)

    @property
    def streams(self) -> Sequence[int]:
        """The random stream of each agent."""
        return range(self.agents) if self.ids is None else self.ids

    @cached_property
    def information(self) -> Information:
        """What an agent observes under this law."""
        return information_of(self.controller)

    @cached_property
    def program(self) -> HoldProgram | None:
        """The law as plain numbers; None if it has no such form."""
        law = self.controller
        return law.program(self.agents) if isinstance(law, CompiledController) else None

    # Measurements.

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        *,
        threads: int | None = 1,
    ) -> CellMeasurements:
        """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

        times : (rows,) when each configuration is assumed.
        """
        if self.timeline is None:
            return measure_cells(self.ground, positions, row, agent, threads=threads)
        return self.timeline.measure(positions, row, agent, times, threads=threads)

    def measurement(self, positions: Points, agent: int, time: float = 0.0) -> CellMeasurement:
        """The cell of `agent` in the configuration `positions`; raises AgentsError on contact."""
        return _cell(self.measurements(positions, [agent], time=time), 0, agent)

    def measurements(
        self,
        positions: Points,
        agents: Sequence[int] | None = None,
        *,
        time: float = 0.0,
        threads: int | None = 1,
    ) -> CellMeasurements:
        """The cells of several agents at `positions`, or of all; raises AgentsError on contact.

        Those of all agents are kept, see `measure_all`.
        """
        who = np.arange(self.agents) if agents is None else np.array(agents, dtype=np.int64)
        if agents is None:
            seen = self.measure_all(positions, time, threads=threads)
        else:
            seen = self.measure(positions[None], np.zeros_like(who), who, np.array([time]))
        if seen.coincident.any():
            agent = int(who[np.argmax(seen.coincident)])
            gaps = np.full(self.agents, np.inf)
            for diagram in self.world_at(time).diagrams:
                others = np.arange(self.agents) if diagram.members is None else diagram.members
                if agent in others:
                    gaps[others] = lengths(positions[others] - positions[agent])
            gaps[agent] = np.inf
            raise coincident(agent, int(np.argmin(gaps)), positions[agent])
        return seen

    def measure_all(
        self, positions: Points, time: float = 0.0, *, threads: int | None = None
    ) -> CellMeasurements:
        """Measurements of all cells at `positions`, (N, n), on all threads by default.

        The last few results are kept. Coincident agents are marked; nothing is raised.
        """
        when = time if self.timeline is not None else 0.0
        kept, key = self._kept, positions.tobytes() + np.float64(when).tobytes()
        seen = kept.get(key)
        if seen is None:
            every = np.arange(self.agents)
            row = np.zeros_like(every)
            seen = self.measure(positions[None], row, every, np.array([when]), threads=threads)
            for f in fields(seen):
                if getattr(seen, f.name) is not None:
                    getattr(seen, f.name).flags.writeable = False
            kept[key] = seen
            for old in list(kept)[:-MOST_KEPT]:  # at worst another thread measures again
                kept.pop(old, None)
        return seen

    @cached_property
    def _kept(self) -> dict[bytes, CellMeasurements]:
        """The last measurements of all agents, by the bits of their positions and of the time."""
        return {}

    def sample(
        self, positions: Points, agent: int, time: float, taken: float | None = None
    ) -> Sample:
        """The positions of the Voronoi neighbours of `agent` in the configuration `positions`.

        time: when the others were there; taken: when the sample is taken, if later.
        """
        now = time if taken is None else taken
        return neighbors_seen(self.world_at(now), positions, agent, time, now)

    def observation(
        self, state: AgentsState, agent: int, positions: Points, measurement: CellMeasurement | None
    ) -> Observation:
        """The observation of `agent` at `state` in the configuration `positions`.

        `measurement` is the measurement of its cell; None where the event is no sample.
        """
        from dwell._kernels.common.philox import STREAM_RESETS, uniform

        count, now = int(state.event_counts[agent]), state.time
        when = max(now - self.world_at(now).network.delay, 0.0)  # no agent moves before time 0
        sample = rate = ahead = None
        if measurement is not None:
            known, world = self.information, self.world_at(now)
            sample = others_seen(known, world, state, agent, positions, when)
            rate, ahead = changes_known(known, world, now, agent, positions)
        return Observation(
            time=state.time,
            agent=agent,
            agents=self.agents,
            event_count=count,
            first_event_at=float(state.first[agent]),
            position=_for_reading(positions[agent]),
            hold=_for_reading(state.hold[agent]),
            measurement=None if self.information.others == "broadcasts" else measurement,
            draw=uniform(*self.key, STREAM_RESETS, self.streams[agent], count),
            sample=sample,
            heard=state.mail[agent].heard if state.mail else {},
            memory=state.memory[agent] if state.memory else None,
            ground=self.ground_at(now),
            shared_draw=self._shared_draw,
            rate=rate,
            ahead=ahead,
        )

    def _shared_draw(self, k: int) -> float:
        from dwell._kernels.common.philox import STREAM_TURNS, uniform

        return float(uniform(*self.key, STREAM_TURNS, 0, k))

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
        if together and hasattr(law, "begin_all"):
            return self._start_together(blank, threads)
        seen = self.measurements(positions)
        cells = [_cell(seen, p, p) for p in range(n)]
        arrivals = self._arrivals
        orders = [
            commanded(law.begin, law, self.observation(blank, p, positions, cell))
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
            fade=decay_rate_of(law),
            cruise=_unless_all([order.cruise for order in orders], math.inf),
            samples_next=_unless_all([order.measures for order in orders], True),
            memory=() if all(order.memory is None for order in orders) else memory,
            promised=_unless_all(promises, -1.0),
            spent=tuple(
                _spent(order, self._cells(p, looked, 0.0), looked * self._received(cell, 0.0))
                if arrivals[p] == 0.0
                else _spent(order, 0, 0)
                for p, (order, cell) in enumerate(zip(orders, cells, strict=True))
            ),
        )
        perfect = replace(self, network=PERFECT, timeline=None)
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
        later = self._arrivals > 0.0
        hold = np.where(later[:, None], 0.0, first.hold)
        next_at = np.where(later, self._arrivals, first.next_at)
        return replace(
            blank,
            hold=np.ascontiguousarray(hold),
            next_at=next_at,
            first=next_at.copy(),
            fade=decay_rate_of(law),
            cruise=cruise,
            spent=SampledStart(seen.neighbors),
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

    @cached_property
    def _arrivals(self) -> Floats:
        """When each agent arrives, (N,)."""
        known = None if self.timeline is None else self.timeline.arrivals
        return np.zeros(self.agents) if known is None else known

    def leaving(self, state: AgentsState) -> tuple[float, int] | None:
        """The time and the agent of the next departure, if there is one."""
        if self.timeline is None or self.timeline.departures is None:
            return None
        left = state.since >= self.timeline.departures
        due = np.where(left, np.inf, self.timeline.departures)
        agent = int(np.argmin(due))
        return (float(due[agent]), agent) if due[agent] < np.inf else None

    def flow(self, state: AgentsState, to: float) -> AgentsState:
        """The state at a later time: positions follow from the segments in closed form."""
        return state.at(to)

    def jump(self, state: AgentsState, event: Event) -> AgentsState:
        """The state after one agent has sampled and decided."""
        agent = event.source
        here = state.positions
        if self._is_absent(agent, state.time):
            return self._departed(state, agent, here[agent])
        try:
            truth = self.measurement(here, agent, state.time)  # recorded, whatever it observes
            order, spent, state = self._decided(state, agent, here, truth)
        except AgentsError as contact:
            raise halted(contact) from None
        if self.delayed:
            state = state.remembering(agent)
        after = state.with_order(agent, here[agent], order, truth, spent)
        return self._spoken(after, agent, here[agent], order, state.promised)

    def _is_absent(self, agent: int, time: float) -> bool:
        """Whether an agent has left by this time."""
        gone = None if self.timeline is None else self.timeline.departures
        return gone is not None and bool(gone[agent] <= time)

    def _departed(self, state: AgentsState, agent: int, place: Points) -> AgentsState:
        """The state after an agent has left: it stays at its place, and has no further event."""
        cruise = math.inf if self.program is None else self.program.cruise
        order = Command(np.zeros(self.dimension), math.inf, cruise)
        nothing = CellMeasurement(agent, np.zeros(self.dimension), 0.0, 0, math.inf, False)
        if self.delayed:
            state = state.remembering(agent)
        return state.with_order(agent, place, order, nothing, _spent(order, 0, 0))

    def _decided(
        self, state: AgentsState, agent: int, here: Points, truth: CellMeasurement
    ) -> tuple[Command, Spent, AgentsState]:
        """The command of `agent`, its cost, and the state with the messages it received."""
        heard = 0
        if state.mail:
            mail, heard = state.mail[agent].opened(state.time)
            state = replace(state, mail=(*state.mail[:agent], mail, *state.mail[agent + 1 :]))
        tries = state.samples_next is None or bool(state.samples_next[agent])
        delay, count = self.world_at(state.time).network.delay, int(state.event_counts[agent])
        arrives = count == 0 and self._arrivals[agent] > 0.0 and self.program is None
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
        order = commanded(self._missed if lost else decide, law, observation)
        received = 0 if measurement is None else self._received(measurement, state.time)
        return order, _spent(order, self._cells(agent, looked, state.time), received + heard), state

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The sensors, if agents have different ones."""
        return () if self.timeline is None else self.timeline.sensors

    def cells_of(self, agent: int, time: float) -> int:
        """How many cells an agent has at a time: one for each of its sensors; 0 if it is absent."""
        members = [diagram.members for diagram in self.world_at(time).diagrams]
        return sum(1 for some in members if some is None or agent in some)

    def _cells(self, agent: int, looked: int, time: float) -> int:
        """The cells that a sample computes."""
        return looked if self.timeline is None else looked * self.cells_of(agent, time)

    def _received(self, cell: CellMeasurement, time: float) -> int:
        """How many positions of other agents a sample contains."""
        return positions_received(self.information, self.world_at(time), cell, self.agents)

    def _missed(self, observation: Observation) -> Command:
        """The command of the controller after a lost sample."""
        miss = getattr(self.controller, "miss", None)
        if miss is None:
            raise ControllerError(
                f"a sample of agent {observation.agent} was lost at t = {observation.time:g}, but "
                f"{type(self.controller).__name__} has no method miss(observation) for that; add "
                "one like decide(observation), or set the network's loss to 0",
                code="controller.miss",
            )
        order: Command = miss(observation)
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
        promise = float(order.promise)
        before = promise if promised is None or promised[agent] < 0.0 else float(promised[agent])
        message = Message(agent, state.time, _for_reading(place), promise, before)
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


def _cell(seen: CellMeasurements, k: int, agent: int) -> CellMeasurement:
    """Entry k of the measurements, which is that of `agent`."""
    mass = float(seen.mass[k] * np.exp(seen.log_scale[k]))
    neighbors, nearest = int(seen.neighbors[k]), float(seen.nearest[k])
    return CellMeasurement(
        agent, seen.error[k].copy(), mass, neighbors, nearest, bool(seen.empty[k])
    )


def _spent(order: Command, looked: int, received: int) -> Spent:
    return Spent(
        looked=looked,
        guaranteed=int(order.guaranteed),
        dual_guaranteed=int(order.dual_guaranteed),
        sent=int(order.promise is not None),
        received=received,
        mark=int(order.mark),
    )


def halted(contact: AgentsError) -> Halt:
    """The end of a run in which two agents coincide; any other error is raised again."""
    if contact.code != "agents.coincident":
        raise contact
    return Halt(StopReason.COINCIDENT, str(contact))


def _unless_all(values: list[float], usual: float) -> np.ndarray | None:
    """The values as an array; None if all are equal to `usual`."""
    return None if all(value == usual for value in values) else np.array(values)


def _for_reading(point: Points) -> Points:
    """A read-only copy, through which a controller cannot change the state."""
    copy = point.copy()
    copy.setflags(write=False)
    return copy

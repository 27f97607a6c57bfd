"""CoverageSystem: agents that cover a workspace, as a hybrid system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points, lengths
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
    refuse_samples,
)
from dwell.agents.network import PERFECT, Network
from dwell.agents.start import seed_words
from dwell.agents.state import AgentsState, Mail, SampledStart, Spent
from dwell.cells.backend import backend_for, measure_cells
from dwell.cells.measurement import CellMeasurements
from dwell.cells.ranges import as_radii
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
    radius: tuple[float, ...] | None = None  # sensing radius of each agent; None: unlimited

    def __post_init__(self) -> None:
        if self.radius is not None:
            refuse_samples(self.controller)
            object.__setattr__(self, "radius", as_radii(self.radius, self.agents, self.workspace))
        if self.nu is None:
            object.__setattr__(self, "nu", getattr(self.controller, "nu", None))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, without cached values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density."""
        return weighted_region(self.workspace, self.density, self.spacing)

    @cached_property
    def radii(self) -> Floats | None:
        """The sensing radius of each agent as an array, (N,); None if it is unlimited."""
        return None if self.radius is None else np.array(self.radius)

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

    def measurement(self, positions: Points, agent: int) -> CellMeasurement:
        """The cell of `agent` in the configuration `positions`; raises AgentsError on contact."""
        return _cell(self.measurements(positions, [agent]), 0, agent)

    def measurements(
        self, positions: Points, agents: Sequence[int] | None = None, *, threads: int | None = 1
    ) -> CellMeasurements:
        """The cells of several agents at `positions`, or of all; raises AgentsError on contact.

        Those of all agents are kept, see `measure_all`.
        """
        who = np.arange(self.agents) if agents is None else np.array(agents, dtype=np.int64)
        if agents is None:
            seen = self.measure_all(positions, threads=threads)
        else:
            given = self.ground, positions[None], np.zeros_like(who), who
            seen = measure_cells(*given, radius=self.radii)
        if seen.coincident.any():
            agent = int(who[np.argmax(seen.coincident)])
            gaps = lengths(positions - positions[agent])
            gaps[agent] = np.inf
            raise coincident(agent, int(np.argmin(gaps)), positions[agent])
        return seen

    def measure_all(self, positions: Points, *, threads: int | None = None) -> CellMeasurements:
        """Measurements of all cells at `positions`, (N, n), on all threads by default.

        The last few results are kept. Coincident agents are marked; nothing is raised.
        """
        kept, key = self._kept, positions.tobytes()
        seen = kept.get(key)
        if seen is None:
            every = np.arange(self.agents)
            given = self.ground, positions[None], np.zeros_like(every), every
            seen = measure_cells(*given, threads=threads, radius=self.radii)
            for f in fields(seen):
                if getattr(seen, f.name) is not None:
                    getattr(seen, f.name).flags.writeable = False
            kept[key] = seen
            for old in list(kept)[:-MOST_KEPT]:  # at worst another thread measures again
                kept.pop(old, None)
        return seen

    @cached_property
    def _kept(self) -> dict[bytes, CellMeasurements]:
        """The last measurements of all agents, by the bits of their positions."""
        return {}

    def sample(self, positions: Points, agent: int, time: float) -> Sample:
        """The positions of the Voronoi neighbours of `agent` in the configuration `positions`."""
        cell = backend_for(self.ground).cells(self.workspace, positions, [agent])[0]
        who = np.sort(cell.borders[cell.borders >= 0])
        return Sample(time, who, _for_reading(positions[who]))

    def observation(
        self, state: AgentsState, agent: int, positions: Points, measurement: CellMeasurement | None
    ) -> Observation:
        """The observation of `agent` at `state` in the configuration `positions`.

        `measurement` is the measurement of its cell; None where the event is no sample.
        """
        from dwell._kernels.common.philox import STREAM_RESETS, uniform

        count, others = int(state.event_counts[agent]), self.information.others
        samples = measurement is not None and others == "samples"
        when = max(state.time - self.network.delay, 0.0)  # no agent moves before time 0
        return Observation(
            time=state.time,
            agent=agent,
            agents=self.agents,
            event_count=count,
            first_event_at=float(state.first[agent]),
            position=_for_reading(positions[agent]),
            hold=_for_reading(state.hold[agent]),
            measurement=None if others == "broadcasts" else measurement,
            draw=uniform(*self.key, STREAM_RESETS, self.streams[agent], count),
            sample=self.sample(positions, agent, when) if samples else None,
            heard=state.mail[agent].heard if state.mail else {},
            memory=state.memory[agent] if state.memory else None,
            ground=self.ground,
            shared_draw=self._shared_draw,
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
        if self.program is not None and self.network.perfect and hasattr(law, "begin_all"):
            return self._start_together(blank, threads)
        seen = self.measurements(positions)
        cells = [_cell(seen, p, p) for p in range(n)]
        orders = [
            commanded(law.begin, law, self.observation(blank, p, positions, cell))
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
                _spent(order, looked, looked * cell.neighbors)
                for order, cell in zip(orders, cells, strict=True)
            ),
        )
        perfect = replace(self, network=PERFECT)
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
        return replace(
            blank,
            hold=np.ascontiguousarray(first.hold),
            next_at=first.next_at,
            first=first.next_at.copy(),
            fade=decay_rate_of(law),
            cruise=cruise,
            spent=SampledStart(seen.neighbors),
        )

    # The hybrid system: see dwell.hybrid.HybridSystem.

    def time_of(self, state: AgentsState) -> float:
        """The time of `state`."""
        return state.time

    def next_event(self, state: AgentsState) -> Event:
        """The earliest event; of simultaneous ones, that of the first agent."""
        agent = int(np.argmin(state.next_at))
        return Event(float(state.next_at[agent]), agent)

    def flow(self, state: AgentsState, to: float) -> AgentsState:
        """The state at a later time: positions follow from the segments in closed form."""
        return state.at(to)

    def jump(self, state: AgentsState, event: Event) -> AgentsState:
        """The state after one agent has sampled and decided."""
        agent = event.source
        here = state.positions
        try:
            truth = self.measurement(here, agent)  # recorded, whatever the agent observes
            order, spent, state = self._decided(state, agent, here, truth)
        except AgentsError as contact:
            raise halted(contact) from None
        if self.network.delay > 0.0:
            state = state.remembering(agent)
        after = state.with_order(agent, here[agent], order, truth, spent)
        return self._spoken(after, agent, here[agent], order, state.promised)

    def _decided(
        self, state: AgentsState, agent: int, here: Points, truth: CellMeasurement
    ) -> tuple[Command, Spent, AgentsState]:
        """The command of `agent`, its cost, and the state with the messages it received."""
        heard = 0
        if state.mail:
            mail, heard = state.mail[agent].opened(state.time)
            state = replace(state, mail=(*state.mail[:agent], mail, *state.mail[agent + 1 :]))
        tries = state.samples_next is None or bool(state.samples_next[agent])
        lost = tries and self._is_lost(agent, agent, int(state.event_counts[agent]))
        looked = int(tries and not lost and self.information.others != "broadcasts")
        seen, measurement = here, truth if looked else None
        if looked and self.network.delay > 0.0:
            seen = state.positions_then(state.time - self.network.delay)
            seen[agent] = here[agent]
            measurement = self.measurement(seen, agent)
        observation = self.observation(state, agent, seen, measurement)
        law = self.controller
        order = commanded(self._missed if lost else law.decide, law, observation)
        received = measurement.neighbors if measurement is not None else 0
        return order, _spent(order, looked, received + heard), state

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

    def _is_lost(self, to: int, sender: int, k: int) -> bool:
        """Whether sample k of an agent, or message k on its way to `to`, is lost."""
        if self.network.loss == 0.0:
            return False
        from dwell._kernels.common.philox import STREAM_LOSSES, uniform

        counter = k * MOST_AGENTS + self.streams[to]
        draw = uniform(*self.key, STREAM_LOSSES, self.streams[sender], counter)
        return float(draw) < self.network.loss

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
        arrives, k = state.time + self.network.delay, int(state.event_counts[agent])
        mail = state.mail or tuple(Mail() for _ in range(self.agents))
        later = tuple(
            box
            if q == agent or self._is_lost(q, agent, k)
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
    guaranteed, dual, sent = order.guaranteed, order.dual_guaranteed, order.promise is not None
    return Spent(looked, int(guaranteed), int(dual), int(sent), received, int(order.mark))


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

"""CoverageSystem: agents that cover a workspace, as a hybrid system."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._compatibility import Feature, Need, fits, refuse
from dwell._parameters import parameters_of
from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.interfaces import (
    Command,
    Controller,
    FirstCommands,
    Information,
    Message,
    Observation,
    Sample,
    answer,
    commanded,
)
from dwell.agents.knowledge import (
    centroid_rate_of,
    for_reading,
    heard_by,
    neighbors_seen,
    others_seen,
    positions_received,
)
from dwell.agents.network import PERFECT, Network
from dwell.agents.segments import Segments
from dwell.agents.start import seed_words
from dwell.agents.state import AgentsState, Mail, SampledStart, Spent
from dwell.agents.traits import Traits, traits_of
from dwell.agents.ways import on_ways
from dwell.agents.world import Sensor, Timeline, World
from dwell.cells.backend import backend_for, measure_cell, measure_cells
from dwell.cells.features import features_of
from dwell.cells.measurement import CellMeasurement, CellMeasurements, in_one, of_one, together
from dwell.cells.ranges import as_radii, refuse_scale
from dwell.cells.weighted_region import WeightedRegion
from dwell.density import Density
from dwell.errors import AgentsError, ControllerError
from dwell.geometry import Workspace, words_of
from dwell.geometry.voronoi import coincident
from dwell.hybrid import Event, Halt, StopReason

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms, Terms
    from dwell._kernels.common.hold_law import HoldProgram

MOST_AGENTS = 2**31  # ids are below: see dwell.runner
OF_NEIGHBOURS = ("centroid", "samples", "velocities")  # what samples of neighbours tell
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
    # Sensing radius of all agents, or of each; kept as one for each agent. None: unlimited.
    radius: Any = None
    # How the world changes; None: it does not. Workspace, density and network are those of time 0.
    changes: Timeline | None = None

    def __post_init__(self) -> None:
        if self.radius is not None:
            self._check_radii()
        if self.stays:
            self.refuse_law(Feature.STAY)
        if self.nu is None:
            object.__setattr__(self, "nu", self.traits.nu)

    def _check_radii(self) -> None:
        """Refuse radii that the law, the agents or a world cannot take; keep one for each agent."""
        self.refuse_law(Feature.RADIUS)
        later = int((self.arrivals > 0.0).sum())
        object.__setattr__(self, "radius", as_radii(self.radius, self.agents, later))
        self.refuse(Need.RADIUS)
        for world in self.timeline.worlds:
            refuse_scale(np.array(self.radius), world.ground.at(world.begin).workspace)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, without cached values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def timeline(self) -> Timeline:
        """The worlds of the run; one if nothing changes."""
        if self.changes is not None:
            return self.changes
        return Timeline((World(0.0, self.workspace, self.density, self.network, self.spacing),))

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density at time 0."""
        return self.ground_at(0.0)

    def world_at(self, time: float) -> World:
        """The world at a time; at a switch, the new one."""
        return self.timeline.world_at(time)

    def ground_at(self, time: float) -> WeightedRegion:
        """The workspace with its density at a time."""
        return self.world_at(time).ground.at(time)

    @cached_property
    def delayed(self) -> bool:
        """Whether samples show the past at some time of the run."""
        return any(world.network.delay > 0.0 for world in self.timeline.worlds)

    @cached_property
    def perfect(self) -> bool:
        """Whether the network is perfect all the time."""
        return all(world.network.perfect for world in self.timeline.worlds)

    @cached_property
    def arrivals(self) -> Floats:
        """When each agent arrives, (N,)."""
        known = self.timeline.arrivals
        return np.zeros(self.agents) if known is None else known

    @cached_property
    def departures(self) -> Floats:
        """When each agent leaves, (N,); inf if it stays."""
        known = self.timeline.departures
        return np.full(self.agents, np.inf) if known is None else known

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

    @cached_property
    def streams(self) -> Sequence[int]:
        """The random stream of each agent."""
        return range(self.agents) if self.ids is None else self.ids

    @cached_property
    def traits(self) -> Traits:
        """What the law states of itself."""
        return traits_of(self.controller)

    @property
    def information(self) -> Information:
        """What an agent observes under this law."""
        return self.traits.information

    @cached_property
    def law_program(self) -> HoldProgram | None:
        """The law as plain numbers, wherever agents go; None if it has no such form."""
        if "program" not in self.traits.methods:
            return None
        law: Any = self.controller
        program: HoldProgram | None = answer(
            law, lambda: law.program(self.agents), "in program(agents)"
        )
        return program

    @property
    def program(self) -> HoldProgram | None:
        """The law as plain numbers; None if it has no such form, or agents go around corners."""
        return None if self.stays else self.law_program

    @cached_property
    def stays(self) -> bool:
        """Whether agents keep inside a region that is not convex, at some time of the run."""
        return any(world.workspace.stay for world in self.timeline.worlds)

    @cached_property
    def local(self) -> bool:
        """Whether the bits of a cell depend on its Voronoi neighbours alone, in every world."""
        worlds = self.timeline.worlds
        return all(backend_for(world.ground.at(world.begin)).local for world in worlds)

    # What goes with what.

    @cached_property
    def features(self) -> tuple[frozenset[Feature], ...]:
        """The features of each world, and of the law in it."""
        timeline, timer = self.timeline, self.traits.timer
        having = {
            Feature.RADIUS: self.radius is not None,
            Feature.SENSORS: bool(self.sensors),
            Feature.NETWORK: not self.perfect,
            Feature.PRESENCE: not timeline.same_agents,
            Feature.CHANGES: len(timeline.worlds) > 1 or timeline.moves,
            Feature.SITES: timeline.region_changes,
            Feature.STAY: self.stays,
            Feature.GRID: self.spacing is not None,
            Feature.ALONE: self.agents == 1,
            Feature.NO_TIMER: timer is None,
            Feature.FOLLOWING: self.traits.follows != "none",
            Feature.FIRST_HOLD: timer is not None and timer.initial_hold is not None,
            Feature.NO_PROGRAM: self.program is None,
            Feature.MESSAGES: self.information.receives,
            Feature.BEYOND_SAMPLES: self.traits.is_equation
            or self.information.others not in OF_NEIGHBOURS,
        }
        always = frozenset(feature for feature, has in having.items() if has)
        return tuple(always | features_of(one.ground, one.begin) for one in timeline.worlds)

    def fits(self, need: Need) -> bool:
        """Whether a need can take this system: see `dwell._compatibility`."""
        return all(fits(need, features) for features in self.features)

    def refuse(self, need: Need, law: str = "") -> None:
        """Refuse this system if a need cannot take it; `law` is what sentences call its law."""
        for world, features in zip(self.timeline.worlds, self.features, strict=True):
            words = words_of(world.ground.workspace)
            refuse(need, features, self._law_keys, law=law or self.traits.name, **words)

    def refuse_law(self, feature: Feature) -> None:
        """Refuse a law that cannot take a feature."""
        for need in self.traits.needs:
            refuse(need, (feature,), self._law_keys, law=self.traits.name)

    @property
    def _law_keys(self) -> Collection[str]:
        """The keys of the law in a file."""
        return parameters_of(self.controller)

    @cached_property
    def compiles(self) -> bool:
        """Whether the compiled event loop runs this system."""
        return self.fits(Need.COMPILED)

    # Measurements.

    def measure(
        self,
        positions: Points,
        row: Ints,
        agent: Ints,
        times: Floats,
        *,
        threads: int | None = 1,
        world: World | None = None,
    ) -> CellMeasurements:
        """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

        times : (rows,) when each configuration is assumed.
        world : the world to measure in; that of each time by default.
        Agents that are absent have no cell; of agents with several sensors all cells count
        together.
        """
        worlds = self.timeline.worlds if world is None else (world,)
        if len(worlds) > 1:
            return self._measured_in_each(positions, row, agent, times, threads)
        several = [
            measure_cells(
                ground, positions, row, agent,
                times=times, threads=threads, radius=self.radii, members=members,
            )
            for ground, members in worlds[0].diagrams
        ]  # fmt: skip
        seen = several[0] if len(several) == 1 else together(several)
        return on_ways(worlds[0].ground.workspace, seen, positions[row, agent])

    def _measured_in_each(
        self, positions: Points, row: Ints, agent: Ints, times: Floats, threads: int | None
    ) -> CellMeasurements:
        """Measure each cell in the world of its time."""
        number = self.timeline.numbers_at(times)[row]
        parts = []
        for k in np.unique(number):
            some, world = np.flatnonzero(number == k), self.timeline.worlds[k]
            given = positions, row[some], agent[some], times
            parts.append((some, self.measure(*given, threads=threads, world=world)))
        return in_one(parts, len(row), self.dimension)

    def measurement(self, positions: Points, agent: int, time: float = 0.0) -> CellMeasurement:
        """The cell of `agent` in the configuration `positions`; raises AgentsError on contact."""
        if self._one_diagram:
            cell = measure_cell(self.world_at(time).ground, positions, agent, time)
        else:
            seen = self.measure(*of_one(positions, np.array([agent])), np.array([time]))
            cell = seen.cell(0, agent)
        if cell is None:
            raise self._contact(positions, agent, time)
        return cell

    @cached_property
    def _one_diagram(self) -> bool:
        """Whether all cells divide one region without limit, and errors are straight."""
        timeline, limited = self.timeline, self.radius is not None
        return timeline.same_agents and not (timeline.sensors or limited or self.stays)

    def measurements(
        self,
        positions: Points,
        *,
        time: float = 0.0,
        threads: int | None = 1,
    ) -> CellMeasurements:
        """The cells of all agents at `positions`; raises AgentsError on contact.

        They are kept, see `measure_all`.
        """
        seen = self.measure_all(positions, time, threads=threads)
        if seen.coincident.any():
            raise self._contact(positions, int(np.argmax(seen.coincident)), time)
        return seen

    def _contact(self, positions: Points, agent: int, time: float) -> AgentsError:
        """The error that an agent is where another one of a diagram is."""
        gaps = np.full(self.agents, np.inf)
        for diagram in self.world_at(time).diagrams:
            others = np.arange(self.agents) if diagram.members is None else diagram.members
            if agent in others:
                gaps[others] = lengths(positions[others] - positions[agent])
        gaps[agent] = np.inf
        return coincident(agent, int(np.argmin(gaps)), positions[agent])

    def measure_all(
        self, positions: Points, time: float = 0.0, *, threads: int | None = None
    ) -> CellMeasurements:
        """Measurements of all cells at `positions`, (N, n), on all threads by default.

        The last few results are kept. Coincident agents are marked; nothing is raised.
        """
        when = 0.0 if self.changes is None else time
        kept, key = self._kept, positions.tobytes() + np.float64(when).tobytes()
        seen = kept.get(key)
        if seen is None:
            rows = of_one(positions, np.arange(self.agents))
            seen = self.measure(*rows, np.array([when]), threads=threads)
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
        from dwell._kernels.common import philox

        count, now = int(state.event_counts[agent]), state.time
        known, world = self.information, self.world_at(now)
        sample = rate = ahead = None
        if measurement is not None:
            if known.others != "centroid":
                when = max(now - world.network.delay, 0.0)  # no agent moves before time 0
                sample = others_seen(known, world, state, agent, positions, when)
            if known.world != "now":
                rate = centroid_rate_of(known, world, now, agent, positions)
            if known.world == "forecast":
                ahead = partial(self._error_in, world, positions, agent)
        return Observation(
            time=now,
            agent=agent,
            agents=self.agents,
            event_count=count,
            first_event_at=float(state.first[agent]),
            position=for_reading(positions[agent]),
            hold=for_reading(state.segments.hold[agent]),
            measurement=None if known.others == "broadcasts" else measurement,
            draw=philox.uniform(*self.key, philox.STREAM_RESETS, self.streams[agent], count),
            sample=sample,
            heard=heard_by(state.mail[agent].heard) if state.mail else {},
            memory=state.memory[agent] if state.memory else None,
            ground=world.ground.at(now),
            shared_draw=self._shared_draw,
            rate=rate,
            ahead=ahead,
        )

    def _error_in(self, world: World, positions: Points, agent: int, t: float) -> Points:
        """The error of an agent if this world lasts until time t, (n,)."""
        one = of_one(positions, np.array([agent]))
        error: Points = self.measure(*one, np.array([t]), world=world).error[0]
        return error

    def _shared_draw(self, k: int) -> float:
        from dwell._kernels.common.philox import STREAM_TURNS, uniform

        return float(uniform(*self.key, STREAM_TURNS, 0, k))

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The sensors, if agents have different ones."""
        return self.timeline.sensors

    def cells_of(self, agent: int, time: float) -> int:
        """How many cells an agent has at a time: one for each of its sensors; 0 if it is absent."""
        return self.world_at(time).cells_of(agent)

    # The start.

    def start(self, positions: Points, *, threads: int | None = None) -> AgentsState:
        """The state at time 0: every agent samples once, if its law does, and gets a first command.

        The network is perfect then: all receive the messages of time 0 before their first event.
        """
        n, law = self.agents, self.controller
        zeros = np.zeros(n)
        none = np.zeros(n, dtype=np.int64)
        still, never = np.zeros((n, self.dimension)), np.full(n, np.inf)
        stand = Segments(zeros, positions.copy(), still, zeros, never, self.traits.fade)
        blank = AgentsState(0.0, stand, zeros, none)
        together = self.program is not None and self.perfect and not self.sensors
        if together and "begin_all" in self.traits.methods:
            return self._start_together(blank, threads)
        seen = self.measurements(positions)
        cells: list[Any] = [seen.cell(p, p) for p in range(n)]  # no two agents coincide
        arrivals = self.arrivals
        orders = [
            _straight(commanded(law.begin, law, self.observation(blank, p, positions, cell)), cell)
            if arrivals[p] == 0.0
            else Command(np.zeros(self.dimension), float(arrivals[p]))
            for p, cell in enumerate(cells)
        ]
        looked, world = int(self.information.others != "broadcasts"), self.world_at(0.0)
        memory = tuple(order.memory for order in orders)
        promises = [-1.0 if order.promise is None else order.promise for order in orders]
        begun = replace(
            stand,
            hold=np.array([order.hold for order in orders], dtype=np.float64),
            next_at=np.array([order.next_at for order in orders], dtype=np.float64),
            cruise=np.array([order.cruise for order in orders], dtype=np.float64),
        )
        state = replace(
            blank,
            segments=begun,
            first=begun.next_at.copy(),
            samples_next=_unless_all([order.measures for order in orders], True),
            memory=() if all(order.memory is None for order in orders) else memory,
            promised=_unless_all(promises, -1.0),
            spent=tuple(
                _spent(
                    order,
                    looked * world.cells_of(p),
                    looked * positions_received(self.information, world, cell, n),
                )
                if arrivals[p] == 0.0
                else _spent(order, 0, 0)
                for p, (order, cell) in enumerate(zip(orders, cells, strict=True))
            ),
        )
        if self.information.others == "velocities":  # at rest before time 0
            state = replace(state, before=np.zeros((n, self.dimension)))
        for p, order in enumerate(orders):
            state = self._spoken(state, p, positions[p], order, None, PERFECT)
        return state

    def _start_together(self, blank: AgentsState, threads: int | None) -> AgentsState:
        """The state at time 0 for laws in plain numbers, computed for all agents together.

        Such a law uses its memory for lost samples only, and none are lost here.
        """
        law: Any = self.controller
        stand = blank.segments
        seen = self.measurements(stand.place, threads=threads)
        first: FirstCommands = answer(
            law, lambda: law.begin_all(seen.error), "in begin_all(errors)"
        )
        later = self.arrivals > 0.0
        hold = np.where(later[:, None], 0.0, first.hold)
        next_at = np.where(later, self.arrivals, first.next_at)
        begun = replace(
            stand,
            hold=np.ascontiguousarray(hold),
            next_at=next_at,
            cruise=np.full(self.agents, first.cruise),
        )
        return replace(
            blank,
            segments=begun,
            first=next_at.copy(),
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
        next_at = state.segments.next_at
        agent = int(next_at.argmin())
        due = float(next_at[agent])
        leaving = self.leaving(state)
        if leaving is not None and leaving[0] <= due:
            return Event(*leaving)
        return Event(due, agent)

    def leaving(self, state: AgentsState) -> tuple[float, int] | None:
        """The time and the agent of the next departure, if there is one."""
        if self.timeline.same_agents:
            return None
        left = state.segments.since >= self.departures
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
        agent, world = event.source, self.world_at(state.time)
        here = state.positions
        if self._is_absent(agent, state.time):
            return self._departed(state, agent, here[agent])
        try:
            truth = self.measurement(here, agent, state.time)  # recorded, whatever it observes
            order, spent, state = self._decided(state, agent, here, truth, world, begins, behind)
        except AgentsError as contact:
            raise halted(contact) from None
        state = self._noted(state, agent)
        after = state.with_order(agent, here[agent], order, truth, spent)
        return self._spoken(after, agent, here[agent], order, state.promised, world.network)

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
        world: World,
        begins: bool,
        behind: bool,
    ) -> tuple[Command, Spent, AgentsState]:
        """The command of `agent`, its cost, and the state with the messages it received."""
        heard = 0
        if state.mail:
            mail, heard = state.mail[agent].opened(state.time)
            state = replace(state, mail=(*state.mail[:agent], mail, *state.mail[agent + 1 :]))
        tries = state.samples_next is None or bool(state.samples_next[agent])
        known, network = self.information, world.network
        count = int(state.event_counts[agent])
        arrives = begins or (count == 0 and self.arrivals[agent] > 0.0)
        arrives = arrives and self.program is None
        lost = tries and not arrives and self._is_lost(agent, agent, count, network)
        looked = int(tries and not lost and known.others != "broadcasts")
        seen, measurement = here, truth if looked else None
        if looked and network.delay > 0.0:
            seen = state.positions_then(state.time - network.delay)
            seen[agent] = here[agent]
            measurement = self.measurement(seen, agent, state.time)
        observation = self.observation(state, agent, seen, measurement)
        law = self.controller
        decide = law.begin if arrives else law.decide
        order = commanded(self._missed if lost else decide, law, observation, behind=behind)
        if self.stays:  # after a lost sample the way around corners is not known
            order = replace(order, hold=0.0 * order.hold) if lost else _straight(order, measurement)
        if measurement is not None:
            heard += positions_received(known, world, measurement, self.agents)
        return order, _spent(order, looked * world.cells_of(agent), heard), state

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

    def _is_lost(self, to: int, sender: int, k: int, network: Network) -> bool:
        """Whether sample k of an agent, or message k on its way to `to`, is lost."""
        if network.loss == 0.0:
            return False
        from dwell._kernels.common.philox import STREAM_LOSSES, uniform

        counter = k * MOST_AGENTS + self.streams[to]
        draw = uniform(*self.key, STREAM_LOSSES, self.streams[sender], counter)
        return float(draw) < network.loss

    def _spoken(
        self,
        state: AgentsState,
        agent: int,
        place: Points,
        order: Command,
        promised: Floats | None,
        network: Network,
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
        data = order.data
        if data is not None:  # the sender may change its own later
            data = answer(self.controller, lambda: deepcopy(order.data), "in data to be sent")
        message = Message(agent, state.time, for_reading(place), promise, before, data)
        arrives, k = state.time + network.delay, int(state.event_counts[agent])
        mail = state.mail or tuple(Mail() for _ in range(self.agents))
        later = tuple(
            box
            if q == agent or self._is_lost(q, agent, k, network)
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

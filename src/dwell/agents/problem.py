"""CoverageProblem: what is constant during a run, and what agents measure and observe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._compatibility import Feature, Need, fits, refuse
from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.interfaces import (
    CellMeasurement,
    Controller,
    Information,
    Observation,
    Sample,
)
from dwell.agents.knowledge import changes_known, neighbors_seen, others_seen
from dwell.agents.network import PERFECT, Network
from dwell.agents.start import seed_words
from dwell.agents.state import AgentsState
from dwell.agents.traits import Traits, traits_of
from dwell.agents.ways import keeps_inside
from dwell.agents.world import Phase, Sensor, Timeline, World
from dwell.cells.features import features_of
from dwell.cells.measurement import CellMeasurements, of_one
from dwell.cells.ranges import as_radii
from dwell.cells.weighted_region import WeightedRegion
from dwell.density import Density
from dwell.geometry import Workspace, words_of
from dwell.geometry.voronoi import coincident

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms, Terms
    from dwell._kernels.common.hold_law import HoldProgram

OF_NEIGHBOURS = ("centroid", "samples", "velocities")  # what samples of neighbours tell
MOST_KEPT = 2  # configurations whose measurements are kept: the first and the last of a run


@dataclass(frozen=True, eq=False)
class CoverageProblem:
    """Everything that is constant during a run, and what agents measure and observe."""

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
    # How the world changes; None: it does not. Workspace, density and network are those of time 0.
    changes: Timeline | None = None

    def __post_init__(self) -> None:
        if self.radius is not None:
            self.refuse_law(Feature.RADIUS)
            object.__setattr__(self, "radius", as_radii(self.radius, self.agents, self.workspace))
        if self.stays:
            self.refuse_law(Feature.STAY)
        if self.nu is None:
            object.__setattr__(self, "nu", self.traits.nu)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, without cached values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def timeline(self) -> Timeline:
        """The phases of the run; one if nothing changes."""
        if self.changes is not None:
            return self.changes
        return Timeline((Phase(0.0, self.workspace, self.density, self.network, self.spacing),))

    @cached_property
    def ground(self) -> WeightedRegion:
        """The workspace with its density at time 0."""
        return self.ground_at(0.0)

    def world_at(self, time: float) -> World:
        """The world at a time: where it moves, its ground is to be taken at that time."""
        return self.timeline.world_at(time)

    def ground_at(self, time: float) -> WeightedRegion:
        """The workspace with its density at a time."""
        return self.world_at(time).ground_at(time)

    @cached_property
    def delayed(self) -> bool:
        """Whether samples show the past at some time of the run."""
        return any(phase.network.delay > 0.0 for phase in self.timeline.phases)

    @cached_property
    def perfect(self) -> bool:
        """Whether the network is perfect all the time."""
        return all(phase.network.perfect for phase in self.timeline.phases)

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

    @property
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
        program: HoldProgram | None = law.program(self.agents)
        return program

    @property
    def program(self) -> HoldProgram | None:
        """The law as plain numbers; None if it has no such form, or agents go around corners."""
        return None if self.stays else self.law_program

    @cached_property
    def stays(self) -> bool:
        """Whether agents keep inside a region that is not convex, at some time of the run."""
        return any(keeps_inside(phase.workspace) for phase in self.timeline.phases)

    # What goes with what.

    @cached_property
    def features(self) -> tuple[frozenset[Feature], ...]:
        """The features of the world in each phase, and of the law in it."""
        timeline, timer = self.timeline, self.traits.timer
        having = {
            Feature.RADIUS: self.radius is not None,
            Feature.SENSORS: bool(self.sensors),
            Feature.NETWORK: not self.perfect,
            Feature.PRESENCE: not timeline.same_agents,
            Feature.CHANGES: self.changes is not None,
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
        return tuple(always | features_of(one.ground, one.begin) for one in timeline.phases)

    def fits(self, need: Need) -> bool:
        """Whether a need can take this system: see `dwell._compatibility`."""
        return all(fits(need, features) for features in self.features)

    def refuse(self, need: Need, law: str = "") -> None:
        """Refuse this system if a need cannot take it; `law` is what sentences call its law."""
        for phase, features in zip(self.timeline.phases, self.features, strict=True):
            words = words_of(phase.ground.workspace)
            refuse(need, features, law=law or self.traits.name, **words)

    def refuse_law(self, feature: Feature) -> None:
        """Refuse a law that cannot take a feature."""
        for need in self.traits.needs:
            refuse(need, (feature,), law=self.traits.name)

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
    ) -> CellMeasurements:
        """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, n).

        times : (rows,) when each configuration is assumed.
        """
        given = positions, row, agent, times
        return self.timeline.measure(*given, threads=threads, radius=self.radii)

    def measurement(self, positions: Points, agent: int, time: float = 0.0) -> CellMeasurement:
        """The cell of `agent` in the configuration `positions`; raises AgentsError on contact."""
        return cell_in(self.measurements(positions, [agent], time=time), 0, agent)

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
            seen = self.measure(*of_one(positions, who), np.array([time]))
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
            position=for_reading(positions[agent]),
            hold=for_reading(state.hold[agent]),
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

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The sensors, if agents have different ones."""
        return self.timeline.sensors

    def cells_of(self, agent: int, time: float) -> int:
        """How many cells an agent has at a time: one for each of its sensors; 0 if it is absent."""
        members = [diagram.members for diagram in self.world_at(time).diagrams]
        return sum(1 for some in members if some is None or agent in some)


def cell_in(seen: CellMeasurements, k: int, agent: int) -> CellMeasurement:
    """Entry k of the measurements, which is that of `agent`."""
    mass = float(seen.mass[k] * np.exp(seen.log_scale[k]))
    neighbors, nearest = int(seen.neighbors[k]), float(seen.nearest[k])
    free = np.inf if seen.stretch is None else float(seen.stretch[k])
    error, empty = seen.error[k].copy(), bool(seen.empty[k])
    return CellMeasurement(agent, error, mass, neighbors, nearest, empty, free)


def for_reading(point: Points) -> Points:
    """A read-only copy, through which a controller cannot change the state."""
    copy = point.copy()
    copy.setflags(write=False)
    return copy

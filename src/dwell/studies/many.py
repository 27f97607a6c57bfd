"""Thousands of small runs at once, compiled, on all cores, with no Python between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import Floats, Ints, Points, columns, lengths
from dwell.agents import CoverageSystem
from dwell.agents.events import EventTable
from dwell.agents.start import seed_words
from dwell.cells.backend import measure_cells
from dwell.cells.measurement import Looks, in_blocks
from dwell.controllers.saturation import saturated
from dwell.errors import InputError
from dwell.hybrid import StopReason
from dwell.measure.metrics import Snapshots, timer_program
from dwell.progress import Progress, reported
from dwell.results import Run
from dwell.results.recorder import touching
from dwell.runner import run_scenario
from dwell.scenario import Scenario, ScenarioLike
from dwell.scenario.schema import RecordSpec
from dwell.studies.cases import Case, cases_of, is_compiled, refuse_differences

if TYPE_CHECKING:
    from dwell._kernels.batch.runs import Figures, Laws, Runs

LOG = 2_048  # jumps between two additions to the figures: a log that stays in the cache
BLOCK = 1_024  # runs whose cells are measured together


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """What many runs came to, one entry (or row) per run, in the order they were asked for.

    Every number is the one that ``run_scenario(batch.scenarios[k]).summary()`` gives, bit for bit.
    Numbers "as seen" are those at the start, at events and at the end.
    """

    scenarios: tuple[Scenario, ...]  # each, run alone, gives the same run
    reasons: tuple[StopReason, ...]
    times: Floats  # (R,) when each ended
    looks: Ints  # (R, N) events of each agent
    positions: Points  # (R, N, n) at the end
    errors: Floats  # (R, N) |centroid - position| at the end; nan where two agents met
    initial_costs: Floats
    costs: Floats  # at the end; nan where two agents met
    hold_errors: Floats  # the largest seen; nan for laws that have none
    separations: Floats  # the smallest distance of two agents seen; inf for one agent
    nu: Floats  # the error that counts as covered; nan if none does
    last_beyond: Floats  # the last time at which an error beyond nu was seen; nan if none was
    empty: Ints  # looks that found no mass
    messages: Ints  # positions of others obtained, by all agents, from the start on
    updates: Ints  # (R, N) changes of the held velocity
    distance: Floats  # (R, N) length of each agent's path
    energy: Floats  # (R, N) integral of its squared speed

    def __len__(self) -> int:
        return len(self.reasons)

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} runs, {self.events.sum()} events>"

    @property
    def seeds(self) -> np.ndarray:
        """The seed of each run."""
        return np.array([one.run.seed for one in self.scenarios])

    @property
    def events(self) -> Ints:
        """How many there were in each run."""
        found: Ints = self.looks.sum(axis=1)
        return found

    def columns(self) -> dict[str, np.ndarray]:
        """One value per run, named as in a sweep's table, for a data frame; nan where null."""
        found: dict[str, np.ndarray] = {
            "seed": self.seeds,
            "start_seed": np.array([one.agents.start_seed for one in self.scenarios]),
            "stop.reason": np.array([reason.value for reason in self.reasons]),
            "stop.ok": np.array([reason.ok for reason in self.reasons]),
            "stop.time": self.times,
            "events.total": self.events,
            "messages": self.messages,
            "cost.initial": self.initial_costs,
            "cost.final": self.costs,
            "error.final_max": self.errors.max(axis=1),
            "coverage.nu": self.nu,
            "coverage.last_beyond": self.last_beyond,
            "hold_error.max": self.hold_errors,
            "separation.seen": np.where(np.isinf(self.separations), np.nan, self.separations),
        }
        each: dict[str, Any] = {"events.per_agent": self.looks, "updates": self.updates}
        each |= {"distance": self.distance, "energy": self.energy}
        for name, values in each.items():
            found[f"{name}.min"], found[f"{name}.max"] = values.min(axis=1), values.max(axis=1)
            found[f"{name}.mean"] = values.mean(axis=1)
        return found


def simulate_many(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    *,
    seeds: Iterable[int] | None = None,
    starts: object = None,
    start_seeds: Iterable[int] | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Batch:
    """Run many scenarios that differ in seed, start or the numbers of their law.

    One scenario is run once for each of `seeds`, from which timers draw (the scenario's own and
    those after it, by default), and for each start: places `starts`, (R, N, n), or `start_seeds`
    for agents that the scenario scatters. Several scenarios must have workspace, density, number
    of agents and horizon in common. `threads` is the number of threads, all processors by default;
    it changes no bit. `progress` is a function of what is being done and the share done; by default
    progress appears on the error stream after two seconds, and False turns that off.
    A scenario may be a Scenario, a mapping of its tables, or the path of its file.

    Laws and densities that the compiled planar engine does not know are run one after another.
    """
    check_whole("threads", threads, 1, optional=True)
    cases = cases_of(scenarios, seeds, starts, start_seeds)
    first = cases[0].scenario
    refuse_differences([case.scenario for case in cases])
    _refuse_unequal(cases)
    with reported(progress) as tell:
        tell("preparing", 0.0)
        if not all(is_compiled(case.system, first.run.horizon) for case in cases):
            return _one_by_one(cases, threads, tell)
        runs, figures, firsts = _start(cases, threads)
        _run(cases, runs, figures, threads, tell)
        tell("measuring", 1.0)
        return _batch(cases, figures, runs, firsts, threads)


def _refuse_unequal(cases: Sequence[Case]) -> None:
    agents = len(cases[0].places)
    for k, case in enumerate(cases):
        if len(case.places) != agents:
            raise InputError(
                f"run {k} has {len(case.places)} agents and run 0 has {agents}; batches of equal "
                "numbers are needed",
                code="batch.differs",
            )


def _one_by_one(cases: Sequence[Case], threads: int | None, tell: Progress) -> Batch:
    """The batch of runs that are made one after another."""
    runs: list[Run] = []
    for k, case in enumerate(cases):
        tell("simulating", k / len(cases))
        asked = case.scenario.run.model_copy(update={"record": RecordSpec(kind="summary")})
        one = case.scenario.model_copy(update={"run": asked})
        runs.append(run_scenario(one, threads=threads, progress=False))
    tell("measuring", 1.0)
    nothing = np.full(len(cases[0].places), np.nan)

    def numbers(of: Callable[[Run], Any]) -> Any:
        """One of each run; nan where it is None."""
        return np.array([np.nan if (found := of(run)) is None else found for run in runs])

    return Batch(
        scenarios=tuple(case.scenario for case in cases),
        reasons=tuple(run.stop.reason for run in runs),
        times=numbers(lambda run: run.stop.time),
        looks=numbers(lambda run: run.tally.looks),
        positions=numbers(lambda run: run.at_the_end.positions[0]),
        errors=numbers(lambda run: nothing if run.ends_in_contact else run.ends[-1].errors[0]),
        initial_costs=numbers(lambda run: run.ends[0].costs[0]),
        costs=numbers(lambda run: None if run.ends_in_contact else run.ends[-1].costs[0]),
        hold_errors=numbers(lambda run: run.largest_hold_error),
        separations=numbers(lambda run: run.seen_separation),
        nu=numbers(lambda run: run.system.nu),
        last_beyond=numbers(lambda run: run.last_beyond),
        empty=numbers(lambda run: run.tally.empty),
        messages=numbers(lambda run: run.counters.received.sum()),
        updates=numbers(lambda run: run.counters.updates),
        distance=numbers(lambda run: run.counters.distance),
        energy=numbers(lambda run: run.counters.energy),
    )


def _run(
    cases: Sequence[Case],
    runs: Runs,
    figures: Figures,
    threads: int | None,
    tell: Progress,
) -> None:
    """All runs from their start to their end; fills `figures`."""
    from dwell._kernels.batch.runs import run_many
    from dwell._kernels.bins import make_bins, make_near
    from dwell._kernels.scratch import make_scratch
    from dwell._kernels.tree import MOVING, make_tree

    system, asked = cases[0].system, cases[0].scenario.run
    agents, walls = len(cases[0].places), columns(system.workspace.vertices)
    laws = _laws([case.system for case in cases])
    done = 0
    counting = Lock()

    def work(lo: int, hi: int) -> None:
        memory = make_scratch(agents, len(walls[0]))
        log = EventTable.blank(LOG).as_log()
        bins, near, leg = make_bins(agents), make_near(agents), np.empty((agents, 3))
        tree = make_tree(agents, MOVING)
        run_many(
            lo, hi, asked.horizon, asked.max_jumps, runs, laws, *walls, system.terms, log, bins,
            tree, near, leg, figures, memory,
        )  # fmt: skip
        nonlocal done
        with counting:
            done += hi - lo
            tell("simulating", done / len(cases))

    in_blocks(work, len(cases), threads, block=max(1, min(16, len(cases) // 8)))


def _start(cases: Sequence[Case], threads: int | None) -> tuple[Runs, Figures, _Ends]:
    """Everybody looks once and takes a first order, in every run."""
    from dwell._kernels import legs as column
    from dwell._kernels.batch.runs import Figures, Runs
    from dwell._kernels.queue import entries

    agents = len(cases[0].places)
    places = np.array([case.places for case in cases])
    count = len(places)
    which, agent = np.divmod(np.arange(count * agents), agents)
    seen = measure_cells(cases[0].system.ground, places, which, agent, threads=threads)
    if seen.met.any():
        k = int(np.argmax(seen.met))
        cases[k // agents].system.look(places[k // agents], k % agents)  # which says who met
    errors = seen.error.reshape(places.shape)
    row = np.zeros((count, agents, column.COLUMNS))
    firsts = _Ends.of(seen, errors)
    row[:, :, [column.START_X, column.START_Y]] = places
    for k, case in enumerate(cases):
        law: Any = case.system.controller
        first = law.begin_all(errors[k])
        row[k][:, [column.HOLD_X, column.HOLD_Y]] = first.hold
        row[k, :, column.FIRST_AT] = first.next_at
        firsts.held[k] = _held(case.system, first.hold, errors[k]).max()
    order = np.argsort(row[:, :, column.FIRST_AT], axis=1, kind="stable")  # a heap may be sorted
    runs = Runs(
        row=row,
        due=np.take_along_axis(row[:, :, column.FIRST_AT], order, axis=1),
        queue=entries(order, order),
        streams=np.array([case.system.streams for case in cases], dtype=np.int64),
        key=np.array([seed_words(case.system.seed) for case in cases], dtype=np.int64),
    )
    moving = (row[:, :, [column.HOLD_X, column.HOLD_Y]] != 0.0).any(axis=2)
    figures = Figures(
        reason=np.zeros(count, dtype=np.int64),
        jumps=np.zeros(count, dtype=np.int64),
        time=np.zeros(count),
        hold_error=firsts.held.copy(),
        nearest=firsts.nearest,
        last_large=np.full(count, -1.0),
        empty=np.zeros(count, dtype=np.int64),
        received=np.ascontiguousarray(seen.neighbors.reshape(count, agents)),
        looks=np.zeros((count, agents), dtype=np.int64),
        updates=moving.astype(np.int64),
        distance=np.zeros((count, 2, agents)),
        energy=np.zeros((count, 2, agents)),
    )
    return runs, figures, firsts


def _held(system: CoverageSystem, velocities: Points, errors: Points) -> Floats:
    """The hold errors of a timer law; nan for any other."""
    program = timer_program(system)
    if program is None:
        return np.full(errors.shape[:-1], np.nan)
    return lengths(velocities - saturated(errors, program.k1, program.reach))


def _laws(systems: Sequence[CoverageSystem]) -> Laws:
    from dwell._kernels.batch.runs import Laws

    programs = [system.program for system in systems]
    assert all(program is not None for program in programs)

    def numbers(name: str) -> Any:
        return np.array([getattr(program, name) for program in programs])

    widths = {np.shape(program.intervals) for program in programs if program is not None}
    if len(widths) > 1:
        raise InputError(
            "the runs have sequences of intervals of different lengths; batches of equal lengths "
            "are needed",
            code="batch.differs",
        )
    return Laws(
        k1=numbers("k1"),
        reach=numbers("reach"),
        rule=numbers("rule"),
        loss=numbers("loss"),
        cruise=numbers("cruise"),
        nu=np.array([np.inf if system.nu is None else system.nu for system in systems]),
        t1=numbers("t1"),
        t2=numbers("t2"),
        period=numbers("period"),
        intervals=numbers("intervals"),
    )


def _batch(
    cases: Sequence[Case], figures: Figures, runs: Runs, firsts: _Ends, threads: int | None
) -> Batch:
    """The numbers, and what the ends look like."""
    from dwell._kernels import legs as column

    cruise = np.array([case.system.program.cruise for case in cases if case.system.program])
    dt = figures.time[:, None] - runs.row[:, :, column.SINCE]
    used = np.minimum(dt, cruise[:, None])[..., None]
    hold = runs.row[:, :, [column.HOLD_X, column.HOLD_Y]]
    positions = runs.row[:, :, [column.START_X, column.START_Y]] + hold * used
    velocities = np.where((dt <= cruise[:, None])[..., None], hold, 0.0)
    lasts = _lasts(cases, Snapshots(positions, velocities, dt), threads)
    nu = np.array([case.system.nu for case in cases], dtype=np.float64)
    beyond = [np.where(firsts.errors.max(axis=1) > nu, 0.0, np.nan), figures.last_large]
    beyond.append(np.where(lasts.errors.max(axis=1) > nu, figures.time, np.nan))
    latest = np.fmax.reduce(beyond)
    return Batch(
        scenarios=tuple(case.scenario for case in cases),
        reasons=tuple(_REASONS[int(reason)] for reason in figures.reason),
        times=figures.time,
        looks=figures.looks,
        positions=positions,
        errors=lasts.errors,
        initial_costs=firsts.costs,
        costs=lasts.costs,
        hold_errors=np.where(
            np.isnan(firsts.held), np.nan, np.fmax(figures.hold_error, lasts.held)
        ),
        separations=np.minimum(figures.nearest, lasts.nearest),
        nu=nu,
        last_beyond=np.where(latest < 0.0, np.nan, latest),
        empty=figures.empty,
        messages=figures.received.sum(axis=1),
        updates=figures.updates,
        distance=figures.distance.sum(axis=1),
        energy=figures.energy.sum(axis=1),
    )


_REASONS = {
    1: StopReason.HORIZON,
    2: StopReason.COINCIDENT,
    3: StopReason.JUMP_LIMIT,
}


@final
@dataclass(frozen=True, eq=False)
class _Ends:
    """What is seen at the start, or at the end, of every run."""

    errors: Floats  # (R, N)
    costs: Floats
    held: Floats  # the largest hold error
    nearest: Floats  # the smallest distance of two agents

    @classmethod
    def of(cls, seen: Looks, errors: Points) -> _Ends:
        """From all looks in some configurations, whose `errors` are (R, N, n)."""
        shares = (seen.polar * np.exp(seen.log_scale)).reshape(errors.shape[:2])
        nearest = seen.nearest.reshape(errors.shape[:2]).min(axis=1)
        costs = np.array([math.fsum(share) for share in shares])
        return cls(lengths(errors), costs, np.full(len(errors), np.nan), nearest)


def _lasts(cases: Sequence[Case], now: Snapshots, threads: int | None) -> _Ends:
    """Errors, cost, largest hold error and smallest distance of each run at its end."""
    count, agents = now.positions.shape[:2]
    met = touching(now)
    unknown, held = np.full(count, np.nan), np.full(count, np.nan)
    found = _Ends(np.full((count, agents), np.nan), unknown, held, np.where(met, 0.0, np.inf))
    laws = {case.system.controller: k for k, case in enumerate(cases)}  # equal laws, one of them
    which = np.array([laws[case.system.controller] for case in cases])
    for law in np.unique(which):
        rows, system = np.flatnonzero(~met & (which == law)), cases[law].system
        for lo in range(0, len(rows), BLOCK):
            some = rows[lo : lo + BLOCK]
            row, agent = np.divmod(np.arange(len(some) * agents), agents)
            seen = measure_cells(system.ground, now.positions[some], row, agent, threads=threads)
            gaps = seen.error.reshape(len(some), agents, -1)
            ends = _Ends.of(seen, gaps)
            found.errors[some], found.costs[some] = ends.errors, ends.costs
            found.nearest[some] = ends.nearest
            found.held[some] = _held(system, now.velocities[some], gaps).max(axis=1)
    return found

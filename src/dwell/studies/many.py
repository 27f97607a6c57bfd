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
from dwell.controllers.saturation import saturated
from dwell.density.looking import in_blocks, look_many
from dwell.errors import InputError
from dwell.hybrid import StopReason
from dwell.scenario import ScenarioLike
from dwell.studies.cases import Case, cases_of, refuse_differences, refuse_uncompiled
from dwell.theory.metrics import timer_program

if TYPE_CHECKING:
    from dwell._kernels.batch.runs import Figures, Laws, Runs

LOG = 2_048  # jumps between two additions to the figures: a log that stays in the cache
BLOCK = 1_024  # runs whose cells are measured together


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """What many runs came to, one entry (or row) per run, in the order they were asked for.

    Every figure is the one that `run_scenario` gives for the same scenario and seed.
    """

    seeds: Ints  # (R,)
    reasons: tuple[StopReason, ...]
    times: Floats  # when each ended
    events: Ints
    positions: Points  # (R, N, n) at the end
    errors: Floats  # (R, N) |centroid - position| at the end; nan where two agents met
    costs: Floats  # at the end; nan where two agents met
    hold_errors: Floats  # the largest, at the ends of holds and at both ends
    separations: Floats  # the smallest distance of two agents, at looks
    last_large: Floats  # time of the last look with an error beyond nu; -1 if there was none
    empty: Ints  # looks that found no mass
    messages: Ints  # positions of others obtained, by all agents, from the start on
    updates: Ints  # (R, N) changes of the held velocity
    distance: Floats  # (R, N) length of each agent's path
    energy: Floats  # (R, N) integral of its squared speed

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} runs, {int(self.events.sum())} events>"

    def columns(self) -> dict[str, np.ndarray]:
        """One value per run of everything that can be said so, for a data frame."""
        return {
            "seed": self.seeds,
            "reason": np.array([reason.value for reason in self.reasons]),
            "time": self.times,
            "events": self.events,
            "cost": self.costs,
            "error": self.errors.max(axis=1),
            "hold_error": self.hold_errors,
            "separation": self.separations,
            "last_large": self.last_large,
            "messages": self.messages,
            "updates": self.updates.sum(axis=1),
            "distance": self.distance.sum(axis=1),
            "energy": self.energy.sum(axis=1),
        }


def simulate_many(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    *,
    seeds: Iterable[int] | None = None,
    starts: object = None,
    start_seeds: Iterable[int] | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Batch:
    """Run many scenarios that differ in seed, start or the numbers of their law.

    One scenario is run once for each of `seeds`, from which timers draw (the scenario's own and
    those after it, by default), and for each start: places `starts`, (R, N, n), or `start_seeds`
    for agents that the scenario scatters. Several scenarios must have workspace, density, number
    of agents and horizon in common. `threads` is the number of threads, all processors by default;
    it changes no bit. `progress` is told what is being done, and how much of it is done.
    A scenario may be a Scenario, a mapping of its tables, or the path of its file.
    """
    check_whole("threads", threads, 1, optional=True)
    cases = cases_of(scenarios, seeds, starts, start_seeds)
    first = cases[0].scenario
    refuse_differences([case.scenario for case in cases])
    systems = [case.system for case in cases]
    for system in systems:
        refuse_uncompiled(system, first.run.horizon)
    tell = progress or (lambda what, share: None)
    tell("preparing", 0.0)
    runs, figures = _start(cases, threads)
    _run(cases, runs, figures, threads, tell)
    tell("measuring", 1.0)
    return _batch(cases, figures, runs, threads)


def _run(
    cases: Sequence[Case],
    runs: Runs,
    figures: Figures,
    threads: int | None,
    tell: Callable[[str, float], None],
) -> None:
    """All runs from their start to their end; fills `figures`."""
    from dwell._kernels.batch.runs import run_many
    from dwell._kernels.bins import make_bins, make_near
    from dwell._kernels.scratch import make_scratch

    system, asked = cases[0].system, cases[0].scenario.run
    agents, walls = len(cases[0].places), columns(system.workspace.vertices)
    laws = _laws([case.system for case in cases])
    done = 0
    counting = Lock()

    def work(lo: int, hi: int) -> None:
        memory = make_scratch(agents, len(walls[0]))
        log = EventTable.blank(LOG).as_log()
        bins, near, leg = make_bins(agents), make_near(agents), np.empty((agents, 3))
        run_many(
            lo, hi, asked.horizon, asked.max_jumps, runs, laws, *walls, system.terms, log, bins,
            near, leg, figures, memory,
        )  # fmt: skip
        nonlocal done
        with counting:
            done += hi - lo
            tell("simulating", done / len(cases))

    in_blocks(work, len(cases), threads, block=max(1, min(16, len(cases) // 8)))


def _start(cases: Sequence[Case], threads: int | None) -> tuple[Runs, Figures]:
    """Everybody looks once and takes a first order, in every run."""
    from dwell._kernels import legs as column
    from dwell._kernels.batch.runs import Figures, Runs
    from dwell._kernels.queue import entries

    agents = len(cases[0].places)
    for k, case in enumerate(cases):
        if len(case.places) != agents:
            raise InputError(
                f"run {k} has {len(case.places)} agents and run 0 has {agents}; batches of equal "
                "numbers are needed",
                code="batch.differs",
            )
    places = np.array([case.places for case in cases])
    count = len(places)
    which, agent = np.divmod(np.arange(count * agents), agents)
    seen = look_many(cases[0].system.ground, places, which, agent, threads=threads)
    if seen.met.any():
        k = int(np.argmax(seen.met))
        cases[k // agents].system.look(places[k // agents], k % agents)  # which says who met
    errors = seen.error.reshape(places.shape)
    row, held = np.zeros((count, agents, column.COLUMNS)), np.zeros(count)
    row[:, :, [column.START_X, column.START_Y]] = places
    for k, case in enumerate(cases):
        law: Any = case.system.controller
        first = law.begin_all(errors[k])
        row[k][:, [column.HOLD_X, column.HOLD_Y]] = first.hold
        row[k, :, column.FIRST_AT] = first.next_at
        held[k] = _held(case.system, first.hold, errors[k]).max(initial=0.0)
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
        hold_error=held,
        nearest=np.full(count, np.inf),
        last_large=np.full(count, -1.0),
        empty=np.zeros(count, dtype=np.int64),
        received=np.ascontiguousarray(seen.neighbors.reshape(count, agents)),
        looks=np.zeros((count, agents), dtype=np.int64),
        updates=moving.astype(np.int64),
        distance=np.zeros((count, 2, agents)),
        energy=np.zeros((count, 2, agents)),
    )
    return runs, figures


def _held(system: CoverageSystem, velocities: Points, errors: Points) -> Floats:
    """The hold errors of a timer law; 0 for any other."""
    program = timer_program(system)
    if program is None:
        return np.zeros(errors.shape[:-1])
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
    nu = [getattr(system.controller, "nu", None) for system in systems]
    return Laws(
        k1=numbers("k1"),
        reach=numbers("reach"),
        rule=numbers("rule"),
        loss=numbers("loss"),
        cruise=numbers("cruise"),
        nu=np.array([np.inf if one is None else one for one in nu]),
        t1=numbers("t1"),
        t2=numbers("t2"),
        period=numbers("period"),
        intervals=numbers("intervals"),
    )


def _batch(cases: Sequence[Case], figures: Figures, runs: Runs, threads: int | None) -> Batch:
    """The figures, and what the ends look like."""
    from dwell._kernels import legs as column

    cruise = np.array([case.system.program.cruise for case in cases if case.system.program])
    dt = figures.time[:, None] - runs.row[:, :, column.SINCE]
    used = np.minimum(dt, cruise[:, None])[..., None]
    hold = runs.row[:, :, [column.HOLD_X, column.HOLD_Y]]
    positions = runs.row[:, :, [column.START_X, column.START_Y]] + hold * used
    velocities = np.where((dt <= cruise[:, None])[..., None], hold, 0.0)
    reasons = tuple(_REASONS[int(reason)] for reason in figures.reason)
    errors, costs, held = _ends(cases, reasons, positions, velocities, threads)
    return Batch(
        seeds=np.array([case.system.seed for case in cases]),
        reasons=reasons,
        times=figures.time,
        events=figures.jumps,
        positions=positions,
        errors=errors,
        costs=costs,
        hold_errors=np.maximum(figures.hold_error, held),
        separations=figures.nearest,
        last_large=figures.last_large,
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


def _ends(
    cases: Sequence[Case],
    reasons: Sequence[StopReason],
    positions: Points,
    velocities: Points,
    threads: int | None,
) -> tuple[Floats, Floats, Floats]:
    """Errors, cost and largest hold error of each run at its end."""
    count, agents = positions.shape[:2]
    errors, costs, held = np.full((count, agents), np.nan), np.full(count, np.nan), np.zeros(count)
    good = np.array([reason is not StopReason.COINCIDENT for reason in reasons])
    laws = {case.system.controller: k for k, case in enumerate(cases)}  # equal laws, one of them
    which = np.array([laws[case.system.controller] for case in cases])
    for law in np.unique(which):
        rows, system = np.flatnonzero(good & (which == law)), cases[law].system
        for lo in range(0, len(rows), BLOCK):
            some = rows[lo : lo + BLOCK]
            row, agent = np.divmod(np.arange(len(some) * agents), agents)
            seen = look_many(system.ground, positions[some], row, agent, threads=threads)
            gaps = seen.error.reshape(len(some), agents, -1)
            errors[some] = lengths(gaps)
            shares = (seen.polar * np.exp(seen.log_scale)).reshape(len(some), agents)
            costs[some] = [math.fsum(share) for share in shares]
            held[some] = _held(system, velocities[some], gaps).max(axis=1, initial=0.0)
    return errors, costs, held

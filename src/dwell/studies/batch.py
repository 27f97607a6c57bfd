"""Many independent runs of which only numbers are kept, on all cores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import Points, in_short, is_whole, listed
from dwell.agents import CoverageSystem
from dwell.agents.start import check_start
from dwell.engine.interrupts import StopRequest
from dwell.engine.run_loop import RunLoop
from dwell.errors import InputError
from dwell.progress import Progress, reported
from dwell.results.figures import Kind, batched_figures, column_kinds, nested, values_of
from dwell.results.summary import flat
from dwell.runner import run_built
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, build_start, with_seed
from dwell.scenario.schema import RecordSpec
from dwell.scenario.team import AgentsSpec, ScatterSpec
from dwell.workers.threads import run_jobs

BLOCK = 16  # runs of one job
SEEDS = ("seed", "start_seed")


@final
@dataclass(frozen=True, eq=False)
class Case:
    """One of many runs."""

    scenario: Scenario
    system: CoverageSystem
    positions: Points


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """The figures of many runs, in the order of the arguments.

    ``batch["cost.final"]`` is a figure of all runs, by its name in the flat summary of a run, as in
    the table of a sweep. Every value is the one that ``run_scenario(batch.scenarios[k]).summary()``
    gives, bit for bit. Figures that depend on what is recorded are left out.

    Attributes
    ----------
    scenarios : each as it would be run alone.
    columns : an array for each figure, with an entry or row for each run; nan stands for null, in a
        column of words, truth values or seeds None. Seeds beyond 64 bits are Python numbers.
    """

    scenarios: tuple[Scenario, ...]
    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.scenarios)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} runs, {self['events.total'].sum()} events>"


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

    Parameters
    ----------
    scenarios : Scenario, mapping, path, or iterable of these
        One scenario, or several with workspace, density, number of agents and horizon in common.
    seeds : iterable of int, optional
        Seeds of the timers' draws; by default the scenario's own and those that follow it.
    starts : array_like, optional
        Start positions, (R, N, n).
    start_seeds : iterable of int, optional
        Seeds of the start, for agents that the scenario scatters.
    threads : int, optional
        Threads, all processors by default; they change no bit.
    progress : callable or bool, optional
        A function of what is being done and the share done. By default progress appears on the
        error stream after two seconds; False turns that off.

    Returns
    -------
    Batch
        Columns by the names of the flat summary, equal bit for bit to that of `run_scenario`.

    Examples
    --------
    >>> import dwell
    >>> short = dwell.load_scenario("site.toml", ["run.horizon=2"])
    >>> dwell.simulate_many(short, seeds=[1, 2, 3])["seed"].tolist()
    [1, 2, 3]
    """
    check_whole("threads", threads, 1, optional=True)
    with reported(progress) as report:
        report("preparing", 0.0)
        cases = cases_of(scenarios, seeds, starts, start_seeds)
        refuse_differences(cases)
        jobs = {str(k): partial(_rows, cases[k : k + BLOCK]) for k in range(0, len(cases), BLOCK)}
        blocks = run_jobs(
            jobs, workers=threads, progress=lambda _, share: report("simulating", share)
        )
        report("measuring", 1.0)
        rows = [row for block in blocks.values() for row in block]
        columns = {name: _column(name, [row[name] for row in rows]) for name in rows[0]}
        return Batch(tuple(case.scenario for case in cases), columns)


def _rows(cases: Sequence[Case], report: Progress) -> list[dict[str, Any]]:
    """The flat figures of each case, of which only a summary is recorded."""
    rows = []
    for k, case in enumerate(cases):
        report("simulating", k / len(cases))
        options = case.scenario.run.model_copy(update={"record": RecordSpec(kind="summary")})
        summary = case.scenario.model_copy(update={"run": options})
        loop = RunLoop(lambda what, share: None, StopRequest())
        run = run_built(summary, (case.system, case.positions, ()), loop, threads=1)
        rows.append(flat(nested(values_of(run, batched_figures()))))
    return rows


def _column(name: str, values: list[Any]) -> np.ndarray:
    """The values of all runs as an array; see `Batch.columns` for runs that have none."""
    known = [value for value in values if value is not None]
    exact = name in SEEDS or column_kinds().get(name) in (Kind.WORD, Kind.FLAG)
    if exact and (len(known) < len(values) or not all(map(_is_plain, known))):
        return np.array(values, dtype=object)
    if len(known) == len(values):
        return np.array(values)
    shape = np.shape(known[0]) if known else ()
    return np.array([np.full(shape, np.nan) if value is None else value for value in values])


def _is_plain(value: Any) -> bool:
    """Whether an array holds a value with all its digits: whole numbers are of 64 bits there."""
    return not is_whole(value) or abs(value) <= np.iinfo(np.int64).max


# Scenarios, seeds and starts of a batch.


def cases_of(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    seeds: Iterable[int] | None,
    starts: object,
    start_seeds: Iterable[int] | None,
) -> list[Case]:
    """The runs, in order."""
    given: Any = scenarios
    if isinstance(given, Scenario | Mapping | str | os.PathLike):
        return _repeated(as_scenario(given), seeds, starts, start_seeds)
    several = [as_scenario(one) for one in listed(given)]
    if not several:
        raise InputError("there are no scenarios; at least one is needed", code="batch.empty")
    if not (seeds is None and starts is None and start_seeds is None):
        raise InputError(
            "seeds and starts belong to a single scenario; several scenarios have their own",
            code="batch.seeds",
        )
    return [_case(scenario) for scenario in several]


def _repeated(
    scenario: Scenario,
    seeds: Iterable[int] | None,
    starts: object,
    start_seeds: Iterable[int] | None,
) -> list[Case]:
    """One scenario with other seeds and starts."""
    base = _case(scenario)
    numbers = [] if seeds is None else _seeds("seeds", seeds)
    agents = _agents_of_runs(base, starts, start_seeds)
    agents = agents or [(base.scenario.agents, base.positions)] * max(len(numbers), 1)
    numbers = numbers or [int(base.scenario.run.seed or 0) + k for k in range(len(agents))]
    if len(numbers) != len(agents):
        raise InputError(
            f"there are {len(numbers)} seeds and {len(agents)} starts; as many are needed",
            code="batch.seeds",
        )
    alike = base.system.changes is None and base.system.radius is None
    cases = []
    for seed, (spec, start) in zip(numbers, agents, strict=True):
        own = with_seed(scenario.model_copy(update={"agents": spec}), seed)
        system = replace(base.system, agents=len(start), seed=seed) if alike else None
        cases.append(_case(own) if system is None else Case(own, system, start))
    return cases


def _agents_of_runs(
    base: Case, starts: object, start_seeds: Iterable[int] | None
) -> list[tuple[AgentsSpec, Points]]:
    """The agents of each run and where they start; none if all start as the scenario says."""
    site, spec = base.system.workspace, base.scenario.agents
    if starts is not None and start_seeds is not None:
        raise InputError(
            "starts and start_seeds were given; one of them says where runs start",
            code="batch.starts",
        )
    if starts is not None:
        positions = [check_start(site, start)[0] for start in _start_positions(starts)]
        given = [tuple(map(tuple, start.tolist())) for start in positions]
        specs = [spec.model_copy(update={"start": start}) for start in given]
        return list(zip(specs, positions, strict=True))
    if start_seeds is None:
        return []
    if not isinstance(spec.start, ScatterSpec):
        raise InputError(
            "start_seeds are for agents that the scenario scatters; this one gives their places: "
            "use starts, or start = { count = ... } in the scenario",
            code="batch.starts",
        )
    specs = [
        spec.model_copy(update={"start": spec.start.model_copy(update={"seed": seed})})
        for seed in _seeds("start_seeds", start_seeds)
    ]
    return [(one, build_start(one, site)[0]) for one in specs]


def _case(scenario: Scenario) -> Case:
    scenario = with_seed(scenario)
    system, positions, _ = build(scenario)
    return Case(scenario, system, positions)


def _seeds(name: str, seeds: Iterable[int]) -> list[int]:
    numbers = [] if is_whole(seeds) else list(listed(seeds))
    if not numbers or not all(is_whole(seed) and seed >= 0 for seed in numbers):
        raise InputError(
            f"{name} is {in_short(seeds)}; whole numbers from 0 on, at least one, are needed",
            code="run.seed",
            key="run.seed",
        )
    return [int(seed) for seed in numbers]


def _start_positions(starts: object) -> Points:
    try:
        positions: Points = np.array(starts, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        positions = np.empty(0)
    if positions.ndim != 3 or not len(positions):
        raise InputError(
            f"starts has the shape {positions.shape}; (runs, agents, coordinates) is needed",
            code="batch.starts",
        )
    return positions


def refuse_differences(cases: Sequence[Case]) -> None:
    """Refuse scenarios whose figures would not be comparable within one batch."""
    first, *others = cases
    for k, other in enumerate(others, start=1):
        one, two = first.scenario, other.scenario
        for name, own, its in (
            ("workspace", one.workspace, two.workspace),
            ("density", one.density, two.density),
            ("horizon", one.run.horizon, two.run.horizon),
            ("max_jumps", one.run.max_jumps, two.run.max_jumps),
            ("integration", one.run.integration, two.run.integration),
            ("number of agents", len(first.positions), len(other.positions)),
        ):
            if own is not its and own != its:
                raise InputError(
                    f"scenario {k} has another {name} than scenario 0; scenarios that differ in it "
                    "need batches of their own",
                    code="batch.differs",
                )

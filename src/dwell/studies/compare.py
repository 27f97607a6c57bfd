"""Several laws from one start: the same place, density, agents, seed, horizon and integrals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._tables import html_table, text_table
from dwell._types import Floats, Ints, in_short
from dwell.errors import InputError
from dwell.plotting import COMPARED, write_figures
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free
from dwell.results import Run
from dwell.runner import run_scenario, simulate
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.describe import describe_controller
from dwell.scenario.schema import GridSpec
from dwell.studies.folder import RUN_MARK, make_folder, refuse_foreign
from dwell.studies.laws import with_law
from dwell.studies.outcome import Match, final_cost, final_error, match, settled_at
from dwell.studies.workers import Job, Progress, run_jobs, unless_interrupted

SCHEMA = 1
LEVELS = (0.5, 1e-2, 1e-6, 1e-12)  # of the largest error, for settling times

Spread = dict[str, float]


@final
@dataclass(frozen=True, eq=False)
class LawFigures:
    """One row of the table: what a law achieved, and what that took."""

    law: str  # its kind, or the name of its class
    stop: str
    ok: bool
    final_error: float | None  # largest of all agents
    settled: dict[float, float | None]  # level: time from which all errors stay below it
    initial_cost: float
    final_cost: float | None
    cells: dict[str, Spread]  # voronoi, guaranteed, dual_guaranteed, all: per agent
    looks: Spread
    measurements: Spread  # events, at each of which an agent measures its own position
    updates: Spread  # changes of velocity
    received: Spread  # positions of others
    sent: Spread  # messages
    distance: Spread
    energy: Spread
    wall_seconds: float

    def as_json(self) -> dict[str, Any]:
        """The row for programs; the same words as in `dwell run --json` where it says the same."""
        return {
            "law": self.law,
            "stop": {"reason": self.stop, "ok": self.ok},
            "error": {"final_max": self.final_error},
            "settled_at": {f"{level:g}": at for level, at in self.settled.items()},
            "cost": {"initial": self.initial_cost, "final": self.final_cost},
            "cells": self.cells,
            "looks": self.looks,
            "measurements": self.measurements,
            "updates": self.updates,
            "received": self.received,
            "sent": self.sent,
            "distance": self.distance,
            "energy": self.energy,
            "wall_seconds": self.wall_seconds,
        }


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of several laws from one start, under the names they were given."""

    runs: dict[str, Run]

    @cached_property
    def figures(self) -> dict[str, LawFigures]:
        """The table."""
        return {name: figures_of(run) for name, run in self.runs.items()}

    @property
    def reference(self) -> str:
        """The law that the others are matched with: the first."""
        return next(iter(self.runs))

    @cached_property
    def matches(self) -> dict[str, Match]:
        """How far each final configuration is from that of the first law."""
        first = self.runs[self.reference]
        return {name: match(run, first) for name, run in self.runs.items()}

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.runs)}>"

    def __str__(self) -> str:
        return text_table(self.rows(), ["", *self.runs])

    def _repr_html_(self) -> str:
        return html_table(self.rows(), ["", *self.runs])

    def rows(self) -> Iterator[list[str]]:
        """The table for people: a row for each quantity, a column for each law."""
        laws = self.figures.values()
        yield ["ended", *(f.stop for f in laws)]
        yield ["final error", *(_number(f.final_error) for f in laws)]
        for level in next(iter(laws)).settled:
            yield [f"settled to {level:g}", *(_number(f.settled[level], "never") for f in laws)]
        yield ["final cost", *(_number(f.final_cost) for f in laws)]
        for kind, words in (
            ("voronoi", "Voronoi cells"),
            ("guaranteed", "guaranteed cells"),
            ("dual_guaranteed", "dual guaranteed"),
            ("all", "cells of all kinds"),
        ):
            yield [words, *(_spread(f.cells[kind]) for f in laws)]
        yield ["own position measured", *(_spread(f.measurements) for f in laws)]
        yield ["changes of velocity", *(_spread(f.updates) for f in laws)]
        yield ["positions received", *(_spread(f.received) for f in laws)]
        yield ["messages sent", *(_spread(f.sent) for f in laws)]
        yield ["distance", *(_spread(f.distance) for f in laws)]
        yield ["energy", *(_spread(f.energy) for f in laws)]
        first = self.reference
        yield [f"farthest from {first}", *(_number(m.distance) for m in self.matches.values())]
        yield ["the same, settled", *(_number(m.settled) for m in self.matches.values())]
        yield ["same tessellation", *("yes" if m.same else "no" for m in self.matches.values())]
        yield ["time taken", *(f"{f.wall_seconds:.3g} s" for f in laws)]

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell compare --json` prints."""
        run = self.runs[self.reference]
        tolerance = self.matches[self.reference].tolerance
        return {
            "schema": SCHEMA,
            "scenario": None if run.scenario is None else run.scenario.name,
            "agents": run.agents,
            "horizon": run.scenario.run.horizon if run.scenario else run.horizon,
            "seed": run.system.seed,
            "integration": "exact" if run.system.spacing is None else "grid",
            "laws": {name: row.as_json() for name, row in self.figures.items()},
            "same_tessellation": {
                "reference": self.reference,
                "tolerance": tolerance,
                "laws": {
                    name: {
                        "same": found.same,
                        "distance": found.distance,
                        "settled_distance": found.settled,
                    }
                    for name, found in self.matches.items()
                },
            },
        }


def _number(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{value:.5g}"


def _spread(values: Mapping[str, float]) -> str:
    return f"{values['mean']:.5g} ({values['max']:.5g})"


def compare(
    scenario: ScenarioLike,
    laws: Mapping[str, Any],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    finished: Callable[[str, Run], None] | None = None,
) -> Comparison:
    """Run each of `laws` in the place of the scenario's own.

    A scenario is a Scenario, a mapping of its tables, or the path of its file. A law is a
    controller, such as ``dwell.Timer(...)``, or a `controller` table of a scenario. `finished` is
    told of each run when it is done. Results do not depend on `workers`.
    """
    if not isinstance(laws, Mapping) or not laws:
        need = 'names and laws are needed, at least one, such as {"timer": dwell.Timer(...)}'
        raise InputError(f"the laws are {in_short(laws)}; {need}", code="compare.laws")
    check_whole("workers", workers, 1, "compare", optional=True)
    scenario = with_seed(as_scenario(scenario))
    alone = workers == 1 or len(laws) == 1
    jobs: dict[str, Job[Run]] = {
        name: job_of(scenario, law, threads=None if alone else 1) for name, law in laws.items()
    }
    return Comparison(run_jobs(jobs, workers=workers, progress=progress, finished=finished))


def compare_scenarios(
    scenarios: Mapping[str, Scenario],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    finished: Callable[[str, Run], None] | None = None,
) -> Comparison:
    """The same for scenarios that differ in their law alone; see `scenarios_of_laws`."""
    alone = workers == 1 or len(scenarios) == 1
    jobs: dict[str, Job[Run]] = {
        name: job_of_scenario(scenario, None if alone else 1)
        for name, scenario in scenarios.items()
    }
    return Comparison(run_jobs(jobs, workers=workers, progress=progress, finished=finished))


def keep_comparison(
    scenarios: Mapping[str, Scenario],
    out: Path,
    formats: Sequence[str] = ("png",),
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare, keep every run as LAW.nc in the folder `out` when it is done, and draw figures.

    Files made here before are replaced; any other is refused before anything is run.
    """
    require_matplotlib()
    make_folder(out)
    files = {name: out / f"{file_name(name)}.nc" for name in scenarios}
    for path in files.values():
        refuse_foreign(path, RUN_MARK)
    check_free(out, COMPARED, formats)
    found = compare_scenarios(
        scenarios,
        workers=workers,
        progress=progress,
        finished=lambda name, run: run.save(files[name], force=True),
    )
    for k, (name, draw) in enumerate(COMPARED.items()):
        if progress is not None:
            progress("drawing", k / len(COMPARED))
        write_figures({name: partial(draw, found.runs)}, out, formats)
    return found


def file_name(law: str) -> str:
    """The name of a law as part of a file's name."""
    return law.replace(":", "-")


def job_of(scenario: Scenario, law: Any, *, threads: int | None = 1) -> Job[Run]:
    """A job that runs `scenario` under `law`."""
    table = _table(law)
    if table is not None:
        return job_of_scenario(with_law(scenario, table), threads)
    system, start, _ = build(scenario)
    grid = scenario.run.integration

    def job(progress: Progress) -> Run:
        return unless_interrupted(
            simulate(
                system.workspace,
                system.density,
                start,
                law,
                until=scenario.run.horizon,
                seed=system.seed,
                ids=scenario.agents.ids,
                spacing=grid.spacing if isinstance(grid, GridSpec) else None,
                network=system.network,
                sample_every=scenario.run.record.sample_every,
                max_jumps=scenario.run.max_jumps,
                progress=progress,
                threads=threads,
            )
        )

    return job


def job_of_scenario(scenario: Scenario, threads: int | None = 1) -> Job[Run]:
    """A job that runs `scenario` to its end."""
    return lambda progress: unless_interrupted(
        run_scenario(scenario, progress=progress, threads=threads)
    )


def _table(law: Any) -> dict[str, Any] | None:
    """The `controller` table of a law; None for one that no file can name."""
    if isinstance(law, Mapping):
        return dict(law)
    if hasattr(law, "model_dump"):
        return dict(law.model_dump(exclude_none=True))
    return describe_controller(law)


def figures_of(run: Run) -> LawFigures:
    """The row of one run."""
    counted = run.counters
    return LawFigures(
        law=run.scenario.controller.kind if run.scenario else type(run.system.controller).__name__,
        stop=run.stop.reason.value,
        ok=run.stop.reason.ok,
        final_error=final_error(run),
        settled={level: settled_at(run, level) for level in LEVELS},
        initial_cost=float(run.cost(0.0)),
        final_cost=final_cost(run),
        cells={
            "voronoi": spread(counted.voronoi),
            "guaranteed": spread(counted.guaranteed),
            "dual_guaranteed": spread(counted.dual_guaranteed),
            "all": spread(counted.cells),
        },
        looks=spread(counted.voronoi),
        measurements=spread(counted.measurements),
        updates=spread(counted.updates),
        received=spread(counted.received),
        sent=spread(counted.sent),
        distance=spread(counted.distance),
        energy=spread(counted.energy),
        wall_seconds=run.wall_seconds,
    )


def spread(values: Floats | Ints) -> Spread:
    """Smallest, mean and largest over the agents."""
    whole = np.issubdtype(values.dtype, np.integer)
    number = int if whole else float
    return {
        "min": number(values.min()), "mean": float(values.mean()), "max": number(values.max())
    }  # fmt: skip

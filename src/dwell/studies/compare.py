"""Several laws in one scenario: workspace, density, start, seed and horizon in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, final

from dwell._checks import check_callable, check_flag, check_whole
from dwell._tables import html_table, text_table
from dwell._types import Floats, Ints, in_short, is_positive, listed
from dwell._units import OPEN, Units
from dwell.errors import InputError, UnsavedError
from dwell.plotting import COMPARED, write_figures
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free
from dwell.progress import Progress, reported
from dwell.results import Run
from dwell.results.files import check_target
from dwell.results.summary import law_of
from dwell.runner import run_scenario, simulate
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import (
    build,
    build_density,
    build_sensors,
    build_switches,
    build_workspace,
    refuse_unfit,
    with_seed,
)
from dwell.scenario.describe import describe_controller
from dwell.scenario.schema import GridSpec
from dwell.studies.folder import make_folder
from dwell.studies.laws import matched, mismatches, scenarios_of_laws, with_law
from dwell.studies.outcome import Match, final_cost, final_error, levels_of, settled_at
from dwell.studies.outcome import match as matched_ends
from dwell.workers.threads import run_jobs

SCHEMA = 1
LEVELS = (0.5, 1e-2, 1e-6, 1e-12)  # of errors, for settling times in the paper's workspace
UNLIKE = 1.1  # ratio of top speeds from which the comparison has a note
CELLS = {
    "voronoi": "Voronoi cells",
    "guaranteed": "guaranteed cells",
    "dual_guaranteed": "dual guaranteed",
    "all": "cells of all kinds",
}  # by kind, with their labels
Spread = dict[str, float]


@final
@dataclass(frozen=True, eq=False)
class LawFigures:
    """One column of the table: what a law achieved, and what that took."""

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
    top_speed: float | None  # the largest of all agents at any time
    distance: Spread
    energy: Spread
    wall_seconds: float

    def as_json(self) -> dict[str, Any]:
        """The figures for programs, with the keys of `dwell run --json` where they are the same."""
        nested = {
            "law": self.law,
            "stop": {"reason": self.stop, "ok": self.ok},
            "error": {"final_max": self.final_error},
            "settled_at": {f"{level:g}": at for level, at in self.settled.items()},
            "cost": {"initial": self.initial_cost, "final": self.final_cost},
        }
        return nested | {field.name: getattr(self, field.name) for field in fields(self)[7:]}

    def column(self, units: Units = OPEN) -> dict[str, str]:
        """The figures for people, by their labels."""
        label, times = units.beside, {}
        for level, at in self.settled.items():
            to = units.after(f"settled to {level:g}", "length")
            times[label(to, "time")] = _number(at, "never")
        return {
            "ended": self.stop,
            label("final error", "length"): _number(self.final_error),
            **times,
            "final cost": _number(self.final_cost),
            **{label: _spread(self.cells[kind]) for kind, label in CELLS.items()},
            "own position measured": _spread(self.measurements),
            "changes of velocity": _spread(self.updates),
            "positions received": _spread(self.received),
            "messages sent": _spread(self.sent),
            label("top speed", "length / time"): _number(self.top_speed),
            label("distance", "length"): _spread(self.distance),
            "energy": _spread(self.energy),
        }


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of several laws from one start, under the names they were given."""

    runs: dict[str, Run]
    levels: Sequence[float] | None = None  # of settling; None: nu and parts of it
    unmatched: Sequence[str] = ()  # which speeds and gains are not alike, in sentences
    unsaved: UnsavedError | None = None  # why a run is in no file

    @cached_property
    def figures(self) -> dict[str, LawFigures]:
        """The numbers of each law, by its name: the columns of the table."""
        levels = self.levels or levels_of(list(self.runs.values()))
        return {name: figures_of(run, levels) for name, run in self.runs.items()}

    @cached_property
    def notes(self) -> list[str]:
        """What limits the comparison, in sentences."""
        speeds = {name: row.top_speed for name, row in self.figures.items() if row.top_speed}
        low, high = min(speeds.values(), default=0.0), max(speeds.values(), default=0.0)
        if high <= UNLIKE * low:
            return list(self.unmatched)
        rows = ", ".join(f"{name} {speed:.4g}" for name, speed in speeds.items())
        return [*self.unmatched, f"the largest speeds that occurred differ: {rows}."]

    @property
    def reference(self) -> str:
        """The law that the others are matched with: the first."""
        return next(iter(self.runs))

    @cached_property
    def matches(self) -> dict[str, Match]:
        """How far each final configuration is from that of the first law."""
        first = self.runs[self.reference]
        return {name: matched_ends(run, first) for name, run in self.runs.items()}

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.runs)}>"

    def __str__(self) -> str:
        notes = (f"note  {note}" for note in self.notes)
        return "\n".join([text_table(self.rows(), ["", *self.runs]), *notes])

    def _repr_html_(self) -> str:
        notes = (f"<p>{escape(note)}</p>" for note in self.notes)
        return "".join([html_table(self.rows(), ["", *self.runs]), *notes])

    def rows(self) -> Iterator[list[str]]:
        """The table for people: a row for each quantity, a column for each law."""
        units = self.runs[self.reference].details.units
        columns = [figures.column(units) for figures in self.figures.values()]
        yield from ([label, *(column[label] for column in columns)] for label in columns[0])
        matches = self.matches.values()
        far, settled = f"distance to {self.reference}", "distance, settled"
        yield [units.beside(far, "length"), *(_number(m.distance) for m in matches)]
        yield [units.beside(settled, "length"), *(_number(m.settled) for m in matches)]
        yield ["same tessellation", *("yes" if m.same else "no" for m in matches)]
        yield ["time taken", *(f"{f.wall_seconds:.3g} s" for f in self.figures.values())]

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell compare --json` prints."""
        run = self.runs[self.reference]
        return {
            "schema": SCHEMA,
            "scenario": None if run.scenario is None else run.scenario.name,
            "agents": run.agents,
            **run.details.units.as_json(),
            "horizon": run.scenario.run.horizon if run.scenario else run.horizon,
            "seed": run.system.seed,
            "integration": "exact" if run.system.spacing is None else "grid",
            "laws": {name: row.as_json() for name, row in self.figures.items()},
            "notes": self.notes,
            "same_tessellation": {
                "reference": self.reference,
                "tolerance": self.matches[self.reference].tolerance,
                "laws": {
                    name: {"same": m.same, "distance": m.distance, "settled_distance": m.settled}
                    for name, m in self.matches.items()
                },
            },
        }


def _number(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{value:.5g}"


def _spread(values: Mapping[str, float]) -> str:
    return f"{values['mean']:.5g} ({values['max']:.5g})"


def figures_of(run: Run, levels: Sequence[float] = LEVELS) -> LawFigures:
    """The figures of one run."""
    counted = run.counters
    kinds = {"all": "cells"}
    cells = {kind: spread(getattr(counted, kinds.get(kind, kind))) for kind in CELLS}
    counts = ("measurements", "updates", "received", "sent", "distance", "energy")
    return LawFigures(
        law=law_of(run),
        stop=run.stop.reason.value,
        ok=run.stop.reason.ok,
        final_error=final_error(run),
        settled={level: settled_at(run, level) for level in levels},
        initial_cost=float(run.cost(0.0)),
        final_cost=final_cost(run),
        cells=cells,
        looks=spread(counted.samples),
        top_speed=run.details.tally.top_speed_until(run.horizon),
        wall_seconds=run.details.wall_seconds,
        **{name: spread(getattr(counted, name)) for name in counts},
    )


def spread(values: Floats | Ints) -> Spread:
    """Smallest, mean and largest over the agents."""
    return {"min": values.min().item(), "mean": float(values.mean()), "max": values.max().item()}


def compare(
    scenario: ScenarioLike,
    laws: Mapping[str, Any] | Sequence[str],
    *,
    match: bool = True,
    levels: Sequence[float] | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    finished: Callable[[str, Run], None] | None = None,
) -> Comparison:
    """Run each of `laws` in the place of the scenario's own.

    A law is a controller, such as ``dwell.Timer(...)``, or a `controller` table of a scenario, or
    its name in a list, such as ``["timer", "lloyd"]``. With `match`, tables and names get the
    largest speed and the gain of the scenario's law where they do not give their own; controllers
    are run as they are. `levels` are the errors for settling times, by default nu and parts of it.
    `finished` is called with each run when it is done. Results do not depend on `workers`.

    Parameters
    ----------
    scenario : a Scenario, a mapping of its tables, or the path of its file.
    laws : names and laws.

    Returns
    -------
    Comparison
        ``print(comparison)`` shows it as a table, one column for each law.

    Examples
    --------
    >>> import dwell
    >>> short = dwell.load_scenario("site.toml", ["run.horizon=2"])
    >>> sorted(dwell.compare(short, ["timer", "lloyd"], workers=1).figures)
    ['lloyd', 'timer']
    """
    names: Any = laws.split(",") if isinstance(laws, str) else laws
    by_name = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not (by_name or isinstance(laws, Mapping)) or not laws:
        need = 'names and laws are needed, at least one, such as {"timer": dwell.Timer(...)}'
        raise InputError(f"the laws are {in_short(laws)}; {need}", code="compare.laws")
    check_whole("workers", workers, 1, "compare", optional=True)
    check_flag("match", match)
    check_callable("finished", finished)
    scenario, checked = with_seed(as_scenario(scenario)), check_levels(levels)
    if isinstance(laws, Mapping):
        found = {name: _in_place(scenario, law, match) for name, law in laws.items()}
    else:
        found = dict(scenarios_of_laws(scenario, names, match=match))
    options: Any = {"workers": workers, "progress": progress, "finished": finished}
    done = compare_scenarios(found, place=scenario, levels=checked, **options)
    return replace(done, unmatched=tuple(mismatches(scenario, found)))


def check_levels(levels: Sequence[float] | None) -> Sequence[float] | None:
    """`levels` if they are positive numbers, or None."""
    found = () if levels is None else listed(levels)
    for level in found:
        if not is_positive(level):
            raise InputError(
                f"a level of settling is {in_short(level)}; a length above 0 is needed",
                code="compare.level",
            )
    return found or None


def compare_scenarios(
    laws: Mapping[str, Any],
    *,
    place: Scenario | None = None,
    levels: Sequence[float] | None = None,
    unmatched: Sequence[str] = (),
    workers: int | None = None,
    **options: Any,
) -> Comparison:
    """Run scenarios that differ in their law alone, see `scenarios_of_laws`, side by side.

    Those of `laws` that are controllers are run in the `place` of a scenario. The other options,
    progress and finished, are those of `compare`.
    """
    for law in laws.values():  # refused before any run begins
        if isinstance(law, Scenario):
            build(law)
        elif place is not None:
            refuse_unfit(replace(build(place)[0], controller=law))
    threads = None if workers == 1 or len(laws) == 1 else 1
    jobs = {name: partial(_run, place, law, threads) for name, law in laws.items()}
    return Comparison(run_jobs(jobs, workers=workers, **options), levels, unmatched)


def keep_comparison(
    scenarios: Mapping[str, Scenario],
    out: Path,
    formats: Sequence[str] = ("png",),
    *,
    progress: Progress | bool | None = None,
    force: bool = False,
    **options: Any,
) -> Comparison:
    """Compare, keep every run as LAW.nc in the folder `out` when it is done, and draw plots.

    Runs that exist are replaced with `force` only, plots if they were made here; otherwise they are
    refused before anything is run. If a run cannot be written, `unsaved` of the comparison is the
    reason, and there are no plots. The other options are those of `compare_scenarios`.
    """
    require_matplotlib()
    make_folder(out)
    files = {name: out / f"{name.replace(':', '-')}.nc" for name in scenarios}
    for path in files.values():
        check_target(path, force=force)
    if not force:
        check_free(out, COMPARED, formats)
    unsaved: list[UnsavedError] = []

    def keep(name: str, run: Run) -> None:
        try:
            run.save(files[name], force=True)
        except UnsavedError as fault:  # the numbers of all laws come first
            unsaved.append(fault)

    with reported(progress) as tell:
        found = compare_scenarios(scenarios, progress=tell, finished=keep, **options)
        if unsaved:
            return replace(found, unsaved=unsaved[0])
        for k, (name, draw) in enumerate(COMPARED.items()):
            tell("drawing", k / len(COMPARED))
            write_figures({name: partial(draw, found.runs)}, out, formats, force)
    return found


def _run(scenario: Scenario | None, law: Any, threads: int | None, progress: Progress) -> Run:
    """A run of `scenario` under `law`: a scenario of its own, or a controller."""
    if isinstance(law, Scenario):
        return run_scenario(law, progress=progress, threads=threads)
    assert scenario is not None
    system, start, _ = build(scenario)
    options, grid, sensors = scenario.run, scenario.run.integration, build_sensors(scenario)
    density = None if sensors else build_density(scenario.density, scenario)
    return simulate(
        build_workspace(scenario.workspace),
        density,
        start[: scenario.agents.count],
        law,
        switches=build_switches(scenario),
        sensors=sensors,
        radius=system.radius,
        until=options.horizon,
        seed=system.seed,
        ids=scenario.agents.ids,
        spacing=grid.spacing if isinstance(grid, GridSpec) else None,
        network=system.network,
        sample_every=options.record.sample_every,
        max_jumps=options.max_jumps,
        nu=system.nu,
        progress=progress,
        threads=threads,
    )


def _in_place(scenario: Scenario, law: Any, match: bool) -> Any:
    """`scenario` under a law; the law itself where no file can name it."""
    if isinstance(law, Mapping):
        return with_law(scenario, matched(scenario, law) if match else law)
    given = hasattr(law, "model_dump")
    table = law.model_dump(exclude_none=True) if given else describe_controller(law)
    return law if table is None else with_law(scenario, table)

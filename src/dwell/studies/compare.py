"""Several laws in one scenario: workspace, density, start, seed and horizon in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, final

from dwell._checks import check_callable, check_flag, check_whole
from dwell._tables import html_table, text_table
from dwell._types import in_short, is_positive, listed
from dwell.errors import InputError, UnsavedError
from dwell.plotting import COMPARED, write_figures
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free
from dwell.progress import Progress, reported
from dwell.results import Run
from dwell.results.figures import compared_figures, nested
from dwell.results.files import check_target, make_folder
from dwell.runner import run_scenario, run_under
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, refuse_unfit, with_seed
from dwell.scenario.describe import check_controller, describe_controller
from dwell.scenario.values import Table
from dwell.studies.laws import matched, mismatches, scenarios_of_laws, with_law
from dwell.studies.outcome import Match, levels_of, settled_at
from dwell.studies.outcome import match as matched_ends
from dwell.workers.threads import run_jobs

SCHEMA = 1
LEVELS = (0.5, 1e-2, 1e-6, 1e-12)  # of errors, for settling times in the paper's workspace
UNLIKE = 1.1  # ratio of top speeds from which the comparison has a note
# Figures that are alike for all laws, or that the last row has.
UNSHOWN = ("law", "stop.ok", "cost.initial", "wall_seconds")


class Row(NamedTuple):
    """One quantity: what people call it, its value for each law, and what stands for None."""

    label: str
    values: list[Any]
    missing: str = "-"


@final
@dataclass(frozen=True, eq=False)
class LawFigures:
    """What a law achieved, and what that took: one column of the table.

    ``row["cost.final"]`` is a figure by its name in the summary of a run. Of what agents have each,
    such as ``row["distance"]`` or ``row["messages"]``, it is `min`, `mean` and `max` over the
    agents.

    Attributes
    ----------
    values : the figures by name.
    settled : the time from which all errors stay below a level, by level; None if never.
    """

    values: Mapping[str, Any]
    settled: Mapping[float, float | None]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def as_json(self) -> dict[str, Any]:
        """The figures for programs, with the keys of `dwell run --json` where they are the same."""
        found = nested({one.compared: self[one.key] for one in compared_figures()})
        return found | {"settled_at": {f"{level:g}": at for level, at in self.settled.items()}}


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
        known = {name: row["top_speed"] for name, row in self.figures.items()}
        speeds = {name: speed for name, speed in known.items() if speed}
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
        for row in self.table():
            yield [row.label, *(_shown(value, row.missing) for value in row.values)]
        yield ["time taken", *(f"{law['wall_seconds']:.3g} s" for law in self.figures.values())]

    def table(self) -> Iterator[Row]:
        """Numbers, words and spreads of all rows but the time taken."""
        units, laws = self.runs[self.reference].details.units, self.figures.values()
        for one in compared_figures():
            if one.key not in UNSHOWN:
                yield Row(one.named(units), [law[one.key] for law in laws])
        for level in next(iter(laws)).settled:
            label = f"settled to {units.after(f'{level:g}', 'length')}"
            times = [law.settled[level] for law in laws]
            yield Row(units.beside(label, "time"), times, "never")
        matches = self.matches.values()
        far, settled = f"distance to {self.reference}", "distance, settled"
        yield Row(units.beside(far, "length"), [m.distance for m in matches])
        yield Row(units.beside(settled, "length"), [m.settled for m in matches])
        yield Row("same tessellation", [m.same for m in matches])

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


def _shown(value: Any, missing: str) -> str:
    """A value of the table for people: of a spread the mean, with the largest in brackets."""
    if value is None or isinstance(value, str):
        return value or missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return f"{value['mean']:.5g} ({value['max']:.5g})"
    return f"{value:.5g}"


def figures_of(run: Run, levels: Sequence[float] = LEVELS) -> LawFigures:
    """The figures of one run."""
    values = {one.key: one.compared_value(run) for one in compared_figures()}
    return LawFigures(values, {level: settled_at(run, level) for level in levels})


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
    for case in laws.values():  # refused before any run begins
        if isinstance(case, Scenario):
            build(case)
        elif place is not None:
            refuse_unfit(replace(build(place)[0], controller=case))
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
    make_folder(out, "studies.folder")
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


def _run(scenario: Scenario | None, case: Any, threads: int | None, progress: Progress) -> Run:
    """A run of `case`: a scenario, or a controller in the place of the one of `scenario`."""
    if isinstance(case, Scenario):
        return run_scenario(case, progress=progress, threads=threads)
    assert scenario is not None
    return run_under(scenario, case, progress=progress, threads=threads)


def _in_place(scenario: Scenario, given: Any, match: bool) -> Any:
    """`scenario` under a law, a table or a controller; the law where no file can name it."""
    if isinstance(given, Mapping):
        return with_law(scenario, matched(scenario, given) if match else given)
    if isinstance(given, Table):
        return with_law(scenario, given.model_dump(exclude_none=True))
    check_controller(given)
    table = describe_controller(given)
    return given if table is None else with_law(scenario, table)

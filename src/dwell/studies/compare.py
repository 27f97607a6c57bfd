"""Several laws in one scenario: workspace, density, start, seed and horizon in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dwell._checks import check_whole
from dwell._types import in_short, is_positive, listed
from dwell.errors import InputError, UnsavedError
from dwell.plotting import COMPARED, write_figures
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free
from dwell.progress import Progress, reported
from dwell.results import Run
from dwell.results.files import check_target
from dwell.runner import run_scenario, simulate
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.describe import describe_controller
from dwell.scenario.schema import GridSpec
from dwell.studies.comparison import Comparison
from dwell.studies.folder import make_folder
from dwell.studies.laws import matched, scenarios_of_laws, with_law
from dwell.studies.matching import mismatches
from dwell.workers.threads import Job, run_jobs


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
    scenario, checked = with_seed(as_scenario(scenario)), check_levels(levels)
    if not isinstance(laws, Mapping):
        tables: Mapping[str, Any] = scenarios_of_laws(scenario, names, match=match)
    else:
        tables = {name: _in_place(scenario, law, match) for name, law in laws.items()}
    threads = None if workers == 1 or len(tables) == 1 else 1
    jobs = {name: job_of(scenario, law, threads) for name, law in tables.items()}
    runs = run_jobs(jobs, workers=workers, progress=progress, finished=finished)
    return Comparison(runs, checked, tuple(mismatches(scenario, tables)))


def check_levels(levels: Sequence[float] | None) -> Sequence[float] | None:
    """`levels` if they are positive numbers, or None."""
    found = () if levels is None else listed(levels)
    for level in found:
        if not is_positive(level):
            raise InputError(
                f"a level of settling is {level!r}; a length above 0 is needed",
                code="compare.level",
            )
    return found or None


def compare_scenarios(
    scenarios: Mapping[str, Scenario],
    *,
    levels: Sequence[float] | None = None,
    unmatched: Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | bool | None = None,
    finished: Callable[[str, Run], None] | None = None,
) -> Comparison:
    """Run scenarios that differ in their law alone, see `scenarios_of_laws`, side by side."""
    threads = None if workers == 1 or len(scenarios) == 1 else 1
    jobs = {name: job_of(scenario, scenario, threads) for name, scenario in scenarios.items()}
    runs = run_jobs(jobs, workers=workers, progress=progress, finished=finished)
    return Comparison(runs, levels, unmatched)


def keep_comparison(
    scenarios: Mapping[str, Scenario],
    out: Path,
    formats: Sequence[str] = ("png",),
    *,
    levels: Sequence[float] | None = None,
    unmatched: Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | bool | None = None,
    force: bool = False,
) -> Comparison:
    """Compare, keep every run as LAW.nc in the folder `out` when it is done, and draw plots.

    Runs that exist are replaced with `force` only, plots if they were made here; otherwise they are
    refused before anything is run. If a run cannot be written, `unsaved` of the comparison is the
    reason, and there are no plots.
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
        found = compare_scenarios(
            scenarios, levels=levels, unmatched=unmatched, workers=workers, progress=tell,
            finished=keep,
        )  # fmt: skip
        if unsaved:
            return replace(found, unsaved=unsaved[0])
        for k, (name, draw) in enumerate(COMPARED.items()):
            tell("drawing", k / len(COMPARED))
            write_figures({name: partial(draw, found.runs)}, out, formats, force)
    return found


def job_of(scenario: Scenario, law: Any, threads: int | None) -> Job[Run]:
    """A job that runs `scenario` under `law`: a scenario of its own, or a controller."""
    if isinstance(law, Scenario):
        return lambda progress: run_scenario(law, progress=progress, threads=threads)
    system, start, _ = build(scenario)
    options, grid = scenario.run, scenario.run.integration
    return lambda progress: simulate(
        system.workspace,
        system.density,
        start,
        law,
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

"""Every simulation, figure and number of the paper, and a report, written to a folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dwell.errors import InputError
from dwell.plotting import (
    COMPARED,
    FIGURES,
    errors_side_by_side,
    quartiles,
    time_since_events,
    write_figures,
)
from dwell.plotting.figures import require_matplotlib, timer_teeth
from dwell.plotting.save import check_free
from dwell.plotting.style import Figure
from dwell.progress import Progress
from dwell.results import Run
from dwell.results.files import make_folder
from dwell.runner import provenance
from dwell.studies.compare import LEVELS, Comparison, figures_of
from dwell.studies.folder import RUN_MARK, refuse_other, write_text
from dwell.studies.paper.claims import judge
from dwell.studies.paper.report import MARK, Reproduction, report_page, require_jinja
from dwell.studies.paper.simulations import (
    OTHER_PRESET,
    PRESET,
    SPACING,
    TEMPLATES,
    TITLES,
    Simulations,
    job_of,
    paper_scenario,
    scenarios,
)
from dwell.studies.paper.variations import (
    LABELS,
    WIDE_RANGE,
    GridRow,
    Row,
    grid_jobs,
    grid_row,
    start_jobs,
    values_of,
)
from dwell.workers.threads import Job, run_jobs

EXACT, GRID = "exact integrals", f"grid of points, {SPACING:g} apart"
STARTS = 20
QUICK: dict[str, Any] = {"starts": 1, "horizon": 4.0, "other_grids": False}  # a rehearsal


def reproduce(
    out: str | os.PathLike[str],
    *,
    starts: int = STARTS,
    horizon: float | None = None,
    other_grids: bool = True,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Repeat the paper's simulations and write a report into the folder `out`.

    `starts` is the number of random starts (0 for none). `horizon` shortens every simulation, for a
    rehearsal. Files made here before are replaced, others are refused before anything is run. Each
    run is kept as soon as it is done, so an interrupt loses only what was under way.
    """
    began = time.perf_counter()
    if starts < 0:
        raise InputError(f"starts is {starts!r}; 0 or more are needed", code="reproduce.starts")
    require_matplotlib()
    require_jinja()
    folder, drawn = Path(out), [name for name in DRAWINGS if starts or name != "starts"]
    wanted = scenarios(horizon)
    _prepare(folder, list(wanted), drawn)
    jobs: dict[str, Job[Any]] = {f"runs/{k}": job_of(s, lambda run: run) for k, s in wanted.items()}
    if other_grids:
        jobs |= {f"grids/{name}": job for name, job in grid_jobs(horizon).items()}
    if starts:
        jobs |= {f"starts/{name}": job for name, job in start_jobs(starts, horizon).items()}

    def keep(name: str, result: object) -> None:
        if isinstance(result, Run):
            result.save(folder / f"{name}.nc", force=True)

    done = run_jobs(jobs, workers=workers, progress=progress, finished=keep)
    runs = {name: done[f"runs/{name}"] for name in wanted}
    simulations = Simulations.of(runs)
    rows = [row for row in done.values() if isinstance(row, Row)]
    grids = [row for row in done.values() if isinstance(row, GridRow)]
    if other_grids:
        grids += [grid_row(name, SPACING, runs[f"{name}-grid"]) for name in TEMPLATES]
    for k, name in enumerate(drawn):
        if progress is not None:
            progress("drawing", k / len(drawn))
        write_figures({name: partial(DRAWINGS[name], simulations, rows)}, folder / "figures")
    found = _reproduction(folder, simulations, rows, grids, horizon, began)
    text = json.dumps(found.as_json(), indent=1, allow_nan=False)
    write_text(folder / "claims.json", f"{text}\n")
    write_text(found.report, report_page(found, drawn))
    return found


def _reproduction(
    folder: Path,
    simulations: Simulations,
    rows: list[Row],
    grids: list[GridRow],
    horizon: float | None,
    began: float,
) -> Reproduction:
    pairs = simulations.compared
    whole = paper_scenario("n30").run
    return Reproduction(
        folder=folder,
        claims=judge(simulations),
        exact=Comparison({name: pair.exact for name, pair in pairs.items()}, LEVELS),
        grid=Comparison({name: pair.grid for name, pair in pairs.items()}, LEVELS),
        presets={
            PRESET: figures_of(simulations.self_triggered.exact),
            OTHER_PRESET: figures_of(simulations.other_preset.exact),
        },
        guarantees=simulations.guarantees,
        grids=grids,
        rows=rows,
        versions=provenance(),
        horizon=whole.horizon if horizon is None else horizon,
        full_horizon=whole.horizon,
        seed=int(whole.seed or 0),
        wall_seconds=time.perf_counter() - began,
    )


def _prepare(folder: Path, runs: list[str], figures: list[str]) -> None:
    """Make the folder, and refuse to replace what was not made here."""
    for part in (folder, folder / "runs", folder / "figures"):
        make_folder(part, "studies.folder")
    for name in ("report.html", "claims.json"):
        refuse_other(folder / name, MARK)
    for name in runs:
        refuse_other(folder / "runs" / f"{name}.nc", RUN_MARK)
    check_free(folder / "figures", figures, ("png",))


# The figures of the report; templates/report.html.j2 has their captions.

Drawing = Callable[[Simulations, Sequence[Row]], Figure]


def _thirty(name: str) -> Drawing:
    return lambda s, rows: FIGURES[name](s.n30.exact)


def _timers(s: Simulations, rows: Sequence[Row]) -> Figure:
    """The paper's window of the timers, or the whole of a run that is too short for it."""
    run = s.n30.exact
    return timer_teeth(run, window=(0.1, 0.15) if run.horizon >= 0.15 else (0.0, run.horizon))


def _laws(name: str) -> Drawing:
    return lambda s, rows: COMPARED[name]({TITLES[n]: p.exact for n, p in s.compared.items()})


def _side_by_side(s: Simulations, rows: Sequence[Row]) -> Figure:
    pairs = {TITLES[name]: pair for name, pair in {"n30": s.n30, **s.compared}.items()}
    return errors_side_by_side(pairs, (EXACT, GRID))


def _starts(s: Simulations, rows: Sequence[Row]) -> Figure:
    laws = list(dict.fromkeys(row.law for row in rows))
    samples = {
        title: {law: values_of(rows, law, quantity) for law in laws}
        for quantity, title in LABELS.items()
    }
    return quartiles(samples, log=[LABELS[quantity] for quantity in WIDE_RANGE])


DRAWINGS: dict[str, Drawing] = {
    **{f"n30-{name.replace('_', '-')}": _thirty(name) for name in FIGURES},
    "n30-timers": _timers,
    **{f"comparison-{name}": _laws(name) for name in COMPARED},
    "self-triggered-intervals": lambda s, rows: time_since_events(s.self_triggered.exact),
    "exact-and-grid": _side_by_side,
    "starts": _starts,
}  # by name of their files

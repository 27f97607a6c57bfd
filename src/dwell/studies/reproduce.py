"""The paper again: every simulation, figure and number, and a report. Writes a folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from dwell.errors import InputError
from dwell.plotting import write_figures
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free
from dwell.progress import Progress
from dwell.results import Run
from dwell.runner import provenance
from dwell.scenario import Scenario
from dwell.studies import starts as many
from dwell.studies.claims import Claim, borne_out, judge
from dwell.studies.compare import job_of_scenario
from dwell.studies.comparison import LEVELS, Comparison, figures_of
from dwell.studies.figures import Illustration, illustrations
from dwell.studies.folder import RUN_MARK, make_folder, refuse_foreign, write_text
from dwell.studies.paper import (
    OTHER_PRESET,
    PRESET,
    SPACING,
    TEMPLATES,
    Simulations,
    paper_scenario,
    scenarios,
)
from dwell.studies.report import MARK, Contents, require_jinja, write_report
from dwell.studies.spacings import GridRow, grid_jobs, grid_row
from dwell.studies.starts import Row, start_jobs
from dwell.workers.threads import Job, run_jobs

SCHEMA = 1
STARTS = 20
QUICK: dict[str, Any] = {"starts": 1, "horizon": 4.0, "other_grids": False}  # a rehearsal

FIGURE_NAMES = (
    "n30-configurations",
    "n30-trajectories",
    "n30-errors",
    "n30-hold-errors",
    "n30-cost",
    "n30-timers",
    "comparison-trajectories",
    "comparison-errors",
    "comparison-cells",
    "comparison-costs",
    "self-triggered-intervals",
    "exact-and-grid",
)


@final
@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came out, and where it was written."""

    folder: Path
    contents: Contents

    @property
    def claims(self) -> Sequence[Claim]:
        """Every statement of the paper beside our numbers."""
        return self.contents.claims

    @property
    def report(self) -> Path:
        """The page to read."""
        return self.folder / "report.html"

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell reproduce --json` prints, and claims.json keeps."""
        c = self.contents
        return {
            "schema": SCHEMA,
            "made_by": MARK,
            "claims": [claim.as_json() for claim in c.claims],
            "says": borne_out(c.claims),
            "horizon": c.horizon,
            "seed": c.seed,
            "spacing": SPACING,
            "comparison": {"exact": c.exact.as_json(), "grid": c.grid.as_json()},
            "presets": {name: figures.as_json() for name, figures in c.presets.items()},
            "guarantees": {name: watched.as_json() for name, watched in c.guarantees.items()},
            "grids": [row.as_json() for row in c.grids],
            "starts": many.as_json(c.rows) if c.rows else None,
            "report": str(self.report),
            "wall_seconds": c.wall_seconds,
        }


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
    folder = Path(out)
    wanted = scenarios(horizon)
    _prepare(folder, list(wanted), bool(starts))
    runs, rows, grids = _run_all(folder, wanted, starts, horizon, other_grids, workers, progress)
    simulations = Simulations.of(runs)
    drawn = illustrations(simulations, rows)
    _draw(drawn, folder / "figures", progress)
    made = _contents(simulations, rows, grids, horizon, began)
    done = Reproduction(folder, made)
    write_text(folder / "claims.json", json.dumps(done.as_json(), indent=1, allow_nan=False) + "\n")
    write_text(done.report, write_report(made, drawn, folder / "figures"))
    return done


def _run_all(
    folder: Path,
    wanted: dict[str, Scenario],
    starts: int,
    horizon: float | None,
    other_grids: bool,
    workers: int | None,
    progress: Progress | None,
) -> tuple[dict[str, Run], list[Row], list[GridRow]]:
    """Everything that takes time, at once: the simulations, the other grids, the starts."""
    jobs: dict[str, Job[Any]] = {}
    jobs.update({f"runs/{name}": job_of_scenario(s) for name, s in wanted.items()})
    if other_grids:
        jobs.update({f"grids/{name}": job for name, job in grid_jobs(horizon).items()})
    if starts:
        jobs.update({f"starts/{name}": job for name, job in start_jobs(starts, horizon).items()})

    def keep(name: str, result: object) -> None:
        if isinstance(result, Run):
            result.save(folder / f"{name}.nc", force=True)

    done = run_jobs(jobs, workers=workers, progress=progress, finished=keep)
    runs = {name: done[f"runs/{name}"] for name in wanted}
    rows = [row for row in done.values() if isinstance(row, Row)]
    grids = [row for row in done.values() if isinstance(row, GridRow)]
    if other_grids:
        grids += [grid_row(runs[f"{name}-grid"], name, SPACING) for name in TEMPLATES]
    return runs, rows, grids


def _contents(
    simulations: Simulations,
    rows: list[Row],
    grids: list[GridRow],
    horizon: float | None,
    began: float,
) -> Contents:
    pairs = simulations.compared
    whole = paper_scenario("n30").run
    return Contents(
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


def _draw(drawn: Sequence[Illustration], folder: Path, progress: Progress | None) -> None:
    for k, one in enumerate(drawn):
        if progress is not None:
            progress("drawing", k / len(drawn))
        write_figures({one.name: one.draw}, folder)


def _prepare(folder: Path, runs: list[str], with_starts: bool) -> None:
    """Make the folder, and refuse to replace what was not made here."""
    for part in (folder, folder / "runs", folder / "figures"):
        make_folder(part)
    for name in ("report.html", "claims.json"):
        refuse_foreign(folder / name, MARK)
    for name in runs:
        refuse_foreign(folder / "runs" / f"{name}.nc", RUN_MARK)
    names = (*FIGURE_NAMES, "starts") if with_starts else FIGURE_NAMES
    check_free(folder / "figures", names, ("png",))

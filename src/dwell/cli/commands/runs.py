"""Commands for one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dwell.cli.options import (
    AsJson,
    Force,
    Format,
    Formats,
    Overrides,
    RunFile,
    Strict,
    load,
    print_json,
    refuse_repairs,
    stored_run,
)
from dwell.cli.root import app
from dwell.errors import InputError, StoreError


@app.command(
    epilog="Example: dwell run paper-12.toml --set controller.t2=0.4 --out run.nc; "
    "then dwell run --resume run.nc --horizon 300"
)
def run(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO", help="Scenario file (.toml or .json); not with --resume."
        ),
    ] = None,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(metavar="RUN.nc", help="Store the run here.")] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN.nc", help="Continue the run that is stored there.")
    ] = None,
    horizon: Annotated[
        float | None, typer.Option(help="The time at which the run ends, if not the scenario's.")
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    strict: Strict = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads for the metrics.")] = None,
) -> None:
    """Simulate a scenario, or resume a stored run."""
    from dwell.cli.running import resumed, simulated
    from dwell.cli.show import show_summary

    changes = list(overrides or ())
    if horizon is not None:
        changes.append(f"run.horizon={horizon!r}")
    if resume is not None:
        result, summary, unsaved = resumed(resume, scenario, changes, out, threads)
        out = resume
    else:
        if scenario is None:
            says = "a scenario file is needed, or --resume RUN.nc; see dwell run --help"
            raise InputError(says, code="run.scenario")
        checked = load(scenario, changes)
        if strict:
            refuse_repairs(checked)
        result, summary, unsaved = simulated(checked, out, force, threads)
    if as_json:
        print_json(summary)
    else:
        show_summary(summary, None if unsaved else out, resume is not None)
    if unsaved:
        raise unsaved
    if not result.stop.reason.ok:
        interrupted = result.stop.reason.value == "interrupted"
        raise typer.Exit(130 if interrupted else 1)


@app.command(epilog="Example: dwell show run.nc --json")
def show(stored: RunFile, as_json: AsJson = False) -> None:
    """Show the numbers of a stored run. It may have been killed, or still be going on."""
    from dwell._netcdf import stored_numbers
    from dwell.cli.show import show_summary

    summary = stored_numbers(stored)
    if summary is None:
        from dwell.cli.running import identified
        from dwell.results import load_run

        summary = identified(load_run(stored), stored)
    if as_json:
        print_json(summary)
    else:
        show_summary(summary, stored)


@app.command(epilog="Example: dwell check run.nc --json")
def check(
    stored: RunFile,
    as_json: AsJson = False,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="All samples, and all centroids by the independent code."),
    ] = False,
) -> None:
    """Verify a stored run, jump by jump, from its scenario alone.

    The exit code is 0 for a solution, and 1 for a run that is none or whose file was changed after
    it was written; "verdict" in the JSON tells these apart.
    """
    from dwell.cli.show import show_report
    from dwell.results import load_run
    from dwell.runner import check as check_run

    result = load_run(stored, even_if_damaged=True)
    report = check_run(result, thorough=thorough)
    if as_json:
        print_json({**report.as_json(), "file": str(stored), "jumps": len(result.events)})
    else:
        show_report(report, stored, result)
    if not report.ok:
        raise typer.Exit(1)


@app.command(epilog="Example: dwell plot run.nc --out plots --format pdf")
def plot(
    stored: Annotated[
        Path, typer.Argument(metavar="RUN_OR_DIR", help="Stored run (.nc), or folder of a sweep.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for plots; made if need be.")],
    formats: Formats = None,
) -> None:
    """Plot a stored run, or the trade-offs of a sweep."""
    from dwell.plotting import save_figures
    from dwell.plotting.figures import figures_of

    if out.exists() and not out.is_dir():
        raise StoreError(f"{out} is a file; give a folder for the plots", code="store")
    kinds = tuple(kind.value for kind in formats or [Format.png])
    if stored.is_dir():
        from dwell.cli.sweep import plot_sweep

        plot_sweep(stored, out, kinds)
        return
    result = stored_run(stored)
    written = save_figures(result, out, formats=kinds)
    for path in written:
        typer.echo(path)
    missing = [name for name in figures_of(result) if name not in {path.stem for path in written}]
    if missing:
        why = f'they need events, and this run keeps less (record.kind = "{result.details.record}")'
        typer.echo(
            f"dwell: {', '.join(missing)} left out: {result.details.absent or why}", err=True
        )


@app.command(epilog="Example: dwell animate run.nc --out run.gif --seconds 8")
def animate(
    stored: RunFile,
    out: Annotated[Path, typer.Option(help="Film: .mp4 (needs ffmpeg), .gif or .webp.")],
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 25.0,
    seconds: Annotated[float, typer.Option(help="How long the film is.")] = 12.0,
    since: Annotated[
        float | None, typer.Option("--from", help="Time of the run to begin with; 0 by default.")
    ] = None,
    until: Annotated[
        float | None, typer.Option("--to", help="Time to end with; the run's end by default.")
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTHxHEIGHT", help="Pixels, such as 1280x720.")
    ] = None,
    dpi: Annotated[
        float | None, typer.Option(help="Pixels to an inch: more makes text and lines larger.")
    ] = None,
    turn: Annotated[
        bool, typer.Option("--turn", help="In space: go once round the agents at the time --to.")
    ] = False,
    force: Force = False,
) -> None:
    """Make a film of a stored run. It shows density, cells, agents, trails, cost and errors."""
    from dwell.plotting.film import animate as make_film
    from dwell.plotting.film import size_from_words
    from dwell.plotting.film_writer import check_film

    pixels = None if size is None else size_from_words(size)
    check_film(out, force=force)
    made = make_film(
        stored_run(stored), out, fps=fps, seconds=seconds, since=since, until=until, size=pixels,
        dpi=dpi, turn=turn, force=force,
    )  # fmt: skip
    typer.echo(made)

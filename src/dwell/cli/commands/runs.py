"""Commands for one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dwell.cli.command import Number, command, flag, option
from dwell.cli.options import (
    CODE,
    FORCE,
    FORMAT,
    JSON,
    RUN,
    SET,
    STRICT,
    about_site,
    load,
    refuse,
    stored_run,
)
from dwell.cli.output import answer, complain, print_json
from dwell.errors import InputError, StoreError


@command(
    option(
        "scenario", nargs="?", type=Path, metavar="SCENARIO",
        help="Scenario file (.toml or .json); not with --resume.",
    ),
    SET,
    option("--out", type=Path, metavar="RUN.nc", help="Store the run here."),
    option(
        "--resume", type=Path, metavar="RUN.nc", help="Continue the run that is stored there."
    ),
    option(
        "--horizon", type=Number(), help="The time at which the run ends, if not the scenario's."
    ),
    JSON,
    FORCE,
    STRICT,
    option("--threads", type=Number(int, 1), help="Threads for the metrics."),
    CODE,
    example="paper-12.toml --set controller.t2=0.4 --out run.nc; then dwell run --resume run.nc "
    "--horizon 300",
)  # fmt: skip
def run(
    scenario: Path | None,
    overrides: list[str],
    out: Path | None,
    resume: Path | None,
    horizon: float | None,
    as_json: bool,
    force: bool,
    strict: bool,
    threads: int | None,
) -> int:
    """Simulate a scenario, or resume a stored run."""
    from dwell.cli.running import resumed, simulated
    from dwell.cli.show import show_summary
    from dwell.results.files import refuse_own_source

    changes = [*overrides, *([] if horizon is None else [f"run.horizon={horizon!r}"])]
    if resume is not None:
        result, summary, failed = resumed(resume, scenario, changes, out, threads)
        out = resume
    else:
        if scenario is None:
            says = "a scenario file is needed, or --resume RUN.nc; see dwell run --help"
            raise InputError(says, code="run.scenario")
        refuse_own_source(scenario, out)
        checked = load(scenario, changes)
        if strict:
            from dwell.scenario.build import build

            refuse(build(checked)[2])
        for line in about_site(checked):
            complain(line)
        result, summary, failed = simulated(checked, out, force, threads)
    kept = out if summary["file"] else None
    answer(as_json, lambda: summary, lambda: show_summary(summary, kept, resume is not None))
    if failed:
        raise failed
    reason = result.stop.reason
    return 0 if reason.ok else 130 if reason.value == "interrupted" else 1


@command(RUN, JSON, CODE, example="run.nc --json")
def show(stored: Path, as_json: bool) -> None:
    """Show the numbers of a stored run. It may have been killed, or still be going on."""
    from dwell._netcdf import stored_numbers

    summary = stored_numbers(stored)
    if summary is None:
        from dwell.cli.running import identified
        from dwell.results import load_run

        summary = identified(load_run(stored), stored)
    if as_json:
        print_json(summary)
    else:
        from dwell.cli.show import show_summary

        show_summary(summary, stored)


@command(
    RUN,
    JSON,
    flag("--thorough", "All samples, and all centroids by the independent code."),
    CODE,
    example="run.nc --json",
)
def check(stored: Path, as_json: bool, thorough: bool) -> int:
    """Verify a stored run, jump by jump, from its scenario alone.

    The exit code is 0 for a solution, and 1 for a run that is none or whose file was changed after
    it was written; "verdict" in the JSON tells these apart.
    """
    from dwell.cli.show import show_report
    from dwell.results import load_run
    from dwell.runner import check as check_run

    result = load_run(stored, even_if_damaged=True)
    report = check_run(result, thorough=thorough)
    more = {"file": str(stored), "jumps": len(result.events)}
    answer(as_json, lambda: report.as_json() | more, lambda: show_report(report, stored, result))
    return 0 if report.ok else 1


@command(
    option(
        "stored", type=Path, metavar="RUN_OR_DIR", help="Stored run (.nc), or folder of a sweep."
    ),
    option(
        "--out", type=Path, metavar="DIR", required=True,
        help="Folder for plots; made if need be.",
    ),
    FORMAT,
    FORCE,
    CODE,
    example="run.nc --out plots --format pdf",
)  # fmt: skip
def plot(stored: Path, out: Path, formats: list[str] | None, force: bool) -> None:
    """Plot a stored run, or the trade-offs of a sweep."""
    from dwell.plotting import save_figures
    from dwell.plotting.figures import figures_of

    if out.exists() and not out.is_dir():
        raise StoreError(f"{out} is a file; give a folder for the plots", code="store")
    if stored.is_dir():
        from dwell.plotting.sweeps import save_sweep_figures
        from dwell.sweep.reading import read_sweep

        print(*save_sweep_figures(read_sweep(stored), out, formats or ("png",)), sep="\n")
        return
    result = stored_run(stored)
    written = save_figures(result, out, formats=formats or ("png",), force=force)
    for path in written:
        print(path)
    missing = [name for name in figures_of(result) if name not in {path.stem for path in written}]
    if missing:
        why = f'they need events, and this run keeps less (record.kind = "{result.details.record}")'
        complain(f"{', '.join(missing)} left out: {result.details.absent or why}")


@command(
    option(
        "stored", type=Path, nargs="+", metavar="RUN.nc",
        help="Stored run; several for --html, which shows them side by side.",
    ),
    option("--html", type=Path, help="HTML file to write, which plays without a server."),
    option("--gis", type=Path, help="Map to write: .gpkg in metres, or .geojson in degrees."),
    option("--mcap", type=Path, help="MCAP file to write, for Foxglove."),
    option(
        "--frames", type=Number(int, 1), default=2,
        help="Of a map: times, evenly spaced, at which cells and agents are written; 2 by default.",
    ),
    option("--epoch", metavar="DATE", help="Date and time of t = 0, if not the site's."),
    FORCE,
    CODE,
    example="run.nc --html run.html; or dwell export bay.nc --gis bay.geojson --frames 25",
)  # fmt: skip
def export(
    stored: list[Path], html: Path | None, gis: Path | None, mcap: Path | None, frames: int,
    epoch: str | None, force: bool,
) -> None:  # fmt: skip
    """Write a stored run for a browser, as a map, or for Foxglove."""
    from dwell.exports import export_gis, export_html, export_mcap
    from dwell.exports.mcap import thinned
    from dwell.results.files import check_target

    wanted = {"--html": html, "--gis": gis, "--mcap": mcap}
    given = [(name, target) for name, target in wanted.items() if target is not None]
    if len(given) != 1:
        says = "one of --html FILE, --gis FILE and --mcap FILE is needed"
        raise InputError(f"{says}, got {len(given)}", code="usage")
    ((kind, target),) = given
    if kind != "--html" and len(stored) > 1:
        raise InputError(f"{kind} takes one run, got {len(stored)}", code="usage")
    check_target(target, force=force)  # before long files are read
    runs = [stored_run(one) for one in stored]
    if kind == "--html":
        print(export_html(runs, target, force=force))
    elif kind == "--gis":
        print(export_gis(runs[0], target, frames=frames, epoch=epoch, force=force))
    else:
        if remark := thinned(runs[0]):
            complain(remark)
        print(export_mcap(runs[0], target, epoch=epoch, force=force))


@command(
    RUN,
    option(
        "--out", type=Path, required=True, help="Film: .mp4 (needs ffmpeg), .gif or .webp."
    ),
    option("--fps", type=Number(), default=25.0, help="Frames a second."),
    option("--seconds", type=Number(), default=12.0, help="How long the film is."),
    option(
        "--from", dest="since", type=Number(), help="Time of the run to begin with; 0 by default."
    ),
    option("--to", dest="until", type=Number(), help="Time to end with; the run's end by default."),
    option("--size", metavar="WIDTHxHEIGHT", help="Pixels, such as 1280x720."),
    option("--dpi", type=Number(), help="Pixels to an inch: more makes text and lines larger."),
    flag("--turn", "In space: go once round the agents at the time --to."),
    FORCE,
    CODE,
    example="run.nc --out run.gif --seconds 8",
)  # fmt: skip
def animate(stored: Path, out: Path, size: str | None, force: bool, **options: Any) -> None:
    """Make a film of a stored run. It shows density, cells, agents, trails, cost and errors."""
    from dwell.plotting.film import animate as make_film
    from dwell.plotting.film import size_from_words
    from dwell.plotting.film_writer import check_film

    pixels = None if size is None else size_from_words(size)
    check_film(out, force=force)
    print(make_film(stored_run(stored), out, size=pixels, force=force, **options))

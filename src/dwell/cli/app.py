"""The commands."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dwell.errors import InputError, StoreError

app = typer.Typer(
    name="dwell",
    help="Coverage control with mobile sensors that look only now and then: simulate, check, draw.",
    epilog="Start with: dwell init two-hills, then dwell run two-hills.toml",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScenarioFile = Annotated[Path, typer.Argument(help="Scenario file (.toml or .json).")]
RunFile = Annotated[Path, typer.Argument(help="Stored run (.nc), as written by dwell run --out.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key; may be given many times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at a time; as many as processors by default.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse input that would be repaired.")]


class Format(StrEnum):
    """File formats of figures."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


Formats = Annotated[
    list[Format] | None, typer.Option("--format", help="png, pdf or svg; may be repeated.")
]


def _version(wanted: bool) -> None:
    if wanted:
        import dwell

        typer.echo(f"dwell {dwell.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before a command."""


@app.command(
    epilog="Example: dwell run paper-12.toml --set controller.t2=0.4 --out run.nc; "
    "then dwell run --resume run.nc --horizon 300"
)
def run(
    scenario: Annotated[
        Path | None, typer.Argument(help="Scenario file (.toml or .json); not with --resume.")
    ] = None,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Keep the run in this .nc file.")] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN.nc", help="Go on with a run that was kept there.")
    ] = None,
    horizon: Annotated[
        float | None, typer.Option(help="The time at which the run ends, if not the scenario's.")
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    strict: Strict = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads for the metrics.")] = None,
) -> None:
    """Simulate one scenario, show its numbers, and keep it; or go on with one that was kept."""
    from dwell.cli.running import resumed, simulated
    from dwell.cli.show import show_summary

    changes = list(overrides or ())
    if horizon is not None:
        changes.append(f"run.horizon={horizon!r}")
    if resume is not None:
        result, summary = resumed(resume, scenario, changes, out, threads)
        out = resume
    else:
        if scenario is None:
            says = "a scenario file is needed, or --resume RUN.nc; see dwell run --help"
            raise InputError(says, code="run.scenario")
        checked = _load(scenario, changes)
        if strict:
            _refuse_repairs(checked)
        result, summary = simulated(checked, out, force, threads)
    if as_json:
        _print_json(summary)
    else:
        show_summary(summary, out)
    if not result.stop.reason.ok:
        interrupted = result.stop.reason.value == "interrupted"
        raise typer.Exit(130 if interrupted else 1)


@app.command(epilog="Example: dwell show run.nc --json")
def show(stored: RunFile, as_json: AsJson = False) -> None:
    """Show the numbers of a stored run, also of one that was killed or is still going on."""
    from dwell.cli.show import show_summary
    from dwell.results import load_run

    summary = load_run(stored).summary()
    if as_json:
        _print_json(summary)
    else:
        show_summary(summary, stored)


@app.command(epilog="Example: dwell check run.nc --json")
def check(stored: RunFile, as_json: AsJson = False) -> None:
    """Verify a stored run independently: every jump, every flow, from its scenario alone."""
    from dwell.cli.progress import progress_bar
    from dwell.cli.show import show_report
    from dwell.results import load_run
    from dwell.runner import check as check_run

    result = load_run(stored, even_if_damaged=True)
    with progress_bar() as progress:
        report = check_run(result, progress=progress)
    if as_json:
        _print_json({**report.as_json(), "file": str(stored), "jumps": len(result.events)})
    else:
        show_report(report, stored, result)
    if not report.ok:
        raise typer.Exit(1)


@app.command(epilog="Example: dwell plot run.nc --out figures --format pdf")
def plot(
    stored: Annotated[
        Path, typer.Argument(metavar="RUN_OR_DIR", help="Stored run (.nc), or folder of a sweep.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the figures; made if need be.")],
    formats: Formats = None,
) -> None:
    """Draw a stored run (configurations, paths, errors, cost, timers), or a sweep's trade-offs."""
    from dwell.plotting import save_figures
    from dwell.plotting.figures import FIGURES
    from dwell.results import load_run

    if out.exists() and not out.is_dir():
        raise StoreError(f"{out} is a file; give a folder for the figures", code="store")
    kinds = tuple(kind.value for kind in formats or [Format.png])
    if stored.is_dir():
        from dwell.cli.sweep import plot_sweep

        plot_sweep(stored, out, kinds)
        return
    result = load_run(stored)
    written = save_figures(result, out, formats=kinds)
    for path in written:
        typer.echo(path)
    missing = [name for name in FIGURES if name not in {path.stem for path in written}]
    if missing:
        says = f"dwell: {', '.join(missing)} left out: they need events, and this run keeps"
        typer.echo(f'{says} less (record.kind = "{result.record}")', err=True)


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
    """Make a film of a stored run: density, cells, agents, trails, cost and errors."""
    from dwell.cli.progress import progress_bar
    from dwell.plotting.film import animate as make_film
    from dwell.plotting.film import size_from_words
    from dwell.plotting.reel import check_film
    from dwell.results import load_run

    pixels = None if size is None else size_from_words(size)
    check_film(out, force=force)
    with progress_bar() as progress:
        made = make_film(
            load_run(stored), out, fps=fps, seconds=seconds, since=since, until=until,
            size=pixels, dpi=dpi, turn=turn, force=force, progress=progress,
        )  # fmt: skip
    typer.echo(made)


@app.command(
    epilog="Example: dwell compare paper-12.toml --laws timer,lloyd --set lloyd.k2=2 --out laws"
)
def compare(
    scenario: ScenarioFile,
    laws: Annotated[
        str,
        typer.Option(
            metavar="LAW,LAW,...",
            help="Kinds of laws, such as timer,lloyd; self-triggered:paper-like chooses a preset.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for runs and figures; made if need be.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a key of the scenario, or LAW.key of a law."
        ),
    ] = None,
    as_json: AsJson = False,
    formats: Formats = None,
    workers: Workers = None,
) -> None:
    """Run several laws from the same start, and show them side by side."""
    from dwell.cli.progress import progress_bar
    from dwell.cli.studies import show_comparison
    from dwell.scenario.build import with_seed
    from dwell.studies.compare import compare_scenarios, keep_comparison
    from dwell.studies.laws import scenarios_of_laws, split_overrides

    own, of_laws = split_overrides(overrides or ())
    checked = with_seed(_load(scenario, own))
    wanted = scenarios_of_laws(checked, laws.split(","), of_laws)
    kinds = [kind.value for kind in formats or [Format.png]]
    with progress_bar() as progress:
        if out is None:
            found = compare_scenarios(wanted, workers=workers, progress=progress)
        else:
            found = keep_comparison(wanted, out, kinds, workers=workers, progress=progress)
    if as_json:
        _print_json(found.as_json())
    else:
        show_comparison(found, out)
    if not all(row.ok for row in found.figures.values()):
        raise typer.Exit(1)


@app.command(epilog="Example: dwell reproduce --out paper-report")
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the report; made if need be.")] = Path(
        "paper-report"
    ),
    as_json: AsJson = False,
    starts: Annotated[
        int | None, typer.Option(min=0, help="Random starts of 12 agents; 20 by default.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A rehearsal with short runs; claims will not hold.")
    ] = False,
    workers: Workers = None,
) -> None:
    """Repeat the paper's simulations: every figure, every number, and a report."""
    from dwell.cli.progress import progress_bar
    from dwell.cli.studies import show_claims
    from dwell.studies.reproduce import QUICK, STARTS
    from dwell.studies.reproduce import reproduce as repeat

    options: dict[str, Any] = dict(QUICK) if quick else {"starts": STARTS}
    if starts is not None:
        options["starts"] = starts
    with progress_bar() as progress:
        done = repeat(out, workers=workers, progress=progress, **options)
    if as_json:
        _print_json(done.as_json())
    else:
        show_claims(done)


class Method(StrEnum):
    """Ways of agreeing on a gain."""

    flooding = "flooding"
    gossip = "gossip"
    equalizing = "equalizing"


class Talks(StrEnum):
    """Whose neighbours agents talk to when they agree."""

    start = "start"
    run = "run"


@app.command(epilog="Example: dwell design paper-12.toml --out trade-off.png")
def design(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw the trade-offs to this .png, .pdf or .svg file.")
    ] = None,
    agree: Annotated[
        Method | None,
        typer.Option(help="Let the agents agree on k1: flooding, gossip, equalizing."),
    ] = None,
    graph: Annotated[
        Talks, typer.Option(help="Over the neighbours at the start, or those along the run.")
    ] = Talks.start,
    samples: Annotated[
        int | None, typer.Option(min=0, help="Random configurations to measure; 100 by default.")
    ] = None,
    separation: Annotated[
        float | None, typer.Option(help="Least distance of agents in them; as seen by default.")
    ] = None,
) -> None:
    """Say which T2 and k1 are admissible, and compare assumed Lipschitz constants with measured."""
    from dwell.cli.design import show_design
    from dwell.cli.progress import progress_bar
    from dwell.plotting.save import check_figure
    from dwell.plotting.tradeoff import save_tradeoff
    from dwell.studies.design import design as design_scenario

    checked = _load(scenario, overrides)
    if out is not None:
        check_figure(out)
    method = None if agree is None else agree.value
    with progress_bar() as progress:
        found = design_scenario(
            checked, samples=samples, separation=separation, agree=method, graph=graph.value,
            progress=progress,
        )  # fmt: skip
    if out is not None:
        save_tradeoff(found.setting, out)
    if as_json:
        _print_json(found.as_json())
    else:
        show_design(found, out)


@app.command(epilog="Example: dwell optimize paper-30.toml --starts 100 --out best")
def optimize(
    scenario: ScenarioFile,
    starts: Annotated[
        int, typer.Option(min=1, help="Starts: the scenario's own, and random ones.")
    ] = 50,
    overrides: Overrides = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for figures and a JSON file; made if need be.")
    ] = None,
    formats: Formats = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Find the best static deployment: the lowest cost, by Newton's method from many starts."""
    from dwell.cli.optimize import show_deployment
    from dwell.cli.progress import progress_bar, uninterrupted
    from dwell.studies.optimize import (
        check_folder,
        keep_deployment,
        optimize_scenario,
        refuse_dimension,
    )

    checked = _load(scenario, overrides)
    refuse_dimension(checked.workspace.dimension)  # before a folder is made
    kinds = [kind.value for kind in formats or [Format.png]]
    if out is not None:
        check_folder(out, kinds)
    with progress_bar() as progress:
        found = optimize_scenario(checked, starts=starts, workers=workers, progress=progress)
    with uninterrupted():
        if out is not None:
            keep_deployment(found, out, kinds)
        value = found.as_json()
    if as_json:
        _print_json(value)
    else:
        show_deployment(found, out)
    if found.ending != "finished":
        raise typer.Exit(130 if found.interrupted else 1)


@app.command(
    epilog="Example: dwell sweep t2.toml --out t2; the same command goes on after any interruption"
)
def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP", help="Sweep file (.toml or .json).")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables; made if need be.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help='Address of a Dask scheduler, tcp://HOST:8786; "local" starts one here.',
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes here; as many as processors by default.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Cases in a portion; learnt on the way by default.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run cases again that failed before.")
    ] = False,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Allow rows of different versions in one table.")
    ] = False,
    extend: Annotated[
        bool, typer.Option("--extend", help="The sweep has changed: keep the rows of old cases.")
    ] = False,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a scheduler that went away.")
    ] = 60.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file, say what it comes to, and stop.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario for many values, many starts: on this machine or on a Dask cluster."""
    from dwell.cli.progress import progress_bar
    from dwell.cli.sweep import complain, show_outcome, show_plan
    from dwell.sweep import plan_file, run_sweep

    if dry_run:
        show_plan(plan_file(file), as_json)
        return
    if out is None:
        raise InputError("a folder is needed for the tables: --out DIR", code="sweep.out")
    with progress_bar() as progress:
        found = run_sweep(
            file, out, cluster=cluster, workers=workers, chunk=chunk, retry=retry, mixed=mixed,
            extend=extend, patience=patience, progress=progress, say=complain,
        )  # fmt: skip
    if as_json:
        _print_json(found.as_json())
    else:
        show_outcome(found)
    if found.interrupted:
        raise typer.Exit(130)
    if not found.ok:
        raise typer.Exit(1)


@app.command(epilog="Example: dwell rates run.nc --out modes.png")
def rates(
    source: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO_OR_RUN", help="Scenario (.toml or .json) or run (.nc)."),
    ],
    overrides: Overrides = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw the softest modes to this .png, .pdf or .svg file.")
    ] = None,
) -> None:
    """Say how fast displacements die out where the agents come to rest, under every law."""
    from dwell.cli.rates import show_rates, study

    if out is not None:
        from dwell.plotting.modes import save_modes
        from dwell.plotting.save import check_figure

        check_figure(out)
    found = study(source, overrides)
    if out is not None:
        save_modes(out, found.rates, found.own, found.observed)
    if as_json:
        _print_json(found.as_json())
    else:
        show_rates(found, out)


@app.command(epilog="Example: dwell validate site.toml --set agents.start.count=40")
def validate(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    as_json: AsJson = False,
    strict: Strict = False,
) -> None:
    """Check a scenario file without running it."""
    from dwell.scenario.build import build

    checked = _load(scenario, overrides)
    system, _, repairs = build(checked)
    if strict:
        _refuse(repairs)
    if as_json:
        _print_json({"ok": True, "agents": system.agents, "repairs": list(repairs)})
        return
    typer.echo(f"{scenario}: ok, {system.agents} agents")
    for repair in repairs:
        typer.echo(f"  repaired: {repair}")


@app.command(epilog="Example: dwell schema > dwell.schema.json")
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and programs."""
    from dwell.scenario import scenario_schema

    _print_json(scenario_schema())


@app.command(epilog="Example: dwell init paper-30 --out site.toml")
def init(
    template: Annotated[str, typer.Argument(help="Which template; see --list.")] = "two-hills",
    out: Annotated[
        Path | None, typer.Option(help="File to write; TEMPLATE.toml by default.")
    ] = None,
    force: Force = False,
    names: Annotated[bool, typer.Option("--list", help="List the templates and stop.")] = False,
) -> None:
    """Write a commented scenario file, or sweep file, to start from."""
    from dwell.results.files import check_target, written_whole
    from dwell.scenario import TEMPLATES, template_text
    from dwell.sweep.templates import SWEEPS, sweep_text

    if names:
        for name, about in {**TEMPLATES, **SWEEPS}.items():
            typer.echo(f"{name:24} {about}")
        return
    text = sweep_text(template) if template in SWEEPS else template_text(template)
    target = check_target(out or Path(f"{template}.toml"), force=force)
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    command = f"sweep {target} --out sweep" if template in SWEEPS else f"run {target}"
    typer.echo(f"wrote {target}; run it with: dwell {command}")


@app.command(epilog="Example: dwell serve --port 8080 --seconds 30")
def serve(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any that is free.")
    ] = 8000,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="A host name by which the server is reached; repeatable."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    queued: Annotated[int, typer.Option(min=1, help="Runs that may wait.")] = 200,
    agents: Annotated[int, typer.Option(min=1, help="Most agents of a run.")] = 2_000,
    horizon: Annotated[float, typer.Option(help="Longest horizon of a run.")] = 1e6,
    events: Annotated[float, typer.Option(help="Most events that a run may come to.")] = 2e6,
    seconds: Annotated[float, typer.Option(help="Real time that a run may take.")] = 120.0,
    memory: Annotated[float, typer.Option(help="Bytes that a run may take.")] = 2e9,
    kept: Annotated[int, typer.Option(min=1, help="Runs that are kept when done.")] = 100,
    disk: Annotated[float, typer.Option(help="Bytes of their files together.")] = 2e9,
    absent: Annotated[
        float, typer.Option(help="Seconds after which a live run ends that nobody watches.")
    ] = 20.0,
    drain: Annotated[
        float, typer.Option(help="Seconds that runs are given when the server is to end.")
    ] = 20.0,
) -> None:
    """Show everything on a page in the browser, with runs as they go."""
    from dwell.cli.serve import start

    limits = {
        "workers": workers, "queued": queued, "agents": agents, "horizon": horizon,
        "events": events, "seconds": seconds, "memory": memory, "kept": kept, "disk": disk,
        "absent": absent, "drain": drain,
    }  # fmt: skip
    start(host, port, not no_browser, names or [], limits)


def _load(path: Path, overrides: list[str] | None) -> Any:
    from dwell.scenario import load_scenario

    return load_scenario(path, overrides or ())


def _refuse_repairs(scenario: Any) -> None:
    from dwell.scenario.build import build

    _refuse(build(scenario)[2])


def _refuse(repairs: tuple[str, ...]) -> None:
    if repairs:
        raise InputError(
            f"with --strict nothing is repaired, but this would be: {'; '.join(repairs)}",
            code="strict",
        )


def _print_json(value: dict[str, Any]) -> None:
    from dwell.cli.json_text import json_text

    text = json_text(value)  # whole before anything is printed
    sys.stdout.write(f"{text}\n")

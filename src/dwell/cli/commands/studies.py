"""Commands for many runs, and for parameters."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dwell.cli.options import (
    AsJson,
    Force,
    Format,
    Formats,
    Overrides,
    ScenarioFile,
    Workers,
    load,
    print_json,
)
from dwell.cli.root import app
from dwell.errors import InputError

Laws = Annotated[
    str,
    typer.Option(
        metavar="LAW,LAW,...",
        help="Kinds of laws, such as timer,lloyd; self-triggered:paper-like chooses a preset, "
        "module:Class is a law in Python.",
    ),
]
OverridesOfLaws = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key of the scenario, or LAW.key of a law."
    ),
]
Match = Annotated[
    bool,
    typer.Option(
        "--match/--no-match",
        help="Give other laws the largest speed and gain of the scenario's, or their defaults.",
    ),
]
Levels = Annotated[
    list[float] | None,
    typer.Option(
        "--level",
        metavar="LENGTH",
        help="An error for settling times; may be repeated; nu and parts of it by default.",
    ),
]


@app.command(
    epilog="Example: dwell compare paper-12.toml --laws timer,lloyd --set lloyd.k2=2 --out laws"
)
def compare(
    scenario: ScenarioFile,
    laws: Laws,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for runs and plots; made if need be.")
    ] = None,
    overrides: OverridesOfLaws = None,
    match: Match = True,
    levels: Levels = None,
    as_json: AsJson = False,
    formats: Formats = None,
    workers: Workers = None,
) -> None:
    """Compare laws from the same start, side by side."""
    from dwell.cli.studies import show_comparison
    from dwell.progress import reported
    from dwell.scenario.build import with_seed
    from dwell.studies.compare import check_levels, compare_scenarios, keep_comparison
    from dwell.studies.laws import beside_if_named, scenarios_of_laws, split_overrides
    from dwell.studies.matching import mismatches

    own, of_laws = split_overrides(overrides or ())
    names = laws.split(",")
    checked = beside_if_named(with_seed(load(scenario, own)), names, scenario.parent)
    wanted = scenarios_of_laws(checked, names, of_laws, match=match)
    options: dict[str, Any] = {
        "levels": check_levels(levels),
        "unmatched": tuple(mismatches(checked, wanted)),
        "workers": workers,
    }
    kinds = [kind.value for kind in formats or [Format.png]]
    with reported() as progress:
        if out is None:
            found = compare_scenarios(wanted, progress=progress, **options)
        else:
            found = keep_comparison(wanted, out, kinds, progress=progress, **options)
    if as_json:
        print_json(found.as_json())
    else:
        show_comparison(found, None if found.unsaved else out)
    if found.unsaved is not None:
        raise found.unsaved
    if not all(row.ok for row in found.figures.values()):
        raise typer.Exit(1)


@app.command(epilog="Example: dwell reproduce --out paper-report")
def reproduce(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the report; made if need be.")
    ] = Path("paper-report"),
    as_json: AsJson = False,
    starts: Annotated[
        int | None, typer.Option(min=0, help="Random starts of 12 agents; 20 by default.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A rehearsal with short runs; claims will not hold.")
    ] = False,
    workers: Workers = None,
) -> None:
    """Repeat the paper's simulations, and write a report."""
    from dwell.cli.studies import show_claims
    from dwell.progress import reported
    from dwell.studies.reproduce import QUICK, STARTS
    from dwell.studies.reproduce import reproduce as repeat

    options: dict[str, Any] = dict(QUICK) if quick else {"starts": STARTS}
    if starts is not None:
        options["starts"] = starts
    with reported() as progress:
        done = repeat(out, workers=workers, progress=progress, **options)
    if as_json:
        print_json(done.as_json())
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
        Path | None, typer.Option(help="Plot the trade-offs to this .png, .pdf or .svg file.")
    ] = None,
    agree: Annotated[
        Method | None,
        typer.Option(metavar="METHOD", help="Agree on k1 by flooding, gossip or equalizing."),
    ] = None,
    graph: Annotated[
        Talks, typer.Option(metavar="WHEN", help="Neighbours at the start, or along the run.")
    ] = Talks.start,
    samples: Annotated[
        int | None, typer.Option(min=0, help="Random configurations to measure; 100 by default.")
    ] = None,
    separation: Annotated[
        float | None, typer.Option(help="Least distance of agents in them; as seen by default.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Explain each condition.")] = False,
) -> None:
    """Find the admissible T2 and k1 of the timer law. Lipschitz constants are measured, too."""
    from dwell.cli.design import show_design
    from dwell.plotting.save import check_figure
    from dwell.plotting.tradeoff import save_tradeoff
    from dwell.progress import reported
    from dwell.studies.design import design as design_scenario

    checked = load(scenario, overrides)
    if out is not None:
        check_figure(out)
    method = None if agree is None else agree.value
    with reported() as progress:
        found = design_scenario(
            checked, samples=samples, separation=separation, agree=method, graph=graph.value,
            progress=progress,
        )  # fmt: skip
    if out is not None:
        save_tradeoff(found.setting, out)
    if as_json:
        print_json(found.as_json())
    else:
        show_design(found, out, verbose)


@app.command(epilog="Example: dwell optimize paper-30.toml --starts 100 --out best")
def optimize(
    scenario: ScenarioFile,
    starts: Annotated[
        int, typer.Option(min=1, help="Starts: the scenario's own, and random ones.")
    ] = 50,
    overrides: Overrides = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for plots and a JSON file; made if need be."),
    ] = None,
    formats: Formats = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Find the best static deployment: that of lowest cost."""
    from dwell.cli.optimize import show_deployment
    from dwell.engine.interrupts import uninterrupted
    from dwell.studies.optimize import (
        check_folder,
        keep_deployment,
        optimize_scenario,
        refuse_dimension,
    )

    checked = load(scenario, overrides)
    refuse_dimension(checked.workspace.dimension)  # before a folder is made
    kinds = [kind.value for kind in formats or [Format.png]]
    if out is not None:
        check_folder(out, kinds)
    found = optimize_scenario(checked, starts=starts, workers=workers)
    unsaved = None
    with uninterrupted():
        try:
            if out is not None:
                keep_deployment(found, out, kinds)
        except InputError as fault:
            unsaved, out = fault, None
        value = found.as_json()
    if as_json:
        print_json(value)
    else:
        show_deployment(found, out)
    if unsaved:
        raise unsaved
    if found.ending != "finished":
        raise typer.Exit(130 if found.interrupted else 1)


SweepFile = Annotated[
    Path,
    typer.Argument(metavar="SWEEP", help="Sweep file (.toml or .json), or folder of a sweep."),
]
SweepOut = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Folder for the tables, made if need be; the file for --case."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help='Address of a Dask scheduler, tcp://HOST:8786; "local" starts one here.',
    ),
]


@app.command(
    epilog="Example: dwell sweep t2.toml --out t2; the same command goes on after any interruption"
)
def sweep(
    file: SweepFile,
    out: SweepOut = None,
    case: Annotated[
        int | None, typer.Option(min=0, help="Write the scenario of this case, and stop.")
    ] = None,
    force: Force = False,
    cluster: Cluster = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes here; as many as processors by default.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Cases in a portion; adapted by default.")
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
        float, typer.Option(help="How long to wait for a scheduler that went away.")
    ] = 60.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file, say what it comes to, and stop.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario for many values and many starts. Here, or on a Dask cluster."""
    from dwell.cli.sweep import complain, show_outcome, show_plan, write_case
    from dwell.sweep import load_sweep, plan_of, run_sweep

    wanted = load_sweep(file)
    if case is not None:
        write_case(plan_of(wanted), case, out, force)
        return
    if dry_run:
        show_plan(plan_of(wanted), as_json)
        return
    if out is None:
        raise InputError("a folder is needed for the tables: --out DIR", code="sweep.out")
    found = run_sweep(
        wanted, out, cluster=cluster, workers=workers, chunk=chunk, retry=retry, mixed=mixed,
        extend=extend, patience=patience, say=complain,
    )  # fmt: skip
    if as_json:
        print_json(found.as_json())
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
        Path | None, typer.Option(help="Plot the softest modes to this .png, .pdf or .svg file.")
    ] = None,
) -> None:
    """Find how fast displacements from the resting places decay."""
    from dwell.cli.rates import show_rates, study

    if out is not None:
        from dwell.plotting.modes import save_modes
        from dwell.plotting.save import check_figure

        check_figure(out)
    found = study(source, overrides)
    if out is not None:
        save_modes(out, found.rates, found.own, found.observed)
    if as_json:
        print_json(found.as_json())
    else:
        show_rates(found, out)

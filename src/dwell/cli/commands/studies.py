"""Commands for many runs, and for parameters."""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._compatibility import Need, of_dimension, refuse
from dwell.cli.command import Number, OneOf, command, flag, option
from dwell.cli.options import AT, CODE, FORCE, FORMAT, JSON, SCENARIO, SET, WORKERS, compiling, load
from dwell.cli.output import answer, complain
from dwell.errors import InputError

if TYPE_CHECKING:
    from dwell.scenario import Scenario
    from dwell.sites import Frame


@command(
    SCENARIO,
    option(
        "--laws", metavar="LAW,LAW,...", required=True,
        help="Kinds of laws, such as timer,lloyd; self-triggered:paper-like chooses a preset, "
        "module:Class is a law in Python.",
    ),
    option(
        "--out", type=Path, metavar="DIR", help="Folder for runs and plots; made if need be."
    ),
    option(
        "--set", dest="overrides", action="append", metavar="KEY=VALUE", default=[],
        help="Change a key of the scenario, or LAW.key of a law.",
    ),
    option(
        "--match", action=BooleanOptionalAction, default=True,
        help="Give other laws the largest speed and gain of the scenario's, or their defaults.",
    ),
    option(
        "--level", dest="levels", action="append", type=Number(), metavar="LENGTH",
        help="An error for settling times; may be repeated; nu and parts of it by default.",
    ),
    JSON,
    FORMAT,
    WORKERS,
    FORCE,
    CODE,
    example="paper-12.toml --laws timer,lloyd --set lloyd.k2=2 --out laws",
)  # fmt: skip
def compare(
    scenario: Path,
    laws: str,
    out: Path | None,
    overrides: list[str],
    match: bool,
    levels: list[float] | None,
    as_json: bool,
    formats: list[str] | None,
    workers: int | None,
    force: bool,
) -> int:
    """Compare laws from the same start, side by side."""
    from dwell.cli.show import show_comparison
    from dwell.progress import reported
    from dwell.scenario.build import with_seed
    from dwell.studies.compare import check_levels, compare_scenarios, keep_comparison
    from dwell.studies.laws import (
        beside_if_named,
        frequent,
        mismatches,
        scenarios_of_laws,
        split_overrides,
    )

    own, of_laws = split_overrides(overrides)
    names = laws.split(",")
    checked = beside_if_named(with_seed(load(scenario, own)), names, scenario.parent)
    wanted = scenarios_of_laws(checked, names, of_laws, match=match)
    options: dict[str, Any] = {
        "levels": check_levels(levels),
        "unmatched": tuple(mismatches(checked, wanted)),
        "workers": workers,
    }
    for note in frequent(checked, wanted):
        complain(note)
    with reported() as progress:
        if out is None:
            found = compare_scenarios(wanted, progress=progress, **options)
        else:
            options |= {"formats": formats or ["png"], "force": force}
            found = keep_comparison(wanted, out, progress=progress, **options)
    answer(as_json, found.as_json, lambda: show_comparison(found, None if found.unsaved else out))
    if found.unsaved is not None:
        raise found.unsaved
    return 0 if all(row["stop.ok"] for row in found.figures.values()) else 1


@command(
    option(
        "--out", type=Path, metavar="DIR", default=Path("paper-report"),
        help="Folder for the report; made if need be.",
    ),
    JSON,
    option("--starts", type=Number(int, 0), help="Random starts of 12 agents; 20 by default."),
    flag("--quick", "A rehearsal with short runs; claims will not hold."),
    WORKERS,
    example="--out paper-report",
)  # fmt: skip
def reproduce(
    out: Path, as_json: bool, starts: int | None, quick: bool, workers: int | None
) -> None:
    """Repeat the paper's simulations, and write a report."""
    from dwell.cli.show import show_claims
    from dwell.progress import reported
    from dwell.studies.paper.reproduce import QUICK, STARTS
    from dwell.studies.paper.reproduce import reproduce as repeat

    options: dict[str, Any] = dict(QUICK) if quick else {"starts": STARTS}
    if starts is not None:
        options["starts"] = starts
    with reported() as progress:
        done = repeat(out, workers=workers, progress=progress, **options)
    answer(as_json, done.as_json, lambda: show_claims(done))


@command(
    SCENARIO,
    SET,
    JSON,
    option("--out", type=Path, help="Plot the trade-offs to this .png, .pdf or .svg file."),
    option(
        "--agree", type=OneOf("flooding", "gossip", "equalizing"), metavar="METHOD",
        help="Agree on k1 by flooding, gossip or equalizing.",
    ),
    option(
        "--graph", type=OneOf("start", "run"), default="start", metavar="WHEN",
        help="Neighbours at the start, or along the run.",
    ),
    option(
        "--samples", type=Number(int, 0), help="Random configurations to measure; 100 by default."
    ),
    option(
        "--separation", type=Number(),
        help="Least distance of agents in them; as seen by default.",
    ),
    AT,
    flag("--verbose", "Explain each condition."),
    CODE,
    example="paper-12.toml --out trade-off.png",
)  # fmt: skip
def design(
    scenario: Path,
    overrides: list[str],
    as_json: bool,
    out: Path | None,
    verbose: bool,
    **options: Any,
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
    with reported() as progress:
        found = design_scenario(checked, progress=progress, **options)
    if out is not None:
        save_tradeoff(found.setting, out, found.units)
    answer(as_json, found.as_json, lambda: show_design(found, out, verbose))


@command(
    SCENARIO,
    option(
        "--starts", type=Number(int, 1), default=50,
        help="Starts: the scenario's own, and random ones.",
    ),
    SET,
    AT,
    option(
        "--out", type=Path, metavar="DIR", help="Folder for plots and a JSON file; made if need be."
    ),
    FORMAT,
    option(
        "--gis", type=Path, metavar="FILE",
        help="Map of positions and cells at a site: .gpkg in metres, or .geojson in degrees.",
    ),
    FORCE,
    WORKERS,
    JSON,
    CODE,
    example="paper-30.toml --starts 100 --out best; or bay.toml --gis best.geojson",
)  # fmt: skip
def optimize(
    scenario: Path,
    starts: int,
    overrides: list[str],
    at: float | None,
    out: Path | None,
    formats: list[str] | None,
    gis: Path | None,
    force: bool,
    workers: int | None,
    as_json: bool,
) -> int:
    """Find the best static deployment: that of lowest cost."""
    from dwell.cli.show import show_deployment
    from dwell.engine.interrupts import uninterrupted
    from dwell.studies.optimize import (
        check_folder,
        keep_deployment,
        optimize_scenario,
    )

    checked = load(scenario, overrides)
    n = checked.workspace.dimension
    refuse(Need.OPTIMIZE, (of_dimension(n),), n=n)  # before a folder is made
    kinds = formats or ["png"]
    frame = None if gis is None else _frame_of_map(checked, gis, force)
    if out is not None:
        check_folder(out, kinds)
    found = optimize_scenario(checked, starts=starts, at=at, workers=workers)
    unsaved = None
    with uninterrupted():
        try:
            if out is not None:
                keep_deployment(found, out, kinds)
            if gis is not None and frame is not None:
                found.export_gis(gis, frame=frame, force=force)
        except InputError as fault:
            unsaved, out = fault, None
        value = found.as_json()
    answer(as_json, lambda: value, lambda: show_deployment(found, out))
    if unsaved:
        raise unsaved
    return 0 if found.ending == "finished" else 130 if found.interrupted else 1


def _frame_of_map(scenario: Scenario, path: Path, force: bool) -> Frame:
    """The frame of a scenario's site; refused before anything is sought if no map can be made."""
    from dwell.exports.gis import map_target
    from dwell.sites import Frame

    map_target(path, force)
    if scenario.site is None or scenario.site.crs is None:
        says = "this scenario has no place on the Earth; a map needs a [site]"
        raise InputError(says, code="export.frame", key="site")
    return Frame(scenario.site.crs)


@command(
    option(
        "file", type=Path, metavar="SWEEP",
        help="Sweep file (.toml or .json), or folder of a sweep.",
    ),
    option(
        "--out", type=Path, metavar="DIR",
        help="Folder for the tables, made if need be; the file for --case.",
    ),
    option(
        "--case", type=Number(int, 0), help="Write the scenario of this case, and stop."
    ),
    FORCE,
    option(
        "--cluster", metavar="ADDRESS",
        help='Address of a Dask scheduler, tcp://HOST:8786; "local" starts one here.',
    ),
    option(
        "--workers", type=Number(int, 1), help="Processes here; as many as processors by default."
    ),
    option("--chunk", type=Number(int, 1), help="Cases in a portion; adapted by default."),
    flag("--retry", "Run cases again that failed before."),
    flag("--mixed", "Allow rows of different versions in one table."),
    flag("--extend", "The sweep has changed: keep the rows of old cases."),
    option(
        "--patience", type=Number(), default=60.0,
        help="How long to wait for a scheduler that went away.",
    ),
    flag("--dry-run", "Check the file, print its size, and stop."),
    JSON,
    CODE,
    example="t2.toml --out t2; the same command goes on after any interruption",
)  # fmt: skip
def sweep(
    file: Path,
    out: Path | None,
    case: int | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run a scenario for many values and many starts. Here, or on a Dask cluster."""
    from dwell.cli.show import show_outcome, show_plan
    from dwell.sweep import load_sweep, plan_of, run_sweep

    with compiling(True):
        wanted = load_sweep(file)
        plan = plan_of(wanted) if dry_run or case is not None else None
    if case is not None:
        _write_case(plan, case, out, force)
        return 0
    if plan is not None:
        show_plan(plan, as_json)
        return 0
    if out is None:
        raise InputError("a folder is needed for the tables: --out DIR", code="sweep.out")
    found = run_sweep(wanted, out, say=complain, **options)
    answer(as_json, found.as_json, lambda: show_outcome(found))
    return 130 if found.interrupted else 0 if found.ok else 1


def _write_case(plan: Any, case: int, out: Path | None, force: bool) -> None:
    """The scenario of one case as a file, or on standard output."""
    from dwell.results.files import check_target, written_whole
    from dwell.scenario import dump_toml

    text = dump_toml(plan.scenario(case))
    if out is None:
        sys.stdout.write(text)
        return
    with written_whole(check_target(out, force=force)) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"wrote {out}; run it with: dwell run {out}")


@command(
    option(
        "source", type=Path, metavar="SCENARIO_OR_RUN",
        help="Scenario (.toml or .json) or run (.nc).",
    ),
    SET,
    AT,
    JSON,
    option("--out", type=Path, help="Plot the softest modes to this .png, .pdf or .svg file."),
    CODE,
    example="run.nc --out modes.png",
)  # fmt: skip
def rates(
    source: Path, overrides: list[str], at: float | None, as_json: bool, out: Path | None
) -> None:
    """Find how fast displacements from the resting places decay."""
    from dwell.cli.rates import show_rates, study

    if out is not None:
        from dwell.plotting.modes import save_modes
        from dwell.plotting.save import check_figure

        check_figure(out)
    found = study(source, overrides, at)
    if out is not None:
        save_modes(out, found.rates, found.own, found.observed, found.units)
    answer(as_json, found.as_json, lambda: show_rates(found, out))

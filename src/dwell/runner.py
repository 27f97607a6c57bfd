"""The front of a run: simulate, run_scenario, resume_run and check."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import dwell
from dwell._checks import check_callable, check_flag, check_whole
from dwell._types import Points, listed
from dwell.agents import Controller, CoverageSystem, Sensor, Switch, check_start
from dwell.agents.continuous import beginning, is_continuous
from dwell.agents.network import Network, as_network
from dwell.agents.timeline import timeline_of
from dwell.agents.world import sum_of
from dwell.density import Density, Uniform, as_density
from dwell.density.moving import density_at
from dwell.density.support import check_density
from dwell.engine.interrupts import stop_on_signal
from dwell.engine.recorder import (
    EVENTS,
    SUMMARY,
    Recorder,
    default_samples,
    recorder_of,
    sample_times,
)
from dwell.engine.run_loop import RunLoop, Watch
from dwell.errors import InputError
from dwell.execution import RunTask, execute, unless_interrupted
from dwell.geometry import MovingPolygon, Workspace, as_workspace
from dwell.progress import Progress, reported
from dwell.results import Run, RunLike, as_run, load_run
from dwell.results.files import check_target, locked, refuse_own_source
from dwell.results.resume import extended, taken_up
from dwell.results.run import FRAME
from dwell.results.stated import misstated
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, refuse_unfit, with_seed
from dwell.scenario.describe import (
    check_controller,
    check_ids,
    check_options,
    check_tables,
    describe,
    run_table,
)
from dwell.scenario.fleet import live_settings
from dwell.scenario.guards import as_path
from dwell.scenario.modules import changed_sources, missing_site, sources_of
from dwell.sites import Site
from dwell.verify import Report
from dwell.verify.solution import Claims, verify


def run_scenario(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | bool | None = None,
    threads: int | None = None,
    on_signal: Callable[[int], None] | None = None,
    watch: Watch | None = None,
) -> Run:
    """Build, simulate and measure `scenario`.

    Without `out` nothing is written. With it the run is saved there, with a checkpoint every
    `run.checkpoint.every` seconds; `resume_run` goes on from what a crash left.

    Parameters
    ----------
    scenario
        A Scenario, a mapping of its tables, or the path of its file.
    seed
        The seed of all random draws, in place of the scenario's. A scenario without a seed gets a
        fresh one, which is recorded.
    out
        The .nc file for the run.
    force
        Whether an existing file may be replaced.
    progress
        A function of what is being done and the share done. By default progress appears on the
        error stream once the run has taken two seconds; False turns that off.
    threads
        Threads for the metrics; all processors by default. It changes no bit.
    on_signal
        Called with the number of the first signal.
    watch
        Called with every recorded chunk of the run, see `dwell.engine.run_loop.Watch`.

    Returns
    -------
    Run

    Raises
    ------
    Interrupted
        After Ctrl-C: a KeyboardInterrupt whose `run` is the run up to there. A second Ctrl-C stops
        at once.
    UnsavedError
        If the file cannot be written; its `run` is the run.

    Examples
    --------
    >>> import dwell
    >>> short = dwell.load_scenario("site.toml", ["run.horizon=2"])
    >>> dwell.run_scenario(short).stop.reason.value
    'horizon'
    """
    refuse_own_source(scenario, out)
    scenario = with_seed(as_scenario(scenario), seed)
    check_callable("on_signal", on_signal)
    check_callable("watch", watch)
    check_whole("threads", threads, 1, optional=True)
    threads = None if threads is None else int(threads)
    with stop_on_signal(on_signal) as request, reported(progress) as tell:
        loop = RunLoop(tell, request, watch=watch)
        if out is None:
            run = run_built(scenario, build(scenario), loop, threads)
            return unless_interrupted(request, run)
        target = check_target(out, force=force)
        with locked(target):
            check_target(target, force=force)  # another process may have written it before the lock
            run = run_built(scenario, build(scenario), loop, threads, target)
            return unless_interrupted(request, run, out)


def resume_run(
    path: str | os.PathLike[str],
    *,
    horizon: float | None = None,
    max_jumps: int | None = None,
    progress: Progress | bool | None = None,
    threads: int | None = None,
    on_signal: Callable[[int], None] | None = None,
) -> Run:
    """Continue a stored run that was interrupted, was killed, or should go on.

    The result is stored at `path` again; it is bit for bit that of a run that never stopped. Ctrl-C
    and files that cannot be written are treated as in `run_scenario`.

    Parameters
    ----------
    path : str or path
        The .nc file of the run.
    horizon : float, optional
        A later end.
    max_jumps : int, optional
        A larger limit on jumps.
    progress : callable or bool, optional
        As in `run_scenario`.
    threads : int, optional
        Threads for the metrics.
    on_signal : callable, optional
        Called with the number of the first signal that stops the run.

    Returns
    -------
    Run
        The whole run.

    Examples
    --------
    >>> import dwell
    >>> dwell.resume_run("run.nc", horizon=2.5).horizon
    2.5
    """
    check_callable("on_signal", on_signal)
    check_whole("threads", threads, 1, optional=True)
    threads = None if threads is None else int(threads)
    with stop_on_signal(on_signal) as request, reported(progress) as tell:
        run = _resumed(as_path(path), horizon, max_jumps, RunLoop(tell, request), threads)
        return unless_interrupted(request, run, path)


def simulate(
    workspace: Workspace | MovingPolygon | Site,
    density: Density | Callable[[Points], Any] | None,
    start: object,
    controller: Any,
    *,
    until: float,
    seed: int | None = 0,
    ids: tuple[int, ...] | None = None,
    spacing: float | None = None,
    network: Network | None = None,
    switches: Sequence[Switch] = (),
    sensors: Sequence[Sensor] = (),
    radius: float | Sequence[float] | None = None,
    record: str = EVENTS,
    sample_every: float | str | None = None,
    max_jumps: int = 50_000_000,
    nu: float | None = None,
    progress: Progress | bool | None = None,
    threads: int | None = None,
) -> Run:
    """Simulate `controller` from `start` on `workspace` until time `until`.

    `density` may be any function of points; `controller` anything with the two methods of
    `dwell.agents.Controller`. `spacing` integrates on a grid of points instead of exactly.
    `network` loses or delays samples and messages, `switches` change the world at given times,
    `sensors` have densities of their own (`density` is None), and agents sense within `radius`.
    `record` selects what is stored: "events" (all), "samples" or "summary" (numbers and the end).
    `sample_every` is the time between metric samples, "off" for none. By default it is a
    thousandth of `until`, a hundredth in four and more dimensions, and a summary has none. A
    sample costs a cell of every agent. For a density that is a function they cost at most as much
    as the run: one for every two events of an agent, at most a hundred, or at most ten for laws
    that compute their dwell times; with `spacing` the default is a thousand again.

    Parameters
    ----------
    workspace
        The region, or the vertices of a convex polygon; a `MovingPolygon` for one that moves; that
        of a `Site`.
    density
        A density or a function of points; None is uniform. A `Moving` one changes over time.
    start
        Positions of the agents, (N, n).
    controller
        The law, such as ``dwell.Timer(...)``.
    until
        The time at which the run ends.
    seed
        The seed of all random draws, 0 by default; None draws a fresh one and records it.
    ids
        The random stream of each agent; 0, 1, 2, ... by default.
    max_jumps, nu
        Jumps after which the run ends early; the error that counts as covered, else the law's own.
    progress, threads
        As in `run_scenario`.

    Returns
    -------
    Run

    Raises
    ------
    Interrupted
        After Ctrl-C: a KeyboardInterrupt whose `run` is the run up to there.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    >>> peak = dwell.Gaussian(center=(3, 1), rate=0.1)
    >>> run = dwell.simulate(dwell.Box((0, 0), (4, 4)), peak, [(1, 1), (2, 2)], law, until=5.0)
    >>> run.positions(2.5).shape
    (2, 2)
    """
    place: dict[str, str] = {}
    if isinstance(workspace, Site):
        place, workspace = {FRAME: workspace.frame.crs}, workspace.workspace
    seed = secrets.randbits(32) if seed is None else seed
    check_options(until, seed, spacing, sample_every, max_jumps, threads, record, nu)
    threads = None if threads is None else int(threads)
    moving = workspace if isinstance(workspace, MovingPolygon) else as_workspace(workspace)
    check_controller(controller)
    check_tables("sensors", sensors, Sensor, density is None)
    check_tables("switches", switches, Switch)
    sensors, switches = listed(sensors), listed(switches)
    own = sum_of(sensors) if sensors else Uniform()
    weight = own if density is None else as_density(density)
    site = moving.now(0.0) if isinstance(moving, MovingPolygon) else moving
    check_density(density_at(weight, 0.0), site)
    places, repairs = check_start(site, start, apart=not sensors)
    links = as_network(network)
    changes, every = timeline_of(moving, weight, links, places, switches, float(until), sensors)
    count, later = len(every), len(every) - len(places)
    if ids is not None:
        check_ids(ids, count, later)
        ids = tuple(map(int, listed(ids)))
    until, seed, max_jumps = float(until), int(seed), int(max_jumps)
    spacing = None if spacing is None else float(spacing)
    system = CoverageSystem(
        site, density_at(weight, 0.0), controller, count, seed, ids, spacing, links, nu,
        radius, changes,
    )  # fmt: skip
    refuse_unfit(system)
    options = run_table(until, seed, max_jumps, spacing, record, sample_every, nu)
    world = (links, switches, sensors, system.radius)
    scenario = describe(moving, weight, places, controller, options, ids, *world)
    with stop_on_signal() as request, reported(progress) as tell:
        loop, versions = RunLoop(tell, request), made_with(scenario, system) | place
        loop.say("preparing", 0.0)
        first = beginning(system, every, threads=threads)
        spaced = "off" if record == SUMMARY and sample_every is None else sample_every
        times = sample_times(until, spaced, default_samples(system, first, until))
        recorder = Recorder(system, first, times, record, threads)
        notes = (*moving.repairs, *repairs)
        run = execute(loop, RunTask(recorder, until, max_jumps, scenario, notes, versions))
        return unless_interrupted(request, run)


def check(
    run: RunLike, *, thorough: bool = False, progress: Progress | bool | None = None
) -> Report:
    """Re-derive every jump and flow of `run` from its scenario alone; see `dwell.verify.verify`.

    Parameters
    ----------
    run
        A run with its events, or the path of its .nc file, which may be damaged.
    thorough
        Measure all samples again, and compute all centroids by the independent code, where
        otherwise some are chosen, spread evenly over the run.
    progress
        A function of what is being done and the share done; by default on the error stream.

    Returns
    -------
    Report
        ``print(report)`` shows it as a table. Its `verdict` is "solution", "altered" or
        "not-a-solution"; `ok` is true for the first.

    Examples
    --------
    >>> import dwell
    >>> dwell.check("run.nc").verdict
    'solution'
    """
    check_flag("thorough", thorough)
    run = as_run(run, even_if_damaged=True)
    now = provenance(run.system if run.details.live is None else None)
    claims = Claims(
        ended=run.stop.reason.value, intact=run.intact, metrics=run.metrics,
        same_kernels=run.provenance.get("kernels") == now["kernels"],
        assumed=run.details.assumed, live=run.details.live,
    )  # fmt: skip
    if run.details.stated is not None:
        same = all(run.provenance.get(key) == now[key] for key in ("dwell", "kernels"))
        claims = replace(claims, misstated=lambda: misstated(run, same))
    if run.details.live is None:
        claims = replace(claims, sample_times=run.details.recorder.sample_times)
    system = run.system
    if run.scenario is not None:
        system, places, _ = build(run.scenario)
        table = run.scenario.run
        claims = replace(
            claims, places=places, horizon=table.horizon, max_jumps=table.max_jumps,
            other_sources=changed_sources(run.scenario, run.provenance),
            missing=missing_site(run.scenario),
            settings=live_settings(run.scenario),
        )  # fmt: skip
    with reported(progress) as tell:
        return verify(
            system, run.start, run.events, run.horizon, claims, thorough=thorough, progress=tell
        )


def run_built(
    scenario: Scenario,
    built: tuple[CoverageSystem, Points, tuple[str, ...]],
    loop: RunLoop,
    threads: int | None,
    target: Path | None = None,
    place: Mapping[str, str] = MappingProxyType({}),
) -> Run:
    """Run a scenario from its start, given what `build` returned; saved in `target` or nowhere.

    place : the frame of a site that the scenario does not name, for the run's provenance.
    """
    system, places, repairs = built
    versions = made_with(scenario, system) | dict(place)  # before the sources can change
    loop.say("preparing", 0.0)
    recorder = recorder_of(scenario, system, beginning(system, places, threads=threads), threads)
    until, max_jumps = scenario.run.horizon, scenario.run.max_jumps
    return execute(loop, RunTask(recorder, until, max_jumps, scenario, repairs, versions, target))


def run_under(
    scenario: Scenario,
    controller: Controller,
    *,
    progress: Progress | bool | None = None,
    threads: int | None = None,
) -> Run:
    """Run a scenario under a law that no file can name; the run then has no scenario."""
    system, places, repairs = build(scenario)
    system = replace(system, controller=controller)
    with stop_on_signal() as request, reported(progress) as tell:
        loop, versions = RunLoop(tell, request), made_with(None, system)
        loop.say("preparing", 0.0)
        first = beginning(system, places, threads=threads)
        recorder = recorder_of(scenario, system, first, threads)
        until, max_jumps = scenario.run.horizon, scenario.run.max_jumps
        task = RunTask(recorder, until, max_jumps, None, repairs, versions)
        return unless_interrupted(request, execute(loop, task))


def _resumed(
    path: Path, horizon: float | None, max_jumps: int | None, loop: RunLoop, threads: int | None
) -> Run:
    """Run on from what is saved at `path`."""
    if not path.is_file():
        load_run(path)  # which says so, before anything is written beside it
    with locked(path):
        old = load_run(path)
        scenario = extended(old, path, horizon, max_jumps, provenance(old.system)["kernels"])
        place = {key: crs for key, crs in old.provenance.items() if key == FRAME}
        if is_continuous(old.system):  # it goes on bit for bit only from its beginning
            return run_built(scenario, build(scenario), loop, threads, path, place)
        recorder = taken_up(old, scenario, threads)
        loop.began -= old.details.wall_seconds
        versions, options = made_with(scenario, old.system) | place, scenario.run
        loop.say("preparing", 0.0)
        assert old.scenario is not None
        journal = old.details.journal if options.horizon == old.scenario.run.horizon else None
        task = RunTask(
            recorder, options.horizon, options.max_jumps, scenario, old.repairs, versions, path,
            old.horizon, journal,
        )  # fmt: skip
        return execute(loop, task)


def made_with(scenario: Scenario | None, system: CoverageSystem | None = None) -> dict[str, str]:
    """Which versions make a run, and the digests of the Python sources that its scenario names."""
    versions = provenance(system)
    try:
        return {**versions, **({} if scenario is None else sources_of(scenario))}
    except InputError:  # a function in Python may have been given a name that leads nowhere
        return versions


def provenance(system: CoverageSystem | None = None) -> dict[str, str]:
    """Which versions make runs, of `system` or of any; `kernels` is the digest of the sources."""
    import numba

    from dwell.engine.sources import source_digest

    return {
        "dwell": dwell.__version__,
        "kernels": source_digest(system),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "platform": platform.platform(),
    }

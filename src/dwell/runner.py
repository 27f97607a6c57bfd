"""The one path from a scenario to a run: command line, page, sweeps and notebooks all take it."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell._checks import check_whole
from dwell._types import Points, finite_number, in_short, is_one_of, is_whole, listed
from dwell.agents import CoverageSystem, check_start
from dwell.agents.continuous import beginning, is_continuous
from dwell.agents.network import PERFECT, Network
from dwell.density import Density, Uniform, as_density
from dwell.density.support import check_density
from dwell.errors import ControllerError, InputError, Interrupted, StoreError, UnsavedError
from dwell.geometry import Workspace, as_workspace
from dwell.hybrid import Stop, StopReason
from dwell.progress import EXPECTING, Progress, reported
from dwell.results import Run, RunLike, as_run, load_run, save_run
from dwell.results.drive import Drive, Watch
from dwell.results.files import check_target, make_ready, shown
from dwell.results.interrupts import Asked, asked_to_stop
from dwell.results.journal import UNSAVED, Journal, clear
from dwell.results.lock import locked
from dwell.results.memory import need_of, refuse_too_much
from dwell.results.plain import names_of, plain
from dwell.results.recorder import (
    EVENTS,
    SAMPLES,
    SUMMARY,
    Recorder,
    default_samples,
    recorder_of,
    sample_times,
)
from dwell.results.resume import extended, taken_up
from dwell.results.store import write_beginning
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.describe import describe
from dwell.scenario.guards import as_path
from dwell.scenario.modules import changed_sources, sources_of
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
    told: Callable[[int], None] | None = None,
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
    told
        Called with the number of the first signal.
    watch
        Called with every piece of the run once it is recorded, see `dwell.results.drive.Watch`.

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
    scenario = with_seed(as_scenario(scenario), seed)
    check_whole("threads", threads, 1, optional=True)
    with asked_to_stop(told) as asked, reported(progress) as tell:
        drive = Drive(tell, asked, None, 0.0, watch)
        return _unless_interrupted(asked, _run(scenario, out, force, drive, threads), out)


def resume_run(
    path: str | os.PathLike[str],
    *,
    horizon: float | None = None,
    max_jumps: int | None = None,
    progress: Progress | bool | None = None,
    threads: int | None = None,
    told: Callable[[int], None] | None = None,
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
    told : callable, optional
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
    check_whole("threads", threads, 1, optional=True)
    with asked_to_stop(told) as asked, reported(progress) as tell:
        run = _resume(as_path(path), horizon, max_jumps, asked, tell, threads)
        return _unless_interrupted(asked, run, path)


def simulate(
    workspace: Workspace,
    density: Density | Callable[[Points], Any] | None,
    start: object,
    controller: Any,
    *,
    until: float,
    seed: int | None = 0,
    ids: tuple[int, ...] | None = None,
    spacing: float | None = None,
    network: Network | None = None,
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
    `network` loses looks and messages, or makes them late.
    `record` says what is kept: "events" (all), "samples" or "summary" (the numbers and the end).
    `sample_every` is the time between samples of the metrics, "off" for none. By default it is a
    thousandth of `until`, a hundredth in four and more dimensions, and a summary has none. A
    sample costs a cell of every agent. For a density that is a function there are so few that
    they cost at most as much as the run: one for every two looks of an agent, at most a hundred,
    or at most ten where the law chooses its waits on the way. With `spacing` a function is
    evaluated once, on the grid, and there are a thousand again.

    Parameters
    ----------
    workspace
        The region, or the vertices of a convex polygon.
    density
        A density or a function of points; None is uniform.
    start
        Positions of the agents, (N, n).
    controller
        The law, such as ``dwell.Timer(...)``.
    until
        The time at which the run ends.
    seed
        The seed of all random draws, 0 by default; with None a fresh one is drawn and recorded.
    ids
        Whose random draws each agent uses; 0, 1, 2, ... by default.
    max_jumps
        Jumps after which the run ends early.
    nu
        The error that counts as covered, the law's own by default.
    progress
        A function of what is being done and the share done. By default progress appears on the
        error stream once the run has taken two seconds; False turns that off.
    threads
        Threads for the metrics; all processors by default. It changes no bit.

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
    >>> hill = dwell.Gaussian(center=(3, 1), rate=0.1)
    >>> run = dwell.simulate(dwell.Box((0, 0), (4, 4)), hill, [(1, 1), (2, 2)], law, until=5.0)
    >>> run.positions(2.5).shape
    (2, 2)
    """
    seed = secrets.randbits(32) if seed is None else seed
    _check_number("until", until, "a time from 0 on", "run.horizon")
    _check_options(seed, spacing, sample_every, max_jumps, threads)
    _check_record(record, sample_every)
    if nu is not None:
        _check_number("nu", nu, "a positive length", "run.nu", above=True)
    workspace = as_workspace(workspace)
    until, seed, max_jumps = float(until), int(seed), int(max_jumps)
    spacing = None if spacing is None else float(spacing)
    usable = hasattr(controller, "begin") and hasattr(controller, "decide")
    if not usable or isinstance(controller, type):
        raise ControllerError(
            f"the controller is {_kind_of(controller)}; an object with the methods "
            "begin(view) and decide(view) is needed, such as dwell.Timer(...)",
            code="controller.kind",
        )
    weight = Uniform() if density is None else as_density(density)
    check_density(weight, workspace)
    places, repairs = check_start(workspace, start)
    if ids is not None:
        _check_ids(ids, len(places))
    integration = {"kind": "exact"} if spacing is None else {"kind": "grid", "spacing": spacing}
    every = sample_every
    kept = {"kind": record} if every is None else {"kind": record, "sample_every": every}
    options = {
        "horizon": until, "seed": seed, "integration": integration, "record": kept,
        "max_jumps": max_jumps, **({} if nu is None else {"nu": float(nu)}),
    }  # fmt: skip
    links = PERFECT if network is None else network
    if not isinstance(links, Network):
        need = "a dwell.Network(loss=..., delay=...) is needed"
        raise InputError(f"network is {in_short(links)}; {need}", code="network", key="network")
    scenario = describe(workspace, weight, places, controller, options, ids, links)
    system = CoverageSystem(
        workspace, weight, controller, len(places), seed, ids, spacing, links, nu
    )
    with asked_to_stop() as asked, reported(progress) as tell:
        drive = Drive(tell, asked, None, 0.0)
        drive.made_with = _made_with(scenario)
        drive.say("preparing", 0.0)
        first = beginning(system, places, threads=threads)
        every = "off" if record == SUMMARY and every is None else every
        times = sample_times(until, every, default_samples(system, first, until))
        recorder = Recorder(system, first, times, record, threads)
        _state_need(drive, recorder, until, max_jumps, saved=False)
        recorder, stop = _driven(drive, recorder, 0.0, until, max_jumps)
        run = _finished(drive, recorder, stop, scenario, (*workspace.repairs, *repairs))
        return _unless_interrupted(asked, run)


def _kind_of(controller: object) -> str:
    """What was given in the place of a law: a class, or an object of some type."""
    if isinstance(controller, type):
        return f"the class {controller.__name__}"
    return f"of type {type(controller).__name__}"


def _unless_interrupted(asked: Asked, run: Run, path: str | os.PathLike[str] | None = None) -> Run:
    """`run`, kept at `path` or nowhere, unless a signal came while it was made."""
    if not asked and run.stop.reason is not StopReason.INTERRUPTED:
        return run
    later = "the run up to there is in this exception's attribute run"
    if run.stop.reason is not StopReason.INTERRUPTED:
        later = "the run was over by then, and is in this exception's attribute run"
    elif path is not None:
        later = f"go on with dwell.resume_run({shown(path)!r})"
    raise Interrupted(f"stopped at t = {run.horizon:g}; {later}", run)


def _check_ids(ids: object, agents: int) -> None:
    given = listed(ids)
    good = all(is_whole(i) and 0 <= i < 2**31 for i in given)
    if not good or len(given) != agents or len(set(given)) != agents:
        need = f"{agents} different whole numbers from 0 to 2147483647, one per agent, are needed"
        raise InputError(f"ids is {in_short(ids)}; {need}", code="agents.ids", key="agents.ids")


def _check_record(record: object, sample_every: object) -> None:
    if not is_one_of(record, (EVENTS, SAMPLES, SUMMARY)):
        need = 'one of "events", "samples" and "summary" is needed'
        raise InputError(
            f"record is {in_short(record)}; {need}", code="run.record", key="run.record.kind"
        )
    if record == SAMPLES and is_one_of(sample_every, ("off",)):
        raise InputError(
            'sample_every is "off", which leaves nothing of record = "samples"; use "summary"',
            code="run.samples",
        )


def _check_options(
    seed: object, spacing: object, sample_every: object, max_jumps: object, threads: object
) -> None:
    """What a scenario file would refuse, refused also where no file can describe the run."""
    check_whole("seed", seed)
    check_whole("max_jumps", max_jumps, 1)
    check_whole("threads", threads, 1, optional=True)
    if spacing is not None:
        _check_number("spacing", spacing, "a positive length", "integration.spacing", above=True)
    if sample_every is not None and not is_one_of(sample_every, ("off",)):
        need = 'a positive time or "off"'
        _check_number("sample_every", sample_every, need, "run.samples", above=True)


def _check_number(name: str, value: object, need: str, code: str, above: bool = False) -> None:
    number = finite_number(value)
    if number is None or number < 0.0 or (above and number == 0.0):
        raise InputError(f"{name} is {in_short(value)}; {need} is needed", code=code)


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
        A function of what is being done and the share done. By default progress appears on the
        error stream after two seconds; False turns that off.

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
    run = as_run(run, even_if_damaged=True)
    claims = Claims(
        ended=run.stop.reason.value,
        intact=run.intact,
        same_kernels=run.provenance.get("kernels") == provenance()["kernels"],
        metrics=run.metrics,
        assumed=run.assumed,
    )
    system = run.system
    if run.scenario is not None:
        system, places, _ = build(run.scenario)
        asked = run.scenario.run
        claims = replace(
            claims, places=places, horizon=asked.horizon, max_jumps=asked.max_jumps,
            other_sources=changed_sources(run.scenario, run.provenance),
        )  # fmt: skip
    with reported(progress) as tell:
        return verify(
            system, run.start, run.events, run.horizon, claims, thorough=thorough, progress=tell
        )


def _run(
    scenario: Scenario,
    out: str | os.PathLike[str] | None,
    force: bool,
    drive: Drive,
    threads: int | None,
) -> Run:
    if out is None:
        return _executed(scenario, None, drive, threads)
    target = check_target(out, force=force)
    with locked(target):
        check_target(target, force=force)  # somebody else may have been here before the lock
        return _executed(scenario, target, drive, threads)


def _executed(scenario: Scenario, target: Path | None, drive: Drive, threads: int | None) -> Run:
    system, places, repairs = build(scenario)
    drive.made_with = _made_with(scenario)  # before the sources can change
    drive.say("preparing", 0.0)
    recorder = recorder_of(scenario, system, beginning(system, places, threads=threads), threads)
    if target is not None:
        plain(recorder.start.memory, names_of(system.controller))  # refused now, not hours later
    drive.journal = _journal(drive, target, recorder, scenario, repairs)
    asks = scenario.run
    _state_need(drive, recorder, asks.horizon, asks.max_jumps, saved=target is not None)
    recorder, stop = _driven(drive, recorder, 0.0, asks.horizon, asks.max_jumps)
    run = _finished(drive, recorder, stop, scenario, repairs)
    return run if target is None else _kept(drive, run, target)


def _state_need(
    drive: Drive, recorder: Recorder, until: float, max_jumps: int, *, saved: bool
) -> None:
    """Say what the run will need, and refuse it if that is not there."""
    need = need_of(recorder, until, max_jumps, saved=saved)
    drive.say(f"{EXPECTING} {need.says}", 0.0)
    refuse_too_much(need, recorder.kind)


def _driven(
    drive: Drive, recorder: Recorder, reached: float, until: float, max_jumps: int
) -> tuple[Recorder, Stop]:
    """The run from where `recorder` is to its end."""
    if is_continuous(recorder.system):
        return drive.solve(recorder, until, max_jumps)
    return recorder, drive.on(recorder, reached, until, max_jumps)


def _finished(
    drive: Drive,
    recorder: Recorder,
    stop: Stop,
    scenario: Scenario | None,
    repairs: tuple[str, ...],
) -> Run:
    drive.say("measuring", 1.0)
    metrics, tally = recorder.ending(stop)
    about = dict(drive.made_with)
    if drive.journal is not None and (fault := drive.journal.wait()):
        about[UNSAVED] = fault
    return Run(
        recorder.system, recorder.start, stop, metrics, recorder, tally, recorder.table(),
        scenario, repairs, about, drive.wall,
    )  # fmt: skip


def _journal(
    drive: Drive,
    target: Path | None,
    recorder: Recorder,
    scenario: Scenario,
    repairs: tuple[str, ...],
    goes_on: tuple[str, int] | None = None,
) -> Journal | None:
    """Where the run is put away on its way; None if nowhere."""
    every = scenario.run.checkpoint.every
    if target is None or not isinstance(every, float) or is_continuous(recorder.system):
        return None
    make_ready()
    place, still = target, Stop(StopReason.INTERRUPTED, 0.0)

    def first(name: str) -> None:
        """The run before its first jump."""
        blank = recorder_of(scenario, recorder.system, recorder.start)
        metrics, tally = blank.ending(still)
        beginning_of_run = Run(
            blank.system, blank.start, still, metrics, blank, tally, blank.table(), scenario,
            repairs, drive.made_with, 0.0,
        )  # fmt: skip
        write_beginning(beginning_of_run, place, name)

    name, parts = goes_on or (None, 0)
    journal = Journal(target, every, first, name, parts)
    if goes_on is not None:
        journal.skip(recorder)
    return journal


def _kept(drive: Drive, run: Run, target: Path) -> Run:
    """`run`, now in its file; the journal is no longer needed."""
    drive.say("saving", 1.0)
    try:
        save_run(run, target, force=True)
    except StoreError as fault:
        advice = 'free some space, or take another folder or run.record.kind = "summary"'
        if drive.journal is not None and drive.journal.begun:
            advice += f"; its last checkpoint goes on with dwell run --resume {shown(target)}"
        raise UnsavedError(f"{fault}; {advice}", run=run) from fault
    clear(target)
    return run


def _resume(
    path: Path,
    horizon: float | None,
    max_jumps: int | None,
    asked: Asked,
    tell: Progress,
    threads: int | None,
) -> Run:
    if not path.is_file():
        load_run(path)  # which says so, before anything is written beside it
    with locked(path):
        old = load_run(path)
        scenario = extended(old, path, horizon, max_jumps, provenance()["kernels"])
        asks = scenario.run
        if is_continuous(old.system):  # it goes on bit for bit only from its beginning
            return _executed(scenario, path, Drive(tell, asked, None, 0.0), threads)
        recorder = taken_up(old, scenario, threads)
        drive = Drive(tell, asked, None, old.wall_seconds)
        drive.made_with = _made_with(scenario)
        drive.say("preparing", 0.0)
        same = old.journal if asks.horizon == _horizon(old) else None
        drive.journal = _journal(drive, path, recorder, scenario, old.repairs, same)
        _state_need(drive, recorder, asks.horizon, asks.max_jumps, saved=True)
        recorder, stop = _driven(drive, recorder, old.horizon, asks.horizon, asks.max_jumps)
        return _kept(drive, _finished(drive, recorder, stop, scenario, old.repairs), path)


def _horizon(run: Run) -> float:
    assert run.scenario is not None
    return run.scenario.run.horizon


def _made_with(scenario: Scenario | None) -> dict[str, str]:
    """Which versions make a run, and the digests of the Python sources that its scenario names."""
    try:
        return {**provenance(), **({} if scenario is None else sources_of(scenario))}
    except InputError:  # a function in Python may have been given a name that leads nowhere
        return provenance()


def provenance() -> dict[str, str]:
    """Which versions made a run."""
    import numba

    from dwell._kernels._jit import source_digest

    return {
        "dwell": dwell.__version__,
        "kernels": source_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "platform": platform.platform(),
    }

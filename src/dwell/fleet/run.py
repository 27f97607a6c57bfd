"""run_fleet: a scenario as a live fleet on this machine, from its start to a stored run."""

from __future__ import annotations

import math
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from warnings import warn

import numpy as np

from dwell._checks import check_callable
from dwell._types import Points, in_short
from dwell.engine.interrupts import stop_on_signal
from dwell.errors import Aborted, DwellWarning, FleetError, InputError, StoreError
from dwell.execution import exiting, unless_interrupted
from dwell.fleet.configuration import fleet_plan, fleet_settings, refuse_fleet, refuse_overlap
from dwell.fleet.journal import FleetJournal, fleet_journals
from dwell.fleet.launch import FleetProcess, FleetStatus, launch
from dwell.fleet.merge import merged, missing, read_journals
from dwell.fleet.plant import Plant
from dwell.fleet.secret import read_secret
from dwell.fleet.virtual import VirtualFleet, pose_of
from dwell.hybrid import Stop, StopReason
from dwell.live.agent import Decided
from dwell.live.record import LiveRecord, belief_type, sample_type
from dwell.live.settings import live_law
from dwell.progress import Progress, reported
from dwell.results import Run, save_run
from dwell.results.files import check_target, locked
from dwell.results.live_run import live_run
from dwell.runner import made_with
from dwell.scenario import Scenario, ScenarioLike, as_scenario, parse_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.guards import as_path
from dwell.scenario.trust import withheld

TRANSPORTS = ("memory", "udp", "zenoh")
Watch = Callable[[FleetStatus, FleetProcess], None]


def run_fleet(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    transport: str = "udp",
    hosts: int | None = None,
    realtime: bool = False,
    restart: bool = True,
    plants: Callable[[int, Points], Plant] | None = None,
    progress: Progress | bool | None = None,
    watch: Watch | None = None,
    on_signal: Callable[[int], None] | None = None,
) -> Run:
    """Run `scenario` as a live fleet: agents are processes of this machine, in real time.

    One second of the scenario takes one second. Each agent samples on its own clock, from what the
    messages of the others say. Journals of all processes become one run, which `dwell.check`
    verifies.

    Parameters
    ----------
    scenario
        A Scenario, a mapping of its tables, or the path of its file; its table [fleet] has the
        settings.
    seed
        The seed of all random draws, in place of the scenario's.
    out
        The .nc file for the run. Journals lie beside it until it is written.
    force
        Whether an existing file may be replaced.
    transport
        "udp" or "zenoh"; "memory" for one process in virtual time, which is exactly a simulation
        unless faults are injected.
    hosts
        Number of processes; one per agent for up to 64 agents unless given.
    realtime
        Whether agents get real-time priority, where the system permits it.
    restart
        Whether processes that die are started again.
    plants
        A function of the number of an agent and its start that returns its robot, an object with
        the methods of `dwell.fleet.plant.Plant`; exact robots by default. With transport "memory"
        alone, since other processes do not share Python objects. Robots are closed at the end.
    progress
        As in `run_scenario`.
    watch
        Called some 20 times a second with a `FleetStatus` and the processes.
    on_signal
        Called with the number of the first signal.

    Returns
    -------
    Run
        Its `details.live` is the record of samples and beliefs.

    Examples
    --------
    >>> import dwell
    >>> short = dwell.load_scenario("site.toml", ["run.horizon=2"])
    >>> dwell.run_fleet(short, transport="memory").stop.reason.value
    'horizon'
    """
    scenario = with_seed(as_scenario(scenario), seed)
    if transport not in TRANSPORTS:
        says = f"transport is {transport!r}; one of {', '.join(TRANSPORTS)} is needed"
        raise InputError(says, code="fleet.transport")
    if transport != "memory" and scenario.run.horizon == 0.0:
        says = "run.horizon is 0, but a live fleet takes time; use more, or transport memory"
        raise InputError(says, code="fleet", key="run.horizon")
    system, starts, _ = build(scenario)
    refuse_fleet(scenario, system, starts)
    if plants is not None:
        _refuse_plants(plants, transport)
    target = None if out is None else check_target(out, force=force)
    with stop_on_signal(on_signal) as request, reported(progress) as tell:
        if transport == "memory":
            run = _in_memory(scenario, tell, lambda: bool(request), plants)
            return unless_interrupted(request, _kept(run, target, force), out)
        with _journals(target, force) as folder:
            plan = fleet_plan(
                scenario, folder, f"{scenario.name or 'fleet'}-{secrets.token_hex(4)}"
            )
            began = time.monotonic()

            def show(status: FleetStatus, processes: FleetProcess) -> None:
                tell(_line(status, len(plan.positions)), max(status.time, 0.0) / plan.until)
                if watch is not None:
                    watch(status, processes)

            try:
                tell("loading", 0.0)
                reached, killed = launch(
                    scenario, plan, transport=transport, hosts=hosts,
                    realtime=realtime, restart=restart, watch=show, stopping=lambda: bool(request),
                )  # fmt: skip
                if request and reached == 0.0:  # no agent has moved
                    shutil.rmtree(folder)
                    raise KeyboardInterrupt
                tell("merging", 1.0)
                took = time.monotonic() - began
                run = merge_journals(
                    folder, partial=True, reached=reached, elapsed=took, allow_code=True
                )
                _kept(run, target, force)
            except FleetError:
                if not any(len(one.samples) for one in fleet_journals(folder)):
                    shutil.rmtree(folder)
                raise
            except KeyboardInterrupt:
                if not folder.exists():
                    raise
                says = f"aborted; keep what was done with dwell merge {folder} --partial"
                raise exiting(Aborted(f"{says} --out {out or 'RUN.nc'}")) from None
            shutil.rmtree(folder)
            if killed and not request:
                kept = "this exception's attribute run" if out is None else str(out)
                fault = FleetError(f"{killed}; the run up to t = {run.horizon:g} is in {kept}")
                fault.run = run
                raise fault
            return unless_interrupted(request, run, out)


def merge_journals(
    folder: str | os.PathLike[str],
    *,
    partial: bool = False,
    reached: float | None = None,
    elapsed: float | None = None,
    allow_code: bool = False,
    key: str | os.PathLike[str] | None = None,
) -> Run:
    """The run that the journals in a folder record.

    Parameters
    ----------
    folder
        The folder with the journals of all agents of one run.
    partial
        Whether journals may be missing or damaged, or their clocks not comparable. Agents without
        a journal stand until their first recorded sample.
    reached
        The time up to which the fleet ran; up to the last sample unless given.
    elapsed
        How long it took, in seconds; the time up to which the fleet ran unless given.
    allow_code
        Whether Python modules that the journals name are imported, although these were written by
        another user or on another machine.
    key
        The file with the secret that the agents shared. Journals are then needed with their seals,
        and one that was changed since is refused; seals are not compared without it.

    Returns
    -------
    Run

    Examples
    --------
    >>> import dwell
    >>> dwell.merge_journals(".")
    Traceback (most recent call last):
    dwell.errors.StoreError: . holds no journals of a fleet
    """
    secret = read_secret(None if key is None else as_path(key))
    journals, left_out = read_journals(as_path(folder), partial=partial, key=secret)
    if left_out:
        warn(f"left out: {left_out}", DwellWarning, stacklevel=2)
    header = journals[0].header
    scenario = withheld(
        parse_scenario(header["scenario"]), header.get("seal"), str(journals[0].path),
        allow_code=allow_code,
    )  # fmt: skip
    system, positions, _ = build(scenario)
    if not partial:
        _refuse_incomplete(journals, system.agents)
    live = merged(journals)
    if not partial and math.isinf(live.uncertainty):
        says = "some boots have not heard each other both ways, so their clocks cannot be compared"
        raise _without_partial(f"{says}, nor their samples put in order; leave them out")
    horizon = float(scenario.run.horizon)
    last = float(live.times[-1]) if len(live.samples) else 0.0
    if reached is None:
        ends = [last if one.ended is None else one.ended for one in _last_boots(journals)]
        reached = min(horizon, *ends)
    until = max(reached, last)
    took = until if elapsed is None else elapsed
    reason = StopReason.HORIZON if until >= horizon else StopReason.INTERRUPTED
    places = positions.copy()
    for p in range(system.agents):
        own = live.samples[live.samples["agent"] == p]
        if len(own) and not live.exact:
            places[p] = own["position"][0]
    return live_run(scenario, live, places, Stop(reason, until), made_with(scenario), took)


def _refuse_incomplete(journals: Sequence[FleetJournal], agents: int) -> None:
    """Refuse journals of which some are missing or damaged."""
    folder = journals[0].path.parent
    if lacking := missing(journals, agents):
        raise _without_partial(f"{folder} lacks {lacking}; collect the journals of all machines")
    if lost := [f"the last {one.lost} bytes of {one.path.name}" for one in journals if one.lost]:
        raise _without_partial(f"{folder} lacks {', '.join(lost)}, by damage; copy them again")


def _without_partial(says: str) -> StoreError:
    return StoreError(f"{says}, or merge with --partial (partial=True)", code="fleet.journal")


def _last_boots(journals: Sequence[FleetJournal]) -> list[FleetJournal]:
    """The last journal of each host."""
    return list({one.header["host"]: one for one in journals}.values())


def _refuse_plants(plants: object, transport: str) -> None:
    """Refuse robots in other processes, and what is no function."""
    if transport != "memory":
        says = f"plants are given with transport {transport!r}, whose processes do not share them"
        more = 'use transport "memory", or run_agent(..., robot=...) in a process for each robot'
        raise InputError(f"{says}; {more}", code="fleet.plants")
    check_callable("plants", plants)


def _made_plants(
    plants: Callable[[int, Points], Plant], positions: Points, stack: ExitStack
) -> list[Plant]:
    """The robots of all agents, which `stack` closes; refused where one is no robot."""
    made = []
    needed = ("pose", "hold", "stop", "close", "exact")
    for p, place in enumerate(positions):
        one = plants(p, place.copy())
        if hasattr(one, "close"):
            stack.callback(one.close)
        if lacking := [name for name in needed if not hasattr(one, name)]:
            says = f"the robot of agent {p} is {in_short(one)}, which has no {lacking[0]}"
            need = f"an object with {', '.join(needed[:-1])} and {needed[-1]} is needed"
            raise InputError(f"{says}; {need}", code="fleet.plants")
        made.append(one)
    return made


def _in_memory(
    scenario: Scenario,
    tell: Progress,
    stopping: Callable[[], bool],
    plants: Callable[[int, Points], Plant] | None = None,
) -> Run:
    """A fleet in virtual time."""
    system, positions, _ = build(scenario)
    settings, faults = fleet_settings(scenario)
    law = live_law(system, replace(settings, margin=0.0))
    made: list[Decided] = []
    until, now = float(scenario.run.horizon), 0.0
    with ExitStack() as stack:
        robots = None if plants is None else _made_plants(plants, positions, stack)
        if robots is not None:
            poses = [pose_of(robot, p, 0.0, system.dimension) for p, robot in enumerate(robots)]
            positions = np.array([pose.position for pose in poses])
            refuse_overlap(scenario, system, positions)
        fleet = VirtualFleet(law, positions, faults, made.append, plants=robots)
        while now < until and not stopping():
            now = min(now + until / 200, until)
            fleet.run(now)
            tell(f"t = {now:g}, {len(made)} samples", now / until)
        exact = all(robot.exact for robot in robots or ())
    n = system.dimension
    rows = np.array([one.sample for one in made], dtype=sample_type(n))
    beliefs = [one.beliefs for one in made] or [np.empty(0, belief_type(n))]
    counts = np.array([len(one.beliefs) for one in made], dtype=np.int64)
    live = LiveRecord(
        law.settings.table(), rows, np.concatenate(beliefs), counts, np.zeros(len(rows)), 0.0,
        exact, {},
    )  # fmt: skip
    reason = StopReason.HORIZON if now >= until else StopReason.INTERRUPTED
    return live_run(scenario, live, positions, Stop(reason, now), made_with(scenario))


def _line(status: FleetStatus, agents: int) -> str:
    """What the progress of a fleet says."""
    if status.time < 0.0:
        return f"starting: {status.known} of {agents} agents are there"
    dead = f", {status.deaths} deaths" if status.deaths else ""
    there = f"{status.known} of {agents} agents, {status.samples} samples"
    return f"t = {status.time:.0f} s, {there}{dead}"


@contextmanager
def _journals(target: Path | None, force: bool) -> Iterator[Path]:
    """The folder of journals: beside the run's file, or a temporary one. It stays after errors."""
    if target is None:
        folder = Path(tempfile.mkdtemp(prefix="dwell-fleet-"))
    else:
        folder = target.with_name(f"{target.name}.journals")
        if folder.exists() and not force:
            says = f"{folder} holds the journals of a fleet whose run was not written"
            other = f"dwell merge {folder} --out {target}, or --force to drop them"
            raise StoreError(f"{says}; {other}", code="fleet.journal")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def _kept(run: Run, target: Path | None, force: bool) -> Run:
    if target is not None:
        with locked(target):
            save_run(run, target, force=force)
    return run

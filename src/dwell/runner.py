"""The one path from a scenario to a run: command line, page, sweeps and notebooks all take it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

import dwell
from dwell._types import Floats, Points, finite_number, is_whole
from dwell.agents import CoverageSystem, check_start, run_compiled, table_of
from dwell.agents.continuous import beginning, is_continuous, solve_continuous
from dwell.agents.engine import can_compile
from dwell.agents.network import PERFECT, Network
from dwell.density import Density, Uniform, as_density
from dwell.density.looking import is_dear
from dwell.density.support import check_density
from dwell.errors import ControllerError, InputError
from dwell.geometry import Workspace, as_workspace
from dwell.hybrid import Stop, StopReason
from dwell.hybrid import simulate as solve
from dwell.results import Run
from dwell.results.run import touching
from dwell.scenario import Scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.describe import describe
from dwell.theory import Report, measure
from dwell.theory.metrics import snapshots
from dwell.theory.verify import Claims, verify

Progress = Callable[[str, float], None]  # told what is being done, and how much of it is done

DEFAULT_SAMPLES = 1000
DEAR_SAMPLES = 100  # where a look takes long, see dwell.density.looking.is_dear
MOST_SAMPLES = 10_000_000


def run_scenario(
    scenario: Scenario, *, progress: Progress | None = None, threads: int | None = None
) -> Run:
    """Build, simulate and measure `scenario`. Pure: no files, no printing."""
    scenario = with_seed(scenario)
    system, start, repairs = build(scenario)
    usual = default_samples(system)
    times = sample_times(scenario.run.horizon, scenario.run.record.sample_every, usual)
    limits = {"until": scenario.run.horizon, "max_jumps": scenario.run.max_jumps}
    return _execute(system, start, times, limits, scenario, repairs, progress, threads)


def simulate(
    workspace: Workspace,
    density: Density | Callable[[Points], Any] | None,
    start: object,
    controller: Any,
    *,
    until: float,
    seed: int = 0,
    ids: tuple[int, ...] | None = None,
    spacing: float | None = None,
    network: Network | None = None,
    sample_every: float | str | None = None,
    max_jumps: int = 50_000_000,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Run:
    """Simulate `controller` from `start` on `workspace` until time `until`.

    `density` may be any function of points; `controller` anything with the two methods of
    `dwell.agents.Controller`. `spacing` integrates on a grid of points instead of exactly.
    `network` loses looks and messages, or makes them late.
    `sample_every` is the time between samples of the metrics, "off" for none. By default it is a
    thousandth of `until`; a hundredth in four and more dimensions, and for functions in three.
    """
    _check_number("until", until, "a time from 0 on", "run.horizon")
    _check_options(seed, spacing, sample_every, max_jumps, threads)
    workspace = as_workspace(workspace)
    until, seed, max_jumps = float(until), int(seed), int(max_jumps)
    if not (hasattr(controller, "begin") and hasattr(controller, "decide")):
        raise ControllerError(
            f"the controller is a {type(controller).__name__}; an object with the methods "
            "begin(view) and decide(view) is needed, such as dwell.Timer(...)",
            code="controller.kind",
        )
    weight = Uniform() if density is None else as_density(density)
    check_density(weight, workspace)
    places, repairs = check_start(workspace, start)
    if ids is not None:
        _check_ids(ids, len(places))
    integration = {"kind": "exact"} if spacing is None else {"kind": "grid", "spacing": spacing}
    record = {} if sample_every is None else {"sample_every": sample_every}
    options = {
        "horizon": until, "seed": seed, "integration": integration, "record": record,
        "max_jumps": max_jumps,
    }  # fmt: skip
    links = PERFECT if network is None else network
    scenario = describe(workspace, weight, places, controller, options, ids, links)
    system = CoverageSystem(workspace, weight, controller, len(places), seed, ids, spacing, links)
    times = sample_times(until, sample_every, default_samples(system))
    limits = {"until": until, "max_jumps": max_jumps}
    all_repairs = (*workspace.repairs, *repairs)
    return _execute(system, places, times, limits, scenario, all_repairs, progress, threads)


def _check_ids(ids: object, agents: int) -> None:
    listed = list(ids) if isinstance(ids, Iterable) else []
    good = all(is_whole(i) and 0 <= i < 2**31 for i in listed)
    if not good or len(listed) != agents or len(set(listed)) != agents:
        need = f"{agents} different whole numbers from 0 to 2147483647, one per agent, are needed"
        raise InputError(f"ids is {ids!r}; {need}", code="agents.ids", key="agents.ids")


def _check_options(
    seed: object, spacing: object, sample_every: object, max_jumps: object, threads: object
) -> None:
    """What a scenario file would refuse, refused also where no file can describe the run."""
    wholes = [("seed", seed, 0), ("max_jumps", max_jumps, 1)]
    for name, whole, least in [*wholes, ("threads", 1 if threads is None else threads, 1)]:
        if not is_whole(whole) or whole < least:
            need = f"a whole number from {least} on is needed"
            raise InputError(f"{name} is {whole!r}; {need}", code=f"run.{name}", key=f"run.{name}")
    if spacing is not None:
        _check_number("spacing", spacing, "a positive length", "integration.spacing", above=True)
    if sample_every is not None and sample_every != "off":
        need = 'a positive time or "off"'
        _check_number("sample_every", sample_every, need, "run.samples", above=True)


def _check_number(name: str, value: object, need: str, code: str, above: bool = False) -> None:
    number = finite_number(value)
    if number is None or number < 0.0 or (above and number == 0.0):
        raise InputError(f"{name} is {value!r}; {need} is needed", code=code)


def check(run: Run, *, progress: Progress | None = None) -> Report:
    """Re-derive every jump and flow of `run` from its scenario alone; see `dwell.theory.verify`."""
    intact = run.provenance.get("intact")
    claims = Claims(
        ended=run.stop.reason.value,
        intact=None if intact is None else intact == "true",
        same_kernels=run.provenance.get("kernels") == provenance()["kernels"],
        metrics=run.metrics,
        assumed=run.assumed,
    )
    system = run.system
    if run.scenario is not None:
        system, places, _ = build(run.scenario)
        asked = run.scenario.run
        claims = replace(claims, places=places, horizon=asked.horizon, max_jumps=asked.max_jumps)
    return verify(system, run.start, run.events, run.horizon, claims, progress=progress)


def default_samples(system: CoverageSystem) -> int:
    """How many samples are taken if nobody says: fewer where looks are dear."""
    return DEAR_SAMPLES if is_dear(system.ground) else DEFAULT_SAMPLES


def sample_times(horizon: float, every: float | str | None, usual: int = DEFAULT_SAMPLES) -> Floats:
    """Multiples of `every` up to the horizon, and the horizon; none when it is "off"."""
    if every == "off":
        return np.empty(0)
    step = horizon / usual if every is None else float(every)
    if step <= 0.0:
        return np.array([0.0])
    if horizon / step > MOST_SAMPLES:
        raise InputError(
            f"sample_every is {every!r}, which makes {horizon / step:.3g} samples; at most "
            f"{MOST_SAMPLES:.0e} are taken: use {horizon / MOST_SAMPLES:.3g} or more",
            code="run.samples",
            key="run.record.sample_every",
        )
    times = np.arange(int(np.floor(horizon / step)) + 1) * step
    times = times[times < horizon]
    return np.append(times, horizon)


def _execute(
    system: CoverageSystem,
    start: Points,
    times: Floats,
    limits: dict[str, Any],
    scenario: Scenario | None,
    repairs: tuple[str, ...],
    progress: Progress | None,
    threads: int | None,
) -> Run:
    tell = progress or (lambda what, share: None)
    began = time.perf_counter()
    tell("preparing", 0.0)
    state = beginning(system, start)
    until = max(float(limits["until"]), 1e-300)
    limits = {**limits, "progress": lambda t: tell("simulating", t / until)}
    if is_continuous(system):
        arc = solve_continuous(system, state, **limits)
    elif can_compile(system):
        arc = run_compiled(system, state, **limits)
    else:
        arc = solve(system, state, max_simultaneous=2 * system.agents + 1000, **limits)
    table = table_of(arc)
    state = arc.states[0]  # a differential equation's first leg bends only once it is solved
    tell("measuring", 1.0)
    times = times[times <= arc.until]
    times = times[~touching(snapshots(state, table, times))]  # there, cells are not defined
    try:
        metrics = measure(system, state, table, times, threads=threads)
    except KeyboardInterrupt:  # the solution is whole: keep it, without samples
        metrics = measure(system, state, table, times[:0])
        why = Stop(StopReason.INTERRUPTED, arc.until, "while measuring; no samples were kept")
        arc = replace(arc, stop=why)
    wall = time.perf_counter() - began
    return Run(system, arc, table, metrics, scenario, repairs, provenance(), wall)


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

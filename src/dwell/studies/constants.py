"""Lipschitz constants of a scenario: at its start, along a run of it, and over samples."""

from __future__ import annotations

from collections.abc import Callable

from dwell._checks import check_whole
from dwell._types import Points, finite_number, in_short
from dwell.agents import CoverageSystem
from dwell.cells.backend import is_expensive
from dwell.engine.recorder import default_samples
from dwell.errors import DensityError, InputError
from dwell.progress import Progress
from dwell.results import Run
from dwell.runner import run_scenario
from dwell.scenario import Scenario
from dwell.theory.lipschitz import (
    MOST_TIMES,
    Attained,
    Lipschitz,
    closest_pair,
    lipschitz_along,
    lipschitz_at,
    lipschitz_sampled,
)
from dwell.theory.lipschitz_bound import lipschitz_bound

SAMPLES = 100
MOST_SAMPLES = 1_000_000
MOST_CELLS = 20_000  # agents times samples, unless samples are given
FEW_CELLS = 100  # where a cell takes long
PATIENCE = 10.0  # seconds that a run may take, as estimated below
PER_JUMP = {True: 8e-6, False: 2e-3}  # seconds, in the compiled engine and in the readable loop
PER_EXPENSIVE_CELL = 0.1  # seconds, where a cell is expensive
PER_JUMP_IN_SPACE = 8e-5  # in the engine, with a Gaussian; less with a uniform density
PER_CELL = {True: 4e-6, False: 5e-3}  # seconds, of a density with terms and of a function


def quick_run(
    scenario: Scenario, system: CoverageSystem, wanted: bool | None, progress: Progress | None
) -> tuple[Run | None, str]:
    """A run of the scenario if `wanted` or, by default, quick; else None and why not."""
    seconds = estimated_seconds(scenario, system)
    if wanted is False:
        return None, "the scenario was not run"
    if wanted is None and seconds > PATIENCE:
        return None, f"the scenario was not run, as that may take {seconds:.0f} s"
    return run_scenario(scenario, progress=progress), ""


def estimated_seconds(scenario: Scenario, system: CoverageSystem) -> float:
    """About how long a run takes."""
    law = system.traits.timer
    assert law is not None
    numbers = law.numbers(system.agents)
    means = {"uniform": 0.5 * (numbers.t1 + numbers.t2), "latest": numbers.t2}
    jumps = float((scenario.run.horizon / means.get(law.reset, numbers.t1)).sum())
    jumps = min(jumps, scenario.run.max_jumps)
    every = scenario.run.record.sample_every
    samples = float(default_samples(system, None, scenario.run.horizon)) if every is None else 0.0
    if isinstance(every, float):
        samples = scenario.run.horizon / every
    known = system.terms is not None
    cells = samples * system.agents
    if is_expensive(system.ground):
        return (jumps + cells) * PER_EXPENSIVE_CELL
    per_jump = PER_JUMP[known and system.compiles]
    if system.dimension == 3:
        per_jump = max(per_jump, PER_JUMP_IN_SPACE)
    return jumps * per_jump + cells * PER_CELL[known]


def separation_of(
    system: CoverageSystem, start: Points, run: Run | None, wanted: float | None
) -> float:
    """`wanted` if given; else as small as seen, but never so large that agents hardly fit."""
    if wanted is None:
        share = system.workspace.volume / system.agents
        fits = 0.5 * float(share ** (1.0 / system.dimension))
        gaps = [fits, closest_pair(start)[2]]
        if run is not None:
            gaps.append(0.0 if run.details.ends_in_contact else run.details.closest.distance)
        return min(gaps)
    number = finite_number(wanted)
    if number is None or number < 0.0:
        raise InputError(
            f"separation is {in_short(wanted)}; a length from 0 on is needed",
            code="design.separation",
        )
    return number


def samples_of(system: CoverageSystem, wanted: int | None) -> int:
    """`wanted` if given; else 100, or fewer for many agents or expensive cells."""
    if wanted is None:
        most = FEW_CELLS if is_expensive(system.ground) else MOST_CELLS
        return max(1, min(SAMPLES, most // system.agents))
    check_whole("samples", wanted, 0, "design", most=MOST_SAMPLES)
    return int(wanted)


def measure_constants(
    system: CoverageSystem,
    start: Points,
    run: Run | None,
    separation: float,
    samples: int,
    progress: Progress | None,
) -> Lipschitz:
    """All that can be measured; what cannot is left out with the reason."""
    found: dict[str, Attained] = {}
    missing: dict[str, str] = {}

    def attempt(kind: str, measure: Callable[[], Attained]) -> None:
        try:
            found[kind] = measure()
        except DensityError as fault:
            missing[kind] = str(fault)

    attempt("start", lambda: lipschitz_at(system.workspace, start, system.density))
    if run is not None:
        recorded = (run.system, run.start, run.events, run.metrics, run.horizon)
        places, close = run.positions(run.horizon), run.details.closest
        few = max(2, FEW_CELLS // system.agents) if is_expensive(system.ground) else MOST_TIMES
        attempt(
            "run", lambda: lipschitz_along(*recorded, most=few, approach=close, progress=progress)
        )
        attempt("end", lambda: lipschitz_at(system.workspace, places, system.density))
    if separation == 0.0:
        missing["sampled"] = "without a separation there is no largest one"
    elif samples:
        drawn = (system, separation, samples)
        attempt("sampled", lambda: lipschitz_sampled(*drawn, progress=progress))
    bound = lipschitz_bound(system.workspace, system.density, separation)
    return Lipschitz(bound, missing=missing, **found)

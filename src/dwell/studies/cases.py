"""Runs with enough in common to be made together: scenarios, seeds and starts of a batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._types import Points, in_short, is_whole, listed
from dwell.agents import CoverageSystem
from dwell.agents.start import check_start
from dwell.errors import InputError
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, build_start, with_seed
from dwell.scenario.schema import AgentsSpec, ScatterSpec


@final
@dataclass(frozen=True, eq=False)
class Case:
    """One of many runs."""

    scenario: Scenario
    system: CoverageSystem
    positions: Points


def cases_of(
    scenarios: ScenarioLike | Iterable[ScenarioLike],
    seeds: Iterable[int] | None,
    starts: object,
    start_seeds: Iterable[int] | None,
) -> list[Case]:
    """The runs, in order."""
    given: Any = scenarios
    if isinstance(given, Scenario | Mapping | str | os.PathLike):
        return _repeated(as_scenario(given), seeds, starts, start_seeds)
    several = [as_scenario(one) for one in listed(given)]
    if not several:
        raise InputError("there are no scenarios; at least one is needed", code="batch.empty")
    if not (seeds is None and starts is None and start_seeds is None):
        raise InputError(
            "seeds and starts belong to a single scenario; several scenarios have their own",
            code="batch.seeds",
        )
    return [_case(scenario) for scenario in several]


def _repeated(
    scenario: Scenario,
    seeds: Iterable[int] | None,
    starts: object,
    start_seeds: Iterable[int] | None,
) -> list[Case]:
    """One scenario with other seeds and starts."""
    base = _case(scenario)
    own = base.scenario.run.seed
    assert own is not None
    numbers = None if seeds is None else _seeds("seeds", seeds)
    agents = _agents_of_runs(base, starts, start_seeds)
    if numbers is None:
        numbers = [own + k for k in range(1 if agents is None else len(agents))]
    if agents is None:
        agents = [(base.scenario.agents, base.positions)] * len(numbers)
    if len(numbers) != len(agents):
        raise InputError(
            f"there are {len(numbers)} seeds and {len(agents)} starts; as many are needed",
            code="batch.seeds",
        )
    return [
        Case(
            with_seed(scenario.model_copy(update={"agents": spec}), seed),
            replace(base.system, agents=len(start), seed=seed),
            start,
        )
        for seed, (spec, start) in zip(numbers, agents, strict=True)
    ]


def _agents_of_runs(
    base: Case, starts: object, start_seeds: Iterable[int] | None
) -> list[tuple[AgentsSpec, Points]] | None:
    """The agents of each run and where they start; None if all start as the scenario says."""
    site, spec = base.system.workspace, base.scenario.agents
    if starts is not None and start_seeds is not None:
        raise InputError(
            "starts and start_seeds were given; one of them says where runs start",
            code="batch.starts",
        )
    if starts is not None:
        positions = [check_start(site, start)[0] for start in _start_positions(starts)]
        given = [tuple(map(tuple, start.tolist())) for start in positions]
        specs = [spec.model_copy(update={"start": start}) for start in given]
        return list(zip(specs, positions, strict=True))
    if start_seeds is None:
        return None
    if not isinstance(spec.start, ScatterSpec):
        raise InputError(
            "start_seeds are for agents that the scenario scatters; this one gives their places: "
            "use starts, or start = { count = ... } in the scenario",
            code="batch.starts",
        )
    specs = [
        spec.model_copy(update={"start": spec.start.model_copy(update={"seed": seed})})
        for seed in _seeds("start_seeds", start_seeds)
    ]
    return [(one, build_start(one, site)[0]) for one in specs]


def _case(scenario: Scenario) -> Case:
    scenario = with_seed(scenario)
    system, positions, _ = build(scenario)
    return Case(scenario, system, positions)


def _seeds(name: str, seeds: Iterable[int]) -> list[int]:
    numbers = [] if is_whole(seeds) else list(listed(seeds))
    if not numbers or not all(is_whole(seed) and seed >= 0 for seed in numbers):
        raise InputError(
            f"{name} is {in_short(seeds)}; whole numbers from 0 on, at least one, are needed",
            code="run.seed",
            key="run.seed",
        )
    return [int(seed) for seed in numbers]


def _start_positions(starts: object) -> Points:
    try:
        positions: Points = np.array(starts, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        positions = np.empty(0)
    if positions.ndim != 3 or not len(positions):
        raise InputError(
            f"starts has the shape {positions.shape}; (runs, agents, coordinates) is needed",
            code="batch.starts",
        )
    return positions


def refuse_differences(cases: Sequence[Case]) -> None:
    """Refuse scenarios whose figures would not be comparable within one batch."""
    first, *others = cases
    for k, other in enumerate(others, start=1):
        one, two = first.scenario, other.scenario
        for name, own, its in (
            ("workspace", one.workspace, two.workspace),
            ("density", one.density, two.density),
            ("horizon", one.run.horizon, two.run.horizon),
            ("max_jumps", one.run.max_jumps, two.run.max_jumps),
            ("integration", one.run.integration, two.run.integration),
            ("number of agents", len(first.positions), len(other.positions)),
        ):
            if own is not its and own != its:
                raise InputError(
                    f"scenario {k} has another {name} than scenario 0; scenarios that differ in it "
                    "need batches of their own",
                    code="batch.differs",
                )

"""The best static deployment: the lowest cost that descents from many starts lead to."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._compatibility import Need, of_dimension, refuse
from dwell._types import Points, counted, finite_number, in_short, is_whole
from dwell.agents import check_start
from dwell.agents.timeline import check_world
from dwell.agents.world import World
from dwell.density import Density, Uniform, as_density
from dwell.errors import AgentsError, DensityError, InputError
from dwell.geometry import MovingPolygon, Workspace, as_workspace
from dwell.plotting.figures import deployment, minima, require_matplotlib
from dwell.plotting.save import check_free, write_figures
from dwell.progress import Progress, reported
from dwell.results.files import make_folder
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.frozen import scenario_at
from dwell.scenario.schema import GridSpec
from dwell.studies.confined import confine, is_admissible
from dwell.studies.deployment import Deployment
from dwell.studies.folder import refuse_other, write_text
from dwell.studies.newton import Descent, DescentInterrupted, Kind, descend
from dwell.studies.random_starts import CornerFrame, random_start
from dwell.workers.threads import run_jobs

STARTS = 50
MOST_STARTS = 1_000_000
MOST_AGENTS = 1_000_000

FILE = "deployment.json"
MARK = '"spectral_gap"'  # in that file
FIGURES = ("deployment", "minima")

ON_A_GRID = (
    "the scenario integrates on a grid of points, where the cost has no derivatives; the "
    "deployment is the best one for exact integrals"
)


def optimize(
    workspace: Workspace | MovingPolygon | ScenarioLike,
    density: Any = None,
    agents: Any = None,
    *,
    starts: int = STARTS,
    seed: int | None = None,
    at: float | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
) -> Deployment:
    """Find positions of agents for which the locational cost is lowest.

    Parameters
    ----------
    workspace : workspace, MovingPolygon, Scenario or path
        The region; a scenario, or the path of its file, also provides density, agents and seed.
    density : density or callable, optional
        The weight of points; uniform by default.
    agents : int or array_like
        How many agents, or positions (N, n) that are the first of the starts.
    starts : int
        How many starts, at most 1,000,000; all but a given one are random.
    seed : int, optional
        The seed of the random starts.
    at : float, optional
        Time at which a world that changes is taken; 0 by default.
    workers : int, optional
        Threads; the result does not depend on them.
    progress : callable or bool, optional
        As in `run_scenario`.

    Returns
    -------
    Deployment
        The best positions found; after an interrupt the best so far.

    Examples
    --------
    >>> import dwell
    >>> best = dwell.optimize(dwell.Box((0, 0), (1, 1)), None, 4, starts=3)
    >>> round(24 * best.cost, 9)
    1.0
    """
    began = time.perf_counter()
    check_whole("starts", starts, 1, "optimize", most=MOST_STARTS)
    if isinstance(workspace, Scenario | Mapping | str | os.PathLike):
        if density is not None or agents is not None:
            raise InputError(
                "density or agents are given beside a scenario, which has its own; leave them out",
                code="optimize.scenario",
            )
        scenario = with_seed(as_scenario(workspace), seed)
        options: Any = {"workers": workers, "progress": progress}
        return optimize_scenario(scenario, starts=starts, at=at, **options)
    seed = 0 if seed is None else seed
    check_whole("seed", seed)
    check_whole("workers", workers, 1, "optimize", optional=True)
    workspace, weight = _world_at(workspace, density, at)
    count, own, repairs = _agents_of(agents, workspace)
    search = _Search(CornerFrame(workspace, weight), count, own, int(starts), int(seed))
    with reported(progress) as tell:
        whole, kept = search.run(workers, tell), search.kept
    if not any(math.isfinite(descent.cost) for descent in kept.values()):
        if not whole:
            raise KeyboardInterrupt  # too early for anything to show
        which = "the start" if len(kept) == 1 else f"each of {len(kept)} starts"
        raise DensityError(
            f"in {which} the cell of some agent weighs nothing, so that the cost does not say "
            f"where it should go; take fewer agents than {count}, more starts, or a density that "
            "is positive in more places",
            code="optimize.weightless",
            key="density",
        )
    return Deployment(
        workspace=workspace,
        density=weight,
        descents={k: kept[k] for k in sorted(kept)},
        seed=int(seed),
        interrupted=not whole,
        notes=(*workspace.repairs, *repairs, *_notes(search)),
        wall_seconds=time.perf_counter() - began,
        log_scale=search.frame.log_scale,
    )


def optimize_scenario(
    scenario: ScenarioLike,
    *,
    starts: int = STARTS,
    at: float | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
) -> Deployment:
    """`optimize` for the workspace, density and agents of a scenario, whose start is the first.

    Where the world changes, that of the time `at`, 0 by default.
    """
    scenario = scenario_at(with_seed(as_scenario(scenario)), at)
    system, start, repairs = build(scenario)
    found = optimize(
        system.workspace,
        system.density,
        start,
        starts=starts,
        seed=system.seed,
        workers=workers,
        progress=progress,
    )
    on_a_grid = isinstance(scenario.run.integration, GridSpec)
    notes = tuple(dict.fromkeys((*repairs, *found.notes)))
    notes = (*notes, ON_A_GRID) if on_a_grid else notes
    return replace(found, name=scenario.name, notes=notes, units=scenario.units)


def check_folder(out: Path, formats: Sequence[str]) -> None:
    """Make the folder `out`, and refuse it where a file of another origin would be replaced."""
    require_matplotlib()
    make_folder(out, "studies.folder")
    refuse_other(out / FILE, MARK)
    check_free(out, FIGURES, formats)


def keep_deployment(found: Deployment, out: Path, formats: Sequence[str] = ("png",)) -> None:
    """Write deployment.json and the figures into the folder `out`."""
    check_folder(out, formats)
    write_text(out / FILE, json.dumps(found.as_json(), indent=1, allow_nan=False) + "\n")
    ended = found.ended.values()
    costs = {kind.value: [d.cost for d in ended if d.kind is kind] for kind in Kind}
    levels = {
        "reference for many agents": found.reference.value,
        **{f"{bound.name} bound": bound.value for bound in found.reference.lower_bounds},
    }
    if found.log_scale != 0.0:  # the costs drawn lack a factor that these do not
        levels = {}
    placed = partial(
        deployment, found.workspace, found.density, found.positions, found.cost, units=found.units
    )
    ends = partial(minima, {kind: known for kind, known in costs.items() if known}, levels)
    write_figures(dict(zip(FIGURES, (placed, ends), strict=True)), out, formats)


@final
@dataclass(frozen=True, eq=False)
class _Search:
    """The starts of a search, and what they came to so far."""

    frame: CornerFrame
    agents: int
    own: Points | None  # the first start; None if it is random like the others
    starts: int
    seed: int
    kept: dict[int, Descent] = field(default_factory=dict)

    def follow(self, number: int, report: Progress) -> None:
        """Follow one start to its end, or as far as it gets."""
        if number == 0 and self.own is not None:
            start = self.frame.inward(self.own)
        else:
            start = random_start(self.frame, self.agents, self.seed, number)
        objective, mask = self.frame.objective(), self.frame.workspace.mask
        confined = mask if mask is not None and mask.stay else None
        try:
            found = descend(objective, start, partial(report, ""))
        except DescentInterrupted as stop:
            if confined is None:  # else it may lie outside the region
                self.kept[number] = self.frame.outward(stop.descent)
            raise
        known = math.isfinite(found.cost)
        if confined is not None and known and not is_admissible(confined, found):
            found = confine(objective, confined, found, start)
        self.kept[number] = self.frame.outward(found)

    def run(self, workers: int | None, progress: Progress) -> bool:
        """Follow all starts; False if that was interrupted."""

        def show(what: str, share: float) -> None:
            counted = f"{len(self.kept)} of {self.starts} starts"
            progress(what if what == "preparing" else counted, share)

        jobs = {str(k): partial(self.follow, k) for k in range(self.starts)}
        try:
            run_jobs(jobs, workers=workers, progress=show)
        except KeyboardInterrupt:
            return False
        return True


def _notes(search: _Search) -> Iterator[str]:
    first, log_scale = search.kept.get(0), search.frame.log_scale
    if search.own is not None and first is not None and first.kind is Kind.WEIGHTLESS:
        yield "the given start was left out: the cell of some agent weighs nothing there"
    if any(one.kind is Kind.CONFINED for one in search.kept.values()):
        yield (
            "agents stay in the region: deployments whose centroids lie outside it have the agents "
            "at the nearest points, where they would stop"
        )
    if log_scale != 0.0:
        yield (
            f"the density weighs exp({log_scale:.6g}) in all, near or beyond the range of numbers: "
            "costs were compared without that factor, and log_cost is the logarithm of the true one"
        )


def _world_at(workspace: Any, density: Any, at: float | None) -> tuple[Workspace, Density]:
    """The region and its density at a time, checked."""
    time = finite_number(0.0 if at is None else at)
    if time is None or time < 0.0:
        need = "a time from 0 on is needed"
        raise InputError(f"the time is {in_short(at)}; {need}", code="world.time", key="at")
    site = workspace if isinstance(workspace, MovingPolygon) else as_workspace(workspace)
    n = site.dimension
    refuse(Need.OPTIMIZE, (of_dimension(n),), n=n)
    world = World(0.0, site, Uniform() if density is None else as_density(density))
    check_world(world, time, site.dimension)
    now = world.ground.at(time)
    return now.workspace, now.density


def _agents_of(agents: Any, workspace: Workspace) -> tuple[int, Points | None, tuple[str, ...]]:
    """How many agents, their own start if there is one, and what was repaired in it."""
    if not np.isscalar(agents) and agents is not None:
        start, repairs = check_start(workspace, agents)
        return len(start), start, repairs
    if not is_whole(agents) or not 1 <= agents <= MOST_AGENTS:
        raise AgentsError(
            f"agents is {in_short(agents)}; how many (from 1 to {MOST_AGENTS}), or a list of "
            f"positions with {counted(workspace.dimension, 'coordinate')} each, is needed",
            code="agents.range",
            key="agents.start",
        )
    return int(agents), None, ()

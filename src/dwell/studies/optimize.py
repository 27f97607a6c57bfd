"""The best static deployment: the lowest cost that descents from many starts lead to."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import Floats, Points, is_whole, lengths
from dwell.agents import check_start
from dwell.cells import Tessellation, tessellate
from dwell.density import Density, Uniform, as_density
from dwell.density.support import check_density
from dwell.errors import AgentsError, DensityError, InputError
from dwell.geometry import Workspace, as_workspace
from dwell.plotting.deployment import deployment, minima
from dwell.plotting.figures import require_matplotlib
from dwell.plotting.save import check_free, write_figures
from dwell.progress import Progress, reported
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, with_seed
from dwell.scenario.schema import GridSpec
from dwell.studies.bounds import Reference, reference_for
from dwell.studies.draws import Frame, random_start
from dwell.studies.folder import make_folder, refuse_foreign, write_text
from dwell.studies.newton import Descent, DescentInterrupted, Kind, descend
from dwell.workers.threads import cores, run_jobs

SCHEMA = 1
STARTS = 50
SAME = 1e-10  # relative difference of costs up to which two starts found the same
MOST_AGENTS = 1_000_000
MOST_DIMENSIONS = 3
MOST_LOG = 709.0  # logarithms of larger numbers than this have no exponential

FILE = "deployment.json"
MARK = '"spectral_gap"'  # in that file
FIGURES = ("deployment", "minima")

ON_A_GRID = (
    "the scenario integrates on a grid of points, where the cost has no derivatives; the "
    "deployment is the best one for exact integrals"
)

SAYS = {
    Kind.MINIMUM: "a strict local minimum: every small move of the agents raises the cost",
    Kind.DEGENERATE: "a degenerate minimum: no small move was found that lowers the cost, but some "
    "leave it unchanged to second order",
    Kind.SADDLE: "a saddle: some small moves lower the cost",
    Kind.UNFINISHED: "unfinished: the search ended before the gradient vanished",
    Kind.WEIGHTLESS: "undefined: a cell weighs nothing",
}


@final
@dataclass(frozen=True, eq=False)
class Deployment:
    """The best of all starts, and what each of them came to."""

    workspace: Workspace
    density: Density
    descents: dict[int, Descent]  # by number of the start
    seed: int
    interrupted: bool = False  # whether some starts were not followed to their ends
    name: str | None = None  # of the scenario
    notes: tuple[str, ...] = ()  # what was repaired or decided on the way
    wall_seconds: float = 0.0
    log_scale: float = 0.0  # costs of `descents` are to be multiplied by its exponential

    def __repr__(self) -> str:
        return f"<Deployment: {self.agents} agents, cost {self.cost:.7g}; {self.says}>"

    @cached_property
    def ended(self) -> dict[int, Descent]:
        """The descents that came to rest; all that have a cost, if none did."""
        known = {k: d for k, d in self.descents.items() if math.isfinite(d.cost)}
        return {k: d for k, d in known.items() if d.at_rest} or known

    @cached_property
    def best(self) -> int:
        """The start of lowest cost; the first of those that differ by rounding only."""
        least = float(self.costs[0])
        return min(k for k, d in self.ended.items() if d.cost <= (1.0 + SAME) * least)

    @property
    def positions(self) -> Points:
        """Where the agents stand, (N, n)."""
        return self.descents[self.best].positions

    @cached_property
    def cells(self) -> Tessellation:
        """Their cells."""
        return tessellate(self.workspace, self.positions, self.density)

    @property
    def agents(self) -> int:
        """How many there are."""
        return len(self.positions)

    @property
    def cost(self) -> float:
        """The locational cost; 0 where it is below the smallest number, see `log_cost`."""
        return self.cells.cost if self.log_scale == 0.0 else _times(self.log_cost)

    @property
    def log_cost(self) -> float:
        """Its logarithm."""
        return math.log(self.descents[self.best].cost) + self.log_scale

    @property
    def gradient_norm(self) -> float:
        """The largest |gradient| / (2 mass) of an agent, over the workspace's diameter.

        That is the largest distance between an agent and its centroid, as a share of the workspace.
        """
        return float(lengths(self.cells.errors).max()) / self.workspace.diameter

    @property
    def spectral_gap(self) -> float | None:
        """1 - largest eigenvalue of the centroids' derivative Dc; positive at a strict minimum.

        Lloyd's steps multiply small errors by 1 - gap.
        """
        return self.descents[self.best].spectral_gap

    @property
    def kind(self) -> Kind:
        """Whether this is a minimum, and of which kind."""
        return self.descents[self.best].kind

    @property
    def ending(self) -> str:
        """`finished`, `interrupted`, or `unfinished` if no start came to rest."""
        if self.interrupted:
            return "interrupted"
        return "unfinished" if self.kind is Kind.UNFINISHED else "finished"

    @property
    def says(self) -> str:
        """The same in words."""
        return SAYS[self.kind]

    @cached_property
    def costs(self) -> Floats:
        """What the starts that came to rest cost, ascending."""
        return np.sort(np.array([descent.cost for descent in self.ended.values()]))

    @property
    def median(self) -> float:
        """The median of these costs."""
        return float(np.median(self.costs))

    @property
    def times_found(self) -> int:
        """How many starts came to the best cost."""
        return int((self.costs <= (1.0 + SAME) * self.costs[0]).sum())

    @property
    def evaluations(self) -> int:
        """Cells that were computed from all starts together."""
        return sum(descent.evaluations for descent in self.descents.values())

    @cached_property
    def reference(self) -> Reference:
        """What the cost may be compared with."""
        return reference_for(self.cells, self.density)

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell optimize --json` prints."""
        return {
            "schema": SCHEMA,
            "scenario": self.name,
            "dimension": self.workspace.dimension,
            "agents": self.agents,
            "seed": self.seed,
            "integration": "exact",
            "stop": {"reason": self.ending, "ok": self.ending == "finished"},
            "cost": self.cost,
            "log_cost": self.log_cost if self.cost != 0.0 or self.log_scale != 0.0 else None,
            "mass": math.fsum(self.cells.masses),
            "positions": self.positions.tolist(),
            "masses": self.cells.masses.tolist(),
            "gradient_norm": self.gradient_norm,
            "spectral_gap": self.spectral_gap,
            "kind": self.kind.value,
            "says": self.says,
            "starts": self._starts_as_json(),
            "reference": self.reference.as_json(self.cost),
            "evaluations": self.evaluations,
            "notes": list(self.notes),
            "wall_seconds": self.wall_seconds,
        }

    def _starts_as_json(self) -> dict[str, Any]:
        kinds = [descent.kind for descent in self.descents.values()]
        return {
            "count": len(self.descents),
            "best": self.outward(float(self.costs[0])),
            "median": self.outward(self.median),
            "worst": self.outward(float(self.costs[-1])),
            "best_start": self.best,
            "times_found": self.times_found,
            "kinds": {kind.value: kinds.count(kind) for kind in Kind if kind in kinds},
            "each": [self._row(number, descent) for number, descent in self.descents.items()],
        }

    def outward(self, cost: float) -> float:
        """A cost of one of the descents as it really is."""
        return cost if self.log_scale == 0.0 else _times(math.log(cost) + self.log_scale)

    def _row(self, number: int, descent: Descent) -> dict[str, Any]:
        """One start for programs."""
        known = math.isfinite(descent.cost)
        return {
            "start": number,
            "cost": self.outward(descent.cost) if known else None,
            "gradient_norm": descent.gradient_norm if known else None,
            "spectral_gap": descent.spectral_gap,
            "kind": descent.kind.value,
            "iterations": len(descent.costs),
            "evaluations": descent.evaluations,
        }


def _times(log: float) -> float:
    """The exponential of a logarithm; 0 or the largest number where it is beyond the range."""
    return math.exp(log) if log < MOST_LOG else sys.float_info.max


def optimize(
    workspace: Workspace | ScenarioLike,
    density: Any = None,
    agents: Any = None,
    *,
    starts: int = STARTS,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
) -> Deployment:
    """Find positions of agents for which the locational cost is lowest.

    Parameters
    ----------
    workspace : workspace, Scenario or path
        The region; a scenario, or the path of its file, also provides density, agents and seed.
    density : density or callable, optional
        The weight of points; uniform by default.
    agents : int or array_like
        How many agents, or positions (N, n) that are the first of the starts.
    starts : int
        How many starts; all but a given one are random.
    seed : int, optional
        The seed of the random starts.
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
    check_whole("starts", starts, 1, "optimize")
    if isinstance(workspace, Scenario | Mapping | str | os.PathLike):
        if density is not None or agents is not None:
            raise InputError(
                "density or agents are given beside a scenario, which has its own; leave them out",
                code="optimize.scenario",
            )
        scenario = with_seed(as_scenario(workspace), seed)
        return optimize_scenario(scenario, starts=starts, workers=workers, progress=progress)
    seed = 0 if seed is None else seed
    check_whole("seed", seed)
    check_whole("workers", workers, 1, "optimize", optional=True)
    workspace = as_workspace(workspace)
    refuse_dimension(workspace.dimension)
    weight = Uniform() if density is None else as_density(density)
    check_density(weight, workspace)
    count, own, repairs = _agents_of(agents, workspace)
    search = _Search(Frame(workspace, weight), count, own, int(starts), int(seed))
    with reported(progress) as tell:
        whole, kept = search.run(workers, tell), search.kept
    if not any(math.isfinite(descent.cost) for descent in kept.values()):
        if whole:
            raise _weightless(len(kept), count)
        raise KeyboardInterrupt  # too early for anything to show
    return Deployment(
        workspace=workspace,
        density=weight,
        descents={k: kept[k] for k in sorted(kept)},
        seed=int(seed),
        interrupted=not whole,
        notes=(*workspace.repairs, *repairs, *_left_out(own, kept), *_beyond(search.frame)),
        wall_seconds=time.perf_counter() - began,
        log_scale=search.frame.log_scale,
    )


def optimize_scenario(
    scenario: ScenarioLike,
    *,
    starts: int = STARTS,
    workers: int | None = None,
    progress: Progress | bool | None = None,
) -> Deployment:
    """`optimize` for the workspace, density and agents of a scenario, whose start is the first."""
    scenario = with_seed(as_scenario(scenario))
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
    return replace(found, name=scenario.name, notes=(*notes, ON_A_GRID) if on_a_grid else notes)


def check_folder(out: Path, formats: Sequence[str]) -> None:
    """Make the folder `out`, and refuse it where a file of another origin would be replaced."""
    require_matplotlib()
    make_folder(out)
    refuse_foreign(out / FILE, MARK)
    check_free(out, FIGURES, formats)


def keep_deployment(found: Deployment, out: Path, formats: Sequence[str] = ("png",)) -> None:
    """Write deployment.json and the figures into the folder `out`."""
    check_folder(out, formats)
    write_text(out / FILE, json.dumps(found.as_json(), indent=1, allow_nan=False) + "\n")
    costs = {
        kind.value: [d.cost for d in found.ended.values() if d.kind is kind]
        for kind in Kind
        if any(d.kind is kind for d in found.ended.values())
    }
    levels = {
        "reference for many agents": found.reference.value,
        **{f"{bound.name} bound": bound.value for bound in found.reference.lower_bounds},
    }
    if found.log_scale != 0.0:  # the costs drawn lack a factor that these do not
        levels = {}
    placed = partial(deployment, found.workspace, found.density, found.positions, found.cost)
    drawings = dict(zip(FIGURES, (placed, partial(minima, costs, levels)), strict=True))
    write_figures(drawings, out, formats)


@final
@dataclass(frozen=True, eq=False)
class _Search:
    """The starts of a search, and what they came to so far."""

    frame: Frame
    agents: int
    own: Points | None  # the first start; None if it is random like the others
    starts: int
    seed: int
    kept: dict[int, Descent] = field(default_factory=dict)

    def follow(self, number: int, tell: Callable[[float], None]) -> None:
        """Follow one start to its end, or as far as it gets."""
        if number == 0 and self.own is not None:
            start = self.frame.inward(self.own)
        else:
            start = random_start(self.frame, self.agents, self.seed, number)
        try:
            found = descend(self.frame.landscape(), start, tell)
        except DescentInterrupted as stop:
            self.kept[number] = self.frame.outward(stop.descent)
            raise
        self.kept[number] = self.frame.outward(found)

    def run(self, workers: int | None, progress: Progress) -> bool:
        """Follow all starts; False if that was interrupted.

        As many jobs as there are threads take the next start each until there are none.
        """
        left = iter(range(self.starts))

        def job(report: Progress) -> None:
            def tell(share: float) -> None:
                report("", (len(self.kept) + share) / self.starts)

            for number in left:
                self.follow(number, tell)

        def show(what: str, share: float) -> None:
            counted = f"{len(self.kept)} of {self.starts} starts"
            progress(what if what == "preparing" else counted, share)

        names = [f"thread {k}" for k in range(min(workers or cores(), self.starts))]
        try:
            run_jobs(dict.fromkeys(names, job), workers=workers, progress=show)
        except KeyboardInterrupt:
            return False
        return True


def _beyond(frame: Frame) -> tuple[str, ...]:
    if frame.log_scale == 0.0:
        return ()
    return (
        f"the density weighs exp({frame.log_scale:.6g}) in all, near or beyond the range of "
        "numbers: costs were compared without that factor, and log_cost is the logarithm of the "
        "true one",
    )


def _left_out(own: Points | None, kept: Mapping[int, Descent]) -> tuple[str, ...]:
    if own is None or 0 not in kept or kept[0].kind is not Kind.WEIGHTLESS:
        return ()
    return ("the given start was left out: the cell of some agent weighs nothing there",)


def _agents_of(agents: Any, workspace: Workspace) -> tuple[int, Points | None, tuple[str, ...]]:
    """How many agents, their own start if there is one, and what was repaired in it."""
    if not np.isscalar(agents) and agents is not None:
        start, repairs = check_start(workspace, agents)
        return len(start), start, repairs
    if not is_whole(agents) or not 1 <= agents <= MOST_AGENTS:
        raise AgentsError(
            f"agents is {agents!r}; how many (from 1 to {MOST_AGENTS}), or a list of positions "
            f"with {workspace.dimension} coordinate{'s' * (workspace.dimension != 1)} each, is "
            "needed",
            code="agents.range",
            key="agents.start",
        )
    return int(agents), None, ()


def refuse_dimension(dimension: int) -> None:
    """Refuse workspaces in which no best deployment is sought."""
    if dimension > MOST_DIMENSIONS:
        raise InputError(
            f"the workspace has {dimension} dimensions; the best deployment is sought in "
            f"at most {MOST_DIMENSIONS}",
            code="optimize.dimension",
            key="workspace",
        )


def _weightless(starts: int, agents: int) -> DensityError:
    which = "the start" if starts == 1 else f"each of {starts} starts"
    return DensityError(
        f"in {which} the cell of some agent weighs nothing, so that the cost does not say where it "
        f"should go; take fewer agents than {agents}, more starts, or a density that is positive "
        "in more places",
        code="optimize.weightless",
        key="density",
    )

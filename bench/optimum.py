"""How well and how quickly the best deployment is found, beside Lloyd's steps."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import dwell
from bench.places import HEPTAGON, hill, paper
from bench.table import Row, at_most, under
from bench.timing import timed
from dwell.studies.deployment import Deployment
from dwell.studies.newton import descend
from dwell.studies.objective import Objective
from dwell.studies.optimize import optimize_scenario
from dwell.studies.random_starts import CornerFrame, random_start

GROUP = "optimum"
LEVEL = 1e-12  # gradient norm that both methods are taken to
PATIENCE = 30.0  # seconds of Lloyd's steps, after which the rest is extrapolated
FEWER = 20.0  # times fewer cells than Lloyd's steps take
COMPARED = 5  # starts from which both methods go
MANY = 500  # starts that the best of 50 is compared with
GROWTH = (100, 300, 1000)


def rows(quick: bool) -> Iterator[Row]:
    """The paper's 30 agents: time, accuracy, cells; then more agents."""
    found, seconds = _fifty(3 if quick else 50)
    yield seconds
    yield from _quality(found)
    yield _beside_many(found, 10 if quick else MANY)
    yield from _beside_lloyd(1 if quick else COMPARED, 1e-4 if quick else LEVEL)
    for agents in () if quick else GROWTH:
        yield _one_start(agents)
    yield _in_space(30 if quick else 1000, quick)


def _in_space(agents: int, quick: bool) -> Row:
    """How near the best cells that are known to fill space one random start comes."""
    found = dwell.optimize(dwell.Box((0, 0, 0), (1, 1, 1)), None, agents, starts=1, seed=1)
    excess = found.cost / found.reference.value - 1.0
    name, figure = f"{agents} agents in a cube", f"{100.0 * excess:.2f} % above"
    what = f"the body-centred cubic constant; walls included; {found.wall_seconds:.0f} s"
    if quick:
        return Row(GROUP, name, what, figure, excess)
    return at_most(GROUP, name, what, excess, 0.03, figure)


def _fifty(starts: int) -> tuple[Deployment, Row]:
    scenario = paper(30)
    kept: list[Deployment] = []
    call = timed(
        lambda: kept.append(optimize_scenario(scenario, starts=starts)), repeats=min(3, starts)
    )
    found = kept[-1]
    name, figure = f"30 agents, {starts} starts", call.in_seconds()
    what = f"{found.evaluations} cells, engine warm, all processors"
    if starts < 50:
        return found, Row(GROUP, name, what, figure, call.best)
    return found, under(GROUP, name, what, call.best, 10.0, figure)


def _quality(found: Deployment) -> Iterator[Row]:
    worst = max(descent.gradient_norm for descent in found.descents.values())
    what = f"largest of {len(found.descents)} starts; largest error over the diameter"
    yield at_most(GROUP, "... gradient norm", what, worst, LEVEL)
    kinds = [descent.kind.value for descent in found.descents.values()]
    strict = kinds.count("minimum")
    name, figure = "... strict minima", f"{strict} of {len(kinds)}"
    gaps = [d.spectral_gap for d in found.descents.values() if d.spectral_gap is not None]
    what = f"spectral gaps {min(gaps):.2g} to {max(gaps):.2g}"
    yield Row(GROUP, name, what, figure, strict, "all", strict == len(kinds))
    reference = found.reference.value
    figure = f"{found.cost:.8g} ({found.cost / reference:.4f} of the reference {reference:.6g})"
    what = f"median {found.median:.7g}, worst {float(found.costs[-1]):.7g}"
    yield Row(GROUP, "... best cost", what, figure, found.cost)


def _beside_many(found: Deployment, starts: int) -> Row:
    """Whether ten times as many starts find anything better."""
    site = dwell.Polygon(HEPTAGON)
    many = dwell.optimize(site, hill(), 30, starts=starts, seed=2)
    excess = found.cost / min(many.cost, found.cost) - 1.0
    figure = f"{excess:.1e} above ({many.cost:.8g}, found by {many.times_found})"
    return Row(GROUP, f"... beside {starts} starts", "of another seed", figure, excess)


def _beside_lloyd(starts: int, level: float) -> Iterator[Row]:
    frame = CornerFrame(dwell.Polygon(HEPTAGON), hill())
    own = frame.inward(np.array(paper(30).agents.start))
    ratios, answer = [], []
    for k in range(starts):
        start = own if k == 0 else random_start(frame, 30, 1, k)
        ours = descend(frame.objective(), start).evaluations
        theirs, measured = lloyd_cells(frame.objective(), start, level)
        ratios.append(theirs / ours)
        answer.append(f"{theirs}{'' if measured else ' (extrapolated)'} / {ours}")
    fewest, name = min(ratios), f"cells of Lloyd / ours, to {level:g}"
    figure = f"{fewest:.0f} × at least, {float(np.median(ratios)):.0f} × in the median"
    what = "from the same starts, ours counted to the end: " + ", ".join(answer)
    met = None if level > LEVEL else fewest >= FEWER
    yield Row(GROUP, name, what, figure, fewest, "" if met is None else f"≥ {FEWER:g} ×", met)


def lloyd_cells(objective: Objective, start: np.ndarray, level: float) -> tuple[int, bool]:
    """Cells that x+ = c takes to a gradient norm of `level`, and whether all were computed.

    After PATIENCE the norm is taken to go on falling as it did over the last thousand steps.
    """
    began = time.perf_counter()
    place = objective.evaluate(start)
    norms = []
    while place is not None:
        norms.append(place.gradient_norm)
        if norms[-1] <= level:
            return objective.evaluations, True
        if time.perf_counter() - began > PATIENCE and len(norms) > 2000:
            rate = math.log(norms[-1001] / norms[-1]) / 1000.0
            more = math.log(norms[-1] / level) / rate if rate > 0.0 else math.inf
            return objective.evaluations + int(min(more, 1e9)) * len(start), False
        place = objective.evaluate(place.positions + place.errors)
    raise RuntimeError("Lloyd's steps came to a cell that weighs nothing")


def _one_start(agents: int) -> Row:
    frame = CornerFrame(dwell.Polygon(HEPTAGON), hill())
    start = random_start(frame, agents, 1, 0)
    began = time.perf_counter()
    found = descend(frame.objective(), start)
    seconds = time.perf_counter() - began
    what = f"{len(found.costs)} steps, {found.evaluations} cells, {found.kind.value}"
    figure = f"{seconds:.2f} s, gradient norm {found.gradient_norm:.1e}"
    return Row(GROUP, f"one start, N = {agents}", what, figure, seconds)

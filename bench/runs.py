"""The 12-agent timer run, ours beside other ways to do it: a loop over shapely's cells, PathSim.

The workspace and the law are the paper's; the density is uniform, which shapely's cells need. All
use the same waits, so the events are the same by construction; the final places are not, and are
an independent check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import dwell
from bench.peers.catalogue import PEERS, why_missing
from bench.peers.timer_runs import Task, by_loop, by_pathsim
from bench.places import HEPTAGON, Points, scattered, slow_timer
from bench.table import Row, absent, at_least
from bench.timing import processor_ratio, timed

Way = Callable[[Task], tuple[Points, int]]

# name, the peer that it needs, how it is done, how many times our speed
WAYS: tuple[tuple[str, str, Way, str, float], ...] = (
    ("loop over shapely", "shapely", by_loop, "Python loop, one cell an event", 100.0),
    (
        "PathSim, fixed steps", "PathSim", partial(by_pathsim, solver="SSPRK22"),
        "its default solver, steps of 0.01, cells by shapely", 500.0,
    ),
    (
        "PathSim, exact events", "PathSim", partial(by_pathsim, solver="RKBS32"),
        "solver that goes to the events, cells by shapely", 500.0,
    ),
)  # fmt: skip


def rows(quick: bool) -> Iterator[Row]:
    """One row for each other way."""
    run, task = ours(3.0 if quick else 150.0)
    repeats = 3 if quick else 50
    fast = timed(lambda: ours_again(task), repeats=repeats)
    for name, peer, way, how, asked in WAYS:
        title = f"{name} / dwell, 12-agent run"
        missing = why_missing(peer) or why_missing("shapely")
        if missing:
            yield absent("peers", title, how, f"{peer}: {missing}")
            continue
        places, events = way(task)
        apart = float(np.abs(places - run.positions(task.until)).max())
        slow = timed(lambda way=way: way(task), repeats=1 if quick else 2, warm=False)
        ratio, figure = processor_ratio(slow, fast)
        what = f"t = {task.until:g}, {events} and {len(run.events)} events, heptagon, uniform; "
        what, figure = f"{what}{how}; {PEERS[peer]}", f"{figure}, final places {apart:.0e} apart"
        if quick:
            yield Row("peers", title, what, figure, ratio)
        else:
            yield at_least("peers", title, what, ratio, asked, figure)


def ours(horizon: float) -> tuple[dwell.Run, Task]:
    """Our run, and what the others must know to repeat it."""
    task = Task(scattered(12), HEPTAGON, slow_timer(), [], horizon)
    run = ours_again(task)
    task.waits.extend(_waits(run, p) for p in range(len(task.start)))
    return run, task


def ours_again(task: Task) -> dwell.Run:
    """The run by dwell, its own chance included."""
    workspace = dwell.Polygon(task.corners)
    return dwell.simulate(
        workspace, dwell.Uniform(), task.start, task.law, until=task.until, seed=1,
        sample_every="off",
    )  # fmt: skip


def _waits(run: dwell.Run, agent: int) -> list[float]:
    rows = run.events.of_agent(agent)
    return [float(v) for v in run.events.next_at[rows] - run.events.time[rows]]

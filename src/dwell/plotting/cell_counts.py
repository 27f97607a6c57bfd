"""Pictures of what a run cost: cells computed, agent by agent, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Ints
from dwell.agents.state import counts_of
from dwell.plotting.downsample import Curve, extremes
from dwell.plotting.style import PLAIN, Style, explain
from dwell.plotting.timelines import draw_curves, log_axis, time_axis, whose
from dwell.results import Run, RunLike, as_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("looked", "guaranteed", "dual_guaranteed")


def draw_cell_counts(
    ax: Axes,
    run: RunLike,
    *,
    style: Style = PLAIN,
    among: Sequence[Run] = (),
    explained: bool = True,
) -> None:
    """Cells of all kinds that each agent has computed up to each time, on a log axis.

    The axis also fits the runs `among` which this one is shown.
    """
    run = as_run(run)
    curves = count_curves(run)
    time_axis(ax, run, style, f"cells computed{whose(run, style)}")
    others = [values for other in among for _, values in count_curves(other)]
    floor = log_axis(ax, [*(values for _, values in curves), *others])
    thinned = [extremes(curve, run.horizon, style.columns) for curve in curves]
    draw_curves(ax, [(t, np.maximum(v, floor)) for t, v in thinned], run.horizon, style)
    if explained:
        explain(ax, style, 4)


def count_curves(run: Run) -> list[Curve]:
    """The cumulative count of each agent, as steps."""
    made = sum(run.events.count(kind) for kind in KINDS)
    begin = _at_start(run)
    curves: list[Curve] = []
    for p in range(run.agents):
        rows = run.events.of_agent(p)
        totals = begin[p] + np.concatenate([[0], np.cumsum(np.asarray(made)[rows])])
        times = np.concatenate([[0.0], np.repeat(run.events.time[rows], 2), [run.horizon]])
        curves.append((times, np.repeat(totals, 2).astype(np.float64)))
    return curves


def _at_start(run: Run) -> Ints:
    """Cells computed at time 0."""
    spent = run.start.spent
    guaranteed = counts_of(spent, "guaranteed") + counts_of(spent, "dual_guaranteed")
    return counts_of(spent, "looked") + guaranteed


def total_in_words(run: Run) -> str:
    """How many cells an agent has computed in the end."""
    totals = run.counters.cells
    low, high = int(totals.min()), int(totals.max())
    if low == high:
        return f"{low:,} per agent"
    return f"{low:,} to {high:,} per agent"

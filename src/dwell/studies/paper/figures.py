"""The figures of the report, each with its alternative text and its caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from dwell.plotting import FIGURES, errors_side_by_side, quartiles, time_since_events
from dwell.plotting.figures import timer_teeth
from dwell.plotting.panels import (
    compared_cells,
    compared_costs,
    compared_errors,
    compared_trajectories,
)
from dwell.studies.paper.simulations import SPACING, TITLES, Simulations
from dwell.studies.paper.start_study import QUANTITIES, WIDE_RANGE, Row, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT, GRID = "exact integrals", f"grid of points, {SPACING:g} apart"

Drawing = Callable[[Simulations, Sequence[Row]], "Figure"]


@final
@dataclass(frozen=True, slots=True)
class Illustration:
    """One figure of the report."""

    name: str  # of its file
    draw: Drawing
    alt: str  # alternative text, for screen readers
    caption: str


def _thirty(name: str) -> Drawing:
    return lambda s, rows: FIGURES[name](s.n30.exact)


def _timers(s: Simulations, rows: Sequence[Row]) -> Figure:
    """The paper's window of the timers, or the whole of a run that is too short for it."""
    run = s.n30.exact
    return timer_teeth(run, window=(0.1, 0.15) if run.horizon >= 0.15 else (0.0, run.horizon))


def _laws(draw: Callable[[Any], Figure]) -> Drawing:
    return lambda s, rows: draw({TITLES[name]: pair.exact for name, pair in s.compared.items()})


def _side_by_side(s: Simulations, rows: Sequence[Row]) -> Figure:
    pairs = {TITLES[name]: pair for name, pair in {"n30": s.n30, **s.compared}.items()}
    return errors_side_by_side(pairs, (EXACT, GRID))


def _starts(s: Simulations, rows: Sequence[Row]) -> Figure:
    laws = list(dict.fromkeys(row.law for row in rows))
    samples = {
        title: {law: values_of(rows, law, quantity) for law in laws}
        for quantity, title in QUANTITIES.items()
    }
    return quartiles(samples, log=[QUANTITIES[quantity] for quantity in WIDE_RANGE])


def illustrations(with_starts: bool) -> list[Illustration]:
    """Every figure, in the order of the report; that of the random starts only `with_starts`."""
    return [one for one in ILLUSTRATIONS if with_starts or one.draw is not _starts]


ILLUSTRATIONS = (
    Illustration(
        "n30-configurations",
        _thirty("configurations"),
        "Four maps of the heptagon: above the start, with 30 agents in a cluster at the lower "
        "left; below the end, with the agents spread around the peak of the density.",
        "Thirty agents: cells and density at the start (above) and at the end (below).",
    ),
    Illustration(
        "n30-trajectories",
        _thirty("trajectories"),
        "A map with 30 curves that fan out from the cluster at the lower left to the final "
        "positions, over the final cells.",
        "Paths of the 30 agents from start to end, over the final cells.",
    ),
    Illustration(
        "n30-errors",
        _thirty("errors"),
        "Thirty falling curves on a log axis, with a line at 0.7 that all are below from about "
        "t = 30 on.",
        "Tracking errors of the 30 agents, with exact integrals. The paper's figure ends at "
        "1e-9, as ours does on a grid; both are side by side in the figure further up.",
    ),
    Illustration(
        "n30-hold-errors",
        _thirty("hold_errors"),
        "Thirty curves far below a line at 0.4, the assumed limit.",
        "Hold errors of the 30 agents: how far the held velocity is from what the law would "
        "choose at the moment. The peaks of each agent are drawn, on a log axis.",
    ),
    Illustration(
        "n30-cost",
        _thirty("cost"),
        "One curve on a log axis that falls steeply and then stays level near 201.",
        "Locational cost of the 30 agents.",
    ),
    Illustration(
        "n30-timers",
        _timers,
        "Saw-teeth: each agent's timer falls with slope one and jumps up when it reaches zero, "
        "at times of its own.",
        "Timers over a short window: the time left until each agent's next sample.",
    ),
    Illustration(
        "comparison-trajectories",
        _laws(compared_trajectories),
        "Three maps, one for each law, with the paths of 12 agents from the same start. "
        "Lloyd's law ends in another arrangement of cells than the other two.",
        "Paths under the three laws from the same start, with exact integrals.",
    ),
    Illustration(
        "comparison-errors",
        _laws(compared_errors),
        "Three panels of falling curves on one log axis, down to about 1e-4 at the end.",
        "Tracking errors under the three laws, with exact integrals.",
    ),
    Illustration(
        "comparison-cells",
        _laws(compared_cells),
        "Three panels of rising curves on one log axis: about 15,000, 31,000 and 350 at the end.",
        "Cells of all kinds that each agent has computed up to each time. The sample at the very "
        "end is counted here.",
    ),
    Illustration(
        "comparison-costs",
        _laws(compared_costs),
        "Three curves that fall from about 11,000 to about 469: Lloyd's first, then the "
        "timer's, then the self-triggered law's.",
        "Locational cost under the three laws. Lloyd's law has no limit of speed.",
    ),
    Illustration(
        "self-triggered-intervals",
        lambda s, rows: time_since_events(s.self_triggered.exact),
        "Four panels of three agents each: saw-teeth whose peaks rise during the first 60 "
        "units of time to about 0.75.",
        "Time since each agent's last sample under the self-triggered law. The saw-tooth is drawn "
        "faintly; the line goes along its peaks, which are the intervals between samples.",
    ),
    Illustration(
        "exact-and-grid",
        _side_by_side,
        "Eight panels of tracking errors. On the left, with exact integrals, they fall slowly to "
        "between 1e-2 and 1e-5. On the right, on a grid, they rattle, then fall along straight "
        "lines to about 1e-13 or below and stay there.",
        "The same four simulations with exact integrals (left) and on a grid of points (right).",
    ),
    Illustration(
        "starts",
        _starts,
        "Seven panels with a box and dots for each of the three laws; the table beside it has the "
        "quartiles in numbers.",
        "The three laws from many random starts: every run is a dot, boxes go from the lower to "
        "the upper quartile, the line is the median.",
    ),
)

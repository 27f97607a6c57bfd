"""The figures of the report; templates/report.html.j2 has their captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dwell.plotting import FIGURES, errors_side_by_side, quartiles, time_since_events
from dwell.plotting.figures import timer_teeth
from dwell.plotting.panels import (
    compared_cells,
    compared_costs,
    compared_errors,
    compared_trajectories,
)
from dwell.studies.paper.simulations import SPACING, TITLES, Simulations
from dwell.studies.paper.start_study import LABELS, WIDE_RANGE, Row, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT, GRID = "exact integrals", f"grid of points, {SPACING:g} apart"

Drawing = Callable[[Simulations, Sequence[Row]], "Figure"]


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
        for quantity, title in LABELS.items()
    }
    return quartiles(samples, log=[LABELS[quantity] for quantity in WIDE_RANGE])


DRAWINGS: dict[str, Drawing] = {
    "n30-configurations": _thirty("configurations"),
    "n30-trajectories": _thirty("trajectories"),
    "n30-errors": _thirty("errors"),
    "n30-hold-errors": _thirty("hold_errors"),
    "n30-cost": _thirty("cost"),
    "n30-timers": _timers,
    "comparison-trajectories": _laws(compared_trajectories),
    "comparison-errors": _laws(compared_errors),
    "comparison-cells": _laws(compared_cells),
    "comparison-costs": _laws(compared_costs),
    "self-triggered-intervals": lambda s, rows: time_since_events(s.self_triggered.exact),
    "exact-and-grid": _side_by_side,
    "starts": _starts,
}  # by name of their files

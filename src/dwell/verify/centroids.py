"""Centroids at the start and at events once more, by code that shares nothing with the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dwell._types import Points, lengths
from dwell.agents import CoverageSystem
from dwell.cells.backend import measure_cells
from dwell.cells.measurement import Looks
from dwell.errors import DensityError
from dwell.verify.finding import Finding, agreement, not_applicable, spread
from dwell.verify.quasi_monte_carlo import TOO_FAR, Counting
from dwell.verify.reference_centroid import is_known, reference_centroid
from dwell.verify.replay import Replay

BY_HAND = 200  # agents at the start, and events, whose centroid is computed a second time
FEWER = 20  # the same above the plane, where each takes a thousand times longer
LIMIT = 1e-9  # of the workspace's diameter

# Positions of all agents, one agent, its error as stated, and where in the run that is.
Stated = tuple[Points, int, Points, str]
Tell = Callable[[str, float], None]


def second_opinion(replay: Replay, thorough: bool, tell: Tell) -> Finding:
    """By quadrature where there is one, else by counting points; all centroids or some."""
    system = replay.system
    known = system.terms is not None and is_known(system.workspace)
    most = None if thorough else BY_HAND if known and system.dimension < 3 else FEWER
    return (by_hand if known else counted)(replay, most, tell)


def by_hand(replay: Replay, most: int | None, tell: Tell) -> Finding:
    """Centroids by plain cutting and plain quadrature."""
    system, gaps, places = replay.system, [], []
    tried = 0
    for positions, agent, error, where in _stated(replay, most, tell):
        tried += 1
        centroid = reference_centroid(system.workspace, positions, agent, system.density)
        if centroid is not None:
            gaps.append(lengths(error - centroid) / system.workspace.diameter)
            places.append(where)
    what = "centroids recomputed by other code"
    if not places:
        why = "the cells weigh too little, or the density is too rough, for the other code"
        return not_applicable("by-hand", what, why)
    note = f" (relative to the diameter){_skipped(tried - len(places))}"
    total = _centroids(replay)
    return agreement("by-hand", what, np.array(gaps), LIMIT, total, places.__getitem__, note)


def counted(replay: Replay, most: int | None, tell: Tell) -> Finding:
    """Centroids by points that are counted to the nearest agent."""
    system, what = replay.system, "centroids recomputed by points counted to the nearest agent"
    try:
        counting = Counting(system.workspace, system.density)
    except DensityError as fault:  # a function that fails where no cell has evaluated it yet
        return not_applicable("by-counting", what, str(fault))
    found, places, sharp, tried = [], [], 0.0, 0
    for positions, agent, error, where in _stated(replay, most, tell):
        tried += 1
        doubt = _look(system, positions, np.array([agent])).doubt
        opinion = counting.compare(
            positions, agent, error, 0.0 if doubt is None else float(doubt[0])
        )
        if opinion is not None:
            found.append(opinion.apart)
            places.append(where)
            sharp = max(sharp, opinion.sharp / system.workspace.diameter)
    if not places:
        why = "the cells are too small, or weigh too little, for points to be counted in them"
        return not_applicable("by-counting", what, why)
    note = f" (in standard errors; one wrong by {sharp:.1g} of the diameter would have been found)"
    note += _skipped(tried - len(places))
    total = _centroids(replay)
    return agreement("by-counting", what, np.array(found), TOO_FAR, total, places.__getitem__, note)


def _stated(replay: Replay, most: int | None, tell: Tell) -> Iterator[Stated]:
    """Centroids at the start, as the kernel gives them, and at events, as the run records them.

    At most so many of either, evenly spread, the first and the last included; None: all.
    """
    places, table = replay.start.positions, replay.table
    agents, rows = spread(len(places), most), spread(len(table), most)
    for p, error in zip(agents, _look(replay.system, places, agents).error, strict=True):
        yield places, int(p), error, f"start, agent {p}"
    for k, row in enumerate(rows):
        tell("comparing centroids", k / len(rows))
        who = int(table.agent[row])
        yield replay.positions_at_row(int(row)), who, table.errors[row], replay.where(int(row))


def _centroids(replay: Replay) -> int:
    """How many the run has."""
    return len(replay.start.start) + len(replay.table)


def _skipped(count: int) -> str:
    return f"; {count} could not be told" if count else ""


def _look(system: CoverageSystem, positions: Points, agents: Any) -> Looks:
    return measure_cells(system.ground, positions[None], np.zeros_like(agents), agents)

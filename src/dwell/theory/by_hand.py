"""Centroids of some events once more, by code that shares nothing with the kernels."""

from __future__ import annotations

import numpy as np

from dwell._types import Ints, Points, lengths
from dwell.agents import CoverageSystem
from dwell.density.looking import look_many
from dwell.errors import DensityError
from dwell.geometry import is_flat
from dwell.theory.counting import TOO_FAR, Counting
from dwell.theory.finding import Finding, not_applicable, worst_of
from dwell.theory.oracle import plain_centroid
from dwell.theory.oracle_any import centroid_beyond_polygons, is_known
from dwell.theory.replay import Replay

BY_HAND = 200  # events whose centroid is computed a second time
FEWER = 20  # the same above the plane, where each takes a thousand times longer
LIMIT = 1e-9  # of the workspace's diameter
AGREE = "centroids agree with points counted to the nearest agent"


def second_opinion(system: CoverageSystem, replay: Replay) -> Finding:
    """By quadrature where there is one, else by counting points."""
    if system.terms is not None and is_known(system.workspace):
        return by_hand(system, replay)
    return counted(system, replay)


def by_hand(system: CoverageSystem, replay: Replay) -> Finding:
    """Centroids by plain cutting and plain quadrature."""
    rows = _some_rows(replay, BY_HAND if system.dimension < 3 else FEWER)
    gaps = np.full(len(rows), np.nan)
    for k, row in enumerate(rows):
        positions, agent = replay.positions_at_row(int(row)), int(replay.table.agent[row])
        centroid = _centroid(system, positions, agent)
        if centroid is not None:
            gaps[k] = lengths(replay.table.errors[row] - centroid) / system.workspace.diameter
    told = np.flatnonzero(~np.isnan(gaps))
    says = f"{len(told)} centroids computed by other code agree (relative to the diameter)"
    if not len(told):
        why = "the cells weigh too little, or the density is too rough, for the other code"
        return not_applicable("by-hand", says, why)
    says += _untold(len(rows) - len(told))
    return worst_of("by-hand", says, gaps[told], LIMIT, lambda k: replay.where(int(rows[told[k]])))


def counted(system: CoverageSystem, replay: Replay) -> Finding:
    """Centroids by points that are counted to the nearest agent."""
    rows = _some_rows(replay, FEWER)
    try:
        counting = Counting(system.workspace, system.density)
    except DensityError as fault:  # a function that fails where no look has asked it yet
        return not_applicable("by-counting", AGREE, str(fault))
    found, told, sharp = [], [], 0.0
    for row in rows:
        positions, agent = replay.positions_at_row(int(row)), int(replay.table.agent[row])
        doubt = _doubt(system, positions, agent)
        opinion = counting.told(positions, agent, replay.table.errors[row], doubt)
        if opinion is not None:
            found.append(opinion.apart)
            told.append(int(row))
            sharp = max(sharp, opinion.sharp / system.workspace.diameter)
    if not told:
        why = "the cells are too small, or weigh too little, for points to be counted in them"
        return not_applicable("by-counting", AGREE, why)
    says = (
        f"{len(told)} {AGREE} (in standard errors; one wrong by {sharp:.1g} of the diameter would "
        f"have been found)" + _untold(len(rows) - len(told))
    )
    return worst_of("by-counting", says, np.array(found), TOO_FAR, lambda k: replay.where(told[k]))


def _some_rows(replay: Replay, most: int) -> Ints:
    rows: Ints = np.unique(np.linspace(0, len(replay.table) - 1, most).astype(np.int64))
    return rows


def _untold(count: int) -> str:
    return f"; {count} could not be told" if count else ""


def _doubt(system: CoverageSystem, positions: Points, agent: int) -> float:
    """What a look says of its own digits."""
    seen = look_many(system.ground, positions[None], np.zeros(1, dtype=np.int64), np.array([agent]))
    return 0.0 if seen.doubt is None else float(seen.doubt[0])


def _centroid(system: CoverageSystem, positions: Points, agent: int) -> Points | None:
    site, density = system.workspace, system.density
    if system.dimension == 2 and is_flat(site):
        return plain_centroid(site.vertices, positions, agent, density)
    return centroid_beyond_polygons(site, positions, agent, density)

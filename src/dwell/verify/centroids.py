"""Centroids at the start and at events once more, by code that shares nothing with the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dwell._compatibility import Feature
from dwell._types import Floats, Points, lengths
from dwell.agents import CoverageSystem, Trajectory
from dwell.cells.features import features_of
from dwell.cells.measurement import CellMeasurements, of_one
from dwell.density import Density
from dwell.errors import DensityError
from dwell.geometry import Workspace
from dwell.verify.finding import Finding, Tell, agreement, not_applicable, spread
from dwell.verify.quasi_monte_carlo import TOO_FAR, Counting
from dwell.verify.reference_centroid import is_known, reference_moments
from dwell.verify.reference_ways import RegionWays

BY_HAND = 200  # agents at the start, and events, whose centroid is computed a second time
FEWER = 20  # above the plane and of rasters, where each takes a thousand times longer
LIMIT = 1e-9  # of the workspace's diameter

# Positions of all agents, one agent, its error as stated, the time, and where in the run that is.
Stated = tuple[Points, int, Points, float, str]


def second_opinion(run: Trajectory, thorough: bool, tell: Tell) -> Finding:
    """All centroids or some, by quadrature where there is one, else by counting points."""
    system = run.system
    first = system.ground_at(0.0)
    known = first.terms is not None and is_known(first.workspace) and system.radius is None
    quick = known and not {Feature.SPACE, Feature.RASTER} & features_of(first)
    most = None if thorough else BY_HAND if quick else FEWER
    return (by_hand if known else counted)(run, most, tell)


def by_hand(run: Trajectory, most: int | None, tell: Tell) -> Finding:
    """Centroids by plain cutting and plain quadrature."""
    gaps: dict[str, float] = {}  # by where in the run
    ways: dict[int, RegionWays] = {}  # by region
    for positions, agent, error, time, where in _stated(run, most, tell):
        centroid = _by_reference(run.system, positions, agent, time)
        if centroid is not None:
            ground = run.system.ground_at(time)
            if ground.mask is not None and ground.mask.stay:
                if id(ground.mask) not in ways:
                    ways[id(ground.mask)] = RegionWays(ground.mask)
                gap = ways[id(ground.mask)].gap(positions[agent], centroid, error)
            else:
                gap = float(lengths(error - centroid))
            gaps[where] = gap / ground.workspace.diameter
    what = "centroids recomputed by other code"
    why = "the cells weigh too little, or the density is too rough, for the other code"
    return _finding(run, "by-hand", what, gaps, LIMIT, most, why, "relative to the diameter")


def counted(run: Trajectory, most: int | None, tell: Tell) -> Finding:
    """Centroids by points that are counted to the nearest agent."""
    system, what = run.system, "centroids recomputed by points counted to the nearest agent"
    if system.stays:
        why = "errors are lengths of paths around corners, which have no standard error"
        return not_applicable("by-counting", what, why)
    gaps: dict[str, float] = {}  # in standard errors, by where in the run
    sharp, counting, before = 0.0, None, None
    for positions, agent, error, time, where in _stated(run, most, tell):
        diagrams = _diagrams(system, positions, agent, time)
        if len(diagrams) != 1:
            continue
        site, density, among, own, radius = diagrams[0]
        try:
            if (site, density) != before:
                counting = Counting(site, density)
        except DensityError as fault:  # a function that fails where no cell has evaluated it yet
            return not_applicable("by-counting", what, str(fault))
        assert counting is not None
        before = (site, density)
        doubt = _measured(system, positions, np.array([agent]), time).doubt
        stated = 0.0 if doubt is None else float(doubt[0])
        found = counting.compare(among, own, error, stated, radius)
        if found is not None:
            gaps[where] = found.apart
            sharp = max(sharp, found.sharp / system.workspace.diameter)
    why = "the cells are too small, or weigh too little, for points to be counted in them"
    note = f"in standard errors; one wrong by {sharp:.1g} of the diameter would have been found"
    return _finding(run, "by-counting", what, gaps, TOO_FAR, most, why, note)


def _finding(
    run: Trajectory,
    name: str,
    what: str,
    gaps: dict[str, float],
    limit: float,
    most: int | None,
    why: str,
    note: str,
) -> Finding:
    """The finding about `gaps`; not applicable, and `why`, if there are none."""
    if not gaps:
        return not_applicable(name, what, why)
    counts = (run.system.agents, len(run.table))
    skipped = sum(len(spread(count, most)) for count in counts) - len(gaps)
    rest = f"; {skipped} could not be determined" if skipped else ""
    values, where = np.array([*gaps.values()]), [*gaps].__getitem__
    return agreement(name, what, values, limit, sum(counts), where, f" ({note}){rest}")


def _stated(run: Trajectory, most: int | None, tell: Tell) -> Iterator[Stated]:
    """Centroids at the start, as the kernel returns them, and at events, as the run records them.

    At most so many of either, evenly spread, the first and the last included; None: all.
    """
    positions, table = run.start.positions, run.table
    agents, rows = spread(len(positions), most), spread(len(table), most)
    seen = _measured(run.system, positions, agents, 0.0)
    for p, error in zip(agents, seen.error, strict=True):
        yield positions, int(p), error, 0.0, f"start, agent {p}"
    for k, row in enumerate(rows):
        tell("comparing centroids", k / len(rows))
        agent, time = int(table.agent[row]), float(table.time[row])
        yield run.positions_at_row(int(row)), agent, table.errors[row], time, run.where(int(row))


def _measured(
    system: CoverageSystem, positions: Points, agents: Any, time: float
) -> CellMeasurements:
    return system.measure(*of_one(positions, agents), np.array([time]))


def _by_reference(
    system: CoverageSystem, positions: Points, agent: int, time: float
) -> Points | None:
    """The centroid of all cells of an agent together; None if there is no reference."""
    mass, first = 0.0, np.zeros(system.dimension)
    for site, density, among, own, _ in _diagrams(system, positions, agent, time):
        found = reference_moments(site, among, own, density)
        if found is None:
            return None
        mass, first = mass + found[0], first + found[0] * found[1]
    return first / mass if mass > 0.0 else None


def _diagrams(
    system: CoverageSystem, positions: Points, agent: int, time: float
) -> list[tuple[Workspace, Density, Points, int, Floats | None]]:
    """The diagrams in which an agent has a cell, each with its number there, and the radii."""
    radii, found = system.radii, []
    for diagram in system.world_at(time).diagrams:
        members = np.arange(len(positions)) if diagram.members is None else diagram.members
        own = np.flatnonzero(members == agent)
        if len(own):
            now = diagram.ground.at(time)
            wide = None if radii is None else radii[members]
            found.append((now.workspace, now.density, positions[members], int(own[0]), wide))
    return found

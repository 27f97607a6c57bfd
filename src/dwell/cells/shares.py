"""Power weights for which cells have prescribed shares of the mass."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dwell._compatibility import Need, refuse
from dwell._types import Floats, Ints, Points, as_numbers, in_short, lengths
from dwell.cells.backend import borders
from dwell.cells.features import features_of
from dwell.cells.positions import as_positions
from dwell.cells.weighted_region import weighted_region
from dwell.density.base import Density, as_density
from dwell.density.support import check_density
from dwell.density.uniform import Uniform
from dwell.errors import AgentsError
from dwell.geometry import Workspace, as_workspace, words_of

TOLERANCE = 1e-12  # of the mass
MOST_STEPS, MOST_HALVINGS = 200, 60
ROUNDING = 1e-9  # by which shares may miss a sum of 1
LEAST_SHARE = 1e-9  # of the mass: less would have few digits, or none


def power_weights(
    workspace: Workspace,
    positions: object,
    density: Density | object = None,
    shares: object = None,
) -> Floats:
    """Power weights for which the cells have prescribed shares of the mass.

    Parameters
    ----------
    workspace : workspace
        An interval, or a flat-sided region of the plane.
    positions : array_like
        Positions of the agents, (N, n), all different and inside the workspace.
    density : density or callable, optional
        The weight of points; uniform by default.
    shares : array_like, optional
        Shares of the mass, (N,), from 1e-9 on, with the sum 1; equal ones by default.

    Returns
    -------
    ndarray
        The weights, (N,), with the mean 0; masses differ from the shares by 1e-12 of the whole.

    Examples
    --------
    >>> import dwell
    >>> site = dwell.Interval(0, 1)
    >>> weights = dwell.power_weights(site, [0.25, 0.5], shares=[0.5, 0.5])
    >>> dwell.tessellate(site, [0.25, 0.5], weights=weights).masses.round(12).tolist()
    [0.5, 0.5]
    """
    weight = Uniform() if density is None else as_density(density)
    workspace = as_workspace(workspace)
    check_density(weight, workspace)
    features = features_of(weighted_region(workspace, weight))
    refuse(Need.WEIGHTS, features, **words_of(workspace))
    points = as_positions(positions, workspace.dimension)
    wanted = _as_shares(shares, len(points))
    return _solved(workspace, points, weight, wanted)


class _Shares(NamedTuple):
    """What the cells weigh at some weights, and how that changes."""

    weights: Floats  # (N,)
    masses: Floats  # (N,)
    slopes: Floats  # (B,) derivative of one mass with respect to another weight, negated
    ends: tuple[Ints, Ints]  # (B,) which ones


def _measured(workspace: Workspace, points: Points, density: Density, weights: Floats) -> _Shares:
    found = borders(workspace, points, density, weights=weights)
    scale = np.exp(found.log_scales)
    slopes = found.m0 * scale[found.agent] / (2.0 * lengths(found.gap))
    masses = np.where(found.empty, 0.0, found.masses * scale)
    return _Shares(weights, masses, slopes, (found.agent, found.other))


def _solved(workspace: Workspace, points: Points, density: Density, shares: Floats) -> Floats:
    """The weights by a damped Newton iteration, in which no cell becomes empty."""
    now = _measured(workspace, points, density, np.zeros(len(points)))
    total = math.fsum(now.masses)
    goal = shares * total
    if not now.masses.min() > 0.0:
        agent = int(np.argmin(now.masses))
        raise AgentsError(
            f"the Voronoi cell of agent {agent} at {points[agent].tolist()} weighs nothing; every "
            "agent must start with some mass: move it into the workspace, to where the density is "
            "positive",
            code="agents.weights",
            key=f"agents.start[{agent}]",
        )
    least = 0.5 * min(float(now.masses.min()), float(goal.min()))
    for _ in range(MOST_STEPS):
        miss = float(np.abs(now.masses - goal).max())
        after = _stepped(workspace, points, density, now, goal, least)
        if after is None or (miss <= TOLERANCE * total and _miss(after, goal) >= miss):
            break
        now = after
    if _miss(now, goal) > TOLERANCE * total:
        raise AgentsError(
            f"the masses of the cells miss their shares by {_miss(now, goal) / total:.2g} of the "
            "whole, and no weights nearby do better; agents that are farther apart, or a smoother "
            "density, are needed",
            code="agents.weights",
            key="shares",
        )
    weights: Floats = now.weights - math.fsum(now.weights) / len(points)
    return weights


def _miss(found: _Shares, goal: Floats) -> float:
    return float(np.abs(found.masses - goal).max())


def _stepped(
    workspace: Workspace,
    points: Points,
    density: Density,
    now: _Shares,
    goal: Floats,
    least: float,
) -> _Shares | None:
    """Shares after a Newton step, halved until all masses stay; None if no step is short enough.

    The matrix is the Laplacian of the graph of neighbours, so the first weight stays as it is.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    count, (p, q) = len(points), now.ends
    if count == 1:
        return None
    diagonal = np.bincount(p, now.slopes, count)
    entries = np.concatenate([diagonal, -now.slopes])
    every = np.arange(count)
    places = np.concatenate([every, p]), np.concatenate([every, q])
    matrix = coo_array((entries, places), shape=(count, count)).tocsr()[1:, 1:]
    step = np.append(0.0, spsolve(matrix.tocsc(), (goal - now.masses)[1:]))
    before, share = _miss(now, goal), 1.0
    for _ in range(MOST_HALVINGS):
        after = _measured(workspace, points, density, now.weights + share * step)
        if after.masses.min() >= least and _miss(after, goal) <= (1.0 - 0.25 * share) * before:
            return after
        share *= 0.5
    return None


def _as_shares(shares: object, agents: int) -> Floats:
    """The shares as an array, (N,); refuse anything but positive numbers with the sum 1."""
    if shares is None:
        return np.full(agents, 1.0 / agents)
    found = as_numbers(shares)
    if found is None or found.shape != (agents,):
        raise _refused(f"shares are {in_short(shares)}; {agents} numbers are needed, one per agent")
    bad = np.flatnonzero(~(found > 0.0))
    if bad.size:
        raise _refused(
            f"the share of agent {bad[0]} is {found[bad[0]]:g}; positive shares are needed: leave "
            "out agents that shall have no mass"
        )
    small = np.flatnonzero(found < LEAST_SHARE)
    if small.size:
        raise _refused(
            f"the share of agent {small[0]} is {found[small[0]]:g}; masses are met to 1e-12 of the "
            f"whole, so a share from {LEAST_SHARE:g} on is needed"
        )
    total = math.fsum(found)
    if not abs(total - 1.0) <= ROUNDING:
        raise _refused(f"the shares add up to {total:.9g}; a sum of 1 is needed: divide by it")
    return found / total


def _refused(says: str) -> AgentsError:
    return AgentsError(says, code="agents.shares", key="shares")

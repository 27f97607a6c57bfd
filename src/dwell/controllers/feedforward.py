"""Feed-forward: what a law adds to kappa e to follow a world that moves.

With the rate r of the own centroid while no agent moves, the derivatives A of the centroid, the
velocity v_p that the agent has held and the velocities v_q of the neighbours:

    own         kappa e + r
    ahead       kappa e + (c(t + T) - c(t)) / T, c of the present cell, T the wait just chosen
    neighbours  (I - B)^-1 (kappa e + r + B v_p + trust sum A_pq v_q),  B = trust A_pp / 2

The fixed point of the last one solves (I - trust A) v = kappa e + r for all agents together. Half
of A_pp acts on the velocity held before, so that the steps converge also where all agents sample
together: see docs/laws/following.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dwell._kernels.common.status import FLOOR, IN_TIME
from dwell._parameters import Number, Word, param
from dwell._types import Floats, Points, lengths
from dwell.agents.interfaces import Information, Observation
from dwell.cells.sensitivity import own_blocks

TRUST = 0.95
WORLDS = {"none": "now", "ahead": "forecast"}  # what the choices need to know; others: the rate
LEAST = 1e-3  # of the symmetric part of I - trust A_pp: below, a law does without the neighbours


def feedforward(**about: Any) -> Any:
    """The parameter of a law that says what is added to follow a world that moves."""
    choices = {
        "none": "nothing",
        "own": "the rate of the own centroid",
        "ahead": "its mean rate until the next sample",
        "neighbours": "also the share `trust` of what the neighbours' motion adds",
    }
    return param(
        "what is added to follow a density or a workspace that moves", Word(choices),
        default="none", **about,
    )  # fmt: skip


def trust() -> Any:
    """The parameter that goes with the choice "neighbours"."""
    return param(
        "the share of the neighbours' motion with `neighbours`",
        Number(above=0.0, most=1.0), default=None, belongs=("feedforward", "neighbours"),
        absent=TRUST,
    )  # fmt: skip


def information_with(feedforward: str, others: str = "centroid") -> Information:
    """What an agent observes, where the law without feed-forward needs `others`."""
    others = "velocities" if feedforward == "neighbours" else others
    return Information(others=others, world=WORLDS.get(feedforward, "rate"))


class Drive(NamedTuple):
    """A velocity before it is cut to the largest speed, and the law's mark."""

    velocity: Points
    mark: int = IN_TIME  # FLOOR where the neighbours' velocities could not be used


def driven(
    observation: Observation, kappa: float, feedforward: str, trust: float | None, wait: float
) -> Drive:
    """The velocity of an agent that samples again after `wait`."""
    measured = observation.measurement
    assert measured is not None
    pull = kappa * measured.error
    if measured.empty or feedforward == "none":
        return Drive(pull)
    if feedforward == "ahead":
        if observation.ahead is None or not wait > 0.0:
            return Drive(pull)
        return Drive(pull + (observation.ahead(observation.time + wait) - measured.error) / wait)
    wanted = pull if observation.rate is None else pull + observation.rate()
    if feedforward == "own":
        return Drive(wanted)
    share = TRUST if trust is None else trust
    own, pushed = pushed_by(observation)
    one = np.eye(len(own))
    if not is_positive(one - share * own):
        return Drive(wanted, FLOOR)
    half = 0.5 * share * own
    kept = (half * observation.hold).sum(axis=1)
    return Drive(solved(one - half, wanted + kept + share * pushed))


def pushed_by(observation: Observation) -> tuple[Floats, Points]:
    """A_pp, and the sum of A_pq v_q: how fast the neighbours' motion moves the centroid."""
    sample, ground, place = observation.sample, observation.ground, observation.position
    n = len(place)
    if sample is None or sample.velocities is None or ground is None or not len(sample.agents):
        return np.zeros((n, n)), np.zeros(n)
    own, beyond, towards = own_blocks(ground.workspace, place, sample.positions, ground.density)
    pushed: Points = (towards * sample.velocities[beyond][:, None, :]).sum(axis=2).sum(axis=0)
    return own, pushed


def limited(velocity: Points, speed: float | None) -> Points:
    """Velocities cut to a largest speed, with their directions kept, (..., n)."""
    if speed is None:
        return velocity
    size = lengths(velocity)
    scale = np.where(size > speed, size, 1.0)[..., None]
    cut: Points = np.where((size > speed)[..., None], speed * (velocity / scale), velocity)
    return cut


def is_positive(matrix: Floats) -> bool:
    """Whether the symmetric part of a matrix is positive definite, by its pivots.

    Where that of I - A is not, agents are far from a minimum of the cost, and the solution leads
    away from it.
    """
    left = 0.5 * (matrix + matrix.T) - LEAST * np.eye(len(matrix))
    for k in range(len(left)):
        if not left[k, k] > 0.0:
            return False
        left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k], left[k, k + 1 :]) / left[k, k]
    return True


def solved(matrix: Floats, right: Points) -> Points:
    """x with matrix x = right, for a positive matrix, in plain arithmetic."""
    n = len(right)
    rows, x = matrix.tolist(), right.tolist()
    for k in range(n):  # all pivots are positive
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
            x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= rows[k][j] * x[j]
        x[k] /= rows[k][k]
    return np.array(x)

"""How fast displacements decay where agents move in a random order.

A run then multiplies the displacement by one random matrix after another. What single runs tend to
is not the mean of such products but the mean of the logarithms of what they do to a displacement
(the largest Lyapunov exponent). It has no closed form, so the linear model itself is followed
through many random turns, always the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats

PATHS = 256  # followed at once
MOST = 20_000  # turns of each
GOOD = 0.004  # relative error at which no more turns are needed
SLOWEST = 5.0  # time constants until the quicker modes are gone
WINDOW = 16  # turns per agent between two evaluations of the error


@final
@dataclass(frozen=True, slots=True)
class Typical:
    """The rate that single runs tend to."""

    rate: float  # per time; negative: displacements grow
    error: float  # standard error of that


def by_turns(rest: Floats, agents: int, part: float, step: float, gap: float) -> Typical:
    """One agent, drawn evenly, goes `part` of the way at every `step`; `rest` is I - Dc."""
    random, rows = np.random.default_rng(0), rest.reshape(agents, -1, len(rest))
    paths, shape = np.arange(PATHS), (PATHS, *rows.shape[:2])

    def advance(x: Floats) -> float:
        chosen = random.integers(agents, size=PATHS)
        move = part * np.einsum("rij,rj->ri", rows[chosen], x)
        shaped = x.reshape(shape)
        shaped[paths, chosen] -= move
        return step

    return _followed(advance, random.standard_normal((PATHS, len(rest))), agents, part * gap)


def by_clocks(
    rest: Floats, agents: int, part: float, step: float, often: float, gap: float
) -> Typical:
    """Each agent samples by its own Poisson clock, and moves `part` of the way during `step`."""
    random, rows = np.random.default_rng(0), rest.reshape(agents, -1, len(rest))
    paths, shape = np.arange(PATHS), (PATHS, *rows.shape[:2])
    speeds = np.zeros(shape)
    # The next events of each agent: its sample, and the end of its move.
    due = np.full((PATHS, 2, agents), np.inf)
    due[:, 0] = random.exponential(1.0 / often, (PATHS, agents))

    def advance(x: Floats) -> Any:
        flat = due.reshape(PATHS, 2 * agents)
        event = np.argmin(flat, axis=1)
        wait = flat[paths, event].copy()
        flat -= wait[:, None]
        shaped = x.reshape(shape)
        shaped += speeds * wait[:, None, None]
        samples, agent = event < agents, event % agents
        towards = -part / step * np.einsum("rij,rj->ri", rows[agent], x)
        speeds[paths, agent] = np.where(samples[:, None], towards, 0.0)
        due[paths, 1, agent] = np.where(samples, step, np.inf)
        due[paths, 0, agent] = np.where(
            samples, random.exponential(1.0 / often, PATHS), due[paths, 0, agent]
        )
        return wait

    def shrink(by: Floats) -> None:
        speeds[...] /= by[:, None, None]

    first = random.standard_normal((PATHS, len(rest)))
    turns = 2.0 * part * gap  # samples and ends of moves alternate
    return _followed(advance, first, 2 * agents, turns, shrink)


def _followed(
    advance: Callable[[Floats], Any],
    x: Floats,
    round_: int,
    shrinking: float,
    shrink: Callable[[Floats], None] = lambda by: None,
) -> Typical:
    """The mean slope of the logarithm once the slowest displacement is all that is left."""
    settling = min(MOST // 3, int(SLOWEST * round_ / max(abs(shrinking), 1e-9)))
    lost, time = np.zeros(len(x)), np.zeros(len(x))
    found = Typical(math.nan, math.inf)
    for turn in range(1, MOST + 1):
        time += advance(x)
        if turn % round_ and turn != settling:
            continue
        size = np.sqrt((x * x).sum(axis=1))  # often enough for numbers not to vanish
        if not (size > 0.0).all():
            return Typical(math.inf, 0.0)  # there in a few moves, and no longer displaced
        x /= size[:, None]
        shrink(size)
        lost -= np.log(size)
        if turn <= settling:
            lost[:], time[:] = 0.0, 0.0
        elif turn % (WINDOW * round_) == 0:
            rate = float(lost.sum() / time.sum())
            slopes = (lost - rate * time) / time.mean()
            found = Typical(rate, float(slopes.std() / math.sqrt(len(x))))
            if found.error <= GOOD * abs(rate):
                break
    return found

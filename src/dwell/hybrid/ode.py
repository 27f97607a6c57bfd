"""Differential equations by SciPy's adaptive method of order 8, as knots of a cubic spline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats

Rate = Callable[[Floats], Floats]  # the right-hand side: state -> its rate of change

MOST_PARTS = 4096  # into which a step of the solver is divided


@final
@dataclass(frozen=True, eq=False)
class Spline:
    """A solution at knots: between two of them it is the cubic that fits values and rates."""

    times: Floats  # (K,)
    values: Floats  # (K, n)
    rates: Floats  # (K, n)
    finished: bool  # whether the end was reached; if not, an interrupt came


def solve(
    rate: Rate,
    start: Floats,
    until: float,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
) -> Spline:
    """Solve y' = rate(y) on [0, until], every component within about `tolerance`.

    The solver's own steps are long; knots are added until the cubic between any two of them is as
    close to the solver's own interpolant as the tolerance. An interrupt from the keyboard ends
    the solution where it is.
    """
    from scipy.integrate import DOP853

    times, values = [0.0], [np.array(start, dtype=np.float64)]
    rates = [rate(values[0])]
    if until == 0.0:
        return Spline(np.array(times), np.array(values), np.array(rates), True)
    # Absolute errors count, as lengths have no natural zero; those of many steps add up.
    solver = DOP853(lambda t, y: rate(y), 0.0, values[0], until, rtol=1e-13, atol=0.02 * tolerance)
    try:
        while solver.status == "running":
            solver.step()
            knots = _knots(rate, solver.dense_output(), times[-1], solver.t, rates[-1], tolerance)
            for t, value, slope in knots:
                times.append(t)
                values.append(value)
                rates.append(slope)
            if progress is not None:
                progress(float(solver.t))
    except KeyboardInterrupt:
        count = min(len(times), len(values), len(rates))
        times, values, rates = times[:count], values[:count], rates[:count]
    return Spline(np.array(times), np.array(values), np.array(rates), solver.status == "finished")


def _knots(
    rate: Rate,
    inside: Callable[[float], Floats],
    begin: float,
    end: float,
    first: Floats,
    tolerance: float,
) -> list[tuple[float, Floats, Floats]]:
    """Knots of one step, without its beginning: 1, 2, 4, ... parts until cubics are good enough."""
    parts = 1
    while True:
        times = [begin + (end - begin) * (k / parts) for k in range(parts)] + [end]
        values = [inside(t) for t in times]
        rates = [first, *(rate(value) for value in values[1:])]
        if parts >= MOST_PARTS or _misfit(inside, times, values, rates) <= tolerance:
            return list(zip(times[1:], values[1:], rates[1:], strict=True))
        parts *= 2


def _misfit(
    inside: Callable[[float], Floats], times: list[float], values: list[Floats], rates: list[Floats]
) -> float:
    """How far the cubics are from the solution in the middle of each part, where it is worst."""
    worst = 0.0
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        middle = 0.5 * (values[k] + values[k + 1]) + 0.125 * h * (rates[k] - rates[k + 1])
        gap = np.abs(middle - inside(0.5 * (times[k] + times[k + 1])))
        worst = max(worst, float(gap.max()))
    return worst

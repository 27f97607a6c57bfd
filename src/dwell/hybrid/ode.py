"""Differential equations by SciPy's adaptive method of order 8, as knots of a cubic spline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Ints
from dwell.hybrid.system import Halt

Rate = Callable[[Floats], Floats]  # the right-hand side: state -> its rate of change

Knot = tuple[float, Floats, Floats, int]  # time, value, rate, calls so far

MOST_PARTS = 4096  # into which a step of the solver is divided


@final
@dataclass(frozen=True, eq=False)
class Spline:
    """A solution at knots: between two of them it is the cubic that fits values and rates."""

    times: Floats  # (K,)
    values: Floats  # (K, n)
    rates: Floats  # (K, n)
    calls: Ints  # (K,) how often the right-hand side had been evaluated when each knot was made
    finished: bool  # whether the end was reached
    halt: Halt | None = None  # why not; None: an interrupt came


def solve(
    rate: Rate,
    start: Floats,
    until: float,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
    *,
    since: float = 0.0,
) -> Spline:
    """Solve y' = rate(y) on [since, until], every component within about `tolerance`.

    The solver's own steps are long; knots are added until the cubic between any two of them is as
    close to the solver's own interpolant as the tolerance. A `Halt` from the right-hand side, or
    an interrupt from the keyboard, ends the solution at the last knot before it.
    """
    from scipy.integrate import DOP853

    called = 0

    def counted(y: Floats) -> Floats:
        nonlocal called
        called += 1
        return rate(y)

    begin = np.array(start, dtype=np.float64)
    knots: list[Knot] = [(since, begin, counted(begin), called)]
    if until <= since:
        return _spline(knots, True)
    halt, done = None, False
    try:
        # Absolute errors count, as lengths have no natural zero; those of many steps add up.
        solver = DOP853(
            lambda t, y: counted(y), since, begin, until, rtol=1e-13, atol=0.02 * tolerance
        )
        while solver.status == "running":
            solver.step()
            last = knots[-1]
            found = _knots(counted, solver.dense_output(), last[0], solver.t, last[2], tolerance)
            after = len(found) - 1  # these have one call each of their own, the first all the rest
            knots += [(*knot, called - after + k) for k, knot in enumerate(found)]
            if progress is not None:
                progress(float(solver.t))
        done = solver.status == "finished"
    except Halt as reason:
        halt = reason
    except KeyboardInterrupt:
        pass
    return _spline(knots, done, halt)


def _spline(knots: list[Knot], finished: bool, halt: Halt | None = None) -> Spline:
    times, values, rates, calls = (np.array(column) for column in zip(*knots, strict=True))
    return Spline(times, values, rates, calls, finished, halt)


def _knots(
    rate: Rate,
    inside: Callable[[Floats], Floats],
    begin: float,
    end: float,
    first: Floats,
    tolerance: float,
) -> list[tuple[float, Floats, Floats]]:
    """Knots of one step, without its beginning: 1, 2, 4, ... parts until cubics are good enough.

    In the middle of each part, where it is worst, they may differ by `tolerance` from the solution.
    """
    parts = 1
    while True:
        times = np.append(begin + (end - begin) * (np.arange(parts) / parts), end)
        values = inside(times).T
        rates = np.array([first, *map(rate, values[1:])])
        bulge = 0.125 * np.diff(times)[:, None] * (rates[:-1] - rates[1:])
        middle = 0.5 * (values[:-1] + values[1:]) + bulge
        misfit = np.abs(middle - inside(0.5 * (times[:-1] + times[1:])).T).max()
        if parts >= MOST_PARTS or misfit <= tolerance:
            return list(zip(times[1:].tolist(), values[1:], rates[1:], strict=True))
        parts *= 2

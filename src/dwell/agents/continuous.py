"""Laws that are differential equations, solved to a tolerance: the reference for those that step.

The solution is kept like any other: at every knot each agent makes a jump, and moves on along a
cubic that meets the next knot in place and velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.agents.events import EventTable, LoggedEvents, LoggedStates
from dwell.agents.state import AgentsState, Spent
from dwell.agents.system import CoverageSystem
from dwell.errors import AgentsError, InputError
from dwell.hybrid import HybridArc, Stop, StopReason
from dwell.hybrid.ode import Spline, solve


def is_continuous(system: CoverageSystem) -> bool:
    """Whether the law is a differential equation."""
    return getattr(system.controller, "accuracy", None) is not None


def beginning(system: CoverageSystem, positions: Points) -> AgentsState:
    """The state at time 0, for laws of any kind."""
    if not is_continuous(system):
        return system.start(positions)
    if not system.network.perfect:
        raise InputError(
            "a differential equation looks all the time, so looks cannot be lost or late; use the "
            "sampled law, or a perfect network",
            code="network.loss",
            key="network",
        )
    if system.spacing is not None:
        raise InputError(
            "on a grid of points centroids jump, and the differential equation has no solution; "
            "integrate exactly, or use the sampled law",
            code="integration.ode",
            key="run.integration",
        )
    n = system.agents
    zeros = np.zeros(n)
    looks = system.looks(positions)
    hold = _velocities(system, np.array([look.error for look in looks]))
    spent = tuple(Spent(received=look.neighbors) for look in looks)
    return AgentsState(
        0.0, positions.copy(), hold, zeros, zeros, zeros, np.zeros(n, dtype=np.int64),
        bend=np.zeros((n, 2, system.dimension)), spent=spent,
    )  # fmt: skip


def _velocities(system: CoverageSystem, errors: Points) -> Points:
    law: Any = system.controller
    rates: Points = law.velocities(errors)
    return rates


def solve_continuous(
    system: CoverageSystem,
    start: AgentsState,
    *,
    until: float,
    max_jumps: int = 50_000_000,
    progress: Callable[[float], None] | None = None,
) -> HybridArc[AgentsState]:
    """The solution from `start` to time `until`, within the law's tolerance."""
    law: Any = system.controller
    n = system.agents

    def rate(y: Floats) -> Floats:
        points = y.reshape(n, system.dimension)
        errors = np.array([look.error for look in system.looks(points)])
        return _velocities(system, errors).ravel()

    tolerance = law.accuracy * system.workspace.diameter
    try:
        spline = solve(rate, start.start.ravel(), until, tolerance, progress)
    except AgentsError as contact:  # two agents met: the flow is not defined any further
        stop = Stop(StopReason.COINCIDENT, 0.0, str(contact))
        table = EventTable.blank(0, system.dimension)
        states = LoggedStates(replace(start, next_at=np.full(n, np.inf)), table)
        return HybridArc(system, states, LoggedEvents(table), 0.0, stop)
    spline = _limited(spline, max_jumps // n)
    ends_at = float(spline.times[-1])
    reason = _reason(spline, ends_at, until)
    table, first = _tabulated(system, start, spline)
    arc_end = until if reason is StopReason.HORIZON else ends_at
    states = LoggedStates(first, table)
    return HybridArc(system, states, LoggedEvents(table), arc_end, Stop(reason, arc_end))


def _limited(spline: Spline, knots: int) -> Spline:
    keep = max(knots, 0) + 1
    if len(spline.times) <= keep:
        return spline
    return Spline(spline.times[:keep], spline.values[:keep], spline.rates[:keep], True)


def _reason(spline: Spline, ends_at: float, until: float) -> StopReason:
    if not spline.finished:
        return StopReason.INTERRUPTED
    return StopReason.HORIZON if ends_at == until else StopReason.JUMP_LIMIT


def _tabulated(
    system: CoverageSystem, start: AgentsState, spline: Spline
) -> tuple[EventTable, AgentsState]:
    """Every knot but the first as one jump of each agent, and the start with its bends."""
    n, dimension, knots = system.agents, system.dimension, len(spline.times)
    bends = _bends(spline).reshape(knots, 2, n, dimension).transpose(0, 2, 1, 3)
    following = np.append(spline.times[1:], np.inf)
    first = replace(
        start,
        next_at=np.full(n, following[0]),
        first=np.full(n, following[0]),
        bend=bends[0],
    )
    values, rates = (v.reshape(knots, n, dimension) for v in (spline.values, spline.rates))
    table = EventTable.blank((knots - 1) * n, dimension)
    for k in range(1, knots):
        rows = slice((k - 1) * n, k * n)
        looks = system.looks(np.ascontiguousarray(values[k]))
        table.time[rows], table.agent[rows] = spline.times[k], np.arange(n)
        table.positions[rows], table.holds[rows] = values[k], rates[k]
        table.next_at[rows] = following[k]
        table.errors[rows] = np.array([look.error for look in looks])
        table.hold_error[rows] = lengths(rates[k - 1] - rates[k])
        table.neighbors[rows] = [look.neighbors for look in looks]
        table.nearest[rows] = [look.nearest for look in looks]
        table.empty[rows] = [look.empty for look in looks]
    return replace(table, bend=bends[1:].reshape(-1, 2, dimension)), first


def _bends(spline: Spline) -> Floats:
    """Coefficients of dt**2 and dt**3 after each knot, (K, 2, n); zero after the last."""
    h = np.diff(spline.times)[:, None]
    step, v0, v1 = np.diff(spline.values, axis=0), spline.rates[:-1], spline.rates[1:]
    square = (3.0 * step / h - 2.0 * v0 - v1) / h
    cube = (v0 + v1 - 2.0 * step / h) / (h * h)
    last = np.zeros((1, 2, spline.values.shape[1]))
    return np.concatenate([np.stack([square, cube], axis=1), last])

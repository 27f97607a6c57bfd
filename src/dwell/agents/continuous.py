"""Laws that are differential equations, solved to a tolerance: a reference for sampled laws.

The solution is stored like any other: at every knot each agent jumps, and its next segment is a
cubic that meets the next knot in position and velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dwell._compatibility import Need
from dwell._parameters import parameters_of
from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.events import EventTable
from dwell.agents.interfaces import velocities_of
from dwell.agents.segments import Segments
from dwell.agents.state import AgentsState, SampledStart
from dwell.agents.system import CoverageSystem, halted
from dwell.agents.trajectory import Trajectory
from dwell.errors import AgentsError, ControllerError
from dwell.hybrid import HybridArc, Stop, StopReason
from dwell.hybrid.ode import Spline, solve

STIFFEST = 1e5  # gain times time: some minutes of solving


def is_continuous(system: CoverageSystem) -> bool:
    """Whether the law is a differential equation."""
    return system.traits.is_equation


def beginning(
    system: CoverageSystem, positions: Points, *, threads: int | None = None
) -> AgentsState:
    """The state at time 0, for laws of any kind; `threads` for measurements, all by default."""
    if not is_continuous(system):
        return system.start(positions, threads=threads)
    system.refuse(Need.EQUATION)
    n = system.agents
    zeros, never = np.zeros(n), np.full(n, np.inf)
    seen = system.measurements(positions)
    segments = Segments(
        zeros, positions.copy(), velocities_of(system.controller, seen.error), zeros, never,
        bend=np.zeros((n, 2, system.dimension)),
    )  # fmt: skip
    spent = SampledStart(seen.neighbors)
    return AgentsState(0.0, segments, zeros, np.zeros(n, dtype=np.int64), spent=spent)


def solve_continuous(
    system: CoverageSystem,
    start: AgentsState,
    *,
    until: float,
    max_jumps: int = 50_000_000,
    progress: Callable[[float], None] | None = None,
) -> HybridArc[AgentsState]:
    """The solution from `start` to time `until`, within the law's tolerance."""
    n = system.agents
    _refuse_stiff(system, until - start.time)
    neighbors: list[Ints] = []  # of every agent, at each evaluation

    def rate(y: Floats) -> Floats:
        points = y.reshape(n, system.dimension)
        try:
            seen = system.measurements(points)
        except AgentsError as contact:  # coincident agents: the flow is not defined any further
            raise halted(contact) from None
        neighbors.append(seen.neighbors)
        return velocities_of(system.controller, seen.error).ravel()

    tolerance = (system.traits.accuracy or 0.0) * system.workspace.diameter
    begin = start.positions
    whole = solve(rate, begin.ravel(), until, tolerance, progress, since=start.time)
    spline = _limited(whole, max_jumps // n)
    ends_at = float(spline.times[-1])
    reason = StopReason.HORIZON if ends_at == until else StopReason.JUMP_LIMIT
    if spline.halt is not None:
        reason = spline.halt.reason
    elif not spline.finished:
        reason = StopReason.INTERRUPTED
    table, first = _tabulated(system, start, spline, np.array(neighbors))
    arc_end = until if reason is StopReason.HORIZON else ends_at
    detail = spline.halt.detail if spline.halt is not None else ""
    return Trajectory(system, first, table, arc_end).arc(Stop(reason, arc_end, detail))


def _refuse_stiff(system: CoverageSystem, duration: float) -> None:
    """Steps of an explicit method are a few times 1 / gain at most, whatever the tolerance."""
    traits, gain = system.traits, system.traits.gain
    if gain is not None and gain * duration > STIFFEST:
        declared = parameters_of(system.controller)
        gains = (name for name, one in declared.items() if one.role == "gain")
        raise ControllerError(
            f"the gain of {traits.name} is {gain:g}, which over a time of {duration:g} makes gain "
            f"times time {gain * duration:.3g}; at most {STIFFEST:g} can be solved as a "
            "differential equation: take a smaller gain, a shorter horizon, or a law that samples",
            code="controller.k2",
            key=f"controller.{next(gains, 'kind')}",
        )


def _limited(spline: Spline, knots: int) -> Spline:
    keep = max(knots, 0) + 1
    if len(spline.times) <= keep:
        return spline
    times, values, rates = (v[:keep] for v in (spline.times, spline.values, spline.rates))
    return Spline(times, values, rates, spline.calls[:keep], True)


def _tabulated(
    system: CoverageSystem, start: AgentsState, spline: Spline, neighbors: Ints
) -> tuple[EventTable, AgentsState]:
    """Every knot but the first as one jump of each agent, and the start with its cubics."""
    n, dimension, knots = system.agents, system.dimension, len(spline.times)
    bends = _bends(spline).reshape(knots, 2, n, dimension).transpose(0, 2, 1, 3)
    following = np.append(spline.times[1:], np.inf)
    values, rates = (v.reshape(knots, n, dimension) for v in (spline.values, spline.rates))
    segments = replace(
        start.segments,
        since=np.full(n, start.time),
        place=start.positions,
        hold=rates[0],
        next_at=np.full(n, following[0]),
        bend=bends[0],
    )
    first = replace(start, segments=segments, first=np.full(n, following[0]))
    received = np.cumsum(neighbors, axis=0)[spline.calls - 1]
    table = replace(
        EventTable.blank((knots - 1) * n, dimension),
        bend=bends[1:].reshape(-1, 2, dimension),
        looked=np.diff(spline.calls).repeat(n),
        received=np.diff(received, axis=0).ravel(),
    )
    for k in range(1, knots):
        rows = slice((k - 1) * n, k * n)
        seen = system.measurements(np.ascontiguousarray(values[k]))
        table.time[rows], table.agent[rows] = spline.times[k], np.arange(n)
        table.positions[rows], table.holds[rows] = values[k], rates[k]
        table.next_at[rows] = following[k]
        table.hold_error[rows] = lengths(rates[k - 1] - rates[k])
        for column in ("neighbors", "nearest", "empty"):
            getattr(table, column)[rows] = getattr(seen, column)
        table.errors[rows] = seen.error
    return table, first


def _bends(spline: Spline) -> Floats:
    """Coefficients of dt**2 and dt**3 after each knot, (K, 2, n); zero after the last."""
    h = np.diff(spline.times)[:, None]
    step, v0, v1 = np.diff(spline.values, axis=0), spline.rates[:-1], spline.rates[1:]
    square = (3.0 * step / h - 2.0 * v0 - v1) / h
    cube = (v0 + v1 - 2.0 * step / h) / (h * h)
    last = np.zeros((1, 2, spline.values.shape[1]))
    return np.concatenate([np.stack([square, cube], axis=1), last])

"""The theorem held against a run: which hypotheses it met, and whether its conclusions came true.

A violation here does not make a run wrong. It says that the theorem does not speak about it, or
from when on it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats, dots, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.errors import DensityError
from dwell.theory.certificate import max_dwell_time
from dwell.theory.finding import HOLDS, VIOLATED, Finding, not_applicable, worst_of
from dwell.theory.lipschitz import lipschitz_along
from dwell.theory.metrics import Metrics, look_at_all, snapshots, timer_program
from dwell.theory.promises import thinned

MOST_TIMES = 3000  # times at which errors, speeds and costs are looked at
MOST_DERIVATIVES = 200  # times at which the Lipschitz constants are measured
ROUNDING = 1e-12


@final
@dataclass(frozen=True, eq=False)
class _Course:
    """A run at some times."""

    times: Floats  # (S,)
    errors: Floats  # (S, N)
    costs: Floats  # (S,)
    rates: Floats  # (S,) time derivative of the cost
    masses: Floats  # (S,) of the whole workspace, in the end always the same


def certify(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    metrics: Metrics | None,
    assumed: Mapping[str, Any] | None,
) -> tuple[Finding, ...]:
    """Findings about the theorem; none for a law it does not speak about."""
    program = timer_program(system)
    if program is None or assumed is None or system.spacing is not None:
        return ()
    eta = float(assumed["eta_max"])
    lipschitz = np.broadcast_to(np.asarray(assumed["lipschitz"], dtype=float), (system.agents,))
    course = _follow(system, start, table, until)
    held = max(_largest(table.hold_error), _largest(metrics.hold_errors if metrics else None))
    return (
        *_admissible_start(system, start, program, eta),
        *_conditions(system, program, eta, lipschitz),
        _measured_lipschitz(system, start, table, until, metrics, lipschitz),
        _hold_limit(held, eta),
        *_u_set(course, program, eta),
        _attractor(system, course),
        *_cost_rate(course, program, eta, held),
    )


def _follow(system: CoverageSystem, start: AgentsState, table: EventTable, until: float) -> _Course:
    times = thinned(
        np.unique(np.concatenate([np.linspace(0.0, until, MOST_TIMES // 2), table.time])),
        MOST_TIMES,
    )
    times = times[times <= until]
    now = snapshots(start, table, times)
    seen = look_at_all(system, now.positions)
    scale, shape = np.exp(seen.log_scale), now.next_at.shape
    errors = seen.error.reshape(now.positions.shape)
    mass = (seen.mass * scale).reshape(shape)
    return _Course(
        times=times,
        errors=lengths(errors),
        costs=(seen.polar * scale).reshape(shape).sum(axis=1),
        rates=-2.0 * (mass * dots(errors, now.velocities)).sum(axis=1),
        masses=mass.sum(axis=1),
    )


def _admissible_start(
    system: CoverageSystem, start: AgentsState, program: Any, eta: float
) -> Iterator[Finding]:
    beyond = system.workspace.outside_by(start.start) / system.workspace.diameter
    says = "Phi 1: everybody starts in the workspace, at different places (how far outside)"
    yield worst_of("phi-1", says, beyond, ROUNDING, _agent)
    speed = lengths(start.hold) / program.k1 - 1.0
    timer = np.maximum(start.next_at - program.t2, program.t1 - start.next_at) / program.t2
    says = "Phi 2: first velocities are at most k1, first timers in [T1, T2] (relative excess)"
    yield worst_of("phi-2", says, np.maximum(speed, timer), ROUNDING, _agent)
    errors = np.array([look.error for look in system.looks(start.start)])
    size = np.maximum(lengths(errors), program.reach)[:, None]
    gap = lengths(start.hold - program.k1 * errors / size)
    says = "Phi 3: hold errors start within eta_max"
    yield worst_of("phi-3", says, gap, eta, _agent)


def _conditions(
    system: CoverageSystem, program: Any, eta: float, lipschitz: Floats
) -> Iterator[Finding]:
    says = "eta_max is below k1"
    yield worst_of("eta-below-k1", says, np.array([eta]), program.k1, _nowhere, True)
    limits = np.array(
        [max_dwell_time(eta, program.reach, program.k1, v, system.agents) for v in lipschitz]
    )
    says = "T2 is at most the maximum dwell time (T2 over that)"
    yield worst_of("dwell-time", says, program.t2 / limits, 1.0, _agent)


def _measured_lipschitz(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    metrics: Metrics | None,
    assumed: Floats,
) -> Finding:
    says = "the Lipschitz constants measured on the way are at most those assumed (their ratio)"
    try:
        found = lipschitz_along(system, start, table, metrics, until, most=MOST_DERIVATIVES)
    except DensityError as fault:
        return not_applicable("lipschitz", says, str(fault))
    return worst_of("lipschitz", says, found.values / assumed, 1.0, _agent)


def _hold_limit(held: float, eta: float) -> Finding:
    says = "hold errors stay within eta_max"
    return worst_of("hold-limit", says, np.array([held]), eta, _nowhere)


def _u_set(course: _Course, program: Any, eta: float) -> Iterator[Finding]:
    """The theorem speaks while every error is at least eta_max nu~ / k1, which cannot last."""
    radius = eta * program.reach / program.k1
    inside = course.errors < radius
    left = inside.any(axis=0)
    first = np.where(left, course.times[np.argmax(inside, axis=0)], np.inf)
    says = f"every error stays at least {radius:.4g} (the set U; share of the agents that leave it)"
    if not left.any():
        yield Finding("stays-in-u", says, HOLDS, 0.0, 0.0)
    else:
        p = int(np.argmin(first))
        last = float(first[left].max())
        where = f"agent {p} first, t = {float(first[p])!r}; the last that leaves, t = {last!r}"
        yield Finding("stays-in-u", says, VIOLATED, float(left.mean()), 0.0, where)
    since = float(first.min())
    late = np.flatnonzero(course.times >= since)
    says = "the cost does not rise even after the first agent has left U (relative rise)"
    if len(late) < 2:
        yield not_applicable("cost-after-u", says, "nobody left U")
        return
    costs, times = course.costs[late], course.times[late]
    rise = np.diff(costs) / costs[:-1]
    yield worst_of("cost-after-u", says, rise, ROUNDING, lambda k: f"t = {float(times[k + 1])!r}")


def _attractor(system: CoverageSystem, course: _Course) -> Finding:
    nu = float(getattr(system.controller, "nu", np.inf))
    worst = course.errors.max(axis=1)
    late = np.flatnonzero(worst > nu)
    says = f"every error comes within nu = {nu:g} for good (largest error at the end)"
    if len(late) == 0:
        return Finding("attractor", says, HOLDS, float(worst[-1]), nu, "from the beginning")
    if late[-1] == len(worst) - 1:
        return Finding("attractor", says, VIOLATED, float(worst[-1]), nu, "never")
    when = f"from t = {float(course.times[late[-1] + 1]):.6g} on"
    return Finding("attractor", says, HOLDS, float(worst[-1]), nu, when)


def _cost_rate(course: _Course, program: Any, eta: float, held: float) -> Iterator[Finding]:
    """dL/dt <= m(D) eta_max**2 nu~ / (2 k1) always, and <= 0 while all errors are in U."""
    says = "the cost rises no faster than the theorem's bound (rate over bound)"
    if held > eta:
        yield not_applicable("cost-rate", says, "hold errors exceed eta_max")
        return
    bound = course.masses * eta * eta * program.reach / (2.0 * program.k1)
    at = lambda k: f"t = {float(course.times[k])!r}"  # noqa: E731
    yield worst_of("cost-rate", says, course.rates / bound, 1.0, at)
    radius = eta * program.reach / program.k1
    all_in = (course.errors >= radius).all(axis=1)
    says = "the cost falls while every agent is in U (its rate there)"
    if not all_in.any():
        yield not_applicable("cost-in-u", says, "there is no such time")
        return
    yield worst_of("cost-in-u", says, np.where(all_in, course.rates, -np.inf), 0.0, at)


def _largest(values: Floats | None) -> float:
    return 0.0 if values is None else float(values.max(initial=0.0))


def _agent(k: int) -> str:
    return f"agent {k}"


def _nowhere(k: int) -> str:
    return ""

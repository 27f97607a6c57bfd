"""Is a stored run a solution? Re-derives every flow and every jump from the scenario alone.

Nothing here comes from the engine: where everybody stood at each event is put together again from
the table by NumPy, random draws by a second implementation of Philox, centroids by the same cell
kernel from those positions (which must give the same bits), and for a part of the events by a
plain-Python cell and a high-order quadrature that share no code with the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents import AgentsState, CompiledController, CoverageSystem, EventTable
from dwell.theory.metrics import Metrics, measure
from dwell.theory.oracle import plain_centroid
from dwell.theory.replay import Replay, expected_next_at

Progress = Callable[[str, float], None]

HOLDS, VIOLATED, NOT_APPLICABLE = "holds", "violated", "not applicable"
BY_HAND = 200  # events whose centroid is computed a second time, by other code
SAMPLES = 50  # samples measured again
BY_HAND_LIMIT = 1e-9  # of the workspace's diameter
OTHER_KERNELS = 1e-11  # likewise: what runs made by another version may differ by


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One property: whether it holds, its worst value, the limit, and where the worst is."""

    name: str
    says: str
    status: str
    worst: float
    limit: float
    where: str = ""


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one run."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is violated."""
        return all(finding.status != VIOLATED for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The report as `dwell check --json` prints it."""
        keys = ("name", "says", "status", "worst", "limit", "where")
        rows = [{key: _plain(getattr(f, key)) for key in keys} for f in self.findings]
        return {"schema": 1, "ok": self.ok, "checks": rows}


@final
@dataclass(frozen=True, slots=True)
class Claims:
    """What a stored run says of itself beside its events, and what its scenario asked for."""

    places: Points | None = None  # start positions asked for
    horizon: float | None = None  # asked for
    max_jumps: int | None = None  # allowed
    ended: str = "horizon"  # why the run says it ended
    intact: bool | None = None  # whether its file is as it was written; None: there is no file
    same_kernels: bool = True  # made by the very kernels that are here now?
    metrics: Metrics | None = None  # its samples


def verify(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    claims: Claims | None = None,
    *,
    progress: Progress | None = None,
) -> Report:
    """Check that (`start`, `table`) solves `system` up to `until`, and that `claims` are true."""
    tell = progress or (lambda what, share: None)
    claims = claims or Claims()
    domain = list(_domain(table, system.agents, until))
    findings = [*_file(claims.intact), *domain]
    if all(f.status == HOLDS for f in domain):  # the rest needs times and agents to make sense
        tell("checking", 0.0)
        replay = Replay(system, start, table)
        # Centroids by other versions of the kernels may differ in rounding.
        rounding = 0.0 if claims.same_kernels else OTHER_KERNELS * system.workspace.diameter
        findings += _start(system, start, claims.places, rounding)
        findings += _flow(system, replay)
        findings += _due(replay, until, claims.ended)
        findings += _ending(replay, until, claims)
        findings += _resets(system, replay)
        findings += _bounds(system, replay, until)
        findings += _jumps(system, replay, rounding, tell)
        findings += _samples(system, start, table, claims.metrics, rounding)
    return Report(tuple(findings))


def _file(intact: bool | None) -> Iterator[Finding]:
    if intact is not None:
        yield _yes_no("digest", "the file is as it was written", intact)


def _domain(table: EventTable, agents: int, until: float) -> Iterator[Finding]:
    numbers = (table.time, table.x, table.y, table.hold_x, table.hold_y)
    finite = all(np.isfinite(n).all() for n in numbers) and not np.isnan(table.next_at).any()
    yield _yes_no("finite", "every number is finite", finite)
    steps = np.diff(np.concatenate([[0.0], table.time, [until]]))
    says = "hybrid time never goes back, and stays within the horizon"
    yield _limit("time-domain", says, -steps, 0.0, lambda k: f"jump {k + 1}")
    known = ((table.agent >= 0) & (table.agent < agents)).all()
    yield _yes_no("agents", "every jump belongs to one of the agents", bool(known))


def _start(
    system: CoverageSystem, start: AgentsState, places: Points | None, rounding: float
) -> Iterator[Finding]:
    law = system.controller
    if places is not None:
        gap = np.abs(places - start.start).max(axis=1)
        yield _limit("start-position", "everybody starts where asked", gap, 0.0, _agent)
    again = system.start(start.start)
    gap = np.abs(again.hold - start.hold).max(axis=1)
    yield _limit("start-hold", "first velocities follow from the law", gap, rounding, _agent)
    gap = np.abs(again.next_at - start.next_at)
    yield _limit("start-timer", "first looks are due when the law says", gap, 0.0, _agent)
    if isinstance(law, CompiledController):
        program = law.program(system.agents)
        excess = np.maximum(start.next_at - program.t2, program.t1 - start.next_at)
        yield _limit("start-interval", "first timers lie in [T1, T2]", excess, 0.0, _agent)


def _flow(system: CoverageSystem, replay: Replay) -> Iterator[Finding]:
    """Each position must be the last one plus velocity times elapsed time."""
    table = replay.table
    x, y = replay.own_positions()
    size = np.maximum(np.abs(table.positions).max(axis=1, initial=0.0), np.finfo(float).tiny)
    gap = np.maximum(np.abs(x - table.x), np.abs(y - table.y)) / np.spacing(size)
    says = "between jumps everybody moves straight on (units in the last place)"
    yield _limit("flow", says, gap, 4.0, replay.where)


def _due(replay: Replay, until: float, ended: str) -> Iterator[Finding]:
    gap = np.abs(replay.table.time - replay.due_before())
    yield _limit("due", "each jump happens exactly when its timer runs out", gap, 0.0, replay.where)
    left = replay.last_due()
    if ended == "horizon":
        missed = np.where(left <= until, until - left, -1.0)
        yield _limit("complete", "no jump up to the horizon is missing", missed, 0.0, _agent, True)


def _ending(replay: Replay, until: float, claims: Claims) -> Iterator[Finding]:
    """The reason given for the end must be the reason."""
    says = f"the run ended as it says, by {claims.ended}"
    if claims.ended == "horizon" and claims.horizon is not None:
        yield _yes_no("ending", says, until == claims.horizon)
    elif claims.ended == "jump-limit" and claims.max_jumps is not None:
        yield _yes_no("ending", says, len(replay.table) == claims.max_jumps)
    elif claims.ended == "coincident":
        places = replay.final_positions(until)
        met = len(np.unique(places, axis=0)) < len(places)
        yield _yes_no("ending", says, met)


def _resets(system: CoverageSystem, replay: Replay) -> Iterator[Finding]:
    table, law = replay.table, system.controller
    if not isinstance(law, CompiledController):
        return
    program = law.program(system.agents)
    t1, t2 = program.t1[table.agent], program.t2[table.agent]
    gap = table.next_at - table.time
    outside = np.maximum(gap - t2, t1 - gap) / np.spacing(np.maximum(table.next_at, 1e-300))
    says = "intervals between looks lie in [T1, T2] (units in the last place of the time)"
    yield _limit("interval", says, outside, 1.0, replay.where)
    expected = expected_next_at(system, replay, program)
    says = "each timer is reset as its rule and its own random draw say"
    yield _limit("reset", says, np.abs(table.next_at - expected), 0.0, replay.where)


def _bounds(system: CoverageSystem, replay: Replay, until: float) -> Iterator[Finding]:
    table, law = replay.table, system.controller
    if isinstance(law, CompiledController):
        program = law.program(system.agents)
        speed = np.hypot(table.hold_x, table.hold_y) / program.k1 - 1.0
        limit = 4.0 * np.finfo(float).eps
        yield _limit(
            "speed", "nobody is faster than k1 (relative excess)", speed, limit, replay.where
        )
        stays = program.k1 * program.t2.max() <= program.reach
    else:
        stays = False
    places = np.vstack([table.positions, replay.final_positions(until)])
    beyond = system.workspace.outside_by(places) / system.workspace.diameter
    says = "everybody stays in the workspace (relative to its diameter)"
    found = _limit("workspace", says, beyond, 1e-12, lambda k: f"row {k}")
    if not stays and found.status == VIOLATED:  # the law does not promise it: overshoot is allowed
        found = Finding(found.name, says, NOT_APPLICABLE, found.worst, found.limit, found.where)
    yield found


def _jumps(
    system: CoverageSystem, replay: Replay, rounding: float, tell: Progress
) -> Iterator[Finding]:
    table = replay.table
    seen = replay.looks(tell)
    gap = np.abs(seen.errors - table.errors).max(axis=1, initial=0.0)
    yield _limit(
        "centroid", "each look gives the centroid it recorded", gap, rounding, replay.where
    )
    held = replay.expected_holds(seen.errors)
    gap = np.abs(held - table.holds).max(axis=1, initial=0.0)
    yield _limit("jump", "each new velocity follows from the law", gap, rounding, replay.where)
    gap = np.abs(replay.hold_errors() - table.hold_error)
    yield _limit("hold-error", "each hold error is the change of velocity", gap, 0.0, replay.where)
    same = (seen.neighbors == table.neighbors) & (seen.empty == table.empty)
    gap = np.where(same, np.abs(_apart(seen.nearest, table.nearest)), np.inf)
    yield _limit("seen", "neighbours and distances are as recorded", gap, rounding, replay.where)
    if system.spacing is None and system.terms is not None and len(table):
        yield _by_hand(system, replay)


def _by_hand(system: CoverageSystem, replay: Replay) -> Finding:
    rows = np.unique(np.linspace(0, len(replay.table) - 1, BY_HAND).astype(np.int64))
    gaps = np.empty(len(rows))
    for k, row in enumerate(rows):
        positions, agent = replay.positions_at_row(int(row)), int(replay.table.agent[row])
        centroid = plain_centroid(system.workspace.vertices, positions, agent, system.density)
        if centroid is None:
            gaps[k] = 0.0
            continue
        recorded = positions[agent] + replay.table.errors[row]
        gaps[k] = np.hypot(*(recorded - centroid)) / system.workspace.diameter
    says = f"{len(rows)} centroids computed by other code agree (relative to the diameter)"
    found = _limit("by-hand", says, gaps, BY_HAND_LIMIT, lambda k: replay.where(int(rows[k])))
    return found


def _samples(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    metrics: Metrics | None,
    rounding: float,
) -> Iterator[Finding]:
    """Some samples measured again."""
    if metrics is None or not len(metrics.times):
        return
    rows = np.unique(np.linspace(0, len(metrics.times) - 1, SAMPLES).astype(np.int64))
    again = measure(system, start, table, metrics.times[rows])
    scale = rounding / system.workspace.diameter
    gaps = np.zeros(len(rows))
    for name in ("errors", "hold_errors", "costs", "separations"):
        kept, now = getattr(metrics, name)[rows], getattr(again, name)
        size = np.where(np.isfinite(now), np.abs(now), 0.0)
        apart = np.abs(_apart(kept, now)) - scale * (1.0 + size)
        gaps = np.maximum(gaps, apart.reshape(len(rows), -1).max(axis=1, initial=0.0))
    says = f"{len(rows)} samples measured again agree"
    yield _limit("samples", says, gaps, 0.0, lambda k: f"t = {float(metrics.times[rows[k]])!r}")


def _apart(a: Floats, b: Floats) -> Floats:
    """a - b, where two infinities (the only agent's separation) are equal."""
    with np.errstate(invalid="ignore"):
        gap: Floats = np.where(a == b, 0.0, a - b)
    return gap


def _agent(k: int) -> str:
    return f"agent {k}"


def _limit(
    name: str,
    says: str,
    values: Floats | Ints | Points,
    limit: float,
    where: Callable[[int], str],
    strict: bool = False,
) -> Finding:
    """`values` <= limit everywhere (or < with `strict`: the limit itself is a violation)."""
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0:
        return Finding(name, says, HOLDS, 0.0, limit)
    k = int(np.argmax(np.where(np.isnan(values), np.inf, values)))
    worst = float(values[k])
    good = worst < limit if strict else worst <= limit
    if good:
        return Finding(name, says, HOLDS, worst if worst > 0.0 else 0.0, limit)
    return Finding(name, says, VIOLATED, worst, limit, where(k))


def _yes_no(name: str, says: str, holds: bool) -> Finding:
    return Finding(name, says, HOLDS if holds else VIOLATED, 0.0 if holds else 1.0, 0.0)


def _plain(value: Any) -> Any:
    return value if not isinstance(value, float) or np.isfinite(value) else None

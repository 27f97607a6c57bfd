"""Is a stored run a solution? Re-derives every flow and every jump from the scenario alone.

Nothing here comes from the engine: positions at each event are reconstructed from the table by
NumPy, random draws by a second implementation of Philox, centroids by the same cell kernel from
those positions (which must give the same bits), and for some agents at the start and some events by
cells and quadratures that share no code with the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.continuous import beginning, is_continuous
from dwell.agents.interfaces import stated_pace
from dwell.agents.state import Spent
from dwell.cells.backend import is_expensive
from dwell.errors import AgentsError
from dwell.measure.metrics import Metrics, measure, timer_program
from dwell.verify.centroids import second_opinion
from dwell.verify.decisions import rederive
from dwell.verify.finding import (
    CHANGED,
    HOLDS,
    Finding,
    agreement,
    if_guaranteed,
    spread,
    worst_of,
    yes_or_no,
)
from dwell.verify.guarantees import promises
from dwell.verify.replay import Replay, expected_next_at
from dwell.verify.report import Report
from dwell.verify.run_certificate import certify

Progress = Callable[[str, float], None]

SAMPLES = 50  # samples measured again, unless all are
FEW_SAMPLES = 5  # where cells are expensive
MOST_CELLS = 2**18  # of samples measured at once
SOLVED = 100.0  # times the tolerance of a differential equation
OTHER_KERNELS = 1e-11  # likewise: what runs made by another version may differ by
ENDLESS = frozenset({"next_at", "cruise"})  # columns where infinity has a meaning
ALONE = frozenset({"nearest", "separations"})  # likewise, for a single agent


@final
@dataclass(frozen=True, slots=True)
class Claims:
    """What a stored run states beside its events, and what its scenario specifies."""

    places: Points | None = None  # start positions in the scenario
    horizon: float | None = None  # in the scenario
    max_jumps: int | None = None  # allowed
    ended: str = "horizon"  # why the run says it ended
    intact: bool | None = None  # whether its file is as it was written; None: there is no file
    same_kernels: bool = True  # made by the very kernels that are here now?
    other_sources: Sequence[str] | None = None  # modules of its scenario that have changed since
    metrics: Metrics | None = None  # its samples
    assumed: Mapping[str, Any] | None = None  # eta_max and lipschitz of its certificate


def verify(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    claims: Claims | None = None,
    *,
    thorough: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check that (`start`, `table`) solves `system` up to `until`, and that `claims` are true.

    With `thorough` every sample, and every centroid by the other code; otherwise some of them.
    """
    tell = progress or (lambda what, share: None)
    claims = claims or Claims()
    domain = list(_domain(start, table, until, claims.metrics))
    findings = [*_file(claims.intact), *_sources(claims.other_sources), *domain]
    certificate: tuple[Finding, ...] = ()
    if all(f.status == HOLDS for f in domain):  # the rest needs times and agents to make sense
        tell("checking", 0.0)
        replay = Replay(system, start, table)
        # Centroids by other versions of the kernels may differ in rounding.
        rounding = 0.0 if claims.same_kernels else OTHER_KERNELS * system.workspace.diameter
        if is_continuous(system):  # the ends of its cubics meet only up to its tolerance
            rounding += (
                SOLVED
                * float(getattr(system.controller, "accuracy", 0.0))
                * system.workspace.diameter
            )
        together = ""
        try:
            findings += _start(system, start, claims.places, rounding)
            findings += _flow(system, replay)
            findings += _due(replay, until, claims.ended)
            findings += _ending(replay, until, claims)
            findings += _resets(system, replay)
            findings += _bounds(system, replay, until)
            findings += _jumps(system, replay, rounding, tell, thorough)
            findings += _decisions(system, replay, rounding, tell)
            findings += promises(system, start, table, until, thorough)
            findings += _samples(system, start, table, claims.metrics, rounding, thorough)
            certificate = certify(system, start, table, until, claims.metrics, claims.assumed)
        except AgentsError as fault:  # two agents at one place, in a table that is wrong
            together = str(fault)
        says = "no two agents coincide where a cell is needed"
        findings.append(yes_or_no("apart", says, not together, together))
    total = 0 if claims.metrics is None else len(claims.metrics.times)
    again = len(_measured(system, claims.metrics, thorough))
    return Report(tuple(findings), certificate, (again, total))


def _file(intact: bool | None) -> Iterator[Finding]:
    if intact is not None:
        yield yes_or_no("digest", "the file is as it was written", intact)


def _sources(changed: Sequence[str] | None) -> Iterator[Finding]:
    if changed is not None:
        if not changed:
            yield Finding("source", "its Python modules are those that ran", HOLDS, 0.0, 0.0)
            return
        why = " and ".join(f"{module} has changed since the run was stored" for module in changed)
        says = "checked with the code as it is now, not as it ran"
        yield Finding("source", says, CHANGED, 0.0, 0.0, why)


def _domain(
    start: AgentsState, table: EventTable, until: float, metrics: Metrics | None
) -> Iterator[Finding]:
    where = next(_infinite(start, table, metrics), "")
    says = "every number of the start, the events and the samples is finite"
    yield yes_or_no("finite", says, not where, where)
    clocks = [table.time] if metrics is None else [table.time, metrics.times]
    back = [-np.diff(np.concatenate([[0.0], times, [until]])) for times in clocks]
    says = "times of jumps and of samples never go back, and stay within the horizon"

    def clock(k: int) -> str:
        after = k - len(back[0])
        return f"jump {k + 1}" if after < 0 else f"sample {after + 1}"

    yield worst_of("time-domain", says, np.concatenate(back), 0.0, clock)
    known = ((table.agent >= 0) & (table.agent < len(start.start))).all()
    yield yes_or_no("agents", "every jump belongs to one of the agents", bool(known))


def _infinite(start: AgentsState, table: EventTable, metrics: Metrics | None) -> Iterator[str]:
    """Columns with a number that is not finite and has to be."""
    begin = {name: getattr(start, name) for name in ("start", "hold", "next_at", "cruise", "bend")}
    parts = {"start": begin, "events": table.columns(), "samples": vars(metrics) if metrics else {}}
    endless = ENDLESS if len(start.start) > 1 else ENDLESS | ALONE
    for part, columns in parts.items():
        for name, column in columns.items():
            bad = ~np.isfinite(() if column is None else column)
            if name in endless and column is not None:
                bad &= column != np.inf
            if bad.any():
                yield f"{part}: {name}, row {int(np.argwhere(bad)[0, 0])}"


def _start(
    system: CoverageSystem, start: AgentsState, places: Points | None, rounding: float
) -> Iterator[Finding]:
    if places is not None:
        gap = np.abs(places - start.start).max(axis=1)
        yield worst_of(
            "start-position", "all agents start where the scenario says", gap, 0.0, _agent
        )
    again = beginning(system, start.start)
    gap = np.abs(again.hold - start.hold).max(axis=1)
    if not is_continuous(system):
        gap = np.maximum(gap, np.abs(_apart(_kept(again), _kept(start))))
    says = "first velocities, and for how long they are held, follow from the law"
    yield worst_of("start-hold", says, gap, rounding, _agent)
    wrong = [_miscounted(one, other) for one, other in zip(start.spent, again.spent, strict=False)]
    says = "what the beginning cost is counted right"
    missing = [np.inf] * (len(again.spent) - len(wrong))
    yield worst_of("start-counts", says, np.array([*wrong, *missing]), 0.0, _agent)
    if is_continuous(system):
        return
    gap = np.abs(again.next_at - start.next_at)
    yield worst_of("start-timer", "first samples are due when the law says", gap, 0.0, _agent)
    program = timer_program(system)
    if program is not None:
        excess = np.maximum(start.next_at - program.t2, program.t1 - start.next_at)
        yield worst_of("start-interval", "first timers lie in [T1, T2]", excess, 0.0, _agent)


def _flow(system: CoverageSystem, replay: Replay) -> Iterator[Finding]:
    """Each position must be the last one plus velocity times elapsed time."""
    table = replay.table
    places = replay.own_positions()
    size = np.maximum(np.abs(table.positions).max(axis=1, initial=0.0), np.finfo(float).tiny)
    gap = np.abs(places - table.positions).max(axis=1, initial=0.0) / np.spacing(size)
    says = "between jumps each agent moves along its segment (units in the last place)"
    yield worst_of("flow", says, gap, 4.0, replay.where)


def _due(replay: Replay, until: float, ended: str) -> Iterator[Finding]:
    gap = np.abs(replay.table.time - replay.due_before())
    yield worst_of(
        "due", "each jump happens exactly when its timer runs out", gap, 0.0, replay.where
    )
    left = replay.last_due()
    missing = left <= until if ended == "horizon" else left < until  # a tie may be cut anywhere
    says = "no jump up to the end is missing"
    yield worst_of("complete", says, np.where(missing, until - left, -1.0), 0.0, _agent, True)


def _ending(replay: Replay, until: float, claims: Claims) -> Iterator[Finding]:
    """The reason given for the end must be the reason."""
    says = f"the run ended as it says, by {claims.ended}"
    if claims.ended == "horizon" and claims.horizon is not None:
        yield yes_or_no("ending", says, until == claims.horizon)
    elif claims.ended == "jump-limit" and claims.max_jumps is not None:
        yield yes_or_no("ending", says, len(replay.table) == claims.max_jumps)
    elif claims.ended == "coincident" and not is_continuous(replay.system):
        places = replay.final_positions(until)
        met = len(np.unique(places, axis=0)) < len(places)
        yield yes_or_no("ending", says, met)


def _resets(system: CoverageSystem, replay: Replay) -> Iterator[Finding]:
    table, program = replay.table, timer_program(system)
    if program is not None:
        t1, t2 = program.t1[table.agent], program.t2[table.agent]
        gap = table.next_at - table.time
        outside = np.maximum(gap - t2, t1 - gap) / np.spacing(np.maximum(table.next_at, 1e-300))
        says = "intervals between samples lie in [T1, T2] (units in the last place of the time)"
        yield worst_of("interval", says, outside, 1.0, replay.where)
    if system.program is not None and system.network.perfect:
        expected = expected_next_at(system, replay, system.program)
        says = "each timer is reset as its rule and its own random draw say"
        yield worst_of("reset", says, np.abs(table.next_at - expected), 0.0, replay.where)


def _bounds(system: CoverageSystem, replay: Replay, until: float) -> Iterator[Finding]:
    table, law = replay.table, system.controller
    top = stated_pace(law)[0]
    if top is not None:
        speed = lengths(table.holds) / top - 1.0
        limit = 4.0 * np.finfo(float).eps
        says = "no agent is faster than the law allows (relative excess)"
        yield worst_of("speed", says, speed, limit, replay.where)
    stays = getattr(law, "stays_inside", False)
    places = np.vstack([table.positions, replay.final_positions(until)])
    beyond = system.workspace.outside_by(places) / system.workspace.diameter
    says = "all agents stay in the workspace (relative to its diameter)"
    found = worst_of("workspace", says, beyond, 1e-12, lambda k: f"row {k}")
    guaranteed = stays and system.network.perfect  # what is late may lead anywhere
    yield found if guaranteed else if_guaranteed(found)  # overshoot is allowed to some


def _jumps(
    system: CoverageSystem, replay: Replay, rounding: float, tell: Progress, thorough: bool
) -> Iterator[Finding]:
    table = replay.table
    seen = replay.looks(tell)
    gap = np.abs(seen.errors - table.errors).max(axis=1, initial=0.0)
    yield worst_of(
        "centroid", "each recorded centroid is that of the cell", gap, rounding, replay.where
    )
    if system.program is not None and system.network.perfect:
        held = replay.expected_holds(seen.errors, system.program)
        gap = np.abs(held - table.holds).max(axis=1, initial=0.0)
        yield worst_of(
            "jump", "each new velocity follows from the law", gap, rounding, replay.where
        )
        kept = np.full(len(table), np.inf) if table.cruise is None else table.cruise
        gap = np.abs(_apart(kept, np.full(len(table), system.program.cruise)))
        says = "each velocity is held for as long as the law says"
        yield worst_of("cruise", says, gap, 0.0, replay.where)
    gap = np.abs(replay.hold_errors() - table.hold_error)
    yield worst_of(
        "hold-error", "each hold error is the change of velocity", gap, 0.0, replay.where
    )
    same = (seen.neighbors == table.neighbors) & (seen.empty == table.empty)
    gap = np.where(same, np.abs(_apart(seen.nearest, table.nearest)), np.inf)
    yield worst_of("seen", "neighbours and distances are as recorded", gap, rounding, replay.where)
    if system.spacing is None:
        yield second_opinion(replay, thorough, tell)


def _decisions(
    system: CoverageSystem, replay: Replay, rounding: float, tell: Progress
) -> Iterator[Finding]:
    """Laws that cannot be checked jump by jump, walked through from the beginning."""
    at_once = system.program is not None and system.network.perfect
    if at_once or is_continuous(system):
        says = "cells, samples and messages are counted right"
        yield worst_of("counts", says, _uncounted(system, replay.table), 0.0, replay.where)
        return
    gaps = rederive(system, replay.start, replay.table, tell)
    says = "each new velocity follows from what the agent knew"
    yield worst_of("jump", says, gaps.velocity, rounding, replay.where)
    says = "each velocity is held for as long as the law says"
    yield worst_of("cruise", says, gaps.cruise, rounding, replay.where)
    says = "each agent decides again when the law says"
    yield worst_of("reset", says, gaps.next_at, rounding, replay.where)
    says = "cells, samples and messages are counted right"
    yield worst_of("counts", says, gaps.counts, 0.0, replay.where)
    if system.information.others == "broadcasts":
        says = "each agent is within the bound of its last message (how far outside)"
        limit = 1e-12 * system.workspace.diameter + 8.0 * float(np.spacing(replay.reach))
        found = worst_of("promise", says, gaps.broken, limit, replay.where)
        yield found if system.network.perfect else if_guaranteed(found)


def _miscounted(one: Spent, other: Spent) -> int:
    return sum(abs(a - b) for a, b in zip(astuple(one), astuple(other), strict=True))


def _uncounted(system: CoverageSystem, table: EventTable) -> Floats:
    """How far counts are from those of a law for which each jump is one sample and nothing else.

    The solver of a differential equation samples several times before each knot; how often
    depends on it, but the number is the same for all agents.
    """
    wrong = np.zeros(len(table))
    for name in ("guaranteed", "dual_guaranteed", "sent", "mark"):
        wrong += np.abs(table.count(name))
    if table.promise is not None:
        wrong += table.promise != -1.0
    looked, received = table.count("looked"), table.count("received")
    if is_continuous(system):
        whole = looked[: len(looked) // system.agents * system.agents]
        together = whole.reshape(-1, system.agents)
        uneven = (together != together[:, :1]).ravel()
        wrong += (looked < 1) + np.append(uneven, np.ones(len(looked) - len(uneven)))
    else:
        wrong += np.abs(looked - 1) + np.abs(received - table.neighbors)
    return wrong


def _measured(system: CoverageSystem, metrics: Metrics | None, thorough: bool) -> Ints:
    """Which samples are measured again."""
    some = FEW_SAMPLES if is_expensive(system.ground) else SAMPLES
    return spread(0 if metrics is None else len(metrics.times), None if thorough else some)


def _samples(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    metrics: Metrics | None,
    rounding: float,
    thorough: bool,
) -> Iterator[Finding]:
    """Samples measured again, some or all."""
    rows = _measured(system, metrics, thorough)
    if metrics is None or not len(rows):
        return
    scale = rounding / system.workspace.diameter
    gaps = np.zeros(len(rows))
    step = max(1, MOST_CELLS // system.agents)
    for lo in range(0, len(rows), step):
        part = rows[lo : lo + step]
        again = measure(system, start, table, metrics.times[part])
        for name in ("errors", "hold_errors", "costs", "separations"):
            kept, now = getattr(metrics, name)[part], getattr(again, name)
            size = np.where(np.isfinite(now), np.abs(now), 0.0)
            apart = np.abs(_apart(kept, now)) - scale * (1.0 + size)
            worst = apart.reshape(len(part), -1).max(axis=1, initial=0.0)
            gaps[lo : lo + step] = np.maximum(gaps[lo : lo + step], worst)
    what, total = "metric samples recomputed", len(metrics.times)
    yield agreement("samples", what, gaps, 0.0, total, lambda k: at_time(metrics.times[rows[k]]))


def _kept(state: AgentsState) -> Floats:
    """For how long each velocity is held."""
    return np.full(len(state.since), np.inf) if state.cruise is None else state.cruise


def _apart(a: Floats, b: Floats) -> Floats:
    """a - b, where two infinities (the only agent's separation) are equal."""
    with np.errstate(invalid="ignore"):
        gap: Floats = np.where(a == b, 0.0, a - b)
    return gap


def _agent(k: int) -> str:
    return f"agent {k}"

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
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory
from dwell.agents.continuous import beginning, is_continuous
from dwell.cells.backend import is_expensive
from dwell.controllers.saturation import saturated
from dwell.errors import AgentsError, DensityError, InputError
from dwell.live.record import LiveRecord
from dwell.measure.metrics import Metrics, hold_program, measure_at, timer_program
from dwell.verify.centroids import second_opinion
from dwell.verify.finding import (
    CHANGED,
    HOLDS,
    NOT_APPLICABLE,
    VIOLATED,
    Finding,
    Report,
    Tell,
    Where,
    agent_named,
    agreement,
    if_guaranteed,
    not_applicable,
    spread,
    violated,
    worst_of,
    yes_or_no,
)
from dwell.verify.guarantees import promises
from dwell.verify.live import live_findings, uncovered_live
from dwell.verify.live_apart import aged, ordered
from dwell.verify.recorded import Recorded, gaps_between, outside_of
from dwell.verify.reference_ways import lengths_outside
from dwell.verify.replay import expected_next_at, measured_jumps, rederive
from dwell.verify.run_certificate import held_against

SAMPLES = 50  # samples measured again, unless all are
FEW_SAMPLES = 5  # where cells are expensive
MOST_CELLS = 2**18  # of samples measured at once
SOLVED = 100.0  # times the tolerance of a differential equation
OTHER_KERNELS = 1e-11  # of the diameter: by how much runs of another version may differ
LINES = 2000  # straight lines between samples that are compared with the outline
MOST_NAMED = 5  # of what a file states wrongly
ENDLESS = frozenset({"next_at", "cruise", "doubt"})  # columns where infinity has a meaning
ALONE = frozenset({"nearest", "separations"})  # and those where it has one for a single agent

SAYS = {
    "digest": "the file is as it was written",
    "finite": "every number of the start, the events and the samples is finite",
    "time-domain": "times of jumps and of samples never go back, and stay within the horizon",
    "agents": "every jump belongs to one of the agents",
    "start-position": "all agents start where the scenario says",
    "start-hold": "first velocities, and for how long they are held, follow from the law",
    "start-counts": "cells, samples and messages of the start are counted right",
    "start-timer": "first samples are due when the law says",
    "start-interval": "first timers lie in [T1, T2]",
    "flow": "between jumps each agent moves along its segment (units in the last place)",
    "due": "each jump happens exactly when its timer runs out",
    "complete": "no jump up to the end is missing",
    "interval": "intervals between samples lie in [T1, T2] (units in the last place of the time)",
    "reset": "each timer is reset as the law says, by its own random draw where it has one",
    "speed": "no agent is faster than the law allows (relative excess)",
    "workspace": "all agents stay in the workspace (relative to its diameter)",
    "crossings": "agents that stay in a region cross no side of it (length outside over diameter)",
    "centroid": "each recorded centroid is that of the cell",
    "jump": "each new velocity follows from the law",
    "cruise": "each velocity is held for as long as the law says",
    "hold-error": "each hold error is the change of velocity",
    "seen": "neighbours and distances are as recorded",
    "counts": "cells, samples and messages are counted right",
    "promise": "each agent is within the bound of its last message (how far outside)",
    "shape": "every table has a row for each jump or sample, and a column for each agent",
    "law": "the scenario's law can make such a run",
    "rest": "further checks need tables that make sense",
    "sample-times": "samples were taken at the times that the scenario sets, and no others",
    "stated": "summary, end and labels in the file are those of its events",
    "apart": "no two agents coincide where a cell is needed",
}


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
    missing: str | None = None  # the map file of its scenario, where it is no more
    metrics: Metrics | None = None  # its samples
    assumed: Mapping[str, Any] | None = None  # eta_max and lipschitz of its certificate
    live: LiveRecord | None = None  # of a fleet, if it is the run of one
    settings: Mapping[str, Any] | None = None  # of the fleet, in the scenario
    sample_times: Floats | None = None  # that the scenario sets, up to its horizon
    misstated: Callable[[], list[str]] | None = None  # names what the file says wrongly besides


def verify(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    until: float,
    claims: Claims | None = None,
    *,
    thorough: bool = False,
    progress: Tell | None = None,
) -> Report:
    """Check that (`start`, `table`) solves `system` up to `until`, and that `claims` are true.

    With `thorough` every sample, and every centroid by the other code; otherwise some of them.
    """
    tell = progress or (lambda what, share: None)
    claims = claims or Claims()
    run = Trajectory(system, start, table, until)
    recorded = Recorded(run, claims.metrics)
    findings: list[Finding] = [*_file(claims)]
    certificate: tuple[Finding, ...] = ()
    again = _measured(recorded, thorough)
    try:
        findings += (domain := list(_domain(recorded, claims.live)))
        if all(f.status == HOLDS for f in domain):  # the rest needs times and agents to make sense
            tell("checking", 0.0)
            rounding = _rounding(system, claims)
            with np.errstate(all="ignore"):  # a table that is wrong may hold any number
                findings += _solution(run, claims, rounding, tell, thorough)
                findings += _samples(recorded, again, rounding)
                findings += _at_set_times(run, claims)
            findings += _stated(claims, findings)
            why_not = uncovered_live(run, claims.live)
            certificate = held_against(recorded, claims.assumed, why_not=why_not)
            findings.append(yes_or_no("apart", SAYS["apart"], True))
    except AgentsError as fault:  # coincident agents, in a table that is wrong
        findings.append(yes_or_no("apart", SAYS["apart"], False, str(fault)))
    except DensityError:
        raise
    except InputError as fault:  # of a law that such a run cannot have
        findings.append(violated("law", SAYS["law"], 1.0, 0.0, str(fault)))
    except (ArithmeticError, LookupError, ValueError, TypeError) as fault:
        if all(f.status != VIOLATED for f in findings):
            raise
        why = " ".join(f"{type(fault).__name__}: {fault}".split())
        findings.append(not_applicable("rest", SAYS["rest"], why))
    if claims.live is not None:
        findings = ordered(findings)
    total = 0 if claims.metrics is None else len(claims.metrics.times)
    return Report(tuple(findings), certificate, (len(again), total))


def _solution(
    run: Trajectory, claims: Claims, rounding: float, tell: Tell, thorough: bool
) -> Iterator[Finding]:
    live = claims.live
    if live is not None:
        if claims.places is not None and live.exact:
            yield _start_position(run, claims.places)
        yield from live_findings(run, live, claims.settings, rounding, tell)
        yield from _bounds(run, thorough, live)
        return
    solved = rounding + _solver_rounding(run.system)
    yield from _start(run, claims.places, solved)
    yield from _flow(run, claims)
    yield from _resets(run)
    yield from _bounds(run, thorough)
    yield from _jumps(run, rounding, tell, thorough)
    yield from _decisions(run, solved, tell)
    yield from promises(run, thorough)


def _rounding(system: CoverageSystem, claims: Claims) -> float:
    """By how much centroids may differ: by rounding of other kernels, by a solver's tolerance."""
    share = 0.0 if claims.same_kernels else OTHER_KERNELS
    if is_continuous(system):  # the ends of its cubics meet only up to its tolerance
        share += SOLVED * (system.traits.accuracy or 0.0)
    return share * system.workspace.diameter


def _solver_rounding(system: CoverageSystem) -> float:
    """By how much velocities may differ that a law takes from a system of linear equations."""
    return system.traits.rounding * system.workspace.diameter


def _worst(name: str, values: Any, limit: float, where: Where, *, strict: bool = False) -> Finding:
    """The finding `name`: `values` are at most `limit`, or below it if `strict`."""
    return worst_of(name, SAYS[name], values, limit, where, strict)


def _file(claims: Claims) -> Iterator[Finding]:
    if claims.intact is not None:
        yield yes_or_no("digest", SAYS["digest"], claims.intact)
    changed = claims.other_sources
    if claims.missing is not None:
        says = "its modules and files are those that ran"
        why = f"{claims.missing} is not there any more, so it is not compared"
        yield Finding("source", says, NOT_APPLICABLE, 0.0, 0.0, why)
    if changed is None:
        return
    if not changed:
        yield Finding("source", "its modules and files are those that ran", HOLDS, 0.0, 0.0)
        return
    why = " and ".join(f"{module} has changed since the run was stored" for module in changed)
    says = "checked with the code as it is now, not as it ran"
    if all(name.startswith("site ") for name in changed):
        says = "checked with the outline that ran, not with that of the file now"
    yield Finding("source", says, CHANGED, 0.0, 0.0, why)


def _domain(recorded: Recorded, live: LiveRecord | None) -> Iterator[Finding]:
    run, metrics = recorded.path, recorded.metrics
    table = run.table
    where = next(_misshapen(recorded), "")
    yield yes_or_no("shape", SAYS["shape"], not where, where)
    where = next(_infinite(recorded, live), "")
    yield yes_or_no("finite", SAYS["finite"], not where, where)
    clocks = [table.time] if metrics is None else [table.time, metrics.times]
    back = [-np.diff(np.concatenate([[0.0], times, [run.until]])) for times in clocks]

    def clock(k: int) -> str:
        after = k - len(back[0])
        return f"jump {k + 1}" if after < 0 else f"sample {after + 1}"

    yield _worst("time-domain", np.concatenate(back), 0.0, clock)
    known = ((table.agent >= 0) & (table.agent < run.system.agents)).all()
    known &= live is None or bool((live.beliefs["agent"] < run.system.agents).all())
    yield yes_or_no("agents", SAYS["agents"], bool(known))


def _misshapen(recorded: Recorded) -> Iterator[str]:
    """Columns of another shape than agents, samples and the law need."""
    run, metrics = recorded.path, recorded.metrics
    table = run.table
    agents, dimension = run.system.agents, run.system.dimension
    for name, column in table.columns().items():
        if len(column) != len(table) or column.shape[1:] not in ((), (dimension,), (2, dimension)):
            yield f"events: {name} has the shape {column.shape}"
    if metrics is None:
        return
    held = agents if hold_program(run.system) is not None else 0
    count = len(metrics.times)
    for name, shape in (
        ("times", (count,)), ("costs", (count,)), ("separations", (count,)),
        ("errors", (count, agents)), ("hold_errors", (count, held)),
    ):  # fmt: skip
        found = getattr(metrics, name).shape
        if found != shape:
            yield f"samples: {name} has the shape {found}, where {shape} is needed"


def _infinite(recorded: Recorded, live: LiveRecord | None) -> Iterator[str]:
    """Columns with a number that is not finite and has to be."""
    run, metrics = recorded.path, recorded.metrics
    begin = run.start.segments.parts()
    samples = vars(metrics) if metrics else {}
    parts = {"start": begin, "events": run.table.columns(), "samples": samples}
    parts |= {} if live is None else live.columns()
    come_and_go = not run.system.timeline.same_agents
    alone = run.system.agents == 1 or come_and_go or bool(run.system.sensors) or live is not None
    endless = ENDLESS | ALONE if alone else ENDLESS
    for part, columns in parts.items():
        for name, column in columns.items():
            bad = ~np.isfinite(() if column is None else column)
            if name in endless and column is not None:
                bad &= column != np.inf
            if bad.any():
                yield f"{part}: {name}, row {int(np.argwhere(bad)[0, 0])}"


def _start_position(run: Trajectory, positions: Points) -> Finding:
    gap = np.abs(positions - run.start.segments.place).max(axis=1)
    return _worst("start-position", gap, 0.0, agent_named)


def _start(run: Trajectory, positions: Points | None, rounding: float) -> Iterator[Finding]:
    system, start = run.system, run.start
    if positions is not None:
        yield _start_position(run, positions)
    first = start.segments
    again = beginning(system, first.place)
    due = again.segments
    gap = np.abs(due.hold - first.hold).max(axis=1)
    if not is_continuous(system):
        gap = np.maximum(gap, gaps_between(due.cruise, first.cruise))
    yield _worst("start-hold", gap, rounding, agent_named)
    counted = ([astuple(spent) for spent in state.spent] for state in (start, again))
    wrong = [np.abs(np.subtract(*pair)).sum() for pair in zip(*counted, strict=False)]
    missing = [np.inf] * (len(again.spent) - len(wrong))
    yield _worst("start-counts", np.array([*wrong, *missing]), 0.0, agent_named)
    if is_continuous(system):
        return
    yield _worst("start-timer", np.abs(due.next_at - first.next_at), 0.0, agent_named)
    program = timer_program(system)
    if program is not None:
        excess = np.maximum(first.next_at - program.t2, program.t1 - first.next_at)
        excess = np.where(system.arrivals > 0.0, 0.0, excess)
        yield _worst("start-interval", excess, 0.0, agent_named)


def _flow(run: Trajectory, claims: Claims) -> Iterator[Finding]:
    """Positions follow the segments, jumps come when due, and the end is for the stated reason."""
    table, until = run.table, run.until
    size = np.maximum(np.abs(table.positions).max(axis=1, initial=0.0), np.finfo(float).tiny)
    gap = np.abs(run.ended.at(table.time) - table.positions).max(axis=1, initial=0.0)
    yield _worst("flow", gap / np.spacing(size), 4.0, run.where)
    gap = np.where(run.departed, 0.0, np.abs(table.time - run.ended.next_at))
    yield _worst("due", gap, 0.0, run.where)
    left = run.last.next_at
    leaving = run.system.departures
    left = np.where(run.last.since < leaving, np.minimum(left, leaving), left)
    # Of several jumps at the last instant some may be missing unless the horizon ended the run.
    missing = left <= until if claims.ended == "horizon" else left < until
    gap = np.where(missing, until - left, -1.0)
    yield _worst("complete", gap, 0.0, agent_named, strict=True)
    says = f"the run ended as it says, by {claims.ended}"
    if claims.max_jumps is not None and len(table) > claims.max_jumps:
        where = f"{len(table)} jumps, where {claims.max_jumps} are allowed"
        yield yes_or_no("ending", says, False, where)
    elif claims.ended == "horizon" and claims.horizon is not None:
        yield yes_or_no("ending", says, until == claims.horizon)
    elif claims.ended == "jump-limit" and claims.max_jumps is not None:
        yield yes_or_no("ending", says, len(table) == claims.max_jumps)
    elif claims.ended == "coincident" and not is_continuous(run.system):
        positions = run.last.at(until)
        yield yes_or_no("ending", says, len(np.unique(positions, axis=0)) < len(positions))


def _resets(run: Trajectory) -> Iterator[Finding]:
    table, system, program = run.table, run.system, timer_program(run.system)
    if program is not None:
        t1, t2 = program.t1[table.agent], program.t2[table.agent]
        gap = table.next_at - table.time
        with np.errstate(invalid="ignore"):
            outside = np.maximum(gap - t2, t1 - gap) / np.spacing(np.maximum(table.next_at, 1e-300))
        yield _worst("interval", np.where(run.departed, 0.0, outside), 1.0, run.where)
    if system.program is not None and system.perfect:
        expected = np.where(run.departed, np.inf, expected_next_at(run, system.program))
        yield _worst("reset", gaps_between(table.next_at, expected), 0.0, run.where)


def _bounds(run: Trajectory, thorough: bool, live: LiveRecord | None = None) -> Iterator[Finding]:
    system, traits = run.system, run.system.traits
    top = traits.top_speed
    if top is not None:
        excess = lengths(run.table.holds) / top - 1.0
        yield _worst("speed", excess, 4.0 * np.finfo(float).eps, run.where)
    beyond = outside_of(run) / system.workspace.diameter
    # A law that may pass its target may lead agents out of the workspace. The timer law heads for
    # a point of the workspace and stops there at the latest, wherever it takes the others to be:
    # also after samples that were lost or late. In a live run all velocities end by themselves.
    kept = system.perfect or traits.timer is not None if live is None else live.exact
    still = not system.timeline.region_changes
    guaranteed = traits.stays_inside and kept and still
    found = if_guaranteed(_worst("workspace", beyond, 1e-12, run.where_at), guaranteed)
    yield found if live is None else aged(found, live, top)
    if system.stays:
        crossed, agents, rows = lengths_outside(run, None if thorough else LINES)

        def line(k: int) -> str:
            return f"agent {agents[k]}, before " + (
                run.where(rows[k]) if rows[k] >= 0 else "the end"
            )

        crossed_sides = _worst("crossings", crossed / system.workspace.diameter, 1e-11, line)
        # Under every law an agent stops at the end of the straight stretch.
        yield if_guaranteed(crossed_sides, still and (live is None or live.exact))


def _jumps(run: Trajectory, rounding: float, tell: Tell, thorough: bool) -> Iterator[Finding]:
    table, system = run.table, run.system
    seen = measured_jumps(run, tell)
    gap = np.abs(seen["error"] - table.errors).max(axis=1, initial=0.0)
    yield _worst("centroid", gap, rounding, run.where)
    program = system.program
    if program is not None and system.perfect:
        held = saturated(seen["error"], program.k1, program.reach)
        gap = np.abs(held - table.holds).max(axis=1, initial=0.0)
        yield _worst("jump", gap, rounding, run.where)
        gap = gaps_between(table.column("cruise"), program.cruise)
        yield _worst("cruise", gap, 0.0, run.where)
    before = run.ended.velocity_at(table.time) if system.stays else run.ended.hold
    change = lengths(before - table.holds)
    yield _worst("hold-error", np.abs(change - table.hold_error), 0.0, run.where)
    same = (seen["neighbors"] == table.neighbors) & (seen["empty"] == table.empty)
    gap = np.where(same, gaps_between(seen["nearest"], table.nearest), np.inf)
    yield _worst("seen", gap, rounding, run.where)
    if system.spacing is None:
        yield second_opinion(run, thorough, tell)


def _decisions(run: Trajectory, rounding: float, tell: Tell) -> Iterator[Finding]:
    """Decisions of laws that cannot be checked jump by jump are made again from the beginning."""
    system = run.system
    at_once = system.program is not None and system.perfect
    if at_once or is_continuous(system):
        yield _worst("counts", _uncounted(system, run.table), 0.0, run.where)
        return
    gaps = rederive(system, run.start, run.table, tell)
    for name in ("jump", "cruise", "reset", "counts"):
        yield _worst(name, gaps[name], 0.0 if name == "counts" else rounding, run.where)
    if system.information.receives:
        reach = float(np.abs(system.workspace.bounds).max())  # positions are rounded like this
        limit = 1e-12 * system.workspace.diameter + 8.0 * float(np.spacing(reach))
        found = _worst("promise", gaps["promise"], limit, run.where)
        yield if_guaranteed(found, system.perfect)


def _uncounted(system: CoverageSystem, table: EventTable) -> Floats:
    """How far counts are from those of a law for which each jump is one sample and nothing else.

    The solver of a differential equation samples several times before each knot; how often
    depends on it, but the number is the same for all agents.
    """
    wrong = np.zeros(len(table))
    for name in ("guaranteed", "dual_guaranteed", "sent", "mark", "voronoi"):
        wrong += np.abs(table.count(name))
    wrong += table.column("promise") != -1.0
    looked, received = table.count("looked"), table.count("received")
    if is_continuous(system):
        whole = looked[: len(looked) // system.agents * system.agents]
        together = whole.reshape(-1, system.agents)
        uneven = (together != together[:, :1]).ravel()
        wrong += (looked < 1) + np.append(uneven, np.ones(len(looked) - len(uneven)))
    else:
        cells = np.ones(len(table))
        if system.changes is not None:
            each = zip(table.agent.tolist(), table.time.tolist(), strict=True)
            cells = np.array([system.cells_of(p, t) for p, t in each])
        wrong += np.abs(looked - cells) + np.abs(received - table.neighbors)
    return wrong


def _at_set_times(run: Trajectory, claims: Claims) -> Iterator[Finding]:
    """The times of samples, but for those at which two agents coincide, or at which a run stopped.

    Where a run ended early, a sample at that very time may have been taken or not.
    """
    wanted, metrics = claims.sample_times, claims.metrics
    if wanted is None or metrics is None:
        return
    due = wanted[wanted <= run.until]
    odd = np.setxor1d(due, metrics.times)
    twice = metrics.times[1:][np.diff(metrics.times) == 0.0]
    if claims.ended != "horizon":
        odd = odd[odd != run.until]
    missing = np.isin(odd, due)
    world_at, positions = run.system.world_at, run.at(odd).positions
    contact = [
        m and world_at(t).coincide(x) for m, t, x in zip(missing, odd, positions, strict=True)
    ]
    wrong = np.sort(np.concatenate([odd[~np.array(contact, dtype=bool)], twice]))
    where = f"{len(wrong)} missing or too many, first {at_time(wrong[0])}" if len(wrong) else ""
    yield yes_or_no("sample-times", SAYS["sample-times"], not len(wrong), where)


def _stated(claims: Claims, findings: Sequence[Finding]) -> Iterator[Finding]:
    """What the file states besides its events, where these are worth a comparison."""
    if claims.misstated is None:
        return
    if any(f.status == VIOLATED and f.name != "digest" for f in findings):
        yield not_applicable("stated", SAYS["stated"], "something else is violated")
        return
    wrong = claims.misstated()
    where = ", ".join(wrong[:MOST_NAMED]) + (", ..." if len(wrong) > MOST_NAMED else "")
    yield yes_or_no("stated", SAYS["stated"], not wrong, where)


def _measured(recorded: Recorded, thorough: bool) -> Ints:
    """Which metric samples are measured again."""
    some = FEW_SAMPLES if is_expensive(recorded.path.system.ground) else SAMPLES
    total = 0 if recorded.metrics is None else len(recorded.metrics.times)
    return spread(total, None if thorough else some)


def _samples(recorded: Recorded, rows: Ints, rounding: float) -> Iterator[Finding]:
    """Some or all metric samples, measured again."""
    run, metrics = recorded.path, recorded.metrics
    if metrics is None or not len(rows):
        return
    scale = rounding / run.system.workspace.diameter
    gaps = np.zeros(len(rows))
    step = max(1, MOST_CELLS // run.system.agents)
    for lo in range(0, len(rows), step):
        part = rows[lo : lo + step]
        times = metrics.times[part]
        again = measure_at(run.system, run.at(times), times)
        for name in ("errors", "hold_errors", "costs", "separations"):
            kept, now = getattr(metrics, name)[part], getattr(again, name)
            size = np.where(np.isfinite(now), np.abs(now), 0.0)
            apart = gaps_between(kept, now) - scale * (1.0 + size)
            worst = apart.reshape(len(part), -1).max(axis=1, initial=0.0)
            gaps[lo : lo + step] = np.maximum(gaps[lo : lo + step], worst)
    what, total = "metric samples recomputed", len(metrics.times)
    yield agreement("samples", what, gaps, 0.0, total, lambda k: at_time(metrics.times[rows[k]]))

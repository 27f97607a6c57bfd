"""The decisions of live agents made again, from what each measured and believed alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.segments import Segments
from dwell.agents.state import AgentsState, Spent
from dwell.cells.measurement import CellMeasurement
from dwell.errors import AgentsError
from dwell.hybrid import Halt
from dwell.live.decision import Decisions
from dwell.live.record import COUNTS, HEARSAY, STOP, LiveRecord
from dwell.live.safety import Circumstances, limited
from dwell.live.settings import MOST_AGENTS, LiveLaw
from dwell.live.table import segments_of
from dwell.verify.finding import Tell
from dwell.verify.recorded import gaps_between
from dwell.verify.replay import TELL_EVERY, Counted, next_by_rule

MADE_AGAIN = ("jump", "centroid", "seen", "cruise", "counts", "reset", "safety")


def decided_again(law: LiveLaw, live: LiveRecord, start: Points, tell: Tell) -> dict[str, Floats]:
    """How far each sample is from the decision that its law makes; inf where it can make none.

    By the name of the finding. `start` are the positions at time 0.
    """
    rows = live.samples
    gaps = {name: np.zeros(len(rows)) for name in MADE_AGAIN}
    agents: dict[tuple[int, int], Decisions] = {}
    ends = pairwise(np.append(0, np.cumsum(live.counts)).tolist())
    for k, (row, (lo, hi)) in enumerate(zip(rows, ends, strict=True)):
        who, near = (int(row["agent"]), int(row["boot"])), live.beliefs[lo:hi]
        if who not in agents:
            agents[who] = Decisions(law, *who)
        own = agents[who]
        before = rows[live.previous[k]] if live.previous[k] >= 0 else None
        stopped = before is not None and bool(before["flags"] & STOP)
        try:
            counted = near[near["age"] <= law.silence]  # others matter for the keep-away alone
            after, cell, spent = _decided(own, row, counted, before, start)
        except (Halt, AgentsError):
            for column in gaps.values():
                column[k] = np.inf
            continue
        for name, gap in _differences(law, row, near, after, cell, spent, stopped).items():
            gaps[name][k] = gap
        own.own.hold = row["hold"].copy()
        if k % TELL_EVERY == 0:
            tell("checking", k / len(rows))
    _by_own_draws(law, live, gaps["reset"])
    return gaps


def _decided(
    own: Decisions, row: np.ndarray, near: np.ndarray, before: np.ndarray | None, start: Points
) -> tuple[AgentsState, CellMeasurement, Spent]:
    """The state after a decision, the cell that was measured, and what it cost."""
    p, n, now = own.agent, own.system.agents, float(row["time"])
    if begins_at_start(row):
        places = start.copy()
        places[near["agent"]], places[p] = near["position"], row["position"]
        after = own.first_of_all(places)
        return after, own.system.measurement(places, p), after.spent[p]
    places, holds = np.zeros((n, own.system.dimension)), np.zeros((n, own.system.dimension))
    places[near["agent"]], holds[near["agent"]] = near["position"], near["velocity"]
    known = np.zeros(n, dtype=bool)
    known[near["agent"]], known[p] = True, True
    never = np.full(n, np.inf)
    if before is not None and own.system.stays:
        own.own.hold = segments_of(before[None], own.fade).velocity_at(now)[0]
    if before is not None:  # also where a record is missing between the two
        own.own.count += int(row["k"]) - int(before["k"]) - 1
    others = Segments(np.full(n, now), places, holds, never, never, own.fade)
    after = own.decide(now, row["position"], others, known)
    assert after.last is not None
    return after, after.last, after.spent[0]


def begins_at_start(rows: np.ndarray) -> np.ndarray:
    """Whether a sample is the first one of an agent that begins with all others at time 0."""
    begins: np.ndarray = (rows["k"] == 1) & (rows["time"] == 0.0) & (rows["boot"] == 0)
    return begins


def _differences(
    law: LiveLaw,
    row: np.ndarray,
    near: np.ndarray,
    after: AgentsState,
    cell: CellMeasurement,
    spent: Spent,
    stopped: bool,
) -> dict[str, float]:
    """How far one sample is from the decision of its law, by the name of the finding."""
    p, now = int(row["agent"]), float(row["time"])
    next_at, cruise = law.timing(p, int(row["k"]), now, float(row["due"]), after)
    present = law.system.timeline.present_at(now)
    at_hand = Circumstances(
        int(row["known"]), law.system.agents if present is None else len(present),
        now - float(row["measured"]), bool(row["flags"] & STOP), now, near,
        int(row["flags"]) & HEARSAY,
    )  # fmt: skip
    hold, flags = limited(law, p, row["position"], row["commanded"], float(row["cruise"]), at_hand)
    flags |= law.flagged(int(row["k"]), near)
    seen = abs(cell.neighbors - int(row["neighbors"])) + abs(int(cell.empty) - int(row["empty"]))
    nearest = float(gaps_between(cell.nearest, row["nearest"]))
    counted = ((getattr(spent, name), int(row[name])) for name in COUNTS)
    here = np.ones(len(near), bool) if present is None else np.isin(near["agent"], present)
    known = np.count_nonzero(here & (near["age"] <= law.silence))
    alone = known == 0 < int(row["known"]) - 1 and (present is None or p in present)
    moves_on = stopped and not int(row["flags"]) & STOP
    same = flags == int(row["flags"]) and int(row["known"]) > known and not moves_on
    return {
        "jump": _apart(after.segments.hold[p], row["commanded"]),
        "centroid": _apart(cell.error, row["error"]),
        "seen": np.inf if alone else seen + nearest,
        "cruise": float(gaps_between(cruise, row["cruise"])),
        "counts": float(sum(abs(a - b) for a, b in counted)),
        "reset": float(gaps_between(next_at, row["next_at"])),
        "safety": _apart(hold, row["hold"]) if same else np.inf,
    }


def _apart(a: Points, b: Points) -> float:
    return float(np.abs(a - b).max())


def _by_own_draws(law: LiveLaw, live: LiveRecord, gaps: Floats) -> None:
    """Compare waits with draws by another implementation, where the law has plain numbers."""
    system, rows = law.system, live.samples
    if system.program is None:
        return
    at_start = begins_at_start(rows)
    first = _of_boot(live, np.where(at_start, rows["next_at"], rows["time"]))
    begun = _of_boot(live, at_start.astype(np.int64))
    agent = rows["agent"].astype(np.int64)
    stream = np.array(system.streams)[agent] + rows["boot"].astype(np.int64) * MOST_AGENTS
    k = rows["k"].astype(np.int64) - 1 - begun
    ruled = next_by_rule(system.program, Counted(agent, rows["time"], k, first), system.key, stream)
    ruled = law.spaced(agent, rows["k"], rows["time"], rows["due"], ruled)
    drawn = ~at_start & (rows["time"] < system.departures[agent])
    np.maximum(gaps, gaps_between(ruled, rows["next_at"]), out=gaps, where=drawn)


def _of_boot(live: LiveRecord, values: Floats | Ints) -> np.ndarray:
    """The value of the first sample of each boot, for all its samples."""
    found = values.copy()
    for k, before in enumerate(live.previous):
        if before >= 0:
            found[k] = found[before]
    return found


def hold_errors(live: LiveRecord) -> Floats:
    """How far each hold error is from the change of velocity, and that from the one before."""
    rows = live.samples
    change = np.abs(lengths(rows["before"] - rows["hold"]) - rows["hold_error"])
    last = np.where((live.previous < 0)[:, None], 0.0, rows["hold"][live.previous])
    apart = np.abs(last - rows["before"]).max(axis=1, initial=0.0)
    gaps: Floats = np.maximum(change, np.where(live.skipped == 0, apart, 0.0))
    return gaps

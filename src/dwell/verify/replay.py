"""What the jumps of a run must have been, without the engine: measurements, dwell times, decisions.

For laws with memory, messages or more than one sample's information, a jump cannot be checked by
itself: what an agent knew depends on all messages before. So every decision is made again, from the
beginning. Positions are always those of the table: one wrong row does not spoil those after it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Message, Trajectory
from dwell.agents.state import Spent
from dwell.agents.walk import walk
from dwell.verify.finding import Tell
from dwell.verify.recorded import gaps_between

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

BLOCK = 8192  # jumps measured at once
MEASURED = ("error", "neighbors", "nearest", "empty")
TELL_EVERY = 512  # jumps


def measured_jumps(run: Trajectory, tell: Tell) -> dict[str, np.ndarray]:
    """What each jumping agent must have measured, from the reconstructed positions."""
    jumps, parts = len(run.table), []
    for lo in range(0, max(jumps, 1), BLOCK):
        hi = min(lo + BLOCK, jumps)
        positions, agents = run.configurations(lo, hi), run.table.agent[lo:hi]
        rows = np.arange(len(agents))
        times = run.table.time[lo:hi]
        parts.append(run.system.measure(positions, rows, agents, times, threads=None))
        tell("checking", hi / max(jumps, 1))
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in MEASURED}


class Counted(NamedTuple):
    """Samples: the agent, the time, how many the agent had before, and the time of its first."""

    agent: Ints
    time: Floats
    number: Ints
    first: Floats


def expected_next_at(run: Trajectory, program: HoldProgram) -> Floats:
    """When each agent must sample next, by its rule and its own draws."""
    p = run.table.agent
    jumps = Counted(p, run.table.time, run.number, run.start.first[p])
    return next_by_rule(program, jumps, run.system.key, np.array(run.system.streams)[p])


def next_by_rule(
    program: HoldProgram, samples: Counted, key: tuple[int, int], streams: Ints
) -> Floats:
    """When the next sample after each of these must be; `streams` are those of their draws."""
    from dwell._kernels.common.hold_law import EARLIEST, LATEST, PERIODIC, SEQUENCE, UNIFORM

    p, t, k, first = samples
    rule = program.rule
    if rule == PERIODIC:
        period = program.period[p]
        counted: Floats = np.where(first == period, (k + 2) * period, first + (k + 1) * period)
        return counted
    interval: Floats
    t1, t2 = program.t1[p], program.t2[p]
    if rule in (EARLIEST, LATEST):
        interval = t1 if rule == EARLIEST else t2
    elif rule == SEQUENCE:
        interval = program.intervals[p, k % program.intervals.shape[1]]
    else:
        draws = philox_uniform(key, streams, k)
        if rule == UNIFORM:
            interval = np.minimum(t1 + draws * (t2 - t1), t2)
        else:
            interval = _after_losses(draws, t1, t2, program.loss)
    return t + interval


def _after_losses(draws: Floats, t1: Floats, t2: Floats, loss: float) -> Floats:
    """t1 for each attempt until one succeeds, t2 at most."""
    attempts, chance = np.ones(len(draws)), np.full(len(draws), loss)
    while True:
        again = (draws < chance) & (attempts * t1 < t2)
        if not again.any():
            return np.minimum(attempts * t1, t2)
        attempts = attempts + again
        chance = np.where(again, chance * loss, chance)


def philox_uniform(key: tuple[int, int], stream: Any, k: Any) -> Floats:
    """Draw k of each stream in [0, 1): Philox4x32-10 over unsigned 64-bit arrays."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    k = np.asarray(k, dtype=np.uint64)
    c = [k & low, k >> half, np.asarray(stream, dtype=np.uint64), np.zeros_like(k)]
    keys = [key[0], key[1]]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        first, second = np.uint64(keys[0]), np.uint64(keys[1])
        c = [(b >> half) ^ c[1] ^ first, b & low, (a >> half) ^ c[3] ^ second, a & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    bits = (c[0] >> np.uint64(5)) * np.uint64(1 << 26) + (c[1] >> np.uint64(6))
    draws: Floats = bits.astype(np.float64) * 2.0**-53
    return draws


def rederive(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    tell: Tell,
) -> dict[str, Floats]:
    """How far each jump is from the decision that its law makes; inf where there is no such jump.

    By the name of the finding: the velocity it sets off with, for how long that is held, when it
    decides next, the counts of cells, samples and messages with the law's mark, and how far another
    agent is outside the ball of its last message.
    """
    gaps = {name: np.zeros(len(table)) for name in ("jump", "cruise", "reset", "counts", "promise")}
    begin = system.start(start.segments.place)
    cruise, promise = table.column("cruise"), table.column("promise")
    counts = {name.name: table.count(name.name) for name in fields(Spent)}
    for k, (after, _) in enumerate(walk(system, begin, table)):
        if after is None:
            for column in gaps.values():
                column[k] = np.inf
            continue
        p = int(table.agent[k])
        begun = after.segments
        gaps["jump"][k] = np.abs(begun.hold[p] - table.holds[k]).max()
        gaps["cruise"][k] = gaps_between(begun.cruise[p], cruise[k])
        gaps["reset"][k] = gaps_between(begun.next_at[p], table.next_at[k])
        spent = after.spent[0]
        wrong = sum(abs(getattr(spent, name) - int(column[k])) for name, column in counts.items())
        gaps["counts"][k] = wrong + gaps_between(after.promise, promise[k])
        gaps["promise"][k] = _strayed(system, after, p)
        if k % TELL_EVERY == 0:
            tell("checking", k / len(table))
    return gaps


def _strayed(system: CoverageSystem, state: AgentsState, agent: int) -> float:
    """The largest distance of another agent from the ball that `agent` believes it to be in."""
    if not state.mail or not state.mail[agent].heard:
        return 0.0
    heard, places = state.mail[agent].heard, state.positions
    travel = _reach if system.traits.travel is None else system.traits.travel
    return max(
        float(lengths(places[q] - said.position)) - travel(said, state.time)
        for q, said in heard.items()
    )


def _reach(said: Message, now: float) -> float:
    """How far the sender of a message can have moved within its speed bound."""
    return said.promise * (now - said.time)

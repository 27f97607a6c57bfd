"""Where the answer must not change at all: how many bits differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import dwell
from bench.places import HEPTAGON, PEAK, RATE, Points, hill, lattice, paper, scattered, slow_timer
from bench.table import Row, at_most
from dwell.agents import EventTable, table_of
from dwell.engine import run_compiled
from dwell.hybrid import simulate as readable
from dwell.scenario.build import build

LENGTHS = ("positions", "holds", "errors", "hold_error", "nearest")
TIMES = ("time", "next_at")


def rows(quick: bool) -> Iterator[Row]:
    """One row for each thing that must not matter."""
    horizon = 8.0 if quick else 60.0
    counts = (
        ("permuting agents: cells", "tessellate, random and lattice", permuted_cells()),
        ("permuting agents: run", "12 agents, event table", permuted_run(horizon, "uniform")),
        ("tie order", "periodic timers, all agents at once", permuted_run(horizon, "periodic")),
        ("scaling lengths by 2^k: cells", "k = -40, -7, 13, 40", scaled_cells()),
        ("scaling lengths and times by 2^k: run", "12 agents", scaled_run(horizon)),
        ("stop and resume", "30 agents, stopped by time and by count", resumed(horizon / 8)),
        ("1 or 2 threads", "30 agents, metrics every 0.05", threaded(horizon / 8)),
        ("readable loop or engine", "12 agents, event table", looped(horizon / 2)),
    )
    for name, what, count in counts:
        yield at_most("bits", name, f"bits that differ; {what}", count, 0, str(count))


def differing(first: np.ndarray, second: np.ndarray) -> int:
    """Bits in which two arrays of eight-byte numbers differ; all of them if shapes do."""
    if first.shape != second.shape:
        return 64 * max(first.size, second.size)
    a, b = (np.ascontiguousarray(v).view(np.uint64) for v in (first, second))
    return int(np.unpackbits((a ^ b).view(np.uint8)).sum())


def tables_differ(first: EventTable, second: EventTable) -> int:
    """Bits in which two event tables differ."""
    one, two = first.columns(), second.columns()
    if one.keys() != two.keys():
        return 64 * len(first)
    return sum(differing(one[name], two[name]) for name in one)


def permuted_cells() -> int:
    """Cells of agents in another order."""
    total = 0
    for agents in (scattered(60), lattice(64)):
        order = np.random.default_rng(5).permutation(len(agents))
        for weight in (hill(), dwell.Uniform()):
            plain = _columns(dwell.tessellate(dwell.Polygon(HEPTAGON), agents, weight))
            moved = _columns(dwell.tessellate(dwell.Polygon(HEPTAGON), agents[order], weight))
            total += differing(plain[order], moved)
    return total


def permuted_run(horizon: float, reset: str) -> int:
    """The same run with agents renumbered; simultaneous jumps then come in another order."""
    agents, law = scattered(12), slow_timer(reset=reset)
    order = np.random.default_rng(6).permutation(len(agents))
    plain = _simulate(agents, law, horizon, tuple(range(12)))
    moved = _simulate(agents[order], law, horizon, tuple(int(p) for p in order))
    renamed = replace(moved, agent=order[moved.agent].astype(np.int64))
    return tables_differ(_sorted(plain), _sorted(renamed))


def scaled_cells() -> int:
    """Cells of a world 2**k times as large."""
    agents, total = scattered(60), 0
    plain = dwell.tessellate(dwell.Polygon(HEPTAGON), agents, hill())
    for k in (-40, -7, 13, 40):
        s = 2.0**k
        peak = dwell.Gaussian(center=(PEAK[0] * s, PEAK[1] * s), rate=RATE / s**2)
        large = dwell.tessellate(dwell.Polygon(HEPTAGON * s), agents * s, peak)
        total += differing(plain.masses * s**2, large.masses)
        total += differing(plain.errors * s, large.errors)
        total += differing(plain.second_moments * s**4, large.second_moments)
    return total


def scaled_run(horizon: float) -> int:
    """A run with lengths 2**5 and times 2**-3 times as large."""
    agents, s, c = scattered(12), 2.0**5, 2.0**-3
    plain = _simulate(agents, slow_timer(), horizon, tuple(range(12)))
    law = slow_timer(k1=0.5 * s / c, nu=0.5 * s, t1=0.2 * c, t2=0.65 * c)
    peak = dwell.Gaussian(center=(PEAK[0] * s, PEAK[1] * s), rate=RATE / s**2)
    large = dwell.simulate(
        dwell.Polygon(HEPTAGON * s), peak, agents * s, law,
        until=horizon * c, seed=1, sample_every="off",
    ).events  # fmt: skip
    scale = dict.fromkeys(LENGTHS, s) | dict.fromkeys(TIMES, c)
    scale |= dict.fromkeys(("holds", "hold_error"), s / c)
    grown = {name: getattr(plain, name) * factor for name, factor in scale.items()}
    return tables_differ(replace(plain, **grown), large)


def resumed(horizon: float) -> int:
    """A run stopped on the way and taken up again from its last state."""
    system, places, _ = build(paper(30, horizon=horizon))
    start = system.start(places)
    whole = run_compiled(system, start, until=horizon)
    total = 0
    for limits in ({"until": horizon / 3}, {"until": horizon, "max_jumps": 777}):
        first = run_compiled(system, start, **limits)
        rest = run_compiled(system, first.final, until=horizon)
        total += tables_differ(
            table_of(whole), EventTable.joined([table_of(first), table_of(rest)])
        )
    return total


def threaded(horizon: float) -> int:
    """Events and metrics on one thread and on two."""
    scenario = paper(30, horizon=horizon)
    one, two = (dwell.run_scenario(scenario, threads=count) for count in (1, 2))
    names = ("times", "errors", "hold_errors", "costs", "separations")
    pairs = [(getattr(one.metrics, name), getattr(two.metrics, name)) for name in names]
    return tables_differ(one.events, two.events) + sum(differing(a, b) for a, b in pairs)


def looped(horizon: float) -> int:
    """The loop in Python and the compiled one."""
    system, places, _ = build(paper(12, horizon=horizon))
    start = system.start(places)
    slow = readable(system, start, until=horizon)
    return tables_differ(table_of(slow), table_of(run_compiled(system, start, until=horizon)))


def _simulate(agents: Points, law: dwell.Timer, until: float, ids: tuple[int, ...]) -> EventTable:
    workspace = dwell.Polygon(HEPTAGON)
    return dwell.simulate(
        workspace, hill(), agents, law, until=until, seed=1, ids=ids, sample_every="off"
    ).events


def _sorted(table: EventTable) -> EventTable:
    """Rows by time, then by agent."""
    order = np.lexsort([table.agent, table.time])
    return table.take(order)


def _columns(cells: dwell.Tessellation) -> np.ndarray:
    return np.column_stack(
        [cells.masses, cells.log_masses, cells.errors, cells.second_moments, cells.costs]
    )

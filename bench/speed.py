"""How long the paper's runs take, and what their events cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dwell
from bench.places import HEPTAGON, hill, paper, scattered, slow_timer
from bench.table import Row, at_least, under
from bench.timing import timed
from dwell.agents import CoverageSystem
from dwell.engine import run_compiled
from dwell.hybrid import simulate as readable
from dwell.scenario.build import build

STEADY_FROM = 60.0  # when all errors must have come below nu
STEADY_COST = (199.0, 203.0)
EVENTS_PER_SECOND = 500_000.0


def rows(quick: bool) -> Iterator[Row]:
    """The paper's two runs, then what an event costs."""
    yield from thirty(quick)
    yield twelve(quick)
    yield events_per_second(quick)
    yield density_cost(quick)
    yield loop_cost(quick)


def thirty(quick: bool) -> Iterator[Row]:
    """The 30-agent run: its time, and whether it came out as the paper says."""
    scenario = paper(30, **({"horizon": 3.0} if quick else {}))
    kept: list[dwell.Run] = []
    found = timed(lambda: kept.append(dwell.run_scenario(scenario)), repeats=3)
    run = kept[-1]
    what = f"{len(run.events)} events, exact, metrics every 0.05, engine warm"
    if quick:
        yield Row("speed", "30 agents, t = 3", what, found.in_seconds(), found.best)
        return
    yield under("speed", "30 agents, t = 150", what, found.best, 1.0, found.in_seconds())
    yield from _outcome(run)


def _outcome(run: dwell.Run) -> Iterator[Row]:
    costs = run.metrics.costs[run.metrics.times >= STEADY_FROM]
    last = float(costs[-1])
    figure = f"{last:.2f} ({costs[0]:.2f} at t = 60; in the band from t = {_settled_at(run):.2f})"
    steady = STEADY_COST[0] <= last <= STEADY_COST[1]
    what = "locational cost at t = 150"
    yield Row("speed", "... steady cost", what, figure, last, "199 to 203", steady)
    reached = np.inf if run.reached_at is None else run.reached_at
    what, figure = "time after which every |e| ≤ 0.7", f"{reached:.2f}"
    yield Row("speed", "... covered for good", what, figure, reached, "≤ 60", reached <= 60.0)
    largest = float(max(run.events.hold_error.max(), run.metrics.hold_errors.max()))
    what, figure = "largest |held input - k1 sat(e)|", f"{largest:.4f}"
    yield Row("speed", "... hold error", what, figure, largest, "≤ 0.4", largest <= 0.4)


def _settled_at(run: dwell.Run) -> float:
    """The first sample after which the cost stays in the band; inf if it ends outside."""
    costs = run.metrics.costs
    outside = np.flatnonzero((costs < STEADY_COST[0]) | (costs > STEADY_COST[1]))
    after = int(outside[-1]) + 1 if outside.size else 0
    return float(run.metrics.times[after]) if after < len(costs) else np.inf


def twelve(quick: bool) -> Row:
    """The 12-agent run without metrics."""
    horizon = 5.0 if quick else 150.0
    scenario = paper(12, horizon=horizon, record={"kind": "events", "sample_every": "off"})
    events = len(dwell.run_scenario(scenario).events)
    found = timed(lambda: dwell.run_scenario(scenario), repeats=3 if quick else 100)
    name, what = f"12 agents, t = {horizon:g}", f"{events} events, metrics off, engine warm"
    if quick:
        return Row("speed", name, what, found.in_ms(), found.best)
    return under("speed", name, what, found.best, 0.010, found.in_ms(), "ms")


def events_per_second(quick: bool) -> Row:
    """Events of the 30-agent run on one core: the engine alone, metrics and files left out."""
    horizon = 3.0 if quick else 150.0
    system, places, _ = build(paper(30, horizon=horizon))
    start = system.start(places)
    made = run_compiled(system, start, until=horizon).jumps
    each = timed(lambda: run_compiled(system, start, until=horizon), repeats=7).cpu / made
    name, what = "events per second, N = 30", f"the paper's run, Gaussian, {made} events, one core"
    figure = f"{1 / each:,.0f} ({1e6 * each:.2f} µs each)"
    if quick:
        return Row("speed", name, what, figure, 1 / each)
    return at_least("speed", name, what, 1 / each, EVENTS_PER_SECOND, figure, " per second")


def density_cost(quick: bool) -> Row:
    """A Gaussian cell against a uniform one."""
    count = 1_000 if quick else 20_000
    gaussian, uniform = (event_cost(30, weight, count) for weight in (hill(), dwell.Uniform()))
    figure = f"{gaussian / uniform:.2f} × ({1e6 * gaussian:.2f} and {1e6 * uniform:.2f} µs)"
    return Row("growth", "Gaussian / uniform", "per event, N = 30", figure, gaussian / uniform)


def loop_cost(quick: bool) -> Row:
    """The readable loop against the engine, on the same arc."""
    system, start, until = _system(12, hill(), 200 if quick else 2_000)
    slow = timed(lambda: readable(system, start, until=until), repeats=3)
    fast = timed(lambda: run_compiled(system, start, until=until), repeats=20)
    ratio = slow.cpu / fast.cpu
    what = "the same arc, 12 agents"
    return Row("growth", "readable loop / engine", what, f"{ratio:.0f} ×", ratio)


def event_cost(agents: int, weight: dwell.Gaussian | dwell.Uniform, events: int) -> float:
    """Seconds of processor per event of the engine alone."""
    system, start, until = _system(agents, weight, events)
    made = run_compiled(system, start, until=until).jumps
    return timed(lambda: run_compiled(system, start, until=until), repeats=7).cpu / made


def _system(agents: int, weight: dwell.Gaussian | dwell.Uniform, events: int) -> Any:
    """A timer run of about so many events: system, start and horizon."""
    law = slow_timer()
    system = CoverageSystem(dwell.Polygon(HEPTAGON), weight, law, agents, seed=1)
    return system, system.start(scattered(agents)), 0.425 * events / agents

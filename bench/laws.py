"""What each law costs: time of a run, of an event, and of a guaranteed cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import dwell
from bench.places import HEPTAGON, hill, paper
from bench.table import Row, at_most, under
from bench.timing import in_turns, timed
from dwell._kernels.common.cell_table import PLANAR
from dwell._kernels.polygon.buffers import make_scratch
from dwell._kernels.polygon.entry_points import measure_few
from dwell._types import Points, columns
from dwell.agents import CoverageSystem, table_of
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.self_triggered import PRESETS
from dwell.hybrid import simulate

TWELVE = {
    "lloyd": dwell.Lloyd(),
    "discrete-lloyd": dwell.DiscreteLloyd(),
    "self-triggered-centroid": dwell.SelfTriggeredCentroid(v_max=0.35),
    "event-triggered": dwell.EventTriggered(s_max=0.35),
}


def rows(quick: bool) -> Iterator[Row]:
    """The paper's 12 agents under every law but the timer, engine warm, exact integrals."""
    horizon = 1.0 if quick else 150.0
    for preset in PRESETS:
        yield self_triggered(preset, horizon)
    for name, law in TWELVE.items():
        yield one(name, law, min(horizon, 20.0))
    yield own(200 if quick else 5_000, 3 if quick else 15)


class Halfway:
    """A law of one's own: half the error as velocity, for a random time."""

    def begin(self, observation: dwell.Observation) -> dwell.Command:
        """The first command."""
        return self.decide(observation)

    def decide(self, observation: dwell.Observation) -> dwell.Command:
        """Every other command."""
        wait = 0.1 + 0.05 * observation.draw
        return dwell.Command(0.5 * observation.measurement.error, observation.time + wait)


def own(jumps: int, repeats: int) -> Row:
    """Events of the readable loop with their table, beside the kernel that measures a cell."""
    places = np.array(paper(12).agents.start)
    system = CoverageSystem(dwell.Polygon(HEPTAGON), dwell.Uniform(), Halfway(), 12, seed=1)
    start = system.start(places)

    def loop() -> None:
        table_of(simulate(system, start, until=1e9, max_jumps=jumps))

    def kernel() -> None:
        for _ in range(jumps):
            measure()

    measure = kernel_call(system.ground, places)
    loop()
    found = in_turns({"loop": loop, "kernel": kernel}, repeats=repeats)
    each, least = (1e6 * found[name].cpu / jumps for name in ("loop", "kernel"))
    what = f"{jumps} events of 12 agents, uniform, processor time over that of the kernel's call"
    figure = f"{each:.0f} µs an event ({each / least:.0f} × the {least:.1f} µs of the kernel)"
    return at_most("laws", "own law in Python", what, each, 35.0, figure)


def kernel_call(ground: WeightedRegion, places: Points) -> Callable[[], None]:
    """Measures one cell by the kernel alone."""
    x, y, wx, wy = *columns(places), *columns(ground.workspace.vertices)
    row, agent, times, out = np.zeros(1, int), np.zeros(1, int), np.zeros(1), np.empty((1, PLANAR))
    memory = make_scratch(len(x), len(wx))
    given = row, agent, times, x[None], y[None], wx, wy, ground.terms, None, out, memory
    return lambda: measure_few(0, 1, *given)


def self_triggered(preset: str, horizon: float) -> Row:
    """The law whose scan is the heavy part."""
    law = dwell.SelfTriggered(preset=preset)
    run, found = _measured(law, horizon)
    cells = int(run.counters.cells.sum())
    what = f"{cells} cells at {len(run.events)} events, metrics off"
    figure = f"{found.in_seconds()} ({1e6 * found.cpu / cells:.1f} µs a cell)"
    name = f"self-triggered ({preset}), t = {horizon:g}"
    if horizon < 150.0:
        return Row("laws", name, what, figure, found.best)
    return under("laws", name, what, found.best, 10.0, figure)


def one(name: str, law: object, horizon: float) -> Row:
    """Any other law."""
    run, found = _measured(law, horizon)
    each = found.cpu / len(run.events)
    figure = f"{found.in_seconds()} ({1e6 * each:.0f} µs an event)"
    what = f"{len(run.events)} events, {int(run.counters.cells.sum())} cells, metrics off"
    return Row("laws", f"{name}, t = {horizon:g}", what, figure, found.best)


def _measured(law: object, horizon: float):  # type: ignore[no-untyped-def]
    start = paper(12).agents.start
    site = dwell.Polygon(HEPTAGON)
    kept: list[dwell.Run] = []

    def call() -> None:
        kept.append(
            dwell.simulate(site, hill(), start, law, until=horizon, seed=1, sample_every="off")
        )

    found = timed(call, repeats=1 if horizon >= 20.0 else 3)
    return kept[-1], found

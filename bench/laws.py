"""What each law costs: time of a run, of an event, and of a guaranteed cell."""

from __future__ import annotations

from collections.abc import Iterator

import dwell
from bench.places import HEPTAGON, hill, paper
from bench.table import Row, under
from bench.timing import timed
from dwell.controllers.self_triggered import PRESETS

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

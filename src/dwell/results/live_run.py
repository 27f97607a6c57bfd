"""The run of a live fleet, with metrics measured as those of a simulation are."""

from __future__ import annotations

from collections.abc import Mapping

from dwell._types import Points
from dwell.engine.recorder import EVENTS, recorder_of
from dwell.engine.stepper import Piece
from dwell.hybrid import Stop
from dwell.live.record import LiveRecord
from dwell.live.table import start_of, table_of_live
from dwell.results.details import Details
from dwell.results.run import Run
from dwell.scenario import Scenario
from dwell.scenario.build import build


def live_run(
    scenario: Scenario,
    live: LiveRecord,
    positions: Points,
    stop: Stop,
    made_with: Mapping[str, str],
    wall_seconds: float = 0.0,
) -> Run:
    """The run that `live` is the record of; it always has its events.

    positions : of all agents at time 0; those of agents that arrive later at their arrival.
    """
    options = scenario.run
    record = options.record.model_copy(update={"kind": EVENTS})
    kept = scenario.model_copy(update={"run": options.model_copy(update={"record": record})})
    system, _, repairs = build(kept)
    recorder = recorder_of(kept, system, start_of(system, positions, live))
    recorder.take(Piece(table_of_live(live), stop.time, closed=True, stop=stop))
    metrics, tally = recorder.ending(stop)
    details = Details(
        recorder, stop, metrics, kept, recorder.table(), tally, wall_seconds, live=live
    )  # fmt: skip
    return Run(details, repairs, made_with)

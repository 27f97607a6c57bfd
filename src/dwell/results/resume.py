"""Taking up a run where it ended."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dwell._types import finite_number, in_short, is_whole
from dwell.agents import EventTable
from dwell.engine.recorder import EVENTS, Recorder, default_samples, joined, recorder_of
from dwell.engine.tally import Sampled
from dwell.errors import InputError, StoreError
from dwell.hybrid import StopReason
from dwell.results.files import shown
from dwell.results.run import Run
from dwell.scenario import Scenario
from dwell.scenario.build import build
from dwell.scenario.modules import changed_sources
from dwell.scenario.problems import listing


def extended(
    run: Run, path: Path, horizon: float | None, max_jumps: int | None, kernels: str
) -> Scenario:
    """The scenario that `run`, read from `path`, goes on with; refused where it cannot go on."""
    assert run.scenario is not None
    options = run.scenario.run
    changes: dict[str, Any] = {
        "horizon": options.horizon if horizon is None else finite_number(horizon),
        "max_jumps": options.max_jumps if max_jumps is None else max_jumps,
    }
    name = shown(path)
    if run.details.live is not None:
        says = f"{name} is the run of a live fleet, which only the fleet itself could continue"
        raise InputError(f"{says}; start the fleet again with dwell fleet", code="resume.live")
    if run.intact is False:
        says = f"{name} is not as it was written, so it cannot go on; see dwell check"
        raise StoreError(says, code="store.damaged")
    if run.provenance.get("kernels") != kernels:
        made = run.provenance.get("dwell", "another version")
        raise StoreError(
            f"{name} was made by other kernels (dwell {made}), whose bits may differ from those "
            "of this version; continue with the version that made it, or start a new run",
            code="store.kernels",
        )
    if changed := changed_sources(run.scenario, run.provenance):
        raise StoreError(
            f"{name} was made with another source of {listing(changed)}, so what follows would not "
            "be the same run; put the source back as it was, or run the scenario anew",
            code="store.source",
        )
    _refuse_ended(run, name, horizon, **changes)
    changes["max_jumps"] = int(changes["max_jumps"])
    if changes["horizon"] != options.horizon and run.details.record != EVENTS:
        # Samples that are gone cannot be taken at other times: those to come follow them.
        every = options.record.spacing
        if every is None:
            every = options.horizon / default_samples(run.system, run.start, options.horizon)
        changes["record"] = options.record.model_copy(update={"sample_every": every})
    later = run.scenario.model_copy(update={"run": options.model_copy(update=changes)})
    if run.system.changes is not None:
        build(later)  # refused where the world is not known up to the new horizon
    return later


def _refuse_ended(
    run: Run, name: str, given: float | None, horizon: float | None, max_jumps: int
) -> None:
    """Refuse an end that is not later, and a run that cannot go on."""
    key: str | None
    reason, now, jumps = run.stop.reason, run.horizon, run.details.tally.jumps
    if given is not None and (horizon is None or horizon < now):
        key = "horizon"
        says = (
            f"horizon is {in_short(given)}, but {name} is at t = {now!r} already; give a later time"
        )
    elif not is_whole(max_jumps) or max_jumps < jumps:
        key = "max_jumps"
        says = f"max_jumps is {in_short(max_jumps)}, but the run has {jumps} jumps already"
    elif reason is StopReason.HORIZON and horizon is not None and horizon <= now:
        key = "horizon"
        says = f"{name} has reached its horizon, {now!r}; give a later one to go on"
    elif reason is StopReason.JUMP_LIMIT and max_jumps <= jumps:
        key = "max_jumps"
        more = "allow more with --set run.max_jumps=..."
        says = f"{name} has made the {jumps} jumps it was allowed; {more}"
    elif reason in (StopReason.COINCIDENT, StopReason.ZENO):
        key = None
        says = f"{name} cannot go on: {reason.sentence[0].lower()}{reason.sentence[1:]}"
    else:
        return
    raise InputError(says, code=f"resume.{key or 'ended'}", key=key and f"run.{key}")


def taken_up(run: Run, scenario: Scenario, threads: int | None) -> Recorder:
    """A recorder that has seen all of `run` and goes on as `scenario` says."""
    recorder, old = recorder_of(scenario, run.system, run.start, threads), run.details.recorder
    recorder.tables, recorder.metrics, recorder.done = old.tables, old.metrics, old.done
    recorder.tally, recorder.window = old.tally, old.window
    recorder.remembered, recorder.standing = old.remembered, old.standing
    if run.details.table is None:
        return recorder
    if run.details.journal is None:  # the file has events and samples, but no state
        recorder.tally.follow(run.details.table)
        if run.details.trajectory.remembers:  # all decisions again
            recorder.remembered = run.details.trajectory[-1]
        recorder.standing = standing_after(run.details.table, scenario.run.horizon)
        recorder.done = _done(run, recorder)
    short = min(len(old.times), len(recorder.times))
    if recorder.sampling and not np.array_equal(old.times[:short], recorder.times[:short]):
        _sample_again(run, run.details.table, recorder)
    return recorder


def standing_after(table: EventTable, until: float) -> int:
    """How many jumps in a row, up to the last, left the clock standing; as the loop counts."""
    count = 0
    for k in range(len(table) - 1, 0, -1):
        before = float(table.time[k - 1])
        if float(table.time[k]) > before + max(8.0 * math.ulp(before), 1e-18 * until):
            break
        count += 1
    return count


def _done(run: Run, recorder: Recorder) -> int:
    """How many samples were taken or left out."""
    taken = joined(recorder.metrics).times
    last = np.searchsorted(recorder.times, taken[-1], side="right") if len(taken) else 0
    return max(int(last), int(np.searchsorted(recorder.times, run.horizon, side="left")))


def _sample_again(run: Run, table: EventTable, recorder: Recorder) -> None:
    """Samples at the times at which the longer run has them."""
    recorder.metrics, recorder.tally.samples = [], Sampled()
    closed = run.stop.reason is StopReason.HORIZON
    side: Literal["left", "right"] = "right" if closed else "left"
    recorder.done = int(np.searchsorted(recorder.times, run.horizon, side=side))
    recorder.sample(run.start, table, recorder.times[: recorder.done])

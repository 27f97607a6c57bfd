"""A run as an MCAP file, which Foxglove and other tools of robotics play."""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

import dwell
from dwell._types import lengths
from dwell.errors import InputError
from dwell.exports.epoch import beginning_of
from dwell.exports.foxglove_topics import FoxgloveTopics, check_dimension, foxglove_sdk
from dwell.exports.live_log import lines_of_live, samples_of_live
from dwell.plotting.worlds import lives, presence, switch_times
from dwell.progress import Progress, reported
from dwell.results import Run, RunLike, as_run
from dwell.results.files import check_target, written_whole

RATE = 20  # frames of all agents in a second of the run
MOST_FRAMES, MOST_PLACES = 6_000, 1_000_000  # frames, and frames times agents, of a long run
SCENES = 2  # frames from one scene to the next
DENSITIES = 60  # most grids of a density that moves

Entry = tuple[float, Callable[[], object]]  # a time of the run, and what writes its message
SINGULAR = {"positions": "position", "holds": "hold", "errors": "error"}


def export_mcap(
    run: RunLike,
    path: str | os.PathLike[str],
    *,
    epoch: str | None = None,
    force: bool = False,
    progress: Progress | bool | None = None,
) -> Path:
    """Write a run as an MCAP file for Foxglove.

    The topics are /tf (the frames of agents, at each event and 20 times a second), /scene
    (workspace, cells, agents, velocities and centroids), /density, /cost, /errors, /agents/sample
    (the exact record, whose doubles read back equal) and /log. It needs the extra `mcap`.

    Parameters
    ----------
    run : Run, str or path
        The run with its events, or its .nc file.
    path : str or path
        The file to write; it appears whole or not at all.
    epoch : str, optional
        The date and time of t = 0; by default that of the site, or 1970-01-01T00:00:00Z.
    force : bool
        Replace a file that exists.
    progress : callable or bool, optional
        As in `run_scenario`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import dwell
    >>> dwell.export_mcap("run.nc", "run.mcap", force=True).name
    'run.mcap'
    """
    target, sdk = check_target(path, force=force), foxglove_sdk()
    run = as_run(run)
    check_dimension(run.system)
    holds = (run.start.segments.hold, run.events.holds)
    fastest = max(float(lengths(v).max(initial=0.0)) for v in holds)
    context = sdk.Context()
    topics = FoxgloveTopics(run.system, context, zero=_zero(run, epoch), fastest=fastest)
    with reported(progress) as tell, written_whole(target) as temporary, temporary.open("wb") as to:
        output = _Output(to)
        with sdk.open_mcap(output, context=context) as writer:
            tell("exporting", 0.0)
            writer.write_metadata("dwell", _about(run))
            for t, write in entries_of(run, topics):
                write()
                output.check()
                tell("exporting", t / run.horizon if run.horizon else 1.0)
        output.check()
    return target


@final
class _Output:
    """A file whose first fault is kept: the SDK would print it and go on."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._fault: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write bytes."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a position."""
        self._try(lambda: self._file.seek(offset, whence))
        return self._file.tell()

    def flush(self) -> None:
        """Hand everything to the system."""
        self._try(self._file.flush)

    def _try(self, do: Callable[[], object]) -> None:
        try:
            do()
        except OSError as fault:
            self._fault = self._fault or fault

    def check(self) -> None:
        """Raise the fault that was kept."""
        if self._fault is not None:
            raise self._fault


def _zero(run: Run, epoch: str | None) -> int:
    """Time 0 in nanoseconds since 1970."""
    site = None if run.scenario is None else run.scenario.site
    date = beginning_of(epoch, site)
    zero = int(date.astype("datetime64[ns]").astype(np.int64))
    if zero < 0:
        says = f"epoch is {date}; an MCAP file begins in 1970 or later"
        raise InputError(says, code="export.epoch", key="epoch")
    return zero


def _about(run: Run) -> dict[str, str]:
    name = run.scenario.name if run.scenario is not None else None
    return {
        "version": dwell.__version__, "name": name or "", "agents": str(run.agents),
        "law": run.system.traits.name, "horizon": repr(run.horizon),
        "seed": str(run.system.seed),
    }  # fmt: skip


def frame_step(run: Run) -> float:
    """The time between two frames of all agents: a twentieth of a second, longer in long runs."""
    return max(1.0 / RATE, run.horizon / min(MOST_FRAMES, max(MOST_PLACES // run.agents, 1)))


def thinned(run: Run) -> str | None:
    """How far apart the frames of a long run are, as a sentence; None if it is not long."""
    step = frame_step(run)
    if step <= 1.0 / RATE:
        return None
    return f"frames are {step:.3g} s apart, scenes {SCENES * step:.3g} s, as the run is long"


def entries_of(run: Run, topics: FoxgloveTopics) -> Iterator[Entry]:
    """What is written of a run, in order of time."""
    samples = _samples(run) if run.details.live is None else samples_of_live(run.details.live)
    steps = (
        _densities(run, topics),
        _events(run, topics),
        ((t, partial(topics.sample, t, one)) for t, one in samples),
        _frames(run, topics),
        _numbers(run, topics),
        ((t, partial(topics.log, t, says, level=how)) for t, says, how in _lines(run)),
    )
    return heapq.merge(*steps, key=itemgetter(0))


def _frames(run: Run, topics: FoxgloveTopics) -> Iterator[Entry]:
    """The frames of all agents that are present, and every other time a scene."""
    step = frame_step(run)
    times = np.append(np.arange(math.ceil(run.horizon / step)) * step, run.horizon)
    now, here = run.details.snapshots_at(times), presence(run, times)
    for k, t in enumerate(times.tolist()):
        places, agents = now.positions[k], np.flatnonzero(here[k])
        yield t, partial(topics.frames, t, agents, places[agents])
        if k % SCENES == 0 or k == len(times) - 1:
            yield t, partial(topics.scene, t, places, now.velocities[k])


def _densities(run: Run, topics: FoxgloveTopics) -> Iterator[Entry]:
    """The density at time 0, and again when it has changed."""
    times = {0.0, *switch_times(run)}
    if run.system.timeline.moves:
        times |= set(np.linspace(0.0, run.horizon, DENSITIES).tolist())
    return ((t, partial(topics.density, t)) for t in sorted(times))


def _events(run: Run, topics: FoxgloveTopics) -> Iterator[Entry]:
    """The frame of an agent at each of its events while it is present."""
    table = run.events
    arrives, leaves = lives(run)
    for k, (t, agent) in enumerate(zip(table.time.tolist(), table.agent.tolist(), strict=True)):
        if not arrives[agent] <= t <= leaves[agent]:
            continue
        yield t, partial(topics.frames, t, [agent], table.positions[k : k + 1])


def _numbers(run: Run, topics: FoxgloveTopics) -> Iterator[Entry]:
    """Cost and errors at the metric samples."""
    found = run.metrics
    for t, cost, errors in zip(
        found.times.tolist(), found.costs.tolist(), found.errors, strict=True
    ):
        yield t, partial(topics.numbers, t, cost, errors)


def _samples(run: Run) -> Iterator[tuple[float, dict[str, Any]]]:
    """The start of each agent, and the rows of the event table."""
    begun, table = run.start.segments, run.events
    first: dict[str, Any] = {
        "position": begun.place, "hold": begun.hold, "next_at": begun.next_at,
        "cruise": begun.cruise if begun.cruises else None, "bend": begun.bend,
        "error": run.details.initial_measurements.error,
    }  # fmt: skip
    for agent in range(run.agents):
        own = {name: v[agent].tolist() for name, v in first.items() if v is not None}
        yield 0.0, {"time": 0.0, "agent": agent, "jump": 0, **own}
    columns = {SINGULAR.get(n, n): values.tolist() for n, values in table.columns().items()}
    for k, row in enumerate(zip(*columns.values(), strict=True)):
        yield table.time[k], {**dict(zip(columns, row, strict=True)), "jump": k + 1}


def _lines(run: Run) -> list[tuple[float, str, str]]:
    """The lines of the log: time, sentence and level."""
    found = [(0.0, thinned(run) or "", "Info")]
    found += [(t, "the world switches", "Info") for t in switch_times(run)]
    for says, times in zip(("arrives", "leaves"), lives(run), strict=True):
        when = np.flatnonzero((times > 0.0) & (times <= run.horizon))
        found += [(float(times[p]), f"agent {p} {says}", "Info") for p in when]
    found.append((run.horizon, f"the run ended: {run.stop.reason.value}", "Info"))
    if run.details.live is not None:
        until = run.horizon if run.scenario is None else run.scenario.run.horizon
        found += lines_of_live(run.details.live, run.horizon, until)
    return sorted((one for one in found if one[1]), key=itemgetter(0))
